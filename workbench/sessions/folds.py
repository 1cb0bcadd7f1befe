"""What the log's session events fold into: rows for filters, keys, pairing, counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw
import msgspec
from msgspec import UNSET

from workbench.log.folds import FoldEvent
from workbench.sessions.events import (
    ACTUM,
    CREATED,
    DESCRIBED,
    DESCRIPTION_FIELDS,
    UNIT_CLOSED,
    ActumRecorded,
    ChronicumDescribed,
)
from workbench.sessions.facets import UNIT_CLOSED as UNIT_FACET
from workbench.sessions.facets import facet

IMPORT_PREFIXES = ("claude-code:", "codex:")
"""Beginnings of the keys that importers give; other keys are their callers' own."""

REQUEST, RESPONSE, CHILD = 0, 1, 2
"""Roles of an entry in a tool call: the call, its response, the first act of the sub-agent it spawned."""


class SessionsFold:
    """The fold `sessions`: what a writer must see at once."""

    name = "sessions"
    version = 1
    tables = (
        "chronica",
        "session_entries",
        "session_keys",
        "unit_keys",
        "imported_records",
        "tool_calls",
        "session_descriptions",
    )
    schema = (
        "CREATE TABLE chronica("
        "stream_id INTEGER PRIMARY KEY, chronicum_id TEXT NOT NULL UNIQUE, owner_id TEXT NOT NULL, "
        "from_position INTEGER NOT NULL, started_at INTEGER NOT NULL) STRICT",
        "CREATE TABLE session_entries("
        "stream_id INTEGER NOT NULL, facet INTEGER NOT NULL, seq INTEGER NOT NULL, "
        "position INTEGER NOT NULL, PRIMARY KEY(stream_id, facet, seq)) STRICT, WITHOUT ROWID",
        "CREATE TABLE session_keys("
        "stream_id INTEGER NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL, "
        "PRIMARY KEY(stream_id, key)) STRICT, WITHOUT ROWID",
        "CREATE TABLE unit_keys("
        "stream_id INTEGER NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL, "
        "PRIMARY KEY(stream_id, key)) STRICT, WITHOUT ROWID",
        "CREATE TABLE imported_records("
        "source_key TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE tool_calls("
        "stream_id INTEGER NOT NULL, call_id TEXT NOT NULL, role INTEGER NOT NULL, "
        "seq INTEGER NOT NULL, PRIMARY KEY(stream_id, call_id, role)) STRICT, WITHOUT ROWID",
        "CREATE TABLE session_descriptions("
        "stream_id INTEGER NOT NULL, field TEXT NOT NULL, from_position INTEGER NOT NULL, "
        "to_position INTEGER, value TEXT NOT NULL, "
        "PRIMARY KEY(stream_id, field, from_position)) STRICT, WITHOUT ROWID",
    )
    types: frozenset[str] | None = frozenset({CREATED.type, DESCRIBED.type, ACTUM.type, UNIT_CLOSED.type})
    at_commit = False

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Fold session events in order."""
        entries: list[tuple[int, int, int, int]] = []
        calls: list[tuple[int, str, int, int]] = []
        for event in events:
            kind = event.event_type.type
            if kind == ACTUM.type:
                actum: ActumRecorded = event.payload
                number = facet(actum.kind, actum.actor_kind, event.private)
                entries.append((event.stream_id, number, event.seq, event.position))
                if actum.idempotency_key is not UNSET:
                    _key(connection, event, str(actum.idempotency_key))
                if actum.metadata:
                    calls.extend(_calls(event, actum))
            elif kind == UNIT_CLOSED.type:
                entries.append((event.stream_id, UNIT_FACET, event.seq, event.position))
                key = event.payload.source_key
                if key is not UNSET:
                    connection.execute(
                        "INSERT OR IGNORE INTO unit_keys VALUES(?, ?, ?)",
                        (event.stream_id, key, event.position),
                    )
                    if key.startswith(IMPORT_PREFIXES):
                        _imported(connection, event, key)
            elif kind == DESCRIBED.type:
                self._described(connection, event)
            else:
                # A second creation of one id cannot come through the store; the first would stand.
                connection.execute(
                    "INSERT OR IGNORE INTO chronica VALUES(?, ?, ?, ?, ?)",
                    (
                        event.stream_id,
                        event.payload.chronicum_id,
                        event.payload.owner_id,
                        event.position,
                        event.recorded_at,
                    ),
                )
        connection.executemany("INSERT INTO session_entries VALUES(?, ?, ?, ?)", entries)
        # The first of each role counts: a call id that comes twice in a session stays with its first pair.
        connection.executemany("INSERT OR IGNORE INTO tool_calls VALUES(?, ?, ?, ?)", calls)

    def _described(self, connection: apsw.Connection, event: FoldEvent) -> None:
        described: ChronicumDescribed = event.payload
        for field in DESCRIPTION_FIELDS:
            value = getattr(described, field)
            if value is UNSET:
                continue
            connection.execute(
                "UPDATE session_descriptions SET to_position = ? "
                "WHERE stream_id = ? AND field = ? AND to_position IS NULL",
                (event.position, event.stream_id, field),
            )
            connection.execute(
                "INSERT INTO session_descriptions VALUES(?, ?, ?, NULL, ?)",
                (event.stream_id, field, event.position, msgspec.json.encode(value).decode()),
            )


def _key(connection: apsw.Connection, event: FoldEvent, key: str) -> None:
    """Note an idempotency key: an importer's among all sessions' records, any other in its session.

    An importer's key that another session had first is noted in its session too, so that a key counts
    in every session on its own.
    """
    if key.startswith(IMPORT_PREFIXES) and _imported(connection, event, key):
        return
    connection.execute(
        "INSERT OR IGNORE INTO session_keys VALUES(?, ?, ?)", (event.stream_id, key, event.position)
    )


def _imported(connection: apsw.Connection, event: FoldEvent, key: str) -> bool:
    """Note an imported record; False if its key was noted before."""
    connection.execute("INSERT OR IGNORE INTO imported_records VALUES(?, ?)", (key, event.position))
    return connection.changes() > 0


def _calls(event: FoldEvent, actum: ActumRecorded) -> Iterator[tuple[int, str, int, int]]:
    call = actum.metadata.get("call_id")
    if call and isinstance(call, str) and actum.kind in ("tool_request", "tool_response"):
        yield event.stream_id, call, REQUEST if actum.kind == "tool_request" else RESPONSE, event.seq
    parent = actum.metadata.get("parent")
    if parent and isinstance(parent, str):
        yield event.stream_id, parent, CHILD, event.seq


class SessionCountsFold:
    """The fold `session_counts`: how much, by whom and until when; needed by readers only."""

    name = "session_counts"
    version = 1
    tables = ("session_activity", "facet_counts", "session_actors")
    schema = (
        "CREATE TABLE session_activity("
        "stream_id INTEGER PRIMARY KEY, last_activity_at INTEGER NOT NULL, "
        "first_happened INTEGER NOT NULL, last_happened INTEGER NOT NULL, acta INTEGER NOT NULL, "
        "last_position INTEGER NOT NULL) STRICT",
        "CREATE INDEX sessions_by_activity ON session_activity(last_activity_at, stream_id)",
        "CREATE TABLE facet_counts("
        "stream_id INTEGER NOT NULL, facet INTEGER NOT NULL, entries INTEGER NOT NULL, "
        "PRIMARY KEY(stream_id, facet)) STRICT, WITHOUT ROWID",
        "CREATE TABLE session_actors("
        "stream_id INTEGER NOT NULL, actor TEXT NOT NULL, actor_kind TEXT NOT NULL, "
        "acta INTEGER NOT NULL, PRIMARY KEY(stream_id, actor, actor_kind)) STRICT, WITHOUT ROWID",
    )
    types: frozenset[str] | None = frozenset({CREATED.type, ACTUM.type, UNIT_CLOSED.type})
    at_commit = True

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Add a batch to the counters, one statement per counter that it touches."""
        facets: dict[tuple[int, int], int] = {}
        actors: dict[tuple[int, str, str], int] = {}
        activity: dict[int, list[int]] = {}
        for event in events:
            stream = event.stream_id
            if event.event_type.type == CREATED.type:
                at = event.recorded_at
                connection.execute(
                    "INSERT OR IGNORE INTO session_activity VALUES(?, ?, ?, ?, 0, ?)",
                    (stream, at, at, at, event.position),
                )
                continue
            if event.event_type.type == UNIT_CLOSED.type:
                facets[stream, UNIT_FACET] = facets.get((stream, UNIT_FACET), 0) + 1
                continue
            actum: ActumRecorded = event.payload
            key = (stream, facet(actum.kind, actum.actor_kind, event.private))
            facets[key] = facets.get(key, 0) + 1
            actor = (stream, actum.actor, actum.actor_kind)
            actors[actor] = actors.get(actor, 0) + 1
            happened = event.recorded_at if event.occurred_at is None else event.occurred_at
            seen = activity.get(stream)
            if seen is None:
                activity[stream] = [event.recorded_at, happened, happened, 1, event.position]
            else:
                seen[0] = event.recorded_at
                seen[1] = min(seen[1], happened)
                seen[2] = max(seen[2], happened)
                seen[3] += 1
                seen[4] = event.position
        connection.executemany(
            "INSERT INTO facet_counts VALUES(?, ?, ?) "
            "ON CONFLICT DO UPDATE SET entries = entries + excluded.entries",
            [(*key, count) for key, count in facets.items()],
        )
        connection.executemany(
            "INSERT INTO session_actors VALUES(?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET acta = acta + excluded.acta",
            [(*key, count) for key, count in actors.items()],
        )
        # The first actum's time replaces the creation's: a session without acta has only that.
        connection.executemany(
            "UPDATE session_activity SET last_activity_at = ?2, "
            "first_happened = iif(acta = 0, ?3, min(first_happened, ?3)), "
            "last_happened = iif(acta = 0, ?4, max(last_happened, ?4)), "
            "acta = acta + ?5, last_position = ?6 WHERE stream_id = ?1",
            [(stream, *numbers) for stream, numbers in activity.items()],
        )


FOLDS = (SessionsFold(), SessionCountsFold())

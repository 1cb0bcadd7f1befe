"""What the log's session events fold into: rows for filters, keys, pairing, counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
from workbench.storage import fetch

IMPORT_PREFIXES = ("claude-code:", "codex:")
"""Beginnings of the keys that importers give; other keys are their callers' own."""

_DESCRIBED, _ACTUM, _UNIT_CLOSED = DESCRIBED.type, ACTUM.type, UNIT_CLOSED.type

REQUEST, RESPONSE, CHILD = 0, 1, 2
"""Roles of an entry in a tool call: the call, its response, the first act of the sub-agent it spawned."""

_ROLES = {"tool_request": REQUEST, "tool_response": RESPONSE}


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
        keys: list[tuple[int, str, int]] = []
        imported: list[tuple[str, int, int | None]] = []
        for event in events:
            kind = event.event_type.type
            if kind == _ACTUM:
                actum: ActumRecorded = event.payload
                number = facet(actum.kind, actum.actor_kind, event.private)
                entries.append((event.stream_id, number, event.seq, event.position))
                key = actum.idempotency_key
                if isinstance(key, str):
                    if key.startswith(IMPORT_PREFIXES):
                        imported.append((key, event.position, event.stream_id))
                    else:
                        keys.append((event.stream_id, key, event.position))
                if actum.metadata:
                    _add_calls(calls, event, actum)
            elif kind == _UNIT_CLOSED:
                entries.append((event.stream_id, UNIT_FACET, event.seq, event.position))
                key = event.payload.source_key
                if isinstance(key, str):
                    connection.execute(
                        "INSERT OR IGNORE INTO unit_keys VALUES(?, ?, ?)",
                        (event.stream_id, key, event.position),
                    )
                    if key.startswith(IMPORT_PREFIXES):
                        imported.append((key, event.position, None))
            elif kind == _DESCRIBED:
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
        if entries:
            connection.executemany("INSERT INTO session_entries VALUES(?, ?, ?, ?)", entries)
        if imported:
            keys.extend(_noted_before(connection, imported))
        if keys:
            connection.executemany("INSERT OR IGNORE INTO session_keys VALUES(?, ?, ?)", keys)
        if calls:
            # The first of each role counts: a call id that comes twice in a session stays with its first
            # pair.
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


def _noted_before(
    connection: apsw.Connection, imported: list[tuple[str, int, int | None]]
) -> list[tuple[int, str, int]]:
    """Note imported records, given as (key, position, stream); rows of `session_keys` for those left over.

    An importer's key is noted once for all sessions. One that another session had first is noted in its
    own session instead, so that a key counts in every session on its own; a unit (no stream) has its own
    table for that.
    """
    before = connection.total_changes()
    connection.executemany(
        "INSERT OR IGNORE INTO imported_records VALUES(?, ?)",
        [(key, position) for key, position, _ in imported],
    )
    if connection.total_changes() - before == len(imported):
        return []
    return [
        (stream, key, position)
        for key, position, stream in imported
        if stream is not None
        and position
        != fetch.value(connection, "SELECT position FROM imported_records WHERE source_key = ?", (key,))
    ]


def _add_calls(rows: list[tuple[int, str, int, int]], event: FoldEvent, actum: ActumRecorded) -> None:
    """Add an entry's rows of `tool_calls`."""
    role = _ROLES.get(actum.kind)
    if role is not None:
        call = actum.metadata.get("call_id")
        if call and isinstance(call, str):
            rows.append((event.stream_id, call, role, event.seq))
    parent = actum.metadata.get("parent")
    if parent and isinstance(parent, str):
        rows.append((event.stream_id, parent, CHILD, event.seq))


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
        "CREATE INDEX sessions_by_happening ON session_activity(last_happened, stream_id)",
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
        facets: defaultdict[tuple[int, int], int] = defaultdict(int)
        actors: defaultdict[tuple[int, str, str], int] = defaultdict(int)
        acta: defaultdict[tuple[int, str, str, str, bool], int] = defaultdict(int)
        happened: defaultdict[int, list[int]] = defaultdict(list)
        last: dict[int, FoldEvent] = {}
        """By stream its last actum."""
        for event in events:
            stream = event.stream_id
            kind = event.event_type.type
            if kind == _ACTUM:
                actum: ActumRecorded = event.payload
                acta[stream, actum.kind, actum.actor_kind, actum.actor, event.private] += 1
                occurred = event.occurred_at
                happened[stream].append(event.recorded_at if occurred is None else occurred)
                last[stream] = event
            elif kind == _UNIT_CLOSED:
                facets[stream, UNIT_FACET] += 1
            else:
                at = event.recorded_at
                connection.execute(
                    "INSERT OR IGNORE INTO session_activity VALUES(?, ?, ?, ?, 0, ?)",
                    (stream, at, at, at, event.position),
                )
        for (stream, act, actor_kind, actor, private), count in acta.items():
            facets[stream, facet(act, actor_kind, private)] += count
            actors[stream, actor, actor_kind] += count
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
            [
                (stream, event.recorded_at, min(times), max(times), len(times), event.position)
                for (stream, times), event in zip(happened.items(), last.values(), strict=True)
            ],
        )


FOLDS = (SessionsFold(), SessionCountsFold())

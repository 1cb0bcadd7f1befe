"""What the log's session events fold into: rows for filters, keys, pairing, counts."""

from __future__ import annotations

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
        for event in events:
            kind = event.event_type.type
            if kind == ACTUM.type:
                self._actum(connection, event)
            elif kind == UNIT_CLOSED.type:
                self._unit(connection, event)
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

    def _actum(self, connection: apsw.Connection, event: FoldEvent) -> None:
        actum: ActumRecorded = event.payload
        self._entry(connection, event, facet(actum.kind, actum.actor_kind, event.private))
        if actum.idempotency_key is not UNSET:
            connection.execute(
                "INSERT OR IGNORE INTO session_keys VALUES(?, ?, ?)",
                (event.stream_id, actum.idempotency_key, event.position),
            )
        metadata = actum.metadata
        if not metadata:
            return
        call = metadata.get("call_id")
        if call and isinstance(call, str) and actum.kind in ("tool_request", "tool_response"):
            self._call(connection, event, call, REQUEST if actum.kind == "tool_request" else RESPONSE)
        parent = metadata.get("parent")
        if parent and isinstance(parent, str):
            self._call(connection, event, parent, CHILD)

    def _unit(self, connection: apsw.Connection, event: FoldEvent) -> None:
        self._entry(connection, event, UNIT_FACET)
        key = event.payload.source_key
        if key is not UNSET:
            connection.execute(
                "INSERT OR IGNORE INTO unit_keys VALUES(?, ?, ?)", (event.stream_id, key, event.position)
            )

    def _entry(self, connection: apsw.Connection, event: FoldEvent, number: int) -> None:
        connection.execute(
            "INSERT INTO session_entries VALUES(?, ?, ?, ?)",
            (event.stream_id, number, event.seq, event.position),
        )

    def _call(self, connection: apsw.Connection, event: FoldEvent, call: str, role: int) -> None:
        # The first of each role counts: a call id that comes twice in a session stays with its first pair.
        connection.execute(
            "INSERT OR IGNORE INTO tool_calls VALUES(?, ?, ?, ?)", (event.stream_id, call, role, event.seq)
        )

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

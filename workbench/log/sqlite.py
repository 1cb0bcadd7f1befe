"""The log's own tables, and rows to events (DESIGN §2 "Event", "Stream")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import apsw
import msgspec

from workbench.log.registry import Envelope, StoredEvent
from workbench.log.times import from_micros
from workbench.storage import fetch

SCHEMA = (
    "CREATE TABLE streams("
    "stream_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, "
    "domain_key TEXT NOT NULL, project_key TEXT NOT NULL, task_key TEXT NOT NULL, "
    "last_seq INTEGER NOT NULL) STRICT",
    "CREATE TABLE event_types("
    "type_id INTEGER PRIMARY KEY, namespace TEXT NOT NULL, type TEXT NOT NULL, "
    "UNIQUE(namespace, type)) STRICT",
    "CREATE TABLE events("
    "position INTEGER PRIMARY KEY, "
    "stream_id INTEGER NOT NULL REFERENCES streams(stream_id), seq INTEGER NOT NULL, "
    "type_id INTEGER NOT NULL REFERENCES event_types(type_id), schema_version INTEGER NOT NULL, "
    "event_id BLOB NOT NULL, causation_id BLOB, correlation_id BLOB, "
    "private INTEGER NOT NULL, recorded_at INTEGER NOT NULL, occurred_at INTEGER, "
    "payload TEXT NOT NULL) STRICT",
    "CREATE UNIQUE INDEX events_by_id ON events(event_id)",
    "CREATE UNIQUE INDEX events_by_stream ON events(stream_id, seq)",
    "CREATE INDEX events_by_type ON events(type_id, position)",
    "CREATE INDEX events_as_happened ON events(coalesce(occurred_at, recorded_at), position)",
)

INSERT = "INSERT INTO events VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

_COLUMNS = (
    "e.position, s.name, e.seq, t.namespace, t.type, e.schema_version, e.event_id, "
    "e.causation_id, e.correlation_id, e.private, e.recorded_at, e.occurred_at, e.payload"
)
# CROSS JOIN keeps the events outermost, in index order, whatever the statistics say.
FROM_EVENTS = (
    f"SELECT {_COLUMNS} FROM events e CROSS JOIN streams s ON s.stream_id = e.stream_id "
    "CROSS JOIN event_types t ON t.type_id = e.type_id"
)

BY_POSITION = f"{FROM_EVENTS} WHERE e.position > ? AND e.position <= ? ORDER BY e.position LIMIT ?"
BY_STREAM = f"{FROM_EVENTS} WHERE e.stream_id = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq LIMIT ?"
TO_FOLD = (
    "SELECT e.position, e.event_id, e.causation_id, e.stream_id, s.name, e.seq, t.namespace, t.type, "
    "e.schema_version, e.private, e.recorded_at, e.occurred_at, e.payload "
    "FROM events e CROSS JOIN streams s ON s.stream_id = e.stream_id "
    "CROSS JOIN event_types t ON t.type_id = e.type_id "
    "WHERE e.position > ? ORDER BY e.position LIMIT ?"
)
ONE = f"{FROM_EVENTS} WHERE e.position = ?"

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def stored_event(row: tuple[Any, ...]) -> StoredEvent:
    """A row of `FROM_EVENTS` as an event; the payload is decoded leniently, as any JSON object."""
    return StoredEvent(
        position=row[0],
        stream=row[1],
        seq=row[2],
        envelope=Envelope(
            event_id=UUID(bytes=row[6]),
            namespace=row[3],
            type=row[4],
            schema_version=row[5],
            causation_id=UUID(bytes=row[7]) if row[7] is not None else None,
            correlation_id=UUID(bytes=row[8]) if row[8] is not None else None,
            visibility="private" if row[9] else "public",
            recorded_at=from_micros(row[10]),
            occurred_at=from_micros(row[11]) if row[11] is not None else None,
        ),
        payload=_decode(row[12]),
    )


def of_types(sql: str, numbers: Iterable[int]) -> str:
    """`BY_POSITION` or `BY_STREAM` for events of some types only, by their numbers in this file.

    What lies between them is passed over by SQLite itself, in order, without being decoded.
    """
    head, order, tail = sql.partition(" ORDER BY ")
    # With the plus no index over types is used, after which everything found would have to be sorted.
    return f"{head} AND +e.type_id IN ({', '.join(map(str, numbers))}){order}{tail}"


def type_numbers(connection: apsw.Connection, types: Iterable[tuple[str, str]]) -> list[int]:
    """The numbers of those (namespace, type) pairs of which the file ever held an event."""
    sql = "SELECT type_id FROM event_types WHERE namespace = ? AND type = ?"
    found = (fetch.value(connection, sql, pair) for pair in sorted(types))
    return [number for number in found if number is not None]


def last_position(connection: apsw.Connection) -> int:
    """The highest position in the file; 0 for an empty log."""
    return fetch.value(connection, "SELECT max(position) FROM events") or 0


def stream_id(connection: apsw.Connection, name: str) -> int | None:
    """The number of a stream, or None if nothing was ever appended to it."""
    number: int | None = fetch.value(connection, "SELECT stream_id FROM streams WHERE name = ?", (name,))
    return number


def last_seq(connection: apsw.Connection, number: int) -> int:
    """The highest seq of a stream; 0 if it is empty."""
    return fetch.value(connection, "SELECT max(seq) FROM events WHERE stream_id = ?", (number,)) or 0

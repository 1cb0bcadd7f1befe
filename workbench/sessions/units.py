"""Closing a unit of a session (contract sessions, "Payloads": `unit.closed`)."""

from __future__ import annotations

from msgspec import UNSET

from workbench.log.event_log import EventLog
from workbench.log.streams import session_stream
from workbench.sessions import queries
from workbench.sessions.errors import ChronicumNotFound, InvalidActum
from workbench.sessions.events import UnitClosed
from workbench.storage import fetch


def close_unit(
    log: EventLog, chronicum_id: str, unit: str, *, note: str | None = None, key: str | None = None
) -> tuple[int, int]:
    """Append `unit.closed`; its (position, seq), or those of the event that had the key first.

    Raises `ChronicumNotFound` without such a session, `InvalidActum` for an empty unit,
    `InvalidIdentifier` for a name that no name may be.
    """
    if not unit:
        raise InvalidActum.because("a unit needs a name")
    stream = session_stream(chronicum_id)
    with log.transaction() as transaction:
        connection = transaction.connection
        stream_id = queries.stream_of(connection, chronicum_id)
        if stream_id is None:
            raise ChronicumNotFound
        if key:
            row = fetch.row(
                connection,
                "SELECT e.position, e.seq FROM unit_keys k CROSS JOIN events e ON e.position = k.position "
                "WHERE k.stream_id = ? AND k.key = ?",
                (stream_id, queries.known_as(key)),
            )
            if row is not None:
                return row[0], row[1]
        closed = UnitClosed(
            chronicum_id=chronicum_id,
            unit=unit,
            note=UNSET if note is None else note,
            source_key=key or UNSET,
        )
        receipt = transaction.append(stream, [closed])
    return receipt.last_position, receipt.last_seq

"""Which version of the filter has seen what is stored, and whether a rescan is due (contract redaction)."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from workbench.log.event_log import EventLog
from workbench.log.sqlite import last_position
from workbench.storage import fetch


class RescanState(NamedTuple):
    """How much of the log today's filter has not seen."""

    version: str
    """Today's filter."""
    unseen: int
    """Events before the first one that it filtered itself, which no rescan with it has looked through."""
    found: int
    """What its last rescan found and no scrub has removed since."""

    @property
    def due(self) -> bool:
        """Whether text may hold what today's filter would take out."""
        return self.unseen > 0


def note_version(log: EventLog, now: int) -> None:
    """Note today's filter, if the last one noted is another: from here on it stands at the door.

    `now` in microseconds. Raises the storage errors of a write.
    """
    version = log.redactor.version
    with log.reader() as connection:
        if _latest(connection) == version:
            return
    with log.database.transaction() as connection:
        if _latest(connection) != version:
            connection.execute(
                "INSERT OR REPLACE INTO filter_versions VALUES(?, ?, "
                "max(?, 1 + coalesce((SELECT max(noted_at) FROM filter_versions), 0)), NULL, NULL, NULL)",
                (version, last_position(connection) + 1, now),
            )


def note_rescan(log: EventLog, upto: int, found: int, now: int) -> None:
    """Note that all up to position `upto` was looked through with today's filter, and what it found."""
    note_version(log, now)
    with log.database.transaction() as connection:
        connection.execute(
            "UPDATE filter_versions SET rescanned_upto = ?, rescanned_at = ?, found = ? WHERE version = ?",
            (upto, now, found, log.redactor.version),
        )


def rescan_state(log: EventLog) -> RescanState:
    """How much of the log today's filter has not seen."""
    with log.reader() as connection:
        return state_in(connection, log.redactor.version)


def state_in(connection: apsw.Connection, version: str) -> RescanState:
    """`rescan_state` of the filter `version`, on a given connection."""
    row = fetch.row(
        connection,
        "SELECT from_position, rescanned_upto, found FROM filter_versions WHERE version = ?",
        (version,),
    )
    if row is None or _latest(connection) != version:
        return RescanState(version, last_position(connection), 0)
    before = row[0] - 1
    return RescanState(version, 0 if before <= (row[1] or 0) else before - (row[1] or 0), row[2] or 0)


def _latest(connection: apsw.Connection) -> str | None:
    found: str | None = fetch.value(
        connection, "SELECT version FROM filter_versions ORDER BY noted_at DESC LIMIT 1"
    )
    return found

"""How far each background projection has come, by projection and stream (DESIGN §2)."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from workbench.log.event_log import EventLog
from workbench.storage import fetch

WHOLE_LOG = ""
"""Stands for the stream where a projection follows the whole log."""

TABLES = (
    "CREATE TABLE projection_positions("
    "projection TEXT NOT NULL, stream TEXT NOT NULL, position INTEGER NOT NULL, "
    "PRIMARY KEY(projection, stream)) STRICT, WITHOUT ROWID",
)
"""Statements that create what is not folded from the log here."""


class ProjectionPosition(NamedTuple):
    """The number of the last event that a projection has folded: a seq, or a position in the whole log."""

    projection: str
    stream: str
    position: int


class Positions:
    """The positions kept in a log's own file, so that they move together with what was folded."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def read_position(self, projection: str, stream: str = WHOLE_LOG) -> int:
        """How far a projection has come; 0 for one that never folded anything."""
        with self._log.reader() as connection:
            return read_position(connection, projection, stream)

    def commit_position(self, projection: str, position: int, stream: str = WHOLE_LOG) -> None:
        """Note a position, which may lie before the noted one; joins an open transaction."""
        with self._log.transaction() as transaction:
            commit_position(transaction.connection, projection, position, stream)

    def all(self) -> list[ProjectionPosition]:
        """Every noted position, by projection and stream."""
        sql = "SELECT projection, stream, position FROM projection_positions ORDER BY 1, 2"
        with self._log.reader() as connection:
            return [ProjectionPosition(*row) for row in fetch.rows(connection, sql)]


def read_position(connection: apsw.Connection, projection: str, stream: str) -> int:
    """`Positions.read_position` on a given connection."""
    sql = "SELECT position FROM projection_positions WHERE projection = ? AND stream = ?"
    return fetch.value(connection, sql, (projection, stream)) or 0


def commit_position(connection: apsw.Connection, projection: str, position: int, stream: str) -> None:
    """`Positions.commit_position` in the open transaction of a given connection."""
    connection.execute(
        "INSERT INTO projection_positions VALUES(?, ?, ?) "
        "ON CONFLICT DO UPDATE SET position = excluded.position",
        (projection, stream, position),
    )

"""Tables that a rebuild has left behind."""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from workbench.log.next_tables import NEXT, OLD
from workbench.storage import fetch
from workbench.storage.database import Database

# Full text comes first: only it can drop its own tables, which are those named after it.
_LEFT = (
    "SELECT name FROM sqlite_schema WHERE type = 'table' "
    "AND (name LIKE ?1 ESCAPE '!' OR name LIKE ?1 || '!_%' ESCAPE '!') "
    "ORDER BY sql NOT LIKE 'CREATE VIRTUAL%', name"
)


def leftovers(connection: apsw.Connection) -> list[str]:
    """Every table of an unfinished or finished rebuild that is still there, those of full text included."""
    return sorted(name for suffix in (NEXT, OLD) for name in _named(connection, suffix))


def discard(database: Database, suffixes: Iterable[str] = (NEXT, OLD)) -> int:
    """Drop the tables of rebuilds that ended half-way, or of one that succeeded; how many there were.

    Nothing that is in use has such a name. The write lock is free between two tables; the largest,
    full text of two million events, holds it for a fifth of a second.
    """
    count = 0
    for suffix in suffixes:
        with database.reader() as connection:
            found = _named(connection, suffix)
        for name in found:
            with database.transaction() as connection:
                connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        count += len(found)
    return count


def _named(connection: apsw.Connection, suffix: str) -> list[str]:
    pattern = "%" + suffix.replace("_", "!_")
    return [name for (name,) in fetch.rows(connection, _LEFT, (pattern,))]

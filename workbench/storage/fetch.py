"""Rows as tuples of `Any`: SQLite's columns are typed by the STRICT tables, not by the driver."""

from __future__ import annotations

from typing import Any

import apsw

Row = tuple[Any, ...]


def rows(connection: apsw.Connection, sql: str, values: Any = ()) -> list[Row]:
    """Every row of a query."""
    return connection.execute(sql, values).fetchall()


def row(connection: apsw.Connection, sql: str, values: Any = ()) -> Row | None:
    """The first row of a query, or None."""
    return connection.execute(sql, values).fetchone()


def value(connection: apsw.Connection, sql: str, values: Any = ()) -> Any:
    """The first column of the first row, or None where there is no row."""
    found = connection.execute(sql, values).fetchone()
    return None if found is None else found[0]

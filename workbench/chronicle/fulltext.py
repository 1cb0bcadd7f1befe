"""The words of sections' prose, as full text (contract log-and-chronicle, §8, §11; DESIGN §2 "The fold set").

Written together with the rows it belongs to, and made again from them where it was lost.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from workbench.chronicle.tables import SEARCH, SECTIONS
from workbench.log.fulltext import normalised
from workbench.storage import fetch

_ROWS = 500


_ADD = f"INSERT INTO {SEARCH}(rowid, prose) VALUES(?, ?)"


def add_one(connection: apsw.Connection, row_id: int, prose: str) -> None:
    """Note the words of a new row."""
    connection.execute(_ADD, (row_id, normalised(prose)))


def add(connection: apsw.Connection, proses: Iterable[tuple[int, str]]) -> None:
    """Note the words of new rows: `row_id` and prose of each."""
    connection.executemany(_ADD, ((row_id, normalised(prose)) for row_id, prose in proses))


def read_in(connection: apsw.Connection) -> None:
    """Note the words of every section, in place of whatever was noted; in the caller's transaction."""
    sql = f"SELECT row_id, prose FROM {SECTIONS} WHERE row_id > ? ORDER BY row_id LIMIT {_ROWS}"
    # A read comes first: a connection that knew another layout notices by it. Rows count from 1.
    rows = fetch.rows(connection, sql, (0,))
    connection.execute(f"INSERT INTO {SEARCH}({SEARCH}) VALUES('delete-all')")
    while rows:
        add(connection, rows)
        rows = fetch.rows(connection, sql, (rows[-1][0],))

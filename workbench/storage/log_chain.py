"""The mark that ties a write-ahead log to the file that it lies beside (DESIGN §4).

A table of one row holds two random numbers: the mark of the last transaction, and that of the one before.
So the first mark in a log says which mark its file has, or had before it was folded in. The row begins with
bytes that no text holds, by which its page is known in a file that is read without SQLite.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import apsw

MAGIC = b"\xff\xfe\x00workbench log chain\x00\xfe\xff"
_MARK_BYTES = 8

TABLE = (
    "CREATE TABLE log_chain(id INTEGER PRIMARY KEY, magic BLOB NOT NULL, previous BLOB NOT NULL, "
    "current BLOB NOT NULL) STRICT"
)
NONE_BEFORE = bytes(_MARK_BYTES)
"""What stands before the first mark of a file."""

BEGIN = f"INSERT INTO log_chain VALUES(1, x'{MAGIC.hex()}', x'{NONE_BEFORE.hex()}', x'{NONE_BEFORE.hex()}')"
ADVANCE = f"UPDATE log_chain SET previous = current, current = randomblob({_MARK_BYTES})"


class Mark(NamedTuple):
    """What one page says."""

    previous: bytes
    current: bytes


def advance(connection: apsw.Connection) -> None:
    """Mark the open transaction; nothing where the file has no such table yet."""
    # Without the mark a file is as good as those of earlier releases.
    with suppress(apsw.SQLError):
        connection.execute(ADVANCE)
        if not connection.changes():
            connection.execute(BEGIN)


def mark_in(page: bytes) -> Mark | None:
    """The mark that a page holds, or None."""
    at = page.find(MAGIC)
    if at < 0:
        return None
    first = at + len(MAGIC)
    middle, end = first + _MARK_BYTES, first + 2 * _MARK_BYTES
    return Mark(page[first:middle], page[middle:end]) if end <= len(page) else None

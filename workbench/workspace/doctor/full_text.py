"""What of a full-text table neither SQLite's own check nor a comparison of its words looks at."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

# How FTS5 numbers the pages of a segment: the segment's number above bit 37, then what kind of page it is,
# and the number of the page in the lowest 31 bits. Pages of what was deleted have segments from 65,536 on.
_LEAVES_BEHIND = (
    'SELECT substr(d.block, 3, 2), length(d.block) FROM "{0}_data" d WHERE d.id >= 1 << 37 '
    "AND (d.id >> 37) < 65536 AND (d.id >> 31) & 63 = 0 AND (d.id & 2147483647) > "
    'coalesce((SELECT max(i.pgno >> 1) FROM "{0}_idx" i WHERE i.segid = d.id >> 37), 0)'
)


def lost_leaves(connection: apsw.Connection, table: str) -> bool:
    """Whether there are words that a search cannot reach, for the index of pages does not lead there."""
    for begins, size in connection.execute(_LEAVES_BEHIND.format(table)):
        # Where a page lists its words; at its very end where it has none and goes on with the one before.
        if len(begins) == 2 and int.from_bytes(begins, "big") < size:
            return True
    return False


def lengths(connection: apsw.Connection, table: str) -> Iterator[tuple[object, ...]]:
    """How many words each entry has; without that, none can be taken out of the index again."""
    yield from connection.execute(f'SELECT id, sz FROM "{table}_docsize" ORDER BY id')

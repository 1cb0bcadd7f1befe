"""The words of a timeline's filter: which events hold them, by the log's full text or by reading them."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from workbench.log import sqlite
from workbench.log.errors import LogError
from workbench.log.fulltext_scan import FullTextScan
from workbench.storage import fetch
from workbench.workspace.readers.timeline_parts import Part, Parts, tests_of

_LONG_LOG = 20_000
"""A shorter log has no letter that its full text would take long to find."""
READ = 1_000
"""Events that are read at most, and bytes of them, before the full text is asked."""
_READ_BYTES = 4 * 1024 * 1024
_READS = (100, 300, 600)
"""How many of them are read at a time: of a letter that stands everywhere the first ones do."""

_SIZE = (
    "SELECT coalesce(sum(octet_length(e.payload)), 0) FROM json_each(?) k "
    "CROSS JOIN events e ON e.position = k.value"
)
_TO_FOLD = sqlite.TO_FOLD.replace(
    "WHERE e.position > ? ORDER BY e.position LIMIT ?",
    "WHERE e.position IN (SELECT value FROM json_each(?)) ORDER BY e.position",
)


def may_read(connection: apsw.Connection, parts: Parts) -> bool:
    """Whether to read some events is worth a try before the full text is asked."""
    return parts.decoder is not None and sqlite.last_position(connection) > _LONG_LOG


def having(connection: apsw.Connection, parts: Parts, text: Part, positions: Sequence[int]) -> set[int]:
    """Those of the positions at which the words are found; where they are few, by reading the events."""
    if 0 < len(positions) <= READ and may_read(connection, parts):
        found = _read(connection, parts, text, positions)
        if found is not None:
            return found
    return _looked_up(connection, text, positions)


def nearest(
    connection: apsw.Connection,
    parts: Parts,
    text: Part,
    bounds: tuple[int, int],
    limit: int,
    descending: bool,
) -> tuple[list[int], tuple[int, int]]:
    """The first events at one end of some bounds that pass and hold the words, and the bounds left.

    At most `limit`; none where reading is not worth a try. Empty bounds have their low above their high.
    """
    low, high = bounds
    found: list[int] = []
    if not may_read(connection, parts):
        return found, bounds
    for number in _READS:
        first, last = (
            (max(low, high - number + 1), high) if descending else (low, min(high, low + number - 1))
        )
        hold = _read(connection, parts, text, _passing(connection, parts, range(first, last + 1)))
        if hold is None:
            break
        found += sorted(hold, reverse=descending)
        low, high = (low, first - 1) if descending else (last + 1, high)
        if low > high or len(found) >= limit:
            break
    return found[:limit], (low, high)


def _passing(connection: apsw.Connection, parts: Parts, positions: Sequence[int]) -> Sequence[int]:
    """Those of the positions whose events pass everything but the words."""
    tests, values = tests_of(parts.every, None)
    if tests == "true":
        return positions
    sql = f"SELECT e.position FROM events e WHERE e.position BETWEEN ? AND ? AND {tests} ORDER BY e.position"
    return [position for (position,) in connection.execute(sql, (positions[0], positions[-1], *values))]


def _read(connection: apsw.Connection, parts: Parts, text: Part, positions: Sequence[int]) -> set[int] | None:
    """Those at which the words are found, by the events; None where they are too large or one is damaged."""
    if parts.decoder is None:
        return None
    numbers = json_list(positions)
    if fetch.value(connection, _SIZE, (numbers,)) > _READ_BYTES:
        return None
    try:
        events = [parts.decoder.event(row) for row in fetch.rows(connection, _TO_FOLD, (numbers,))]
    except LogError:
        # What the full text holds of it is what was there before it was damaged.
        return None
    (match,) = text.run_values[0]
    with FullTextScan(match) as scan:
        return set(scan.matching([event for event in events if event is not None]))


def _looked_up(connection: apsw.Connection, text: Part, positions: Sequence[int]) -> set[int]:
    if not positions:
        return set()
    # The + has the index walked once, not asked once for each position.
    sql = f"{text.runs[0]} AND rowid BETWEEN ? AND ? AND +rowid IN (SELECT value FROM json_each(?))"
    found = connection.execute(
        sql, (*text.run_values[0], min(positions), max(positions), json_list(positions))
    )
    return {position for (position,) in found}


def json_list(positions: Sequence[int]) -> str:
    """Positions as `json_each` takes them."""
    return f"[{','.join(map(str, positions))}]"

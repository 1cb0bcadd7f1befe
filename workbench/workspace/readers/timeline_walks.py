"""Searching the log in either order: positions of the events that pass a filter, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

import apsw

from workbench.storage import fetch
from workbench.workspace.readers.timeline_parts import (
    AS_HAPPENED,
    BEYOND_ALL,
    FEW,
    HAPPENED,
    LATEST,
    Part,
    Parts,
    found_by,
    leader,
    rarest,
    tests_of,
    text_size,
)
from workbench.workspace.readers.timeline_words import READ, having, may_read, nearest
from workbench.workspace.rows import Place

_WINDOW = 20_000
"""Positions that the first step of a search over several parts looks at; each further step doubles it."""
_WIDEST_WINDOW = 200_000

_STRETCH = 4_000
"""Events that the first step through happened time looks at, and how many a later one does at most."""
_LONGEST_STRETCH = 64_000

_MANY = 2_000
"""A part with so many events is looked for near the end first."""
_NEAR = 16_000
"""Events that such a look takes."""

_STREAMED = 100_000
"""Entries with the words that are gone through one by one."""

Looked = TypeVar("Looked")


class Walk(NamedTuple, Generic[Looked]):
    """What a search does between two steps, and how it is stopped."""

    limit: int
    descending: bool
    go_on: Callable[[Looked, int], bool]
    """Told to where the search has come and how many events it has found; false ends it."""


def walk_positions(
    connection: apsw.Connection, parts: Parts, low: int, high: int, walk: Walk[int]
) -> tuple[list[int], bool]:
    """Positions from `low` to `high` that pass, in order of recording, and whether it looked at them all."""
    found: list[int] = []
    first, last = max(low, parts.low), min(high, parts.high)
    if first > last:
        return found, True
    main = rarest(parts.every) if parts.text is not None else None
    if main is not None and parts.text is not None:
        return _few_with_text(connection, main, parts, parts.text, (first, last), walk)
    main = leader(parts)
    if parts.text is not None:
        found, (first, last) = nearest(
            connection, parts, parts.text, (first, last), walk.limit, walk.descending
        )
        if len(found) >= walk.limit:
            return found, False
        if first > last:
            walk.go_on(low if walk.descending else high, len(found))
            return found, True
    steps = iter([(first, last)]) if parts.single else windows(first, last, walk.descending)
    for bounds in steps:
        found += _within(connection, parts, main, bounds, walk.limit - len(found), walk.descending)
        if len(found) >= walk.limit:
            return found, False
        looked = bounds[0] if walk.descending else bounds[1]
        end = first if walk.descending else last
        if looked == end:
            # What lies beyond cannot pass.
            walk.go_on(low if walk.descending else high, len(found))
        elif not walk.go_on(looked, len(found)):
            return found, False
    return found, True


def _few_with_text(
    connection: apsw.Connection,
    main: Part,
    parts: Parts,
    text: Part,
    bounds: tuple[int, int],
    walk: Walk[int],
) -> tuple[list[int], bool]:
    """What a rare part finds, all of it, and of that what has the words."""
    sql, values = found_by(main, parts.every, bounds)
    order = "DESC" if walk.descending else "ASC"
    able = [position for (position,) in connection.execute(f"{sql} ORDER BY 1 {order}", values)]
    if len(able) >= _MANY:
        near = _streamed(connection, text, able, walk)
        if len(near) >= walk.limit:
            return near, False
    hold = having(connection, parts, text, able)
    found = [position for position in able if position in hold]
    return found[: walk.limit], len(found) < walk.limit


def _streamed(connection: apsw.Connection, text: Part, able: Sequence[int], walk: Walk[int]) -> list[int]:
    """The first of some positions that have the words, of those that stand near the search's beginning.

    Words that stand everywhere are soon met; the others are better asked for all at once.
    """
    order = "DESC" if walk.descending else "ASC"
    wanted = set(able)
    rows = connection.execute(
        f"{text.runs[0]} AND rowid BETWEEN ? AND ? ORDER BY rowid {order}",
        (*text.run_values[0], min(able), max(able)),
    )
    found: list[int] = []
    for (position,) in islice(rows, _STREAMED):
        if position in wanted:
            found.append(position)
            if len(found) >= walk.limit:
                break
    return found


def _once(walk: Walk[Place]) -> Walk[Place]:
    """The same walk with a single step."""
    return walk._replace(go_on=lambda looked, found: False)


def windows(low: int, high: int, descending: bool) -> Iterator[tuple[int, int]]:
    """Ranges of positions, first and last, that cover `low` to `high` one after the other."""
    width = _WINDOW
    while low <= high:
        if descending:
            yield max(low, high - width + 1), high
            high -= width
        else:
            yield low, min(high, low + width - 1)
            low += width
        width = min(width * 2, _WIDEST_WINDOW)


def _within(
    connection: apsw.Connection,
    parts: Parts,
    main: Part,
    bounds: tuple[int, int],
    limit: int,
    descending: bool,
) -> list[int]:
    sql, values = found_by(main, parts.every, bounds)
    # A compound is ordered by its first column; so is a single run, whatever its column is called.
    order = "DESC" if descending else "ASC"
    found = connection.execute(f"{sql} ORDER BY 1 {order} LIMIT ?", (*values, limit))
    return [position for (position,) in found]


# As things happened


def walk_happened(
    connection: apsw.Connection, parts: Parts, low: Place, high: Place, walk: Walk[Place]
) -> tuple[list[int], bool]:
    """Positions of events strictly between two places that pass, as they happened; and whether it saw all."""
    first = max(low, Place(parts.since, -1))
    # Without an end even the last moment that can be stored is within.
    last = high if parts.until == LATEST else min(high, Place(parts.until, -1))
    rest = parts.every
    if first >= last:
        return [], True
    if not rest and parts.text is None:
        places = _stretch(connection, first, last, walk.limit, walk.descending, parts.upto)
        found = [place.position for place in places]
        return found, len(found) < walk.limit
    main, text = rarest(rest), parts.text
    if main is None and text is not None and may_read(connection, parts):
        # What is typed first stands everywhere, and is the dearest to look up.
        near = _tested(connection, parts, text, (first, last), _once(walk), READ)
        if len(near[0]) >= walk.limit or near[1]:
            return near
    if main is None and text is not None and text_size(connection, text) < FEW:
        main, text = text, None
    if main is None:
        return _tested(connection, parts, text, (first, last), walk)
    if text is None and parts.upto == BEYOND_ALL and _is_near(connection, main, rest, walk.limit):
        # Many enough that the next ones are near: a look costs less than to sort them all.
        near = _tested(connection, parts, None, (first, last), _once(walk), _NEAR)
        if len(near[0]) >= walk.limit:
            return near
    limit = walk.limit if text is None else None
    found = _sorted(connection, main, rest, (first, last), limit, walk.descending, parts.upto)
    if text is not None:
        hold = having(connection, parts, text, found)
        found = [position for position in found if position in hold][: walk.limit]
    return found, len(found) < walk.limit


def _is_near(connection: apsw.Connection, main: Part, parts: Sequence[Part], limit: int) -> bool:
    """Whether so many of the events pass that a look at the nearest should find enough."""
    if main.size < _MANY or len(parts) != 1 or parts[0] is not main:
        return False
    last = fetch.value(connection, "SELECT max(position) FROM events") or 0
    return main.size * _NEAR >= 2 * limit * last


def _sorted(
    connection: apsw.Connection,
    main: Part,
    parts: Sequence[Part],
    between: tuple[Place, Place],
    limit: int | None,
    descending: bool,
    upto: int,
) -> list[int]:
    """What one part finds, in order, all of it if there is no limit: it finds few."""
    (low, low_position), (high, high_position) = between
    sql, values = found_by(main, parts, (1, upto), f"k.position AS position, {HAPPENED} AS happened")
    order = "DESC" if descending else "ASC"
    found = connection.execute(
        f"SELECT position FROM ({sql}) WHERE (happened, position) > (?, ?) AND (happened, position) < (?, ?) "
        f"ORDER BY happened {order}, position {order} LIMIT ?",
        (*values, low, low_position, high, high_position, -1 if limit is None else limit),
    )
    return [position for (position,) in found]


def _tested(
    connection: apsw.Connection,
    parts: Parts,
    text: Part | None,
    between: tuple[Place, Place],
    walk: Walk[Place],
    first_length: int | None = None,
) -> tuple[list[int], bool]:
    """The index from one end, so many events at a time, each put to the tests."""
    low, high = between
    found: list[int] = []
    length = first_length or _STRETCH
    tests, values = tests_of(parts.every, None)
    while True:
        places = _stretch(connection, low, high, length, walk.descending, parts.upto)
        positions = [place.position for place in places]
        if tests != "true" and positions:
            passed = connection.execute(
                "SELECT e.position FROM json_each(?) k CROSS JOIN events e ON e.position = k.value "
                f"WHERE {tests} ORDER BY k.key",
                (f"[{','.join(map(str, positions))}]", *values),
            )
            positions = [position for (position,) in passed]
        if text is not None:
            hold = having(connection, parts, text, positions)
            positions = [position for position in positions if position in hold]
        found += positions[: walk.limit - len(found)]
        if len(found) >= walk.limit:
            return found, False
        if len(places) < length:
            return found, True
        if not walk.go_on(places[-1], len(found)):
            return found, False
        low, high = (low, places[-1]) if walk.descending else (places[-1], high)
        length = min(length * 2, _LONGEST_STRETCH)


def _stretch(
    connection: apsw.Connection, low: Place, high: Place, limit: int, descending: bool, upto: int
) -> list[Place]:
    """The next events strictly between two places, in order, from the index alone; none above `upto`."""
    found: list[Place] = []
    order = "DESC" if descending else "ASC"
    for condition, values in _segments(low, high, descending):
        rows = connection.execute(
            f"SELECT {HAPPENED}, e.position FROM {AS_HAPPENED} WHERE {condition} AND +e.position <= ? "
            f"ORDER BY {HAPPENED} {order}, e.position {order} LIMIT ?",
            (*values, upto, limit - len(found)),
        )
        found += [Place(*row) for row in rows]
        if len(found) >= limit:
            break
    return found


def _segments(low: Place, high: Place, descending: bool) -> Sequence[tuple[str, tuple[int, ...]]]:
    """The runs of the index between two places: those of one moment at either end are runs of their own.

    Otherwise a million events of one moment would be walked again for each page.
    """
    if low.happened == high.happened:
        alone = f"{HAPPENED} = ? AND e.position > ? AND e.position < ?"
        return [(alone, (low.happened, low.position, high.position))]
    segments = [
        (f"{HAPPENED} = ? AND e.position > ?", (low.happened, low.position)),
        (f"{HAPPENED} > ? AND {HAPPENED} < ?", (low.happened, high.happened)),
        (f"{HAPPENED} = ? AND e.position < ?", (high.happened, high.position)),
    ]
    return segments[::-1] if descending else segments

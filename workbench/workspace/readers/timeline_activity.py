"""How much happened when, in as many equal cells as there is room for: what an activity strip draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import apsw

from workbench.log.activity import HOUR
from workbench.log.event_log import EventLog
from workbench.storage import fetch
from workbench.workspace.readers.timeline_names import FilterNames
from workbench.workspace.readers.timeline_parts import (
    AS_HAPPENED,
    BEYOND_ALL,
    EARLIEST,
    HAPPENED,
    LATEST,
    found_by,
    leader,
    parts_of,
)
from workbench.workspace.readers.timeline_walks import windows
from workbench.workspace.rows import Place, TimelineFilter

_DAY = 24
_WHOLE_HOURS = 8
"""Cells of so many hours or more are whole hours, which are counted already; narrower ones are exact."""

_FEWEST_CUT = 4
"""Of so few events none lies astray."""
_ASTRAY = 50
"""At most one event in so many lies astray at either end."""
_GAP_DAYS = 730
_GAP_SPANS = 10
"""An event lies astray only beyond a gap of so many days, and of so many times what the others span."""


class Scale(NamedTuple):
    """Cells of one width over happened time, in microseconds."""

    start: int
    width: int
    cells: int
    earlier: int = 0
    """Events before the first cell, which stand in it all the same: a clock was wrong, or they are old."""
    later: int = 0

    @property
    def end(self) -> int:
        """Where the last cell ends."""
        return self.start + self.width * self.cells

    def cell_of(self, happened: int) -> int:
        """The cell in which an event stands."""
        return max(0, min((happened - self.start) // self.width, self.cells - 1))

    def bounds(self, cell: int) -> tuple[int | None, int | None]:
        """From when (inclusive) until when (exclusive) events stand in a cell; None is without end."""
        low = self.start + cell * self.width
        return (
            None if cell == 0 and self.earlier else low,
            None if cell == self.cells - 1 and self.later else low + self.width,
        )


class ActivityReader:
    """Counts events by happened time; with `upto` only those up to a position."""

    def __init__(self, log: EventLog, names: FilterNames | None = None, *, upto: int | None = None) -> None:
        self._log = log
        self._names = names or FilterNames()
        self._upto = upto

    def scale(self, cells: int, since: int | None = None, until: int | None = None) -> Scale | None:
        """The time in which the events happened, in at most `cells` cells; None where there is none.

        `since` and `until` take the place of the ends. Without them the few events that lie far from
        all others (a clock that was wrong) do not stretch it.
        """
        with self._log.reader() as connection:
            days = self._days(connection)
            if not days or cells < 1:
                return None
            first, last = _core([(hour, number) for hour, number in days])
            low = fetch.value(
                connection,
                f"SELECT {HAPPENED} FROM {AS_HAPPENED} WHERE {HAPPENED} >= ? AND +e.position <= ? "
                "ORDER BY 1 LIMIT 1",
                (EARLIEST if first is None else first * HOUR, self._bound),
            )
            high = fetch.value(
                connection,
                f"SELECT {HAPPENED} FROM {AS_HAPPENED} WHERE {HAPPENED} < ? AND +e.position <= ? "
                "ORDER BY 1 DESC LIMIT 1",
                (LATEST if last is None else last * HOUR, self._bound),
            )
            if low is None or high is None:
                return None
            start = low if since is None else since
            end = high + 1 if until is None else until
            if end <= start:
                end = start + 1
            scale = _cells(start, end, cells)
            return scale._replace(
                earlier=self._number(connection, EARLIEST, scale.start) if since is None else 0,
                later=self._number(connection, scale.end, LATEST) if until is None else 0,
            )

    @property
    def _bound(self) -> int:
        return BEYOND_ALL if self._upto is None else self._upto

    def _days(self, connection: apsw.Connection) -> list[fetch.Row]:
        """Pairs of a day's first hour and its events, ascending."""
        if self._upto is None:
            return fetch.rows(
                connection,
                # Division rounds towards zero; from the first hour on all is positive.
                "SELECT f.hour + (h.hour - f.hour) / ?1 * ?1, sum(h.events) "
                "FROM activity_hours h, (SELECT min(hour) AS hour FROM activity_hours) f "
                "GROUP BY 1 ORDER BY 1",
                (_DAY,),
            )
        # Hours are counted for now only: of the past the index is read once.
        first: int | None = fetch.value(
            connection,
            f"SELECT {HAPPENED} FROM {AS_HAPPENED} WHERE +e.position <= ? ORDER BY 1 LIMIT 1",
            (self._upto,),
        )
        if first is None:
            return []
        hour = first // HOUR
        days = fetch.rows(
            connection,
            "SELECT DISTINCT (hour - ?1) / ?2 FROM activity_hours WHERE hour >= ?1 ORDER BY 1",
            (hour, _DAY),
        )
        # One count for each day: a single grouped one would be sorted whole first.
        counted = [
            (start := hour + day * _DAY, self._number(connection, start * HOUR, (start + _DAY) * HOUR))
            for (day,) in days
        ]
        return [(start, number) for start, number in counted if number]

    def _number(self, connection: apsw.Connection, since: int, until: int) -> int:
        return _number(connection, since, until, self._bound)

    def whole(self, scale: Scale, types: Sequence[str] = ()) -> list[int] | None:
        """How many events of these types (none: of all) stand in each cell, counted at once.

        None where that is no matter of milliseconds: types are counted by whole hours only.
        """
        counts = [0] * scale.cells
        hourly = scale.width % HOUR == 0 and scale.start % HOUR == 0
        with self._log.reader() as connection:
            if hourly and self._upto is None:
                chosen = f" AND type IN ({','.join('?' * len(types))})" if types else ""
                valid = [name for name in types if not any("\ud800" <= c <= "\udfff" for c in name)]
                if types and len(valid) < len(types):
                    chosen = f" AND type IN ({','.join('?' * len(valid))})"
                for hour, number in connection.execute(
                    f"SELECT hour, sum(events) FROM activity_hours WHERE true{chosen} GROUP BY hour", valid
                ):
                    happened = hour * HOUR
                    if self._inside(scale, happened):
                        counts[scale.cell_of(happened)] += number
                return counts
            if types:
                return None
            for cell in range(scale.cells):
                low, high = scale.bounds(cell)
                counts[cell] = self._number(
                    connection, EARLIEST if low is None else low, LATEST if high is None else high
                )
        return counts

    def matching(
        self,
        wanted: TimelineFilter,
        scale: Scale,
        go_on: Callable[[list[int]], bool] = lambda counts: True,
        *,
        after: int = 0,
        upto: int | None = None,
    ) -> list[int]:
        """How many events that pass a filter stand in each cell: those recorded last are counted first.

        Only positions above `after` and up to `upto`.

        `go_on` is told after each step what was counted so far; false ends the count with that.
        """
        counts = [0] * scale.cells
        with self._log.reader() as connection:
            parts = parts_of(connection, wanted, self._names, upto=self._bound)
            if parts is None:
                return counts
            last = min(fetch.value(connection, "SELECT max(position) FROM events") or 0, self._bound)
            low, high = max(after + 1, parts.low), min(last if upto is None else upto, parts.high)
            main = leader(parts)
            for bounds in windows(low, high, True):
                sql, values = found_by(main, parts.every, bounds, f"({HAPPENED} - {scale.start}) AS since")
                for cell, number in connection.execute(
                    # Rounding towards zero would put what is just before the first cell into it.
                    f"SELECT CASE WHEN since < 0 THEN -1 ELSE min(since / ?, ?) END, count(*) FROM ({sql}) "
                    "GROUP BY 1",
                    (scale.width, scale.cells, *values),
                ):
                    if (cell >= 0 or scale.earlier) and (cell < scale.cells or scale.later):
                        counts[max(0, min(cell, scale.cells - 1))] += number
                if not go_on(list(counts)):
                    break
        return counts

    @staticmethod
    def _inside(scale: Scale, happened: int) -> bool:
        return (happened >= scale.start or scale.earlier > 0) and (happened < scale.end or scale.later > 0)


def events_before(connection: apsw.Connection, place: Place) -> int:
    """How many events happened before a place: whole hours are counted already."""
    hour = place.happened // HOUR
    whole = fetch.value(connection, "SELECT sum(events) FROM activity_hours WHERE hour < ?", (hour,)) or 0
    part = _number(connection, hour * HOUR, place.happened)
    level = fetch.value(
        connection,
        f"SELECT count(*) FROM {AS_HAPPENED} WHERE {HAPPENED} = ? AND e.position < ?",
        (place.happened, place.position),
    )
    return int(whole) + part + int(level)


def place_of_rank(connection: apsw.Connection, rank: int) -> Place | None:
    """The event before which so many others happened; the last one beyond the end, None in an empty log."""
    start = rest = 0
    at: int | None = None
    for hour, number in connection.execute(
        "SELECT hour, sum(events) FROM activity_hours GROUP BY hour ORDER BY hour"
    ):
        at, rest = hour, rank - start
        if rest < number:
            break
        start += number
    if at is None:
        return None
    row = fetch.row(
        connection,
        f"SELECT {HAPPENED}, e.position FROM {AS_HAPPENED} WHERE {HAPPENED} >= ? ORDER BY 1, 2 "
        "LIMIT 1 OFFSET ?",
        (at * HOUR, max(0, rest)),
    ) or fetch.row(
        connection,
        f"SELECT {HAPPENED}, e.position FROM {AS_HAPPENED} WHERE true ORDER BY 1 DESC, 2 DESC LIMIT 1",
    )
    return None if row is None else Place(*row)


def _cells(start: int, end: int, cells: int) -> Scale:
    width = -(-(end - start) // cells)
    if width < _WHOLE_HOURS * HOUR:
        return Scale(start, max(1, width), cells)
    first, last = start // HOUR, -(-end // HOUR)
    hours = -(-(last - first) // cells)
    return Scale(first * HOUR, hours * HOUR, -(-(last - first) // hours))


def _core(days: Sequence[tuple[int, int]]) -> tuple[int | None, int | None]:
    """First and last hour (exclusive) of what is not astray; None for an end where nothing is.

    `days` are pairs of a day's first hour and its events, ascending. The middle of the events is extended
    to both sides until a gap that is out of all proportion.
    """
    total = sum(number for _, number in days)
    spare = 0 if total < _FEWEST_CUT else max(1, total // _ASTRAY)
    low, high = 0, len(days) - 1
    passed = days[0][1]
    while passed <= spare and low < high:
        low += 1
        passed += days[low][1]
    passed = days[-1][1]
    while passed <= spare and high > low:
        high -= 1
        passed += days[high][1]
    grown = True
    while grown:
        grown = False
        gap = max(_GAP_DAYS * _DAY, _GAP_SPANS * (days[high][0] - days[low][0]))
        if low > 0 and days[low][0] - days[low - 1][0] <= gap:
            low, grown = low - 1, True
        if high < len(days) - 1 and days[high + 1][0] - days[high][0] <= gap:
            high, grown = high + 1, True
    return (
        None if low == 0 else days[low][0],
        None if high == len(days) - 1 else days[high][0] + _DAY,
    )


def _number(connection: apsw.Connection, since: int, until: int, upto: int = BEYOND_ALL) -> int:
    known = "" if upto == BEYOND_ALL else f" AND +e.position <= {upto:d}"
    return int(
        fetch.value(
            connection,
            f"SELECT count(*) FROM {AS_HAPPENED} WHERE {HAPPENED} >= ? AND {HAPPENED} < ?{known}",
            (since, until),
        )
    )

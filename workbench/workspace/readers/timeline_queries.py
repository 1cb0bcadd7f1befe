"""Every event of the workspace in the order of its recording, narrowed by type, actor and text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import apsw

from workbench.log.event_log import EventLog
from workbench.log.fulltext import TABLE as FULLTEXT
from workbench.log.fulltext import match_expression
from workbench.log.times import from_micros
from workbench.storage import fetch
from workbench.workspace.readers.clipping import PAYLOAD_COLUMNS, clipped_payload, decode
from workbench.workspace.rows import Bounds, EventRow, TimelineFilter

_COLUMNS = (
    "e.position, s.name, e.seq, e.event_id, t.namespace, t.type, e.schema_version, e.recorded_at, "
    f"e.occurred_at, e.private, e.causation_id, e.correlation_id, {PAYLOAD_COLUMNS}"
)
_JOINS = "CROSS JOIN streams s ON s.stream_id = e.stream_id CROSS JOIN event_types t ON t.type_id = e.type_id"
_PROBE = 2000
"""Up to how many events a part of a filter is counted to find the rarest part."""

_WINDOW = 20_000
"""Positions that the first step of a search over several parts looks at; each further step doubles it."""
_WIDEST_WINDOW = 200_000

_MERGED_RUNS = 100
"""SQLite merges 500 selects at most; a merge that wide is no quicker than a sort."""

BEYOND_ALL = 2**62
_BEFORE_ALL = 0


class Found(NamedTuple):
    """What a search gave."""

    rows: list[EventRow]
    """Ascending; long payloads are clipped."""
    complete: bool
    """It looked to that end of the log; else there may be more."""


class _Part(NamedTuple):
    """One part of a filter: its runs of positions, and a test for positions found by another part."""

    runs: tuple[str, ...]
    """`SELECT position FROM …` without order, each an index run that is sorted by position."""
    run_values: tuple[tuple[Any, ...], ...]
    column: str
    """The position's name inside the runs."""
    test: str
    """A condition on `e`."""
    test_values: tuple[Any, ...]


class TimelineReader:
    """The log as a list. A filter that matches nothing gives empty pages."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def page(
        self,
        wanted: TimelineFilter,
        limit: int,
        *,
        after: int | None = None,
        before: int | None = None,
    ) -> list[EventRow]:
        """Up to `limit` events above position `after`, or the last ones below `before`; ascending.

        With neither, the last ones. Long payloads are clipped.
        """
        return self.search(wanted, limit, after=after, before=before).rows

    def search(
        self,
        wanted: TimelineFilter,
        limit: int,
        *,
        after: int | None = None,
        before: int | None = None,
        go_on: Callable[[int, int], bool] = lambda looked, found: True,
    ) -> Found:
        """The same as `page` for a search that may have to look at much of the log.

        `go_on(looked, found)` is told after each step to which position the search has come and how
        many events it has found; where it is false the search ends with what it has.
        """
        descending = after is None
        found: list[int] = []
        complete = False
        with self._log.reader() as connection:
            last = fetch.value(connection, "SELECT max(position) FROM events") or 0
            low = 1 if after is None else after + 1
            high = last if before is None or after is not None else min(before - 1, last)
            parts = self._parts(connection, wanted)
            if parts is None:
                return Found([], True)
            driver = _driver(connection, parts)
            steps = _windows(low, high, descending) if len(parts) > 1 else iter([(low, high)])
            for start, stop in steps:
                found += _positions(
                    connection, parts, driver, (start, stop), limit - len(found), descending=descending
                )
                if len(found) >= limit:
                    break
                if not go_on(start if descending else stop, len(found)):
                    complete = start <= low if descending else stop >= high
                    break
            else:
                complete = True
            rows = self._rows(connection, found)
        return Found(rows, complete)

    def first(self, wanted: TimelineFilter, limit: int) -> list[EventRow]:
        """The oldest `limit` events that pass the filter, ascending."""
        return self.page(wanted, limit, after=_BEFORE_ALL)

    def event(self, position: int) -> EventRow | None:
        """One event whole, or None."""
        with self._log.reader() as connection:
            return self._whole(connection, position)

    def bounds(self) -> Bounds:
        """First and last position of the log."""
        with self._log.reader() as connection:
            last = fetch.value(connection, "SELECT max(position) FROM events") or 0
        return Bounds(1 if last else 0, last)

    def at_time(self, micros: int) -> int:
        """The last position recorded at or before an instant (microseconds); 0 if there is none.

        `recorded_at` never falls along positions, so this is what was known then.
        """
        with self._log.reader() as connection:
            low, high = 0, fetch.value(connection, "SELECT max(position) FROM events") or 0
            # Positions have no gaps and times never fall along them: no index is needed to halve.
            while low < high:
                middle = (low + high + 1) // 2
                at = fetch.value(connection, "SELECT recorded_at FROM events WHERE position = ?", (middle,))
                low, high = (middle, high) if at <= micros else (low, middle - 1)
        return low

    def position_of(self, event_id: UUID) -> int | None:
        """Where an event of this id stands, or None."""
        with self._log.reader() as connection:
            position: int | None = fetch.value(
                connection, "SELECT position FROM events WHERE event_id = ?", (event_id.bytes,)
            )
        return position

    def count(
        self,
        wanted: TimelineFilter,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda _: None,
        *,
        after: int = _BEFORE_ALL,
        upto: int = BEYOND_ALL,
        looked: Callable[[int], None] = lambda _: None,
    ) -> int:
        """How many events above position `after`, up to `upto`, pass the filter; newest first.

        Counted in steps: `cancelled` ends it with what it has, `progress` is told the number so far
        and `looked` the position that was come to.
        """
        number = 0
        with self._log.reader() as connection:
            last = min(upto, fetch.value(connection, "SELECT max(position) FROM events") or 0)
            if not wanted:
                return max(0, last - after)
            parts = self._parts(connection, wanted)
            if parts is None:
                return 0
            driver = _driver(connection, parts)
            whole = iter([(after + 1, last)])
            for bounds in _windows(after + 1, last, True) if len(parts) > 1 else whole:
                if cancelled():
                    break
                sql, values = _query(parts, driver, bounds)
                number += int(fetch.value(connection, f"SELECT count(*) FROM ({sql})", values))
                progress(number)
                looked(bounds[0])
        return number

    def types(self) -> list[str]:
        """Every event type in the log, by name."""
        with self._log.reader() as connection:
            return [
                name for (name,) in fetch.rows(connection, "SELECT DISTINCT type FROM event_types ORDER BY 1")
            ]

    def actors(self, limit: int = 200) -> list[tuple[str, int]]:
        """Actors with how many events name them, most active first."""
        with self._log.reader() as connection:
            return [
                (name, count)
                for name, count in fetch.rows(
                    connection, "SELECT name, events FROM actors ORDER BY events DESC, name LIMIT ?", (limit,)
                )
            ]

    # -- filters ---------------------------------------------------------------------------

    def _parts(self, connection: apsw.Connection, wanted: TimelineFilter) -> list[_Part] | None:
        """The parts of a filter, or None if one of them can match nothing; no filter has one part."""
        parts: list[_Part] = []
        if not wanted:
            return [_EVERYTHING]
        if wanted.types:
            numbers = _numbers(connection, "SELECT type_id FROM event_types WHERE type = ?", wanted.types)
            parts.append(_part("SELECT position FROM events WHERE type_id", "position", "e.type_id", numbers))
        if wanted.actors:
            numbers = _numbers(connection, "SELECT actor_id FROM actors WHERE name = ?", wanted.actors)
            marks = ",".join("?" * len(numbers))
            parts.append(
                _Part(
                    *_runs("SELECT position FROM event_actors WHERE actor_id", numbers),
                    "position",
                    "EXISTS (SELECT 1 FROM event_actors a "
                    f"WHERE a.actor_id IN ({marks}) AND a.position = e.position)",
                    tuple(numbers),
                )
            )
        if wanted.text:
            match = match_expression(wanted.text)
            if not match:
                return None
            parts.append(
                _Part(
                    (f"SELECT rowid AS position FROM {FULLTEXT} WHERE {FULLTEXT} MATCH ?",),
                    ((match,),),
                    "rowid",
                    f"EXISTS (SELECT 1 FROM {FULLTEXT} f "
                    f"WHERE f.{FULLTEXT} MATCH ? AND f.rowid = e.position)",
                    (match,),
                )
            )
        return None if any(not part.runs for part in parts) else parts

    # -- rows ------------------------------------------------------------------------------

    def _rows(self, connection: apsw.Connection, positions: Sequence[int]) -> list[EventRow]:
        """The events at these positions, ascending, long payloads clipped."""
        sql = (
            f"SELECT {_COLUMNS} FROM json_each(?) k CROSS JOIN events e ON e.position = k.value {_JOINS} "
            "ORDER BY e.position"
        )
        found = connection.execute(sql, (f"[{','.join(map(str, positions))}]",)).fetchall()
        return [self._assembled(connection, row, clip=True) for row in found]

    def _whole(self, connection: apsw.Connection, position: int) -> EventRow | None:
        sql = f"SELECT {_COLUMNS} FROM events e {_JOINS} WHERE e.position = ?"
        row = fetch.row(connection, sql, (position,))
        return None if row is None else self._assembled(connection, row, clip=False)

    def _assembled(self, connection: apsw.Connection, row: Sequence[Any], *, clip: bool) -> EventRow:
        position = row[0]
        text, size = row[12], row[13]
        whole = text is not None or not clip
        if text is not None:
            payload = decode(text)
        elif clip:
            payload = clipped_payload(connection, position)[0]
        else:
            payload = decode(
                fetch.value(connection, "SELECT payload FROM events WHERE position = ?", (position,))
            )
        actor = payload.get("actor")
        return EventRow(
            position=position,
            stream=row[1],
            seq=row[2],
            event_id=str(UUID(bytes=row[3])),
            namespace=row[4],
            type=row[5],
            schema_version=row[6],
            recorded_at=from_micros(row[7]),
            occurred_at=None if row[8] is None else from_micros(row[8]),
            private=bool(row[9]),
            actor=actor if isinstance(actor, str) else "",
            payload=payload,
            payload_bytes=size,
            whole=whole,
            causation_id=_uuid_text(row[10]),
            correlation_id=_uuid_text(row[11]),
        )


_EVERYTHING = _Part(("SELECT position FROM events WHERE true",), ((),), "position", "true", ())


def _driver(connection: apsw.Connection, parts: Sequence[_Part]) -> int:
    """The index of the part that gives the positions on which the others are tested.

    That is full text where there is any: to test one event for a common word costs as much as to find
    all that have it. Else it is the rarest part.
    """
    if len(parts) == 1:
        return 0
    for at, part in enumerate(parts):
        if part.column == "rowid":
            return at
    return min(range(len(parts)), key=lambda at: _probe(connection, parts[at]))


def _windows(low: int, high: int, descending: bool) -> Iterator[tuple[int, int]]:
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


def _query(parts: Sequence[_Part], driver: int, bounds: tuple[int, int]) -> tuple[str, list[Any]]:
    """Positions within bounds that pass every part, in no order."""
    main = parts[driver]
    tests = [part for at, part in enumerate(parts) if at != driver]
    between = f"{main.column} BETWEEN ? AND ?"
    values: list[Any] = []
    selects: list[str] = []
    for run, run_values in zip(main.runs, main.run_values, strict=True):
        sql = f"{run} AND {between}"
        values += (*run_values, *bounds)
        if tests:
            conditions = " AND ".join(part.test for part in tests)
            sql = (
                f"SELECT k.position FROM ({sql}) k CROSS JOIN events e ON e.position = k.position "
                f"WHERE {conditions}"
            )
            values += [value for part in tests for value in part.test_values]
        selects.append(sql)
    return " UNION ALL ".join(selects), values


def _positions(
    connection: apsw.Connection,
    parts: Sequence[_Part],
    driver: int,
    bounds: tuple[int, int],
    limit: int,
    *,
    descending: bool,
) -> list[int]:
    sql, values = _query(parts, driver, bounds)
    # A compound is ordered by its first column; so is a single run, whatever its column is called.
    order = "DESC" if descending else "ASC"
    found = connection.execute(f"{sql} ORDER BY 1 {order} LIMIT ?", (*values, limit))
    return [position for (position,) in found]


def _runs(select: str, numbers: Sequence[int]) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """One run per number, or a single one over all of them where there are too many to merge."""
    if len(numbers) <= _MERGED_RUNS:
        return tuple(f"{select} = ?" for _ in numbers), tuple((number,) for number in numbers)
    return (f"{select} IN ({','.join('?' * len(numbers))})",), (tuple(numbers),)


def _part(run: str, column: str, tested: str, numbers: Sequence[int]) -> _Part:
    marks = ",".join("?" * len(numbers))
    return _Part(
        *_runs(run, numbers),
        column,
        f"{tested} IN ({marks})",
        tuple(numbers),
    )


def _numbers(connection: apsw.Connection, sql: str, names: Sequence[str]) -> list[int]:
    # A name that is no valid text (a lone surrogate from a command line) cannot be in the log.
    valid = (name for name in dict.fromkeys(names) if _is_text(name))
    found = (fetch.rows(connection, sql, (name,)) for name in valid)
    return [number for rows in found for (number,) in rows]


def _is_text(name: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in name)


def _probe(connection: apsw.Connection, part: _Part) -> int:
    """How many events a part matches, counted up to `_PROBE`."""
    runs = " UNION ALL ".join(part.runs)
    values = [v for run_values in part.run_values for v in run_values]
    sql = f"SELECT count(*) FROM (SELECT 1 FROM ({runs}) LIMIT {_PROBE})"
    return int(fetch.value(connection, sql, values))


def _uuid_text(raw: bytes | None) -> str | None:
    return None if raw is None else str(UUID(bytes=raw))

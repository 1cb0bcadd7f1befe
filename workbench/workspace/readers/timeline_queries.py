"""Every event of the workspace in the order of its recording, narrowed by type, actor and text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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

BEYOND_ALL = 2**62
_BEFORE_ALL = 0


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
        descending = after is None
        start = after if after is not None else (BEYOND_ALL if before is None else before)
        with self._log.reader() as connection:
            found = self._positions(connection, wanted, start, limit, descending)
            rows = [self._row(connection, position, clip=True) for position in found]
        if descending:
            rows.reverse()
        return [row for row in rows if row is not None]

    def first(self, wanted: TimelineFilter, limit: int) -> list[EventRow]:
        """The oldest `limit` events that pass the filter, ascending."""
        return self.page(wanted, limit, after=_BEFORE_ALL)

    def event(self, position: int) -> EventRow | None:
        """One event whole, or None."""
        with self._log.reader() as connection:
            return self._row(connection, position, clip=False)

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
    ) -> int:
        """How many events pass the filter, counted in steps so that it can be cancelled."""
        if not wanted:
            return self.bounds().last
        number = 0
        start = BEYOND_ALL
        step = 5000
        while not cancelled():
            with self._log.reader() as connection:
                found = self._positions(connection, wanted, start, step, True)
            number += len(found)
            progress(number)
            if len(found) < step:
                break
            start = found[-1]
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

    def _positions(
        self, connection: apsw.Connection, wanted: TimelineFilter, start: int, limit: int, descending: bool
    ) -> list[int]:
        sign, order = ("<", "DESC") if descending else (">", "ASC")
        if not wanted:
            sql = f"SELECT position FROM events WHERE position {sign} ? ORDER BY position {order} LIMIT ?"
            return [position for (position,) in connection.execute(sql, (start, limit))]
        parts = self._parts(connection, wanted)
        if parts is None:
            return []
        # The rarest part gives the positions, the others are tested on each of them.
        driver = min(parts, key=lambda part: _probe(connection, part)) if len(parts) > 1 else parts[0]
        runs = " UNION ALL ".join(f"{run} AND {driver.column} {sign} ?" for run in driver.runs)
        values: list[Any] = [v for run_values in driver.run_values for v in (*run_values, start)]
        tests = [part for part in parts if part is not driver]
        # A compound is ordered by its first column, a single run by the column's own name.
        by = "1" if len(driver.runs) > 1 else driver.column
        sql = f"{runs} ORDER BY {by} {order}"
        if tests:
            # Without a LIMIT of its own SQLite may drop the order of a subquery that is joined.
            conditions = " AND ".join(part.test for part in tests)
            sql = (
                f"SELECT k.position FROM ({sql} LIMIT -1) k CROSS JOIN events e ON e.position = k.position "
                f"WHERE {conditions}"
            )
            values.extend(v for part in tests for v in part.test_values)
        return [position for (position,) in connection.execute(f"{sql} LIMIT ?", (*values, limit))]

    def _parts(self, connection: apsw.Connection, wanted: TimelineFilter) -> list[_Part] | None:
        """The parts of a filter, or None if one of them can match nothing."""
        parts: list[_Part] = []
        if wanted.types:
            numbers = _numbers(connection, "SELECT type_id FROM event_types WHERE type = ?", wanted.types)
            parts.append(
                _part("SELECT position FROM events WHERE type_id = ?", "position", "e.type_id", numbers)
            )
        if wanted.actors:
            numbers = _numbers(connection, "SELECT actor_id FROM actors WHERE name = ?", wanted.actors)
            marks = ",".join("?" * len(numbers))
            parts.append(
                _Part(
                    tuple("SELECT position FROM event_actors WHERE actor_id = ?" for _ in numbers),
                    tuple((number,) for number in numbers),
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

    def _row(self, connection: apsw.Connection, position: int, *, clip: bool) -> EventRow | None:
        row = fetch.row(
            connection, f"SELECT {_COLUMNS} FROM events e {_JOINS} WHERE e.position = ?", (position,)
        )
        if row is None:
            return None
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
            position=row[0],
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


def _part(run: str, column: str, tested: str, numbers: Sequence[int]) -> _Part:
    marks = ",".join("?" * len(numbers))
    return _Part(
        tuple(run for _ in numbers),
        tuple((number,) for number in numbers),
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

"""A timeline's filter as SQL: for each part the positions that it finds, and a test for those of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from workbench.log.decoding import FoldDecoder
from workbench.log.fulltext import TABLE as FULLTEXT
from workbench.log.fulltext import match_expression
from workbench.log.streams import session_stream
from workbench.log.times import to_micros
from workbench.storage import fetch
from workbench.workspace.readers.timeline_names import FilterNames
from workbench.workspace.rows import TimelineFilter

HAPPENED = "coalesce(e.occurred_at, e.recorded_at)"
AS_HAPPENED = "events e INDEXED BY events_as_happened"

BEYOND_ALL = 2**62
EARLIEST, LATEST = -(2**63), 2**63 - 1
"""Bounds of happened time, in microseconds: whatever can be stored, damaged times included."""

FEW = 50_000
"""Fewer events than this are found, tested and sorted in one go; parts are counted no further."""
_PROBE = 2_000
"""A part with fewer is rare, whatever the others have."""

_RANGE_COLUMN = "+e.position"
"""The + keeps a bound on positions from being looked for in another index than that of happened time."""


_MERGED_RUNS = 100
"""SQLite merges 500 selects at most; a merge that wide is no quicker than a sort."""


class Part(NamedTuple):
    """One part of a filter."""

    runs: tuple[str, ...]
    """`SELECT position FROM … WHERE …` without order; none where nothing but the test finds its events."""
    run_values: tuple[tuple[Any, ...], ...]
    test: str
    """A condition on `e`."""
    test_values: tuple[Any, ...]
    size: int
    """How many events it finds, up to `FEW`."""
    column: str = "position"
    """The position's name inside the runs."""
    ordered: bool = True
    """Each run gives its positions in order without sorting them."""
    low: int = 1
    high: int = BEYOND_ALL
    """No position that it finds lies outside."""

    @property
    def leads(self) -> bool:
        """Whether its runs are worth beginning with."""
        return bool(self.runs) and (self.ordered or self.size < FEW)


EVERYTHING = Part(("SELECT position FROM events WHERE true",), ((),), "true", (), FEW)


class Parts(NamedTuple):
    """A filter, taken apart; the parts combine with AND."""

    every: tuple[Part, ...]
    """All but the text."""
    text: Part | None = None
    """What finds the words; to ask it for one event costs as much as to ask for all that have them."""
    since: int = EARLIEST
    until: int = LATEST
    """Happened at `since` or later and before `until`."""
    upto: int = BEYOND_ALL
    """No event above this position is there."""
    decoder: FoldDecoder | None = None
    """What reads events where that finds words sooner than the full text; None where nothing does."""

    @property
    def low(self) -> int:
        """The first position that can pass."""
        return max((part.low for part in self.every), default=1)

    @property
    def high(self) -> int:
        """The last position that can pass."""
        return min((part.high for part in self.every), default=self.upto)

    @property
    def single(self) -> bool:
        """Nothing has to be tested on what the leader finds."""
        leading = leader(self)
        return all(part is leading for part in self.every)


def parts_of(
    connection: apsw.Connection,
    wanted: TimelineFilter,
    names: FilterNames,
    *,
    as_happened: bool = False,
    upto: int = BEYOND_ALL,
) -> Parts | None:
    """The parts of a filter, or None if one of them can match nothing; `names` says what its names mean.

    Read `as_happened`, a range of happened time is nothing to search for, only where to begin and end.
    """
    parts: list[Part] = []
    if wanted.types:
        numbers = _numbers(connection, "SELECT type_id FROM event_types WHERE type = ?", wanted.types)
        parts.append(
            _measured(
                connection,
                *_runs("SELECT position FROM events WHERE type_id", numbers),
                f"e.type_id IN ({_marks(numbers)})",
                tuple(numbers),
            )
        )
    if wanted.actors:
        numbers = _numbers(connection, "SELECT actor_id FROM actors WHERE name = ?", wanted.actors)
        parts.append(_actors(connection, numbers))
    if wanted.agents:
        parts.append(_actors(connection, names.actors(connection, wanted.agents)))
    if wanted.categories:
        parts.append(_categories(connection, names.categories(wanted.categories)))
    if wanted.streams:
        named = dict.fromkeys(each for name in wanted.streams for each in (name, _plain_session(name)))
        found = _numbers(connection, "SELECT stream_id FROM streams WHERE name = ?", list(named))
        parts.append(_streams(connection, found))
    if wanted.projects or wanted.tasks or wanted.domains:
        parts.append(
            _streams(connection, names.streams(connection, wanted.domains, wanted.projects, wanted.tasks))
        )
    if wanted.visibility:
        parts.append(_visibility(connection, private=wanted.visibility == "private"))
    text = None
    if wanted.text:
        match = match_expression(wanted.text)
        if not match:
            return None
        text = _text(match)
    since = EARLIEST if wanted.since is None else to_micros(wanted.since)
    until = LATEST if wanted.until is None else to_micros(wanted.until)
    if (since, until) != (EARLIEST, LATEST) and not as_happened:
        parts.append(_range(connection, since, until))
    if any(part.size == 0 for part in parts):
        return None
    if parts and all(part.size >= _PROBE for part in parts):
        parts = [_counted(connection, part) for part in parts]
    if upto != BEYOND_ALL:
        parts = [part._replace(high=min(part.high, upto)) for part in parts]
    return Parts(tuple(parts), text, since, until, upto)


def leader(parts: Parts) -> Part:
    """The part whose positions are looked through in order of recording; the others are tested on them.

    That is the text where there is one, else the rarest.
    """
    if parts.text is not None:
        return parts.text
    able = [part for part in parts.every if part.leads]
    return min(able, key=lambda part: part.size, default=EVERYTHING)


def rarest(parts: Sequence[Part]) -> Part | None:
    """The part with the fewest events, if it has few."""
    able = [part for part in parts if part.runs and part.size < FEW]
    return min(able, key=lambda part: part.size, default=None)


def tests_of(parts: Sequence[Part], but: Part | None) -> tuple[str, list[Any]]:
    """The condition on `e` that is left to be tested on what one part finds, and its values."""
    rest = [part for part in parts if part is not but]
    return " AND ".join(part.test for part in rest) or "true", [v for part in rest for v in part.test_values]


def text_size(connection: apsw.Connection, text: Part) -> int:
    """How many events have the words, counted up to `FEW`."""
    return _size(connection, text.runs, text.run_values, FEW)


def found_by(
    part: Part, others: Sequence[Part], bounds: tuple[int, int] | None, columns: str = "k.position"
) -> tuple[str, list[Any]]:
    """A select of the positions, in no order, that one part finds within bounds and the others allow.

    With `columns` that name `e` every event is looked up, else only where a test needs that.
    """
    tests, test_values = tests_of(others, part)
    selects: list[str] = []
    values: list[Any] = []
    looked_up = tests != "true" or "e." in columns
    for run, run_values in zip(part.runs, part.run_values, strict=True):
        sql = run
        values += run_values
        if bounds is not None:
            sql += f" AND {part.column} BETWEEN ? AND ?"
            values += bounds
        if looked_up:
            joined = "CROSS JOIN events e ON e.position = k.position"
            sql = f"SELECT {columns} FROM ({sql}) k {joined} WHERE {tests}"
            values += test_values
        selects.append(sql)
    return " UNION ALL ".join(selects), values


def _text(match: str) -> Part:
    find = f"SELECT rowid AS position FROM {FULLTEXT} WHERE {FULLTEXT} MATCH ?"
    return Part((find,), ((match,),), "false", (), FEW, column="rowid")


def _plain_session(name: str) -> str:
    """The stream of a session whose id was put behind `session/` as it is, slashes and all."""
    kind, _, chronicum_id = name.partition("/")
    return session_stream(chronicum_id).name if kind == "session" else name


def _actors(connection: apsw.Connection, numbers: Sequence[int]) -> Part:
    return _measured(
        connection,
        *_runs("SELECT position FROM event_actors WHERE actor_id", numbers),
        "EXISTS (SELECT 1 FROM event_actors a "
        f"WHERE a.actor_id IN ({_marks(numbers)}) AND a.position = e.position)",
        tuple(numbers),
    )


def _categories(connection: apsw.Connection, names: Sequence[str]) -> Part:
    marks = _marks(names)
    return _measured(
        connection,
        tuple("SELECT position FROM observations WHERE category = ?" for _ in names),
        tuple((name,) for name in names),
        f"EXISTS (SELECT 1 FROM observations o WHERE o.position = e.position AND o.category IN ({marks}))",
        tuple(names),
    )


def _streams(connection: apsw.Connection, numbers: Sequence[int]) -> Part:
    among = f"[{','.join(map(str, numbers))}]"
    end = (
        "(SELECT e.position FROM events e INDEXED BY events_by_stream WHERE e.stream_id = k.value "
        "ORDER BY e.seq {} LIMIT 1)"
    )
    # All ends in one query: a project may have thousands of tasks, each of them a stream.
    low, high = fetch.rows(
        connection,
        f"SELECT min({end.format('ASC')}), max({end.format('DESC')}) FROM json_each(?) k",
        (among,),
    )[0]
    within = "IN (SELECT value FROM json_each(?))"
    return _measured(
        connection,
        (f"SELECT position FROM events INDEXED BY events_by_stream WHERE stream_id {within}",)
        if numbers
        else (),
        ((among,),) if numbers else (),
        f"e.stream_id {within}",
        (among,),
        ordered=False,
        low=low or 1,
        high=high or 0,
    )


def _visibility(connection: apsw.Connection, *, private: bool) -> Part:
    if private:
        return _measured(
            connection,
            ("SELECT position FROM private_events WHERE true",),
            ((),),
            "EXISTS (SELECT 1 FROM private_events p WHERE p.position = e.position)",
            (),
        )
    hidden = "NOT EXISTS (SELECT 1 FROM private_events p WHERE p.position = e.position)"
    return Part((), (), hidden, (), FEW)


def _range(connection: apsw.Connection, since: int, until: int) -> Part:
    within = f"{HAPPENED} >= ? AND {HAPPENED} < ?"
    return _measured(
        connection,
        (f"SELECT e.position AS position FROM {AS_HAPPENED} WHERE {within}",),
        ((since, until),),
        within,
        (since, until),
        column=_RANGE_COLUMN,
        ordered=False,
    )


def _counted(connection: apsw.Connection, part: Part) -> Part:
    """A part that has much, counted further: up to `FEW` it can still be sorted."""
    if not part.runs:
        return part
    counted = part._replace(size=_size(connection, part.runs, part.run_values, FEW))
    if counted.size < FEW or part.column != _RANGE_COLUMN:
        return counted
    # What was recorded last need not have happened last: where to begin is worth a look at the index.
    sql = part.runs[0].replace("e.position AS position", "min(e.position), max(e.position)")
    low, high = fetch.rows(connection, sql, part.run_values[0])[0]
    return counted._replace(low=low, high=high)


def _measured(
    connection: apsw.Connection,
    runs: tuple[str, ...],
    run_values: tuple[tuple[Any, ...], ...],
    test: str,
    test_values: tuple[Any, ...],
    *,
    column: str = "position",
    ordered: bool = True,
    low: int = 1,
    high: int = BEYOND_ALL,
) -> Part:
    size = _size(connection, runs, run_values, _PROBE)
    return Part(runs, run_values, test, test_values, size, column, ordered, low, high)


def _size(
    connection: apsw.Connection, runs: Sequence[str], run_values: Sequence[tuple[Any, ...]], most: int
) -> int:
    size = 0
    for run, values in zip(runs, run_values, strict=False):
        sql = f"SELECT count(*) FROM (SELECT 1 FROM ({run}) LIMIT ?)"
        size += int(fetch.value(connection, sql, (*values, most - size)))
        if size >= most:
            break
    return size


def _runs(select: str, numbers: Sequence[int]) -> tuple[tuple[str, ...], tuple[tuple[Any, ...], ...]]:
    """One run per number, or a single one over all of them where there are too many to merge."""
    if len(numbers) <= _MERGED_RUNS:
        return tuple(f"{select} = ?" for _ in numbers), tuple((number,) for number in numbers)
    return (f"{select} IN ({_marks(numbers)})",), (tuple(numbers),)


def _marks(numbers: Sequence[object]) -> str:
    return ",".join("?" * len(numbers))


def _numbers(connection: apsw.Connection, sql: str, names: Sequence[str]) -> list[int]:
    # A name that is no valid text (a lone surrogate from a command line) cannot be in the log.
    valid = (name for name in dict.fromkeys(names) if _is_text(name))
    found = (fetch.rows(connection, sql, (name,)) for name in valid)
    return [number for rows in found for (number,) in rows]


def _is_text(name: str) -> bool:
    return not any("\ud800" <= c <= "\udfff" for c in name)

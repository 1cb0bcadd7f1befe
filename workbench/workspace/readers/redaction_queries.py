"""What the filter took out of the log, newest first, and the text around it (contract redaction)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import apsw

from workbench.log.event_log import EventLog
from workbench.log.times import from_micros
from workbench.storage import fetch
from workbench.workspace.readers.clipping import decode
from workbench.workspace.readers.session_queries import session_title
from workbench.workspace.rows import RedactionFilter, RedactionPlace, RedactionRow

DAY = 86_400_000_000
"""Microseconds."""

_COLUMNS = (
    "r.noted, r.ordinal, r.position, r.recorded_at, r.kind, r.field, r.count, r.filter_version, "
    "s.name, t.type, e.occurred_at, a.name, c.chronicum_id, e.stream_id"
)
_JOINS = (
    "LEFT JOIN events e ON e.position = r.position LEFT JOIN streams s ON s.stream_id = e.stream_id "
    "LEFT JOIN event_types t ON t.type_id = e.type_id LEFT JOIN event_actors ea ON ea.position = r.position "
    "LEFT JOIN actors a ON a.actor_id = ea.actor_id "
    "LEFT JOIN chronica c ON c.stream_id = e.stream_id"
)
_LIKE = "LIKE ? ESCAPE '\\'"
_WORD = (
    f"(r.kind {_LIKE} OR r.field {_LIKE} OR EXISTS("
    "SELECT 1 FROM events e JOIN streams s USING(stream_id) "
    f"WHERE e.position = r.position AND s.name {_LIKE}) OR EXISTS("
    "SELECT 1 FROM event_actors ea JOIN actors a USING(actor_id) "
    f"WHERE ea.position = r.position AND a.name {_LIKE}))"
)
"""A word stands somewhere in a row."""
_MOST_WORDS = 16
_OF_KEYS = ("(key)",)
"""Ends the path of what was removed from the keys of a mapping."""
_INDEX = re.compile("[0-9]{1,9}")
_AROUND = 240
"""Characters on each side of a marker."""


class KindCount(NamedTuple):
    """How much of one kind was removed."""

    kind: str
    secrets: int
    last_at: int
    """When the last of it was noted, in microseconds."""


class DayCount(NamedTuple):
    """What was removed on one day, of one kind."""

    day: int
    """Days since 1970, by when it was noted."""
    kind: str
    secrets: int


class Context(NamedTuple):
    """The text around one marker, as stored: what was there is gone."""

    before: str
    marker: str
    after: str
    cut_before: bool
    """Whether more text stands before it."""
    cut_after: bool
    joined: bool = False
    """Whether it goes on exactly where the context before it in the list ends."""


class RedactionReader:
    """The redactions as a list. A filter that matches nothing gives empty pages."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def page(
        self,
        wanted: RedactionFilter,
        limit: int,
        *,
        after: RedactionPlace | None = None,
        before: RedactionPlace | None = None,
    ) -> list[RedactionRow]:
        """Up to `limit` redactions that follow `after` in the list, or stand just before `before`.

        The list is newest first: by the event that notes them, then by their number in it. With neither
        bound, the first ones.
        """
        where, values = _conditions(wanted)
        if after is not None:
            where.append("(r.noted, r.ordinal) < (?, ?)")
            values += after
        if before is not None:
            where.append("(r.noted, r.ordinal) > (?, ?)")
            values += before
        backwards = before is not None and after is None
        order = "ASC" if backwards else "DESC"
        sql = (
            f"SELECT {_COLUMNS} FROM (SELECT * FROM redactions r {_where(where)} "
            f"ORDER BY noted {order}, ordinal {order} LIMIT ?) r {_JOINS} "
            f"ORDER BY r.noted DESC, r.ordinal DESC"
        )
        with self._log.reader() as connection:
            return _rows(connection, fetch.rows(connection, sql, (*values, limit)))

    def count(self, wanted: RedactionFilter) -> int:
        """How many rows of the list pass the filter."""
        where, values = _conditions(wanted)
        with self._log.reader() as connection:
            return int(fetch.value(connection, f"SELECT count(*) FROM redactions r {_where(where)}", values))

    def rank(self, wanted: RedactionFilter, place: RedactionPlace) -> int:
        """How many rows stand before this place in the list."""
        where, values = _conditions(wanted)
        where.append("(r.noted, r.ordinal) > (?, ?)")
        with self._log.reader() as connection:
            sql = f"SELECT count(*) FROM redactions r {_where(where)}"
            return int(fetch.value(connection, sql, (*values, *place)))

    def place_of_rank(self, wanted: RedactionFilter, rank: int) -> RedactionPlace | None:
        """The place before which `rank` others stand, else the last one; None in an empty list."""
        where, values = _conditions(wanted)
        with self._log.reader() as connection:
            found = fetch.row(
                connection,
                f"SELECT noted, ordinal FROM redactions r {_where(where)} "
                "ORDER BY noted DESC, ordinal DESC LIMIT 1 OFFSET ?",
                (*values, rank),
            ) or fetch.row(
                connection,
                f"SELECT noted, ordinal FROM redactions r {_where(where)} ORDER BY noted, ordinal LIMIT 1",
                values,
            )
        return None if found is None else RedactionPlace(*found)

    def place_of_event(self, position: int) -> RedactionPlace | None:
        """The last redaction of what an event held."""
        return self._place("position = ?", position)

    def place_at(self, micros: int) -> RedactionPlace | None:
        """The last redaction that was noted by a moment, in microseconds."""
        return self._place("recorded_at <= ?", micros)

    def _place(self, condition: str, value: int) -> RedactionPlace | None:
        sql = (
            f"SELECT noted, ordinal FROM redactions WHERE {condition} "
            "ORDER BY noted DESC, ordinal DESC LIMIT 1"
        )
        with self._log.reader() as connection:
            found = fetch.row(connection, sql, (value,))
        return None if found is None else RedactionPlace(*found)

    def row(self, place: RedactionPlace) -> RedactionRow | None:
        """One redaction, or None."""
        sql = f"SELECT {_COLUMNS} FROM redactions r {_JOINS} WHERE r.noted = ? AND r.ordinal = ?"
        with self._log.reader() as connection:
            return next(iter(_rows(connection, fetch.rows(connection, sql, place))), None)

    def kinds(self, since: int | None = None) -> list[KindCount]:
        """How much of each kind was removed, most first; since a time in microseconds, if given."""
        where, values = _conditions(RedactionFilter(since=since))
        sql = (
            f"SELECT kind, sum(count), max(recorded_at) FROM redactions r {_where(where)} "
            "GROUP BY kind ORDER BY 2 DESC, 1"
        )
        with self._log.reader() as connection:
            return [KindCount(*found) for found in fetch.rows(connection, sql, values)]

    def days(self, wanted: RedactionFilter, offset: int = 0) -> list[DayCount]:
        """What was removed day by day and kind by kind, the oldest day first.

        Days begin `offset` microseconds before those of UTC.
        """
        where, values = _conditions(wanted)
        sql = (
            f"SELECT (recorded_at + ?) / {DAY}, kind, sum(count) FROM redactions r {_where(where)} "
            "GROUP BY 1, 2 ORDER BY 1, 2"
        )
        with self._log.reader() as connection:
            return [DayCount(*found) for found in fetch.rows(connection, sql, (offset, *values))]

    def actors(self, limit: int) -> list[tuple[str, int]]:
        """Who said what held secrets, and how many, most first; at most `limit`."""
        with self._log.reader() as connection:
            return [
                (name, secrets)
                for name, secrets in fetch.rows(
                    connection,
                    "SELECT a.name, sum(r.count) FROM redactions r "
                    "JOIN event_actors ea ON ea.position = r.position "
                    "JOIN actors a ON a.actor_id = ea.actor_id GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
                    (limit,),
                )
            ]

    def total(self) -> int:
        """How many secrets were removed in all."""
        with self._log.reader() as connection:
            return int(fetch.value(connection, "SELECT coalesce(sum(count), 0) FROM redactions"))

    def context(self, row: RedactionRow, limit: int = 20) -> list[Context]:
        """The text around each marker of this redaction, as it is stored now; at most `limit` of them.

        Empty where the event, the field or the marker is there no more.
        """
        if not row.position:
            return []
        with self._log.reader() as connection:
            payload = _payload(connection, row.position)
        marker = f"[REDACTED:{row.kind}]"
        found: list[Context] = []
        for text in _texts(payload, row.field):
            found += islice(_contexts(text, marker), min(limit, row.count) - len(found))
        return found


def _contexts(text: str, marker: str) -> Iterator[Context]:
    """The text around each marker; none of it twice."""
    seen = 0
    at = text.find(marker)
    while at >= 0:
        end = at + len(marker)
        following = text.find(marker, end)
        first = max(seen, at - _AROUND)
        last = min(len(text) if following < 0 else following, end + _AROUND)
        joined = 0 < seen == first
        yield Context(text[first:at], marker, text[end:last], first > 0, last < len(text), joined)
        seen, at = last, following


def _payload(connection: apsw.Connection, position: int) -> dict[str, Any]:
    text = fetch.value(connection, "SELECT payload FROM events WHERE position = ?", (position,))
    return {} if text is None else decode(text)


def _texts(payload: Any, field: str) -> Iterator[str]:
    """Every text at or below a dotted path; keys may hold dots themselves, so each way to read it is tried.

    Where no way leads on (the path was cut, or goes on inside a text that holds JSON) all that was reached
    counts.
    """
    pending: list[tuple[Any, tuple[str, ...]]] = [(payload, tuple(field.split(".")))]
    while pending:
        value, parts = pending.pop()
        if isinstance(value, str):
            yield value
        elif parts and isinstance(value, dict):
            steps: list[tuple[Any, tuple[str, ...]]] = [
                (value[key], parts[length:])
                for length in range(1, len(parts) + 1)
                if (key := ".".join(parts[:length])) in value
            ]
            if not steps:
                steps = [(key, ()) for key in reversed(value)]
                if parts != _OF_KEYS:
                    steps = [(each, ()) for each in reversed(value.values())] + steps
            pending += steps
        elif parts and isinstance(value, list) and _INDEX.fullmatch(parts[0]) and int(parts[0]) < len(value):
            pending.append((value[int(parts[0])], parts[1:]))
        elif isinstance(value, dict):
            pending += [(each, ()) for each in (*reversed(value.values()), *value)]
        elif isinstance(value, list):
            pending += [(each, ()) for each in reversed(value)]


def _conditions(wanted: RedactionFilter) -> tuple[list[str], list[Any]]:
    where: list[str] = []
    values: list[Any] = []
    if wanted.kinds:
        where.append(f"r.kind IN ({', '.join('?' * len(wanted.kinds))})")
        values += wanted.kinds
    if wanted.since is not None:
        where.append("r.recorded_at >= ?")
        values.append(wanted.since)
    if wanted.until is not None:
        where.append("r.recorded_at < ?")
        values.append(wanted.until)
    if wanted.stream:
        where.append(
            "r.position IN (SELECT position FROM events WHERE stream_id = "
            "(SELECT stream_id FROM streams WHERE name = ?))"
        )
        values.append(wanted.stream)
    if wanted.actor:
        where.append(
            "r.position IN (SELECT position FROM event_actors WHERE actor_id = "
            "(SELECT actor_id FROM actors WHERE name = ?))"
        )
        values.append(wanted.actor)
    for word in wanted.text.split()[:_MOST_WORDS]:
        where.append(_WORD)
        values += ["%" + re.sub(r"([\\%_])", r"\\\1", word) + "%"] * _WORD.count("?")
    return where, values


def _where(conditions: Sequence[str]) -> str:
    return f"WHERE {' AND '.join(conditions)}" if conditions else ""


def _rows(connection: apsw.Connection, found: Sequence[Sequence[Any]]) -> list[RedactionRow]:
    sessions = {stream_id for *_, chronicum_id, stream_id in found if chronicum_id is not None}
    titles = {stream_id: session_title(connection, stream_id) for stream_id in sessions}
    return [_row(each, titles.get(each[-1], "")) for each in found]


def _row(found: Sequence[Any], title: str) -> RedactionRow:
    return RedactionRow(
        noted=found[0],
        ordinal=found[1],
        position=found[2],
        noted_at=from_micros(found[3]),
        kind=found[4],
        field=found[5],
        count=found[6],
        filter_version=found[7],
        stream=found[8] or "",
        type=found[9] or "",
        occurred_at=None if found[10] is None else from_micros(found[10]),
        actor=found[11] or "",
        chronicum_id=found[12] or "",
        title=title,
    )

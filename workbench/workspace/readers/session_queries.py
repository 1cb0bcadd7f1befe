"""The list of sessions, newest first by what happened or by what was recorded, in keyset pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

import apsw
import msgspec

from workbench.log.event_log import EventLog
from workbench.log.streams import session_stream
from workbench.log.times import from_micros, to_micros
from workbench.sessions import facets as facet_numbers
from workbench.sessions.queries import entry_sql, stream_of
from workbench.storage import fetch
from workbench.workspace.readers.entry_damage import DAMAGE, damage_words, reason_of
from workbench.workspace.rows import SessionFilter, SessionRow

ACTORS_SHOWN = 12
_PROMPT_CHARS = 300
_SCAN_ROWS = 200
_TOLD_WITHIN = 20
"""Which session started a sub-agent's is told once, with one of the first acta."""

_SELECT = (
    "SELECT c.stream_id, c.chronicum_id, c.owner_id, c.started_at, a.last_activity_at, "
    "a.first_happened, a.last_happened, a.acta "
    "FROM session_activity a CROSS JOIN chronica c USING(stream_id)"
)
Order: TypeAlias = Literal["happened", "recorded"]
"""By when a session's last act happened, or by when it was recorded: an import records the past."""
_COLUMNS: dict[Order, str] = {"happened": "last_happened", "recorded": "last_activity_at"}
_AT: dict[Order, int] = {"happened": 6, "recorded": 4}
"""Where the time of an order stands among the selected columns."""
_OLDER = {
    order: f"{_SELECT} WHERE (a.{column}, a.stream_id) < (?, ?) "
    f"ORDER BY a.{column} DESC, a.stream_id DESC LIMIT ?"
    for order, column in _COLUMNS.items()
}
_NEWER = {
    order: f"{_SELECT} WHERE (a.{column}, a.stream_id) > (?, ?) ORDER BY a.{column}, a.stream_id LIMIT ?"
    for order, column in _COLUMNS.items()
}
_TOP = (2**62, 2**62)
_HUMAN_MESSAGE = (facet_numbers.facet("message", "human", False),)
_ACTUM_FACETS = frozenset(facet_numbers.ACTA)

Key = tuple[int, int]
"""Place of a session in the list: (time of the order in microseconds, stream number)."""


class Relative(NamedTuple):
    """A session that another one comes from."""

    relation: str
    """What the other one is to it: `fork of` or `sub-agent of`."""
    id: str
    title: str = ""
    here: bool = True
    """Whether it is in the workspace, too."""


def time_of(row: SessionRow, order: Order) -> datetime:
    """When the session was last active, in the sense of the order."""
    return row.last_at if order == "happened" else row.last_activity_at


class SessionReader:
    """Sessions of every owner."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def page(
        self,
        wanted: SessionFilter,
        limit: int,
        *,
        after: SessionRow | None = None,
        before: SessionRow | None = None,
        cancelled: Callable[[], bool] = lambda: False,
        order: Order = "happened",
    ) -> list[SessionRow]:
        """Up to `limit` sessions that follow `after` in the list, or that stand just before `before`.

        With neither, the first ones. Always in the list's order: newest first.
        """
        anchor = after or before
        with self._log.reader() as connection:
            start = _TOP if anchor is None else self._key(connection, anchor, order)
            found = self._scan(
                connection, wanted, start, order, newer=before is not None, cancelled=cancelled
            )
            rows = list(islice(found, limit))
        if before is not None:
            rows.reverse()
        return rows

    def last(self, wanted: SessionFilter, limit: int, *, order: Order = "happened") -> list[SessionRow]:
        """The last `limit` sessions of the list: the ones that were active the longest ago."""
        with self._log.reader() as connection:
            rows = list(islice(self._scan(connection, wanted, (-_TOP[0], 0), order, newer=True), limit))
        rows.reverse()
        return rows

    def get(self, chronicum_id: str) -> SessionRow | None:
        """One session, or None."""
        with self._log.reader() as connection:
            number = stream_of(connection, chronicum_id)
            if number is None:
                return None
            row = fetch.row(connection, f"{_SELECT} WHERE a.stream_id = ?", (number,))
            return None if row is None else _assemble(connection, row)

    def lineage(self, row: SessionRow) -> tuple[Relative, ...]:
        """The session that this one was forked or resumed from, and the one whose sub-agent it is.

        Whichever of two forks was imported first keeps the acta that both have; the other one names it.
        """
        with self._log.reader() as connection:
            number = stream_of(connection, row.id)
            started = "" if number is None else _started_by(connection, number)
            named = (("fork of", row.forked_from), ("sub-agent of", started))
            return tuple(_relative(connection, relation, name) for relation, name in named if name)

    def count(
        self,
        wanted: SessionFilter,
        cancelled: Callable[[], bool] = lambda: False,
        *,
        order: Order = "happened",
    ) -> int:
        """How many sessions pass the filter; a filter has to look at each of them, in the given order."""
        with self._log.reader() as connection:
            if not wanted:
                return int(fetch.value(connection, "SELECT count(*) FROM session_activity"))
            found = self._scan(connection, wanted, _TOP, order, newer=False, cancelled=cancelled)
            return sum(1 for _ in found)

    def rank(self, row: SessionRow, *, order: Order = "happened") -> int:
        """How many sessions stand before this one in the unfiltered list."""
        with self._log.reader() as connection:
            key = self._key(connection, row, order)
            return int(
                fetch.value(
                    connection,
                    f"SELECT count(*) FROM session_activity WHERE ({_COLUMNS[order]}, stream_id) > (?, ?)",
                    key,
                )
            )

    def _scan(
        self,
        connection: apsw.Connection,
        wanted: SessionFilter,
        start: Key,
        order: Order,
        *,
        newer: bool,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[SessionRow]:
        while True:
            found = fetch.rows(connection, (_NEWER if newer else _OLDER)[order], (*start, _SCAN_ROWS))
            for row in found:
                if cancelled():
                    return
                session = _assemble(connection, row)
                if _passes(session, wanted):
                    yield session
            if len(found) < _SCAN_ROWS:
                return
            start = (found[-1][_AT[order]], found[-1][0])

    def _key(self, connection: apsw.Connection, row: SessionRow, order: Order) -> Key:
        # The row's own time, not today's: the page that follows it must not jump if it moved meanwhile.
        return to_micros(time_of(row, order)), stream_of(connection, row.id) or 0


def _assemble(connection: apsw.Connection, row: Sequence[Any]) -> SessionRow:
    stream_id, chronicum_id, owner, started, active, first, last, acta = row
    described = _described(connection, stream_id)
    by_kind: dict[str, int] = {}
    for number, count in fetch.rows(
        connection, "SELECT facet, entries FROM facet_counts WHERE stream_id = ?", (stream_id,)
    ):
        if number in _ACTUM_FACETS:
            kind = facet_numbers.kind_of(number)
            by_kind[kind] = by_kind.get(kind, 0) + count
    actors = fetch.rows(
        connection,
        "SELECT actor FROM session_actors WHERE stream_id = ? "
        "GROUP BY actor ORDER BY min(actor_kind = 'system'), sum(acta) DESC, actor LIMIT ?",
        (stream_id, ACTORS_SHOWN),
    )
    actor_count = fetch.value(
        connection, "SELECT count(DISTINCT actor) FROM session_actors WHERE stream_id = ?", (stream_id,)
    )
    prefix, slash, _ = chronicum_id.partition("/")
    return SessionRow(
        id=chronicum_id,
        owner_id=owner,
        stream=session_stream(chronicum_id).name,
        started_at=from_micros(started),
        last_activity_at=from_micros(active),
        first_at=from_micros(first),
        last_at=from_micros(last),
        acta=acta,
        by_kind=by_kind,
        actors=tuple(actor for (actor,) in actors),
        actor_count=actor_count,
        source=prefix if slash and prefix in ("claude-code", "codex") else "recorded",
        title=_title(connection, stream_id, described),
        source_path=described.get("source", ""),
        cwd=described.get("cwd", ""),
        git_branch=described.get("git_branch", ""),
        models=tuple(described.get("models", ())),
        client_version=described.get("client_version", ""),
        forked_from=described.get("forked_from", ""),
    )


def session_title(connection: apsw.Connection, stream_id: int) -> str:
    """What a session is called: as described, else its first prompt by a human; on one line, maybe empty."""
    return _title(connection, stream_id, _described(connection, stream_id))


def _title(connection: apsw.Connection, stream_id: int, described: dict[str, Any]) -> str:
    return " ".join(described.get("title", "").split()) or _first_prompt(connection, stream_id)


def _described(connection: apsw.Connection, stream_id: int) -> dict[str, Any]:
    found = fetch.rows(
        connection,
        "SELECT field, value FROM session_descriptions WHERE stream_id = ? AND to_position IS NULL",
        (stream_id,),
    )
    return {field: msgspec.json.decode(value) for field, value in found}


def _first_prompt(connection: apsw.Connection, stream_id: int) -> str:
    columns = f"substr(json_extract(e.payload, '$.content'), 1, {_PROMPT_CHARS + 1})"
    try:
        text = fetch.value(connection, entry_sql(_HUMAN_MESSAGE, False, columns), (stream_id, 0, 1))
    except DAMAGE as error:
        return damage_words(reason_of(error))
    if not text:
        return ""
    title = " ".join(text[:_PROMPT_CHARS].split())
    return f"{title}…" if len(text) > _PROMPT_CHARS else title


def _started_by(connection: apsw.Connection, stream_id: int) -> str:
    columns = "json_extract(e.payload, '$.metadata.parent_session')"
    try:
        first = fetch.rows(
            connection, entry_sql(facet_numbers.ACTA, False, columns), (stream_id, 0, _TOLD_WITHIN)
        )
    except DAMAGE as error:
        reason_of(error)
        return ""
    return next((name for (name,) in first if isinstance(name, str)), "")


def _relative(connection: apsw.Connection, relation: str, chronicum_id: str) -> Relative:
    number = stream_of(connection, chronicum_id)
    if number is None:
        return Relative(relation, chronicum_id, here=False)
    title = " ".join(_described(connection, number).get("title", "").split())
    return Relative(relation, chronicum_id, title or _first_prompt(connection, number))


def _passes(row: SessionRow, wanted: SessionFilter) -> bool:
    if wanted.owner and row.owner_id != wanted.owner:
        return False
    if wanted.source and row.source != wanted.source:
        return False
    if not wanted.text:
        return True
    haystack = "\n".join((row.title, row.id, row.owner_id, row.cwd, *row.actors)).casefold()
    return all(word in haystack for word in wanted.text.casefold().split())

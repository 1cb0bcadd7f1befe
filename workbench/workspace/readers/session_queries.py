"""The list of sessions, newest first by what happened or by what was recorded, in keyset pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

import apsw
import msgspec

from workbench.log.event_log import EventLog
from workbench.log.streams import session_stream
from workbench.log.times import from_micros, to_micros
from workbench.sessions import facets as facet_numbers
from workbench.sessions.queries import entry_sql, stream_of
from workbench.storage import fetch
from workbench.workspace.readers.entry_damage import DAMAGE, damage_words, reason_of
from workbench.workspace.readers.session_past import Key as Key
from workbench.workspace.readers.session_past import Order as Order
from workbench.workspace.readers.session_past import PastSession, PastSessions, facets_upto
from workbench.workspace.rows import SessionFilter, SessionRow

ACTORS_SHOWN = 12
_PROMPT_CHARS = 300
_SCAN_ROWS = 200
_PROMPT = f"iif(e.position <= ?4, substr(json_extract(e.payload, '$.content'), 1, {_PROMPT_CHARS + 1}), NULL)"
_PARENT = "iif(e.position <= ?4, json_extract(e.payload, '$.metadata.parent_session'), NULL)"
_TOLD_WITHIN = 20
"""Which session started a sub-agent's is told once, with one of the first acta."""

_SELECT = (
    "SELECT c.stream_id, c.chronicum_id, c.owner_id, c.started_at, a.last_activity_at, "
    "a.first_happened, a.last_happened, a.acta "
    "FROM session_activity a CROSS JOIN chronica c USING(stream_id)"
)
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
_NOW = 2**62
"""No position lies above it."""
_HUMAN_MESSAGE = (facet_numbers.facet("message", "human", False),)
_ACTUM_FACETS = frozenset(facet_numbers.ACTA)


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
    """Sessions of every owner, now or (`upto`) as they were at a position."""

    def __init__(self, log: EventLog, *, upto: int | None = None) -> None:
        self._log = log
        self.upto = upto
        self._past = None if upto is None else PastSessions(upto)
        self._travelled: SessionReader | None = None

    def as_of(self, position: int | None) -> SessionReader:
        """The sessions as they were at a position (contract memory, "As of"); None: as they are.

        What is read of one position is kept until another one is asked for.
        """
        if position == self.upto:
            return self
        known = self._travelled
        if known is None or known.upto != position:
            known = self._travelled = SessionReader(self._log, upto=position)
        return known

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
            if self._past is not None:
                past = self._past.of(connection, number)
                return None if past is None else _assembled_past(connection, self._past, past)
            row = fetch.row(connection, f"{_SELECT} WHERE a.stream_id = ?", (number,))
            return None if row is None else _assemble(connection, row)

    def lineage(self, row: SessionRow) -> tuple[Relative, ...]:
        """The session that this one was forked or resumed from, and the one whose sub-agent it is.

        Whichever of two forks was imported first keeps the acta that both have; the other one names it.
        """
        with self._log.reader() as connection:
            number = stream_of(connection, row.id)
            started = "" if number is None else _started_by(connection, number, self._upto)
            named = (("fork of", row.forked_from), ("sub-agent of", started))
            return tuple(
                _relative(connection, relation, name, self._upto) for relation, name in named if name
            )

    def count(
        self,
        wanted: SessionFilter,
        cancelled: Callable[[], bool] = lambda: False,
        *,
        order: Order = "happened",
    ) -> int:
        """How many sessions pass the filter; a filter has to look at each of them, in the given order."""
        with self._log.reader() as connection:
            if not wanted and self._past is not None:
                return len(self._past.keys(connection, order))
            if not wanted:
                return int(fetch.value(connection, "SELECT count(*) FROM session_activity"))
            found = self._scan(connection, wanted, _TOP, order, newer=False, cancelled=cancelled)
            return sum(1 for _ in found)

    def rank(self, row: SessionRow, *, order: Order = "happened") -> int:
        """How many sessions stand before this one in the unfiltered list."""
        with self._log.reader() as connection:
            key = self._key(connection, row, order)
            if self._past is not None:
                return self._past.newer_than(connection, key, order)
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
        if self._past is not None:
            for past in self._past.beyond(connection, start, order, newer=newer):
                if cancelled():
                    return
                session = _assembled_past(connection, self._past, past)
                if _passes(session, wanted):
                    yield session
            return
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

    @property
    def _upto(self) -> int:
        return _NOW if self.upto is None else self.upto

    def _key(self, connection: apsw.Connection, row: SessionRow, order: Order) -> Key:
        # The row's own time, not today's: the page that follows it must not jump if it moved meanwhile.
        return to_micros(time_of(row, order)), stream_of(connection, row.id) or 0


def _assemble(connection: apsw.Connection, row: Sequence[Any], upto: int = _NOW) -> SessionRow:
    stream_id = row[0]
    facets = fetch.rows(
        connection, "SELECT facet, entries FROM facet_counts WHERE stream_id = ?", (stream_id,)
    )
    actors = fetch.rows(
        connection,
        "SELECT actor FROM session_actors WHERE stream_id = ? "
        "GROUP BY actor ORDER BY min(actor_kind = 'system'), sum(acta) DESC, actor LIMIT ?",
        (stream_id, ACTORS_SHOWN),
    )
    actor_count = fetch.value(
        connection, "SELECT count(DISTINCT actor) FROM session_actors WHERE stream_id = ?", (stream_id,)
    )
    return _row(connection, row, dict(facets), [actor for (actor,) in actors], actor_count, upto)


def _assembled_past(connection: apsw.Connection, past: PastSessions, session: PastSession) -> SessionRow:
    """A session as it was; what it had by then is counted where it has grown since."""
    if session.end is None:
        return _assemble(connection, session.head, past.position)
    facets = facets_upto(connection, session.head[0], session.end)
    counts: dict[str, list[Any]] = {}
    for actor, kind, acta in past.actors(connection, session):
        count = counts.setdefault(actor, [True, 0])
        count[0] = count[0] and kind == "system"
        count[1] += acta
    actors = sorted(counts, key=lambda actor: (counts[actor][0], -counts[actor][1], actor))
    return _row(connection, session.head, facets, actors[:ACTORS_SHOWN], len(actors), past.position)


def _row(
    connection: apsw.Connection,
    head: Sequence[Any],
    facets: dict[int, int],
    actors: Sequence[str],
    actor_count: int,
    upto: int,
) -> SessionRow:
    stream_id, chronicum_id, owner, started, active, first, last, acta = head
    described = _described(connection, stream_id, upto)
    by_kind: dict[str, int] = {}
    for number, count in facets.items():
        if number in _ACTUM_FACETS:
            kind = facet_numbers.kind_of(number)
            by_kind[kind] = by_kind.get(kind, 0) + count
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
        actors=tuple(actors),
        actor_count=actor_count,
        source=prefix if slash and prefix in ("claude-code", "codex") else "recorded",
        title=_title(connection, stream_id, described, upto),
        source_path=described.get("source", ""),
        cwd=described.get("cwd", ""),
        git_branch=described.get("git_branch", ""),
        models=tuple(described.get("models", ())),
        client_version=described.get("client_version", ""),
        forked_from=described.get("forked_from", ""),
    )


def session_title(connection: apsw.Connection, stream_id: int) -> str:
    """What a session is called: as described, else its first prompt by a human; on one line, maybe empty."""
    return _title(connection, stream_id, _described(connection, stream_id, _NOW), _NOW)


def _title(connection: apsw.Connection, stream_id: int, described: dict[str, Any], upto: int) -> str:
    return " ".join(described.get("title", "").split()) or _first_prompt(connection, stream_id, upto)


def _described(connection: apsw.Connection, stream_id: int, upto: int) -> dict[str, Any]:
    found = fetch.rows(
        connection,
        "SELECT field, value FROM session_descriptions WHERE stream_id = ? AND from_position <= ? "
        "AND (to_position IS NULL OR to_position > ?)",
        (stream_id, upto, upto),
    )
    return {field: msgspec.json.decode(value) for field, value in found}


def _first_prompt(connection: apsw.Connection, stream_id: int, upto: int) -> str:
    try:
        text = fetch.value(connection, entry_sql(_HUMAN_MESSAGE, False, _PROMPT), (stream_id, 0, 1, upto))
    except DAMAGE as error:
        return damage_words(reason_of(error))
    if not text:
        return ""
    title = " ".join(text[:_PROMPT_CHARS].split())
    return f"{title}…" if len(text) > _PROMPT_CHARS else title


def _started_by(connection: apsw.Connection, stream_id: int, upto: int) -> str:
    try:
        first = fetch.rows(
            connection, entry_sql(facet_numbers.ACTA, False, _PARENT), (stream_id, 0, _TOLD_WITHIN, upto)
        )
    except DAMAGE as error:
        reason_of(error)
        return ""
    return next((name for (name,) in first if isinstance(name, str)), "")


def _relative(connection: apsw.Connection, relation: str, chronicum_id: str, upto: int) -> Relative:
    number = stream_of(connection, chronicum_id)
    begun = "SELECT from_position FROM chronica WHERE stream_id = ?"
    if number is None or fetch.value(connection, begun, (number,)) > upto:
        return Relative(relation, chronicum_id, here=False)
    described = _described(connection, number, upto)
    return Relative(relation, chronicum_id, _title(connection, number, described, upto))


def _passes(row: SessionRow, wanted: SessionFilter) -> bool:
    if wanted.owner and row.owner_id != wanted.owner:
        return False
    if wanted.source and row.source != wanted.source:
        return False
    if not wanted.text:
        return True
    haystack = "\n".join((row.title, row.id, row.owner_id, row.cwd, *row.actors)).casefold()
    return all(word in haystack for word in wanted.text.casefold().split())

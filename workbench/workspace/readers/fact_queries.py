"""What slots hold, for a person: a list in three orders, narrowed, and all about one of its facts.

A person sees private facts too, marked. Every call takes `as_of`, a position of the log: what was known then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any

import msgspec

from workbench.identity.registry import Registry
from workbench.log.errors import InvalidPayload
from workbench.log.event_log import EventLog
from workbench.log.times import from_micros
from workbench.memory import assumptions, fact_order, fact_standing, facts, reviews
from workbench.memory.events import FactAsserted, ObservationRecorded
from workbench.memory.snapshot import EVENT_COLUMNS, Sight, Snapshot, UnreadableEvent, id_bytes, id_text
from workbench.memory.spans import domains_seen
from workbench.storage import fetch
from workbench.workspace.fact_rows import (
    DamagedLink,
    FactDetail,
    FactFilter,
    FactLink,
    FactOrder,
    FactPlace,
    FactRow,
)

DAMAGE = (InvalidPayload, UnreadableEvent)
"""What reading a damaged fact raises."""
LINKS = 100
"""Of a chain that are read for the detail."""
ELSEWHERE = 20
"""Other scopes with the same slot that are read for the detail."""
_BUILT_ON = 20


class FactReader:
    """The current facts as a list; threads may share it. A filter that matches nothing gives empty pages."""

    def __init__(self, log: EventLog, registry: Callable[[], Registry]) -> None:
        self._sight = Sight(log)
        self._registry = registry
        self._lock = Lock()
        self._clashing: tuple[tuple[int, int, Registry], frozenset[int]] | None = None

    # -- the list --------------------------------------------------------------------------

    def page(
        self,
        wanted: FactFilter,
        order: FactOrder,
        limit: int,
        *,
        after: FactPlace | None = None,
        before: FactPlace | None = None,
        as_of: int | None = None,
    ) -> list[FactRow]:
        """Up to `limit` facts that follow `after` in the list, or stand just before `before`."""
        backwards = before is not None and after is None
        with self._look(as_of) as snapshot:
            found: list[int] = []
            for batch in self._batches(snapshot, wanted, order, before if backwards else after, backwards):
                found += fact_order.passing(snapshot, wanted, batch)
                if len(found) >= limit:
                    break
            found = found[:limit]
            return self._rows(snapshot, found[::-1] if backwards else found)

    def last(
        self, wanted: FactFilter, order: FactOrder, limit: int, *, as_of: int | None = None
    ) -> list[FactRow]:
        """The last facts of the list, in its order."""
        with self._look(as_of) as snapshot:
            found: list[int] = []
            for batch in self._batches(snapshot, wanted, order, None, True):
                found += fact_order.passing(snapshot, wanted, batch)
                if len(found) >= limit:
                    break
            return self._rows(snapshot, found[:limit][::-1])

    def count(
        self,
        wanted: FactFilter,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda found: None,
        *,
        as_of: int | None = None,
    ) -> int:
        """How many facts pass a filter; ends early with what it has where `cancelled()` is true."""
        found = 0
        with self._look(as_of) as snapshot:
            if wanted == FactFilter():
                return fact_order.total(snapshot)
            for batch in self._batches(snapshot, wanted, "newest", None, False):
                if cancelled():
                    break
                found += len(fact_order.passing(snapshot, wanted, batch))
                progress(found)
        return found

    def rank(self, order: FactOrder, place: FactPlace, *, as_of: int | None = None) -> int:
        """How many of all current facts stand before a place."""
        with self._look(as_of) as snapshot:
            return fact_order.rank(snapshot, order, place)

    def place_of_rank(self, order: FactOrder, rank: int, *, as_of: int | None = None) -> FactPlace | None:
        """The place before which `rank` of all current facts stand, else the last one; None without facts."""
        with self._look(as_of) as snapshot:
            at = None
            for batch in self._batches(snapshot, FactFilter(), order, None, False):
                at = batch[min(rank, len(batch) - 1)]
                if rank < len(batch):
                    break
                rank -= len(batch)
            return None if at is None else self._place(snapshot, at)

    def place(self, position: int, *, as_of: int | None = None) -> FactPlace | None:
        """Where the last fact of the chain stands that the fact at a position belongs to; None without it."""
        with self._look(as_of) as snapshot:
            sql = f"SELECT 1 FROM facts WHERE position = :position AND {snapshot.asserted()}"
            if snapshot.value(sql, position=position) is None:
                return None
            return self._place(snapshot, facts.last_of(snapshot, position))

    def position_of(self, fact_id: str) -> int | None:
        """Where the fact with an id was asserted; None for an id that no fact has."""
        stored = id_bytes(fact_id)
        if stored is None:
            return None
        with self._look(None) as snapshot:
            found: int | None = snapshot.value("SELECT position FROM facts WHERE fact_id = :id", id=stored)
            return found

    def fact_near(self, position: int, *, as_of: int | None = None) -> int | None:
        """The fact that the event at a position asserts or confirms, else the last one asserted before it.

        None where no fact was asserted up to there.
        """
        with self._look(as_of) as snapshot:
            sql = "SELECT fact_position FROM observations WHERE position = :at"
            found: int | None = snapshot.value(sql, at=position)
            if found is None:
                sql = "SELECT max(position) FROM facts WHERE position <= :at AND position <= :upto"
                found = snapshot.value(sql, at=position)
            return found

    def position_at(self, micros: int, *, as_of: int | None = None) -> int:
        """The last position that was recorded by a moment, in microseconds; 0 if there was none."""
        with self._look(as_of) as snapshot:
            return snapshot.position_at(micros)

    def of_slot(self, slot: str, *, as_of: int | None = None) -> int | None:
        """The newest current fact of a slot, whatever its scope; None if no scope has it."""
        with self._look(as_of) as snapshot:
            sql = (
                f"SELECT max(position) FROM facts WHERE slot = :slot AND {snapshot.asserted()} "
                f"AND {snapshot.stands('facts')}"
            )
            found: int | None = snapshot.value(sql, slot=slot)
            return found

    def passes(self, wanted: FactFilter, position: int, *, as_of: int | None = None) -> bool:
        """Whether a filter lets a current fact through."""
        with self._look(as_of) as snapshot:
            if wanted.only == "conflicts" and position not in self._conflicting(snapshot):
                return False
            if wanted.only == "disputed" and position not in fact_standing.disputed(snapshot):
                return False
            return bool(fact_order.passing(snapshot, wanted, [position]))

    # -- one fact --------------------------------------------------------------------------

    def row(self, position: int, *, as_of: int | None = None) -> FactRow | None:
        """The fact asserted at a position, current or not; None if none was."""
        with self._look(as_of) as snapshot:
            return next(iter(self._rows(snapshot, [position])), None)

    def detail(self, position: int, *, as_of: int | None = None) -> FactDetail | None:
        """The whole chain of the fact asserted at a position, and what else bears on it; None if none was."""
        with self._look(as_of) as snapshot:
            sql = f"SELECT 1 FROM facts WHERE position = :position AND {snapshot.asserted()}"
            if snapshot.value(sql, position=position) is None:
                return None
            last = facts.last_of(snapshot, position)
            links = sorted(facts.links_of(snapshot, last), reverse=True)
            (row,) = self._rows(snapshot, [last])
            rivals = self._rivals(snapshot, row.place, row.private)
            own = frozenset((last, *rivals))
            elsewhere, more = fact_standing.same_slot(snapshot, row.slot, row.place.project, own, ELSEWHERE)
            return FactDetail(
                row=row,
                links=tuple(self._readable(snapshot, each, row.place) for each in links[:LINKS]),
                rivals=tuple(self._rows(snapshot, rivals)),
                elsewhere=tuple(self._rows(snapshot, elsewhere)),
                elsewhere_more=more,
            )

    def _readable(self, snapshot: Snapshot, position: int, last: FactPlace) -> FactLink | DamagedLink:
        try:
            return self._link(snapshot, position, last)
        except DAMAGE as error:
            return DamagedLink(position=position, why=error.message)

    def _link(self, snapshot: Snapshot, position: int, last: FactPlace) -> FactLink:
        fact = facts.link(snapshot, position)
        again = [each.agent for each in fact.confirmations]
        built = _built_on(snapshot, position)
        (place,) = fact_order.places(snapshot, [position])
        observed = snapshot.value("SELECT observation FROM facts WHERE position = :at", at=position)
        said = snapshot.event(observed).payload
        session = said.session_id if isinstance(said, ObservationRecorded) else ""
        return FactLink(
            fact=fact,
            confirmed_by=fact_standing.independent(fact),
            said_again=again.count(fact.agent),
            review=reviews.of_targets(snapshot, [fact.id]),
            session_id=session or "",
            other_spelling=place[1:4] != last[1:4],
            built_on=tuple(self._rows(snapshot, built)),
        )

    # -- parts -----------------------------------------------------------------------------

    def _look(self, as_of: int | None) -> AbstractContextManager[Snapshot]:
        return self._sight.look(self._registry(), raw=True, as_of=as_of)

    def _batches(
        self,
        snapshot: Snapshot,
        wanted: FactFilter,
        order: FactOrder,
        place: FactPlace | None,
        backwards: bool,
    ) -> Iterator[Sequence[int]]:
        if not wanted.only:
            yield from fact_order.in_order(snapshot, order, place, backwards=backwards)
            return
        # Few facts are disputed or clash: they are all put in order.
        chosen = (
            self._conflicting(snapshot) if wanted.only == "conflicts" else fact_standing.disputed(snapshot)
        )
        ordered = fact_order.ordered(snapshot, order, chosen)
        if place is not None:
            at = fact_order.key_of(order, place)
            ordered = [
                each
                for each in ordered
                if (fact_order.key_of(order, each) < at if backwards else fact_order.key_of(order, each) > at)
            ]
        if ordered:
            yield [each.position for each in (reversed(ordered) if backwards else ordered)]

    def _conflicting(self, snapshot: Snapshot) -> frozenset[int]:
        newest = snapshot.value("SELECT max(position) FROM facts") or 0
        key = (newest, snapshot.last if snapshot.past else 0, snapshot.registry)
        with self._lock:
            kept = self._clashing
        if kept is None or kept[0] != key:
            groups = facts.conflicting(snapshot, domains_seen(snapshot))
            kept = key, frozenset(position for group in groups for position in group)
            with self._lock:
                self._clashing = kept
        return kept[1]

    def _place(self, snapshot: Snapshot, position: int) -> FactPlace:
        (place,) = fact_order.places(snapshot, [position])
        return place

    def _rivals(self, snapshot: Snapshot, place: FactPlace, private: bool) -> list[int]:
        return fact_standing.rivals(
            snapshot,
            place.position,
            domain=place.domain,
            project=place.project,
            task=place.task,
            slot=place.slot,
            private=private,
        )

    def _rows(self, snapshot: Snapshot, positions: Sequence[int]) -> list[FactRow]:
        rows = snapshot.rows(
            f"SELECT {EVENT_COLUMNS}, f.domain_key, f.project_key, f.task_key, f.slot, f.private, "
            "f.kind, f.to_position, f.links FROM json_each(:these) j "
            "CROSS JOIN facts f ON f.position = j.value "
            f"CROSS JOIN events e ON e.position = f.position WHERE {snapshot.asserted('f')} ORDER BY j.key",
            these=msgspec.json.encode(list(positions)).decode(),
        )
        found: list[FactRow] = []
        for row in rows:
            found.append(self._row(snapshot, row))
        return found

    def _row(self, snapshot: Snapshot, row: fetch.Row) -> FactRow:
        position, event_id = row[:2]
        domain, project, task, slot, private, kind, ended, links = row[-8:]
        current = not snapshot.ended(ended)
        place = FactPlace(position, domain, project, task, slot, links)
        fact_id = id_text(event_id)
        known: dict[str, Any] = {
            "id": fact_id,
            "slot": slot,
            "kind": kind,
            "recorded_at": from_micros(row[9]),
            "place": place,
            "verdict": fact_standing.verdict(snapshot, fact_id),
            "values": 1 + (len(self._rivals(snapshot, place, bool(private))) if current else 0),
            "current": current,
            "private": bool(private),
        }
        try:
            said: FactAsserted = snapshot.decoded(row).payload
        except DAMAGE as error:
            # One damaged fact must not hide the others.
            names = {"domain": domain, "project": project, "task_id": task, "agent": "", "value": ""}
            return FactRow(**known, **names, damage=error.message)
        return FactRow(
            **known,
            value=said.value,
            agent=said.agent,
            domain=said.domain,
            project=said.project or "",
            task_id=said.task_id or "",
            built_on=len(_built_on(snapshot, position)),
        )


def _built_on(snapshot: Snapshot, position: int) -> list[int]:
    try:
        return assumptions.built_on(snapshot, position, _BUILT_ON)
    except DAMAGE:
        # Something that may name it cannot be read: the Timeline says what.
        return []

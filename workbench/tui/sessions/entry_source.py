"""A session's entries as the rows of a virtual list, oldest first, responses folded into their calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING

from workbench.tui.sessions.shown import Shown
from workbench.tui.widgets.page_source import Page
from workbench.workspace.readers.entry_damage import UnreadableActum
from workbench.workspace.rows import ActumRow

if TYPE_CHECKING:
    from workbench.workspace.readers.entry_queries import EntryReader

_LOOK_BACK = 8
"""Rows that are read to find what stands before a page; more where they are all folded away."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: an actum or a closed unit, and what its drawing needs to know of what stands around it."""

    actum: ActumRow
    reply: ActumRow | None = None
    """For a tool call: its response, clipped."""
    after_call: bool = False
    """A folded call stands directly before it."""
    same_actor: bool = False
    """The row before is of the same actor."""
    new_day: bool = False
    """It is the first row of a day."""
    first: bool = False
    """Nothing stands before it."""
    number: int = 0
    """Which act of the session it is, from 1, those that are hidden included; of a closed unit: the act
    before it."""

    @property
    def seq(self) -> int:
        """Its number in the session's stream: its identity in the list."""
        return self.actum.seq

    @property
    def is_call(self) -> bool:
        """Whether it is a tool call, and known as one in full."""
        return self.actum.kind == "tool_request" and not isinstance(self.actum, UnreadableActum)

    def __hash__(self) -> int:
        return self.actum.seq


class EntrySource:
    """The entries of one session that are shown; a key is a seq."""

    def __init__(self, reader: EntryReader, chronicum_id: str, shown: Shown, zone: tzinfo) -> None:
        self._reader = reader
        self._id = chronicum_id
        self._shown = shown
        self._wanted = shown.wanted()
        self._zone = zone

    def key(self, row: Entry) -> Hashable:
        return row.seq

    def first(self, limit: int) -> Page[Entry]:
        return self._forward(0, limit, at_start=True)

    def after(self, row: Entry, limit: int) -> Page[Entry]:
        return self._forward(row.seq, limit, at_start=False, above=row.actum)

    def last(self, limit: int) -> Page[Entry]:
        return self._backward(None, limit)

    def before(self, row: Entry, limit: int) -> Page[Entry]:
        return self._backward(row.seq, limit)

    def around(self, place: Entry | Hashable, limit: int) -> Page[Entry]:
        seq = place.seq if isinstance(place, Entry) else place if isinstance(place, int) else 0
        if self._wanted is None:
            return Page((), True, True)
        half = max(1, limit // 2)
        above = self._reader.page(self._id, self._wanted, half + 1, before=max(0, seq))
        below = self._reader.page(self._id, self._wanted, half + 1, after=seq - 1)
        at_start, at_end = len(above) <= half, len(below) <= half
        raw = [*(above if at_start else above[1:]), *below[:half]]
        rows = self._dress(raw, None if at_start else self._seen_before(above[1].seq))
        if not rows:
            page = self.first(limit)
            return Page(page.rows, page.at_start, page.at_end, 0 if page.rows else None)
        # A folded response is found at its call.
        target = next((each.reply_seq or seq for each in below[:1] if each.seq == seq), seq)
        if all(each.seq != seq for each in rows) and any(each.seq == target for each in rows):
            seq = target
        focus = next((at for at, each in enumerate(rows) if each.seq >= seq), len(rows) - 1)
        return Page(rows, at_start, at_end, focus)

    def seek(self, fraction: float, limit: int) -> Page[Entry]:
        return self.around(1 + round(fraction * (self._reader.last_seq(self._id) - 1)), limit)

    def fraction(self, row: Entry) -> float:
        return (row.seq - 1) / max(1, self._reader.last_seq(self._id) - 1)

    def row_of(self, seq: int) -> int:
        """The seq of the row that shows an entry: of a folded response its call's, else its own."""
        raw = self._reader.at(self._id, [seq])
        by_seq = self._with_partners(raw)
        return next((each.reply_seq or seq for each in raw if self._is_folded(each, by_seq)), seq)

    def position(self, row: Entry) -> int | None:
        return None

    def total(self) -> int | None:
        if self._wanted is None:
            return 0
        return None if self._folds else self._reader.total(self._id, self._wanted)

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        """The entries that pass without the responses that are folded.

        With some actor kinds switched off it is a few too small: it serves the size of the thumb.
        """
        if self._wanted is None:
            return 0
        total = self._reader.total(self._id, self._wanted)
        return max(0, total - self._reader.answered(self._id)) if self._folds else total

    @property
    def _folds(self) -> bool:
        shown = self._shown
        return shown.folded and shown.has("tool_request") and shown.has("tool_response")

    def _forward(self, seq: int, limit: int, *, at_start: bool, above: ActumRow | None = None) -> Page[Entry]:
        if self._wanted is None:
            return Page((), True, True)
        while True:
            raw = self._reader.page(self._id, self._wanted, limit + 1, after=seq)
            rows = self._dress(raw[:limit], above)
            at_end = len(raw) <= limit
            if rows or at_end:
                return Page(rows, at_start, at_end)
            seq = raw[limit - 1].seq

    def _backward(self, seq: int | None, limit: int) -> Page[Entry]:
        if self._wanted is None:
            return Page((), True, True)
        at_end = seq is None
        while True:
            if seq is None:
                raw = self._reader.last(self._id, self._wanted, limit + 1)
            else:
                raw = self._reader.page(self._id, self._wanted, limit + 1, before=seq)
            at_start = len(raw) <= limit
            rows = self._dress(raw, None) if at_start else self._dress(raw[1:], self._seen_before(raw[1].seq))
            if rows or at_start:
                return Page(rows, at_start, at_end)
            seq = raw[1].seq

    def _seen_before(self, seq: int) -> ActumRow | None:
        """The nearest row before a seq that is not folded away."""
        assert self._wanted is not None
        limit = _LOOK_BACK
        while raw := self._reader.page(self._id, self._wanted, limit, before=seq):
            by_seq = self._with_partners(raw)
            for each in reversed(raw):
                if not self._is_folded(each, by_seq):
                    return each
            seq, limit = raw[0].seq, limit * 4
        return None

    def _with_partners(self, raw: Sequence[ActumRow]) -> dict[int, ActumRow]:
        """Rows by seq, and with them the calls and responses that they belong to."""
        by_seq = {each.seq: each for each in raw}
        partners = {each.reply_seq for each in raw if each.reply_seq is not None} - by_seq.keys()
        if partners:
            by_seq.update((each.seq, each) for each in self._reader.at(self._id, partners))
        return by_seq

    def _dress(self, raw: Sequence[ActumRow], above: ActumRow | None) -> list[Entry]:
        """The rows that are seen, each with its response and with what it follows."""
        by_seq = self._with_partners(raw)
        before = above
        numbers = self._reader.act_numbers(self._id, [each.seq for each in raw])
        rows: list[Entry] = []
        for actum in raw:
            if self._is_folded(actum, by_seq):
                continue
            is_call = actum.kind == "tool_request"
            rows.append(
                Entry(
                    actum,
                    by_seq.get(actum.reply_seq) if is_call and actum.reply_seq is not None else None,
                    after_call=before is not None and before.kind == "tool_request",
                    same_actor=before is not None and before.actor == actum.actor,
                    new_day=before is None or _day(before, self._zone) != _day(actum, self._zone),
                    first=before is None,
                    number=numbers[actum.seq],
                )
            )
            before = actum
        return rows

    def _is_folded(self, actum: ActumRow, by_seq: dict[int, ActumRow]) -> bool:
        """Whether it is the response of a call that is shown."""
        if not self._folds or actum.kind != "tool_response" or actum.reply_seq is None:
            return False
        call = by_seq.get(actum.reply_seq)
        return call is not None and call.reply_seq == actum.seq and self._shown.has(call.actor_kind)


def moment(actum: ActumRow) -> datetime:
    """When it happened: the claimed time, else the recorded one."""
    return actum.occurred_at or actum.at


def in_zone(then: datetime, zone: tzinfo) -> datetime:
    """A moment in a zone; at the ends of the calendar, which a zone cannot express, as it is."""
    try:
        return then.astimezone(zone)
    except (OverflowError, ValueError):
        return then


def _day(actum: ActumRow, zone: tzinfo) -> date:
    return in_zone(moment(actum), zone).date()

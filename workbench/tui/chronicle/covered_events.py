"""The events that a section stands for, exactly these, as a list that is read as it is looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.tui.present import Span, age, number
from workbench.tui.timeline.event_rows import time_of
from workbench.tui.timeline.event_words import event_line, kind_of
from workbench.tui.widgets.columns import Cell, Column
from workbench.tui.widgets.page_source import Page
from workbench.tui.widgets.row_renderer import RowState, TableRows
from workbench.workspace.readers.entry_damage import UnreadableEvent
from workbench.workspace.rows import EventRow

if TYPE_CHECKING:
    from workbench.workspace.readers.chronicle_queries import ChronicleReader

_LEAST_DIGITS = 5


@dataclass(frozen=True, slots=True)
class CoveredEvents:
    """The events `first` to `last` of a stream, both inside, in their order; a key is an event's `seq`.

    A stream counts its events without a gap, so that every page is a range.
    """

    reader: ChronicleReader
    stream: str
    first_seq: int
    last_seq: int

    def key(self, row: EventRow) -> Hashable:
        return row.seq

    def first(self, limit: int) -> Page[EventRow]:
        return self._page(self.first_seq, self.first_seq + limit - 1)

    def last(self, limit: int) -> Page[EventRow]:
        return self._page(self.last_seq - limit + 1, self.last_seq)

    def after(self, row: EventRow, limit: int) -> Page[EventRow]:
        return self._page(row.seq + 1, row.seq + limit)

    def before(self, row: EventRow, limit: int) -> Page[EventRow]:
        return self._page(row.seq - limit, row.seq - 1)

    def around(self, place: EventRow | Hashable, limit: int) -> Page[EventRow]:
        at = place.seq if isinstance(place, EventRow) else place if isinstance(place, int) else 0
        at = max(self.first_seq, min(at, self.last_seq))
        low = max(self.first_seq, min(at - limit // 2, self.last_seq - limit + 1))
        page = self._page(low, low + limit - 1)
        focus = next((number for number, row in enumerate(page.rows) if row.seq >= at), len(page.rows) - 1)
        return Page(page.rows, page.at_start, page.at_end, focus if page.rows else None)

    def seek(self, fraction: float, limit: int) -> Page[EventRow]:
        return self.around(self.first_seq + round(fraction * (self.last_seq - self.first_seq)), limit)

    def fraction(self, row: EventRow) -> float:
        return (row.seq - self.first_seq) / max(1, self.last_seq - self.first_seq)

    def position(self, row: EventRow) -> int | None:
        return row.seq - self.first_seq + 1

    def total(self) -> int | None:
        return max(0, self.last_seq - self.first_seq + 1)

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return max(0, self.last_seq - self.first_seq + 1)

    def _page(self, low: int, high: int) -> Page[EventRow]:
        low, high = max(low, self.first_seq), min(high, self.last_seq)
        rows: Sequence[EventRow] = ()
        if low <= high:
            rows = self.reader.events(self.stream, low, high, high - low + 1)
        return Page(rows, low <= self.first_seq, high >= self.last_seq)


def covered_rows(last: int, now: Callable[[], datetime]) -> TableRows[EventRow]:
    """One line for each event, by its number in its stream up to `last`: the numbers that anchors have."""
    columns = (
        Column("event", max(_LEAST_DIGITS, len(number(last))), align="right"),
        Column("age", 7, align="right", drop=2, silent=True),
        Column("", 1),
        Column("type", 11, drop=3, spare=12, silent=True),
        Column("actor", 10, drop=1),
        Column("text", minimum=12),
    )

    def cells(event: EventRow, state: RowState) -> Sequence[Cell]:
        kind = kind_of(event)
        return (
            Span(number(event.seq), "faint"),
            Span(_age(event, now()), "dim"),
            Span(kind.mark, kind.mark_role),
            Span(kind.word, "dim"),
            Span(event.actor, "text"),
            (Span("P ", "warning"), *event_line(event)) if event.private else event_line(event),
        )

    return TableRows(columns, cells)


def _age(event: EventRow, now: datetime) -> str:
    if isinstance(event, UnreadableEvent) and not event.times_known:
        return "?"
    return age(time_of(event, "happened"), now)

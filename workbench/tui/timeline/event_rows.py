"""The columns of the timeline: position, age, mark, type, actor and one line of text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from workbench.tui.present import Span, age, number
from workbench.tui.timeline.event_words import event_line, kind_of
from workbench.tui.widgets.columns import Cell, Column
from workbench.tui.widgets.row_renderer import RowState, TableRows
from workbench.workspace.readers.entry_damage import UnreadableEvent
from workbench.workspace.rows import EventRow, TimelineOrder

LEAST_DIGITS = 6


def position_width(last: int) -> int:
    """Cells that the positions up to `last` need."""
    return max(LEAST_DIGITS, len(number(last)))


def event_rows(
    width: int, now: Callable[[], datetime], order: TimelineOrder = "recorded"
) -> TableRows[EventRow]:
    """One line for each event; `width` is that of a position, `now` what ages are counted from.

    The age is that of the time that the `order` goes by.

    Rows are kept as drawn: who wants newer ages has the list draw them again.
    """
    columns = (
        Column("event", width, align="right"),
        # The strip and the detail tell times, too: where there is little room, the text has it.
        Column(order, 8, align="right", drop=2, spare=8, silent=True),
        Column("", 1),
        # Its mark stays.
        Column("type", 11, drop=3, spare=12, silent=True),
        Column("actor", 11, drop=1),
        Column("text", minimum=12),
    )

    def cells(event: EventRow, state: RowState) -> Sequence[Cell]:
        kind = kind_of(event)
        return (
            Span(number(event.position), "faint"),
            Span(_age(event, now(), order), "dim"),
            Span(kind.mark, kind.mark_role),
            Span(kind.word, "dim"),
            Span(event.actor, "text"),
            (Span("P ", "warning"), *event_line(event)) if event.private else event_line(event),
        )

    return TableRows(columns, cells)


def _age(event: EventRow, now: datetime, order: TimelineOrder) -> str:
    if isinstance(event, UnreadableEvent) and not event.times_known:
        return "?"
    return age(time_of(event, order), now)


def time_of(event: EventRow, order: TimelineOrder) -> datetime:
    """The time of an event that an order goes by: that of its age, wherever one is shown."""
    return event.happened_at if order == "happened" else event.recorded_at

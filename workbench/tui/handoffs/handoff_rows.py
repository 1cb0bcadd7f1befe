"""How a task is drawn in the list of hand-offs: its mark, its name, who, when, and what needs a look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.memory.handoff_views import Handoff
from workbench.memory.views import Review
from workbench.tui.present import Line, Role, Span, age, line_width, one_line
from workbench.tui.widgets.columns import Cell, Column, place, table_header, table_row
from workbench.tui.widgets.row_renderer import RowState

_NARROW = (
    Column("", 1),
    Column("task", share=1, minimum=14),
    Column("agent", 9, drop=1, spare=10, silent=True),
    Column("age", 6, align="right"),
    Column("", 3, align="right"),
    Column("", 3, align="right"),
)
_FIRST = tuple(column for column in _NARROW if column.title != "agent")
"""Where a task has two lines, who handed off stands on the second one, if there is room."""
_SECOND = (
    Column("", 1),
    Column("goal", share=1, minimum=14),
    Column("agent", 10, align="right", drop=1, spare=12),
)
_TASK = 1

VERDICT_SPANS = {
    "accepted": Span("✓", "success"),
    "questioned": Span("?", "warning"),
    "rejected": Span("✗", "error"),
}
"""The marks of verdicts."""
WAITING = Span("●", "accent")


def verdict_mark(review: Review | None) -> Span:
    """What a verdict is, or that there is none, in one cell."""
    return Span("○", "faint") if review is None else VERDICT_SPANS.get(review.verdict, Span("·", "dim"))


def mark_of(row: Handoff) -> Span:
    """Whether it waits for a person, else what became of the checkpoint, in one cell."""
    return WAITING if row.waits else verdict_mark(row.review)


def name_line(project: str, task: str, width: int, *, strong: bool) -> Line:
    """`project/task` in so many cells: the project gives way first, to a third of them."""
    head = f"{one_line(project, max(4, width // 3))}/"
    room = max(4, width - line_width((Span(head),)))
    # What the task leaves free, the project has.
    tail = one_line(task, room)
    spare = width - line_width((Span(tail),))
    head = f"{one_line(project, max(4, spare - 1))}/"
    return (Span(head, "dim"), Span(tail, "strong" if strong else "text"))


def cuts_name(row: Handoff, width: int, *, tall: bool) -> bool:
    """Whether the name of a task is not whole in a list of so many cells."""
    placed = {each.index: each.width for each in place(_FIRST if tall else _NARROW, width)}
    return line_width((Span(f"{row.project}/{row.task_id}"),)) > placed.get(_TASK, 0)


@dataclass(frozen=True, slots=True)
class HandoffRows:
    """Two lines for each task, or one where there are few lines; `now` gives the moment of ages."""

    now: Callable[[], datetime]
    tall: bool = True

    def header(self, width: int) -> Line | None:
        """The names of the columns."""
        return table_header(_FIRST if self.tall else _NARROW, width)

    def lines(self, row: Handoff, width: int, state: RowState) -> Sequence[Line]:
        """The task, and under it what it is about and who handed off."""
        columns = _FIRST if self.tall else _NARROW
        widths = {placed.index: placed.width for placed in place(columns, width)}
        alarms = row.alarms.total
        bright: Role = "warning" if row.waits else "dim"
        cells: list[Cell] = [
            Span("✗", "error") if row.unreadable else mark_of(row),
            name_line(row.project, row.task_id, widths.get(_TASK, 14), strong=row.waits),
            Span(age(row.recorded_at, self.now()), "dim"),
            Span(f"?{_few(row.questions)}", bright if row.alarms.standing else "dim")
            if row.questions
            else "",
            Span(f"!{_few(alarms)}", bright) if alarms else "",
        ]
        if not self.tall:
            cells.insert(2, Span(row.agent, "dim"))
            return (table_row(columns, cells, width),)
        return (
            table_row(columns, cells, width),
            table_row(_SECOND, ["", _about(row), Span(row.agent, "faint")], width),
        )


def _about(row: Handoff) -> Line:
    if row.unreadable:
        return (Span("the stored checkpoint cannot be read", "error"),)
    hidden = "withheld · " if row.quarantined else "private · " if row.private else ""
    return (
        Span(hidden, "warning"),
        Span(f"{one_line(row.status, 20)} · " if row.status else "", "faint"),
        Span(one_line(row.goal, 400), "dim"),
    )


def _few(number: int) -> str:
    return str(number) if number < 100 else "99"

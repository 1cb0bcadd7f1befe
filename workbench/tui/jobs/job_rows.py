"""How a job is drawn in the list: what it is and since when, then how far it is or what became of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.tui.jobs.words import STOPPING, amount, bar, left, mark_of, percent, said, took
from workbench.tui.present import Line, Span, age, fit, fit_line, line_width, one_line
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.jobs.rows import JobRow

_BAR = 16
_COLUMN = 6
"""Cells of the ages: all stand in one column."""


@dataclass(frozen=True, slots=True)
class JobRows:
    """Draws jobs in two lines. `clock` is what ages are counted from; `fresh` gives a row as it is by now."""

    clock: Callable[[], datetime]
    fresh: Callable[[JobRow], JobRow]

    def header(self, width: int) -> Line | None:
        return None

    def lines(self, row: JobRow, width: int, state: RowState) -> Sequence[Line]:
        row, now = self.fresh(row), self.clock()
        room = max(4, width - _COLUMN - 3)
        title = (
            Span(" "),
            mark_of(row),
            Span(" "),
            Span(one_line(row.title, 300) or row.kind, "strong" if row.running else "ink"),
        )
        since = age(row.finished_at or row.started_at, now)
        return (
            (*fit_line(title, room + 1), Span(" "), Span(fit(since, _COLUMN, "right"), "dim"), Span(" ")),
            (
                *fit_line((Span("   "), *_second(row, room - 2, now)), room + 1),
                Span(" "),
                Span(fit("" if row.running else took(row, now), _COLUMN, "right"), "faint"),
                Span(" "),
            ),
        )


def _second(row: JobRow, room: int, now: datetime) -> Line:
    if not row.running:
        return (Span(one_line(said(row), 400), "text" if row.status == "failed" else "dim"),)
    if row.stop_asked:
        return (Span(STOPPING, "warning"),)
    if not row.total:
        return (Span(" · ".join(part for part in (amount(row), one_line(row.note, 200)) if part), "dim"),)
    head: Line = (*bar(row, min(_BAR, max(6, room // 3))), Span(f" {percent(row):>5}", "text"))
    line = head
    for part in (left(row, now), amount(row), one_line(row.note, 60)):
        longer = (*line, Span(f"{' ' if line == head else ' · '}{part}", "dim"))
        if part and line_width(longer) <= room:
            line = longer
    return line

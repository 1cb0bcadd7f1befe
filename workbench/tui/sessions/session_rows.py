"""How a session is drawn in the list: its title and age, then where, who and how much."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.tui.present import Line, Span, age, counted, fit, fit_line, line_width, number, one_line
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.rows import SessionRow

if TYPE_CHECKING:
    from workbench.workspace.readers.session_queries import Order

_NARROW = 36
"""Cells below which the number of acta stands without its noun."""
_ACTORS = 3
"""Actors that are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Draws sessions in two lines. `clock` gives the moment from which ages are counted."""

    clock: Callable[[], datetime]
    order: Order = "happened"
    """Which of a session's times its age is of."""

    def header(self, width: int) -> Line | None:
        return None

    def lines(self, row: SessionRow, width: int, state: RowState) -> Sequence[Line]:
        old = age(row.last_at if self.order == "happened" else row.last_activity_at, self.clock())
        size = acta_of(row) if width < _NARROW else f"{acta_of(row)} {'actum' if row.acta == 1 else 'acta'}"
        column = max(len(old), len(size))
        room = max(4, width - column - 2)
        title = (Span("  "), Span(title_of(row), "strong" if row.title else "dim"))
        return (
            (*fit_line(title, room), Span(" "), Span(fit(old, column, "right"), "dim"), Span(" ")),
            (
                *fit_line((Span("  "), *_second(row, room - 2)), room),
                Span(" "),
                Span(fit(size, column, "right"), "faint"),
                Span(" "),
            ),
        )


def title_of(row: SessionRow) -> str:
    """What a session is called: its title, else its id."""
    return one_line(row.title, 300) or one_line(row.id, 300)


def project_of(row: SessionRow) -> str:
    """The project: the last part of the working folder, else where the session came from."""
    return one_line(row.cwd.rstrip("/").rsplit("/", 1)[-1], 60) or row.source


def acta_of(row: SessionRow) -> str:
    """How many acta it has, short enough for a column."""
    if row.acta >= 1_000_000:
        return f"{row.acta / 1_000_000:.1f} M"
    if row.acta >= 100_000:
        return f"{row.acta // 1000} k"
    return number(row.acta)


def people_of(row: SessionRow, most: int = _ACTORS) -> str:
    """The first actors, and how many more there are."""
    shown = ", ".join(one_line(actor, 40) for actor in row.actors[:most])
    more = row.actor_count - min(most, len(row.actors))
    return f"{shown} +{more}" if more > 0 else shown


def _second(row: SessionRow, room: int) -> Line:
    marks: list[Span] = []
    if row.forked_from:
        marks.append(Span("⑂ fork · ", "dim"))
    project = project_of(row)
    # Who imported agents are called after their source.
    if project != row.source and row.source != "recorded" and row.source not in row.actors:
        source = Span(f" · {row.source}", "faint")
    else:
        source = Span("")
    for most in range(_ACTORS, -1, -1):
        people = people_of(row, most) if most else counted(row.actor_count, "actor")
        line = (*marks, Span(project, "dim"), Span(f" · {people}", "dim"), source)
        if line_width(line) <= room:
            return line
    return (*marks, Span(project, "dim"), Span(f" · {people_of(row, 1)}", "dim"))

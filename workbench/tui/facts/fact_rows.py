"""How a fact is drawn in the list: two lines where the list is narrow, a table where it is wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from workbench.tui.facts.fact_words import fact_value, kind_letter, kind_word, row_mark, scope_of
from workbench.tui.present import Line, Span, age, fit, fit_line, line_width, number, one_line
from workbench.tui.widgets.columns import Column, table_header, table_row
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.fact_rows import FactOrder, FactRow

TABLE_FROM = 100
"""Cells from which each fact is one line of a table."""
_WORDS_FROM = 44
"""Cells from which a kind is a word."""
_DRAWN = 400
"""Characters of a text that may be seen of it in a line."""

_LEAST_TASK = 3
"""Cells of a task's name below which its project's gives way."""

_SORTED = "↓"


@lru_cache(32)
def _columns(width: int, order: FactOrder) -> tuple[Column, ...]:
    """The columns, of which the one that the list is ordered by has a mark."""
    table = width >= TABLE_FROM
    values = "values" + (_SORTED if order == "replaced" else "")
    since = "since" + (_SORTED if order == "newest" else "")
    counts = (Column(values, 7, align="right"), Column(since, 7, align="right"))
    if not table:
        kind = Column("kind", 10) if width >= _WORDS_FROM else Column("", 1)
        slot = "slot" + (_SORTED if order == "scope" else "")
        return (Column("", 1), Column(slot, minimum=8), kind, *counts)
    return (
        Column("", 1),
        Column("scope" + (_SORTED if order == "scope" else ""), share=3, minimum=12),
        Column("slot", share=4, minimum=16),
        Column("value", share=6, minimum=20),
        Column("kind", 10),
        Column("author", 10, drop=1, silent=True),
        *counts,
    )


@dataclass(frozen=True, slots=True)
class FactRows:
    """`now` gives the moment of ages; `order` is the list's."""

    now: Callable[[], datetime]
    order: FactOrder = "newest"

    def header(self, width: int) -> Line | None:
        return table_header(_columns(width, self.order), width)

    def lines(self, row: FactRow, width: int, state: RowState) -> Sequence[Line]:
        mark, since = row_mark(row), Span(age(row.recorded_at, self.now()), "dim")
        slot = Span(one_line(row.slot, _DRAWN), "ink")
        values = Span(number(row.links) if row.links > 1 else "", "text")
        value = fact_value(row)
        if width >= TABLE_FROM:
            scope, author = Span(_scope(row), "dim"), Span(one_line(row.agent, _DRAWN), "dim")
            cells = [mark, scope, slot, value, kind_word(row.kind), author, values, since]
            return (table_row(_columns(width, self.order), cells, width),)
        kind = kind_word(row.kind) if width >= _WORDS_FROM else kind_letter(row.kind)
        return (
            table_row(_columns(width, self.order), [mark, slot, kind, values, since], width),
            self._second(row, value, width),
        )

    def _second(self, row: FactRow, value: Span, width: int) -> Line:
        """What it holds, and at the right where and who said so."""
        room = max(1, width - 2)
        # A short value leaves the rest to the scope.
        where = _where(row, max(8, room * 45 // 100, room - line_width((value,)) - 2))
        left = max(1, room - line_width((Span(where),)) - 2)
        return (
            Span("  "),
            *fit_line((value,), left),
            Span("  "),
            Span(where, "faint"),
        )


def _where(row: FactRow, most: int) -> str:
    """Where and who in `most` cells.

    What does not fit gives way in this order: the agent, a domain, the end of the task's name, the end of
    the project's. That there is a task is said at every width: without it the fact would look like one of
    the whole project.
    """
    author, project, task = (one_line(text, _DRAWN) for text in (row.agent, row.project, row.task_id))
    scope = _scope(row)
    for said in (f"{scope} · {author}" if author else "", scope, f"{project}/{task}" if task else ""):
        if said and _cells(said) <= most:
            return said
    if not (project and task):
        if project and author and _cells(f"{project} · {author}") <= most:
            return f"{project} · {author}"
        return project if project and _cells(project) <= most else fit(project or scope, most)
    of_task = max(most - _cells(project) - 1, min(_cells(task), _LEAST_TASK))
    of_project = most - 1 - of_task
    return f"{fit(project, min(of_project, _cells(project)))}/{fit(task, min(of_task, _cells(task)))}"


def _cells(text: str) -> int:
    return line_width((Span(text),))


def _scope(row: FactRow) -> str:
    """`project/task`, as a task is named elsewhere; before it a domain that is not the usual one."""
    if not (row.project and row.task_id):
        return scope_of(row)
    task = f"{one_line(row.project, _DRAWN)}/{one_line(row.task_id, _DRAWN)}"
    return task if row.domain == "global" else f"{one_line(row.domain, _DRAWN)} · {task}"

"""How a fact is drawn in the list: two lines where the list is narrow, a table where it is wide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from workbench.tui.facts.fact_words import kind_letter, kind_word, row_mark, scope_of
from workbench.tui.present import Line, Span, age, fit, fit_line, line_width, number, one_line
from workbench.tui.widgets.columns import Column, table_header, table_row
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.fact_rows import FactRow

TABLE_FROM = 78
"""Cells from which each fact is one line of a table."""
_WORDS_FROM = 44
"""Cells from which a kind is a word."""
_DRAWN = 400
"""Characters of a text that may be seen of it in a line."""

_TABLE = (
    Column("", 1),
    Column("scope", share=2, minimum=12),
    Column("slot", share=3, minimum=16),
    Column("value", share=5, minimum=16),
    Column("kind", 10),
    Column("author", 10, drop=1, silent=True),
    Column("values", 6, align="right"),
    Column("since", 6, align="right"),
)


def _first(width: int) -> tuple[Column, ...]:
    kind = Column("kind", 10) if width >= _WORDS_FROM else Column("", 1)
    return (
        Column("", 1),
        Column("slot", share=1),
        kind,
        Column("values", 6, align="right"),
        Column("since", 6, align="right"),
    )


@dataclass(frozen=True, slots=True)
class FactRows:
    """`now` gives the moment of ages."""

    now: Callable[[], datetime]

    def header(self, width: int) -> Line | None:
        return table_header(_TABLE if width >= TABLE_FROM else _first(width), width)

    def lines(self, row: FactRow, width: int, state: RowState) -> Sequence[Line]:
        mark, since = row_mark(row), Span(age(row.recorded_at, self.now()), "dim")
        slot = Span(one_line(row.slot, _DRAWN), "ink")
        values = Span(number(row.links) if row.links > 1 else "", "text")
        value = Span(one_line(row.value, _DRAWN), "text")
        if width >= TABLE_FROM:
            scope, author = Span(scope_of(row), "dim"), Span(one_line(row.agent, _DRAWN), "dim")
            cells = [mark, scope, slot, value, kind_word(row.kind), author, values, since]
            return (table_row(_TABLE, cells, width),)
        kind = kind_word(row.kind) if width >= _WORDS_FROM else kind_letter(row.kind)
        return (
            table_row(_first(width), [mark, slot, kind, values, since], width),
            self._second(row, value, width),
        )

    def _second(self, row: FactRow, value: Span, width: int) -> Line:
        """What it holds, and at the right where and who said so."""
        room = max(1, width - 2)
        where = f"{scope_of(row)} · {one_line(row.agent, _DRAWN)}"
        most = max(8, room * 45 // 100)
        where = fit(where, min(line_width((Span(where),)), most))
        left = max(1, room - line_width((Span(where),)) - 2)
        return (
            Span("  "),
            *fit_line((value,), left),
            Span("  "),
            Span(where, "faint"),
        )

"""How a redaction is drawn in the list: when, what kind, how many, where, by whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from workbench.tui.present import ELLIPSIS, Line, Span, age, line_width, number, one_line
from workbench.tui.widgets.columns import Cell, Column, place, table_header, table_row
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace.rows import RedactionRow

SCRUBBED = Span("S", "warning")
"""The mark of what was found later, in text that was stored already."""

KIND_LEAST, KIND_MOST = 12, 24
"""Cells of the column of kinds: as many as the longest one has, where there is room."""
_PLACE, _FIELD = 10, 10
_FIELD_FROM = 50
"""Cells of a list from which the field has a column, too."""
_OTHERS = 6 + 1 + 3
"""Cells of the columns that are always there and never wider."""


@lru_cache(64)
def _columns(longest: int, width: int) -> tuple[Column, ...]:
    fielded = width >= _FIELD_FROM
    gaps = 5 if fielded else 4
    room = width - _OTHERS - gaps - _PLACE - (_FIELD if fielded else 0)
    kind = max(KIND_LEAST, min(longest, KIND_MOST, room))
    return (
        Column("noted", 6, align="right"),
        Column("", 1),
        Column("kind", kind),
        Column("n", 3, align="right"),
        # Where it was says more than who wrote it, which the detail names.
        Column("actor", 10, drop=2, spare=8, silent=True),
        Column("place", share=3, minimum=_PLACE),
        *((Column("field", share=2, minimum=_FIELD, drop=1, silent=True),) if fielded else ()),
    )


@dataclass(frozen=True, slots=True)
class RedactionRows:
    """One line for each redaction; `now` gives the moment of ages, `longest` is the longest kind in cells."""

    now: Callable[[], datetime]
    longest: int = 16

    def header(self, width: int) -> Line | None:
        return table_header(_columns(self.longest, width), width)

    def lines(self, row: RedactionRow, width: int, state: RowState) -> Sequence[Line]:
        columns = _columns(self.longest, width)
        cells: list[Cell] = [
            Span(age(row.noted_at, self.now()), "dim"),
            SCRUBBED if row.scrubbed else Span(""),
            Span(row.kind, "ink"),
            Span(number(row.count), "text" if row.count > 1 else "faint"),
            Span(row.actor, "text"),
            place_line(row),
        ]
        placed = place(columns, width)
        if placed and columns[placed[-1].index].title == "field":
            cells.append(Span(_ending(row.field, placed[-1].width) if row.position else "", "faint"))
        return (table_row(columns, [*cells, *[""] * (len(columns) - len(cells))], width),)


def _ending(field: str, width: int) -> str:
    """A dotted path in `width` cells: its last names, which say what stood there, rather than its first."""
    drawn = one_line(field, 4 * max(width, 1))
    if line_width((Span(drawn),)) <= width:
        return drawn
    names = one_line(field[-400:], 800).split(".")
    for at in range(1, len(names)):
        ending = ELLIPSIS + ".".join(names[at:])
        if line_width((Span(ending),)) <= width:
            return ending
    return ELLIPSIS + names[-1] if len(names) > 1 else drawn


def place_line(row: RedactionRow) -> Line:
    """Where it was, in few words: the session's title, else its id, the stream, or the file or table."""
    if not row.position:
        return (Span(row.field, "dim"),)
    if row.chronicum_id:
        return (Span(one_line(row.title or row.chronicum_id, 200), "text"),)
    return (Span(row.stream or f"event {number(row.position)}", "dim"),)

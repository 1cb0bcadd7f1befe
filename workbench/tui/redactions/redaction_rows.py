"""How a redaction is drawn in the list: when, what kind, how many, where, by whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from workbench.tui.present import Line, Span, age, number, one_line
from workbench.tui.widgets.columns import Cell, Column
from workbench.tui.widgets.row_renderer import RowState, TableRows
from workbench.workspace.rows import RedactionRow

SCRUBBED = Span("S", "warning")
"""The mark of what was found later, in text that was stored already."""

_COLUMNS = (
    Column("noted", 6, align="right"),
    Column("", 1),
    Column("kind", share=2, minimum=14),
    Column("n", 3, align="right"),
    Column("actor", 10, drop=1, silent=True),
    Column("place", share=4, minimum=12),
    Column("field", share=3, minimum=10, drop=2, spare=8, silent=True),
)


def redaction_rows(now: Callable[[], datetime]) -> TableRows[RedactionRow]:
    """One line for each redaction; `now` is what ages are counted from."""

    def cells(row: RedactionRow, state: RowState) -> Sequence[Cell]:
        return (
            Span(age(row.noted_at, now()), "dim"),
            SCRUBBED if row.scrubbed else Span(""),
            Span(row.kind, "ink"),
            Span(number(row.count), "text" if row.count > 1 else "faint"),
            Span(row.actor, "text"),
            place_line(row),
            Span(row.field if row.position else "", "faint"),
        )

    return TableRows(_COLUMNS, cells)


def place_line(row: RedactionRow) -> Line:
    """Where it was, in few words: the session's title, else its id, the stream, or the file or table."""
    if not row.position:
        return (Span(row.field, "dim"),)
    if row.chronicum_id:
        return (Span(one_line(row.title or row.chronicum_id, 200), "text"),)
    return (Span(row.stream or f"event {number(row.position)}", "dim"),)

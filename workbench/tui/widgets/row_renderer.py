"""How a row of a virtual list becomes lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from workbench.tui.present import Line
from workbench.tui.widgets.columns import Cell, Column, table_header, table_row
from workbench.tui.widgets.page_source import Row

DrawnRow = TypeVar("DrawnRow", contravariant=True)

ROW_LINES = 400
"""Most lines that a list draws of one row; the last one then is `…`."""


@dataclass(frozen=True, slots=True)
class RowState:
    """What a list knows about a row that it draws."""

    cursor: bool = False
    selected: bool = False
    focused: bool = False
    """The list has the keys; told for the row under the cursor only."""


class RowRenderer(Protocol[DrawnRow]):
    """Lines for rows. What it draws must follow from its arguments: the list keeps what it got."""

    def lines(self, row: DrawnRow, width: int, state: RowState) -> Sequence[Line]:
        """One line or more, each of at most `width` cells."""
        ...

    def header(self, width: int) -> Line | None:
        """The line of column titles over the rows, if there is one."""
        ...


@dataclass(frozen=True, slots=True)
class TableRows(Generic[Row]):
    """One line per row in columns; `cells` gives one cell for each column."""

    columns: tuple[Column, ...]
    cells: Callable[[Row, RowState], Sequence[Cell]]
    titled: bool = True

    def lines(self, row: Row, width: int, state: RowState) -> Sequence[Line]:
        return (table_row(self.columns, self.cells(row, state), width),)

    def header(self, width: int) -> Line | None:
        return table_header(self.columns, width) if self.titled else None


@dataclass(frozen=True, slots=True)
class PlainRows(Generic[Row]):
    """Rows whose lines a function gives, without a header."""

    draw: Callable[[Row, int, RowState], Sequence[Line]]

    def lines(self, row: Row, width: int, state: RowState) -> Sequence[Line]:
        return self.draw(row, width, state)

    def header(self, width: int) -> Line | None:
        return None

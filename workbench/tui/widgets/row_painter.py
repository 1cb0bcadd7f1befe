"""Rows as strips: the lines of a renderer on the ground of their state, kept until the look changes."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.strip import Strip

from workbench.tui.present import ELLIPSIS, Line, Span
from workbench.tui.widgets.drawn import DrawnWidget
from workbench.tui.widgets.page_source import Row
from workbench.tui.widgets.row_renderer import ROW_LINES, RowRenderer, RowState

BAR = "▌"
"""At the left edge of the row under the cursor."""
BAR_SELECTED = "┃"
"""At the left edge of a selected row."""
BAR_BOTH = "█"

_KEPT = 1024


class RowPainter(Generic[Row]):
    """Draws rows for one list, each with a bar cell before its lines.

    `width` everywhere is the cells of the row's own text; the strips are one cell wider.
    """

    def __init__(self, widget: DrawnWidget, renderer: RowRenderer[Row]) -> None:
        self._widget = widget
        self.renderer = renderer
        self._strips: LRUCache[tuple[Hashable, int, RowState], list[Strip]] = LRUCache(_KEPT)
        self._header: tuple[int, Strip | None] | None = None

    def forget(self) -> None:
        """Draw everything anew from now on."""
        self._strips.clear()
        self._header = None

    def row(self, key: Hashable, row: Row, width: int, state: RowState) -> list[Strip]:
        """The strips of a row, one or more."""
        cache_key = (key, width, state)
        strips = self._strips.get(cache_key)
        if strips is None:
            strips = self._draw(row, width, state)
            self._strips[cache_key] = strips
        return strips

    def header(self, width: int) -> Strip | None:
        """The line over the rows, if the renderer has one."""
        if self._header is None or self._header[0] != width:
            line = self.renderer.header(width)
            self._header = (width, None if line is None else self.plain(line, width))
        return self._header[1]

    def plain(self, line: Line, width: int) -> Strip:
        """A line that is no row: without a bar, on the list's own ground."""
        widget = self._widget
        return Strip([Segment(" ", widget.look("text")), *widget.strip(line, width)], width + 1)

    def _draw(self, row: Row, width: int, state: RowState) -> list[Strip]:
        lines = list(self.renderer.lines(row, width, state)) or [()]
        if len(lines) > ROW_LINES:
            lines[ROW_LINES - 1 :] = [(Span(ELLIPSIS, "dim"),)]
        ground, bar = "", Segment(" ", self._widget.look("text"))
        if state.cursor:
            ground = "rows--cursor" if state.focused else "rows--cursor-blurred"
            edge = "rows--bar" if state.focused else "rows--bar-blurred"
            bar = Segment(BAR_BOTH if state.selected else BAR, self._bar_style(edge, ground))
        elif state.selected:
            ground = "rows--selected"
            bar = Segment(BAR_SELECTED, self._bar_style("rows--bar", ground))
        return [Strip([bar, *self._widget.strip(line, width, ground)], width + 1) for line in lines]

    def _bar_style(self, name: str, ground: str) -> Style:
        widget = self._widget
        return widget.get_component_rich_style(ground) + widget.get_component_rich_style(name, partial=True)

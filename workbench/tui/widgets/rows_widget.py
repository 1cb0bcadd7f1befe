"""The rows of a list on the screen: held, placed and drawn, whoever reads and moves them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from typing import ClassVar, Generic

from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from workbench.tui.present import Line
from workbench.tui.widgets.list_messages import ListStatus
from workbench.tui.widgets.page_source import Row
from workbench.tui.widgets.row_painter import RowPainter
from workbench.tui.widgets.row_renderer import RowRenderer, RowState
from workbench.tui.widgets.row_selection import RowSelection
from workbench.tui.widgets.row_window import RowWindow
from workbench.tui.widgets.scrolled import ScrolledWidget
from workbench.tui.widgets.thumb import thumb_lines
from workbench.tui.widgets.viewport import Viewport


class RowsWidget(ScrolledWidget, Generic[Row]):
    """A window of rows, the part of it that is on the screen, its cursor and its selection."""

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--cursor",
        "rows--cursor-blurred",
        "rows--selected",
        "rows--bar",
        "rows--bar-blurred",
    }

    DEFAULT_CSS = """
    RowsWidget {
        & > .rows--cursor { background: $cursor; color: $body; }
        & > .rows--cursor-blurred { background: $cursor-blurred; color: $body; }
        & > .rows--selected { background: $cursor-blurred; color: $body; }
        & > .rows--bar { color: $accent; }
        & > .rows--bar-blurred { color: $faint; }
    }
    """

    def __init__(
        self,
        renderer: RowRenderer[Row],
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - as in Textual
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.status = ListStatus()
        """What the line above the list may say."""
        self._painter: RowPainter[Row] = RowPainter(self, renderer)
        self._window: RowWindow[Row] = RowWindow()
        self._view = Viewport(lambda: len(self._window), lambda at: len(self._row_strips(at)))
        self._selection: RowSelection[Row] = RowSelection(self._window)
        self._shown: list[tuple[int, int]] | None = None
        self._shown_size = Size(0, 0)

    @property
    def renderer(self) -> RowRenderer[Row]:
        """What draws the rows; a new one draws them all again."""
        return self._painter.renderer

    @renderer.setter
    def renderer(self, renderer: RowRenderer[Row]) -> None:
        self._painter.renderer = renderer
        self.redraw_rows()

    @property
    def cursor_row(self) -> Row | None:
        """The row under the cursor; None where there are no rows, or not yet."""
        return self._window.rows[self._view.cursor] if len(self._window) else None

    @property
    def cursor_key(self) -> Hashable | None:
        """The identity of the row under the cursor."""
        return self._window.keys[self._view.cursor] if len(self._window) else None

    @property
    def at_first(self) -> bool:
        """Whether the cursor is on the first row of all, or there is none."""
        return not len(self._window) or (self._window.at_start and self._view.cursor == 0)

    @property
    def loaded(self) -> int:
        """How many rows are held in memory: at most `WINDOW_ROWS`."""
        return len(self._window)

    @property
    def visible_rows(self) -> list[Row]:
        """The rows on the screen, whole or in part."""
        return [self._window.rows[at] for at in dict.fromkeys(at for at, _ in self._lines())]

    @property
    def ranging(self) -> bool:
        """Whether moves extend a selection."""
        return self._selection.ranging

    @property
    def selected_rows(self) -> list[Row]:
        """Every selected row, also those that are far away."""
        return self._selection.rows(self._view.cursor)

    @property
    def target_rows(self) -> list[Row]:
        """What an action acts on: the selected rows, or else the one under the cursor."""
        row = self.cursor_row
        return self.selected_rows or ([] if row is None else [row])

    def toggle_select(self) -> None:
        """Select the row under the cursor, or no longer; within a range: keep the range."""
        if not len(self._window):
            return
        if self._selection.ranging:
            self._selection.end_range(self._view.cursor)
        else:
            self._selection.toggle(self._view.cursor)
        self._changed()

    def toggle_range(self) -> None:
        """Start a range at the cursor, or keep the one that was started."""
        if not len(self._window):
            return
        if self._selection.ranging:
            self._selection.end_range(self._view.cursor)
        else:
            self._selection.start_range(self._view.cursor)
        self._changed()

    def cancel_selection(self) -> bool:
        """Drop the range, or else the selection; false if there was nothing to drop."""
        had = self._selection.cancel()
        self._changed()
        return had

    def redraw_rows(self) -> None:
        """Draw the held rows anew: what the renderer draws besides the rows (a clock) changed."""
        self._painter.forget()
        self._changed()

    def _changed(self, *, read_ahead: bool = True, moved_from: tuple[int, int, int] | None = None) -> None:
        """Repaint everything, or only the rows of the cursor where `moved_from` (top, offset, cursor) allows.

        `read_ahead` allows to ask for more rows.
        """
        view = self._view
        self._shown = None
        stayed = moved_from is not None and (view.top, view.offset) == moved_from[:2]
        if moved_from is not None and stayed and not self._selection.ranging:
            self._repaint_rows(moved_from[2], view.cursor)
        else:
            self.refresh()

    def _repaint_rows(self, *rows: int) -> None:
        top = self._header_lines()
        lines = [y for y, (at, _) in enumerate(self._lines()) if at in rows]
        if lines:
            self.refresh(*(Region(0, top + y, self.size.width, 1) for y in lines))

    def notify_style_update(self) -> None:
        """Draw everything anew: the theme or a class changed."""
        super().notify_style_update()
        self._painter.forget()

    def _row_width(self) -> int:
        """Cells for a row's own text: without the bar and the thumb."""
        return max(1, self.size_drawn.width - 2)

    def _header_lines(self) -> int:
        return 0 if self._painter.header(self._row_width()) is None else 1

    @property
    def track_top(self) -> int:
        """The line of the first row."""
        return self._header_lines()

    def _lines(self) -> list[tuple[int, int]]:
        # Textual draws a widget in its new size before it tells the widget so.
        size = self.size_drawn
        if self._shown is None or self._shown_size != size:
            self._shown_size = size
            self._shown = self._view.shown()
        return self._shown

    def _row_strips(self, at: int) -> list[Strip]:
        cursor = at == self._view.cursor
        state = RowState(cursor, self._selection.holds(at, self._view.cursor), cursor and self.has_focus)
        return self._painter.row(self._window.keys[at], self._window.rows[at], self._row_width(), state)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.size_drawn.width
        header = self._painter.header(self._row_width())
        if header is not None:
            if y == 0:
                return header.adjust_cell_length(width, self.look("text"))
            y -= 1
        lines = self._lines()
        if y < len(lines):
            at, line = lines[y]
            strip = self._row_strips(at)[line]
        else:
            strip = self._painter.plain(self.beyond(y - len(lines), bool(lines)), self._row_width())
        return self.with_edge(strip, y + self._header_lines())

    def beyond(self, y: int, below_rows: bool) -> Line:
        """What stands on line `y` after the last row that is held, or, without rows, of the screen."""
        return ()

    def thumb(self) -> range:
        """The lines of the screen that the thumb takes."""
        window, lines = self._window, self._lines()
        if not lines:
            return range(0)
        first, (last, line) = lines[0][0], lines[-1]
        rows = max(self.status.total or self.status.at_least, 1)
        at_end = window.at_end and last == len(window) - 1
        return thumb_lines(
            self._view.lines,
            at_top=window.at_start and lines[0] == (0, 0),
            at_bottom=at_end and line == len(self._row_strips(last)) - 1,
            fraction=window.fractions[first],
            share=(last - first + 1) / rows,
        )

    @abstractmethod
    def point_at(self, at: int, *, enter: bool) -> None:
        """Put the cursor on the row at an index of the window; go into it where `enter` says so."""

    def on_click(self, event: events.Click) -> None:
        """One click points at a row, two open it."""
        offset = event.get_content_offset(self)
        y = -1 if offset is None or offset.x == self.size.width - 1 else offset.y - self._header_lines()
        lines = self._lines()
        if 0 <= y < len(lines):
            event.stop()
            self.point_at(lines[y][0], enter=event.chain == 2)

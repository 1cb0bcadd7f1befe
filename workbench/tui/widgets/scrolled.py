"""A line-drawing widget with a thumb at its right edge, and the mouse on both."""

from __future__ import annotations

from abc import abstractmethod

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.strip import Strip

from workbench.tui.widgets.drawn import DrawnWidget
from workbench.tui.widgets.thumb import THUMB

_WHEEL_LINES = 3


class ScrolledWidget(DrawnWidget):
    """The wheel moves the screen, the thumb can be clicked and dragged; a subclass says what that does."""

    _dragging = False
    _drawing = False
    """Lines are drawn: size and thumb are the same for all of them, and dear to find out."""
    _drawn_size: Size | None = None
    _drawn_thumb: range | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines; what all of them share is looked up once."""
        self._drawing, self._drawn_size, self._drawn_thumb = True, None, None
        try:
            return super().render_lines(crop)
        finally:
            self._drawing = False

    @property
    def size_drawn(self) -> Size:
        """The size, at less cost while lines are drawn."""
        if not self._drawing:
            return self.size
        if self._drawn_size is None:
            self._drawn_size = self.size
        return self._drawn_size

    @property
    def thumb_drawn(self) -> range:
        """The lines of the thumb, at less cost while lines are drawn."""
        if not self._drawing:
            return self.thumb()
        if self._drawn_thumb is None:
            self._drawn_thumb = self.thumb()
        return self._drawn_thumb

    @property
    def track_top(self) -> int:
        """The line on which the thumb's track begins."""
        return 0

    @abstractmethod
    def thumb(self) -> range:
        """The lines of the track that the thumb takes; empty where all is on the screen."""

    @abstractmethod
    def move_screen(self, lines: int) -> None:
        """Move the screen over what it shows, down or (negative) up."""

    @abstractmethod
    def go_to_fraction(self, fraction: float) -> None:
        """Go to a part of the whole, 0 to 1."""

    def with_edge(self, strip: Strip, y: int) -> Strip:
        """A strip of a cell less than the width, and the thumb or the empty track behind it."""
        plain = self.look("text")
        width = self.size_drawn.width
        on_thumb = y - self.track_top in self.thumb_drawn
        role = "thumb-focused" if self.has_focus else "thumb"
        edge = Segment(THUMB, self.look(role)) if on_thumb else Segment(" ", plain)
        return Strip([*strip.adjust_cell_length(width - 1, plain), edge], width)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.move_screen(_WHEEL_LINES)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.move_screen(-_WHEEL_LINES)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.x == self.size.width - 1 and self.thumb():
            event.stop()
            self._dragging = True
            self.capture_mouse()
            self._drag_to(offset.y)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            event.stop()
            self._drag_to(event.get_content_offset_capture(self).y)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._dragging:
            event.stop()
            self._dragging = False
            self.release_mouse()

    def _drag_to(self, y: int) -> None:
        lines = self.size.height - self.track_top - 1
        self.go_to_fraction(max(0.0, min(1.0, (y - self.track_top) / max(1, lines))))

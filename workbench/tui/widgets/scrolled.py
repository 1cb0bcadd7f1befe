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
    _painted_size: Size | None = None
    _painted_thumb: range | None = None

    def render_lines(self, crop: Region) -> list[Strip]:
        # Every line asks for the size and the thumb several times; while they are painted neither changes.
        self._painted_size = super().size
        self._painted_thumb = self.thumb()
        try:
            return super().render_lines(crop)
        finally:
            self._painted_size = self._painted_thumb = None

    @property
    def size(self) -> Size:
        """Cells of the content."""
        return super().size if self._painted_size is None else self._painted_size

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
        thumb = self.thumb() if self._painted_thumb is None else self._painted_thumb
        on_thumb = y - self.track_top in thumb
        role = "thumb-focused" if self.has_focus else "thumb"
        edge = Segment(THUMB, self.look(role)) if on_thumb else Segment(" ", plain)
        return Strip([*strip.adjust_cell_length(self.size.width - 1, plain), edge], self.size.width)

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

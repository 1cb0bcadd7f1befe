"""A pane for documents of any length: literal text, wrapped around what is on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip

from workbench.tui.document import Block, Document, DocumentLine, Place
from workbench.tui.widgets.scrolled import ScrolledWidget
from workbench.tui.widgets.thumb import thumb_lines

_COPY_LIMIT = 4_000_000
"""Characters of a whole document that selecting all of it copies; the cut is said in the text."""
_FAR = 1 << 40
"""The line number given to the top line after a jump to a place whose own number nobody has counted."""


class TextPane(ScrolledWidget, can_focus=True):
    """Shows blocks of text; scrolls by lines, selects with the mouse.

    Lines are numbered from wherever was last jumped to: numbers only have to agree with each other while
    a selection lasts.
    """

    ALLOW_SELECT = True

    DEFAULT_CSS = """
    TextPane { padding: 0 0 0 1; }
    """

    def __init__(
        self,
        blocks: Iterable[Block] = (),
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - as in Textual
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._document = Document(blocks)
        self._place = Place(0, 0)
        self._line = 0
        self._number = 0
        self._counted = True
        self._wrapped_at = 0
        self._screen_key: tuple[object, ...] = ()
        self._screen_lines: list[DocumentLine] = []
        self._thumb = range(0)

    # What a screen asks and tells

    @property
    def blocks(self) -> tuple[Block, ...]:
        """What is shown."""
        return self._document.blocks

    def set_blocks(self, blocks: Iterable[Block], *, keep_place: bool = False) -> None:
        """Show other blocks, from the start or, where they are a new form of the old, from the same place."""
        self.set_document(Document(blocks), keep_place=keep_place)

    def set_document(self, document: Document, *, keep_place: bool = False) -> None:
        """The same for a document that lays out its lines itself."""
        place, line = self._place, self._line
        self._document = document
        self._drop_selection()
        self._place, self._line, self._number, self._counted = Place(0, 0), 0, 0, True
        if keep_place and self._document:
            kept = self._document.nearest(place.run, place.start)
            self._jump(kept, min(line, len(self._document.lines(kept, self._width)) - 1))
        self.refresh()

    def go_to_block(self, index: int) -> None:
        """Put the first line of a block at the top, as far as there is text below it."""
        self._jump(self._document.block(index))

    @property
    def at_top(self) -> bool:
        """The first line is on the screen."""
        return not self._document or (self._place == self._document.first() and self._line == 0)

    @property
    def at_bottom(self) -> bool:
        """The last line is on the screen."""
        return self._below(1) == 0

    # Scrolling: the actions that every scrollable widget has

    def action_scroll_down(self) -> None:
        self.move(1)

    def action_scroll_up(self) -> None:
        self.move(-1)

    def action_page_down(self) -> None:
        self.move(max(1, self.size.height - 1))

    def action_page_up(self) -> None:
        self.move(-max(1, self.size.height - 1))

    def action_scroll_home(self) -> None:
        if not self.at_top:
            self._jump(self._document.first())
            self._number, self._counted = 0, True

    def action_scroll_end(self) -> None:
        if self.at_bottom:
            return
        last = self._document.last()
        self._jump(last, len(self._document.lines(last, self._width)) - 1)

    def move(self, lines: int) -> int:
        """Move the screen down, or (negative) up; the result is by how many lines it moved."""
        if not self._document:
            return 0
        moved = self._forward(min(lines, self._below(lines))) if lines > 0 else -self._back(-lines)
        if moved:
            self.refresh()
        return moved

    def _jump(self, place: Place, line: int = 0) -> None:
        if not self._document:
            return
        self._drop_selection()
        self._place, self._line = place, line
        self._number, self._counted = _FAR, False
        self._settle()
        if self.at_top:
            self._number, self._counted = 0, True
        self.refresh()

    # Walking over lines

    @property
    def _width(self) -> int:
        """Cells for text: without the thumb and the gap before it."""
        return max(4, self.size.width - 2)

    def _lines_from_top(self) -> Iterator[DocumentLine]:
        place: Place | None = self._place if self._document else None
        skip = self._line
        while place is not None:
            yield from self._document.lines(place, self._width)[skip:]
            skip = 0
            place = self._document.next(place)

    def _screen(self) -> list[DocumentLine]:
        lines: list[DocumentLine] = []
        for line in self._lines_from_top():
            if len(lines) >= self.size.height:
                break
            lines.append(line)
        return lines

    def _below(self, enough: int) -> int:
        """Lines below the screen, counted up to `enough`."""
        height = self.size.height
        counted = 0
        for counted, _ in enumerate(self._lines_from_top(), 1):
            if counted >= height + enough:
                break
        return max(0, counted - height)

    def _forward(self, lines: int) -> int:
        left = lines
        while left > 0:
            rest = len(self._document.lines(self._place, self._width)) - self._line
            if left < rest:
                self._line += left
                left = 0
                break
            following = self._document.next(self._place)
            if following is None:
                break
            self._place, self._line = following, 0
            left -= rest
        self._number += lines - left
        return lines - left

    def _back(self, lines: int) -> int:
        left = lines
        while left > 0:
            if left <= self._line:
                self._line -= left
                left = 0
                break
            left -= self._line
            above = self._document.previous(self._place)
            if above is None:
                self._line = 0
                break
            self._place = above
            self._line = len(self._document.lines(above, self._width)) - 1
            left -= 1
        self._number -= lines - left
        return lines - left

    def _settle(self) -> None:
        """No empty lines below the last one while there are lines above."""
        missing = self.size.height - len(self._screen())
        if missing > 0 and self._document:
            self._back(missing)

    def on_resize(self) -> None:
        if not self._document:
            return
        if self._wrapped_at and self._wrapped_at != self._width:
            self._drop_selection()
            # The first character on the screen stays there.
            old = self._document.lines(self._place, self._wrapped_at)[: self._line]
            before = sum(len(line.text) - line.lead + len(line.joint) for line in old)
            self._line = 0
            for at, line in enumerate(self._document.lines(self._place, self._width)):
                self._line = at
                before -= len(line.text) - line.lead + len(line.joint)
                if before < 0:
                    break
        self._wrapped_at = self._width
        self._settle()
        self.refresh()

    # Drawing

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        lines = self._screen_kept()
        if y >= len(lines):
            return self.with_edge(Strip.blank(self.size.width - 1, self.look("text")), y)
        segments = self.segments(lines[y].line)
        number = self._number + y
        selection = self.text_selection
        span = None if selection is None else selection.get_span(number)
        if span is not None:
            style = self.screen.get_component_rich_style("screen--selection")
            segments = _highlighted(segments, *span, style)
        drawn = Strip(segments).adjust_cell_length(self.size.width - 1, self.look("text"))
        return self.with_edge(drawn.apply_offsets(0, number), y)

    def _screen_kept(self) -> list[DocumentLine]:
        """The lines on the screen, made once for each repaint."""
        key = (self._document, self._place, self._line, self.size)
        if self._screen_key != key:
            self._screen_key = key
            self._screen_lines = self._screen()
            self._thumb = self._thumb_lines(self._screen_lines)
        return self._screen_lines

    def thumb(self) -> range:
        """The lines that the thumb takes."""
        self._screen_kept()
        return self._thumb

    def _thumb_lines(self, lines: list[DocumentLine]) -> range:
        if not lines:
            return range(0)
        characters = sum(len(line.text) for line in lines)
        segment = self._document.lines(self._place, self._width)
        inside = sum(len(line.text) + 1 for line in segment[: self._line])
        whole = max(1, self._document.length)
        return thumb_lines(
            self.size.height,
            at_top=self.at_top,
            at_bottom=self.at_bottom,
            fraction=self._document.fraction(self._place) + inside / whole,
            share=characters / whole,
        )

    def on_focus(self) -> None:
        # Screen readers follow the terminal's cursor: it stands where reading begins.
        self.app.cursor_position = self.content_region.offset
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    # Selecting text

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text between two places, its lines joined where only the width broke them."""
        if not self._document:
            return None
        start, end = selection
        if start is None and end is None:
            text, cut = self._document.plain(_COPY_LIMIT)
            return (text + f"\n[cut after {_COPY_LIMIT} characters]" if cut else text), "\n"
        here = (self._place, self._line, self._number)
        try:
            if start is None:
                self._place, self._line, number = self._document.first(), 0, 0
                if not self._counted:
                    self._place, self._line, number = here
                from_x = 0
            else:
                moved = start.y - self._number
                if moved < 0:
                    self._back(-moved)
                else:
                    self._forward(moved)
                number, from_x = self._number, start.x
            return self._between(number, from_x, end), "\n"
        finally:
            self._place, self._line, self._number = here

    def _between(self, number: int, from_x: int, end: Offset | None) -> str:
        parts: list[str] = []
        room = _COPY_LIMIT
        joint = ""
        for line in self._lines_from_top():
            if room < 0 or (end is not None and number > end.y):
                break
            until = end.x if end is not None and number == end.y else None
            parts += (joint, line.text[max(from_x, line.lead) : until])
            joint, from_x = line.joint, 0
            room -= len(line.text)
            number += 1
        return "".join(parts)

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()

    def _drop_selection(self) -> None:
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()

    # Mouse

    def move_screen(self, lines: int) -> None:
        """Move by lines."""
        self.move(lines)

    def go_to_fraction(self, fraction: float) -> None:
        """To a part of the whole; 0 and 1 are the two ends."""
        if fraction <= 0:
            self.action_scroll_home()
        elif fraction >= 1:
            self.action_scroll_end()
        else:
            self._jump(self._document.at_fraction(fraction))


def _highlighted(segments: list[Segment], start: int, end: int, style: Style) -> list[Segment]:
    """The segments with the characters from `start` to `end` (-1: all) in another style."""
    drawn: list[Segment] = []
    at = 0
    for text, own, _ in segments:
        low = max(0, min(start - at, len(text)))
        high = len(text) if end < 0 else max(low, min(end - at, len(text)))
        for part, chosen in ((text[:low], own), (text[low:high], style), (text[high:], own)):
            if part:
                drawn.append(Segment(part, chosen))
        at += len(text)
    return drawn

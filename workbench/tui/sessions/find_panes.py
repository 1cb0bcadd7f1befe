"""The list of acta and the open actum, with the words that are looked for standing out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment

from workbench.tui.document import Block, Place
from workbench.tui.present import Line
from workbench.tui.sessions.entry_source import Entry
from workbench.tui.sessions.found_words import HitPlace, Words, with_hits
from workbench.tui.widgets.text_pane import TextPane
from workbench.tui.widgets.virtual_list import VirtualList

_ABOVE = 2
"""Lines that are shown above a match."""


class EntryList(VirtualList[Entry]):
    """Entries of a session."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"entries--hit"}

    DEFAULT_CSS = """
    EntryList > .entries--hit { background: $accent; color: $ground; text-style: bold underline; }
    """

    words: Words | None = None
    """What stands out; a new renderer must follow for it to be drawn."""

    def segments(self, line: Line, ground: str = "") -> list[Segment]:
        """The spans of a line as segments, matches apart."""
        drawn = super().segments(line, ground)
        if self.words is None:
            return drawn
        return with_hits(drawn, self.words, self.get_component_rich_style("entries--hit", partial=True))


class ActumPane(TextPane):
    """One actum whole, with the places in it that can be stepped through."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"actum--hit"}

    DEFAULT_CSS = """
    ActumPane > .actum--hit { background: $accent; color: $ground; text-style: bold underline; }
    """

    words: Words | None = None
    _places: Sequence[HitPlace] = ()
    _at: int | None = None

    def set_hits(self, words: Words | None, places: Iterable[HitPlace]) -> None:
        """These matches stand out and are stepped through from now on; where the pane is, it stays."""
        self.words, self._places, self._at = words, tuple(places), None
        self.refresh()

    def open_at(self, blocks: Iterable[Block], place: int | None) -> None:
        """Show a document at one of its matches, by number; None: from the start."""
        self.set_blocks(blocks)
        if place is not None:
            self._go(place)

    def step(self, direction: int) -> bool:
        """Go to the next match, or (negative) to the previous one; false if there is none further."""
        if not self._places:
            return False
        at = self._at
        wanted = (0 if direction > 0 else len(self._places) - 1) if at is None else at + direction
        if not 0 <= wanted < len(self._places):
            return False
        self._go(wanted)
        return True

    def begin_again(self) -> None:
        """The next step leads to the first match, or (backwards) to the last."""
        self._at = None

    def _go(self, number: int) -> None:
        block, row, at = self._places[number]
        self._at = number
        document = self._document
        run = document.block(block).run + row
        place = document.nearest(run, at)
        self._jump(place, self._line_with(place, at))
        self.move(-_ABOVE)

    def _line_with(self, place: Place, at: int) -> int:
        """Which line of a segment shows a character of its run."""
        left = at - place.start
        lines = self._document.lines(place, self._width)
        for number, line in enumerate(lines):
            left -= len(line.text) - line.lead + len(line.joint)
            if left < 0:
                return number
        return len(lines) - 1

    def segments(self, line: Line, ground: str = "") -> list[Segment]:
        """The spans of a line as segments, matches apart."""
        drawn = super().segments(line, ground)
        if self.words is None:
            return drawn
        return with_hits(drawn, self.words, self.get_component_rich_style("actum--hit", partial=True))

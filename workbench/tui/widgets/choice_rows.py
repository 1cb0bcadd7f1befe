"""The lines of a dialog of which one is chosen: the cursor's is seen whatever colours a terminal has."""

from __future__ import annotations

from typing import Literal

from rich.style import Style
from textual.strip import Strip
from textual.widgets import OptionList

_REVERSED = Style(reverse=True)


class ChoiceRows(OptionList):
    """A list of options. In a theme of the terminal's own colours the line under the cursor is reversed.

    Of those sixteen no ground is sure to differ from the terminal's own and to bear all others.
    """

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        at = self.scroll_offset.y + y
        if self.app.native_ansi_color and at < len(self._lines) and self._lines[at][0] == self.highlighted:
            return strip.apply_style(_REVERSED)
        return strip

    def _move_page(self, direction: Literal[-1, 1]) -> None:
        # Lines that were put in since the last drawing are not known yet.
        self._update_lines()
        if (self.highlighted or 0) in self._index_to_line:
            super()._move_page(direction)

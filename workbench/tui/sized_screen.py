"""A screen that is laid out for the size that the terminal has, whatever sizes are still under way.

Textual tells a screen of a new size twice: once for the program, and once more as the size that its own
layout gave it, which has it laid out for that size again. When two sizes are under way at once, each of the
second kind begets the next of the other size: the screen is laid out for both in turn for ever, nothing else
is heard, and memory fills with what waits.
"""

from __future__ import annotations

from textual.geometry import Size
from textual.screen import Screen, ScreenResultType


class SizedScreen(Screen[ScreenResultType], inherit_bindings=False):
    """What every screen and dialog of the program is."""

    def _screen_resized(self, size: Size) -> None:
        # The size of now is never behind any that a message tells of.
        super()._screen_resized(self.app.size)

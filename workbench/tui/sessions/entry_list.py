"""The list of a session's entries, whose rows are as high as their wrapped texts."""

from __future__ import annotations

from textual.geometry import Size

from workbench.tui.sessions.entry_source import Entry
from workbench.tui.widgets.virtual_list import VirtualList


class EntryList(VirtualList[Entry]):
    """A virtual list that measures its rows anew as soon as its size is another.

    Textual draws a widget in its new size before it tells the widget so.
    """

    _measured = Size(0, 0)

    def _lines(self) -> list[tuple[int, int]]:
        if self.size != self._measured:
            self._measured = self.size
            self._shown = None
        return super()._lines()

"""The line of a detail's sides: their names, the one that is shown, and a note at the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip

from workbench.tui.present import visible
from workbench.tui.widgets.drawn import DrawnWidget


class Tab(NamedTuple):
    """One side of a detail."""

    name: str
    title: str


class TabLine(DrawnWidget):
    """Shows tabs in one line; a click on one posts `Chosen`."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tabs--active"}

    DEFAULT_CSS = """
    TabLine { height: 1; }
    TabLine > .tabs--active { background: $accent; color: $ground; text-style: bold; }
    """

    class Chosen(Message):
        """A tab was chosen with the mouse."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, tabs: Sequence[Tab], *, css_id: str) -> None:
        super().__init__(id=css_id)
        self.tabs = tuple(tabs)
        self.active = self.tabs[0].name
        self.notes: tuple[str, ...] = ()

    def show(self, active: str, *notes: str) -> None:
        """Draw this tab as the one that is shown, and of these notes the first that fits."""
        if (active, notes) != (self.active, self.notes):
            self.active, self.notes = active, notes
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        segments = [Segment(" ", self.look("text"))]
        used = 1
        for tab in self.tabs:
            title = f" {visible(tab.title)} "
            style = (
                self.get_component_rich_style("tabs--active") if tab.name == self.active else self.look("dim")
            )
            segments += [Segment(title, style), Segment(" ", self.look("text"))]
            used += cell_len(title) + 1
        room = width - used - 1
        for note in self.notes:
            drawn = visible(note)
            if drawn and cell_len(drawn) <= room:
                gap = Segment(" " * (room - cell_len(drawn)), self.look("text"))
                segments += [gap, Segment(drawn, self.look("faint"))]
                break
        return Strip(segments).adjust_cell_length(width, self.look("text"))

    def on_click(self, event: events.Click) -> None:
        """Choose the tab that was clicked."""
        end = 1
        for tab in self.tabs:
            start, end = end, end + cell_len(visible(tab.title)) + 3
            if start <= event.x < end - 1:
                event.stop()
                self.post_message(self.Chosen(tab.name))
                return

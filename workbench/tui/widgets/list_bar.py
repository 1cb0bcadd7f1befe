"""The line above a list: its filter at the left, count and position at the right.

The input is made when it is first asked for, so that a screen that is never filtered does not pay for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from workbench.tui.present import fit, visible

if TYPE_CHECKING:
    from textual.widgets import Input


def bar_content(filter_text: str, key: str, count: str, width: int) -> Content:
    """The line in `width` cells: `/ filter` or the filter that is set, and the count at the right.

    `key` is the live key of the filter; empty where the list has none. Where there is little room it
    stands there alone.
    """
    # The key stays whatever the count says: nothing else tells that the list can be narrowed.
    kept = cell_len(key) + 1 if key else 0
    shown_count = fit(count, min(cell_len(visible(count)), max(width - 3 - kept, 0))) if count else ""
    room = max(width - cell_len(shown_count) - 3, 0)
    if filter_text:
        left = Content.assemble(
            (f"{key} ", "bold $accent"), (fit(filter_text, max(room - 2, 0)).rstrip(), "$ink")
        )
    elif key:
        left = Content.assemble((f"{key} filter", "$quiet"))
        if left.cell_length > room:
            left = Content.assemble((key, "$quiet"))
    else:
        left = Content("")
    padding = max(width - left.cell_length - cell_len(shown_count) - 2, 0)
    return Content.assemble(" ", left, " " * padding, (shown_count, "$quiet"), " ").truncate(width)


class _BarLine(Widget):
    DEFAULT_CSS = "_BarLine { height: 1; width: 1fr; }"

    filter_text = ""
    key = ""
    count = ""
    editing = False

    def render(self) -> Content:
        if self.editing:
            return bar_content("", "", self.count, self.size.width)
        return bar_content(self.filter_text, self.key, self.count, self.size.width)

    def fit_beside_input(self) -> None:
        """Take the whole line, or beside the open input only what the count needs."""
        self.styles.width = cell_len(visible(self.count)) + 3 if self.editing else "1fr"
        self.refresh(layout=True)


class ListBar(Horizontal):
    """Filter and count of a list; says `FilterChanged` at each keystroke and `FilterDone` at the end."""

    DEFAULT_CSS = """
    ListBar { height: 1; margin-bottom: 1; }
    ListBar Input { height: 1; border: none; padding: 0 1; background: $cursor; color: $ink; width: 1fr; }
    ListBar Input:focus { border: none; height: 1; }
    """

    class FilterChanged(Message):
        """The filter is now `text`."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class FilterDone(Message):
        """The input was left; the filter stays as it is."""

    def __init__(self, key: str, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._line = _BarLine()
        self._line.key = key
        self._input: Input | None = None

    def compose(self) -> ComposeResult:
        yield self._line

    @property
    def editing(self) -> bool:
        """Whether the input is open."""
        return self._line.editing

    @property
    def filter_text(self) -> str:
        """The filter that is set."""
        return self._line.filter_text

    def set_key(self, key: str) -> None:
        """Show this key as the one that opens the filter; empty: the list has no filter."""
        self._line.key = key
        self._line.refresh()

    def set_count(self, text: str) -> None:
        """Show this at the right."""
        if text != self._line.count:
            self._line.count = text
            if self.editing:
                self._line.fit_beside_input()
            else:
                self._line.refresh()

    def set_filter(self, text: str) -> None:
        """Show this filter, without saying that it changed."""
        self._line.filter_text = text
        if self._input is not None and self._input.value != text:
            with self.prevent(type(self._input).Changed):
                self._input.value = text
        self._line.refresh()

    async def open(self) -> None:
        """Open the input and give it the keys."""
        if self._input is None:
            from workbench.tui.widgets.filter_input import FilterInput

            self._input = FilterInput(self.filter_text)
            await self.mount(self._input, before=self._line)
        self._input.display = True
        self._line.editing = True
        self._line.fit_beside_input()
        self._input.focus()
        self._input.cursor_position = len(self._input.value)

    def close(self) -> None:
        """Close the input; the filter stays."""
        if self._input is not None:
            self._input.display = False
        self._line.editing = False
        self._line.fit_beside_input()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass the filter on."""
        event.stop()
        self._line.filter_text = event.value
        self.post_message(self.FilterChanged(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter leaves the input."""
        event.stop()
        self.close()
        self.post_message(self.FilterDone())

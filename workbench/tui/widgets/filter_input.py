"""The input of a list's filter: what is pasted into it stays short and can be drawn."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from workbench.log.fulltext import MOST_CHARACTERS


class FilterInput(Input):
    """One line of text, at most as long as a search asks for, without control characters."""

    def __init__(self, value: str) -> None:
        super().__init__(value, select_on_focus=False, max_length=MOST_CHARACTERS)

    def _on_paste(self, event: events.Paste) -> None:
        # A control character costs a measurement at every blink of the cursor, and no search finds it.
        # Textual goes on with the base class by itself, with the text as it is now.
        pasted = event.text[: MOST_CHARACTERS * 4].replace("\n", " ").replace("\t", " ")
        # What is too long to stand beside the text that is there would be refused whole.
        room = MOST_CHARACTERS - len(self.value) + len(self.selected_text)
        event.text = "".join(c for c in pasted if c.isprintable())[: max(0, room)]

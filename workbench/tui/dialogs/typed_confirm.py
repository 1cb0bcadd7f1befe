"""What cannot be undone: said in full, and done only when its name was typed."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.document import Block, Document
from workbench.tui.present import literal
from workbench.tui.widgets.text_pane import TextPane

_FRAME = 8
"""Rows of the dialog that are not the text."""
_ROOMY_ROWS = 24
"""On a screen with fewer, the dialog takes all of them."""


class TypedConfirmDialog(Dialog[bool]):
    """Ends with True once `word` was typed and entered, None for esc. `blocks` say what will happen."""

    AUTO_FOCUS = "Input"
    DEFAULT_CSS = """
    TypedConfirmDialog TextPane { background: $raised; height: auto; padding: 0; }
    TypedConfirmDialog #ask { height: auto; margin-top: 1; }
    TypedConfirmDialog.-small > .panel { max-height: 100%; }
    """

    def __init__(self, title: str, blocks: Iterable[Block], word: str) -> None:
        super().__init__()
        self._title = title
        self._blocks = tuple(blocks)
        self._word = word

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(self._title)
            yield TextPane(self._blocks, id="what")
            yield Static(self._ask(), id="ask")
            yield Input(id="word", max_length=40, restrict=r"[A-Za-z-]*")
            yield Static(
                key_line(("enter", self._word), ("↑ ↓", "scroll"), ("esc", "cancel")), classes="keys"
            )

    def on_resize(self) -> None:
        """The text takes as many lines as it has, as far as there is room."""
        pane = self.query_one(TextPane)
        width = min(76, int(self.size.width * 0.96)) - 7
        document = Document(self._blocks)
        lines, place = 0, document.first() if document else None
        while place is not None:
            lines += len(document.lines(place, max(4, width)))
            place = document.next(place)
        small = self.size.height < _ROOMY_ROWS
        self.set_class(small, "-small")
        most = self.size.height if small else int(self.size.height * 0.9)
        pane.styles.height = max(1, min(lines, most - _FRAME))

    def key_down(self) -> None:
        """Scroll the text, while the keys are in the input."""
        self.query_one(TextPane).action_scroll_down()

    def key_up(self) -> None:
        """Scroll the text, while the keys are in the input."""
        self.query_one(TextPane).action_scroll_up()

    def key_pagedown(self) -> None:
        """Scroll the text by a page."""
        self.query_one(TextPane).action_page_down()

    def key_pageup(self) -> None:
        """Scroll the text by a page."""
        self.query_one(TextPane).action_page_up()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip() == self._word:
            self.dismiss(True)
        else:
            self.query_one("#ask", Static).update(
                Content.assemble(("! ", "$attention"), "That is another word. ", self._ask())
            )

    def _ask(self) -> Content:
        return Content.assemble("Type ", (self._word, "bold $accent"), " to do it:")

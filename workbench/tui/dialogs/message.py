"""An error: one sentence, what helps, and a key that copies the whole."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.failures import Failure
from workbench.tui.present import literal, literal_lines, plain_lines


class MessageDialog(Dialog[str]):
    """Ends with "read" when it was read, "again" where `retry` offered that, None for esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", "close", show=False),
        Binding("r", "again", "try again", show=False),
        Binding("y", "copy", "copy", show=False),
    ]

    def __init__(self, failure: Failure, *, retry: bool = False) -> None:
        super().__init__()
        self.failure = failure
        self.retry = retry

    def compose(self) -> ComposeResult:
        again = [("r", "try again")] if self.retry else []
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(self.failure.title)
            with VerticalScroll(can_focus=False) as text:
                text.styles.height = "auto"
                yield Static(self._content(), id="failure")
            yield Static(key_line(*again, ("enter", "close"), ("y", "copy")), classes="keys")

    def show(self, failure: Failure) -> None:
        """Show this failure instead: it says better what the first one was about."""
        self.failure = failure
        if self.is_mounted:
            self.query_one(".panel").border_title = literal(failure.title)
            self.query_one("#failure", Static).update(self._content())

    def _content(self) -> Content:
        failure = self.failure
        parts = [literal_lines(failure.sentence)]
        if failure.hint:
            parts.append(Content.assemble(("→ ", "$accent"), plain_lines(failure.hint)))
        if failure.code:
            parts.append(Content.assemble((f"code {plain_lines(failure.code)}", "$quiet")))
        return Content("\n\n").join(parts)

    def action_read(self) -> None:
        """Close."""
        self.dismiss("read")

    def action_again(self) -> None:
        """Close, and try again what failed."""
        if self.retry:
            self.dismiss("again")

    def action_copy(self) -> None:
        """Copy the whole text."""
        self.app.copy(self.failure.as_text(), "the message")

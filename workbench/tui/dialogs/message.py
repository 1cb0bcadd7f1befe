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


class MessageDialog(Dialog[bool]):
    """Ends with True when it was read, None for esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", "close", show=False),
        Binding("y", "copy", "copy", show=False),
    ]

    def __init__(self, failure: Failure) -> None:
        super().__init__()
        self.failure = failure

    def compose(self) -> ComposeResult:
        failure = self.failure
        parts = [literal_lines(failure.sentence)]
        if failure.hint:
            parts.append(Content.assemble(("→ ", "$accent"), plain_lines(failure.hint)))
        if failure.code:
            parts.append(Content.assemble((f"code {plain_lines(failure.code)}", "$quiet")))
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(failure.title)
            with VerticalScroll(can_focus=False) as text:
                text.styles.height = "auto"
                yield Static(Content("\n\n").join(parts))
            yield Static(key_line(("enter", "close"), ("y", "copy")), classes="keys")

    def action_read(self) -> None:
        """Close."""
        self.dismiss(True)

    def action_copy(self) -> None:
        """Copy the whole text."""
        self.app.copy(self.failure.as_text(), "the message")

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

REOPEN = "page.refresh"
"""The action whose key opens a lost workspace again, on every screen and here."""


class MessageDialog(Dialog[str]):
    """Ends with "read" when it was read, "again" where `retry` offered that, None for esc.

    While the workspace is lost it offers to open it again, as every screen does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "read", "close", show=False),
        Binding("r", "again", "try again", show=False),
        Binding("R", "reopen", "open a lost workspace again", id=REOPEN, show=False),
        Binding("y", "copy", "copy", show=False),
    ]

    def __init__(self, failure: Failure, *, retry: bool = False) -> None:
        super().__init__()
        self.failure = failure
        self.retry = retry

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(self.failure.title)
            with VerticalScroll(can_focus=False) as text:
                text.styles.height = "auto"
                yield Static(self._content(), id="failure")
            yield Static(self._keys(), classes="keys")

    def show(self, failure: Failure) -> None:
        """Show this failure instead: it says better what the first one was about."""
        self.failure = failure
        if self.is_mounted:
            self.query_one(".panel").border_title = literal(failure.title)
            self.query_one("#failure", Static).update(self._content())
            self.show_keys()

    def show_keys(self) -> None:
        """Show the keys anew: which there are depends on whether the workspace is lost."""
        if self.is_mounted:
            self.query_one(".keys", Static).update(self._keys())

    @property
    def _is_lost(self) -> bool:
        return self.app.access.live == "lost"

    def _keys(self) -> Content:
        again = [("r", "try again")] if self.retry else []
        if self._is_lost and (key := self.app.keymap.shown(REOPEN)):
            again.append((key, "open again"))
        return key_line(*again, ("enter", "close"), ("y", "copy"))

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

    def action_reopen(self) -> None:
        """Close, and open the lost workspace again."""
        if self._is_lost:
            self.dismiss(None)
            # By the program: the screens under this one are taken away for it, and made anew.
            self.app.call_later(self.app.reopen)

    def action_copy(self) -> None:
        """Copy the whole text."""
        self.app.copy(self.failure.as_text(), "the message")

"""One line to type."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.present import literal, literal_lines, visible


class PromptDialog(Dialog[str]):
    """Ends with the text that was entered, None for esc.

    `check` returns why a text cannot be taken, "" where it can; the reason is shown and the dialog stays.
    """

    def __init__(
        self, title: str, hint: str = "", value: str = "", check: Callable[[str], str] | None = None
    ) -> None:
        super().__init__()
        self._title = title
        self._hint = hint
        self._value = value
        self._check = check

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(self._title)
            yield Input(self._value)
            yield Static(literal_lines(self._hint), id="hint")
            yield Static(key_line(("enter", "go"), ("esc", "cancel")), classes="keys")

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        reason = self._check(event.value) if self._check is not None else ""
        if reason:
            self.query_one("#hint", Static).update(Content.assemble(("! ", "$attention"), visible(reason)))
            return
        self.dismiss(event.value)

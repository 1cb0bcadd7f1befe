"""A question with two answers."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.present import literal, literal_lines


class ConfirmDialog(Dialog[bool]):
    """Ends with True for yes, False for no, None for esc. No answer is preselected."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n", "answer(False)", "no", show=False),
    ]

    def __init__(self, question: str, details: str = "", *, yes: str = "yes", no: str = "no") -> None:
        super().__init__()
        self._question = question
        self._details = details
        self._words = yes, no

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(self._question)
            with VerticalScroll(can_focus=False) as details:
                details.styles.height = "auto"
                yield Static(literal_lines(self._details))
            yield Static(
                key_line(("y", self._words[0]), ("n", self._words[1]), ("esc", "cancel")), classes="keys"
            )

    def action_answer(self, sure: bool) -> None:
        """Give this answer."""
        self.dismiss(sure)

"""One line to type."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.failures import Failure
from workbench.tui.present import literal, literal_lines, plain_lines, visible


class PromptDialog(Dialog[str]):
    """Ends with the text that was entered, None for esc.

    `check` returns why a text cannot be taken, "" where it can; the reason is shown and the dialog stays.
    `refused` says why `value` was of no use when it was given before: it stands under the text, which can
    be corrected and given again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+y", "copy_refusal", "copy", show=False),
    ]

    DEFAULT_CSS = """
    PromptDialog .refused { height: auto; max-height: 8; margin-bottom: 1; }
    PromptDialog .refused Static { color: $ink; }
    """

    def __init__(
        self,
        title: str,
        hint: str = "",
        value: str = "",
        check: Callable[[str], str] | None = None,
        refused: Failure | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._hint = hint
        self._value = value
        self._check = check
        self.refused = refused
        if refused is not None and hint.casefold() in refused.hint.casefold():
            # Saying it once is enough, and a small terminal has room for no more.
            self._hint = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(self._title)
            # What is offered may be typed over at once; what was refused is to be corrected.
            yield Input(self._value, select_on_focus=self.refused is None)
            copy = []
            if self.refused is not None:
                with VerticalScroll(can_focus=False, classes="refused"):
                    yield Static(refusal_content(self.refused))
                copy = [("ctrl-y", "copy the error")]
            yield Static(literal_lines(self._hint), id="hint")
            yield Static(key_line(("enter", "go"), ("esc", "cancel"), *copy), classes="keys")

    @on(Input.Submitted)
    def _take(self, event: Input.Submitted) -> None:
        reason = self._check(event.value) if self._check is not None else ""
        if reason:
            self.query_one("#hint", Static).update(Content.assemble(("! ", "$attention"), visible(reason)))
            return
        self.dismiss(event.value)

    def action_copy_refusal(self) -> None:
        """Copy why the text was refused."""
        if self.refused is not None:
            self.app.copy(self.refused.as_text(), "the message")


def refusal_content(failure: Failure) -> Content:
    """Why a text was refused and what helps, for the lines under it."""
    parts = [Content.assemble(("! ", "$attention"), plain_lines(failure.sentence))]
    if failure.hint:
        parts.append(Content.assemble(("→ ", "$accent"), plain_lines(failure.hint)))
    return Content("\n").join(parts)

"""The forms in which something can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.present import fit
from workbench.tui.widgets.choice_rows import ChoiceRows


class CopyMenu(Dialog[int]):
    """Ends with the index of the chosen form, None for esc. A digit chooses at once."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(digit), f"take({digit - 1})", str(digit), show=False) for digit in range(1, 10)),
        Binding("j", "move('cursor_down')", "down", show=False),
        Binding("k", "move('cursor_up')", "up", show=False),
    ]

    DEFAULT_CSS = "CopyMenu > .panel { width: 44; }"

    def __init__(self, labels: Sequence[str]) -> None:
        super().__init__()
        self._labels = list(labels)

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = "Copy"
            yield ChoiceRows(
                *(
                    Option(Content.assemble((f"{number} ", "bold $accent"), fit(label, 36)))
                    for number, label in enumerate(self._labels, 1)
                ),
                markup=False,
            )
            yield Static(key_line(("enter", "copy"), ("esc", "close")), classes="keys")

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)

    def action_take(self, index: int) -> None:
        """Choose a form by its number."""
        if index < len(self._labels):
            self.dismiss(index)

    def action_move(self, how: str) -> None:
        """Move the highlight."""
        getattr(self.query_one(OptionList), f"action_{how}")()

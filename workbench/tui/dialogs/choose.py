"""A list to choose from, narrowed by typing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.identity.folding import stands_in
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.present import fit, literal, visible
from workbench.tui.widgets.choice_rows import ChoiceRows

LINE = 71
"""Cells of a line at the panel's full width."""

MOST_LINES = 24
"""Lines of the list that are seen at once, at most."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One line: `id` is the answer, `title` stands first, `detail` after it, `key` at the right.

    `reason` says why it cannot be used now; the line stays choosable, and whoever asked says the reason.
    """

    id: str
    title: str
    detail: str = ""
    key: str = ""
    reason: str = ""

    def matches(self, words: Sequence[str]) -> bool:
        """Whether every word stands somewhere in the line, in any case; names in any spelling."""
        return stands_in(words, f"{self.title} {self.detail} {self.id}")


def choice_line(choice: Choice, width: int, title_width: int) -> Content:
    """One line in `width` cells."""
    key = visible(choice.key)
    detail = f"⊘ {choice.reason}" if choice.reason else choice.detail
    room = max(width - title_width - 2 - cell_len(key) - 1, 0)
    return Content.assemble(
        (fit(choice.title, title_width), "$faint" if choice.reason else "$ink"),
        "  ",
        (fit(detail, room), "$faint" if choice.reason else "$quiet"),
        " ",
        (key, "$faint" if choice.reason else "bold $accent"),
    )


def _distance(title: str, typed: str) -> int:
    """How far what was typed is from the name of a line: it, its beginning, that of a word, anything."""
    if title == typed:
        return 0
    if title.startswith(typed):
        return 1
    return 2 if any(word.startswith(typed) for word in title.split()) else 3


class ChooseDialog(Dialog[str]):
    """Ends with the id of the chosen line, None for esc. The arrow keys move while the input has the keys."""

    DEFAULT_CSS = """
    ChooseDialog #nothing { display: none; height: 1; color: $quiet; }
    ChooseDialog.-nothing #nothing { display: block; }
    ChooseDialog.-nothing OptionList { display: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move('cursor_down')", "down", show=False),
        Binding("up", "move('cursor_up')", "up", show=False),
        Binding("pagedown", "move('page_down')", "page down", show=False),
        Binding("pageup", "move('page_up')", "page up", show=False),
        Binding("enter", "take", "take", show=False),
    ]

    def __init__(
        self, title: str, choices: Sequence[Choice], *, selected: str = "", searchable: bool = True
    ) -> None:
        super().__init__()
        self._title = title
        self._choices = list(choices)
        self._selected = selected
        self._searchable = searchable
        self._words: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = literal(self._title)
            if self._searchable:
                yield Input(placeholder="type to search")
            options = ChoiceRows(markup=False)
            options.can_focus = not self._searchable
            yield options
            yield Static("nothing fits", id="nothing", markup=False)
            yield Static(key_line(("enter", "choose"), ("esc", "close")), classes="keys")

    def on_resize(self) -> None:
        """Fill the list: its lines are as wide as the panel. Called too when the dialog is first laid out."""
        options = self.query_one(OptionList)
        options.styles.max_height = min(max(self.size.height - 8, 3), MOST_LINES)
        self._fill()
        ids = [choice.id for choice in self._choices]
        if self._selected in ids and not self._words:
            options.highlighted = ids.index(self._selected)

    @property
    def shown(self) -> list[Choice]:
        """The lines that match what was typed: first those whose name that is, or begins so."""
        found = [choice for choice in self._choices if choice.matches(self._words)]
        typed = " ".join(self._words)
        return sorted(found, key=lambda choice: _distance(choice.title.casefold(), typed)) if typed else found

    def _fill(self) -> None:
        options = self.query_one(OptionList)
        kept = options.highlighted or 0
        width = min(LINE, int(self.app.size.width * 0.96) - 5)
        shown = self.shown
        title_width = min(max((cell_len(visible(choice.title)) for choice in shown), default=0), width // 2)
        self.set_class(not shown, "-nothing")
        options.clear_options()
        options.add_options([Option(choice_line(choice, width, title_width)) for choice in shown])
        if shown:
            options.highlighted = min(kept, len(shown) - 1)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._words = event.value.casefold().split()
        self.query_one(OptionList).highlighted = None
        self._fill()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_take()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self.shown[event.option_index].id)

    def action_move(self, how: str) -> None:
        """Move the highlight, while the keys are in the input."""
        getattr(self.query_one(OptionList), f"action_{how}")()

    def action_take(self) -> None:
        """Choose the highlighted line."""
        index = self.query_one(OptionList).highlighted
        if index is not None and index < len(self.shown):
            self.dismiss(self.shown[index].id)

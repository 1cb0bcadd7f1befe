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
from workbench.tui.present import fit, literal, literal_lines, visible, wrap
from workbench.tui.widgets.choice_rows import ChoiceRows

LINE = 71
"""Cells of a line at the panel's full width."""

MOST_LINES = 24
"""Lines of the list that are seen at once, at most."""

MOST_WHOLE = 3
"""Lines below the list that say whole what its line cuts, at most."""


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
    key, detail = visible(choice.key), _beside(choice)
    room = _room(choice, width, title_width)
    return Content.assemble(
        (fit(choice.title, title_width), "$faint" if choice.reason else "$ink"),
        "  ",
        (fit(detail, room), "$faint" if choice.reason else "$quiet"),
        " ",
        (key, "$faint" if choice.reason else "bold $accent"),
    )


def _beside(choice: Choice) -> str:
    return f"⊘ {choice.reason}" if choice.reason else choice.detail


def _room(choice: Choice, width: int, title_width: int) -> int:
    """Cells of what stands beside the title."""
    return max(width - title_width - 2 - cell_len(visible(choice.key)) - 1, 0)


def whole_lines(choice: Choice, width: int, title_width: int) -> list[str]:
    """What `choice_line` cuts of a line, whole, in lines of `width` cells; none where it cuts nothing."""
    title, detail = visible(choice.title), visible(_beside(choice))
    cuts_title = cell_len(title) > title_width
    cuts_detail = cell_len(detail) > _room(choice, width, title_width)
    parts = [title] * cuts_title + [detail] * cuts_detail
    lines = list(wrap(" · ".join(parts), width)) if parts else []
    if len(lines) > MOST_WHOLE:
        lines = [*lines[: MOST_WHOLE - 1], fit(" ".join(lines[MOST_WHOLE - 1 :]), width)]
    return lines


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
    ChooseDialog #whole { display: none; color: $quiet; }
    ChooseDialog.-cut #whole { display: block; }
    ChooseDialog.-cut .keys { margin-top: 0; }
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
            yield Static(id="whole", markup=False)
            yield Static(key_line(("enter", "choose"), ("esc", "close")), classes="keys")

    def on_resize(self) -> None:
        """Fill the list: its lines are as wide as the panel. Called too when the dialog is first laid out."""
        options = self.query_one(OptionList)
        width, title_width = self._widths(self._choices)
        # As high as the highest needs: the list stands still while the cursor moves.
        whole = max((len(whole_lines(each, width, title_width)) for each in self._choices), default=0)
        self.set_class(whole > 0, "-cut")
        self.query_one("#whole").styles.height = max(whole, 1)
        # The panel is nine tenths of the screen high at most; what does not fit of it would not be seen.
        room = int(self.size.height * 0.9) - 6 - max(whole - 1, 0)
        options.styles.max_height = min(max(room, 3), MOST_LINES)
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
        shown = self.shown
        width, title_width = self._widths(shown)
        self.set_class(not shown, "-nothing")
        options.clear_options()
        options.add_options([Option(choice_line(choice, width, title_width)) for choice in shown])
        if shown:
            options.highlighted = min(kept, len(shown) - 1)
        self._say_whole()

    def _widths(self, choices: Sequence[Choice]) -> tuple[int, int]:
        """Cells of a line, and of the titles in it."""
        width = min(LINE, int(self.app.size.width * 0.96) - 5)
        widest = max((cell_len(visible(choice.title)) for choice in choices), default=0)
        return width, min(widest, width // 2)

    @on(OptionList.OptionHighlighted)
    def _say_whole(self) -> None:
        """What the line under the cursor cuts stands whole below the list."""
        shown, at = self.shown, self.query_one(OptionList).highlighted
        lines = whole_lines(shown[at], *self._widths(shown)) if at is not None and at < len(shown) else []
        self.query_one("#whole", Static).update(literal_lines("\n".join(lines)))

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

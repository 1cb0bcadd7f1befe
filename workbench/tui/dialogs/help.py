"""Help on where the keys are: every action that can be reached, each line runnable, beside it the guide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from workbench import guide
from workbench.tui.actions import APP, DOOR, GROUPS
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.dialogs.choose import Choice, choice_line
from workbench.tui.dialogs.guide import guide_content
from workbench.tui.present import visible
from workbench.tui.widgets.choice_rows import ChoiceRows

if TYPE_CHECKING:
    from workbench.tui.actions import Action
    from workbench.tui.shell import Shell


def help_entries(app: Shell) -> list[tuple[str, list[Choice]]]:
    """The reachable actions by group, with live keys and, where they cannot run now, title and reason."""

    def refusal(action: Action) -> str:
        reason = app.reason_of(action.id)
        return f"{action.title}: {reason}" if reason else ""

    page = app.page
    reachable = page.reachable_actions() if page is not None else app.registry.of(DOOR, APP)
    groups: list[tuple[str, list[Choice]]] = []
    for group in GROUPS:
        choices = [
            Choice(
                action.id,
                app.keymap.all_shown(action.id),
                action.description,
                "",
                refusal(action),
            )
            for action in reachable
            if action.group == group
        ]
        if choices:
            groups.append((group, choices))
    return groups


def tabs_line(names: Sequence[str], active: int, width: int) -> Content:
    """The names of the pages in at most `width` cells, the active one among them.

    Where they do not all fit, those that are nearest to the active one stand there whole, and `…` at an
    end says that more follow there.
    """
    titles = [f" {visible(name)} " for name in names]
    first, last = active, active + 1

    def need(first: int, last: int) -> int:
        marks = 2 * (first > 0) + 2 * (last < len(titles))
        return sum(cell_len(title) + 1 for title in titles[first:last]) - 1 + marks

    while last < len(titles) and need(first, last + 1) <= width:
        last += 1
    while first > 0 and need(first - 1, last) <= width:
        first -= 1
    parts = ["… "] if first > 0 else []
    line = Content.assemble(*((part, "$quiet") for part in parts))
    for index in range(first, last):
        style = "bold $ground on $accent" if index == active else "$quiet"
        line += Content.assemble((titles[index], style), " " if index + 1 < last else "")
    return line + Content.assemble((" …", "$quiet")) if last < len(titles) else line


_MOVES = {
    "down": ("down", "cursor_down"),
    "up": ("up", "cursor_up"),
    "page_down": ("page_down", "page_down"),
    "page_up": ("page_up", "page_up"),
    "home": ("home", "first"),
    "end": ("end", "last"),
}
"""By a move, what it is called of the guide's text and of the list of keys."""
_ROOMY = 80
"""Columns below which a line has no room for what a key does."""


class HelpDialog(Dialog[str]):
    """Ends with the id of the action to run, None for esc. `[` and `]` turn to the guide and back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket", "turn(1)", "next page", show=False),
        Binding("left_square_bracket", "turn(-1)", "previous page", show=False),
        Binding("q,question_mark", "cancel", "close", show=False),
        Binding("j", "move('down')", "down", show=False),
        Binding("k", "move('up')", "up", show=False),
        Binding("full_stop", "move('page_down')", "page down", show=False),
        Binding("comma", "move('page_up')", "page up", show=False),
        Binding("g", "move('home')", "first", show=False),
        Binding("G", "move('end')", "last", show=False),
    ]

    DEFAULT_CSS = """
    HelpDialog > .panel { width: 112; height: 90%; }
    HelpDialog #tabs { height: 1; margin-bottom: 1; }
    HelpDialog OptionList { height: 1fr; max-height: 100%; }
    HelpDialog OptionList > .option-list--option-disabled { color: $accent; text-style: bold; }
    HelpDialog #guide { display: none; height: 1fr; }
    HelpDialog.-guide #guide { display: block; }
    HelpDialog.-guide OptionList { display: none; }
    HelpDialog #whole { display: none; height: 2; }
    HelpDialog.-cut #whole { display: block; }
    HelpDialog.-cut .keys { margin-top: 0; }
    HelpDialog.-guide #whole { display: none; }
    """

    def __init__(self, groups: Sequence[tuple[str, Sequence[Choice]]]) -> None:
        super().__init__()
        self._groups = groups
        self._pages = guide.pages()
        self._page = 0
        self._ids: list[str | None] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = "Help"
            yield Static(id="tabs")
            yield ChoiceRows(markup=False)
            with VerticalScroll(id="guide"):
                yield Static(id="guide-text", markup=False)
            yield Static(id="whole", markup=False)
            yield Static(key_line(("enter", "run"), ("[ ]", "guide"), ("esc", "close")), classes="keys")

    def on_mount(self) -> None:
        """Show the keys."""
        self._show_page()

    def on_resize(self) -> None:
        """Fill the list: its lines are as wide as the panel. Called too when the dialog is first laid out."""
        self.set_class(self.app.size.width < _ROOMY, "-cut")
        self._fill()
        self._draw_tabs()
        if self._page:
            self._draw_guide()

    def _fill(self) -> None:
        options = self.query_one(OptionList)
        kept = options.highlighted
        width = self._line_width()
        options.clear_options()
        self._ids = []
        for group, choices in self._groups:
            if self._ids:
                options.add_option(Option(Content(""), disabled=True))
                self._ids.append(None)
            options.add_option(Option(Content.assemble((visible(group), "bold $accent")), disabled=True))
            self._ids.append(None)
            for choice in choices:
                options.add_option(Option(choice_line(choice, width, 14)))
                self._ids.append(choice.id)
        options.highlighted = (
            kept
            if kept is not None
            else next((index for index, action_id in enumerate(self._ids) if action_id), None)
        )

    def _show_page(self) -> None:
        self._draw_tabs()
        self.set_class(self._page > 0, "-guide")
        if self._page:
            self._draw_guide()
            guide = self.query_one("#guide", VerticalScroll)
            guide.scroll_home(animate=False)
            guide.focus()
        else:
            self.query_one(OptionList).focus()

    def _draw_guide(self) -> None:
        # One cell less than the panel: the scroll bar's.
        page = guide_content(self._pages[self._page - 1][1], self._line_width() - 1)
        self.query_one("#guide-text", Static).update(page)

    def _draw_tabs(self) -> None:
        names = ["keys here", *(name for name, _ in self._pages)]
        self.query_one("#tabs", Static).update(tabs_line(names, self._page, self._line_width()))

    def _line_width(self) -> int:
        """Cells of a line of the panel."""
        return min(107, int(self.app.size.width * 0.96) - 5)

    def action_turn(self, step: int) -> None:
        """Turn to the next or previous page."""
        self._page = (self._page + step) % (len(self._pages) + 1)
        self._show_page()

    def action_move(self, direction: str) -> None:
        """Move with the letters, as in a list."""
        of_guide, of_list = _MOVES[direction]
        if self._page:
            getattr(self.query_one("#guide", VerticalScroll), f"scroll_{of_guide}")(animate=False)
        else:
            getattr(self.query_one(OptionList), f"action_{of_list}")()

    @on(OptionList.OptionHighlighted)
    def _say_whole(self) -> None:
        """Where its line has no room for what a key does, that stands below the list."""
        whole = self.query_one("#whole", Static)
        at = self.query_one(OptionList).highlighted
        chosen = self._ids[at] if at is not None and at < len(self._ids) else None
        found = next((each for _, group in self._groups for each in group if each.id == chosen), None)
        whole.update(Content.assemble((visible(found.detail), "$quiet")) if found is not None else "")

    @on(OptionList.OptionSelected)
    def _run(self, event: OptionList.OptionSelected) -> None:
        action_id = self._ids[event.option_index]
        if action_id is not None:
            self.dismiss(action_id)

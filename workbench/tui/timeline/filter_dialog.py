"""Choosing what the timeline is narrowed to: projects, tasks, agents, types, what is private and so on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from workbench.identity.folding import stands_in
from workbench.tui.dialogs.base import Dialog, key_line
from workbench.tui.present import fit, number
from workbench.tui.timeline.event_words import type_title
from workbench.tui.widgets.choice_rows import ChoiceRows
from workbench.workspace.readers.timeline_names import Offered
from workbench.workspace.rows import TimelineFilter

_LINE = 70
_COUNT = 12


@dataclass(frozen=True, slots=True)
class _Entry:
    group: str
    """The part of the filter."""
    name: str
    title: str
    detail: str

    def matches(self, words: Sequence[str]) -> bool:
        return stands_in(words, f"{self.title} {self.name}")


_HEADS = {
    "projects": "Projects, most used first",
    "tasks": "Tasks, latest first",
    "domains": "Domains",
    "agents": "Agents, under any spelling",
    "categories": "Categories of observations",
    "types": "Types",
    "visibility": "Visibility",
    "actors": "Actors, most active first",
}
_NAMED = ("projects", "tasks", "domains", "agents", "categories")
_COUNTED = (*_NAMED, "actors")
_VISIBILITY: tuple[_Entry, ...] = (
    _Entry("visibility", "private", "private only", "for one party"),
    _Entry("visibility", "public", "public only", ""),
)


class _Search(Input):
    """A line for what is looked for; space is the dialog's, to choose with."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Whether a key is typed here."""
        return key != "space" and super().check_consume_key(key, character)


class TimelineFilterDialog(Dialog[TimelineFilter]):
    """Ends with `wanted` as it was changed, None for esc.

    `types` are all in the log, `actors` come with how many events they have, most active first, `offered`
    are the names of shared memory. What is chosen already stays in the list even where the log does not
    name it so.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "tick or untick", show=False, priority=True),
        Binding("enter", "take", "show", show=False, priority=True),
        Binding("ctrl+l", "clear", "clear", show=False, priority=True),
        Binding("down", "move('cursor_down')", "down", show=False),
        Binding("up", "move('cursor_up')", "up", show=False),
        Binding("pagedown", "move('page_down')", "page down", show=False),
        Binding("pageup", "move('page_up')", "page up", show=False),
    ]

    DEFAULT_CSS = """
    TimelineFilterDialog OptionList > .option-list--option-disabled { color: $faint; }
    TimelineFilterDialog OptionList { max-height: 22; }
    """

    def __init__(
        self,
        types: Sequence[str],
        actors: Sequence[tuple[str, int]],
        offered: Offered,
        wanted: TimelineFilter,
    ) -> None:
        super().__init__()
        self._wanted = wanted
        names = [name for name, _ in actors]
        lost = [(name, 0) for name in wanted.actors if name not in names]
        self._entries = [
            *(entry for group in _NAMED for entry in _named(group, offered, wanted)),
            *(
                _Entry("types", name, type_title(name), name)
                for name in dict.fromkeys((*types, *wanted.types))
            ),
            *_VISIBILITY,
            *(_Entry("actors", name, name, number(events)) for name, events in (*actors, *lost)),
        ]
        self._chosen = {
            (group, name) for group in (*_NAMED, "types", "actors") for name in getattr(wanted, group)
        }
        if wanted.visibility:
            self._chosen.add(("visibility", wanted.visibility))
        self._before = frozenset(self._chosen)
        self._aimed = False
        """The person went to the entry under the cursor, or typed its name."""
        self._words: list[str] = []
        self._shown: list[_Entry | None] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="panel") as panel:
            panel.border_title = "Narrow the timeline to"
            yield _Search(placeholder="type to search")
            options = ChoiceRows(markup=False)
            options.can_focus = False
            yield options
            yield Static(classes="keys")

    def on_mount(self) -> None:
        """What is typed is looked for at once; arrow keys move in the list."""
        self._fill()
        self._say_keys()
        self.query_one(Input).focus()

    def on_resize(self) -> None:
        """The lines are as wide as the panel."""
        # A dialog that comes or goes may be told its size while its parts are not there.
        for options in self.query(OptionList):
            options.styles.max_height = max(min(self.size.height - 12, 22), 3)
            self._fill()

    @property
    def result(self) -> TimelineFilter:
        """The filter with what is chosen now, names in the list's order."""
        kept = [entry for entry in self._entries if (entry.group, entry.name) in self._chosen]
        parts = {
            group: tuple(entry.name for entry in kept if entry.group == group)
            for group in (*_NAMED, "types", "actors")
        }
        return msgspec.structs.replace(
            self._wanted,
            visibility="private"
            if ("visibility", "private") in self._chosen
            else "public"
            if ("visibility", "public") in self._chosen
            else "",
            **parts,
        )

    def highlight(self, group: str, name: str) -> None:
        """Put the cursor on an entry, if it is shown."""
        for index, entry in enumerate(self._shown):
            if entry is not None and (entry.group, entry.name) == (group, name):
                self.query_one(OptionList).highlighted = index

    def _fill(self) -> None:
        options = self.query_one(OptionList)
        kept = options.highlighted
        self._shown = []
        lines: list[Option] = []
        for group, head in _HEADS.items():
            found = [entry for entry in self._entries if entry.group == group and entry.matches(self._words)]
            if found:
                if lines:
                    self._shown.append(None)
                    lines.append(Option(Content(""), disabled=True))
                self._shown += [None, *found]
                lines.append(Option(Content(head), disabled=True))
                lines += [Option(self._line(entry)) for entry in found]
        if not lines:
            lines.append(Option(Content("Nothing here is called that."), disabled=True))
            self._shown.append(None)
        options.clear_options()
        options.add_options(lines)
        if len(self._shown) > 1:
            options.highlighted = min(kept, len(self._shown) - 1) if kept else 1

    def _line(self, entry: _Entry) -> Content:
        width = min(_LINE, int(self.app.size.width * 0.96) - 6)
        chosen = (entry.group, entry.name) in self._chosen
        count = _COUNT if entry.group in _COUNTED else min(20, width // 3)
        return Content.assemble(
            ("✓ " if chosen else "  ", "bold $accent"),
            (fit(entry.title, max(4, width - count - 3)), "$ink" if chosen else "$body"),
            " ",
            (fit(entry.detail, count, "right"), "$quiet"),
        )

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self._words = event.value.casefold().split()
        self._aimed = bool(self._words)
        self.query_one(OptionList).highlighted = None
        self._fill()
        self._say_keys()

    @on(OptionList.OptionSelected)
    def _clicked(self) -> None:
        self._aimed = True
        self.action_take()

    def action_choose(self) -> None:
        """Choose what is under the cursor, or no longer."""
        at = self.query_one(OptionList).highlighted
        entry = self._shown[at] if at is not None else None
        if entry is not None and at is not None:
            self._chosen ^= {(entry.group, entry.name)}
            if entry.group == "visibility":
                # One or the other: both are all there is.
                self._chosen -= {(other.group, other.name) for other in _VISIBILITY if other is not entry}
            for index, shown in enumerate(self._shown):
                if shown is entry or (shown is not None and shown.group == entry.group == "visibility"):
                    self.query_one(OptionList).replace_option_prompt_at_index(index, self._line(shown))
            self._say_keys()

    def action_clear(self) -> None:
        """Choose nothing: everything is shown."""
        self._chosen.clear()
        self._fill()
        self._say_keys()

    def action_move(self, how: str) -> None:
        """Move the cursor."""
        self._aimed = True
        getattr(self.query_one(OptionList), f"action_{how}")()
        self._say_keys()

    @property
    def _takes_cursor(self) -> bool:
        """Whether enter takes what the person went to: nothing was ticked or unticked."""
        at = self.query_one(OptionList).highlighted
        entry = self._shown[at] if at is not None else None
        new = entry is not None and (entry.group, entry.name) not in self._chosen
        return new and self._aimed and self._chosen == self._before

    def _say_keys(self) -> None:
        enter = "take it" if self._takes_cursor else "show"
        line = key_line(("space", "tick"), ("enter", enter), ("ctrl-l", "clear"), ("esc", "close"))
        self.query_one(".keys", Static).update(line)

    def action_take(self) -> None:
        """End with what is ticked; where nothing was ticked or unticked, with what the person went to."""
        if self._takes_cursor:
            self.action_choose()
        self.dismiss(self.result)


def _named(group: str, offered: Offered, wanted: TimelineFilter) -> list[_Entry]:
    known = {each.name: each.events for each in getattr(offered, group)}
    lost = [name for name in getattr(wanted, group) if name not in known]
    return [
        *(_Entry(group, name, name, number(events) if events else "") for name, events in known.items()),
        *(_Entry(group, name, name, "") for name in lost),
    ]

"""The lines around every screen: header, navigation (column or line) and footer.

Each is one widget that draws itself from plain values; none holds state of its own. Parts are left out
whole where there is no room, never cut in the middle of a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from workbench.tui.present import fit, visible

if TYPE_CHECKING:
    from textual.events import Click

GAP = "   "


@dataclass(frozen=True, slots=True)
class HeaderState:
    """What the header says: the workspace's place and schema, whether it is live and may be written."""

    path: str = ""
    schema: int | None = None
    live: str = "opening"
    """`opening`, `live`, `still`, `lost`, `outdated` or `failed`."""
    moment: str = "now"
    read_only: bool = False
    reason: str = ""
    """In a few words, why it is lost."""
    past: tuple[str, ...] = ()
    """The moment of the past that is shown, in words, the fullest first; none for now."""


LIVE_WORDS = {
    "opening": ("◌ opening", "$quiet"),
    "live": ("● live", "$kept"),
    # No alarm: that it is read-only stands at the right, and nobody has to do anything.
    "still": ("○ not live", "$quiet"),
    "lost": ("○ lost", "$broken"),
    "outdated": ("▲ to be migrated", "$attention"),
    "failed": ("✕ not open", "$broken"),
}
PAST = ("○ past", "bold $attention")
"""Instead of live: what comes in meanwhile does not change what was."""


def header_content(state: HeaderState, width: int) -> Content:
    """The header in exactly `width` cells.

    Where it does not fit: first the schema goes, then the program's name, then the moment (first of all
    where it is not live); the path is shortened from its start. A moment of the past never goes: it is said
    in fewer words.
    """
    is_open = state.live in ("live", "still")
    live, live_style = PAST if state.live == "live" and state.past else LIVE_WORDS[state.live]
    if state.reason:
        live = f"{live}: {visible(state.reason)}"
    right = "" if not is_open else "read-only" if state.read_only else "read-write"
    # "now" beside "not live" would contradict it: what is shown is of the moment of opening.
    now = "as opened" if state.live == "still" else state.moment if is_open else ""
    if state.past and is_open:
        # The past cannot be written, whoever opened it.
        right = ""
    right_style = "bold $attention" if state.read_only else "$quiet"
    schema = "" if state.schema is None else f"schema {state.schema}"
    path = visible(state.path)

    past = state.past if is_open else ()
    moment_style = "bold $attention" if past else "$quiet"

    def parts(name: str, schema: str, moment: str, shown_path: str) -> list[tuple[str, str]]:
        drawn = [("◆", "$accent"), (name, "bold $ink"), (shown_path, "$quiet"), (schema, "$quiet")]
        return [part for part in [*drawn, (live, live_style), (moment, moment_style)] if part[0]]

    def size(chosen: Sequence[tuple[str, str]]) -> int:
        total = sum(cell_len(text) for text, _ in chosen) + len(GAP) * (len(chosen) - 1) - 2
        return 1 + total + (len(GAP) + cell_len(right) if right else 0) + 1

    # A moment of the past matters more than the folder.
    least_path = min(cell_len(path), 10 if past else 24)
    name = "Chronicle Workbench"
    # That it is not live says already what the moment adds.
    kept = "" if state.live == "still" else now
    fullest, *shorter = past or (now,)
    kept = fullest if past else kept
    variants = [
        (name, schema, fullest),
        (name, schema, kept),
        (name, "", kept),
        ("Workbench", "", kept),
        ("", "", kept),
    ]
    variants += [("", "", moment) for moment in shorter] if past else [("", "", "")]
    for variant in variants:
        rest = width - size(parts(*variant, "")) - len(GAP)
        if rest >= least_path:
            break
    shown_path = "" if rest < 1 or not path else fit(path, min(rest, cell_len(path)), keep="end")
    line = Content(" ")
    for index, (text, style) in enumerate(parts(*variant, shown_path)):
        gap = "" if index == 0 else (" " if index == 1 else GAP)
        line += Content.assemble(gap, (text, style))
    padding = width - line.cell_length - cell_len(right) - 1
    if right and padding > 0:
        line += Content.assemble(" " * padding, (right, right_style), " ")
    return line.truncate(width, ellipsis=True, pad=True)


class HeaderLine(Widget):
    """The first line of every screen."""

    DEFAULT_CSS = "HeaderLine { height: 1; background: $raised; color: $body; }"

    state: HeaderState = HeaderState()

    def show(self, state: HeaderState) -> None:
        """Draw this state from now on."""
        if state != self.state:
            self.state = state
            self.refresh()

    def render(self) -> Content:
        return header_content(self.state, self.size.width)


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """One screen in the navigation; `waiting` counts what needs a person there, 0 shows nothing."""

    name: str
    title: str
    number: int
    key: str
    waiting: int = 0


def column_line(entry: NavigationEntry, current: bool, width: int) -> Content:
    """One line of the navigation column, `width` cells."""
    count = str(entry.waiting) if entry.waiting else ""
    title = fit(entry.title, width - 4 - cell_len(entry.key) - cell_len(count))
    return Content.assemble(
        " ",
        (entry.key, "bold $accent" if current else "$quiet"),
        " ",
        (title, "bold $ink" if current else "$body"),
        " ",
        (count, "bold $attention"),
    ).truncate(width, pad=True)


def _waiting(count: int, *, behind_title: bool) -> str:
    """The count as it stands behind a title, or behind the key alone, where it must not be read as a key."""
    return "" if not count else f" {count}" if behind_title else f"({count})"


def tabs_content(entries: Sequence[NavigationEntry], current: str, width: int) -> tuple[Content, list[int]]:
    """The navigation as one line of at most `width` cells, and the cell at which each entry ends.

    Where the titles do not all fit, only the current screen keeps its title.
    """

    def drawn(with_titles: bool) -> tuple[Content, list[int]]:
        line = Content(" ")
        ends: list[int] = []
        for entry in entries:
            here = entry.name == current
            line += Content.assemble(
                (f"{entry.key}", "bold $accent" if here else "$quiet"),
                (f" {visible(entry.title)}" if with_titles or here else "", "bold $ink" if here else "$body"),
                (_waiting(entry.waiting, behind_title=with_titles or here), "bold $attention"),
                GAP,
            )
            ends.append(line.cell_length)
        return line, ends

    line, ends = drawn(True)
    if line.cell_length > width:
        line, ends = drawn(False)
    return line.truncate(width, ellipsis=True), ends


class Navigation(Widget):
    """The screens that exist: a column beside the panes, or one line above them."""

    DEFAULT_CSS = "Navigation { background: $raised; color: $body; }"

    def __init__(
        self, entries: Sequence[NavigationEntry], current: str, *, column: bool, css_id: str
    ) -> None:
        super().__init__(id=css_id)
        self.entries = list(entries)
        self.current = current
        self.column = column

    def show(self, entries: Iterable[NavigationEntry]) -> None:
        """Draw these entries from now on."""
        self.entries = list(entries)
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        if not self.column:
            return tabs_content(self.entries, self.current, width)[0]
        lines = [column_line(entry, entry.name == self.current, width) for entry in self.entries]
        return Content("\n").join([Content(""), *lines])

    def on_click(self, event: Click) -> None:
        """Open the screen that was clicked."""
        if self.column:
            index = event.y - 1
        else:
            ends = tabs_content(self.entries, self.current, self.size.width)[1]
            index = next((at for at, end in enumerate(ends) if event.x < end), -1)
        if 0 <= index < len(self.entries):
            self.post_message(self.Chosen(self.entries[index].name))

    class Chosen(Message):
        """A screen was chosen with the mouse."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name


@dataclass(frozen=True, slots=True)
class FooterItem:
    """One key of the footer; `reason` says why it cannot run now, "" where it can.

    `click` is the Textual action of a click, where it is not the registry's.
    """

    action_id: str
    key: str
    title: str
    reason: str = ""
    click: str = ""

    @property
    def text(self) -> str:
        """What is drawn, as plain text."""
        return f"{self.key} {self.title}{' ⊘' if self.reason else ''}"


LAST = "app.help"
"""Always in the footer."""


_ROOMY = 120
"""Cells from which a footer has room for what cannot be done now, too."""


def chosen_items(items: Sequence[FooterItem], width: int, most: int, *, narrow: bool) -> list[FooterItem]:
    """The items that fit whole into `width` cells, at most `most`, in order; help is always one of them.

    In a narrow footer what cannot be done now only has the room that is left by what can.
    """
    room = width - 1
    chosen: set[int] = set()
    for at, item in enumerate(items):
        if item.action_id == LAST:
            chosen.add(at)
            room -= cell_len(item.text) + len(GAP)

    def take(places: Iterable[int]) -> None:
        nonlocal room
        for at in places:
            need = cell_len(items[at].text) + len(GAP)
            if len(chosen) >= most or need > room:
                break
            room -= need
            chosen.add(at)

    others = [at for at, item in enumerate(items) if item.action_id != LAST]
    if narrow:
        take(at for at in others if not items[at].reason)
        take(at for at in others if items[at].reason)
    else:
        take(others)
    return [items[at] for at in sorted(chosen)]


def shown_items(
    items: Sequence[FooterItem], status: str, width: int, *, urgent: bool = False
) -> tuple[list[FooterItem], int]:
    """The items of a footer of `width` cells, and the cells that its status takes.

    The status may take a third of the line, an urgent one four fifths; the keys have the rest.
    """
    status_room = min(cell_len(visible(status)), width * 4 // 5 if urgent else width // 3)
    room, narrow = width - (status_room + 2 if status_room else 0), width < _ROOMY
    return chosen_items(items, room, 7 if narrow else 9, narrow=narrow), status_room


def footer_content(items: Sequence[FooterItem], status: str, width: int, *, urgent: bool = False) -> Content:
    """The footer in exactly `width` cells: whole keys at the left, the status at the right, cut with `…`."""
    chosen, status_room = shown_items(items, status, width, urgent=urgent)
    line = Content(" ")
    for item in chosen:
        rest = item.text.removeprefix(f"{item.key} ")
        line += Content.assemble(
            (item.key, "$faint" if item.reason else "bold $accent"),
            " ",
            (rest, "$faint" if item.reason else "$body"),
            GAP,
        )
    padding = width - line.cell_length - status_room - 1
    if status_room and padding >= 0:
        line += Content.assemble(
            " " * padding, (fit(status, status_room), "$attention" if urgent else "$quiet"), " "
        )
    return line.truncate(width, pad=True)


class FooterLine(Widget):
    """The last line of every screen: what can be done here, and what goes on."""

    DEFAULT_CSS = "FooterLine { height: 1; background: $raised; color: $body; }"

    items: tuple[FooterItem, ...] = ()
    status: str = ""
    urgent: bool = False

    def show(self, items: Iterable[FooterItem], status: str, *, urgent: bool = False) -> None:
        """Draw these from now on; an urgent status takes room from the keys."""
        fresh = tuple(items)
        if fresh != self.items or status != self.status or urgent != self.urgent:
            self.items = fresh
            self.status = status
            self.urgent = urgent
            self.refresh()

    def render(self) -> Content:
        return footer_content(self.items, self.status, self.size.width, urgent=self.urgent)

    async def on_click(self, event: Click) -> None:
        """Run what was clicked."""
        end = 1
        for item in shown_items(self.items, self.status, self.size.width, urgent=self.urgent)[0]:
            start, end = end, end + cell_len(item.text) + len(GAP)
            if start <= event.x < end - len(GAP):
                await self.run_action(item.click or f"app.perform({item.action_id!r})")
                return

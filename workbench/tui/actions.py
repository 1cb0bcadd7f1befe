"""The registry of actions: one list that bindings, footer, help, palette and the key sheet derive from.

An action has a stable id (`list.down`), the keys it has until a person remaps them, the context in which
its keys are live, and a function that says why it cannot run now. A page contributes its own actions as
`Page.ACTIONS`; the program's registry is the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from textual.binding import Binding

from workbench.tui.asked import HasAccess, HasPage

APP = "app"
"""Live everywhere."""
PAGE = "page"
"""Live on every screen; a page lists the optional ones that it offers in `Page.OFFERS`."""
LIST = "list"
"""Live while a list has the keys."""
PANE = "pane"
"""Live while a detail pane has the keys."""

DOOR = "door"
"""Live on the pages that stand before a workspace that is not open, and nowhere else."""

SHARED_CONTEXTS = (APP, PAGE, LIST, PANE, DOOR)

GROUPS = ("Screens", "Move", "Find", "Select and copy", "View", "Act", "Before opening", "Program")
"""The order in which help and the key sheet show the groups."""


def always(app: object) -> str:
    """The availability of an action that can always run."""
    return ""


def writing(app: HasAccess) -> str:
    """The availability of an action that changes the workspace."""
    return app.access.write_refusal


def opened(app: HasAccess) -> str:
    """The availability of an action that only reads the workspace."""
    return "" if app.access.workspace is not None else "the workspace is not open yet"


def travelling(app: HasAccess) -> str:
    """The availability of what is for the past only."""
    return "" if app.access.past else "the program shows what is now"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can do.

    `title` is the word or two of the footer; `description` a whole line for help; `keys` are Textual
    key names; `run` is the Textual action on the context's node (app, page, list or pane); `footer`
    ranks it in the footer, 0 keeps it out; `reason` returns why it cannot run now, else "".
    """

    id: str
    title: str
    description: str
    keys: tuple[str, ...]
    context: str
    group: str
    run: str
    footer: int = 0
    reason: Callable[[Any], str] = always
    """Takes the program; each function names as much of it as it asks."""
    optional: bool = False
    """A shared action that only some screens have; see `Page.OFFERS`."""


class Registry:
    """All actions of a program, in the order they were given.

    Raises `ValueError` for an id given twice: the registry is built from constants, so that is a
    programmer's mistake.
    """

    def __init__(self, actions: Iterable[Action]) -> None:
        self._actions: dict[str, Action] = {}
        for action in actions:
            if action.id in self._actions:
                raise ValueError(f"two actions are called {action.id}")
            self._actions[action.id] = action

    def __iter__(self) -> Iterator[Action]:
        return iter(self._actions.values())

    def __contains__(self, action_id: object) -> bool:
        return action_id in self._actions

    def __getitem__(self, action_id: str) -> Action:
        return self._actions[action_id]

    def ids(self) -> tuple[str, ...]:
        """Every id, in order."""
        return tuple(self._actions)

    def of(self, *contexts: str) -> list[Action]:
        """The actions of these contexts, in order."""
        return [action for action in self if action.context in contexts]


def bindings(actions: Iterable[Action]) -> list[Binding]:
    """Textual bindings for the actions, each with its action's id, so that a keymap can move it.

    All go through the program, which finds where the action runs and tells a person why it cannot
    instead of staying silent. What lives in a list or a pane is bound on a container (`live`) that lets
    the key pass while something else has the focus.
    """
    return [
        Binding(
            ",".join(action.keys),
            f"live({action.id!r})" if action.context in (LIST, PANE) else f"app.perform({action.id!r})",
            action.title,
            id=action.id,
            show=False,
        )
        for action in actions
    ]


def live_together(first: str, second: str) -> bool:
    """Whether keys of the two contexts can be live at one moment."""
    if DOOR in (first, second):
        return first == second or APP in (first, second)
    if first == second or APP in (first, second) or PAGE in (first, second):
        return True
    widgets = (LIST, PANE)
    return (first in widgets) != (second in widgets)


def screen_action(name: str, title: str, number: int) -> Action:
    """The action that opens the screen `name`, on the digit `number`."""
    return Action(
        f"screen.{name}",
        title,
        f"Open the {title} screen.",
        (str(number),),
        APP,
        "Screens",
        f"open_screen({name!r})",
    )


def _has_copy(app: HasPage) -> str:
    return "" if app.page is not None and app.page.copy_choices() else "nothing here to copy"


LIST_ACTIONS = (
    Action("list.down", "down", "Move to the next row.", ("j", "down"), LIST, "Move", "cursor_down"),
    Action("list.up", "up", "Move to the previous row.", ("k", "up"), LIST, "Move", "cursor_up"),
    Action(
        "list.page_down",
        "page down",
        "Move one page down.",
        ("full_stop", "pagedown"),
        LIST,
        "Move",
        "page_down",
    ),
    Action("list.page_up", "page up", "Move one page up.", ("comma", "pageup"), LIST, "Move", "page_up"),
    Action("list.first", "first", "Go to the first row.", ("g", "home"), LIST, "Move", "first"),
    Action("list.last", "last", "Go to the last row.", ("G", "end"), LIST, "Move", "last"),
    Action(
        "list.open", "open", "Go into the row under the cursor.", ("enter",), LIST, "Move", "open", footer=10
    ),
)

PANE_ACTIONS = (
    Action("pane.down", "down", "Scroll one line down.", ("j", "down"), PANE, "Move", "scroll_down"),
    Action("pane.up", "up", "Scroll one line up.", ("k", "up"), PANE, "Move", "scroll_up"),
    Action(
        "pane.page_down",
        "page down",
        "Scroll one page down.",
        ("full_stop", "pagedown"),
        PANE,
        "Move",
        "page_down",
    ),
    Action("pane.page_up", "page up", "Scroll one page up.", ("comma", "pageup"), PANE, "Move", "page_up"),
    Action("pane.first", "top", "Go to the top.", ("g", "home"), PANE, "Move", "scroll_home"),
    Action("pane.last", "end", "Go to the end.", ("G", "end"), PANE, "Move", "scroll_end"),
)

PAGE_ACTIONS = (
    Action(
        "page.next_pane", "next pane", "Give the keys to the next pane.", ("tab",), PAGE, "Move", "next_pane"
    ),
    Action(
        "page.previous_pane",
        "previous pane",
        "Give the keys to the previous pane.",
        ("shift+tab",),
        PAGE,
        "Move",
        "previous_pane",
    ),
    Action(
        "page.back",
        "back",
        "Leave what is open: a filter, a selection, the detail of a row.",
        ("escape",),
        PAGE,
        "Move",
        "back",
    ),
    Action(
        "page.next_tab",
        "next tab",
        "Show the next side of the detail.",
        ("right_square_bracket",),
        PAGE,
        "View",
        "next_tab",
        footer=40,
        optional=True,
    ),
    Action(
        "page.previous_tab",
        "previous tab",
        "Show the previous side of the detail.",
        ("left_square_bracket",),
        PAGE,
        "View",
        "previous_tab",
        optional=True,
    ),
    Action(
        "page.filter",
        "filter",
        "Narrow this list.",
        ("slash",),
        PAGE,
        "Find",
        "filter",
        footer=20,
        optional=True,
    ),
    Action(
        "page.next_hit", "next hit", "Go to the next hit.", ("n",), PAGE, "Find", "next_hit", optional=True
    ),
    Action(
        "page.previous_hit",
        "previous hit",
        "Go to the previous hit.",
        ("N",),
        PAGE,
        "Find",
        "previous_hit",
        optional=True,
    ),
    Action(
        "page.goto",
        "go to",
        "Go to a position, an id or a date.",
        ("colon",),
        PAGE,
        "Find",
        "goto",
        footer=30,
        optional=True,
    ),
    Action(
        "page.select",
        "select",
        "Select the row under the cursor, or drop it from the selection.",
        ("space",),
        PAGE,
        "Select and copy",
        "select",
        optional=True,
    ),
    Action(
        "page.select_range",
        "select range",
        "Start a selection here that moves with the cursor, or end it.",
        ("v",),
        PAGE,
        "Select and copy",
        "select_range",
        optional=True,
    ),
    Action(
        "page.copy",
        "copy",
        "Copy the id, text or another form of what is under the cursor.",
        ("y",),
        PAGE,
        "Select and copy",
        "copy",
        footer=60,
        reason=_has_copy,
        optional=True,
    ),
    Action(
        "page.sort",
        "sort",
        "Change the order of this list.",
        ("s",),
        PAGE,
        "View",
        "sort",
        footer=70,
        optional=True,
    ),
    Action(
        "page.enlarge", "enlarge", "Enlarge the pane that has the keys.", ("plus",), PAGE, "View", "enlarge"
    ),
    Action(
        "page.shrink", "shrink", "Shrink the pane that has the keys.", ("underscore",), PAGE, "View", "shrink"
    ),
    Action("page.refresh", "refresh", "Read this screen again.", ("R",), PAGE, "View", "refresh_page"),
)

APP_ACTIONS = (
    Action(
        "app.travel",
        "time travel",
        "Show what was known at an earlier moment, on every screen that can.",
        ("t",),
        APP,
        "View",
        "travel",
        footer=45,
        reason=opened,
    ),
    Action(
        "app.now",
        "now",
        "Come back from the past to what is now.",
        ("T",),
        APP,
        "View",
        "now",
        reason=travelling,
    ),
    Action(
        "app.palette",
        "palette",
        "Find any action by name and run it.",
        ("ctrl+p",),
        APP,
        "Program",
        "palette",
        footer=90,
    ),
    Action("app.theme", "theme", "Choose another theme.", ("ctrl+t",), APP, "Program", "choose_theme"),
    Action(
        "app.mouse",
        "mouse",
        "Hand the mouse to the terminal, to select text its way, or take it back.",
        ("M",),
        APP,
        "Program",
        "toggle_mouse",
    ),
    Action(
        "app.suspend",
        "suspend",
        "Suspend the program; fg returns.",
        ("ctrl+z",),
        APP,
        "Program",
        "suspend_process",
    ),
    Action(
        "app.help",
        "help",
        "What can be done here, each line runnable, and the guide.",
        ("question_mark",),
        APP,
        "Program",
        "help",
        footer=100,
    ),
    Action("app.quit", "quit", "Leave the program.", ("q", "ctrl+q"), APP, "Program", "leave"),
)

DOOR_ACTIONS = (
    Action(
        "door.migrate",
        "migrate",
        "Copy the database, migrate the workspace, and open it.",
        ("enter", "m"),
        DOOR,
        "Before opening",
        "migrate",
        footer=10,
    ),
    Action(
        "door.stop",
        "stop",
        "Stop the migration and roll back all that it did.",
        ("x",),
        DOOR,
        "Before opening",
        "stop",
        footer=20,
    ),
    Action(
        "door.try_again",
        "try again",
        "Try again to open the workspace.",
        ("R",),
        DOOR,
        "Before opening",
        "try_again",
        footer=30,
    ),
    Action(
        "door.copy", "copy", "Copy what the page says.", ("y",), DOOR, "Before opening", "copy", footer=40
    ),
    Action(
        "door.down",
        "down",
        "Scroll one line down.",
        ("j", "down"),
        DOOR,
        "Before opening",
        "scroll_text(1)",
    ),
    Action("door.up", "up", "Scroll one line up.", ("k", "up"), DOOR, "Before opening", "scroll_text(-1)"),
)

BASE_ACTIONS = LIST_ACTIONS + PANE_ACTIONS + PAGE_ACTIONS + DOOR_ACTIONS + APP_ACTIONS
"""What every screen shares."""

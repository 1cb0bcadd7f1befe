"""What can be done on the Facts screen, for the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from workbench.tui.actions import Action, writing
from workbench.tui.shapes import has_shape
from workbench.workspace.fact_rows import FactFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.memory.events import Evidence
    from workbench.tui.shell import Shell
    from workbench.workspace.fact_rows import FactRow

NAME = "facts"


@runtime_checkable
class ShowsFacts(Protocol):
    """The screen that these actions are for."""

    wanted: FactFilter

    @property
    def cursor_fact(self) -> FactRow | None:
        """The fact under the list's cursor."""
        ...

    @property
    def target_position(self) -> int:
        """Where the fact that the keys act on was asserted; 0 where there is none."""
        ...

    @property
    def target_evidence(self) -> Sequence[Evidence]:
        """The files behind that fact."""
        ...

    @property
    def target_session(self) -> str:
        """The session that its author named; empty for none."""
        ...


def _page(app: Shell) -> ShowsFacts | None:
    page = app.page
    if page is None or page.NAME != NAME or not has_shape(page, ShowsFacts):
        return None
    return cast(ShowsFacts, page)


def _has_filter(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.wanted != FactFilter() else "no filter is set"


def _has_fact(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.target_position else "there is no fact here"


def _has_timeline(app: Shell) -> str:
    return _has_fact(app) if app.has_screen("timeline") else "there is no Timeline screen"


def _has_chronicle(app: Shell) -> str:
    return _has_fact(app) if app.has_screen("chronicle") else "there is no Chronicle screen"


def _has_evidence(app: Shell) -> str:
    page = _page(app)
    if page is not None and page.target_position and not page.target_evidence:
        return "nothing was given as evidence for this value"
    return _has_fact(app)


def _has_session(app: Shell) -> str:
    if not app.has_screen("sessions"):
        return "there is no Sessions screen"
    page = _page(app)
    if page is not None and page.target_position and not page.target_session:
        return "its author named no session"
    return _has_fact(app)


def _can_judge(app: Shell) -> str:
    return _has_fact(app) or writing(app)


def _can_supersede(app: Shell) -> str:
    page = _page(app)
    if page is None or page.cursor_fact is None:
        return "there is no fact here"
    return writing(app)


def _has_task(app: Shell) -> str:
    if not app.has_screen("handoffs"):
        return "there is no Handoffs screen"
    page = _page(app)
    if page is not None and page.cursor_fact is not None and not page.cursor_fact.task_id:
        return "it belongs to no task"
    return _has_fact(app)


def _open(app: Shell) -> str:
    return "" if app.workspace is not None else "the workspace is not open yet"


FACT_ACTIONS = (
    Action(
        "facts.supersede",
        "supersede",
        "Decide what this slot holds from now on: a new value in your name, and why.",
        ("S",),
        NAME,
        "Act",
        "supersede",
        footer=30,
        reason=_can_supersede,
    ),
    Action(
        "facts.review",
        "review",
        "Give a verdict on this value: accepted, questioned or rejected.",
        ("r",),
        NAME,
        "Act",
        "review",
        footer=32,
        reason=_can_judge,
    ),
    Action(
        "facts.evidence",
        "evidence",
        "Show a file that was given as evidence for this value.",
        ("e",),
        NAME,
        "View",
        "evidence",
        footer=28,
        reason=_has_evidence,
    ),
    Action(
        "facts.timeline",
        "event",
        "Show on the Timeline the event that asserted this value; enter on a link does the same.",
        ("l",),
        NAME,
        "View",
        "show_on_timeline",
        footer=50,
        reason=_has_timeline,
    ),
    Action(
        "facts.chronicle",
        "chronicle",
        "Show the section of the chronicle that tells of the event that asserted this value.",
        ("C",),
        NAME,
        "View",
        "open_chronicle",
        reason=_has_chronicle,
    ),
    Action(
        "facts.session",
        "session",
        "Open the session in which its author asserted this value.",
        ("o",),
        NAME,
        "View",
        "open_session",
        reason=_has_session,
    ),
    Action(
        "facts.task",
        "task",
        "Show the task that this fact belongs to on Handoffs.",
        ("h",),
        NAME,
        "View",
        "open_task",
        reason=_has_task,
    ),
    Action(
        "facts.whole",
        "whole texts",
        "Show long values and reasons of the chain whole, or cut again.",
        ("w",),
        NAME,
        "View",
        "toggle_whole",
        reason=_has_fact,
    ),
    Action(
        "facts.narrow",
        "narrow",
        "Narrow the list to a kind, to what is disputed, or to slots whose spellings disagree.",
        ("f",),
        NAME,
        "Find",
        "narrow",
        footer=25,
        reason=_open,
    ),
    Action(
        "facts.clear",
        "clear filters",
        "Show every fact again.",
        ("c",),
        NAME,
        "Find",
        "clear_filters",
        reason=_has_filter,
    ),
    Action(
        "facts.drop",
        "drop a filter",
        "Take away the last part of the filter.",
        ("minus",),
        NAME,
        "Find",
        "drop_filter",
        reason=_has_filter,
    ),
)

"""What can be done on the Handoffs screen, for the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from workbench.tui.actions import Action, writing
from workbench.tui.handoffs.desk_rows import FilePick, LinePick, ObservationPick, Pick
from workbench.tui.shapes import has_shape
from workbench.workspace.rows import HandoffFilter

if TYPE_CHECKING:
    from workbench.memory.handoff_views import Handoff
    from workbench.tui.shell import Shell

NAME = "handoffs"


@runtime_checkable
class ShowsHandoffs(Protocol):
    """The screen that these actions are for."""

    wanted: HandoffFilter

    @property
    def cursor_handoff(self) -> Handoff | None:
        """The task under the cursor."""
        ...

    @property
    def picked(self) -> Pick | None:
        """What the line of the detail that has the cursor stands for."""
        ...


def _page(app: Shell) -> ShowsHandoffs | None:
    page = app.page
    if page is None or page.NAME != NAME or not has_shape(page, ShowsHandoffs):
        return None
    return cast(ShowsHandoffs, page)


def _has_task(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.cursor_handoff is not None else "there is no task here"


def _may_judge(app: Shell) -> str:
    return writing(app) or _has_task(app)


def _has_filter(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.wanted != HandoffFilter() else "no filter is set"


def _has_session(app: Shell) -> str:
    if not app.has_screen("sessions"):
        return "there is no Sessions screen"
    page = _page(app)
    row = page.cursor_handoff if page is not None else None
    if row is None:
        return "there is no task here"
    return "" if row.session_id else "the checkpoint names no session"


def _has_timeline(app: Shell) -> str:
    return _has_task(app) if app.has_screen("timeline") else "there is no Timeline screen"


def _has_chronicle(app: Shell) -> str:
    return _has_task(app) if app.has_screen("chronicle") else "there is no Chronicle screen"


def has_files(pick: Pick | None) -> bool:
    """Whether a line stands for a source file, or rests on some."""
    if isinstance(pick, LinePick | ObservationPick):
        return bool(pick.files)
    return isinstance(pick, FilePick)


HANDOFF_ACTIONS = (
    Action(
        "handoffs.review",
        "verdict",
        "Give a verdict: on the checkpoint, or on the line of the detail under the cursor.",
        ("r",),
        NAME,
        "Act",
        "review",
        footer=12,
        reason=_may_judge,
    ),
    Action(
        "handoffs.next_waiting",
        "next waiting",
        "Go to the next task that waits for a verdict.",
        ("u",),
        NAME,
        "Move",
        "next_waiting(1)",
        footer=14,
    ),
    Action(
        "handoffs.previous_waiting",
        "waiting before",
        "Go to the task before that waits for a verdict.",
        ("U",),
        NAME,
        "Move",
        "next_waiting(-1)",
    ),
    Action(
        "handoffs.accept_all",
        "accept",
        "Accept the checkpoints of the selected tasks; asks once.",
        ("A",),
        NAME,
        "Act",
        "accept_all",
        reason=_may_judge,
    ),
    Action(
        "handoffs.evidence",
        "evidence",
        "Show the source file of the line under the cursor; without one the list of the task's files, "
        "and from that list the file.",
        ("e",),
        NAME,
        "View",
        "evidence",
        footer=42,
        reason=_has_task,
    ),
    Action(
        "handoffs.follow",
        "follow",
        "From a line of the detail to what it stands for: events near it, a file, two checkpoints compared.",
        ("f",),
        NAME,
        "Move",
        "follow",
        reason=_has_task,
    ),
    Action(
        "handoffs.timeline",
        "timeline",
        "Show the hand-off, or the entry under the cursor, among the events near it.",
        ("E",),
        NAME,
        "Move",
        "show_on_timeline",
        reason=_has_timeline,
    ),
    Action(
        "handoffs.chronicle",
        "chronicle",
        "Show the section of the chronicle that tells of the hand-off, or of the entry under the cursor.",
        ("C",),
        NAME,
        "Move",
        "open_chronicle",
        reason=_has_chronicle,
    ),
    Action(
        "handoffs.session",
        "session",
        "Open the session in which the checkpoint was recorded.",
        ("o",),
        NAME,
        "Move",
        "open_session",
        reason=_has_session,
    ),
    Action(
        "handoffs.waiting",
        "only waiting",
        "Only the tasks that wait for you, or all of them again.",
        ("w",),
        NAME,
        "Find",
        "toggle_waiting",
        footer=22,
    ),
    Action(
        "handoffs.closed",
        "closed too",
        "Completed and cancelled tasks, too, or only open ones again.",
        ("d",),
        NAME,
        "Find",
        "toggle_closed",
        footer=24,
    ),
    Action(
        "handoffs.clear",
        "clear filters",
        "Every open task again.",
        ("c",),
        NAME,
        "Find",
        "clear_filters",
        reason=_has_filter,
    ),
)

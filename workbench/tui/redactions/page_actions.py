"""What can be done on the Redactions screen, for the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from workbench.tui.actions import Action, writing
from workbench.tui.shapes import has_shape
from workbench.workspace.rows import RedactionFilter

if TYPE_CHECKING:
    from workbench.tui.redactions.look_job import LookJob
    from workbench.tui.shell import Shell
    from workbench.workspace.rows import RedactionRow

NAME = "redactions"


@runtime_checkable
class ShowsRedactions(Protocol):
    """The screen that these actions are for."""

    wanted: RedactionFilter
    job: LookJob | None
    """What this screen runs or ran last."""
    reported: LookJob | None
    """What the last report is of."""

    @property
    def cursor_redaction(self) -> RedactionRow | None:
        """The redaction under the cursor."""
        ...


def _page(app: Shell) -> ShowsRedactions | None:
    page = app.page
    if page is None or page.NAME != NAME or not has_shape(page, ShowsRedactions):
        return None
    return cast(ShowsRedactions, page)


def _open(app: Shell) -> str:
    return "" if app.workspace is not None else "the workspace is not open yet"


def _has_filter(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.wanted != RedactionFilter() else "no filter is set"


def _has_event(app: Shell) -> str:
    page = _page(app)
    row = page.cursor_redaction if page is not None else None
    if row is None:
        return "there is no redaction here"
    return "" if row.position else "it stood in no event"


def _has_stream(app: Shell) -> str:
    page = _page(app)
    if page is not None and page.wanted.stream:
        return ""
    return _has_event(app)


def _can_open(app: Shell) -> str:
    has_sessions = app.has_screen("sessions")
    page = _page(app)
    row = page.cursor_redaction if page is not None else None
    if not (has_sessions or app.has_screen("timeline")):
        return "there is no screen of sessions or events"
    return _has_event(app) if row is None or not row.chronicum_id or not has_sessions else ""


def _has_timeline(app: Shell) -> str:
    if not app.has_screen("timeline"):
        return "there is no Timeline screen"
    return _has_event(app)


def _rescanning(app: Shell) -> str:
    page = _page(app)
    if (
        page is not None
        and page.job is not None
        and page.job.running
        and page.job.kind == "look into backups"
    ):
        return "the backups are being looked into"
    return _open(app)


def _scrubbing(app: Shell) -> str:
    page = _page(app)
    if page is not None and page.job is not None and page.job.running and page.job.kind == "scrub":
        # Its key shows how far it is.
        return ""
    workspace = app.workspace
    live = workspace.jobs.live() if workspace is not None else ()
    if live:
        return f"a job is running: {live[0].title}"
    return writing(app)


def _looking(app: Shell) -> str:
    page = _page(app)
    if page is not None and page.job is not None and page.job.running:
        return f"a job is running: {page.job.kind}"
    return _open(app)


def _stoppable(app: Shell) -> str:
    page = _page(app)
    if page is None or page.job is None or not page.job.running:
        return "nothing of this screen is running"
    return "it is stopping" if page.job.stopping else ""


def _reported(app: Shell) -> str:
    page = _page(app)
    if page is not None and page.reported is not None:
        return ""
    return "nothing was looked through since the program was started"


REDACTION_ACTIONS = (
    Action(
        "redactions.pad",
        "try filter",
        "Try the filter on a text that you type or paste; nothing of it is stored.",
        ("p",),
        NAME,
        "Act",
        "pad",
        footer=32,
    ),
    Action(
        "redactions.rescan",
        "rescan",
        "Look through all that is stored with today's filter; nothing is changed.",
        ("d",),
        NAME,
        "Act",
        "rescan",
        footer=30,
        reason=_rescanning,
    ),
    Action(
        "redactions.scrub",
        "scrub",
        "Take out of all that is stored what today's filter finds; asks first.",
        ("X",),
        NAME,
        "Act",
        "scrub",
        footer=55,
        reason=_scrubbing,
    ),
    Action(
        "redactions.backups",
        "backups",
        "Look whether copies of the database hold what today's filter takes out.",
        ("b",),
        NAME,
        "Act",
        "look_into_backups",
        reason=_looking,
    ),
    Action(
        "redactions.report",
        "report",
        "Show again what the last rescan or scrub of this program came to.",
        ("h",),
        NAME,
        "View",
        "report",
        reason=_reported,
    ),
    Action(
        "redactions.stop",
        "stop",
        "Stop the rescan, the scrub or the look into the backups.",
        ("x",),
        NAME,
        "Act",
        "stop_job",
        reason=_stoppable,
    ),
    Action(
        "redactions.open",
        "session",
        "Open the session at the event that held it, else the Timeline; enter in the detail does the same.",
        ("o",),
        NAME,
        "Act",
        "open_event",
        footer=50,
        reason=_can_open,
    ),
    Action(
        "redactions.timeline",
        "timeline",
        "Show the event that held it on the Timeline.",
        ("l",),
        NAME,
        "Act",
        "show_on_timeline",
        reason=_has_timeline,
    ),
    Action(
        "redactions.narrow",
        "narrow",
        "Narrow the list to a kind or to an actor.",
        ("f",),
        NAME,
        "Find",
        "narrow",
        footer=25,
        reason=_open,
    ),
    Action(
        "redactions.range",
        "when",
        "Narrow the list to when redactions were noted.",
        ("w",),
        NAME,
        "Find",
        "range",
        reason=_open,
    ),
    Action(
        "redactions.stream",
        "this stream",
        "Show only what the stream (the session) of this event held, or all streams again.",
        ("a",),
        NAME,
        "Find",
        "toggle_stream",
        reason=_has_stream,
    ),
    Action(
        "redactions.clear",
        "clear filters",
        "Show every redaction again.",
        ("c",),
        NAME,
        "Find",
        "clear_filters",
        reason=_has_filter,
    ),
    Action(
        "redactions.drop",
        "drop a filter",
        "Take away the last part of the filter.",
        ("minus",),
        NAME,
        "Find",
        "drop_filter",
        reason=_has_filter,
    ),
    Action(
        "redactions.utc",
        "UTC",
        "Show times in UTC, or in the workspace's time zone again.",
        ("u",),
        NAME,
        "View",
        "toggle_utc",
    ),
)

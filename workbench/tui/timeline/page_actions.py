"""What can be done on the Timeline, for the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.drawing.memory_words import CHECKPOINT, FACT, OBSERVATION
from workbench.tui.actions import Action
from workbench.tui.timeline.event_words import text_of

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.screens.timeline import TimelinePage


def _page(app: WorkbenchApp) -> TimelinePage | None:
    from workbench.tui.screens.timeline import TimelinePage

    page = app.page
    return page if isinstance(page, TimelinePage) else None


def _has_filter(app: WorkbenchApp) -> str:
    page = _page(app)
    return "" if page is not None and page.wanted else "no filter is set"


def _has_event(app: WorkbenchApp) -> str:
    page = _page(app)
    return "" if page is not None and page.cursor_event is not None else "there is no event here"


def _has_session(app: WorkbenchApp) -> str:
    if not any(page.NAME == "sessions" for page in app.PAGES):
        return "there is no Sessions screen"
    page = _page(app)
    row = page.cursor_event if page is not None else None
    return "" if row is not None and text_of(row, "chronicum_id") else "this event belongs to no session"


def _has_evidence(app: WorkbenchApp) -> str:
    page = _page(app)
    row = page.cursor_event if page is not None else None
    if row is None or row.type not in (OBSERVATION, FACT, CHECKPOINT):
        return "only what agents recorded in the memory has evidence"
    if row.type == OBSERVATION and row.whole and not row.payload.get("evidence"):
        return "this observation names no evidence"
    return ""


def _has_earlier(app: WorkbenchApp) -> str:
    page = _page(app)
    return "" if page is not None and page.busy_cell(-1) is not None else "nothing happened before that"


def _has_later(app: WorkbenchApp) -> str:
    page = _page(app)
    return "" if page is not None and page.busy_cell(1) is not None else "nothing happened after that"


TIMELINE_ACTIONS = (
    Action(
        "timeline.narrow",
        "narrow",
        "Narrow the timeline to types of events, to actors, to what is private or public.",
        ("f",),
        "timeline",
        "Find",
        "narrow",
        footer=25,
    ),
    Action(
        "timeline.range",
        "when",
        "Narrow the timeline to a time: that of the bar under the cursor is offered.",
        ("w",),
        "timeline",
        "Find",
        "range",
        footer=26,
    ),
    Action(
        "timeline.stream",
        "this stream",
        "Show only the stream (the session) of this event, or all streams again.",
        ("a",),
        "timeline",
        "Find",
        "toggle_stream",
        reason=_has_event,
    ),
    Action(
        "timeline.clear",
        "clear filters",
        "Show every event again.",
        ("c",),
        "timeline",
        "Find",
        "clear_filters",
        reason=_has_filter,
    ),
    Action(
        "timeline.drop",
        "drop a filter",
        "Take away the last part of the filter.",
        ("minus",),
        "timeline",
        "Find",
        "drop_filter",
        reason=_has_filter,
    ),
    Action(
        "timeline.earlier",
        "earlier",
        "Go to the next bar of the activity strip to the left: to the last event in it.",
        ("less_than_sign",),
        "timeline",
        "Move",
        "step_activity(-1)",
        reason=_has_earlier,
    ),
    Action(
        "timeline.later",
        "later",
        "Go to the next bar of the activity strip to the right: to the last event in it.",
        ("greater_than_sign",),
        "timeline",
        "Move",
        "step_activity(1)",
        reason=_has_later,
    ),
    Action(
        "timeline.session",
        "session",
        "Open this event's session at this event.",
        ("o",),
        "timeline",
        "Act",
        "open_session",
        footer=50,
        reason=_has_session,
    ),
    Action(
        "timeline.evidence",
        "evidence",
        "Show the files that this event rests on.",
        ("e",),
        "timeline",
        "Act",
        "open_evidence",
        footer=45,
        reason=_has_evidence,
    ),
    Action(
        "timeline.utc",
        "UTC",
        "Show times in UTC, or in the workspace's time zone again.",
        ("u",),
        "timeline",
        "View",
        "toggle_utc",
    ),
)

"""What can be done on the Timeline, for the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from workbench.tui.actions import Action, writing
from workbench.tui.shapes import has_shape
from workbench.tui.timeline.event_words import text_of

if TYPE_CHECKING:
    from workbench.tui.shell import Shell
    from workbench.workspace.readers.event_links import EventLinks
    from workbench.workspace.rows import EventRow, TimelineFilter

NAME = "timeline"


@runtime_checkable
class ShowsEvents(Protocol):
    """The screen that these actions are for."""

    wanted: TimelineFilter

    @property
    def cursor_event(self) -> EventRow | None:
        """The event under the cursor."""
        ...

    @property
    def links(self) -> EventLinks | None:
        """What that event belongs to; None while it is read."""
        ...

    def busy_cell(self, step: int) -> int | None:
        """The next bar to one side."""
        ...


def _page(app: Shell) -> ShowsEvents | None:
    page = app.page
    if page is None or page.NAME != NAME or not has_shape(page, ShowsEvents):
        return None
    return cast(ShowsEvents, page)


def _has_filter(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.wanted else "no filter is set"


def _has_event(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.cursor_event is not None else "there is no event here"


def _has_session(app: Shell) -> str:
    if not app.has_screen("sessions"):
        return "there is no Sessions screen"
    page = _page(app)
    row = page.cursor_event if page is not None else None
    if row is not None and text_of(row, "chronicum_id"):
        return ""
    links = _links(app)
    if _reading(app):
        return ""
    return "" if links is not None and links.session is not None else "this event belongs to no session"


def _has_chronicle(app: Shell) -> str:
    if not app.has_screen("chronicle"):
        return "there is no Chronicle screen"
    page = _page(app)
    return "" if page is not None and page.cursor_event is not None else "there is no event here"


def _links(app: Shell) -> EventLinks | None:
    page = _page(app)
    return page.links if page is not None else None


def _reading(app: Shell) -> bool:
    """What the event under the cursor belongs to is being read: an action waits for it."""
    page = _page(app)
    return page is not None and page.cursor_event is not None and page.links is None


def _has_task(app: Shell) -> str:
    if not app.has_screen("handoffs"):
        return "there is no Handoffs screen"
    links = _links(app)
    if _reading(app):
        return ""
    return "" if links is not None and links.task is not None else "this event belongs to no task"


def _has_fact(app: Shell) -> str:
    if not app.has_screen("facts"):
        return "there is no Facts screen"
    links = _links(app)
    if _reading(app):
        return ""
    return "" if links is not None and links.fact_id else "this event asserts no fact"


def _has_cause(app: Shell) -> str:
    links = _links(app)
    if _reading(app):
        return ""
    return "" if links is not None and links.cause else "no other event caused this one"


def _has_evidence(app: Shell) -> str:
    links = _links(app)
    if _reading(app):
        return ""
    return "" if links is not None and links.evidence else "this event names no source file"


def _withholding(app: Shell) -> str:
    refusal = writing(app)
    links = _links(app)
    if refusal or _reading(app):
        return refusal
    if links is None or not links.observation_id:
        return "only observations can be withheld from agents"
    return "" if links.quarantined or not links.asserts else "it asserts a fact: reject or supersede that"


def _judging(app: Shell) -> str:
    refusal = writing(app)
    links = _links(app)
    if refusal or _reading(app):
        return refusal
    known = links is not None and links.target_kind
    return "" if known else "verdicts are about checkpoints, facts and observations"


def _has_earlier(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.busy_cell(-1) is not None else "nothing happened before that"


def _has_later(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.busy_cell(1) is not None else "nothing happened after that"


LEADS = frozenset(
    f"timeline.{name}" for name in ("session", "task", "fact", "evidence", "verdict", "quarantine")
)
"""What the footer names only for events that have it, or where nothing can be written at all."""

TIMELINE_ACTIONS = (
    Action(
        "timeline.narrow",
        "narrow",
        "Narrow the timeline to projects, tasks, agents, categories, types, actors, to private or public.",
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
        footer=39,
        reason=_has_session,
    ),
    Action(
        "timeline.chronicle",
        "chronicle",
        "Show the section of the chronicle that stands for this event.",
        ("C",),
        "timeline",
        "Act",
        "open_chronicle",
        reason=_has_chronicle,
    ),
    Action(
        "timeline.task",
        "task",
        "Show the task that this event belongs to on Handoffs.",
        ("h",),
        "timeline",
        "Act",
        "open_task",
        footer=36,
        reason=_has_task,
    ),
    Action(
        "timeline.fact",
        "fact",
        "Show the fact that this event asserts or confirms on Facts.",
        ("i",),
        "timeline",
        "Act",
        "open_fact",
        footer=37,
        reason=_has_fact,
    ),
    Action(
        "timeline.cause",
        "cause",
        "Go to the event that caused this one.",
        ("b",),
        "timeline",
        "Act",
        "open_cause",
        reason=_has_cause,
    ),
    Action(
        "timeline.evidence",
        "evidence",
        "Show the files that this event rests on.",
        ("e",),
        "timeline",
        "Act",
        "open_evidence",
        footer=38,
        reason=_has_evidence,
    ),
    Action(
        "timeline.verdict",
        "verdict",
        "Give a verdict on this checkpoint, fact or observation, which the next agent reads.",
        ("r",),
        "timeline",
        "Act",
        "verdict",
        footer=35,
        reason=_judging,
    ),
    Action(
        "timeline.quarantine",
        "withhold",
        "Withhold this observation from every agent, or release it.",
        ("x",),
        "timeline",
        "Act",
        "quarantine",
        footer=55,
        reason=_withholding,
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

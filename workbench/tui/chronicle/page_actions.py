"""What can be done on the Chronicle screen, for the registry of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from workbench.tui.actions import Action, writing
from workbench.tui.chronicle.nodes import OlderNode, OpenNode, RangeNode, StreamNode, range_of
from workbench.tui.shapes import has_shape

if TYPE_CHECKING:
    from workbench.tui.chronicle.nodes import Node
    from workbench.tui.shell import Shell

NAME = "chronicle"
JOB = "chronicle"
"""The kind of the jobs that write chronicles."""


@runtime_checkable
class ShowsChronicles(Protocol):
    """The screen that these actions are for."""

    wanted: str

    @property
    def cursor_node(self) -> Node | None:
        """The row under the list's cursor."""
        ...


def _page(app: Shell) -> ShowsChronicles | None:
    page = app.page
    if page is None or page.NAME != NAME or not has_shape(page, ShowsChronicles):
        return None
    return cast(ShowsChronicles, page)


def _node(app: Shell) -> Node | None:
    page = _page(app)
    return None if page is None else page.cursor_node


def _has_stream(app: Shell) -> str:
    return "" if _node(app) is not None else "there is no stream here"


def _has_sections(app: Shell) -> str:
    node = _node(app)
    if isinstance(node, StreamNode | OpenNode) and not node.row.sections:
        return "it has no section yet"
    return _has_stream(app)


def _has_range(app: Shell) -> str:
    node = _node(app)
    if isinstance(node, StreamNode):
        return "a stream is no range of events: open it, and go to one"
    return "" if node is not None else "there is no section here"


def _has_tree(app: Shell) -> str:
    page = _page(app)
    if page is not None and page.wanted:
        return "a search shows no tree"
    return _has_stream(app)


def _can_write(app: Shell) -> str:
    return writing(app) or _has_stream(app)


def _can_write_again(app: Shell) -> str:
    refused = writing(app)
    if refused:
        return refused
    match _node(app):
        case RangeNode():
            return ""
        case OlderNode():
            return "it is superseded: only the newest of a range can be written again"
        case _:
            return "there is no section here"


def _can_show_event(app: Shell) -> str:
    node = _node(app)
    if not app.has_screen("timeline"):
        return "there is no Timeline screen"
    return "" if node is not None and range_of(node) is not None else _has_range(app)


def _can_show_session(app: Shell) -> str:
    node = _node(app)
    if not app.has_screen("sessions"):
        return "there is no Sessions screen"
    if node is not None and not node.stream.startswith("session/"):
        return "its events are of no session"
    return _has_stream(app)


def _has_filter(app: Shell) -> str:
    page = _page(app)
    return "" if page is not None and page.wanted else "nothing is searched for"


def _stoppable(app: Shell) -> str:
    workspace = app.workspace
    live = () if workspace is None else workspace.jobs.live()
    return "" if any(row.kind == JOB for row in live) else "no chronicle is being written here"


CHRONICLE_ACTIONS = (
    Action(
        "chronicle.consolidate",
        "consolidate",
        "Write up what is closed of this stream and in no section yet.",
        ("C",),
        NAME,
        "Act",
        "consolidate",
        footer=28,
        reason=_can_write,
    ),
    Action(
        "chronicle.consolidate_all",
        "write all up",
        "Write up what is closed, in every stream that lags.",
        ("A",),
        NAME,
        "Act",
        "consolidate_all",
        reason=writing,
    ),
    Action(
        "chronicle.again",
        "write again",
        "Write this section again: its prose stays, and the new one supersedes it. Asks first.",
        ("W",),
        NAME,
        "Act",
        "write_again",
        footer=32,
        reason=_can_write_again,
    ),
    Action(
        "chronicle.stop",
        "stop",
        "Stop the writing of chronicles; what was written stays.",
        ("x",),
        NAME,
        "Act",
        "stop_job",
        reason=_stoppable,
    ),
    Action(
        "chronicle.export",
        "export",
        "Write every section of this stream into a file.",
        ("E",),
        NAME,
        "Act",
        "export",
        reason=_has_sections,
    ),
    Action(
        "chronicle.load",
        "load",
        "Read sections of this stream from a file.",
        ("L",),
        NAME,
        "Act",
        "load",
        reason=_can_write,
    ),
    Action(
        "chronicle.rebuild",
        "rebuild",
        "Throw away all prose of this stream and have it written anew; to be confirmed by typing.",
        ("X",),
        NAME,
        "Act",
        "rebuild",
        reason=_can_write,
    ),
    Action(
        "chronicle.events",
        "events",
        "Show exactly the events that this section stands for; enter in its text does the same.",
        ("e",),
        NAME,
        "View",
        "show_events",
        footer=24,
        reason=_has_range,
    ),
    Action(
        "chronicle.timeline",
        "timeline",
        "Show the event, or the first one of the range, on the Timeline; enter on an event does the same.",
        ("l",),
        NAME,
        "View",
        "show_on_timeline",
        footer=50,
        reason=_can_show_event,
    ),
    Action(
        "chronicle.session",
        "session",
        "Open the session at the event, or at the first one of the range.",
        ("o",),
        NAME,
        "View",
        "open_session",
        reason=_can_show_session,
    ),
    Action(
        "chronicle.open",
        "open",
        "Show the sections of this stream under it; enter on it does the same.",
        ("right",),
        NAME,
        "View",
        "open_node",
        reason=_has_tree,
    ),
    Action(
        "chronicle.shut",
        "close",
        "Show the stream that the cursor is in without its sections.",
        ("left",),
        NAME,
        "View",
        "shut_node",
        reason=_has_tree,
    ),
    Action(
        "chronicle.brief",
        "copy brief",
        "Copy what an agent is told of this stream: prose, and the newest events word for word.",
        ("b",),
        NAME,
        "Select and copy",
        "copy_brief",
        footer=55,
        reason=_has_stream,
    ),
    Action(
        "chronicle.clear",
        "clear search",
        "Show every chronicle again.",
        ("c",),
        NAME,
        "Find",
        "clear_filters",
        reason=_has_filter,
    ),
)

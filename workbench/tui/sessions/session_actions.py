"""What can be done on the Sessions screen only: keys, words, and why something cannot be done now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.actions import Action, writing
from workbench.tui.sessions.detail import SessionDetail
from workbench.tui.sessions.detail_sides import SWITCHES

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.sessions.entry_source import Entry

NAME = "sessions"


def _detail(app: WorkbenchApp) -> SessionDetail | None:
    # Kept by its screen, not looked for among the widgets: a dozen actions ask for it at every key.
    detail = getattr(app.page, "detail", None)
    return detail if isinstance(detail, SessionDetail) else None


def _in_session(app: WorkbenchApp) -> str:
    detail = _detail(app)
    return "" if detail is not None and detail.session is not None else "no session is open"


def _foldable(app: WorkbenchApp) -> str:
    detail = _detail(app)
    if detail is None or detail.session is None:
        return "no session is open"
    return "" if detail.side == "acta" else "only acta can be folded or shown raw"


def _entry(app: WorkbenchApp) -> Entry | None:
    detail = _detail(app)
    return None if detail is None else detail.entry


def _has_act(app: WorkbenchApp) -> str:
    if not app.has_screen("timeline"):
        return "there is no Timeline screen"
    return "" if _entry(app) is not None else "the cursor is not on an act"


def _has_chronicle(app: WorkbenchApp) -> str:
    return _in_session(app) if app.has_screen("chronicle") else "there is no Chronicle screen"


def _into(app: WorkbenchApp) -> str:
    entry = _entry(app)
    has_child = entry is not None and entry.actum.child_seq is not None
    return "" if has_child else "the cursor is not on a call that started a sub-agent"


def _out(app: WorkbenchApp) -> str:
    entry = _entry(app)
    if entry is not None and (
        entry.actum.metadata.get("parent") or (not entry.is_call and entry.actum.reply_seq is not None)
    ):
        return ""
    return "the cursor is not on a sub-agent's act or on a result"


def _answered(app: WorkbenchApp) -> str:
    entry = _entry(app)
    if entry is None or not entry.is_call:
        return "the cursor is not on a tool call"
    return "" if entry.actum.reply_seq is not None else "this call has no response"


def _switch(name: str, key: str) -> Action:
    action_id, title = SWITCHES[name]
    what = f"Show or hide {title}." if name != "unit_closed" else "Show or hide where units were closed."
    return Action(action_id, title, what, (key,), NAME, "View", f"switch({name!r})", reason=_in_session)


ACTIONS = (
    Action(
        "sessions.import",
        "import",
        "Import transcripts of Claude Code and Codex.",
        ("i",),
        NAME,
        "Act",
        "import_transcripts",
        footer=50,
        reason=writing,
    ),
    Action(
        "sessions.timeline",
        "timeline",
        "Show this act among all events on the Timeline.",
        ("o",),
        NAME,
        "Act",
        "show_on_timeline",
        reason=_has_act,
    ),
    Action(
        "sessions.chronicle",
        "chronicle",
        "Show the section of the chronicle that stands for this act, or the session's chronicle.",
        ("C",),
        NAME,
        "Act",
        "open_chronicle",
        reason=_has_chronicle,
    ),
    Action(
        "sessions.form",
        "fold/raw",
        "Fold results into their calls, or unfold them; of an open act: its raw form.",
        ("f",),
        NAME,
        "View",
        "form",
        footer=45,
        reason=_foldable,
    ),
    _switch("message", "m"),
    _switch("thought", "h"),
    _switch("tool_request", "c"),
    _switch("tool_response", "x"),
    _switch("unit_closed", "u"),
    _switch("human", "p"),
    _switch("agent", "a"),
    _switch("system", "w"),
    Action(
        "sessions.into",
        "into",
        "Go from a call to the first act of its sub-agent.",
        ("greater_than_sign",),
        NAME,
        "Move",
        "into",
        reason=_into,
    ),
    Action(
        "sessions.out",
        "out",
        "Go back: from a sub-agent's act, or from a result, to its call.",
        ("less_than_sign",),
        NAME,
        "Move",
        "out",
        reason=_out,
    ),
    Action(
        "sessions.response",
        "result",
        "Go from a call to its result.",
        ("l",),
        NAME,
        "Move",
        "response",
        reason=_answered,
    ),
    Action(
        "sessions.fewer",
        "fewer",
        "Hand over fewer acta in the context window.",
        ("minus",),
        NAME,
        "View",
        "last_n(-1)",
        reason=_in_session,
    ),
    Action(
        "sessions.more",
        "more",
        "Hand over more acta in the context window.",
        ("equals_sign",),
        NAME,
        "View",
        "last_n(1)",
        reason=_in_session,
    ),
    Action(
        "sessions.last_n",
        "how many",
        "Say how many acta the context window hands over.",
        ("number_sign",),
        NAME,
        "View",
        "ask_last_n",
        reason=_in_session,
    ),
)

SIDE_FOOTERS: dict[str, dict[str, int]] = {
    "sessions.form": {"acta": 45},
    "sessions.fewer": {"window": 11},
    "sessions.more": {"window": 12},
    "sessions.last_n": {"window": 13},
}
"""Ranks in the footer of what only some sides of a session have, by the side."""

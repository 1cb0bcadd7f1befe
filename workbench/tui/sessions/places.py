"""Where a person can go on the Sessions screen, from what they typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.errors import WorkbenchError
from workbench.tui.present import one_line
from workbench.workspace.rows import TimelineFilter

if TYPE_CHECKING:
    from workbench.workspace import Workspace

HINT = "the number of an act in this session, a position of the log, or a session's id"
"""What can be typed."""


class Place(NamedTuple):
    """A session and, maybe, an act in it."""

    session_id: str
    seq: int | None


class NoSuchPlace(WorkbenchError):
    """There is no session, act or position of that name."""

    code = "no_such_place"


def find_place(
    workspace: Workspace, wanted: str, open_session: str | None, as_of: int | None = None
) -> Place:
    """The place that a text names: a session by its id, else an act of the open session, else a position.

    With `as_of` only what there was at that position.

    Reads: for a worker thread. Raises `NoSuchPlace`.
    """
    readers = workspace.readers
    sessions, entries = readers.sessions.as_of(as_of), readers.entries.as_of(as_of)
    if sessions.get(wanted) is not None:
        return Place(wanted, None)
    for source in ("claude-code", "codex"):
        if sessions.get(f"{source}/{wanted}") is not None:
            return Place(f"{source}/{wanted}", None)
    digits = wanted.replace(" ", "").replace("\u00a0", "").lstrip("#")
    if digits.isdecimal() and len(digits) < 19:
        place = int(digits)
        seq = None if open_session is None else entries.seq_of_act(open_session, place)
        if open_session is not None and seq is not None:
            return Place(open_session, seq)
        found = readers.timeline.as_of(as_of).page(TimelineFilter(), 1, after=place - 1) if place else []
        session_id = found[0].payload.get("chronicum_id") if found else None
        if found and found[0].position == place and isinstance(session_id, str):
            return Place(session_id, found[0].seq)
    raise NoSuchPlace(f"there is no session and no act {one_line(wanted, 80)}", hint=f"name {HINT}")

"""Moments as people type them for an option."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

if TYPE_CHECKING:
    from workbench.workspace import Workspace


_SHOWN = 60
"""Characters of what was given that an error repeats."""


def is_position(text: str) -> bool:
    """Whether a text names a position of the log and no moment."""
    return text.isascii() and text.isdecimal()


def moment(option: str, text: str | None, workspace: Workspace) -> datetime | None:
    """The moment that an option names, in UTC; a date is of the workspace's time zone. None for none.

    Raises `click.BadParameter`.
    """
    if text is None:
        return None
    from workbench.workspace.readers.timeline_dates import impossible, parse_moment

    found = parse_moment(text, ZoneInfo(workspace.timezone), datetime.now(UTC))
    if found is None:
        why = impossible(text)
        said = f"{text[:_SHOWN]!r} is no date{f': {why}' if why else ''}"
        raise click.BadParameter(
            f"{said}; give one such as 2026-03-02, “2026-03-02 14:00”, 14:30, yesterday or “3 days ago”.",
            param_hint=f"--{option}",
        )
    return found


def past(text: str | None, workspace: Workspace) -> datetime | int | None:
    """What `--as-of` names: a moment, or in digits alone a position of the log. Raises as `moment` does."""
    if text is not None and is_position(text):
        # Of so many digits that the log has no such position, the first ones say that as well.
        return int(text[:_SHOWN])
    return moment("as-of", text, workspace)


def before_all(then: datetime | int | None, workspace: Workspace) -> list[str]:
    """A line on why nothing was known at a moment that lies before the first record; none if it does not."""
    if then is None:
        return []
    begin = workspace.readers.timeline.event(1)
    first = None if begin is None else begin.recorded_at
    if first is None or (then > 0 if isinstance(then, int) else then >= first):
        return []
    from workbench.drawing import exact

    return [f"the first record is of {exact(first, ZoneInfo(workspace.timezone))}"]

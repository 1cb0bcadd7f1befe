"""Moments as people type them for an option."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import click

if TYPE_CHECKING:
    from workbench.workspace import Workspace


def moment(option: str, text: str | None, workspace: Workspace) -> datetime | None:
    """The moment that an option names, in UTC; a date is of the workspace's time zone. None for none.

    Raises `click.BadParameter`.
    """
    if text is None:
        return None
    from workbench.workspace.readers.timeline_dates import parse_moment

    found = parse_moment(text, ZoneInfo(workspace.timezone), datetime.now(UTC))
    if found is None:
        raise click.BadParameter(
            f"{text!r} is no date; give one such as 2026-03-02, “2026-03-02 14:00”, 14:30, yesterday or "
            "“3 days ago”.",
            param_hint=f"--{option}",
        )
    return found


def past(text: str | None, workspace: Workspace) -> datetime | int | None:
    """What `--as-of` names: a moment, or in digits alone a position of the log. Raises as `moment` does."""
    if text is not None and text.isascii() and text.isdecimal() and len(text) < 19:
        return int(text)
    return moment("as-of", text, workspace)

"""A moment of the past, and how it is called."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import NamedTuple

from workbench.tui.present import number


class AsOf(NamedTuple):
    """A position of the log, at which the program shows what was known."""

    position: int
    recorded_at: datetime
    """When the event at the position was recorded."""


def moment_texts(as_of: AsOf, zone: tzinfo) -> tuple[str, ...]:
    """A moment in words, the fullest first, for more or less room."""
    try:
        then = as_of.recorded_at.astimezone(zone)
    except (OverflowError, ValueError):
        then = as_of.recorded_at
    return (
        f"as of {then:%Y-%m-%d %H:%M} · position {number(as_of.position)}",
        f"as of {then:%Y-%m-%d %H:%M}",
        f"as of {number(as_of.position)}",
    )

"""A place on the timeline, so that esc can return to it."""

from __future__ import annotations

from typing import NamedTuple

from workbench.workspace.rows import TimelineFilter, TimelineOrder


class Bookmark(NamedTuple):
    """What is shown of the timeline."""

    wanted: TimelineFilter
    gave_way: TimelineFilter | None
    """The person's own filter, where it gave way to what they were led to."""
    order: TimelineOrder
    position: int | None
    """Under the cursor."""
    side: str
    """Of the event's detail."""
    detail: bool
    """The detail is open."""
    in_detail: bool
    """The detail has the keys."""

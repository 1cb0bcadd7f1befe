"""What the workers of the Timeline tell its page."""

from __future__ import annotations

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.tui.timeline.activity_feed import Activity
from workbench.tui.timeline.source import Looked, TimelineSource


class SearchLooked(Message):
    """A search has come to a position or a place; None: it has ended."""

    def __init__(self, source: TimelineSource, looked: Looked | None) -> None:
        super().__init__()
        self.source = source
        self.looked = looked

    def can_replace(self, message: Message) -> bool:
        """The latest is as good as all."""
        return isinstance(message, SearchLooked) and message.source is self.source


class PlaceFound(Message):
    """A place that was asked for was found, or not (`error`); `told` is what a person should know of it."""

    def __init__(
        self, position: int, passes: bool, error: WorkbenchError | None = None, told: str = ""
    ) -> None:
        super().__init__()
        self.told = told
        self.position = position
        self.passes = passes
        self.error = error


class ActivityCounted(Message):
    """What the strip shows was counted, or some of it."""

    def __init__(self, activity: Activity) -> None:
        super().__init__()
        self.activity = activity

    def can_replace(self, message: Message) -> bool:
        """The latest is as good as all."""
        return isinstance(message, ActivityCounted)


class FilterOffered(Message):
    """The names that can be filtered by were read."""

    def __init__(self, types: list[str], actors: list[tuple[str, int]]) -> None:
        super().__init__()
        self.types = types
        self.actors = actors

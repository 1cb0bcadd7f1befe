"""What the workers of the Timeline tell its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.tui.timeline.activity_feed import Activity, ActivityFeed
from workbench.tui.timeline.source import Looked, TimelineSource
from workbench.workspace.readers.event_links import EventLinks
from workbench.workspace.readers.timeline_names import Offered

if TYPE_CHECKING:
    from workbench.tui.dialogs.verdict import Judged


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
    """A place that was asked for was found, or not (`error`)."""

    def __init__(
        self, position: int, passes: bool, error: WorkbenchError | None = None, *, led: bool = False
    ) -> None:
        super().__init__()
        self.led = led
        """The person was led there: the filter gives way."""
        self.position = position
        self.passes = passes
        self.error = error


class ActivityCounted(Message):
    """What the strip shows was counted, or some of it."""

    def __init__(self, feed: ActivityFeed, activity: Activity) -> None:
        super().__init__()
        self.feed = feed
        self.activity = activity

    def can_replace(self, message: Message) -> bool:
        """The latest is as good as all."""
        return isinstance(message, ActivityCounted)


class FilterOffered(Message):
    """The names that can be filtered by were read."""

    def __init__(self, types: list[str], actors: list[tuple[str, int]], offered: Offered) -> None:
        super().__init__()
        self.offered = offered
        self.types = types
        self.actors = actors


class LinksRead(Message):
    """What the event under the cursor belongs to was read."""

    def __init__(self, links: EventLinks) -> None:
        super().__init__()
        self.links = links


class VerdictOffered(Message):
    """What a verdict is asked about was read."""

    def __init__(self, judged: Judged) -> None:
        super().__init__()
        self.judged = judged


class Withheld(Message):
    """An observation was withheld or released: what is drawn of the event at a position is no longer so."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position

"""The timeline with its activity strip: what happened when, and ways to go and narrow by it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.events import Resize

from workbench.log.times import from_micros
from workbench.tui.timeline.activity_feed import Activity, ActivityFeed
from workbench.tui.timeline.list_page import TimelineListPage
from workbench.tui.timeline.messages import ActivityCounted, PlaceFound
from workbench.tui.timeline.strip import LEAST_ROWS, MARGIN, TALL_ROWS, ActivityStrip
from workbench.tui.widgets.list_messages import Highlighted
from workbench.workspace.readers.timeline_dates import parse_range, range_text
from workbench.workspace.readers.timeline_queries import FIRST_PLACE
from workbench.workspace.rows import Place

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.workspace import Workspace

RECOUNT_SECONDS = 0.5
"""After a commit the strip is counted again at most so often."""
SECOND = timedelta(seconds=1)
RANGE_HINT = "from and to, as 2026-03-01 .. 2026-03-04, 2026-03-02 14:00 .. 15:30, 2026-03 or yesterday"


class TimelineStripPage(TimelineListPage):
    """Counts what happened when, on a worker thread, and draws it."""

    def __init__(self) -> None:
        super().__init__()
        self._feed: ActivityFeed | None = None
        self._recount: Timer | None = None
        self._aiming = False
        """Whether the strip points to where the list is about to go."""

    def compose_list(self) -> ComposeResult:
        yield ActivityStrip(css_id="timeline-activity")
        yield from super().compose_list()

    @property
    def strip(self) -> ActivityStrip:
        """The bars over the list."""
        return self.query_one(ActivityStrip)

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._new_feed()
        self.strip.now = self._now
        super().on_workspace_ready(workspace)
        self.strip.zone = self._zone

    def on_committed(self) -> None:
        super().on_committed()
        if self._recount is None:
            # Of many commits in a row the strip follows some.
            self._recount = self.set_timer(RECOUNT_SECONDS, self.count_activity)

    def on_as_of_changed(self) -> None:
        self._new_feed()
        super().on_as_of_changed()

    def redraw_ages(self) -> None:
        super().redraw_ages()
        self.strip.refresh()

    def _new_feed(self) -> None:
        reader = self.reader
        if self._feed is not None:
            self._feed.stop()
        if reader is not None:
            self._feed = ActivityFeed(reader, self._say_counted, self._now, self.turns)

    def _say_counted(self, feed: ActivityFeed, activity: Activity) -> None:
        self.post_message(ActivityCounted(feed, activity))

    def count_activity(self) -> None:
        """Count for the filter that is set."""
        self._recount = None
        strip, feed = self.strip, self._feed
        # A strip without bars is hidden: it has no width of its own.
        room = self.query_one("#list-content").size.width - 2 * MARGIN
        if feed is not None and room > 0 and strip.has_class("-shown"):
            self.in_thread(feed.begin(self.wanted, room), "activity", "Counting what happened when")

    def on_activity_strip_resized(self) -> None:
        """Count for as many bars as there is room for now."""
        self.count_activity()

    def on_activity_counted(self, message: ActivityCounted) -> None:
        """Draw what is counted."""
        counted = message.activity
        if counted.wanted == self.wanted and message.feed is self._feed:
            self.strip.show(counted.scale, counted.whole, counted.matching, counting=not counted.done)
            self.update_footer()

    def on_resize(self, event: Resize) -> None:
        """The strip has as many bars as there is room, and none where there is too little."""
        super().on_resize(event)
        rows = self.app.size.height
        self.strip.set_class(rows >= LEAST_ROWS, "-shown")
        self.strip.set_class(rows >= TALL_ROWS, "-tall")

    def busy_cell(self, step: int) -> int | None:
        """The next bar to the right (1) or left (-1); None where there is none."""
        return self.strip.busy(step) if self.is_mounted else None

    def on_activity_strip_chosen(self, message: ActivityStrip.Chosen) -> None:
        """Go to a bar that was clicked."""
        self._go_to_cell(message.cell)

    def on_activity_strip_dragged(self, message: ActivityStrip.Dragged) -> None:
        """Narrow the timeline to the bars that were drawn over."""
        scale = self.strip.scale
        if scale is not None:
            since, until = scale.bounds(message.first)[0], scale.bounds(message.last)[1]
            self.apply(
                msgspec.structs.replace(
                    self.wanted,
                    since=None if since is None else from_micros(since),
                    until=None if until is None else from_micros(until),
                )
            )

    def _go_to_cell(self, cell: int) -> None:
        """Go to the last event of a cell that passes the filter."""
        reader, scale = self.reader, self.strip.scale
        if reader is None or scale is None:
            return
        # A held key goes on from here, wherever the list has come to.
        self.strip.point(from_micros(scale.start + cell * scale.width))
        self._aiming = True
        low, high = scale.bounds(cell)
        wanted = self.wanted

        def find() -> None:
            # The last before the end of the cell; where the cell is open to the left, that may be its first.
            before = None if high is None else Place(high, -1)
            after = FIRST_PLACE if low is None else Place(low, -1)
            position = 0
            try:
                found = reader.search_happened(wanted, 1, before=before).rows
                if not found:
                    found = reader.search_happened(wanted, 1, after=after).rows
                if found:
                    position = found[0].position
            finally:
                self.post_message(PlaceFound(position, True))

        self.in_thread(find, "goto", "Finding a place on the timeline")

    def action_range(self) -> None:
        """Ask from when until when."""
        from workbench.tui.dialogs.prompt import PromptDialog

        def read(text: str) -> tuple[datetime | None, datetime | None] | None:
            return parse_range(text, self._zone, self.app.clock()) if text.strip() else (None, None)

        def check(text: str) -> str:
            return "" if read(text) is not None else f"That names no time. Give {RANGE_HINT}."

        def narrow(text: str | None) -> None:
            found = None if text is None else read(text)
            if found is not None:
                self.apply(msgspec.structs.replace(self.wanted, since=found[0], until=found[1]))

        hint = RANGE_HINT[:1].upper() + RANGE_HINT[1:] + "; nothing for all of it"
        self.app.push_screen(PromptDialog("Happened when", hint, self._offered_range(), check), narrow)

    def _offered_range(self) -> str:
        """The range that is set, that of the selected events, or that of the bar under the cursor."""
        selected = [row.happened_at for row in self.events.selected_rows]
        if len(selected) > 1:
            return range_text(min(selected), max(selected) + SECOND, self._zone)
        if self.wanted.since is not None or self.wanted.until is not None:
            return range_text(self.wanted.since, self.wanted.until, self._zone)
        scale, cell = self.strip.scale, self.strip.cursor_cell
        if scale is None or cell is None:
            return ""
        low, high = scale.bounds(cell)
        return range_text(
            None if low is None else from_micros(low), None if high is None else from_micros(high), self._zone
        )

    def action_step_activity(self, step: int) -> None:
        """To the next bar on one side."""
        cell = self.busy_cell(step)
        if cell is not None:
            self._go_to_cell(cell)

    @on(Highlighted)
    def _cursor_pointed(self, message: Highlighted) -> None:
        """Mark the bar of the event under the cursor."""
        if not self._aiming:
            self.point()

    def point(self) -> None:
        """Mark the bar of the event under the cursor."""
        event = self.cursor_event
        self.strip.point(None if event is None else event.happened_at)

    def aimed(self) -> None:
        """The list is where it was about to go."""
        self._aiming = False

"""The Timeline screen: every event of the workspace, newest first, and the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from time import monotonic
from typing import TYPE_CHECKING, Protocol, runtime_checkable
from zoneinfo import ZoneInfo

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.events import Click, Resize

from workbench.errors import WorkbenchError
from workbench.log.times import from_micros
from workbench.tui.copying import CopyChoice
from workbench.tui.page import Page
from workbench.tui.present import number
from workbench.tui.timeline.activity_feed import Activity, ActivityFeed
from workbench.tui.timeline.bars import FilterLine, filter_parts, without
from workbench.tui.timeline.copies import event_copies
from workbench.tui.timeline.empty import empty_lines
from workbench.tui.timeline.event_pane import EventPane
from workbench.tui.timeline.event_rows import event_rows, position_width
from workbench.tui.timeline.event_words import text_of
from workbench.tui.timeline.messages import ActivityCounted, FilterOffered, PlaceFound, SearchLooked
from workbench.tui.timeline.page_actions import TIMELINE_ACTIONS
from workbench.tui.timeline.places import HINT, Moment, find_place, parse_place
from workbench.tui.timeline.remembered import filter_from, filter_values
from workbench.tui.timeline.source import Looked, TimelineSource
from workbench.tui.timeline.strip import DAYS, LEAST_ROWS, MARGIN, TALL_ROWS, ActivityStrip, day_text
from workbench.tui.widgets.list_bar import ListBar
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.readers.timeline_dates import parse_range, range_text
from workbench.workspace.readers.timeline_queries import FIRST_PLACE
from workbench.workspace.rows import EventRow, Place, TimelineFilter, TimelineOrder

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace

TYPING_SECONDS = 0.15
"""Pause in typing after which the filter is applied."""
RESTING_SECONDS = 0.08
"""Pause in moving after which the event under the cursor is shown; the first of many moves shows at once."""
AGES_SECONDS = 30.0
RECOUNT_SECONDS = 0.5
"""After a commit the strip is counted again at most so often."""
SECOND = timedelta(seconds=1)
RANGE_HINT = "from and to, as 2026-03-01 .. 2026-03-04, 2026-03-02 14:00 .. 15:30, 2026-03 or yesterday"


@runtime_checkable
class ShowsEntries(Protocol):
    """A screen that can be sent to one entry of a session."""

    def show_entry(self, chronicum_id: str, seq: int) -> None:
        """Show this session with the cursor on the entry that has this number in it."""


class TimelinePage(Page):
    """The list of events and one event in words and as JSON."""

    NAME, TITLE, NUMBER = "timeline", "Timeline", 3
    LIST_SHARE = 55
    OFFERS = frozenset(
        {
            "page.filter",
            "page.goto",
            "page.sort",
            "page.copy",
            "page.select",
            "page.select_range",
            "page.next_tab",
            "page.previous_tab",
        }
    )
    ACTIONS = TIMELINE_ACTIONS

    def __init__(self) -> None:
        super().__init__()
        self.wanted = TimelineFilter()
        """The filter that is set."""
        self.order: TimelineOrder = "recorded"
        """What the list is ordered by."""
        self._source: TimelineSource | None = None
        self._feed: ActivityFeed | None = None
        self._zone: tzinfo = UTC
        self._at: int | None = None
        """The position under the cursor, now or when the program was left."""
        self._first = False
        """The cursor is on the first row of all."""
        self._width = position_width(0)
        self._looked: Looked | None = None
        self._new = (0, False)
        self._count = ""
        self._typing: Timer | None = None
        self._resting: Timer | None = None
        self._recount: Timer | None = None
        self._aiming = False
        """Whether the strip points to where the list is about to go."""
        self._moved = 0.0
        self._moment: datetime | None = None
        """From which every age in the list is counted, so that none is newer than its neighbours."""

    # The two panes

    def compose_list(self) -> ComposeResult:
        yield ActivityStrip(css_id="timeline-activity")
        yield FilterLine(css_id="timeline-filter")
        events: VirtualList[EventRow] = VirtualList(event_rows(self._width, self._now, self.order))
        events.follow = True
        yield events

    def compose_detail(self) -> ComposeResult:
        yield EventPane(css_id="timeline-event")

    @property
    def events(self) -> VirtualList[EventRow]:
        """The list."""
        return self.query_one("#list-content VirtualList", VirtualList)

    @property
    def strip(self) -> ActivityStrip:
        """The bars over the list."""
        return self.query_one(ActivityStrip)

    @property
    def event_pane(self) -> EventPane:
        """The detail."""
        return self.query_one(EventPane)

    @property
    def cursor_event(self) -> EventRow | None:
        """The event under the cursor, as the list has it."""
        row: EventRow | None = self.cursor_row
        return row

    # What the shell asks

    def restore(self, state: ScreenState) -> None:
        self.wanted = filter_from(state.values)
        self.set_filter(self.wanted.text)
        self._set_order("happened" if state.values.get("order") == "happened" else "recorded")
        self._at = int(state.selected) if state.selected.isdecimal() else None
        self._show_filter()

    def remember(self, state: ScreenState) -> None:
        if self._source is None:
            return
        if self.cursor_event is not None:
            self._note_cursor()
        # Who was at the newest event wants to see the newest event.
        state.selected = "" if self._at is None or self._at_newest() else str(self._at)
        state.values = filter_values(self.wanted)
        if self.order != "recorded":
            state.values["order"] = self.order

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._zone = ZoneInfo(workspace.timezone)
        self.strip.zone = self._zone
        self._feed = ActivityFeed(workspace.readers.timeline, self._say_counted, self._now)
        self.strip.now = self._now
        self.event_pane.open(workspace.readers, self._zone, self._now)
        self._show_filter()
        self._read(at=self._at)
        self._count_activity()
        self._renew_ages()
        self.set_interval(AGES_SECONDS, self._ages_passed)

    def on_committed(self) -> None:
        self._renew_ages()
        self.events.refresh_live()
        if self._recount is None:
            # Of many commits in a row the strip follows some.
            self._recount = self.set_timer(RECOUNT_SECONDS, self._count_activity)

    def on_filter(self, text: str) -> None:
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING_SECONDS, self._filter_typed)

    def _filter_typed(self) -> None:
        self._apply(msgspec.structs.replace(self.wanted, text=self.filter_text.strip()))

    def set_count(self, text: str) -> None:
        """Count and positions, and before them how far a search has come and what is new."""
        self._count = text
        status, seen = self.events.status, self.events.visible_rows
        if seen and not self.wanted and not status.loading and self.order == "recorded":
            # A row's number in the whole timeline is its position.
            text = replace(status, first=seen[0].position, last=seen[-1].position).text()
        said = [text if self.order == "recorded" else f"{text} as happened"]
        if isinstance(self._looked, Place):
            said.insert(0, f"looked back to {day_text(self._looked.happened, self._zone, DAYS)}")
        elif self._looked is not None:
            said.insert(0, f"looked back to {number(self._looked)}")
        count, more = self._new
        if count:
            key = self.app.keymap.shown("list.first").split(" ")[0]
            said.insert(0, f"{number(count)}{'+' if more else ''} new ↑ {key}")
        super().set_count("  ".join(said))

    def on_click(self, event: Click) -> None:
        """What is offered as new is also reached by a click on it."""
        bar = self.query_one("#list-bar", ListBar)
        inside = event.widget is not None and bar in event.widget.ancestors_with_self
        if (
            inside
            and self._new[0]
            and not bar.editing
            and event.screen_x > bar.region.x + bar.region.width // 3
        ):
            self.events.go_to_newest()

    # Filters

    def _apply(self, wanted: TimelineFilter) -> None:
        """Narrow the list, the cursor where it was as near as the filter allows."""
        if wanted == self.wanted:
            return
        at_newest = self._at_newest()
        self.wanted = wanted
        if wanted.text != self.filter_text.strip():
            # While it is being typed a blank at its end is the beginning of the next word.
            self.set_filter(wanted.text)
        self._show_filter()
        self._read(at=None if at_newest else self._at)
        self._count_activity()

    def _at_newest(self) -> bool:
        """Whether the cursor is, or was when the program ended, where new events arrive."""
        if self._source is None or self._at is None:
            return True
        return self._at == self._source.newest if self.order == "recorded" else self._first

    def _set_order(self, order: TimelineOrder) -> None:
        self.order = order
        self.events.renderer = event_rows(self._width, self._now, order)
        self.event_pane.set_order(order)

    def _read(self, at: object = None) -> None:
        workspace = self.app.workspace
        if workspace is None:
            return
        if self._source is not None:
            self._source.close()
        self._looked = None
        self._source = TimelineSource(workspace.readers.timeline, self.wanted, self._say_looked, self.order)
        self.events.empty_lines = empty_lines(self.wanted, self.app.keymap.shown("timeline.clear"))
        self.events.set_source(self._source, at)

    def _say_looked(self, source: TimelineSource, looked: Looked | None) -> None:
        self.post_message(SearchLooked(source, looked))

    def _show_filter(self) -> None:
        self.query_one(FilterLine).show(self.wanted, self.app.keymap.shown("timeline.clear"), self._zone)

    def on_filter_line_dropped(self, message: FilterLine.Dropped) -> None:
        """A part of the filter was clicked away."""
        self._apply(without(self.wanted, message.name) if message.name else TimelineFilter())

    def show_stream(self, stream: str) -> None:
        """Show the events of one stream and nothing else, as `session/ID`; an open detail gives way."""
        if self._showing_detail:
            self.show_list()
        self._apply(TimelineFilter(streams=(stream,)))

    # The strip

    def _say_counted(self, activity: Activity) -> None:
        self.post_message(ActivityCounted(activity))

    def _count_activity(self) -> None:
        self._recount = None
        strip, feed = self.strip, self._feed
        # A strip without bars is hidden: it has no width of its own.
        room = self.query_one("#list-content").size.width - 2 * MARGIN
        if feed is not None and room > 0 and strip.has_class("-shown"):
            self._in_thread(feed.begin(self.wanted, room), "activity", "Counting what happened when")

    def on_activity_strip_resized(self) -> None:
        """Count for as many bars as there is room for now."""
        self._count_activity()

    def on_activity_counted(self, message: ActivityCounted) -> None:
        """Draw what is counted."""
        counted = message.activity
        if counted.wanted == self.wanted:
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
            self._apply(
                msgspec.structs.replace(
                    self.wanted,
                    since=None if since is None else from_micros(since),
                    until=None if until is None else from_micros(until),
                )
            )

    def _go_to_cell(self, cell: int) -> None:
        """Go to the last event of a cell that passes the filter."""
        workspace, scale = self.app.workspace, self.strip.scale
        if workspace is None or scale is None:
            return
        # A held key goes on from here, wherever the list has come to.
        self.strip.point(from_micros(scale.start + cell * scale.width))
        self._aiming = True
        low, high = scale.bounds(cell)
        reader, wanted = workspace.readers.timeline, self.wanted

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

        self._in_thread(find, "goto", "Finding a place on the timeline")

    # Messages

    def on_search_looked(self, message: SearchLooked) -> None:
        """Say how far back the search has come."""
        if message.source is self._source:
            self._looked = message.looked
            self.set_count(self._count)

    @on(NewRows)
    def _rows_came(self, message: NewRows) -> None:
        """Offer what arrived while the person looks at something else."""
        self._new = (message.count, message.more)
        self.set_count(self._count)

    @on(StatusChanged)
    def _widen(self, message: StatusChanged) -> None:
        """Keep the first column as wide as the positions are long."""
        width = position_width(self._source.newest if self._source is not None else 0)
        if width > self._width:
            self._width = width
            self.events.renderer = event_rows(width, self._now, self.order)

    @on(Highlighted)
    def _cursor_moved(self, message: Highlighted) -> None:
        """Show the event under the cursor: at once, or after a run of moves."""
        self._note_cursor()
        if not self._aiming:
            self._point()
        moved, self._moved = self._moved, monotonic()
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        if self._moved - moved > RESTING_SECONDS or message.row is None:
            self._show_event()
        else:
            self._resting = self.set_timer(RESTING_SECONDS, self._show_event)

    @on(Opened)
    def _entered(self, message: Opened) -> None:
        """Who goes into a large event wants to read it whole."""
        self._show_event()
        self.event_pane.read_whole()

    def _show_event(self) -> None:
        self.event_pane.show(self.cursor_event)

    def _note_cursor(self) -> None:
        # Where it is by now: what tells of its moves may lag behind.
        event = self.cursor_event
        self._at = None if event is None else event.position
        seen = self.events.visible_rows
        self._first = self.events.status.first == 1 and bool(seen) and seen[0].position == self._at

    def _point(self) -> None:
        event = self.cursor_event
        self.strip.point(None if event is None else event.happened_at)

    def on_place_found(self, message: PlaceFound) -> None:
        """Go there."""
        self._aiming = False
        if message.error is not None:
            self.app.show_failure(message.error)
            return
        if not message.position:
            self._point()
            return
        if self._showing_detail:
            self.show_list()
        self.events.go_to(message.position)
        if not message.passes:
            clear = self.app.keymap.shown("timeline.clear")
            self.app.notify(
                f"Event {number(message.position)} does not pass the filter: this is the nearest that does. "
                f"{clear} clears the filter."
            )

    def on_filter_offered(self, message: FilterOffered) -> None:
        """Open the dialog."""
        from workbench.tui.timeline.filter_dialog import Chosen, TimelineFilterDialog

        def narrow(chosen: Chosen | None) -> None:
            if chosen is not None:
                self._apply(
                    msgspec.structs.replace(
                        self.wanted,
                        types=chosen.types,
                        actors=chosen.actors,
                        visibility=chosen.visibility,
                    )
                )

        chosen = Chosen(self.wanted.types, self.wanted.actors, self.wanted.visibility)
        self.app.push_screen(TimelineFilterDialog(message.types, message.actors, chosen), narrow)

    def _now(self) -> datetime:
        return self._moment or self.app.clock()

    def _ages_passed(self) -> None:
        if self.app.page is self:
            self._renew_ages()

    def on_screen_resume(self) -> None:
        """What was not shown has not aged."""
        if self._source is not None:
            self._renew_ages()

    def _renew_ages(self) -> None:
        self._moment = self.app.clock()
        self.events.redraw_rows()
        self.event_pane.renew_ages()
        self.strip.refresh()

    # Going somewhere

    GOTO_HINT = HINT[:1].upper() + HINT[1:]

    def goto(self, text: str) -> None:
        """Go to a position, an event or a moment; raises `NoSuchPlace` for any other text."""

        workspace = self.app.workspace
        if workspace is None:
            return
        reader, wanted = workspace.readers.timeline, self.wanted
        place = parse_place(text, self._zone, self.app.clock())

        def find() -> None:
            try:
                position = find_place(reader, place)
            except WorkbenchError as error:
                self.post_message(PlaceFound(0, False, error))
                return
            passes = isinstance(place, Moment) or reader.passes(wanted, position)
            self.post_message(PlaceFound(position, passes))

        self._in_thread(find, "goto", "Finding a place on the timeline")

    # Actions

    def action_next_tab(self, sides: int = 1) -> None:
        """The event's other side."""
        self.event_pane.turn(sides)

    def action_previous_tab(self) -> None:
        """The event's other side."""
        self.action_next_tab(-1)

    def action_toggle_utc(self) -> None:
        """Times in UTC, or in the workspace's zone."""
        self.event_pane.toggle_utc()

    def action_clear_filters(self) -> None:
        """Show every event."""
        self._apply(TimelineFilter())

    def action_drop_filter(self) -> None:
        """Take the last part of the filter away."""
        parts = filter_parts(self.wanted)
        if parts:
            self._apply(without(self.wanted, parts[-1].name))

    def action_toggle_stream(self) -> None:
        """Only the stream of this event, or all."""
        event = self.cursor_event
        if event is not None:
            streams = () if self.wanted.streams else (event.stream,)
            self._apply(msgspec.structs.replace(self.wanted, streams=streams))

    def action_sort(self) -> None:
        """The other order, the cursor on the same event."""
        self._set_order("happened" if self.order == "recorded" else "recorded")
        event = self.cursor_event
        self._read(at=self._at if event is None else event.position)

    def action_step_activity(self, step: int) -> None:
        """To the next bar on one side."""
        cell = self.busy_cell(step)
        if cell is not None:
            self._go_to_cell(cell)

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
                self._apply(msgspec.structs.replace(self.wanted, since=found[0], until=found[1]))

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

    def action_narrow(self) -> None:
        """Offer types and actors."""
        workspace = self.app.workspace
        if workspace is None:
            return
        reader = workspace.readers.timeline

        def read() -> None:
            self.post_message(FilterOffered(reader.types(), reader.actors(1500)))

        self._in_thread(read, "names", "Reading the names of types and actors")

    async def action_open_session(self) -> None:
        """Show the event in its session."""
        event = self.cursor_event
        if event is None:
            return
        await self.app.action_open_screen("sessions")
        page, session_id = self.app.page, text_of(event, "chronicum_id")
        if isinstance(page, ShowsEntries):
            page.show_entry(session_id, event.seq)
        elif page is not None:
            page.goto(session_id)

    def action_open_evidence(self) -> None:
        """Show the files that the event rests on."""
        from workbench.tui.evidence_viewer import open_evidence

        event = self.cursor_event
        if event is not None:
            open_evidence(self.app, position=event.position)

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        """The selected events as JSON lines, or the forms of the one under the cursor."""
        if not self.is_mounted:
            return []
        rows = self.events.selected_rows
        return event_copies(self.app.workspace, self.app.root, rows, self.cursor_event)

    def _in_thread(self, work: Callable[[], object], group: str, description: str) -> None:
        self.run_worker(
            work,
            group=f"timeline-{group}",
            description=description,
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )


PAGE = TimelinePage

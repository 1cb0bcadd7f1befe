"""The list of events as a page: filter, order, cursor, the moment that is shown, and the event's detail."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, tzinfo
from time import monotonic
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.events import Click

from workbench.tui.place_kept import PlaceKept
from workbench.tui.present import number
from workbench.tui.reading_page import ReadingPage
from workbench.tui.timeline.bars import FilterLine, without
from workbench.tui.timeline.empty import empty_lines
from workbench.tui.timeline.event_pane import EventPane
from workbench.tui.timeline.event_rows import event_rows, position_width
from workbench.tui.timeline.messages import SearchLooked
from workbench.tui.timeline.remembered import filter_from, filter_values
from workbench.tui.timeline.source import Looked, TimelineSource
from workbench.tui.timeline.strip import DAYS, day_text
from workbench.tui.timeline.turns import Turns
from workbench.tui.timeline.typed_filter import typed, with_terms
from workbench.tui.widgets.list_bar import ListBar
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.rows import EventRow, Place, TimelineFilter, TimelineOrder

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace
    from workbench.workspace.readers.timeline_queries import TimelineReader

RESTING_SECONDS = 0.08
"""Pause in moving after which the event under the cursor is shown; the first of many moves shows at once."""


class TimelineListPage(ReadingPage):
    """Shows the events that pass a filter, in one of two orders, now or as of a moment."""

    LIST_SHARE = 55
    FOLLOWS_AS_OF = True

    def __init__(self) -> None:
        super().__init__()
        self.wanted = TimelineFilter()
        """The filter that is set, what is being typed included."""
        self._chosen = TimelineFilter()
        """What of it is not in the filter line."""
        self._gave_way: TimelineFilter | None = None
        """The person's own filter, while it gives way to an event that they were led to."""
        self.order: TimelineOrder = "recorded"
        """What the list is ordered by."""
        self._source: TimelineSource | None = None
        self.turns = Turns()
        """What the list and the strip count in turn."""
        self._zone: tzinfo = UTC
        self._at: int | None = None
        """The position under the cursor, now or when the program was left."""
        self._kept: PlaceKept[int] = PlaceKept()
        self._first = False
        """The cursor is on the first row of all."""
        self._width = position_width(0)
        self._looked: Looked | None = None
        self._new = (0, False)
        self._count = ""
        self._resting: Timer | None = None
        self._moved = 0.0

    # The two panes

    def compose_list(self) -> ComposeResult:
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
    def event_pane(self) -> EventPane:
        """The detail."""
        return self.query_one(EventPane)

    @property
    def cursor_event(self) -> EventRow | None:
        """The event under the cursor, as the list has it."""
        row: EventRow | None = self.cursor_row
        return row

    @property
    def reader(self) -> TimelineReader | None:
        """The log as it is shown: now, or as of the moment that the program shows."""
        workspace, as_of = self.app.workspace, self.app.as_of
        if workspace is None:
            return None
        return workspace.readers.timeline.as_of(None if as_of is None else as_of.position)

    # What a page above fills in

    def count_activity(self) -> None:
        """The list shows other events: count anew what happened when."""

    # What the shell asks

    def restore(self, state: ScreenState) -> None:
        self.wanted = filter_from(state.values)
        self._chosen = msgspec.structs.replace(self.wanted, text="")
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
        state.values = filter_values(self._gave_way or self.wanted)
        if self.order != "recorded":
            state.values["order"] = self.order

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._zone = ZoneInfo(workspace.timezone)
        self.event_pane.open(workspace.readers, self._zone, self._now, self.app.as_of)
        self._show_filter()
        self._read(at=self._at)
        self.count_activity()
        self._begin_ages()

    def on_committed(self) -> None:
        self._renew_ages()
        self.events.refresh_live()

    def on_as_of_changed(self) -> None:
        if self.cursor_event is not None:
            self._note_cursor()
        at = None if self._at_newest() else self._at
        self.event_pane.travel(self.app.as_of)
        # What came after the moment is not there: whoever was there sees the last before it.
        self._read(at=self._kept.travelled(self._at, at, now=self.app.as_of is None))
        self._renew_ages()
        self.count_activity()

    def filter_typed(self) -> None:
        self._narrow(with_terms(self._chosen, self.filter_text))

    @on(ListBar.FilterDone)
    def _take_terms(self) -> None:
        """What was typed as `project:atlas` is a part of the filter like one that was chosen."""
        if typed(self.filter_text).named:
            self.apply(with_terms(self._chosen, self.filter_text))

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
        if new := self.new_rows_words(*self._new):
            said.insert(0, new)
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

    def apply(self, wanted: TimelineFilter) -> None:
        """Narrow the list to this and nothing else, the cursor where it was as near as the filter allows."""
        self._chosen = msgspec.structs.replace(wanted, text="")
        if wanted.text != self.filter_text.strip():
            # While it is being typed a blank at its end is the beginning of the next word.
            self.set_filter(wanted.text)
        self._narrow(wanted)

    def _narrow(self, wanted: TimelineFilter) -> None:
        if wanted == self.wanted:
            return
        at = None if self._at_newest() else self._at
        at = self.back_from_search(self.wanted.text, wanted.text, at, chosen=not self._first)
        self.wanted, self._gave_way = wanted, None
        self._show_filter()
        self._read(at=at)
        self.count_activity()

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
        reader = self.reader
        if reader is None:
            return
        if self._source is not None:
            self._source.close()
        self._looked = None
        self._source = TimelineSource(reader, self.wanted, self._say_looked, self.order, self.turns)
        self.events.empty_lines = empty_lines(
            self.wanted, self.app.keymap.shown("timeline.clear"), self.app.root
        )
        self.events.set_source(self._source, at)

    def _say_looked(self, source: TimelineSource, looked: Looked | None) -> None:
        self.post_message(SearchLooked(source, looked))

    def _show_filter(self) -> None:
        self.query_one(FilterLine).show(self.wanted, self.app.keymap.shown("timeline.clear"), self._zone)

    def on_filter_line_dropped(self, message: FilterLine.Dropped) -> None:
        """A part of the filter was clicked away."""
        self.apply(without(self.wanted, message.name) if message.name else TimelineFilter())

    def action_sort(self) -> None:
        """The other order, the cursor on the same event."""
        self._set_order("happened" if self.order == "recorded" else "recorded")
        event = self.cursor_event
        self._read(at=self._at if event is None else event.position)

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
        if self._at is not None:
            # A list that is being read tells nothing of where it was opened.
            self._kept.arrived(self._at)
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

    def redraw_ages(self) -> None:
        self.events.redraw_rows()
        self.event_pane.renew_ages()

"""The Timeline screen: every event of the workspace, newest first, and the one under the cursor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable
from zoneinfo import ZoneInfo

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.message import Message

from workbench.errors import WorkbenchError
from workbench.tui.actions import Action
from workbench.tui.copying import CopyChoice
from workbench.tui.page import Page
from workbench.tui.present import Line, Span, counted, number
from workbench.tui.timeline.bars import FilterLine
from workbench.tui.timeline.detail import json_line, json_text
from workbench.tui.timeline.event_pane import EventPane
from workbench.tui.timeline.event_rows import event_rows, position_width
from workbench.tui.timeline.event_words import body_of, text_of
from workbench.tui.timeline.source import TimelineSource
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.rows import EventRow, TimelineFilter

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.app import WorkbenchApp
    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace

TYPING_SECONDS = 0.15
"""Pause in typing after which the filter is applied."""
RESTING_SECONDS = 0.08
"""Pause in moving after which the event under the cursor is shown; the first of many moves shows at once."""
AGES_SECONDS = 30.0


def _has_filter(app: WorkbenchApp) -> str:
    page = app.page
    return "" if isinstance(page, TimelinePage) and page.wanted else "no filter is set"


def _has_session(app: WorkbenchApp) -> str:
    if not any(page.NAME == "sessions" for page in app.PAGES):
        return "there is no Sessions screen"
    page = app.page
    row = page.cursor_event if isinstance(page, TimelinePage) else None
    return "" if row is not None and text_of(row, "chronicum_id") else "this event belongs to no session"


@runtime_checkable
class ShowsEntries(Protocol):
    """A screen that can be sent to one entry of a session."""

    def show_entry(self, chronicum_id: str, seq: int) -> None:
        """Show this session with the cursor on the entry that has this number in it."""


class SearchLooked(Message):
    """A search has come to a position; None: it has ended."""

    def __init__(self, source: TimelineSource, position: int | None) -> None:
        super().__init__()
        self.source = source
        self.position = position

    def can_replace(self, message: Message) -> bool:
        """The latest is as good as all."""
        return isinstance(message, SearchLooked) and message.source is self.source


class PlaceFound(Message):
    """A place that was asked for was found, or not (`error`)."""

    def __init__(self, position: int, passes: bool, error: WorkbenchError | None = None) -> None:
        super().__init__()
        self.position = position
        self.passes = passes
        self.error = error


class FilterOffered(Message):
    """The names that can be filtered by were read."""

    def __init__(self, types: list[str], actors: list[tuple[str, int]]) -> None:
        super().__init__()
        self.types = types
        self.actors = actors


class TimelinePage(Page):
    """The list of events and one event in words and as JSON."""

    NAME, TITLE, NUMBER = "timeline", "Timeline", 3
    LIST_SHARE = 55
    OFFERS = frozenset(
        {
            "page.filter",
            "page.goto",
            "page.copy",
            "page.select",
            "page.select_range",
            "page.next_tab",
            "page.previous_tab",
        }
    )
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action(
            "timeline.narrow",
            "types, actors",
            "Narrow the timeline to types of events and to actors.",
            ("f",),
            "timeline",
            "Find",
            "narrow",
            footer=25,
        ),
        Action(
            "timeline.clear",
            "clear filters",
            "Show every event again.",
            ("c",),
            "timeline",
            "Find",
            "clear_filters",
            reason=_has_filter,
        ),
        Action(
            "timeline.session",
            "session",
            "Open this event's session at this event.",
            ("o",),
            "timeline",
            "Act",
            "open_session",
            footer=50,
            reason=_has_session,
        ),
        Action(
            "timeline.utc",
            "UTC",
            "Show times in UTC, or in the workspace's time zone again.",
            ("u",),
            "timeline",
            "View",
            "toggle_utc",
        ),
    )

    def __init__(self) -> None:
        super().__init__()
        self.wanted = TimelineFilter()
        """The filter that is set."""
        self._source: TimelineSource | None = None
        self._at: int | None = None
        """The position under the cursor, now or when the program was left."""
        self._width = position_width(0)
        self._looked: int | None = None
        self._new = (0, False)
        self._count = ""
        self._typing: Timer | None = None
        self._resting: Timer | None = None
        self._moved = 0.0
        self._moment: datetime | None = None
        """From which every age in the list is counted, so that none is newer than its neighbours."""

    # The two panes

    def compose_list(self) -> ComposeResult:
        yield FilterLine(css_id="timeline-filter")
        events: VirtualList[EventRow] = VirtualList(event_rows(self._width, self._now))
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
        return self.events.cursor_row if self.is_mounted else None

    # What the shell asks

    def restore(self, state: ScreenState) -> None:
        values = state.values
        self.wanted = TimelineFilter(
            types=_names(values.get("types", "")),
            actors=_names(values.get("actors", "")),
            text=values.get("text", ""),
        )
        self.set_filter(self.wanted.text)
        self._at = int(state.selected) if state.selected.isdecimal() else None
        self._show_filter()

    def remember(self, state: ScreenState) -> None:
        if self._source is None:
            return
        # Who was at the newest event wants to see the newest event.
        state.selected = "" if self._at in (None, self._source.newest) else str(self._at)
        wanted = {
            "types": msgspec.json.encode(self.wanted.types).decode() if self.wanted.types else "",
            "actors": msgspec.json.encode(self.wanted.actors).decode() if self.wanted.actors else "",
            "text": self.wanted.text,
        }
        state.values = {name: value for name, value in wanted.items() if value}

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self.event_pane.open(workspace.readers, ZoneInfo(workspace.timezone))
        self._read(at=self._at)
        self._renew_ages()
        self.set_interval(AGES_SECONDS, self._ages_passed)

    def on_committed(self) -> None:
        self._renew_ages()
        self.events.refresh_live()

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
        if seen and not self.wanted and not status.loading:
            # A row's number in the whole timeline is its position.
            text = replace(status, first=seen[0].position, last=seen[-1].position).text()
        said = [text]
        if self._looked is not None:
            said.insert(0, f"looked back to {number(self._looked)}")
        count, more = self._new
        if count:
            key = self.app.keymap.shown("list.first").split(" ")[0]
            said.insert(0, f"{number(count)}{'+' if more else ''} new ↑ {key}")
        super().set_count("  ".join(said))

    # Filters

    def _apply(self, wanted: TimelineFilter) -> None:
        """Narrow the list, the cursor where it was as near as the filter allows."""
        if wanted == self.wanted:
            return
        self.wanted = wanted
        self._show_filter()
        newest = None if self._source is None else self._source.newest
        self._read(at=None if self._at == newest else self._at)

    def _read(self, at: object = None) -> None:
        workspace = self.app.workspace
        if workspace is None:
            return
        if self._source is not None:
            self._source.close()
        self._looked = None
        self._source = TimelineSource(workspace.readers.timeline, self.wanted, self._say_looked)
        self.events.empty_lines = self._empty_lines()
        self.events.set_source(self._source, at)

    def _say_looked(self, source: TimelineSource, position: int | None) -> None:
        self.post_message(SearchLooked(source, position))

    def _show_filter(self) -> None:
        self.query_one(FilterLine).show(self.wanted, self.app.keymap.shown("timeline.clear"))

    def _empty_lines(self) -> list[Line]:
        if self.wanted:
            clear = self.app.keymap.shown("timeline.clear")
            return [
                (),
                (Span("No event matches the filter", "strong"),),
                (Span(clear, "accent"), Span(" shows every event again.", "dim")),
            ]
        return [
            (),
            (Span("No events yet", "strong"),),
            (Span("Whatever is recorded appears here at once.", "dim"),),
            (),
            (Span("To bring in transcripts:", "dim"),),
            (Span("workbench import claude-code", "ink"),),
            (Span("To record an entry:", "dim"),),
            (Span("workbench sessions record --help", "ink"),),
        ]

    # Messages

    def on_search_looked(self, message: SearchLooked) -> None:
        """Say how far back the search has come."""
        if message.source is self._source:
            self._looked = message.position
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
            self.events.renderer = event_rows(width, self._now)

    @on(Highlighted)
    def _cursor_moved(self, message: Highlighted) -> None:
        """Show the event under the cursor: at once, or after a run of moves."""
        self._at = None if message.row is None else message.row.position
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

    def on_place_found(self, message: PlaceFound) -> None:
        """Go there."""
        if message.error is not None:
            self.app.show_failure(message.error)
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
                self._apply(msgspec.structs.replace(self.wanted, types=chosen.types, actors=chosen.actors))

        chosen = Chosen(self.wanted.types, self.wanted.actors)
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

    # Going somewhere

    GOTO_HINT = "a position, an event's id or a date such as 2026-03-02 14:00"

    def goto(self, text: str) -> None:
        """Go to a position, an event or a moment; raises `NoSuchPlace` for any other text."""
        from workbench.tui.timeline.places import find_place, parse_place

        workspace = self.app.workspace
        if workspace is None:
            return
        reader, wanted = workspace.readers.timeline, self.wanted
        place = parse_place(text, ZoneInfo(workspace.timezone))

        def find() -> None:
            try:
                position = find_place(reader, place)
            except WorkbenchError as error:
                self.post_message(PlaceFound(0, False, error))
                return
            found = reader.search(wanted, 1, after=position - 1, go_on=lambda looked, found: False).rows
            self.post_message(PlaceFound(position, bool(found) and found[0].position == position))

        self._in_thread(find, "goto", "Finding a place on the timeline")

    # Actions

    def action_next_tab(self) -> None:
        """The event's other side."""
        self.event_pane.turn(1)

    def action_previous_tab(self) -> None:
        """The event's other side."""
        self.event_pane.turn(-1)

    def action_toggle_utc(self) -> None:
        """Times in UTC, or in the workspace's zone."""
        self.event_pane.toggle_utc()

    def action_clear_filters(self) -> None:
        """Show every event."""
        self.set_filter("")
        self._apply(TimelineFilter())

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

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        """The selected events as JSON lines, or the forms of the one under the cursor."""
        if not self.is_mounted:
            return []
        selected = sorted(self.events.selected_rows, key=lambda row: row.position)
        if selected:
            title = counted(len(selected), "event")
            return [
                CopyChoice(f"{title} as JSON lines", lambda: self._json_lines(selected)),
                CopyChoice(f"{title}: texts", lambda: "\n\n".join(self._body(row) for row in selected)),
                CopyChoice(f"{title}: ids", "\n".join(row.event_id for row in selected)),
            ]
        row = self.cursor_event
        if row is None:
            return []
        event = row
        root = quote(str(self.app.root))
        return [
            CopyChoice("id", event.event_id),
            CopyChoice("text", lambda: self._body(event)),
            CopyChoice("JSON", lambda: json_text(self._whole(event))),
            CopyChoice("position", str(event.position)),
            CopyChoice(
                "command",
                f"workbench timeline --root {root} --after {event.position - 1} --limit 1 --format json",
            ),
        ]

    def _whole(self, row: EventRow) -> EventRow:
        workspace = self.app.workspace
        if row.whole or workspace is None:
            return row
        return workspace.readers.timeline.event(row.position) or row

    def _body(self, row: EventRow) -> str:
        return body_of(self._whole(row))

    def _json_lines(self, rows: list[EventRow]) -> str:
        return "".join(json_line(self._whole(row)) + "\n" for row in rows)

    def _in_thread(self, work: Callable[[], object], group: str, description: str) -> None:
        self.run_worker(
            work,
            group=f"timeline-{group}",
            description=description,
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )


def _names(text: str) -> tuple[str, ...]:
    """Names out of the remembered state; a text that is none is no filter."""
    try:
        return tuple(msgspec.json.decode(text, type=list[str])) if text else ()
    except msgspec.DecodeError:
        return ()


PAGE = TimelinePage

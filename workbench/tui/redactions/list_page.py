"""The list of redactions as a page: filter, strip, detail, going somewhere."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.events import Resize

from workbench.log.times import to_micros
from workbench.tui.copying import CopyChoice
from workbench.tui.destinations import ToEvent, ToSession
from workbench.tui.present import counted
from workbench.tui.reading_page import ReadingPage
from workbench.tui.redactions.filters import (
    RedactionFilterLine,
    filter_from,
    filter_parts,
    filter_values,
    filter_words,
    moment_of,
    without,
)
from workbench.tui.redactions.hints import (
    empty_lines,
    guidance,
)
from workbench.tui.redactions.kinds_strip import KindsStrip
from workbench.tui.redactions.messages import (
    DaysCounted,
    EventFound,
    NamesOffered,
    PlaceFound,
)
from workbench.tui.redactions.over_time import day_number, over_time, zone_offset
from workbench.tui.redactions.redaction_pane import RedactionPane
from workbench.tui.redactions.redaction_rows import RedactionRows
from workbench.tui.redactions.redaction_source import RedactionSource
from workbench.tui.timeline.places import Moment, NoSuchPlace, parse_place
from workbench.tui.timeline.strip import LEAST_ROWS, TALL_ROWS
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.readers.redaction_queries import DayCount
from workbench.workspace.readers.timeline_dates import parse_range, range_text
from workbench.workspace.rows import RedactionFilter, RedactionPlace, RedactionRow, TimelineFilter

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace

RECOUNT_SECONDS = 0.5
"""After a commit what is counted is counted again at most so often."""
GOTO_HINT = "The position of an event, or when a redaction was noted: 2026-03-02 · yesterday · 3 days ago"
"""Where `page.goto` can go here."""
_NO_PLACE = "this is no position of an event and no time"
RANGE_HINT = "From and to, as 2026-03-01 .. 2026-03-04, 2026-03 or yesterday; nothing for all of it"
_ACTORS = 500
"""Actors that are offered to narrow the list to."""
_DAY = 86_400_000_000


class RedactionListPage(ReadingPage):
    """The list of redactions; the detail has the text around one, kinds over time, and backups."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = RedactionFilter()
        """The filter that is set."""
        self._workspace: Workspace | None = None
        self._zone: tzinfo = UTC
        self._days: tuple[DayCount, ...] = ()
        self._at: RedactionPlace | None = None
        self._first = True
        """The cursor is on the newest redaction."""
        self._new = (0, False)
        self._count = ""
        self._recount: Timer | None = None
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self._rows = RedactionRows(self._now)
        self.redactions: VirtualList[RedactionRow] = VirtualList(self._rows, id="redactions")
        """The list."""
        self.redactions.follow = True
        self.pane = RedactionPane(self._now, css_id="redaction")
        """The detail."""
        self.strip = KindsStrip(css_id="redactions-strip")
        self._filter_line = RedactionFilterLine(css_id="redactions-filter")

    def compose_list(self) -> ComposeResult:
        yield self.strip
        yield self._filter_line
        yield self.redactions

    def compose_detail(self) -> ComposeResult:
        yield self.pane

    @property
    def cursor_redaction(self) -> RedactionRow | None:
        """The redaction under the cursor."""
        row: RedactionRow | None = self.cursor_row
        return row

    # What the shell asks

    def restore(self, state: ScreenState) -> None:
        self.wanted = filter_from(state.values)
        self.set_filter(self.wanted.text)
        self.pane.show_side(state.values.get("side", ""))
        noted, _, ordinal = state.selected.partition(".")
        if noted.isdecimal() and ordinal.isdecimal():
            self._at = RedactionPlace(int(noted), int(ordinal))

    def remember(self, state: ScreenState) -> None:
        # Who was at the newest one wants to see the newest one.
        state.selected = "" if self._at is None or self._first else f"{self._at.noted}.{self._at.ordinal}"
        state.values = filter_values(self.wanted)
        if self.pane.side != "around":
            state.values["side"] = self.pane.side

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._zone = ZoneInfo(workspace.timezone)
        self.pane.open(workspace, self._zone)
        self._show_filter()
        self._read(at=self._at)
        self._ask_again()
        self.pane.show_side(self.pane.side)
        self._begin_ages()

    def on_committed(self) -> None:
        self._renew_ages()
        self.redactions.refresh_live()
        self.pane.renew()
        if self._recount is None:
            # Of many commits in a row some are followed.
            self._recount = self.set_timer(RECOUNT_SECONDS, self._ask_again)

    def filter_typed(self) -> None:
        self._apply(self.wanted._replace(text=self.filter_text.strip()))

    def set_count(self, text: str) -> None:
        self._count = text
        new = self.new_rows_words(*self._new)
        if new:
            text = f"{new}  {text}"
        if self.query("#list-bar"):
            super().set_count(text)

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        rows = self.app.size.height
        self.strip.set_class(rows >= LEAST_ROWS, "-shown")
        self.strip.set_class(rows >= TALL_ROWS, "-tall")

    # Reading

    def _apply(self, wanted: RedactionFilter) -> None:
        """Narrow the list, the cursor where it was as near as the filter allows."""
        if wanted == self.wanted:
            return
        at = None if self._first else self._at
        at = self.back_from_search(self.wanted.text, wanted.text, at, chosen=not self._first)
        self.wanted = wanted
        if wanted.text != self.filter_text.strip():
            self.set_filter(wanted.text)
        self._show_filter()
        self._read(at=at)
        self._count_days()
        self.update_footer()

    def _read(self, at: RedactionPlace | None = None) -> None:
        if self._workspace is None:
            return
        keymap = self.app.keymap
        clear, pad = keymap.shown("redactions.clear"), keymap.shown("redactions.pad")
        self.redactions.empty_lines = empty_lines(self.wanted, clear, pad, self.app.root)
        self.redactions.set_source(RedactionSource(self._workspace.readers.redactions, self.wanted), at)

    def _show_filter(self) -> None:
        key = self.app.keymap.shown("redactions.clear")
        self._filter_line.show_filter(self.wanted, key, self._zone)

    def _ask_again(self) -> None:
        self._recount = None
        self.count_again()

    def count_again(self) -> None:
        """Something was stored: count again what is shown; after many commits in a row some are followed."""
        self._count_days()

    def _count_days(self) -> None:
        workspace, wanted = self._workspace, self.wanted
        if workspace is None:
            return
        offset = zone_offset(self._zone, self.app.clock())

        def work() -> None:
            self.post_message(DaysCounted(wanted, workspace.readers.redactions.days(wanted, offset)))

        self.in_thread(work, "days", "Counting redactions")

    def on_days_counted(self, message: DaysCounted) -> None:
        """Draw what was counted."""
        if message.wanted == self.wanted:
            self._days = tuple(message.days)
            self._fit_kinds()
            self._draw_over_time()

    def _fit_kinds(self) -> None:
        """The column of kinds is as wide as the longest that is listed."""
        longest = max((len(day.kind) for day in self._days), default=self._rows.longest)
        if longest != self._rows.longest:
            self._rows = replace(self._rows, longest=longest)
            self.redactions.renderer = self._rows

    def on_kinds_strip_resized(self) -> None:
        """There is room for another number of bars."""
        self._draw_over_time()

    def _draw_over_time(self) -> None:
        # A strip without bars is hidden: it has no width of its own.
        room = max(self.query_one("#list-content").size.width - 4, 20)
        over = over_time(self._days, room, day_number(self._now(), self._zone))
        self.strip.show(over)
        words = "".join(span.text for span in filter_words(self.wanted, self._zone, self._filter_line.titles))
        self.pane.show_over_time(over, f"of {words}" if words else "")

    # What the list and the detail tell

    @on(NewRows, "#redactions")
    def _rows_came(self, message: NewRows) -> None:
        self._new = (message.count, message.more)
        self.set_count(self._count)

    @on(Highlighted, "#redactions")
    def _cursor_moved(self, message: Highlighted) -> None:
        row: RedactionRow | None = message.row
        self._at = None if row is None else row.place
        seen = self.redactions.visible_rows
        self._first = row is None or (
            self.redactions.status.first == 1 and bool(seen) and seen[0].place == row.place
        )
        self.strip.point(None if row is None else day_number(row.noted_at, self._zone))
        self._show_row()

    @on(StatusChanged, "#redactions")
    def _list_read(self, message: StatusChanged) -> None:
        if self.cursor_redaction is None and not message.status.loading:
            self._show_row()

    def _show_row(self) -> None:
        row = self.cursor_redaction
        nothing = row is None and self.wanted == RedactionFilter() and not self.redactions.failed
        self.pane.show(row, guidance(self.app.root) if nothing else ())

    @on(Opened, "#redactions")
    def _entered(self, message: Opened) -> None:
        """Who goes in wants to see what stood around it."""
        if self.pane.side != "around":
            self.pane.show_side("around")

    def on_filter_line_named(self) -> None:
        """What the filter's session is called is known now."""
        self._draw_over_time()

    def on_redaction_filter_line_dropped(self, message: RedactionFilterLine.Dropped) -> None:
        """A part of the filter was clicked away."""
        self._drop(message.name)

    def on_filter_line_dropped(self, message: RedactionFilterLine.Dropped) -> None:
        """A part of the filter was clicked away."""
        self._drop(message.name)

    def _drop(self, name: str) -> None:
        self._apply(without(self.wanted, name) if name else RedactionFilter())

    def on_kinds_strip_chosen(self, message: KindsStrip.Chosen) -> None:
        """Go to the last redaction of a bar."""
        offset = zone_offset(self._zone, self.app.clock())
        self._go_to_moment((message.last + 1) * _DAY - offset - 1)

    def redraw_ages(self) -> None:
        self.redactions.redraw_rows()
        self.pane.redraw()

    # Going somewhere

    def goto(self, text: str) -> None:
        """Go to the redactions of an event or of a moment; raises `NoSuchPlace` for any other text."""
        workspace = self._workspace
        if workspace is None:
            return
        try:
            place = parse_place(text, self._zone, self.app.clock())
        except NoSuchPlace:
            raise NoSuchPlace(_NO_PLACE, hint=GOTO_HINT) from None
        if isinstance(place, Moment):
            self._go_to_moment(place.micros)
            return
        if not isinstance(place, int):
            raise NoSuchPlace(_NO_PLACE, hint=GOTO_HINT)
        position = place
        reader = workspace.readers.redactions

        def work() -> None:
            self.post_message(PlaceFound(reader.place_of_event(position) or RedactionPlace(position, 0)))

        self.in_thread(work, "goto", "Looking for a redaction")

    def _go_to_moment(self, micros: int) -> None:
        workspace = self._workspace
        if workspace is None:
            return
        reader = workspace.readers.redactions

        def work() -> None:
            place = reader.place_at(micros)
            told = "" if place is not None else "Nothing was noted by then: this is the first redaction."
            self.post_message(PlaceFound(place or RedactionPlace(0, 0), told))

        self.in_thread(work, "goto", "Looking for a redaction")

    def on_place_found(self, message: PlaceFound) -> None:
        """Go there, or to what is nearest."""
        if self._showing_detail:
            self.show_list()
        self.redactions.go_to(message.place)
        if message.told and self.cursor_redaction is not None:
            self.app.notify(message.told)

    def action_open_event(self) -> None:
        """The session at the event, or the event on the Timeline."""
        row, workspace = self.cursor_redaction, self._workspace
        if row is None or workspace is None:
            return
        if not row.chronicum_id or not self.app.has_screen("sessions"):
            self.run_worker(self.action_show_on_timeline(), exit_on_error=False)
            return
        reader, position, session = workspace.readers.timeline, row.position, row.chronicum_id

        def work() -> None:
            found = reader.search(TimelineFilter(), 1, after=position - 1).rows
            if found and found[0].position == position:
                self.post_message(EventFound(session, found[0].seq))

        self.in_thread(work, "event", "Looking for an event")

    async def on_event_found(self, message: EventFound) -> None:
        """Show the session there."""
        await self.app.lead_to(ToSession(message.chronicum_id, message.seq))

    async def action_show_on_timeline(self) -> None:
        """The event on the Timeline."""
        row = self.cursor_redaction
        if row is None or not row.position:
            return
        await self.app.lead_to(ToEvent(row.position))

    # Narrowing

    def action_next_tab(self) -> None:
        """The next side of the detail."""
        self.pane.turn(1)

    def action_previous_tab(self) -> None:
        """The side of the detail before."""
        self.pane.turn(-1)

    def action_toggle_utc(self) -> None:
        """Times in UTC, or in the workspace's zone."""
        self.pane.toggle_utc()

    def action_clear_filters(self) -> None:
        """Show every redaction."""
        self._apply(RedactionFilter())

    def action_drop_filter(self) -> None:
        """Take the last part of the filter away."""
        parts = filter_parts(self.wanted)
        if parts:
            self._apply(without(self.wanted, parts[-1].name))

    def action_toggle_stream(self) -> None:
        """Only the stream of this event, or all."""
        row = self.cursor_redaction
        if self.wanted.stream:
            self._apply(self.wanted._replace(stream=""))
        elif row is not None:
            self._apply(self.wanted._replace(stream=row.stream))

    def action_range(self) -> None:
        """Ask from when until when."""
        from workbench.tui.dialogs.prompt import PromptDialog

        def read(text: str) -> tuple[datetime | None, datetime | None] | None:
            return parse_range(text, self._zone, self.app.clock()) if text.strip() else (None, None)

        def check(text: str) -> str:
            return "" if read(text) is not None else f"That names no time. {RANGE_HINT}."

        def narrow(text: str | None) -> None:
            found = None if text is None else read(text)
            if found is not None:
                since, until = (None if end is None else to_micros(end) for end in found)
                self._apply(self.wanted._replace(since=since, until=until))

        since, until = moment_of(self.wanted.since), moment_of(self.wanted.until)
        offered = range_text(since, until, self._zone) if since or until else ""
        self.app.push_screen(PromptDialog("Noted when", RANGE_HINT, offered, check), narrow)

    def action_narrow(self) -> None:
        """Offer kinds and actors."""
        workspace = self._workspace
        if workspace is None:
            return
        reader = workspace.readers.redactions
        self.in_thread(
            lambda: self.post_message(NamesOffered(reader.kinds(), reader.actors(_ACTORS))),
            "names",
            "Reading kinds and actors",
        )

    def on_names_offered(self, message: NamesOffered) -> None:
        """Open the list of them."""
        from workbench.tui.dialogs.choose import Choice, ChooseDialog

        def said(secrets: int, chosen: bool) -> str:
            return f"{counted(secrets, 'secret')}{' · chosen: again for all' if chosen else ''}"

        wanted = self.wanted
        choices = [
            Choice(f"kind {each.kind}", each.kind, said(each.secrets, each.kind in wanted.kinds))
            for each in message.kinds
        ]
        choices += [
            Choice(f"actor {name}", f"by {name}", said(secrets, name == wanted.actor))
            for name, secrets in message.actors
        ]

        def narrow(chosen: str | None) -> None:
            what, _, name = (chosen or "").partition(" ")
            if what == "kind":
                self._apply(wanted._replace(kinds=() if name in wanted.kinds else (name,)))
            elif what == "actor":
                self._apply(wanted._replace(actor="" if name == wanted.actor else name))

        if not choices:
            self.app.notify("Nothing was removed yet.")
            return
        self.app.push_screen(ChooseDialog("Narrow to a kind or an actor", choices), narrow)

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        """The forms of the redaction under the cursor."""
        row = self.cursor_redaction
        if row is None:
            return []
        root = shlex.quote(str(self.app.root))
        texts = [
            ("position of the event", str(row.position) if row.position else ""),
            ("field", row.field),
            ("kind", row.kind),
            ("session", row.chronicum_id),
            ("stream", row.stream),
            ("JSON", msgspec.json.format(msgspec.json.encode(row)).decode()),
            ("command", f"workbench redactions list --root {root} --kind {shlex.quote(row.kind)}"),
        ]
        return [CopyChoice(label, text) for label, text in texts if text]

"""The Timeline screen: every event of the workspace, newest first, and the one under the cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import msgspec

from workbench.errors import WorkbenchError
from workbench.memory.events import ReviewItem
from workbench.tui.copying import CopyChoice
from workbench.tui.destinations import Destination, ToChronicle, ToEvent, ToFact, ToSession, ToTask
from workbench.tui.present import number
from workbench.tui.timeline.bars import filter_parts, without
from workbench.tui.timeline.bookmarks import Bookmark
from workbench.tui.timeline.copies import event_copies
from workbench.tui.timeline.event_words import event_line, text_of
from workbench.tui.timeline.messages import FilterOffered, LinksRead, PlaceFound, VerdictOffered, Withheld
from workbench.tui.timeline.page_actions import LEADS, NAME, TIMELINE_ACTIONS
from workbench.tui.timeline.places import HINT, Moment, NoSuchPlace, beyond_all, find_place, parse_place
from workbench.tui.timeline.strip_page import TimelineStripPage
from workbench.tui.verdicts import VerdictsWritten, ask_verdict, tell_verdicts
from workbench.workspace.rows import EventRow, TimelineFilter

if TYPE_CHECKING:
    from workbench.tui.actions import Action
    from workbench.workspace.readers.event_links import EventLinks

MOST_EARLIER = 50
"""Verdicts that are looked through for the latest on the whole."""


class TimelinePage(TimelineStripPage):
    """The list of events and one event in words and as JSON; ways to its task, its fact, its session."""

    NAME, TITLE, NUMBER = NAME, "Timeline", 3
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
    ON_SELECTION = (("page.copy", "copy {}"),)
    ACTIONS = TIMELINE_ACTIONS
    GOTO_HINT = HINT[:1].upper() + HINT[1:]

    def __init__(self) -> None:
        super().__init__()
        self._links: EventLinks | None = None
        self._waiting = ""
        """The action that a person chose before it was known what the event belongs to."""

    # What the event belongs to

    @property
    def links(self) -> EventLinks | None:
        """What the event under the cursor belongs to; None while it is read."""
        event, links = self.cursor_event, self._links
        return links if event is not None and links is not None and links.position == event.position else None

    def _show_event(self) -> None:
        super()._show_event()
        self._waiting = ""
        self._show_links()

    def _show_links(self) -> None:
        event, workspace, as_of = self.cursor_event, self.app.workspace, self.app.as_of
        if event is None or workspace is None:
            return
        reader, position = workspace.readers.event_links, event.position
        upto = None if as_of is None else as_of.position

        def read() -> None:
            self.post_message(LinksRead(reader.links(position, upto)))

        self.in_thread(read, "links", "Reading what an event belongs to")

    def on_links_read(self, message: LinksRead) -> None:
        """Other keys may be live now; an action that waited for it is run, or says why it cannot."""
        self._links = message.links
        self.update_footer()
        waiting, self._waiting = self._waiting, ""
        if waiting and self.links is not None:
            self.run_worker(self.app.run_action(f"app.perform({waiting!r})"), exit_on_error=False)

    def _known(self, action: str) -> EventLinks | None:
        """What the event belongs to; None where that is read first, and the action then run again."""
        links = self.links
        if links is None and self.cursor_event is not None:
            self._waiting = f"{NAME}.{action}"
        return links

    def reachable_actions(self) -> list[Action]:
        """The footer names where this event leads, and nothing that it does not have."""
        kept = ("", self.app.access.write_refusal)

        def has(action: Action) -> bool:
            if action.id not in LEADS:
                return True
            known = self.links is not None or action.reason(self.app) != ""
            return known and action.reason(self.app) in kept

        actions = super().reachable_actions()
        return [action if has(action) else replace(action, footer=0) for action in actions]

    # Going somewhere

    def goto(self, text: str) -> None:
        """Go to a position, an event or a moment; raises `NoSuchPlace` for any other text."""
        reader, wanted = self.reader, self.wanted
        if reader is None:
            return
        zone = self._zone
        place = parse_place(text, zone, self.app.clock())

        def find() -> None:
            try:
                position = find_place(reader, place)
            except WorkbenchError as error:
                self.post_message(PlaceFound(0, False, error))
                return
            passes = isinstance(place, Moment) or reader.passes(wanted, position)
            told = beyond_all(reader, place, zone) if isinstance(place, Moment) else ""
            self.post_message(PlaceFound(position, passes, told=told))

        self.in_thread(find, "goto", "Finding a place on the timeline")

    def on_place_found(self, message: PlaceFound) -> None:
        """Go there."""
        self.aimed()
        if message.error is not None:
            self.app.show_failure(message.error)
            return
        if not message.position:
            self.point()
            return
        if self._showing_detail:
            self.show_list()
        if message.led and not message.passes:
            # Whoever was led to an event wants to see it, whatever was filtered before.
            own = self._gave_way or self.wanted
            self._at = message.position
            self.apply(TimelineFilter())
            self._gave_way = own
        self.events.go_to(message.position)
        if message.told:
            self.app.notify(message.told)
        if not message.passes and not message.led:
            clear = self.app.keymap.shown("timeline.clear")
            self.app.notify(
                f"Event {number(message.position)} does not pass the filter: this is the nearest that does. "
                f"{clear} clears the filter."
            )

    def moment_here(self) -> str:
        event = self.cursor_event
        return "" if event is None else str(event.position)

    def arrive(self, destination: Destination) -> None:
        reader, wanted = self.reader, self.wanted
        if not isinstance(destination, ToEvent) or reader is None:
            return
        now = self.app.keymap.shown("app.now")

        def find() -> None:
            position = destination.position or reader.position_of(_event_id(destination.event_id)) or 0
            if not 1 <= position <= reader.bounds().last:
                later = "it was recorded after the moment that is shown"
                error = NoSuchPlace(later, hint=f"{now} comes back to now.")
                self.post_message(PlaceFound(0, False, error))
                return
            self.post_message(PlaceFound(position, reader.passes(wanted, position), led=True))

        self.in_thread(find, "goto", "Finding an event")

    def bookmark(self) -> Bookmark:
        return Bookmark(
            self.wanted,
            self._gave_way,
            self.order,
            self._at,
            self.event_pane.tabs.active,
            self._showing_detail,
            self.focused_in_detail(),
        )

    def return_to(self, bookmark: Any) -> None:
        if not isinstance(bookmark, Bookmark):
            return
        if (bookmark.order, bookmark.wanted) != (self.order, self.wanted):
            self._set_order(bookmark.order)
            self._at = bookmark.position
            self.apply(bookmark.wanted)
            self._read(at=bookmark.position)
        elif bookmark.position is not None and bookmark.position != self._at:
            self.events.go_to(bookmark.position)
        self._gave_way = bookmark.gave_way
        self.event_pane.show_side(bookmark.side)
        if bookmark.detail or bookmark.in_detail:
            self.show_detail(focus=bookmark.in_detail)
        elif self._showing_detail:
            self.show_list()

    def ways_ended(self) -> None:
        if self._gave_way is not None:
            self.apply(self._gave_way)

    async def action_open_session(self) -> None:
        """Show the event in its session, or the session that recorded it."""
        event = self.cursor_event
        if event is None:
            return
        session = text_of(event, "chronicum_id")
        if session:
            await self.app.lead_to(ToSession(session, event.seq))
            return
        links = self._known("session")
        if links is not None and links.session is not None:
            await self.app.lead_to(ToSession(links.session))

    async def action_open_chronicle(self) -> None:
        """Show the section that stands for the event."""
        event = self.cursor_event
        if event is not None:
            await self.app.lead_to(ToChronicle(event.stream, event.seq))

    async def action_open_task(self) -> None:
        """Show the event's task."""
        links = self._known("task")
        if links is not None and links.task is not None:
            task = links.task
            await self.app.lead_to(ToTask(task.project, task.task_id, task.domain, task.checkpoint_id))

    async def action_open_fact(self) -> None:
        """Show the event's fact."""
        links = self._known("fact")
        if links is not None and links.fact_id:
            await self.app.lead_to(ToFact(links.fact_id))

    async def action_open_cause(self) -> None:
        """Go to what caused the event."""
        links = self._known("cause")
        if links is not None and links.cause:
            await self.app.lead_to(ToEvent(links.cause))

    def action_open_evidence(self) -> None:
        """Look at a source file of the event; the others are a key away."""
        from workbench.tui.evidence_viewer import open_evidence

        links = self._known("evidence")
        if links is not None and links.evidence:
            file = links.evidence[0]
            open_evidence(self.app, sha256=file.sha256, path=file.path, position=links.position)

    # Withholding

    def action_quarantine(self) -> None:
        """Withhold the observation from agents, or release it, for a reason."""
        from workbench.tui.timeline.withholding import WithholdDialog

        links, workspace, event = self._known("quarantine"), self.app.workspace, self.cursor_event
        if links is None or workspace is None or event is None or not links.observation_id:
            return
        dialog = WithholdDialog(workspace, links.observation_id, event, release=links.quarantined)

        def done(said: str | None) -> None:
            if said:
                self.app.notify(said)
                self.post_message(Withheld(event.position))

        self.app.push_screen(dialog, done)

    def on_withheld(self, message: Withheld) -> None:
        """Draw what is true of the event now."""
        self._links = None
        self.event_pane.forget()
        self._read(at=message.position)

    def action_verdict(self) -> None:
        """Ask for a verdict on the checkpoint, the fact or the observation."""
        from workbench.tui.dialogs.verdict import Judged

        links, workspace, event = self._known("verdict"), self.app.workspace, self.cursor_event
        if links is None or workspace is None or event is None or not links.target_kind:
            return
        memory, kind, target = workspace.memory, links.target_kind, links.target_id
        title, text = f"{kind} {number(event.position)}", _line_of(event)

        def read() -> None:
            known = memory.reviews(target_id=target, limit=MOST_EARLIER, raw=True).reviews
            # The newest stands first; those of single lines say nothing of the whole.
            earlier = next((each for each in known if not isinstance(each.item, ReviewItem)), None)
            self.post_message(VerdictOffered(Judged(kind, target, title, text, earlier)))

        self.in_thread(read, "verdict", "Reading earlier verdicts")

    def on_verdict_offered(self, message: VerdictOffered) -> None:
        """Ask."""
        ask_verdict(self, message.judged)

    def on_verdicts_written(self, message: VerdictsWritten) -> None:
        """Say what became of it."""
        tell_verdicts(self, message, self.on_committed)

    # Narrowing

    def action_narrow(self) -> None:
        """Offer types, projects, agents and so on."""
        reader = self.reader
        if reader is None:
            return

        def read() -> None:
            self.post_message(FilterOffered(reader.types(), reader.actors(1500), reader.offered()))

        self.in_thread(read, "names", "Reading the names that can be filtered by")

    def on_filter_offered(self, message: FilterOffered) -> None:
        """Open the dialog."""
        from workbench.tui.timeline.filter_dialog import TimelineFilterDialog

        def narrow(chosen: TimelineFilter | None) -> None:
            if chosen is not None:
                self.apply(chosen)

        self.app.push_screen(
            TimelineFilterDialog(message.types, message.actors, message.offered, self.wanted), narrow
        )

    def action_clear_filters(self) -> None:
        """Show every event."""
        self.apply(TimelineFilter())

    def action_drop_filter(self) -> None:
        """Take the last part of the filter away."""
        parts = filter_parts(self.wanted)
        if parts:
            self.apply(without(self.wanted, parts[-1].name))

    def action_toggle_stream(self) -> None:
        """Only the stream of this event, or all."""
        event = self.cursor_event
        if event is not None:
            streams = () if self.wanted.streams else (event.stream,)
            self.apply(msgspec.structs.replace(self.wanted, streams=streams))

    # The detail

    def action_next_tab(self, sides: int = 1) -> None:
        """The event's other side."""
        self.event_pane.turn(sides)

    def action_previous_tab(self) -> None:
        """The event's other side."""
        self.action_next_tab(-1)

    def action_toggle_utc(self) -> None:
        """Times in UTC, or in the workspace's zone."""
        self.event_pane.toggle_utc()

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        """The selected events as JSON lines, or the forms of the one under the cursor."""
        if not self.is_mounted:
            return []
        rows = self.events.selected_rows
        return event_copies(self.app.workspace, self.app.root, rows, self.cursor_event)


def _line_of(event: EventRow) -> str:
    return "".join(span.text for span in event_line(event))


def _event_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)


PAGE = TimelinePage

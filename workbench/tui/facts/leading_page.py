"""Going somewhere on the Facts screen, being led to it, and leading on to what a fact belongs to."""

from __future__ import annotations

from typing import Any

from textual import on

from workbench.tui.destinations import Destination, ToChronicle, ToEvent, ToFact
from workbench.tui.facts.bookmarks import Bookmark
from workbench.tui.facts.going import find_fact, where_of
from workbench.tui.facts.list_page import FactListPage
from workbench.tui.facts.messages import FactFound, NoFactFound
from workbench.tui.facts.stops import FactStop, Stop
from workbench.tui.timeline.places import NoSuchPlace
from workbench.tui.widgets.list_messages import Opened
from workbench.workspace.fact_rows import FactFilter


class FactLeadingPage(FactListPage):
    """The list of facts as a place that one can go to and lead from."""

    def arrive(self, destination: Destination) -> None:
        """Show a fact that the person was led to, in the list what its slot holds."""
        workspace = self._workspace
        if not isinstance(destination, ToFact) or workspace is None:
            return
        reader, as_of, wanted = workspace.readers.facts, self.as_of, self.wanted
        now = self.app.keymap.shown("app.now")

        def work() -> None:
            position = reader.position_of(destination.fact_id)
            place = None if position is None else reader.place(position, as_of=as_of)
            if place is None:
                later = (
                    "it was asserted after the moment that is shown" if position else "no fact has this id"
                )
                hint = f"{now} comes back to now." if position else ""
                self.post_message(NoFactFound(NoSuchPlace(later, hint=hint)))
                return
            passes = reader.passes(wanted, place.position, as_of=as_of)
            self.post_message(FactFound(place.position, passes, led=True))

        self.in_thread(work, "goto", "Looking for a fact")

    def bookmark(self) -> Bookmark:
        return Bookmark(
            self.wanted,
            self._gave_way,
            self.order,
            self._at,
            self._showing_detail,
            self.focused_in_detail(),
        )

    def return_to(self, bookmark: Any) -> None:
        if not isinstance(bookmark, Bookmark):
            return
        if (bookmark.wanted, bookmark.order) != (self.wanted, self.order):
            self._at, self._first = bookmark.position, False
            self.apply(bookmark.wanted, bookmark.order)
            self._read(at=bookmark.position)
        elif bookmark.position is not None and bookmark.position != self._at:
            self.facts.go_to(bookmark.position)
        self._gave_way = bookmark.gave_way
        if bookmark.detail or bookmark.in_detail:
            self.show_detail(focus=bookmark.in_detail)
        elif self._showing_detail:
            self.show_list()

    def ways_ended(self) -> None:
        if self._gave_way is not None:
            self.apply(self._gave_way)

    def goto(self, text: str) -> None:
        """Go to the newest fact of a slot, or to the fact of an event or of a moment."""
        workspace = self._workspace
        if workspace is None:
            return
        readers, as_of, wanted = workspace.readers, self.as_of, self.wanted
        where = where_of(text, self._zone, self.app.clock())

        def work() -> None:
            try:
                position = find_fact(readers, text, where, as_of)
            except NoSuchPlace as error:
                self.post_message(NoFactFound(error))
                return
            passes = readers.facts.passes(wanted, position, as_of=as_of)
            self.post_message(FactFound(position, passes))

        self.in_thread(work, "goto", "Looking for a fact")

    def on_fact_found(self, message: FactFound) -> None:
        """Go there; a filter that hides it goes, and comes back where the person was led there."""
        self._found(message)

    def _found(self, message: FactFound) -> None:
        if self._showing_detail or self.focused_in_detail():
            self.show_list()
        if message.passes:
            self.facts.go_to(message.position)
            return
        self._gave_way = (self._gave_way or self.wanted) if message.led else None
        self.wanted = FactFilter()
        self.set_filter("")
        self._show_filter()
        self._read(at=message.position)
        self.update_footer()

    def on_no_fact_found(self, message: NoFactFound) -> None:
        """Ask again where to go."""
        if not self.refuses_place(message.error):
            self.app.show_failure(message.error)

    async def action_show_on_timeline(self) -> None:
        """The event that asserted it on the Timeline."""
        if self.target_position:
            await self.app.lead_to(ToEvent(self.target_position))

    async def action_open_chronicle(self) -> None:
        """The section of the chronicle that tells of the event that asserted it."""
        if self.target_position:
            await self.app.lead_to(ToChronicle("", position=self.target_position))

    @on(Opened, "#fact-chain")
    def _stop_opened(self, message: Opened) -> None:
        """A link leads to its event, another fact to itself in the list."""
        stop: Stop = message.row
        if isinstance(stop, FactStop):
            self._found(FactFound(stop.position, self.wanted == FactFilter()))
        else:
            self.run_worker(self.action_show_on_timeline(), exit_on_error=False)

"""Being led to what a chronicle has of an event, and returning to where one was in the tree."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.tui.chronicle.going_page import ChronicleGoingPage, place_of
from workbench.tui.chronicle.messages import NoPlaceFound, PlaceFound
from workbench.tui.destinations import Destination, ToChronicle
from workbench.tui.timeline.places import NoSuchPlace

if TYPE_CHECKING:
    from workbench.workspace import Workspace


class Bookmark(NamedTuple):
    """What is shown of the chronicles."""

    wanted: str
    gave_way: str
    """The person's own search, where it gives way."""
    opened: frozenset[str]
    at: Hashable
    side: str
    detail: bool
    """The detail is open."""
    in_detail: bool
    """The detail has the keys."""


class ChronicleLeadingPage(ChronicleGoingPage):
    """The tree as a place that other screens lead to."""

    def arrive(self, destination: Destination) -> None:
        """Show the section that stands for an event, or the row of those in none; of no event, the stream."""
        workspace = self._workspace
        if not isinstance(destination, ToChronicle) or workspace is None:
            return
        as_of = self.as_of

        def work() -> None:
            try:
                self.post_message(find_event(workspace, destination, as_of))
            except NoSuchPlace as error:
                self.post_message(NoPlaceFound(error))

        self.in_thread(work, "goto", "Looking for a chronicle")

    def bookmark(self) -> Bookmark:
        return Bookmark(
            self.wanted,
            self._gave_way,
            self.opened,
            self._at,
            self.pane.side,
            self._showing_detail,
            self.focused_in_detail(),
        )

    def return_to(self, bookmark: Any) -> None:
        if not isinstance(bookmark, Bookmark):
            return
        if (bookmark.wanted, bookmark.opened) != (self.wanted, self.opened):
            self.wanted, self.opened, self._at = bookmark.wanted, bookmark.opened, bookmark.at
            self.set_filter(bookmark.wanted)
            self._read(at=bookmark.at)
        elif bookmark.at is not None and bookmark.at != self._at:
            self.tree_list.go_to(bookmark.at)
        self._gave_way = bookmark.gave_way
        self.pane.show_side(bookmark.side)
        if (bookmark.detail, bookmark.in_detail) == (self._showing_detail, self.focused_in_detail()):
            # What has the keys there has them still.
            return
        if bookmark.detail or bookmark.in_detail:
            self.show_detail(focus=bookmark.in_detail)
        elif self._showing_detail:
            self.show_list()

    def ways_ended(self) -> None:
        if self._gave_way:
            gave_way, self._gave_way = self._gave_way, ""
            self.apply(gave_way)


def find_event(workspace: Workspace, destination: ToChronicle, as_of: int | None) -> PlaceFound:
    """Where the chronicles have an event, or had it at a position; raises `NoSuchPlace`.

    Reads: not for the UI's thread.
    """
    stream, seq = destination.stream, destination.seq
    if not stream:
        event = workspace.readers.timeline.event(destination.position)
        if event is None:
            raise NoSuchPlace("there is no such event", hint="")
        stream, seq = event.stream, event.seq
    row = workspace.readers.chronicle.stream(stream)
    if row is None or not (row.consolidated or row.sections):
        kind = stream.partition("/")[0] if row is None else row.kind
        raise NoSuchPlace(
            f"events of this kind of stream, {kind}, are in no chronicle",
            hint="SSOT_MANIFEST.toml says under [chronicle.close] what is written up",
        )
    if not seq:
        return PlaceFound(stream, ("stream", stream), opens=False, led=True)
    return PlaceFound(stream, place_of(workspace, stream, seq, as_of), opens=True, led=True)

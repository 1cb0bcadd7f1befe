"""Going to a place in the tree of chronicles, and from it to the events on other screens."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from textual import on

from workbench.chronicle.errors import ChronicleError
from workbench.tui.chronicle.chronicle_pane import EVENTS
from workbench.tui.chronicle.list_page import ChronicleListPage
from workbench.tui.chronicle.messages import EventFound, NoPlaceFound, PlaceFound
from workbench.tui.chronicle.nodes import range_of
from workbench.tui.chronicle.reading import chronicles
from workbench.tui.destinations import ToEvent, ToSession
from workbench.tui.timeline.places import NoSuchPlace
from workbench.tui.widgets.list_messages import Opened

if TYPE_CHECKING:
    from workbench.workspace import Workspace
    from workbench.workspace.rows import EventRow

GOTO_HINT = "A stream, a session or project/task; here, the number of an event or the id of a section"
_NUMBERS = re.compile(r"(\d{1,15})(?:\s*[-–]\s*\d{1,15}(?:#\d{1,9})?)?")
_SESSION = "session/"


class ChronicleGoingPage(ChronicleListPage):
    """The tree as a place to go to and to leave from."""

    GOTO_HINT = GOTO_HINT

    def __init__(self) -> None:
        super().__init__()
        self._gave_way = ""
        """The person's own search, which gives way to where they were led."""

    def goto(self, text: str) -> None:
        """Go to a stream, or in the stream at hand to the section that holds an event."""
        workspace, node = self._workspace, self.cursor_node
        if workspace is None:
            return
        stream, as_of = "" if node is None else node.stream, self.as_of

        def work() -> None:
            try:
                self.post_message(find_place(workspace, text.strip(), stream, as_of))
            except NoSuchPlace as error:
                self.post_message(NoPlaceFound(error))

        self.in_thread(work, "goto", "Looking for a chronicle")

    def on_place_found(self, message: PlaceFound) -> None:
        """Show it in the tree; a search gives way."""
        if self._showing_detail or self.focused_in_detail():
            self.show_list()
        if message.opens:
            self.opened |= {message.stream}
        self._at = message.key
        self._gave_way = (self._gave_way or self.wanted) if message.led else ""
        self.wanted = ""
        self.set_filter("")
        self._read(at=message.key)
        self.update_footer()

    def on_no_place_found(self, message: NoPlaceFound) -> None:
        """Ask again where to go."""
        if not self.refuses_place(message.error):
            self.app.show_failure(message.error)

    # To the events

    def action_show_events(self) -> None:
        """The events that the section stands for, with the keys."""
        self.pane.show_side(EVENTS)
        self.show_detail()

    async def action_show_on_timeline(self) -> None:
        """The event under the cursor, or the first of the range, among all events."""
        event, node, workspace = self.target_event, self.cursor_node, self._workspace
        if event is not None:
            await self.app.lead_to(ToEvent(event.position))
            return
        found = None if node is None else range_of(node)
        if node is None or found is None or workspace is None:
            return
        stream, first = node.stream, found[0]

        def work() -> None:
            position = workspace.readers.chronicle.position(stream, first)
            if position is not None:
                self.post_message(EventFound(position))

        self.in_thread(work, "event", "Looking for an event")

    async def on_event_found(self, message: EventFound) -> None:
        """Show it on the Timeline."""
        await self.app.lead_to(ToEvent(message.position))

    async def action_open_session(self) -> None:
        """The session at the event, or at the first one of the range."""
        event, node = self.target_event, self.cursor_node
        if node is None:
            return
        found = range_of(node)
        seq = event.seq if event is not None else None if found is None else found[0]
        await self.app.lead_to(ToSession(unquote(node.stream.removeprefix(_SESSION)), seq))

    @on(Opened, "#chronicle-events")
    async def _event_opened(self, message: Opened) -> None:
        """An event leads to itself on the Timeline."""
        event: EventRow = message.row
        await self.app.lead_to(ToEvent(event.position))


def find_place(workspace: Workspace, text: str, stream: str, as_of: int | None) -> PlaceFound:
    """Where a text leads, with the stream at hand; raises `NoSuchPlace`. Reads: not for the UI's thread.

    With `as_of` in the chronicles as they were at that position.
    """
    numbers = _NUMBERS.fullmatch(text)
    if numbers and stream:
        seq = int(numbers[1])
        row = chronicles(workspace, as_of).stream(stream)
        if row is not None and 0 < seq <= row.last_seq:
            return PlaceFound(stream, place_of(workspace, stream, seq, as_of), opens=True)
        raise NoSuchPlace("the stream at hand has no such event", hint=GOTO_HINT)
    for name in _names(text):
        try:
            found = workspace.chronicle(name).stream
        except ChronicleError:
            continue
        return PlaceFound(found, ("stream", found), opens=False)
    raise NoSuchPlace("no stream is meant by this", hint=GOTO_HINT)


def place_of(workspace: Workspace, stream: str, seq: int, as_of: int | None) -> Hashable:
    """The key of the row that holds an event of a stream: a section's, or that of the events in none.

    Of an earlier moment nobody knows what was in no section yet: that leads to the stream's own row.
    """
    section = chronicles(workspace, as_of).covering(stream, seq)
    if section is not None:
        return ("range", stream, section.anchor.from_seq)
    return ("open", stream, seq) if as_of is None else ("stream", stream)


def _names(text: str) -> list[str]:
    """What a person may mean: a stream's name as it is, or a task of the usual domain."""
    names = [text]
    project, slash, task = text.partition("/")
    if slash and project and task:
        names.append(f"task/global/{quote(project.strip(), safe='')}/{quote(task.strip(), safe='')}")
    return names if text else []

"""The detail of the timeline: one event in words, or as JSON."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from workbench.log.times import Clock, now
from workbench.tui.present import size
from workbench.tui.timeline.detail import damage_blocks, event_blocks, json_text, preview_remark, raw_blocks
from workbench.tui.timeline.event_words import ENTRY, text_of
from workbench.tui.widgets.tab_line import Tab, TabLine
from workbench.tui.widgets.text_pane import TextPane
from workbench.workspace.readers.entry_damage import UnreadableEvent
from workbench.workspace.rows import EventRow, SessionRow, TimelineOrder

if TYPE_CHECKING:
    from workbench.tui.moments import AsOf
    from workbench.tui.shell import Shell
    from workbench.workspace.readers import Readers

AT_ONCE_BYTES = 2_000_000
"""Events up to this size are read whole as soon as they are shown, larger ones when they are entered."""
_SESSIONS_KEPT = 256
_RAW = "raw"
SIDES = (Tab("event", "Event"), Tab(_RAW, "Raw"))


class _Read(NamedTuple):
    """What a worker read for an event."""

    event: EventRow | None
    """None: it was not asked for."""
    json: str | None
    session: SessionRow | None
    chronicum_id: str
    act: int | None
    """Which act of its session it is; None: it is none, or that was not asked for."""


class EventRead(Message, bubble=False):
    """A worker has read what the pane lacked."""

    def __init__(self, position: int, read: _Read) -> None:
        super().__init__()
        self.position = position
        self.read = read


class EventPane(Vertical):
    """Shows a row of the list at once, and what the row lacks when it is read."""

    DEFAULT_CSS = """
    EventPane { height: 1fr; width: 1fr; }
    EventPane TabLine { margin: 0 0 1 0; }
    """

    app: Shell

    def __init__(self, *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._readers: Readers | None = None
        self._zone: tzinfo = UTC
        self._now: Clock = now
        self._order: TimelineOrder = "recorded"
        self._utc = False
        self._as_of: int | None = None
        self._event: EventRow | None = None
        self._json: str | None = None
        self._act: int | None = None
        self._reading = False
        self._sessions: dict[str, SessionRow | None] = {}

    def compose(self) -> ComposeResult:
        yield TabLine(SIDES, css_id="timeline-tabs")
        yield TextPane(id="timeline-text")

    def open(self, readers: Readers, zone: tzinfo, now: Clock, as_of: AsOf | None = None) -> None:
        """Read with these from now on; times are shown in `zone`, ages counted from `now`, the list's own."""
        self._readers, self._zone, self._now = readers, zone, now
        self.travel(as_of)

    def travel(self, as_of: AsOf | None) -> None:
        """Show events as they were known at this moment from now on; None: now."""
        self._as_of = None if as_of is None else as_of.position
        self.forget()

    def forget(self) -> None:
        """What is shown may be no longer so: the next row is drawn, even that of the same event."""
        self._event = None
        self._sessions.clear()

    def set_order(self, order: TimelineOrder) -> None:
        """Say how long ago it was by the time that the list goes by from now on."""
        if order != self._order:
            self._order = order
            if self.is_mounted:
                self._draw(keep_place=True)

    def renew_ages(self) -> None:
        """The list's ages were renewed: those of the event are, too."""
        # Who is selecting text keeps it.
        if self.tabs.active != _RAW and self.pane.text_selection is None:
            self._draw(keep_place=True)

    @property
    def event(self) -> EventRow | None:
        """What is shown; not whole while it is read or too large to be read unasked."""
        return self._event

    @property
    def tabs(self) -> TabLine:
        """The names of the two sides."""
        return self.query_one(TabLine)

    @property
    def pane(self) -> TextPane:
        """The text."""
        return self.query_one(TextPane)

    def show(self, row: EventRow | None) -> None:
        """Show a row of the list; the one that is shown already stays, unless something became of it."""
        shown = self._event
        same = row is not None and shown is not None and row.position == shown.position
        if same and row is not None and shown is not None and _state(row) == _state(shown):
            return
        self._event, self._json, self._act, self._reading = row, None, None, False
        if row is not None:
            self._read(row, whole=not row.whole and row.payload_bytes <= AT_ONCE_BYTES)
        self._draw(keep_place=same)

    def read_whole(self) -> None:
        """Read the shown event whole, however large it is."""
        if self._event is not None and not self._event.whole and not self._reading:
            self._read(self._event, whole=True)
            self._draw(keep_place=True)

    def turn(self, sides: int) -> None:
        """Show another side of the event."""
        names = [tab.name for tab in SIDES]
        self.show_side(names[(names.index(self.tabs.active) + sides) % len(names)])

    def toggle_utc(self) -> None:
        """Show times in UTC, or in the workspace's zone again."""
        self._utc = not self._utc
        self._draw(keep_place=True)

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """A side was clicked."""
        message.stop()
        self.show_side(message.name)

    def show_side(self, name: str) -> None:
        """Show a side of the event by its name."""
        self.tabs.show(name, *self.tabs.notes)
        event = self._event
        if name == _RAW and event is not None and self._json is None and event.whole:
            self._read(event, whole=False)
        self._draw()

    # Reading

    def _read(self, row: EventRow, *, whole: bool) -> None:
        readers = self._readers
        chronicum_id = text_of(row, "chronicum_id")
        wants_session = chronicum_id != "" and chronicum_id not in self._sessions
        # JSON of a small event is made on the spot; that of a large one takes a while.
        wants_json = self.tabs.active == _RAW and (whole or row.payload_bytes > 64 * 1024)
        wants_act = chronicum_id != "" and row.type == ENTRY and self._act is None
        if readers is None or not (whole or wants_session or wants_json or wants_act):
            return
        self._reading = self._reading or whole
        known = self._sessions.get(chronicum_id)

        timeline, sessions = readers.timeline.as_of(self._as_of), readers.sessions.as_of(self._as_of)

        def work() -> None:
            session = sessions.get(chronicum_id) if wants_session else known
            event = timeline.event(row.position) if whole else None
            text = json_text(event or row) if wants_json else None
            act = None
            if wants_act and session is not None:
                act = readers.entries.act_numbers(chronicum_id, [row.seq])[row.seq]
            self.post_message(EventRead(row.position, _Read(event, text, session, chronicum_id, act)))

        self.run_worker(
            work,
            group="timeline-event",
            description="Reading an event",
            exit_on_error=False,
            exclusive=True,
            thread=True,
        )

    def on_event_read(self, message: EventRead) -> None:
        """Show what was read, if it is still wanted."""
        read = message.read
        if read.chronicum_id:
            if len(self._sessions) >= _SESSIONS_KEPT:
                self._sessions.clear()
            self._sessions[read.chronicum_id] = read.session
        if self._event is None or message.position != self._event.position:
            return
        if read.event is not None:
            self._event, self._reading = read.event, False
        if read.act is not None:
            self._act = read.act
        if read.json is not None:
            self._json = read.json
        elif self.tabs.active == _RAW and read.event is not None:
            self.show_side(_RAW)
            return
        self._draw(keep_place=True)

    # Drawing

    def _draw(self, *, keep_place: bool = False) -> None:
        event = self._event
        if event is None:
            self.tabs.show(self.tabs.active)
            self.pane.set_blocks(())
            return
        self.tabs.show(self.tabs.active, f"{size(event.payload_bytes)}{' · UTC' if self._utc else ''}")
        remark = "" if event.whole else preview_remark(event, reading=self._reading)
        if self.tabs.active == _RAW:
            if self._json is None and event.whole and event.payload_bytes > 64 * 1024:
                self.pane.set_blocks(raw_blocks("", "laying out the JSON …"))
                return
            shown = raw_blocks(self._json if self._json is not None else json_text(event), remark)
            if isinstance(event, UnreadableEvent):
                shown += damage_blocks(event)
            self.pane.set_blocks(shown, keep_place=keep_place)
            return
        blocks = event_blocks(
            event,
            self._sessions.get(text_of(event, "chronicum_id")),
            now=self._now(),
            zone=UTC if self._utc else self._zone,
            remark=remark,
            act=self._act,
            order=self._order,
        )
        self.pane.set_blocks(blocks, keep_place=keep_place)


def _state(event: EventRow) -> tuple[object, ...]:
    """What may change of an event: who may see it, and, where a secret was taken out, its payload."""
    return event.withheld, event.private, event.payload_bytes

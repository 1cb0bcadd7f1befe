"""The detail of the Chronicle screen: the four sides of a section, or of a whole chronicle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from workbench.chronicle.sections import Section
from workbench.tui.chronicle.covered_events import CoveredEvents, covered_rows
from workbench.tui.chronicle.messages import SideRead
from workbench.tui.chronicle.nodes import (
    Node,
    OlderNode,
    OpenNode,
    RangeNode,
    StreamNode,
    range_of,
    section_of,
)
from workbench.tui.chronicle.prose_document import ProseDocument
from workbench.tui.chronicle.reading import Drawn, read_side
from workbench.tui.chronicle.sides import (
    Look,
    Told,
    anchor_blocks,
    generation_blocks,
    lag_blocks,
    open_blocks,
    stream_blocks,
)
from workbench.tui.document import Block, Document, Paragraph, Verbatim, note
from workbench.tui.widgets.tab_line import Tab, TabLine
from workbench.tui.widgets.text_pane import TextPane
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.rows import EventRow

if TYPE_CHECKING:
    from textual.worker import Worker

    from workbench.tui.shell import Shell
    from workbench.workspace import Workspace

PROSE, EVENTS, GENERATIONS, LAG = "prose", "events", "generations", "lag"
SIDES = (PROSE, EVENTS, GENERATIONS, LAG)
TITLES = (("Prose", "Events", "Generations", "Lag"), ("Prose", "Events", "Gener.", "Lag"))
SHORT_ROWS = 14
"""Rows of the text under which an anchor has two lines: the prose is to be seen, too."""
FIRST_CHARS = 160
KEYS = ("chronicle.consolidate", "chronicle.again", "page.select")
"""Actions whose keys the sides name."""


class SectionText(TextPane):
    """The text of a side; enter goes on to the events."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "app.perform('chronicle.events')", "events", show=False)
    ]


class ChroniclePane(Vertical):
    """Shows a row of the tree at once as the list knows it, and the rest when it is read."""

    DEFAULT_CSS = """
    ChroniclePane { height: 1fr; width: 1fr; }
    ChroniclePane TabLine { margin: 0 0 1 0; }
    ChroniclePane #chronicle-events { display: none; }
    ChroniclePane.-events #chronicle-events { display: block; }
    ChroniclePane.-events #chronicle-text { display: none; }
    """

    app: Shell

    def __init__(self, now: Callable[[], datetime], *, css_id: str) -> None:
        super().__init__(id=css_id)
        self._now = now
        self._zone: tzinfo = UTC
        self._workspace: Workspace | None = None
        self._node: Node | None = None
        self._as_of: int | None = None
        self._marked = ""
        self._guidance: Sequence[Block] = ()
        self._read_of: dict[str, Any] = {}
        """By side what was read of the row."""
        self._events_of: tuple[str, tuple[int, int]] | None = None
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self.tabs = TabLine(_tabs(0), css_id="chronicle-tabs")
        self.text = SectionText(id="chronicle-text")
        self.events: VirtualList[EventRow] = VirtualList(covered_rows(0, now), id="chronicle-events")

    def compose(self) -> ComposeResult:
        yield self.tabs
        yield self.text
        yield self.events

    def open(self, workspace: Workspace, zone: tzinfo) -> None:
        """Read from this workspace from now on; exact times are shown in `zone`."""
        self._workspace, self._zone = workspace, zone

    # What the page asks and tells

    @property
    def side(self) -> str:
        """Which side is shown."""
        return self.tabs.active

    @property
    def node(self) -> Node | None:
        """The row that is shown."""
        return self._node

    @property
    def ready(self) -> bool:
        """Whether what the side shows was read."""
        return not self._needs_reading or self.side in self._read_of

    @property
    def event(self) -> EventRow | None:
        """The event under the cursor of the events' side; None on other sides."""
        return self.events.cursor_row if self.side == EVENTS and self._events_of is not None else None

    def show(self, node: Node | None, as_of: int | None, guidance: Sequence[Block] = ()) -> None:
        """Show this row as of a position or now, or `guidance` where there is none."""
        same = node is not None and self._node is not None and node.key == self._node.key
        if node == self._node and as_of == self._as_of and guidance == self._guidance:
            return
        if not same or as_of != self._as_of:
            self._read_of = {}
        self._node, self._as_of, self._guidance = node, as_of, guidance
        self._draw(keep_place=same)
        self.read()

    def mark(self, section_id: str) -> None:
        """Compare generations with this one from now on; "" with their neighbours."""
        if section_id != self._marked:
            self._marked = section_id
            if self.side == GENERATIONS:
                self._draw()

    def read(self) -> None:
        """Read the side that is shown, anew where it was read before."""
        node, side, workspace, as_of = self._node, self.side, self._workspace, self._as_of
        if node is None or workspace is None or not self._needs_reading:
            return

        def work() -> None:
            self.post_message(SideRead(node.key, side, as_of, read_side(workspace, node, side, as_of)))

        self.run_worker(
            work,
            group="chronicle-side",
            description="Reading a chronicle",
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

    def renew(self) -> None:
        """Something was committed: read what is shown again, the other sides when they are shown."""
        self._read_of = {side: data for side, data in self._read_of.items() if side == self.side}
        self.read()

    def show_side(self, name: str) -> None:
        """Show another side."""
        if name not in SIDES or name == self.side:
            return
        had_keys = self.text.has_focus or self.events.has_focus
        self.tabs.show(name)
        self.set_class(name == EVENTS, "-events")
        self._draw()
        if not self.ready:
            self.read()
        if had_keys:
            (self.events if name == EVENTS else self.text).focus()

    def turn(self, sides: int) -> None:
        """Show the side so many further on."""
        self.show_side(SIDES[(SIDES.index(self.side) + sides) % len(SIDES)])

    def redraw(self) -> None:
        """Ages have passed."""
        if self.side == EVENTS:
            self.events.redraw_rows()
        else:
            self._draw(keep_place=True)

    # Messages

    def on_tab_line_chosen(self, message: TabLine.Chosen) -> None:
        """A side was clicked."""
        message.stop()
        self.show_side(message.name)

    def on_side_read(self, message: SideRead) -> None:
        """Show what was read, if it is still wanted."""
        node = self._node
        if node is None or message.key != node.key or message.as_of != self._as_of:
            return
        known = self._read_of.get(message.side, self)
        self._read_of[message.side] = message.data
        if message.side == self.side and known != message.data:
            self._draw(keep_place=True)

    def on_resize(self, event: events.Resize) -> None:
        """The names of the sides are as long as there is room."""
        for number in range(len(TITLES)):
            tabs = _tabs(number)
            if sum(len(tab.title) + 3 for tab in tabs) + 1 <= event.size.width or number == len(TITLES) - 1:
                self.tabs.tabs = tabs
                self.tabs.refresh()
                break
        # How much of an anchor is said depends on the room.
        self.call_after_refresh(self.redraw)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """What was asked for could not be read: say so, and go on."""
        if event.worker.error is not None and event.state.name == "ERROR":
            self.app.show_failure(event.worker.error)

    # Drawing

    @property
    def _needs_reading(self) -> bool:
        match self._node, self.side:
            case (None, _) | (_, "events") | (OpenNode(), "prose"):
                return False
            case (StreamNode() | OpenNode(), "generations"):
                return False
            case (StreamNode(), "prose"):
                return self._as_of is None
            case _:
                return True

    def _draw(self, *, keep_place: bool = False) -> None:
        if not self.is_attached:
            return
        if self.side == EVENTS and self._node is not None:
            self._show_events()
            return
        self.set_class(False, "-events")
        self.text.set_document(self._document(), keep_place=keep_place)

    def _show_events(self) -> None:
        node, workspace = self._node, self._workspace
        if node is None or workspace is None:
            return
        found = range_of(node)
        self.set_class(found is not None, "-events")
        if found is None:
            self._events_of = None
            self.text.set_blocks((note("Its ranges show their events: enter opens the stream in the list."),))
            return
        wanted = (node.stream, found)
        if wanted == self._events_of and self.events.source is not None:
            return
        self._events_of = wanted
        self.events.renderer = covered_rows(found[1], self._now)
        self.events.set_source(CoveredEvents(workspace.readers.chronicle, node.stream, *found))

    def _document(self) -> Document:
        node, look = self._node, self._look()
        if node is None:
            return Document(self._guidance)
        data = self._read_of.get(self.side)
        if self.side == GENERATIONS:
            return Document(self._generations(node, data, look))
        if self.side == LAG:
            return Document(() if data is None else lag_blocks(data[0], data[1], look))
        match node:
            case StreamNode():
                exact = stream_blocks(node.row, look, past=self._as_of is not None)
                prose: Sequence[Block] = () if data is None else (Verbatim(data, role="text"),)
                return ProseDocument(exact, prose)
            case OpenNode():
                return Document(open_blocks(node, look))
            case RangeNode(row=row):
                section = Section(row.anchor, row.words, row.pins, row.written)
                return self._told(Told(section, True, row.withheld), data, look)
            case OlderNode():
                return self._told(Told(node.section, False, False), data, look)

    def _told(self, told: Told, drawn: Drawn | None, look: Look) -> Document:
        """An anchor as the list knows it, with its prose when that was read; until then its first words."""
        told = told if drawn is None else told._replace(closed=drawn.closed)
        prose: Sequence[Block] = (Paragraph(told.section.prose[:FIRST_CHARS], role="dim"),)
        return ProseDocument(anchor_blocks(told, look), prose if drawn is None else drawn.prose)

    def _generations(self, node: Node, data: Any, look: Look) -> Sequence[Block]:
        if isinstance(node, StreamNode | OpenNode):
            return (note("Sections have generations: open the stream, and go to one."),)
        if not data:
            return ()
        return generation_blocks(data, section_of(node), self._marked, node.stream, look)

    def _look(self) -> Look:
        shown = self.app.keymap.shown
        keys = {name: shown(name) for name in KEYS}
        width, height = self.text.size
        return Look(self._now(), self._zone, keys, width, short=height < SHORT_ROWS)


def _tabs(number: int) -> tuple[Tab, ...]:
    return tuple(Tab(name, title) for name, title in zip(SIDES, TITLES[number], strict=True))

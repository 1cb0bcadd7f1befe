"""The tree of chronicles as a page: opening, searching, detail, ages, other moments."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from textual import on
from textual.app import ComposeResult

from workbench.tui.chronicle.chronicle_pane import GENERATIONS, PROSE, ChroniclePane
from workbench.tui.chronicle.hints import empty_lines, guidance
from workbench.tui.chronicle.node_rows import NodeRows
from workbench.tui.chronicle.nodes import Node, StreamNode, section_of
from workbench.tui.chronicle.reading import chronicles, counting, searching
from workbench.tui.chronicle.search_source import SearchSource
from workbench.tui.chronicle.tree_source import TreeSource
from workbench.tui.place_kept import PlaceKept
from workbench.tui.reading_page import ReadingPage
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Hashable

    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace
    from workbench.workspace.rows import EventRow

_KEPT_OPEN = 50
"""Opened streams that are remembered."""


class ChronicleListPage(ReadingPage):
    """The tree, and the four sides of its row."""

    FOLLOWS_AS_OF = True

    def __init__(self) -> None:
        super().__init__()
        self.wanted = ""
        """What is searched for in the prose."""
        self.opened: frozenset[str] = frozenset()
        """The streams whose ranges are shown."""
        self.marked: Node | None = None
        """The prose that others are compared with."""
        self._workspace: Workspace | None = None
        self._zone: tzinfo = UTC
        self._source: TreeSource | SearchSource | None = None
        self._at: Hashable = None
        self._kept: PlaceKept[Hashable] = PlaceKept()
        self._new = (0, False)
        self._count = ""
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self.tree_list: VirtualList[Node] = VirtualList(NodeRows(self._now), id="chronicle-tree")
        """The list."""
        self.pane = ChroniclePane(self._now, css_id="chronicle")
        """The detail."""

    def compose_list(self) -> ComposeResult:
        yield self.tree_list

    def compose_detail(self) -> ComposeResult:
        yield self.pane

    # What the keys act on

    @property
    def cursor_node(self) -> Node | None:
        """The row under the list's cursor."""
        row: Node | None = self.cursor_row
        return row

    @property
    def target_event(self) -> EventRow | None:
        """The event under the cursor of the detail; None while something else has the keys."""
        return self.pane.event if self.is_mounted and self.pane.events.has_focus else None

    # What the shell asks

    def restore(self, state: ScreenState) -> None:
        values = state.values
        self.wanted = values.get("text", "")
        self.set_filter(self.wanted)
        self.opened = frozenset(each for each in values.get("open", "").split("\n") if each)
        self.pane.show_side(values.get("side", PROSE))
        kind, tab, rest = state.selected.partition("\t")
        stream, more, first = rest.partition("\t")
        if tab and more and first.isdecimal():
            self._at = ("range", stream, int(first))
        elif tab and kind == "stream":
            self._at = ("stream", stream)

    def remember(self, state: ScreenState) -> None:
        at = self._at
        state.selected = ""
        if isinstance(at, tuple):
            first = f"\t{at[2]}" if at[0] in ("range", "older") else ""
            state.selected = f"{'range' if first else 'stream'}\t{at[1]}{first}"
        values = {
            "text": self.wanted,
            "open": "\n".join(sorted(self.opened)[:_KEPT_OPEN]),
            "side": self.pane.side if self.pane.side != PROSE else "",
        }
        state.values = {name: value for name, value in values.items() if value}

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._zone = ZoneInfo(workspace.timezone)
        self.pane.open(workspace, self._zone)
        self._read(at=self._at)
        self._begin_ages()

    def on_committed(self) -> None:
        """Something was written: what is on the screen is read again, and nothing moves."""
        self._renew_ages()
        self.tree_list.refresh_live()
        self.pane.renew()

    def on_as_of_changed(self) -> None:
        """Another moment is shown: what was written then, the cursor where it was as near as can be."""
        self._renew_ages()
        self._read(at=self._kept.travelled(self._at, self._at, now=self.as_of is None))
        self.update_footer()

    def filter_typed(self) -> None:
        self.apply(self.filter_text.strip())

    def set_count(self, text: str) -> None:
        self._count = text
        new = self.new_rows_words(*self._new)
        if new:
            text = f"{new}  {text}"
        if self.query("#list-bar"):
            super().set_count(text)

    def leave_transient(self) -> bool:
        if self.marked is not None:
            self._mark(None)
            return True
        return super().leave_transient()

    # Reading

    def apply(self, wanted: str) -> None:
        """Search the prose for these words; "" shows the tree again.

        The cursor is then on what was found; who chose none of it returns to the row they came from.
        """
        if wanted == self.wanted:
            return
        node, first = self.cursor_node, self.tree_list.at_first
        # Nobody came from the first row of the tree: it is where everybody begins.
        came_from = None if first else self._at
        at = self.back_from_search(self.wanted, wanted, came_from, chosen=not first)
        if at is None:
            at = self._at
        self.wanted = wanted
        if wanted != self.filter_text.strip():
            self.set_filter(wanted)
        if not wanted and node is not None and node.key == at and not isinstance(node, StreamNode):
            self.opened |= {node.stream}
        self._read(at=None if wanted else at)
        self.update_footer()

    def _read(self, at: Hashable = None) -> None:
        workspace = self._workspace
        if workspace is None:
            return
        self._show_rows()
        self.tree_list.empty_lines = empty_lines(
            self.wanted,
            self.app.keymap.shown("chronicle.clear"),
            self.app.root,
            past=self.as_of is not None,
        )
        if self.wanted:
            self._source = SearchSource(
                searching(workspace, self.as_of), workspace.readers.chronicle, self.wanted
            )
        else:
            counts = counting(workspace) if self.as_of is None else None
            self._source = TreeSource(chronicles(workspace, self.as_of), self.opened, counts)
        self.tree_list.set_source(self._source, at)

    def _show_rows(self) -> None:
        marked = None if self.marked is None else self.marked.key
        self.tree_list.renderer = NodeRows(self._now, marked, self.wanted)

    # Opening

    def open_stream(self, stream: str, *, opened: bool) -> None:
        """Show the ranges of a stream under it, or no longer; nothing else on the screen moves."""
        source = self._source
        if opened == (stream in self.opened) or not isinstance(source, TreeSource):
            return
        self.opened = self.opened | {stream} if opened else self.opened - {stream}
        source.opened = self.opened
        node = self.cursor_node
        if not opened and node is not None and node.stream == stream and not isinstance(node, StreamNode):
            # What it stood on is gone; of what remains the stream is the next of kin.
            self.tree_list.set_source(source, ("stream", stream))
            return
        self.tree_list.refresh_live()

    @on(Opened, "#chronicle-tree")
    def _row_opened(self, message: Opened) -> None:
        """A stream opens or closes; a range shows its detail."""
        node: Node = message.row
        if isinstance(node, StreamNode) and not self.wanted:
            message.prevent_default()
            self.open_stream(node.stream, opened=not node.opened)

    def action_open_node(self) -> None:
        """Open the stream under the cursor."""
        node = self.cursor_node
        if node is not None:
            self.open_stream(node.stream, opened=True)

    def action_shut_node(self) -> None:
        """Close the stream that the cursor is in."""
        node = self.cursor_node
        if node is not None:
            self.open_stream(node.stream, opened=False)

    # Marking

    def action_select(self) -> None:
        """Mark the prose under the cursor, so that others of its range are compared with it."""
        node = self.cursor_node
        if not section_of(node):
            self.app.notify("A section can be marked, to compare others of its range with it.")
            return
        same = self.marked is not None and node is not None and self.marked.key == node.key
        self._mark(None if same else node)
        if not same:
            self.pane.show_side(GENERATIONS)

    def _mark(self, node: Node | None) -> None:
        self.marked = node
        self._show_rows()
        self.pane.mark(section_of(node))

    # What the list and the detail tell

    @on(NewRows, "#chronicle-tree")
    def _rows_came(self, message: NewRows) -> None:
        self._new = (message.count, message.more)
        self.set_count(self._count)

    @on(Highlighted, "#chronicle-tree")
    def _cursor_moved(self, message: Highlighted) -> None:
        row: Node | None = message.row
        if row is not None:
            self._at = row.key
        self._kept.arrived(self._at)
        self._show_row()

    @on(StatusChanged, "#chronicle-tree")
    def _list_read(self, message: StatusChanged) -> None:
        if self.cursor_node is None and not message.status.loading:
            self._show_row()

    def _show_row(self) -> None:
        row = self.cursor_node
        nothing = row is None and not self.wanted and self.as_of is None and not self.tree_list.failed
        self.pane.show(
            row, self.as_of, guidance(self.app.root) if nothing and not self.tree_list.status.loading else ()
        )

    @on(Highlighted, "#chronicle-events")
    def _event_changed(self) -> None:
        self.update_footer()

    def redraw_ages(self) -> None:
        self.tree_list.redraw_rows()
        self.pane.redraw()

    # Sides

    def action_next_tab(self) -> None:
        """The next side of the detail."""
        self.pane.turn(1)

    def action_previous_tab(self) -> None:
        """The side of the detail before."""
        self.pane.turn(-1)

    def action_clear_filters(self) -> None:
        """Every chronicle again."""
        self.apply("")

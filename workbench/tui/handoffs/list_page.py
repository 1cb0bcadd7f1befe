"""The list of hand-offs as a page: filter, order, detail, ages."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.events import Resize
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.memory.handoff_views import Handoff
from workbench.tui.handoffs.desk_rows import DeskList, Pick
from workbench.tui.handoffs.empty import empty_lines, filter_words
from workbench.tui.handoffs.handoff_list import HandoffList
from workbench.tui.handoffs.handoff_pane import CHECKPOINT, HandoffPane
from workbench.tui.handoffs.handoff_rows import HandoffRows, cuts_name
from workbench.tui.handoffs.handoff_source import HandoffSource
from workbench.tui.place_kept import PlaceKept
from workbench.tui.present import literal, number
from workbench.tui.reading_page import ReadingPage
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened, StatusChanged
from workbench.workspace.rows import HandoffFilter, HandoffOrder

if TYPE_CHECKING:
    from textual.timer import Timer

    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace

RESTING_SECONDS = 0.08
"""A cursor that rests so long shows all of its task; while it runs, what the list knows."""
ROOMY_CELLS = 38
"""Cells of the list from which its place is said beside what waits."""
TALL_ROWS = 20
"""Rows of the screen from which each task has two lines."""


class HandoffListPage(ReadingPage):
    """The list of tasks with the five sides of one."""

    FOLLOWS_AS_OF = True
    COUNTS_NEEDS = True

    DEFAULT_CSS = """
    #handoffs-filter { height: auto; padding: 0 1; color: $quiet; display: none; margin-bottom: 1; }
    #handoffs-filter.-set { display: block; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.wanted = HandoffFilter()
        """The filter that is set."""
        self._gave_way: HandoffFilter | None = None
        """The person's own filter, while it gives way to a task that they were led to."""
        self.order: HandoffOrder = "newest"
        self._workspace: Workspace | None = None
        self._source: HandoffSource | None = None
        self._at: tuple[str, str] | None = None
        self._kept: PlaceKept[tuple[str, str]] = PlaceKept()
        self._new = (0, False)
        self._count = ""
        self._resting: Timer | None = None
        self._moved = 0.0
        self._had_rows = False
        self._rows = HandoffRows(self._now)
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self.handoffs = HandoffList(self._rows, id="handoffs")
        """The list."""
        self.pane = HandoffPane(self._now, css_id="handoff")
        """The detail."""
        self._filter_line = Static("", id="handoffs-filter", markup=False)

    def compose_list(self) -> ComposeResult:
        yield self._filter_line
        yield self.handoffs

    def compose_detail(self) -> ComposeResult:
        yield self.pane

    @property
    def cursor_handoff(self) -> Handoff | None:
        """The task under the cursor."""
        row: Handoff | None = self.cursor_row
        return row

    @property
    def picked(self) -> Pick | None:
        """What the line of the detail that has the keys stands for; None while the list has them."""
        return self.pane.pick if self.is_mounted and self.pane.lines.has_focus else None

    # What the shell asks

    def restore(self, state: ScreenState) -> None:
        values = state.values
        self.wanted = HandoffFilter(
            values.get("text", ""), values.get("waiting") == "yes", values.get("closed") == "yes"
        )
        self.order = "project" if values.get("order") == "project" else "newest"
        self.set_filter(self.wanted.text)
        self.pane.show_side(values.get("side", CHECKPOINT))
        project, tab, task = state.selected.partition("\t")
        if tab:
            self._at = (project, task)

    def remember(self, state: ScreenState) -> None:
        state.selected = "" if self._at is None else "\t".join(self._at)
        wanted = self._gave_way or self.wanted
        values = {
            "text": wanted.text,
            "waiting": "yes" if wanted.waiting else "",
            "closed": "yes" if wanted.closed else "",
            "order": self.order if self.order != "newest" else "",
            "side": self.pane.side if self.pane.side != CHECKPOINT else "",
        }
        state.values = {name: value for name, value in values.items() if value}

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.pane.open(workspace)
        self._show_filter()
        self._fit_rows()
        self._read(at=self._at)
        self._begin_ages()

    def on_committed(self) -> None:
        self._renew_ages()
        self.handoffs.refresh_live()
        self.pane.renew()

    def on_as_of_changed(self) -> None:
        """Another moment is shown: the same task as it was then."""
        self._renew_ages()
        self._read(at=self._kept.travelled(self._at, self._at, now=self.as_of is None))

    async def action_filter(self) -> None:
        """Open the filter, and read what it will look at while the person begins to type."""
        workspace, as_of = self._workspace, self.as_of
        if workspace is not None:
            reader = workspace.readers.handoffs
            self.in_thread(
                lambda: reader.learn_words(lambda: get_current_worker().is_cancelled, as_of=as_of),
                "words",
                "Reading names and goals",
            )
        await super().action_filter()

    def on_filter(self, text: str) -> None:
        self._apply(self.wanted._replace(text=text.strip()))

    def set_count(self, text: str) -> None:
        self._count = text
        new = self.new_rows_words(*self._new)
        if self.waiting:
            said = f"{number(self.waiting)} to review"
            text = f"{text} · {said}" if self.handoffs.size.width >= ROOMY_CELLS and not new else said
        if new:
            text = f"{new}  {text}"
        if self.query("#list-bar"):
            super().set_count(text)

    def leave_transient(self) -> bool:
        return self.pane.leave_comparison() or super().leave_transient()

    def on_resize(self, event: Resize) -> None:
        super().on_resize(event)
        self._fit_rows()

    def _fit_rows(self) -> None:
        tall = self.app.size.height >= TALL_ROWS
        if tall != self._rows.tall:
            self._rows = HandoffRows(self._now, tall)
            self.handoffs.renderer = self._rows
        self.call_after_refresh(self._name_task)

    def _name_task(self) -> None:
        row, width = self.cursor_handoff, self.handoffs.size.width - 2
        self.pane.name_task(row is not None and cuts_name(row, width, tall=self._rows.tall))

    # Reading

    def _apply(self, wanted: HandoffFilter) -> None:
        """Narrow the list, the cursor where it was as near as the filter allows."""
        if wanted == self.wanted:
            return
        seen = self.handoffs.visible_rows
        first = not seen or (self.handoffs.status.first in (1, None) and seen[0].key == self._at)
        at = self.back_from_search(self.wanted.text, wanted.text, self._at, chosen=not first)
        self.wanted, self._gave_way = wanted, None
        if wanted.text != self.filter_text.strip():
            # While it is being typed a blank at its end is the beginning of the next word.
            self.set_filter(wanted.text)
        self._show_filter()
        # What was typed is looked for from the start: the first hits are what one waits for.
        self._read(at=None if wanted.text else at)
        self.update_footer()

    def _read(self, at: tuple[str, str] | None = None) -> None:
        workspace = self._workspace
        if workspace is None:
            return
        if self._source is not None:
            self._source.close()
        keymap = self.app.keymap
        self.handoffs.empty_lines = empty_lines(
            self.wanted,
            keymap.shown("page.back"),
            keymap.shown("handoffs.clear"),
            keymap.shown("handoffs.closed"),
            self.app.root,
        )
        self._source = HandoffSource(workspace.readers.handoffs, self.wanted, self.order, self.as_of)
        self.pane.look_at(self.as_of)
        self.handoffs.set_source(self._source, at)

    def _show_filter(self) -> None:
        words = filter_words(self.wanted)
        self._filter_line.set_class(bool(words), "-set")
        self._filter_line.update(literal(f"{words} · {self.app.keymap.shown('handoffs.clear')} clears"))

    @property
    def waiting(self) -> int | None:
        """How many tasks wait for a person; None while that is counted."""
        return self.app.needs_of(self.NAME)

    @staticmethod
    def count_needs(workspace: Workspace, as_of: int | None) -> int:
        """How many open tasks wait for a person."""
        return workspace.readers.handoffs.waiting(as_of=as_of)

    def needs_counted(self) -> None:
        self.set_count(self._count)

    # What the list and the detail tell

    @on(NewRows, "#handoffs")
    def _rows_came(self, message: NewRows) -> None:
        self._new = (message.count, message.more)
        self.set_count(self._count)

    @on(Highlighted, "#handoffs")
    def _cursor_moved(self, message: Highlighted) -> None:
        """Show the task under the cursor: what the list knows at once, all of it when the cursor rests."""
        row: Handoff | None = message.row
        self._at = self._at if row is None else row.key
        self._name_task()
        self._kept.arrived(self._at)
        moved, self._moved = self._moved, monotonic()
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        at_once = row is None or self._moved - moved > RESTING_SECONDS
        self.pane.show(row, read=at_once)
        if not at_once:
            self._resting = self.set_timer(RESTING_SECONDS, self._show_row)

    @on(StatusChanged, "#handoffs")
    def _list_read(self, message: StatusChanged) -> None:
        if message.status.loading:
            self._had_rows = False
            return
        if self.cursor_handoff is None:
            self.pane.show(None)
        if not self._had_rows or self.cursor_handoff is None:
            # A row that stands where it stood before the list was read again is not told anew.
            self.update_footer()
        self._had_rows = self.cursor_handoff is not None

    def _show_row(self) -> None:
        self._resting = None
        self.pane.show(self.cursor_handoff)

    @on(Opened, "#handoffs")
    def _entered(self, message: Opened) -> None:
        self._show_row()

    @on(DeskList.Moved)
    def _line_changed(self) -> None:
        # What can be done depends on the line that has the keys.
        if self.pane.lines.has_focus:
            self.update_footer()

    def redraw_ages(self) -> None:
        self.handoffs.redraw_rows()
        self.pane.redraw()

    # Narrowing

    def action_toggle_waiting(self) -> None:
        """Only what waits, or all again."""
        self._apply(self.wanted._replace(waiting=not self.wanted.waiting))

    def action_toggle_closed(self) -> None:
        """Closed tasks too, or only open ones again."""
        self._apply(self.wanted._replace(closed=not self.wanted.closed))

    def action_clear_filters(self) -> None:
        """Every open task."""
        self._apply(HandoffFilter())

    def action_sort(self) -> None:
        """The other order, the cursor on the same task."""
        self.order = "project" if self.order == "newest" else "newest"
        self._read(at=self._at)
        self.app.notify("By project and task." if self.order == "project" else "The latest checkpoint first.")

    def action_next_tab(self) -> None:
        """The next side of the detail."""
        self.pane.turn(1)

    def action_previous_tab(self) -> None:
        """The side of the detail before."""
        self.pane.turn(-1)

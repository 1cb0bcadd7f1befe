"""The list of facts as a page: filter, order, detail, going somewhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from textual import on
from textual.app import ComposeResult

from workbench.memory.events import Evidence
from workbench.tui.copying import CopyChoice
from workbench.tui.facts.copies import copy_choices
from workbench.tui.facts.fact_pane import FactPane
from workbench.tui.facts.fact_rows import FactRows
from workbench.tui.facts.fact_source import FactSource
from workbench.tui.facts.filters import (
    ORDER_WORDS,
    FactFilterLine,
    filter_from,
    filter_parts,
    filter_values,
    without,
)
from workbench.tui.facts.hints import empty_lines, guidance
from workbench.tui.facts.messages import SlotLooked
from workbench.tui.facts.stops import LinkStop, Stop
from workbench.tui.place_kept import PlaceKept
from workbench.tui.reading_page import ReadingPage
from workbench.tui.widgets.list_messages import Highlighted, NewRows, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.fact_rows import ORDERS, FactFilter, FactLink, FactOrder, FactRow

if TYPE_CHECKING:
    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace


class FactListPage(ReadingPage):
    """The list of current facts; the detail has the chain of one."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = FactFilter()
        """The filter that is set."""
        self._gave_way: FactFilter | None = None
        """The person's own filter, while it gives way to a fact that they were led to."""
        self.order: FactOrder = "newest"
        """What the list is ordered by."""
        self._workspace: Workspace | None = None
        self._zone: tzinfo = UTC
        self._at: int | None = None
        self._kept: PlaceKept[int] = PlaceKept()
        self._first = True
        """The cursor is on the first fact of the list."""
        self._new = (0, False)
        self._count = ""
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self.facts: VirtualList[FactRow] = VirtualList(FactRows(self._now), id="facts")
        """The list."""
        self.facts.follow = True
        self.pane = FactPane(self._now, css_id="fact")
        """The detail."""
        self._filter_line = FactFilterLine(css_id="facts-filter")

    def compose_list(self) -> ComposeResult:
        yield self._filter_line
        yield self.facts

    def compose_detail(self) -> ComposeResult:
        yield self.pane

    # What the keys act on

    @property
    def cursor_fact(self) -> FactRow | None:
        """The fact under the list's cursor."""
        row: FactRow | None = self.cursor_row
        return row

    @property
    def shown_fact(self) -> FactRow | None:
        """What the slot of the detail holds, as far as it was read."""
        detail = self.pane.detail
        return self.cursor_fact if detail is None else detail.row

    @property
    def target(self) -> Stop | None:
        """What the keys act on: in the detail what its cursor stands on, else the value that is current."""
        if self.focused_in_detail():
            return self.pane.stop
        detail = self.pane.detail
        newest = None if detail is None else detail.links[0]
        return LinkStop(newest, False) if isinstance(newest, FactLink) else None

    @property
    def target_position(self) -> int:
        """Where what the keys act on was asserted; 0 where there is nothing."""
        target, row = self.target, self.cursor_fact
        return target.position if target is not None else row.position if row is not None else 0

    @property
    def target_evidence(self) -> Sequence[Evidence]:
        """The files given for it and, behind them, those of whoever confirmed it."""
        target = self.target
        if not isinstance(target, LinkStop):
            return ()
        fact = target.link.fact
        return (*fact.evidence, *(each for again in fact.confirmations for each in again.evidence))

    @property
    def target_session(self) -> str:
        """The session that its author named; empty for none."""
        target = self.target
        return target.link.session_id if isinstance(target, LinkStop) else ""

    # What the shell asks

    def restore(self, state: ScreenState) -> None:
        self.wanted, self.order = filter_from(state.values)
        self.set_filter(self.wanted.text)
        self._at = int(state.selected) if state.selected.isdecimal() else None

    def remember(self, state: ScreenState) -> None:
        # Who was at the first one wants to see the first one.
        state.selected = "" if self._at is None or self._first else str(self._at)
        state.values = filter_values(self._gave_way or self.wanted, self.order)

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._zone = ZoneInfo(workspace.timezone)
        self.pane.open(workspace, self._zone)
        self._show_filter()
        self._read(at=self._at)
        self._begin_ages()

    def on_committed(self) -> None:
        self._renew_ages()
        row, workspace = self.cursor_fact, self._workspace
        if row is None or workspace is None:
            self.facts.refresh_live()
        else:
            reader, was = workspace.readers.facts, row.position

            def look() -> None:
                place = reader.place(was)
                self.post_message(SlotLooked(was, None if place is None else place.position))

            self.in_thread(look, "follow", "Looking what a slot holds")
        self.pane.renew()

    def on_slot_looked(self, message: SlotLooked) -> None:
        """The cursor goes with its slot; nothing else on the screen moves.

        The list is read again only now: its neighbour would take the place of a fact that is gone, and the
        next verdict would be about another slot.
        """
        row = self.cursor_fact
        if row is not None and row.position == message.was and message.now not in (None, message.was):
            self.facts.go_to(message.now)
        else:
            self.facts.refresh_live()

    def on_as_of_changed(self) -> None:
        """Another moment is shown: the same fact as it was known then, or what was there."""
        self._renew_ages()
        at = None if self._first else self._at
        # What was read is of another moment; the list tells its row when it has one.
        self.pane.show(None, self.as_of)
        self._read(at=self._kept.travelled(self._at, at, now=self.as_of is None))
        self.update_footer()

    def moment_here(self) -> str:
        """The moment at which the fact that the keys act on was asserted."""
        return str(self.target_position or "")

    def filter_typed(self) -> None:
        self.apply(self.wanted._replace(text=self.filter_text.strip()))

    def set_count(self, text: str) -> None:
        self._count = text
        new = self.new_rows_words(*self._new)
        if self.order == "newest" and new:
            text = f"{new}  {text}"
        text = " · ".join(part for part in (text, ORDER_WORDS[self.order]) if part)
        if self.query("#list-bar"):
            super().set_count(text)

    # Reading

    def apply(self, wanted: FactFilter, order: FactOrder | None = None) -> None:
        """Narrow or order the list otherwise, the cursor on the same fact where that is still there."""
        order = self.order if order is None else order
        if (wanted, order) == (self.wanted, self.order):
            return
        at = None if self._first and order == self.order else self._at
        if self.focused_in_detail() and (row := self.pane.row) is not None:
            # What is read there is what the person is at, also where the list stands at its start.
            at = row.position
        at = self.back_from_search(self.wanted.text, wanted.text, at, chosen=not self._first)
        if wanted != self.wanted:
            self._gave_way = None
        self.wanted, self.order = wanted, order
        if wanted.text != self.filter_text.strip():
            self.set_filter(wanted.text)
        self._show_filter()
        self.set_count(self._count)
        self._read(at=at)
        self.update_footer()

    def _read(self, at: int | None = None) -> None:
        if self._workspace is None:
            return
        self.facts.renderer = FactRows(self._now, self.order)
        self.facts.empty_lines = empty_lines(
            self.wanted,
            self.app.keymap.shown("page.back"),
            self.app.keymap.shown("facts.clear"),
            self.app.root,
            past=self.as_of is not None,
        )
        source = FactSource(self._workspace.readers.facts, self.wanted, self.order, self.as_of)
        self.facts.set_source(source, at)

    def _show_filter(self) -> None:
        self._filter_line.show_filter(self.wanted, self.app.keymap.shown("facts.clear"))

    # What the list and the detail tell

    @on(NewRows, "#facts")
    def _rows_came(self, message: NewRows) -> None:
        self._new = (message.count, message.more)
        self.set_count(self._count)

    @on(Highlighted, "#facts")
    def _cursor_moved(self, message: Highlighted) -> None:
        row: FactRow | None = message.row
        self._at = None if row is None else row.position
        self._kept.arrived(self._at)
        seen = self.facts.visible_rows
        self._first = row is None or (
            bool(seen) and seen[0].id == row.id and self.facts.status.first in (1, None)
        )
        self._show_row()

    @on(StatusChanged, "#facts")
    def _list_read(self, message: StatusChanged) -> None:
        if self.cursor_fact is None and not message.status.loading:
            self._show_row()

    def on_descendant_focus(self) -> None:
        """What changed in the list while the detail was read shows once the list has the keys again."""
        super().on_descendant_focus()
        if self._workspace is not None and not self.focused_in_detail() and self.cursor_fact is not None:
            self._show_row()

    def _show_row(self) -> None:
        row = self.cursor_fact
        if row is not None and self.pane.row is not None and self.focused_in_detail():
            # Somebody replaced what is read here: the chain stays, and has the new value on top.
            return
        nothing = row is None and self.wanted == FactFilter() and self.as_of is None
        self.pane.show(row, self.as_of, guidance(self.app.root) if nothing and not self.facts.failed else ())

    @on(Highlighted, "#fact-chain")
    def _link_changed(self) -> None:
        self.update_footer()

    def on_filter_line_dropped(self, message: FactFilterLine.Dropped) -> None:
        """A part of the filter was clicked away."""
        self.apply(without(self.wanted, message.name) if message.name else FactFilter())

    def on_fact_filter_line_dropped(self, message: FactFilterLine.Dropped) -> None:
        """A part of the filter was clicked away."""
        self.on_filter_line_dropped(message)

    def redraw_ages(self) -> None:
        self.facts.redraw_rows()
        self.pane.redraw()

    # Narrowing

    def action_clear_filters(self) -> None:
        """Show every fact."""
        self.apply(FactFilter())

    def action_drop_filter(self) -> None:
        """Take the last part of the filter away."""
        parts = filter_parts(self.wanted)
        if parts:
            self.apply(without(self.wanted, parts[-1].name))

    def action_sort(self) -> None:
        """The next order."""
        self.apply(self.wanted, ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)])

    def action_narrow(self) -> None:
        """Offer kinds, disputes and conflicts."""
        from workbench.tui.dialogs.choose import ChooseDialog
        from workbench.tui.facts.narrowing import choices, narrowed

        wanted = self.wanted

        def narrow(chosen: str | None) -> None:
            if chosen is not None:
                self.apply(narrowed(wanted, chosen))

        self.app.push_screen(ChooseDialog("Narrow the facts", choices(wanted)), narrow)

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        """The forms of the fact that the keys act on."""
        row = self.cursor_fact
        return [] if row is None else copy_choices(self.app.root, row, self.target)

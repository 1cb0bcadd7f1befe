"""The list of sessions as a page: filter, order, the session under the cursor, what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.worker import get_current_worker

from workbench.tui.actions import writing
from workbench.tui.document import Blank, Block, Heading, Paragraph
from workbench.tui.in_shell import filling_blocks, filling_lines
from workbench.tui.place_kept import PlaceKept
from workbench.tui.present import Line, Span, number, one_line
from workbench.tui.reading_page import ReadingPage
from workbench.tui.sessions.context_window import MOST
from workbench.tui.sessions.detail import SessionDetail
from workbench.tui.sessions.detail_messages import Moved
from workbench.tui.sessions.session_rows import SessionRows
from workbench.tui.sessions.session_source import SessionSource
from workbench.tui.sessions.shown import Shown
from workbench.tui.widgets.list_messages import Highlighted, NewRows, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.rows import SessionFilter, SessionRow

if TYPE_CHECKING:
    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace
    from workbench.workspace.readers.session_queries import Order

FILLING = (
    ("workbench demo", "makes and opens a sample"),
    ("workbench import claude-code", "imports transcripts of Claude Code"),
    ("workbench import codex", "imports those of Codex"),
    ("workbench sessions record …", "records one act; --help says how"),
)
"""The commands that fill an empty screen, and what each does."""
_ROOMY = 40
"""Cells of the list from which its order is said in two words."""


class _Renewed(Message):
    """The open session as it is now."""

    def __init__(self, row: SessionRow) -> None:
        super().__init__()
        self.row = row


class SessionListPage(ReadingPage):
    """Sessions of every owner; the detail has the acta, the context window, and what is known."""

    FOLLOWS_AS_OF = True

    def __init__(self) -> None:
        super().__init__()
        # Kept, not looked for: what still comes in while the program ends finds no widgets.
        self._rows = SessionRows(self._now)
        self.sessions: VirtualList[SessionRow] = VirtualList(self._rows, id="sessions")
        """The list."""
        self.detail = SessionDetail(css_id="session")
        """The detail of the session under the cursor."""
        self._workspace: Workspace | None = None
        self._selected = ""
        self._kept: PlaceKept[str] = PlaceKept()
        self._filter = ""
        self._order: Order = "happened"
        self._unfiltered: object = None
        """The session that was under the cursor before the list was filtered."""
        self._put: object = None
        """Where the filter put the cursor."""
        self._filtering = False
        self._new = ""
        self._count = ""

    def compose_list(self) -> ComposeResult:
        yield self.sessions

    def compose_detail(self) -> ComposeResult:
        yield self.detail

    # The workspace

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.detail.open_workspace(workspace, self._now, self.as_of)
        self._show_sessions(self._selected or None)
        self._begin_ages()

    def on_committed(self) -> None:
        self._renew_ages()
        self.sessions.refresh_live()
        self.detail.committed()
        row, workspace = self.detail.session, self._workspace
        if row is not None and workspace is not None:

            def work() -> Message | None:
                now = workspace.readers.sessions.get(row.id)
                return None if now is None or now == row else _Renewed(now)

            self._ask("session-renew", "Reading a session", work)

    def on_as_of_changed(self) -> None:
        self.detail.travel(self.as_of)
        self._renew_ages()
        selected = self._selected or None
        self._show_sessions(self._kept.travelled(selected, selected, now=self.as_of is None))

    def moment_here(self) -> str:
        entry = self.detail.entry
        return "" if entry is None or not self.focused_in_detail() else str(entry.actum.position)

    def on_filter(self, text: str) -> None:
        before, self._filter = self._filter.strip(), text
        at = self.sessions.cursor_key
        if text.strip():
            if not before:
                self._unfiltered = at
            self._filtering = True
        elif before and self._unfiltered is not None and at in (None, self._put):
            # Who chose a session of the filtered list stays on it; who did not returns.
            at = self._unfiltered
        self._show_sessions(at)
        self.state_to_remember()

    def action_sort(self) -> None:
        """The other order of the list, the cursor on its session."""
        self._order = "recorded" if self._order == "happened" else "happened"
        self._show_sessions(self.sessions.cursor_key)
        self.set_count(self._count)
        self.state_to_remember()

    def _show_sessions(self, at: object) -> None:
        if self._workspace is None:
            return
        text = self._filter.strip()
        self.sessions.empty_lines = self._nothing(text)
        self.sessions.renderer = replace(self._rows, order=self._order)
        reader = self._workspace.readers.sessions.as_of(self.as_of)
        source = SessionSource(reader, SessionFilter(text=text), self._order)
        self.sessions.set_source(source, at=at)

    def _nothing(self, filter_text: str) -> Sequence[Line]:
        keymap = self.app.keymap
        if filter_text:
            return (
                (Span(f"  No session has “{one_line(filter_text, 12)}”", "text"),),
                (Span("  in its title, id, owner,", "dim"),),
                (Span("  folder or actors.", "dim"),),
                (),
                (Span(f"  {keymap.shown('page.back')}", "accent"), Span("  clears the filter", "dim")),
            )
        if self.as_of is not None:
            key = Span(f"  {keymap.shown('app.now')}", "accent")
            none = (Span("  There was no session yet", "strong"),)
            return (none, (), (key, Span(" comes back to now", "dim")))
        lines: list[Line] = [(Span("  No sessions yet", "strong"),), ()]
        if not writing(self.app):
            key = Span(f"  {keymap.shown('sessions.import')}", "accent")
            lines += [(key, Span("  imports transcripts", "text")), ()]
        return (*lines, *filling_lines(FILLING, self.app.root))

    def _guidance(self) -> list[Block]:
        """What the detail says while there is no session."""
        return [
            Heading("Nothing here yet", role="strong"),
            Blank(),
            Paragraph(
                "A session is what agents and people said and did, act by act: recorded by the agents "
                "themselves or imported from their transcripts. It stays whole here, whatever becomes of "
                "the file that it came from."
            ),
            Blank(),
            Heading("What fills it"),
            *filling_blocks(FILLING, self.app.root),
        ]

    def redraw_ages(self) -> None:
        self.sessions.redraw_rows()
        self.detail.renew_ages()

    # What the list and the detail tell

    @on(Highlighted, "#sessions")
    def _session_changed(self, message: Highlighted) -> None:
        self.detail.show(message.row)
        if message.row is not None:
            self._selected = message.row.id
        self._kept.arrived(self._selected or None)
        if message.row is not None:
            self.state_to_remember()

    @on(StatusChanged, "#sessions")
    def _sessions_counted(self, message: StatusChanged) -> None:
        if self._filtering and not self.sessions.status.loading:
            self._filtering, self._put = False, self.sessions.cursor_key
        empty = message.status.total == 0 and not message.status.loading
        self.detail.show_guidance(self._guidance() if empty and not self._filter.strip() else ())

    @on(NewRows, "#sessions")
    def _sessions_came(self, message: NewRows) -> None:
        more = "+" if message.more else ""
        self._new = f"{number(message.count)}{more} new ↑ · " if message.count else ""
        self.set_count(self._count)

    @on(Moved)
    def _detail_moved(self, message: Moved) -> None:
        message.stop()
        self.update_footer()
        if self._workspace is not None:
            # Kept up to date as it changes: when the program ends there are no widgets to ask.
            self.state_to_remember()

    @on(_Renewed)
    def _renewed(self, message: _Renewed) -> None:
        if self.detail.session is not None and self.detail.session.id == message.row.id:
            self.detail.show(message.row)

    def set_count(self, text: str) -> None:
        self._count = text
        if self.query("#list-bar"):
            order = self._order if self.sessions.size.width < _ROOMY else f"as {self._order}"
            super().set_count(f"{self._new}{order} · {text}")

    def leave_transient(self) -> bool:
        detail = self.detail
        return (
            super().leave_transient()
            or detail.stop_asking()
            or detail.close_reader()
            or (self.focused_in_detail() and detail.finder.clear())
        )

    # Remembering

    def restore(self, state: ScreenState) -> None:
        values = state.values
        detail = self.detail
        self._selected = state.selected
        detail.shown = Shown.from_text(values.get("shown", ""))
        last_n = values.get("last_n", "")
        if last_n.isdecimal() and 0 < int(last_n) <= MOST:
            detail.last_n = int(last_n)
        seq = values.get("act", "")
        if state.selected and seq.isdecimal():
            detail.places[state.selected] = int(seq)
        if values.get("side"):
            detail.choose_side(values["side"])
        if values.get("order") == "recorded":
            self._order = "recorded"
        if values.get("filter"):
            self._filter = values["filter"]
            self.set_filter(self._filter)

    def remember(self, state: ScreenState) -> None:
        detail = self.detail
        state.selected = self._selected
        kept = {
            "shown": detail.shown.as_text(),
            "last_n": str(detail.last_n),
            "side": detail.side,
            "filter": self._filter,
            "order": "" if self._order == "happened" else self._order,
            "act": str(detail.places.get(self._selected, "")),
        }
        state.values = {name: value for name, value in kept.items() if value}

    # Working

    def _ask(self, group: str, description: str, work: Callable[[], Message | None]) -> None:
        def run() -> None:
            message = work()
            if message is not None and not get_current_worker().is_cancelled:
                self.post_message(message)

        if not self.is_attached:
            return
        self.run_worker(
            run,
            name=group,
            group=group,
            description=description,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )

"""The Sessions screen: every session of the workspace, and what was said and done in each."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.worker import get_current_worker

from workbench.tui.actions import writing
from workbench.tui.copying import CopyChoice
from workbench.tui.destinations import Destination, ToEvent, ToSession
from workbench.tui.document import Blank, Block, Heading, Paragraph
from workbench.tui.place_kept import PlaceKept
from workbench.tui.present import Line, Span, number, one_line
from workbench.tui.reading_page import ReadingPage
from workbench.tui.sessions.context_window import MOST
from workbench.tui.sessions.detail import SessionDetail
from workbench.tui.sessions.detail_messages import Moved
from workbench.tui.sessions.import_job import ImportJob
from workbench.tui.sessions.places import HINT, NoSuchPlace, Place, find_place
from workbench.tui.sessions.session_actions import ACTIONS, NAME, SIDE_FOOTERS
from workbench.tui.sessions.session_rows import SessionRows
from workbench.tui.sessions.session_source import SessionSource
from workbench.tui.sessions.shown import Shown
from workbench.tui.sessions.whole_actum import plain_text, whole
from workbench.tui.widgets.list_messages import Highlighted, NewRows, Opened, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.rows import SessionFilter, SessionRow

if TYPE_CHECKING:
    from workbench.tui.actions import Action
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


class _Placed(Message):
    """Where to go: a session and, maybe, an act in it."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place


class _Renewed(Message):
    """The open session as it is now."""

    def __init__(self, row: SessionRow) -> None:
        super().__init__()
        self.row = row


class _TextRead(Message):
    """A text that is to be copied was read."""

    def __init__(self, text: str, label: str) -> None:
        super().__init__()
        self.text = text
        self.label = label


class SessionsPage(ReadingPage):
    """Sessions of every owner; the detail has the acta, the context window, and what is known."""

    NAME, TITLE, NUMBER = NAME, "Sessions", 2
    FOLLOWS_AS_OF = True
    OFFERS = frozenset(
        {
            "page.filter",
            "page.next_hit",
            "page.previous_hit",
            "page.goto",
            "page.copy",
            "page.sort",
            "page.next_tab",
            "page.previous_tab",
        }
    )
    GOTO_HINT = HINT
    ACTIONS = ACTIONS

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
        self.job: ImportJob | None = None

    def compose_list(self) -> ComposeResult:
        yield self.sessions

    def compose_detail(self) -> ComposeResult:
        yield self.detail

    # The workspace

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.detail.open_workspace(workspace, self._now, self._upto)
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
        self.detail.travel(self._upto)
        self._renew_ages()
        selected = self._selected or None
        self._show_sessions(self._kept.travelled(selected, selected, now=self._upto is None))

    def moment_here(self) -> str:
        entry = self.detail.entry
        return "" if entry is None or not self.focused_in_detail() else str(entry.actum.position)

    @property
    def _upto(self) -> int | None:
        """The position whose past is shown; None: now."""
        as_of = self.app.as_of
        return None if as_of is None else as_of.position

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
        reader = self._workspace.readers.sessions.as_of(self._upto)
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
        if self._upto is not None:
            key = Span(f"  {keymap.shown('app.now')}", "accent")
            none = (Span("  There was no session yet", "strong"),)
            return (none, (), (key, Span(" comes back to now", "dim")))
        lines: list[Line] = [(Span("  No sessions yet", "strong"),), ()]
        if not writing(self.app):
            key = Span(f"  {keymap.shown('sessions.import')}", "accent")
            lines += [(key, Span("  imports transcripts", "text")), ()]
        lines.append((Span("  In a shell:", "dim"),))
        lines += [(Span(f"  {command}", "ink"),) for command, _ in FILLING]
        return tuple(lines)

    def _guidance(self) -> list[Block]:
        """What the detail says while there is no session."""
        commands = [
            Paragraph((Span(command, "ink"), Span(f"  {what}", "dim")), indent=1) for command, what in FILLING
        ]
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
            *commands,
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

    # Finding inside a session

    async def action_filter(self) -> None:
        """Narrow the list; where the acta have the keys, find text in them."""
        if self.focused_in_detail() and self.detail.can_find:
            await self.detail.open_find()
        else:
            await super().action_filter()

    def action_next_hit(self) -> None:
        """Go to the next hit in the session."""
        self._find(1)

    def action_previous_hit(self) -> None:
        """Go to the previous hit in the session."""
        self._find(-1)

    def _find(self, direction: int) -> None:
        if self.detail.can_find and self.detail.finder.active:
            self.detail.find_next(direction)
        else:
            key = self.app.keymap.shown("page.filter")
            self.app.notify(f"Nothing is looked for: {key} finds text where acta have the keys.")

    @on(Opened, "#sessions")
    def _session_opened(self, message: Opened) -> None:
        """What found the session is looked for in it."""
        self.detail.offer_find(self._filter.strip())

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

    # Going

    def goto(self, text: str) -> None:
        workspace, session = self._workspace, self.detail.session
        if workspace is None:
            return
        wanted, as_of = text.strip(), self._upto

        def work() -> Message:
            return _Placed(find_place(workspace, wanted, None if session is None else session.id, as_of))

        self._ask("session-goto", "Looking for a place", work)

    def arrive(self, destination: Destination) -> None:
        if isinstance(destination, ToSession):
            self._go(_Placed(Place(destination.chronicum_id, destination.seq)))

    def show_entry(self, chronicum_id: str, seq: int) -> None:
        """Show this session with the cursor on the entry that has this number in it."""
        self._go(_Placed(Place(chronicum_id, seq)))

    @on(_Placed)
    def _go(self, message: _Placed) -> None:
        detail, place = self.detail, message.place
        if place.seq is not None:
            detail.places[place.session_id] = place.seq
            if detail.side != "acta":
                detail.choose_side("acta")
        if detail.session is not None and detail.session.id == place.session_id:
            if place.seq is not None:
                detail.go_to(place.seq)
        elif self._filter:
            self._filter, self._unfiltered = "", None
            self.set_filter("")
            self._show_sessions(place.session_id)
        else:
            self.sessions.go_to(place.session_id)
        if place.seq is not None:
            self.show_detail()

    async def action_show_on_timeline(self) -> None:
        """The act under the cursor among all events."""
        entry = self.detail.entry
        if entry is not None:
            await self.app.lead_to(ToEvent(entry.actum.position))

    def action_into(self) -> None:
        """From a call to its sub-agent's first act."""
        entry = self.detail.entry
        if entry is not None and entry.actum.child_seq is not None:
            self.detail.go_to(entry.actum.child_seq)

    def action_out(self) -> None:
        """From a sub-agent's act, or a result, to the call."""
        entry, session, workspace = self.detail.entry, self.detail.session, self._workspace
        if entry is None or session is None or workspace is None:
            return
        if not entry.is_call and entry.actum.reply_seq is not None:
            self.detail.go_to(entry.actum.reply_seq)
            return
        call_id = entry.actum.metadata.get("parent")
        if not isinstance(call_id, str):
            return

        def work() -> Message:
            seq = workspace.readers.entries.spawner(session.id, call_id)
            if seq is None:
                raise NoSuchPlace("the call that started this sub-agent is not in the session")
            return _Placed(Place(session.id, seq))

        self._ask("session-goto", "Looking for a call", work)

    def action_response(self) -> None:
        """From a call to its result; while results are folded, in the open call."""
        entry, detail = self.detail.entry, self.detail
        if entry is None or entry.actum.reply_seq is None:
            return
        if detail.shown.folded or not detail.shown.has("tool_response"):
            detail.open_actum(at_answer=True)
        else:
            detail.go_to(entry.actum.reply_seq)

    # Showing

    def reachable_actions(self) -> list[Action]:
        """The footer names the keys of the side that is shown: what folds acta, or what sizes the window."""
        actions = super().reachable_actions()
        finds = self.focused_in_detail() and self.detail.can_find
        for at, action in enumerate(actions):
            if action.id in SIDE_FOOTERS:
                actions[at] = replace(action, footer=SIDE_FOOTERS[action.id].get(self.detail.side, 0))
            elif action.id == "page.filter" and finds:
                actions[at] = replace(action, title="find", description="Find text in this session.")
            elif action.id == "page.next_hit" and finds and self.detail.finder.filter_text:
                actions[at] = replace(action, footer=21)
        return actions

    def action_next_tab(self) -> None:
        """The next side of the detail."""
        self.detail.turn(1)

    def action_previous_tab(self) -> None:
        """The previous side of the detail."""
        self.detail.turn(-1)

    def action_switch(self, name: str) -> None:
        """Show or hide a kind or actor kind."""
        self.detail.toggle(name)

    def action_form(self) -> None:
        """Fold or unfold; of an open act, its other form."""
        self.detail.refold()

    def action_last_n(self, direction: int) -> None:
        """More or fewer acta in the context window."""
        self.detail.step_last_n(direction)

    def action_ask_last_n(self) -> None:
        """Ask how many acta the context window hands over."""
        from workbench.tui.dialogs.prompt import PromptDialog

        def check(text: str) -> str:
            fine = text.strip().isdecimal() and 0 < int(text) <= MOST
            return "" if fine else f"a number from 1 to {number(MOST)}"

        def take(text: str | None) -> None:
            if text:
                self.detail.set_last_n(int(text))

        hint = "the last acta that the switches let pass"
        self.app.push_screen(PromptDialog("How many acta", hint, str(self.detail.last_n), check), take)

    # Copying

    def copy_choices(self) -> list[CopyChoice]:
        session, entry = self.detail.session, self.detail.entry
        if session is None or self._workspace is None:
            return []
        command = ["workbench", "sessions", "show", session.id, "--root", str(self._workspace.root)]
        if session.owner_id != self._workspace.owner:
            command += ["--owner", session.owner_id]
        choices = [
            CopyChoice("id of the session", session.id),
            CopyChoice("title", session.title),
            CopyChoice("command that shows it", shlex.join(command)),
            CopyChoice("JSON of the session", msgspec.json.format(msgspec.json.encode(session)).decode()),
        ]
        if session.source_path:
            choices.append(CopyChoice("path of the transcript", session.source_path))
        if entry is None or not self.focused_in_detail():
            return choices
        read, seq = self._workspace.readers.entries.as_of(self._upto).entry, entry.seq

        def text() -> str:
            return plain_text(*whole(read, session.id, seq))

        def as_json() -> str:
            return msgspec.json.format(msgspec.json.encode(whole(read, session.id, seq)[0])).decode()

        own = [CopyChoice("text", text), CopyChoice("JSON", as_json)]
        if entry.actum.id:
            own.insert(0, CopyChoice("id of the act", entry.actum.id))
        return [*own, *choices]

    def action_copy(self) -> None:
        from workbench.tui.dialogs.copy_menu import CopyMenu

        choices = self.copy_choices()

        def copy(index: int | None) -> None:
            if index is not None:
                choice = choices[index]
                # A text may be long and lie in the database: it is read off the UI thread.
                self._ask("copy", "Reading a text to copy", lambda: _TextRead(choice.resolve(), choice.label))

        self.app.push_screen(CopyMenu([choice.label for choice in choices]), copy)

    @on(_TextRead)
    def _copy_text(self, message: _TextRead) -> None:
        self.app.copy(message.text, message.label)

    # Importing

    def action_import_transcripts(self) -> None:
        """Find transcripts and choose which to import."""
        from workbench.tui.dialogs.import_picker import ImportPicker

        if self._workspace is None:
            return
        running = self.job if self.job is not None and self.job.running else None
        self.app.push_screen(ImportPicker(self._workspace, self._begin_import, running))

    def _begin_import(self, paths: Sequence[Path]) -> ImportJob:
        assert self._workspace is not None
        self.job = ImportJob(self.app, self._workspace, paths)
        self.job.start()
        return self.job

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


PAGE = SessionsPage

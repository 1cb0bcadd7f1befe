"""The Sessions screen: every session of the workspace, and what was said and done in each."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.worker import get_current_worker

from workbench.errors import WorkbenchError
from workbench.tui.actions import Action, writing
from workbench.tui.document import Blank, Block, Heading, Paragraph
from workbench.tui.page import CopyChoice, Page
from workbench.tui.present import Line, Span, number, one_line
from workbench.tui.sessions.context_window import MOST
from workbench.tui.sessions.detail import SWITCHES, Moved, SessionDetail, whole
from workbench.tui.sessions.import_job import ImportJob
from workbench.tui.sessions.session_rows import SessionRows
from workbench.tui.sessions.session_source import SessionSource
from workbench.tui.sessions.shown import Shown
from workbench.tui.sessions.whole_actum import plain_text
from workbench.tui.widgets.list_messages import Highlighted, NewRows, StatusChanged
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace.rows import SessionFilter, SessionRow, TimelineFilter

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp
    from workbench.tui.sessions.entry_source import Entry
    from workbench.tui.state import ScreenState
    from workbench.workspace import Workspace

NAME = "sessions"
FILLING = (
    ("workbench demo", "makes and opens a sample"),
    ("workbench import claude-code", "imports transcripts of Claude Code"),
    ("workbench sessions record …", "records one act; --help says how"),
)
"""The commands that fill an empty screen, and what each does."""
_AGES_SECONDS = 30.0
"""How often ages are drawn anew."""


class NoSuchPlace(WorkbenchError):
    """There is no session, act or position of that name."""

    code = "no_such_place"


class _Placed(Message):
    """Where to go: a session and, maybe, an act in it."""

    def __init__(self, session_id: str, seq: int | None) -> None:
        super().__init__()
        self.session_id = session_id
        self.seq = seq


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


def _detail(app: WorkbenchApp) -> SessionDetail | None:
    page = app.page
    return page.detail if isinstance(page, SessionsPage) and page.is_mounted else None


def _in_session(app: WorkbenchApp) -> str:
    detail = _detail(app)
    return "" if detail is not None and detail.session is not None else "no session is open"


def _entry(app: WorkbenchApp) -> Entry | None:
    detail = _detail(app)
    return None if detail is None else detail.entry


def _into(app: WorkbenchApp) -> str:
    entry = _entry(app)
    has_child = entry is not None and entry.actum.child_seq is not None
    return "" if has_child else "the cursor is not on a call that started a sub-agent"


def _out(app: WorkbenchApp) -> str:
    entry = _entry(app)
    if entry is not None and (
        entry.actum.metadata.get("parent") or (not entry.is_call and entry.actum.reply_seq is not None)
    ):
        return ""
    return "the cursor is not on a sub-agent's act or on a result"


def _answered(app: WorkbenchApp) -> str:
    entry = _entry(app)
    if entry is None or not entry.is_call:
        return "the cursor is not on a tool call"
    return "" if entry.actum.reply_seq is not None else "this call has no response"


def _switch(name: str, key: str) -> Action:
    action_id, title = SWITCHES[name]
    what = f"Show or hide {title}." if name != "unit_closed" else "Show or hide where units were closed."
    return Action(action_id, title, what, (key,), NAME, "View", f"switch({name!r})", reason=_in_session)


class SessionsPage(Page):
    """Sessions of every owner; the detail has the acta, the context window, and what is known."""

    NAME, TITLE, NUMBER = NAME, "Sessions", 2
    OFFERS = frozenset({"page.filter", "page.goto", "page.copy", "page.next_tab", "page.previous_tab"})
    GOTO_HINT = "the number of an act in this session, a position of the log, or a session's id"
    ACTIONS = (
        Action(
            "sessions.import",
            "import",
            "Import transcripts of Claude Code.",
            ("i",),
            NAME,
            "Act",
            "import_transcripts",
            footer=50,
            reason=writing,
        ),
        Action(
            "sessions.form",
            "fold/raw",
            "Show results under their calls or by themselves; of an open act: as text or raw.",
            ("f",),
            NAME,
            "View",
            "form",
            footer=45,
            reason=_in_session,
        ),
        _switch("message", "m"),
        _switch("thought", "h"),
        _switch("tool_request", "c"),
        _switch("tool_response", "x"),
        _switch("unit_closed", "u"),
        _switch("human", "p"),
        _switch("agent", "a"),
        _switch("system", "w"),
        Action(
            "sessions.into",
            "into",
            "Go from a call to the first act of its sub-agent.",
            ("greater_than_sign",),
            NAME,
            "Move",
            "into",
            reason=_into,
        ),
        Action(
            "sessions.out",
            "out",
            "Go back: from a sub-agent's act, or from a result, to its call.",
            ("less_than_sign",),
            NAME,
            "Move",
            "out",
            reason=_out,
        ),
        Action(
            "sessions.response",
            "result",
            "Go from a call to its result.",
            ("l",),
            NAME,
            "Move",
            "response",
            reason=_answered,
        ),
        Action(
            "sessions.fewer",
            "fewer",
            "Hand over fewer acta in the context window.",
            ("minus",),
            NAME,
            "View",
            "last_n(-1)",
            reason=_in_session,
        ),
        Action(
            "sessions.more",
            "more",
            "Hand over more acta in the context window.",
            ("equals_sign",),
            NAME,
            "View",
            "last_n(1)",
            reason=_in_session,
        ),
        Action(
            "sessions.last_n",
            "how many",
            "Say how many acta the context window hands over.",
            ("number_sign",),
            NAME,
            "View",
            "ask_last_n",
            reason=_in_session,
        ),
    )

    def __init__(self) -> None:
        super().__init__()
        self._workspace: Workspace | None = None
        self._selected = ""
        self._new = ""
        self._count = ""
        self.job: ImportJob | None = None

    def compose_list(self) -> ComposeResult:
        yield VirtualList(SessionRows(self.app.clock), id="sessions")

    def compose_detail(self) -> ComposeResult:
        yield SessionDetail(css_id="session")

    @property
    def detail(self) -> SessionDetail:
        """The detail of the session under the cursor."""
        return self.query_one(SessionDetail)

    @property
    def sessions(self) -> VirtualList[SessionRow]:
        """The list."""
        return self.query_one("#sessions", VirtualList)

    # The workspace

    def on_workspace_ready(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.detail.open_workspace(workspace)
        self._show_sessions(self._selected or None)
        self.set_interval(_AGES_SECONDS, self._age)

    def on_committed(self) -> None:
        self.sessions.refresh_live()
        self.detail.committed()
        row, workspace = self.detail.session, self._workspace
        if row is not None and workspace is not None:

            def work() -> Message | None:
                now = workspace.readers.sessions.get(row.id)
                return None if now is None or now == row else _Renewed(now)

            self._ask("session-renew", "Reading a session", work)

    def on_filter(self, text: str) -> None:
        self._show_sessions(self.sessions.cursor_key)
        self.state_to_remember()

    def _show_sessions(self, at: object) -> None:
        if self._workspace is None:
            return
        text = self.filter_text.strip()
        self.sessions.empty_lines = self._nothing(text)
        source = SessionSource(self._workspace.readers.sessions, SessionFilter(text=text))
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

    def _age(self) -> None:
        if self.app.page is self:
            self.sessions.redraw_rows()

    # What the list and the detail tell

    @on(Highlighted, "#sessions")
    def _session_changed(self, message: Highlighted) -> None:
        self.detail.show(message.row)
        if message.row is not None:
            self._selected = message.row.id
            self.state_to_remember()

    @on(StatusChanged, "#sessions")
    def _sessions_counted(self, message: StatusChanged) -> None:
        empty = message.status.total == 0 and not message.status.loading
        self.detail.show_guidance(self._guidance() if empty and not self.filter_text.strip() else ())

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
        super().set_count(self._new + text)

    def leave_transient(self) -> bool:
        return super().leave_transient() or self.detail.close_reader()

    def focused_in_detail(self) -> bool:
        """Whether the detail has the keys."""
        focused = self.focused
        return focused is not None and self.detail in focused.ancestors

    def action_next_pane(self) -> None:
        # The acta are a list too: the base class takes every list for the list pane.
        if self.focused_in_detail():
            self.show_list()
        else:
            super().action_next_pane()

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
        if values.get("filter"):
            self.set_filter(values["filter"])

    def remember(self, state: ScreenState) -> None:
        detail = self.detail
        state.selected = self._selected
        kept = {
            "shown": detail.shown.as_text(),
            "last_n": str(detail.last_n),
            "side": detail.side,
            "filter": self.filter_text,
            "act": str(detail.places.get(self._selected, "")),
        }
        state.values = {name: value for name, value in kept.items() if value}

    # Going

    def goto(self, text: str) -> None:
        workspace, session = self._workspace, self.detail.session
        if workspace is None:
            return
        wanted = text.strip()

        def work() -> Message:
            return _find_place(workspace, wanted, None if session is None else session.id)

        self._ask("session-goto", "Looking for a place", work)

    @on(_Placed)
    def _go(self, message: _Placed) -> None:
        detail = self.detail
        if message.seq is not None:
            detail.places[message.session_id] = message.seq
        if detail.session is not None and detail.session.id == message.session_id:
            if message.seq is not None:
                detail.go_to(message.seq)
        elif self.filter_text:
            self.set_filter("")
            self._show_sessions(message.session_id)
        else:
            self.sessions.go_to(message.session_id)
        if message.seq is not None:
            self.show_detail()

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
            return _Placed(session.id, seq)

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
        read, seq = self._workspace.readers.entries.entry, entry.seq

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

        self.run_worker(
            run,
            name=group,
            group=group,
            description=description,
            exclusive=True,
            exit_on_error=False,
            thread=True,
        )


def _find_place(workspace: Workspace, wanted: str, open_session: str | None) -> _Placed:
    """The place that a text names. Reads: for a worker thread."""
    readers = workspace.readers
    if readers.sessions.get(wanted) is not None:
        return _Placed(wanted, None)
    for source in ("claude-code", "codex"):
        if readers.sessions.get(f"{source}/{wanted}") is not None:
            return _Placed(f"{source}/{wanted}", None)
    digits = wanted.replace(" ", "").replace("\u00a0", "").lstrip("#")
    if digits.isdecimal() and len(digits) < 19:
        place = int(digits)
        if open_session is not None and 0 < place <= readers.entries.last_seq(open_session):
            return _Placed(open_session, place)
        found = readers.timeline.page(TimelineFilter(), 1, after=place - 1) if place else []
        session_id = found[0].payload.get("chronicum_id") if found else None
        if found and found[0].position == place and isinstance(session_id, str):
            return _Placed(session_id, found[0].seq)
    raise NoSuchPlace(
        f"there is no session and no act {one_line(wanted, 80)}", hint=f"name {SessionsPage.GOTO_HINT}"
    )


PAGE = SessionsPage

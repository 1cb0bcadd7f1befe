"""Workspaces with known sessions, and the program with the Sessions screen alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

from msgspec.structs import replace
from textual.pilot import Pilot

from tests.laid_out import laid_out_once
from tests.tui.shell_probe import until
from workbench.log import PendingEvent
from workbench.log.registry import Payload
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
START = datetime(2026, 3, 1, 8, 30, 5, tzinfo=UTC)


class SessionsApp(WorkbenchApp):
    """The program with one screen; the path in the header is the same wherever the tests run."""

    PAGES = (SessionsPage,)

    def header_state(self) -> HeaderState:
        state = super().header_state()
        return HeaderState("~/chronicle", state.schema, state.live, state.moment, state.read_only)


class Steps:
    """A clock that moves on at each reading."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=7)
        return self.now


def app_on(root: Path, *, read_only: bool = False) -> SessionsApp:
    """The program on a workspace, its clock stopped."""
    return SessionsApp(root, read_only=read_only, clock=lambda: NOW)


def act(
    content: str,
    actor: str = "maya",
    kind: str = "message",
    actor_kind: str = "",
    *,
    private: bool = False,
    occurred_at: datetime | None = None,
    **metadata: Any,
) -> PendingEvent:
    """An act in whatever session it is put into; by a human where it is maya's, else by an agent."""
    payload = ActumRecorded(
        id=f"{actor}-{kind}-{len(content)}",
        chronicum_id="",
        kind=kind,
        actor_kind=actor_kind or ("human" if actor == "maya" else "agent"),
        actor=actor,
        content=content,
        metadata=metadata,
    )
    return PendingEvent(
        payload=payload, visibility="private" if private else "public", occurred_at=occurred_at
    )


def call(name: str, content: str, call_id: str, actor: str = "coder", **metadata: Any) -> PendingEvent:
    """A tool call."""
    return act(content, actor, "tool_request", "agent", name=name, call_id=call_id, **metadata)


def response(name: str, content: str, call_id: str, **metadata: Any) -> PendingEvent:
    """What a tool answered."""
    return act(content, name, "tool_response", "system", call_id=call_id, **metadata)


TALK = (
    act("Put the importer behind a flag.\n\nNothing is deleted before the way back is proven."),
    act("The way back decides it.", "coder", "thought"),
    call("Bash", '{"command":"git status --short","description":"State"}', "c1"),
    response("Bash", "M a.py\nM b.py", "c1"),
    call("Read", '{"file_path":"/src/atlas/atlas/nightly.py"}', "c2"),
    response("Read", "No such file", "c2", is_error=True),
    call("Task", '{"description":"Who reads the trailer"}', "c3"),
    act("I look for readers.", "coder/scout", agent_id="scout", parent="c3", sidechain=True),
    call("Grep", '{"pattern":"trailer","path":"/src/atlas"}', "c4", "coder/scout", parent="c3"),
    response("Grep", "none", "c4", parent="c3"),
    response("Task", "Nobody reads it.", "c3"),
    act("for my eyes only", private=True),
    call("Bash", '{"command":"sleep 9999"}', "c5"),
    act("\n".join(f"line {number}" for number in range(1, 31)), "coder"),
    UnitClosed(chronicum_id="", unit="planning", note="agreed"),
    act("Good. Go on tomorrow."),
)
"""Seqs 3 to 18 after the creation and the description."""

WIDE = (
    act("日本語の長い文がここに続きます。とても長いので折り返されます。" * 3, "計画者"),
    act("👩\u200d🔬 looks at 🇺🇦 and ⚠\ufe0f, then العربية and עברית"),
    act("[bold]not bold[/bold] [@click=app.quit]quit[/] \x1b[31mred\x1b[0m \u202eevil\u202c", "[/x]"),
    call("Bäsh[/]", '{"command":"echo \\"日本語\\" \\u001b[2J"}', "w1", "計画者"),
    response("Bäsh[/]", "tab\there, zero\u200bwidth, nul\x00", "w1"),
)

DESCRIBED = ChronicumDescribed(title="The importer behind a flag", cwd="/src/atlas", git_branch="main")


def make_workspace(root: Path, sessions: dict[str, Sequence[PendingEvent | Payload]]) -> Path:
    """A workspace with these sessions, the last one active last; ids and times are the same in every run."""
    return _with_sessions(root, *((session, tuple(payloads)) for session, payloads in sessions.items()))


@laid_out_once
def _with_sessions(root: Path, *sessions: tuple[str, Sequence[PendingEvent | Payload]]) -> Path:
    with Workspace.create(
        root, title="Probe", timezone="Europe/Berlin", owner="maya", clock=Steps()
    ) as workspace:
        for session, payloads in sessions:
            record(workspace, session, ChronicumCreated(chronicum_id=session, owner_id="maya"), *payloads)
    return root


_NUMBERS = count(1)


def record(workspace: Workspace, session: str, *payloads: PendingEvent | Payload) -> None:
    """Append each by itself, so that each has a time of its own."""
    for each in payloads:
        pending = each if isinstance(each, PendingEvent) else PendingEvent(payload=each)
        payload = pending.payload
        if isinstance(payload, ActumRecorded | UnitClosed):
            payload = replace(payload, chronicum_id=session)
        event_id = UUID(int=0x019CAD9A << 96 | next(_NUMBERS))
        workspace.log.append(session_stream(session), [replace(pending, payload=payload, event_id=event_id)])


def append_elsewhere(root: Path, session: str, *payloads: PendingEvent | Payload) -> None:
    """What another program does: open, record, close."""
    with Workspace.open(root) as workspace:
        record(workspace, session, *payloads)


def sessions_page(app: WorkbenchApp) -> SessionsPage:
    """The screen that is shown."""
    page = app.page
    assert isinstance(page, SessionsPage)
    return page


async def rows_shown(pilot: Pilot[None], app: WorkbenchApp) -> SessionsPage:
    """Let the program run until the list, the session under its cursor and what is known of it stand there."""
    await until(pilot, lambda: app.workspace is not None and app.page is not None)
    page = sessions_page(app)
    await until(pilot, lambda: page.sessions.source is not None and not page.sessions.status.loading)
    await until(pilot, lambda: _id(page.detail.session) == _id(page.sessions.cursor_row))
    await entries_shown(pilot, page)
    return page


async def entries_shown(pilot: Pilot[None], page: SessionsPage) -> None:
    """Let the program run until the acta and what is known of the session stand there."""
    if page.detail.session is not None:
        await until(pilot, lambda: not page.detail.entries.status.loading)
        await until(pilot, lambda: page.detail.looked)
    await pilot.pause()


async def still(pilot: Pilot[None]) -> None:
    """Let the program run until what it draws has stopped changing."""
    last, same = "", 0
    for _ in range(200):
        await pilot.pause(0.02)
        drawn = pilot.app.export_screenshot()
        last, same = drawn, same + 1 if drawn == last else 0
        if same >= 5:
            return
    raise AssertionError("the screen does not come to rest")


def _id(row: Any) -> str:
    return "" if row is None else str(row.id)


def seqs(page: SessionsPage) -> list[int]:
    """The seqs of the entries that are held, in order."""
    return [row.seq for row in page.detail.entries._window.rows]


def at(page: SessionsPage) -> int:
    """The seq under the cursor."""
    entry = page.detail.entry
    assert entry is not None
    return entry.seq

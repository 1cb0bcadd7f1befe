"""Workspaces with known events, and the program with the Timeline alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import ClassVar
from uuid import UUID

from textual.pilot import Pilot

from tests.laid_out import laid_out_once
from tests.tui.shell_probe import until
from workbench.log import PendingEvent
from workbench.log.registry import Payload
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.tui.app import WorkbenchApp
from workbench.tui.page import Page
from workbench.tui.screens.timeline import TimelinePage
from workbench.workspace import Workspace
from workbench.workspace.rows import EventRow

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
START = datetime(2026, 3, 1, 8, 30, 5, tzinfo=UTC)


class TimelineApp(WorkbenchApp):
    """The program with one screen."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (TimelinePage,)


def app_on(root: Path) -> TimelineApp:
    """The program on a workspace, its clock stopped."""
    return TimelineApp(root, clock=lambda: NOW)


def timeline(app: WorkbenchApp) -> TimelinePage:
    """The screen that is shown."""
    page = app.page
    assert isinstance(page, TimelinePage)
    return page


async def rows_shown(pilot: Pilot[None], app: WorkbenchApp) -> TimelinePage:
    """Let the program run until the list was read and the event under the cursor is shown."""
    await until(pilot, lambda: app.workspace is not None and app.page is not None)
    page = timeline(app)
    await until(pilot, lambda: page.events.source is not None and not page.events.status.loading)
    await until(pilot, lambda: _position(page.event_pane.event) == _position(page.cursor_event))
    await pilot.pause()
    return page


def _position(event: EventRow | None) -> int:
    return 0 if event is None else event.position


class Steps:
    """A clock that moves on at each reading."""

    def __init__(self, start: datetime = START, step: timedelta = timedelta(minutes=11)) -> None:
        self._now = start - step
        self._step = step

    def __call__(self) -> datetime:
        self._now += self._step
        return self._now


def entry(
    content: str, actor: str = "maya", kind: str = "message", tool: str = "", session: str = "s1"
) -> ActumRecorded:
    """An entry of a session, by a human where it is maya's."""
    return ActumRecorded(
        id=f"{session}-{len(content)}-{kind}",
        chronicum_id=session,
        kind=kind,
        actor_kind="human" if actor == "maya" else "agent",
        actor=actor,
        content=content,
        metadata={"name": tool} if tool else {},
    )


TALK: tuple[Payload, ...] = (
    ChronicumCreated(chronicum_id="s1", owner_id="maya"),
    ChronicumDescribed(title="The importer behind a flag", cwd="/src/atlas", git_branch="main"),
    entry("Plan the move of the importer behind a flag."),
    entry("What can not be undone decides whether a flag is enough.", "planner", "thought"),
    entry('{"command": "git log --oneline", "description": "History"}', "planner", "tool_request", "Bash"),
    entry("ab12 Add the importer\ncd34 Wire it in", "Bash", "tool_response"),
    entry("Three steps.\n\n1. The flag.\n2. One library.\n3. The way back.", "planner"),
    UnitClosed(chronicum_id="s1", unit="planning", note="The plan is agreed."),
)

WIDE: tuple[Payload, ...] = (
    ChronicumCreated(chronicum_id="s1", owner_id="maya"),
    entry("日本語の長い文がここに続きます。とても長いので切られます。とても長いので切られます。", "計画者"),
    entry("👩\u200d🔬 looks at 🇺🇦 and ⚠\ufe0f, then العربية and עברית", "planner"),
    entry("[bold]not bold[/bold] [@click=app.quit]quit[/] \x1b[31mred\x1b[0m \u202eevil\u202c", "[/x]"),
    entry("tab\there, zero\u200bwidth, nul\x00 and a very " + "long " * 60 + "line", "coder"),
)


@laid_out_once
def make_workspace(root: Path, batches: Sequence[Payload] = (), *, session: str = "s1") -> Path:
    """A workspace at `root` with these events in one session; ids and times are the same in every run."""
    numbers = count(1)
    with Workspace.create(
        root, title="Probe", timezone="Europe/Berlin", owner="maya", clock=Steps()
    ) as workspace:
        for payload in batches:
            workspace.log.append(
                session_stream(session),
                [PendingEvent(payload=payload, event_id=UUID(int=0x019CAD9A << 96 | next(numbers)))],
            )
    return root


def many(number: int) -> Iterator[Payload]:
    """As many entries, by planner and every tenth by maya; each hundredth speaks of a comet."""
    yield ChronicumCreated(chronicum_id="s1", owner_id="maya")
    for at in range(2, number + 1):
        word = "comet" if at % 100 == 0 else "flag"
        yield entry(f"entry {at} about a {word}", "maya" if at % 10 == 0 else "planner")


@laid_out_once
def make_long(root: Path, number: int) -> Path:
    """A workspace with `number` events, written in one go."""
    with Workspace.create(
        root, title="Long", timezone="UTC", owner="maya", clock=Steps(step=timedelta(seconds=1))
    ) as workspace:
        workspace.log.append(session_stream("s1"), list(many(number)))
    return root


@laid_out_once
def make_spread(root: Path) -> Path:
    """Sixty days of 2026 with one or two entries in every tenth; recorded in another order. 13 events."""
    numbers = count(1)
    with Workspace.create(
        root, title="Spread", timezone="UTC", owner="maya", clock=lambda: START
    ) as workspace:
        drafts = [
            PendingEvent(
                event_id=UUID(int=0x019CAD9A << 96 | next(numbers)),
                payload=ChronicumCreated(chronicum_id="s1", owner_id="maya"),
                occurred_at=datetime(2026, 1, 1, tzinfo=UTC),
            )
        ]
        for at in (3, 5, 0, 4, 1, 2):
            day = datetime(2026, 1, 2, 9, tzinfo=UTC) + timedelta(days=10 * at)
            word = "comet" if at % 3 == 0 else "flag"
            drafts += [
                PendingEvent(
                    event_id=UUID(int=0x019CAD9A << 96 | next(numbers)),
                    payload=entry(f"a {word}", who),
                    occurred_at=day + timedelta(hours=hours),
                )
                for hours, who in ((0, "planner"), (1, "maya"))
            ]
        workspace.log.append(session_stream("s1"), drafts)
    return root


def append_elsewhere(root: Path, *payloads: Payload) -> None:
    """What another program does: open, record, close."""
    with Workspace.open(root) as workspace:
        workspace.log.append(session_stream("s1"), list(payloads))


def append_happened(
    root: Path, *drafts: tuple[Payload, datetime | None], private: bool = False, session: str = "s1"
) -> None:
    """The same for what happened at given moments."""
    with Workspace.open(root) as workspace:
        workspace.log.append(
            session_stream(session),
            [
                PendingEvent(
                    payload=payload,
                    occurred_at=moment,
                    visibility="private" if private else "public",
                )
                for payload, moment in drafts
            ],
        )

"""The program with the Jobs screen, and workspaces with jobs of every kind of end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from textual.pilot import Pilot

from tests.laid_out import laid_out_once
from tests.tui.shell_probe import until
from tests.workspace.jobs_cases import put
from workbench.log.times import to_micros
from workbench.tui.app import WorkbenchApp
from workbench.tui.page import Page
from workbench.tui.screens.jobs import JobsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace
from workbench.workspace.jobs.processes import this_process

NOW = datetime(2031, 5, 4, 12, 0, tzinfo=UTC)
MIB = 1_000_000


class NamedJobsPage(JobsPage):
    """The path of the log file is the same wherever the tests run."""

    def log_file(self) -> str:
        return "~/.local/state/chronicle-workbench/workbench.log"


class JobsApp(WorkbenchApp):
    """The program with two screens; the path in the header is the same wherever the tests run."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (SessionsPage, NamedJobsPage)

    def workspace_opener(self) -> Callable[[], Workspace]:
        clock = None if self.clock() != NOW else self.clock
        return lambda: Workspace.open(self.root, read_only=self.wants_read_only, clock=clock)

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


def app_on(root: Path, *, read_only: bool = False, stopped: bool = True) -> JobsApp:
    """The program on a workspace, its clock stopped unless asked otherwise."""
    clock = (lambda: NOW) if stopped else None
    return JobsApp(root, read_only=read_only, clock=clock, screen="jobs")


def jobs_page(app: WorkbenchApp) -> JobsPage:
    """The screen that is shown."""
    page = app.page
    assert isinstance(page, JobsPage)
    return page


async def jobs_shown(pilot: Pilot[None], app: WorkbenchApp) -> JobsPage:
    """Let the program run until the list was read and the job under the cursor is shown."""
    await until(pilot, lambda: app.workspace is not None and app.page is not None)
    page = jobs_page(app)
    await until(pilot, lambda: page.jobs.source is not None and not page.jobs.status.loading)
    await until(pilot, lambda: _id(page.job) == _id(page.jobs.cursor_row))
    await pilot.pause()
    return page


def _id(row: Any) -> int:
    return 0 if row is None else int(row.id)


def job_ids(page: JobsPage) -> list[int]:
    """The jobs on the screen, in order."""
    return [row.id for row in page.jobs.visible_rows]


def pane_text(page: JobsPage) -> str:
    """The detail as one text."""
    from workbench.tui.document import Document

    return Document(page.pane.blocks).plain(100_000)[0]


def make_workspace(root: Path) -> Path:
    """An empty workspace with a clock that stands still."""
    Workspace.create(root, title="Probe", timezone="Europe/Berlin", owner="ada", clock=lambda: NOW).close()
    return root


@laid_out_once
def fill(root: Path) -> Path:
    """Jobs that run, stop, ended well, failed, were stopped, and died."""
    make_workspace(root)
    mine = this_process().as_text()

    def times(ago: timedelta, took: float) -> dict[str, int]:
        started = NOW - ago
        ended = to_micros(started + timedelta(seconds=took))
        return {"started_at": to_micros(started), "heartbeat_at": ended, "finished_at": ended}

    with Workspace.open(root, clock=lambda: NOW) as workspace:
        put(
            workspace,
            1,
            title="import claude-code",
            outcome="1 204 acta added to 2 sessions from 4 files, 1 problem\n+800 claude-code/b81f\n"
            "+404 claude-code/5d0c\nproblem: /home/ada/.claude/projects/x/a.jsonl:12: no JSON",
            done=4 * MIB,
            total=4 * MIB,
            **times(timedelta(days=3), 12),
        )
        put(
            workspace,
            2,
            kind="export",
            title="export events to /home/ada/chronicle.jsonl",
            outcome="120 000 events written to /home/ada/chronicle.jsonl",
            done=120_000,
            total=120_000,
            **times(timedelta(days=2), 4),
        )
        put(
            workspace,
            3,
            kind="doctor",
            title="examine the workspace",
            outcome="2 findings, 1 of them critical\n"
            "critical: fold_differs: Projection chronica differs from a replay in row 4.\n"
            "→ workbench doctor --fix --root /home/ada/chronicle\n"
            "warning: permissions: chronicle.db can be read by others.\n"
            "→ chmod 600 /home/ada/chronicle/chronicle.db",
            done=1000,
            total=1000,
            **times(timedelta(hours=2), 95),
        )
        put(
            workspace,
            4,
            status="stopped",
            title="import 日本語の長い名前/プロジェクト [bold]x[/bold] \x1b[31mred \u202eevil 👩\u200d🔬 العربية "
            + "long " * 30,
            outcome="30 acta added to 1 session from 1 file\n+30 s1",
            note="b81f.jsonl",
            done=MIB,
            total=9 * MIB,
            **times(timedelta(hours=1), 40),
        )
        put(
            workspace,
            5,
            kind="import jsonl",
            status="failed",
            title="import events from backup.jsonl",
            error="line 12 would not come out as it went in: its payload has a field that this release does not know",
            hint="export it again with the release that wrote it",
            note="importing events",
            done=1000,
            total=80_000,
            **times(timedelta(minutes=30), 2),
        )
        put(
            workspace,
            6,
            status="running",
            title="import claude-code",
            note="0b1c.jsonl",
            done=7 * MIB,
            total=90 * MIB,
            **times(timedelta(minutes=20), 400),
        )
        put(
            workspace,
            7,
            status="running",
            title="import claude-code",
            note="5d0c.jsonl",
            done=41 * MIB,
            total=90 * MIB,
            **times(timedelta(minutes=15), 900),
        )
        put(
            workspace,
            8,
            status="running",
            title="import codex",
            process=mine,
            note="rollout-2026-03-02T10-11-12.jsonl",
            done=34 * MIB,
            total=96 * MIB,
            **times(timedelta(seconds=42), 42),
        )
        put(
            workspace,
            9,
            kind="doctor",
            status="running",
            title="examine the workspace",
            process=mine,
            note="replaying events",
            done=620,
            total=1000,
            stop_asked=1,
            **times(timedelta(seconds=31), 30),
        )
    return root

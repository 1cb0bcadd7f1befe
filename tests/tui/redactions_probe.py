"""The program with the Redactions screen, and workspaces whose secrets the filter took out, or did not."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from textual.pilot import Pilot

from tests.tui.shell_probe import until
from tests.tui.timeline_probe import Steps
from workbench.log.ports import PassThrough
from workbench.redaction import default_filter
from workbench.sessions import Actum
from workbench.tui.app import WorkbenchApp
from workbench.tui.document import Document
from workbench.tui.page import Page
from workbench.tui.screens.jobs import JobsPage
from workbench.tui.screens.redactions import RedactionsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
VERSION = "2-0123456789abcdef"

Said = tuple[str, str, str, dict[str, object]]
"""Session, actor, content and metadata of an act."""


class RedactionsApp(WorkbenchApp):
    """The program with four screens; the path in the header is the same wherever the tests run."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (SessionsPage, TimelinePage, RedactionsPage, JobsPage)

    def workspace_opener(self) -> Callable[[], Workspace]:
        return lambda: Workspace.open(self.root, read_only=self.wants_read_only, clock=self.clock)

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


def app_on(root: Path, *, read_only: bool = False) -> RedactionsApp:
    """The program on a workspace, its clock stopped."""
    return RedactionsApp(root, read_only=read_only, clock=lambda: NOW, screen="redactions")


def redactions_page(app: WorkbenchApp) -> RedactionsPage:
    """The screen that is shown."""
    page = app.page
    assert isinstance(page, RedactionsPage)
    return page


async def rows_shown(pilot: Pilot[None], app: WorkbenchApp) -> RedactionsPage:
    """Let the program run until the list was read and what stands around its row is shown."""
    await until(pilot, lambda: app.workspace is not None and app.page is not None)
    page = redactions_page(app)
    await until(pilot, lambda: page.redactions.source is not None and not page.redactions.status.loading)
    await until(pilot, lambda: page.pane.row == page.cursor_redaction)
    if page.pane.side == "around" and page.pane.row is not None:
        await until(pilot, lambda: page.pane.contexts is not None)
    await until(pilot, lambda: page.stored is not None)
    await pilot.pause()
    return page


async def settled(pilot: Pilot[None], app: WorkbenchApp) -> None:
    """Let the program run until nothing goes on beside the screen; what was overtaken counts as ended."""
    await until(pilot, lambda: all(worker.is_finished for worker in app.workers) and not app.counts_later)
    await pilot.pause()


def pane_text(page: RedactionsPage) -> str:
    """The detail as one text."""
    return Document(page.pane.pane.blocks).plain(100_000)[0]


def fixed_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The filter is called the same whatever its rules are: pictures show its name."""
    monkeypatch.setitem(vars(default_filter()), "version", VERSION)


# -- secrets, made while the tests run -------------------------------------------------------


class Secrets:
    """Secrets that look like those of real services; others at each run of a seed's number."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self.made: list[str] = []

    def _made(self, prefix: str, length: int, letters: str = string.ascii_letters + string.digits) -> str:
        self.made.append(prefix + "".join(self._random.choices(letters, k=length)))
        return self.made[-1]

    def github(self) -> str:
        return self._made("ghp" + "_", 36)

    def aws(self) -> str:
        return self._made("AK" + "IA", 16, string.ascii_uppercase + "234567")

    def openai(self) -> str:
        return self._made("sk-" + "proj-", 48)


def talk(secrets: Secrets) -> Sequence[Said]:
    """Eight acts in three sessions, six of which hold secrets: nine of three kinds in seven rows."""
    return (
        ("deploy", "ada", "Deploy the importer to staging", {}),
        ("deploy", "coder", f"export TOKEN={secrets.github()}\nthen run it", {}),
        (
            "deploy",
            "coder",
            f"first {secrets.aws()} and\nsecond {secrets.aws()}\nthird {secrets.aws()} [bold]x[/bold]",
            {"env": ["A=1", f"KEY={secrets.openai()}"]},
        ),
        ("wide", "ada", "日本語の長い題名がここに続きます。とても長いので切られます。とても長い", {}),
        ("wide", "計画者とても長い名前", f"鍵は {secrets.github()} です \x1b[31mred \u202eevil", {}),
        ("plain", "planner", "x" * 500 + f" {secrets.openai()} " + "y" * 500, {}),
        ("plain", "planner", "nothing", {"input": {"header": f"Bearer {secrets.github()}"}}),
        ("plain", "coder", f"last one: {secrets.aws()}", {}),
    )


def record(workspace: Workspace, said: Sequence[Said]) -> None:
    """Record these acts."""
    for session, actor, content, metadata in said:
        workspace.sessions.record_actum(
            "ada",
            Actum(
                kind="message",
                actor_kind="human" if actor == "ada" else "agent",
                actor=actor,
                chronicum_id=session,
                content=content,
                metadata=metadata,
            ),
        )


def make_workspace(root: Path, said: Sequence[Said] = (), *, step: timedelta = timedelta(hours=19)) -> Path:
    """A workspace whose door took the secrets out of these acts; times are the same in every run."""
    with Workspace.create(
        root, title="Probe", timezone="Europe/Berlin", owner="ada", clock=Steps(START, step)
    ) as workspace:
        record(workspace, said)
    return root


def let_in(root: Path, said: Sequence[Said]) -> None:
    """Record acts past the filter, as an older release did whose rules did not know these secrets."""
    with Workspace.open(root, clock=Steps(START + timedelta(days=15), timedelta(minutes=1))) as workspace:
        workspace.log._door._redactor = PassThrough()
        record(workspace, said)


def copy_database(root: Path, name: str) -> Path:
    """A backup of the database as it is now."""
    path = root / "backups" / name
    path.parent.mkdir(exist_ok=True)
    with Workspace.open(root, clock=lambda: NOW) as workspace:
        workspace.log.database._writer.execute("VACUUM INTO ?", (str(path),))  # type: ignore[union-attr]
    return path


def holds(root: Path, secrets: Secrets) -> list[str]:
    """The files of a workspace in which one of these secrets stands."""
    wanted = [secret.encode() for secret in secrets.made]
    return sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.is_file() and any(secret in path.read_bytes() for secret in wanted)
    )

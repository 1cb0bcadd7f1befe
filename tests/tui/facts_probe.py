"""The program with the Facts screen, and a workspace whose facts have all that a person may meet."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from textual.pilot import Pilot

from tests.laid_out import laid_out_once
from tests.tui.shell_probe import until
from tests.tui.timeline_probe import Steps
from workbench.tui.app import WorkbenchApp
from workbench.tui.page import Page
from workbench.tui.screens.facts import FactsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
NOW = datetime(2026, 3, 20, 12, 0, tzinfo=UTC)
ALIASES = '\n[[projects]]\nid = "atlas"\naliases = ["atlas app"]\n'


class FactsApp(WorkbenchApp):
    """The program with three screens; the path in the header is the same wherever the tests run."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (SessionsPage, TimelinePage, FactsPage)

    def workspace_opener(self) -> Callable[[], Workspace]:
        return lambda: Workspace.open(self.root, read_only=self.wants_read_only, clock=self.clock)

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


def app_on(root: Path, *, read_only: bool = False) -> FactsApp:
    """The program on a workspace, its clock stopped."""
    return FactsApp(root, read_only=read_only, clock=lambda: NOW, screen="facts")


def facts_page(app: WorkbenchApp) -> FactsPage:
    """The screen that is shown."""
    page = app.page
    assert isinstance(page, FactsPage)
    return page


async def rows_shown(pilot: Pilot[None], app: WorkbenchApp) -> FactsPage:
    """Let the program run until the list was read and the chain of its row is shown."""
    await until(pilot, lambda: app.workspace is not None and app.page is not None)
    page = facts_page(app)
    await until(pilot, lambda: page.facts.source is not None and not page.facts.status.loading)
    await until(pilot, lambda: page.pane.row == page.cursor_fact)
    if page.pane.row is not None:
        await until(pilot, lambda: page.pane.detail is not None and page.pane.stop is not None)
    await pilot.pause()
    return page


async def settled(pilot: Pilot[None], app: WorkbenchApp) -> None:
    """Let the program run until nothing goes on beside the screen; what was overtaken counts as ended."""
    await until(pilot, lambda: all(worker.is_finished for worker in app.workers) and not app.counts_later)
    await pilot.pause()


def put(
    workspace: Workspace,
    slot: str,
    value: str,
    *,
    kind: str = "observed",
    supersedes: str | None = None,
    agent: str = "coder",
    project: str | None = "atlas",
    **more: Any,
) -> str:
    """Assert a fact; returns its id."""
    receipt = workspace.memory.record_event(
        more.pop("text", f"{slot}: {value}"),
        project=project,
        agent=agent,
        fact={"slot": slot, "value": value, "kind": kind, "supersedes": supersedes},
        **more,
    )
    assert receipt.fact_id is not None
    return receipt.fact_id


def make_workspace(root: Path, fill: Callable[[Workspace], object] = lambda workspace: None) -> Path:
    """A workspace with what `fill` records; times are the same in every run."""
    with Workspace.create(
        root, title="Probe", timezone="Europe/Berlin", owner="ada", clock=Steps(START, timedelta(hours=7))
    ) as workspace:
        fill(workspace)
    return root


@laid_out_once
def full(root: Path) -> Path:
    """Nine current facts: a chain of four with all kinds, one disputed, one built on, two that clash."""

    def fill(workspace: Workspace) -> None:
        (root / "inventory.txt").write_text("two servers\n")
        staging = put(
            workspace,
            "deploy.target",
            "staging cluster",
            kind="assumption",
            agent="glm",
            why="taken from the old runbook",
        )
        put(workspace, "rollback.plan", "by hand", text="Since deploy.target is one cluster", agent="codex")
        two = put(
            workspace,
            "deploy.target",
            "two servers",
            supersedes=staging,
            agent="codex",
            why="seen in the inventory file",
            source_files=["inventory.txt", "gone.txt"],
        )
        workspace.memory.record_event(
            "looked again",
            project="atlas",
            agent="claude",
            fact={"slot": "deploy.target", "value": "two servers", "kind": "observed", "supersedes": None},
        )
        pair = put(
            workspace,
            "deploy.target",
            "blue/green pair",
            kind="decision",
            supersedes=two,
            agent="claude",
            why="rollback must be instant after the March incident",
        )
        workspace.review("fact", pair, "accepted", "fine")
        put(workspace, "deploy.target", "single host", project="orbit", agent="planner")
        rate = put(workspace, "rate.limit", "180 per minute", kind="assumption", project="orbit")
        workspace.review("fact", rate, "rejected", "the contract says 60 [bold]not this[/bold]")
        put(workspace, "queue.backend", "in-process", project="orbit", kind="assumption")
        put(workspace, "worker.count", "4", project="orbit", text="queue.backend needs no more")
        put(workspace, "release.day", "Tuesday")
        put(workspace, "release.day", "Wednesday", project="Atlas App", agent="planner")
        put(workspace, "team.language", "English", project=None)
        path = workspace.layout.manifest
        path.write_text(path.read_text() + ALIASES)

    root.mkdir(parents=True)
    # Files are named as agents name them: from where they work.
    with chdir(root):
        return make_workspace(root, fill)


@laid_out_once
def wide(root: Path) -> Path:
    """Long words, wide characters, right-to-left text, emoji, control characters, markup."""

    def fill(workspace: Workspace) -> None:
        first = put(
            workspace, "設定.とても長い名前のスロット.さらに長い", "値" * 300, agent="計画者とても長い名前"
        )
        put(
            workspace,
            "設定.とても長い名前のスロット.さらに長い",
            "短い値",
            supersedes=first,
            why="理由は" + "とても" * 60,
            project="atlas",
        )
        put(workspace, "x" * 200, "y" * 3000, project="p" * 120, task_id="t" * 120)
        put(workspace, "مكان.النشر", "خادمان في المدينة", why="قرأته في الملف القديم", agent="مخطط")
        put(workspace, "emoji.👩‍🔬", "🇺🇦 ⚠️ 👩‍🔬 done", kind="decision")
        put(workspace, "[bold]slot[/bold]", "[red on blue]x[/] \u202eevil \u200b and\nlines\nof\ntext")

    return make_workspace(root, fill)


@laid_out_once
def chain_of(root: Path, links: int) -> Path:
    """One slot that was replaced again and again."""

    def fill(workspace: Workspace) -> None:
        held: str | None = None
        for number in range(1, links + 1):
            held = put(workspace, "suite.size", f"{number} passed", supersedes=held, why=f"run {number}")

    return make_workspace(root, fill)

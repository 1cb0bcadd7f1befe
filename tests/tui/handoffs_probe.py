"""The program with the Handoffs screen, and what tests ask of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from textual.pilot import Pilot

from tests.tui.shell_probe import until
from workbench.tui.app import WorkbenchApp
from workbench.tui.page import Page
from workbench.tui.present import visible
from workbench.tui.screens.handoffs import HandoffsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.widgets.frame import HeaderState
from workbench.workspace import Workspace

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


class HandoffsApp(WorkbenchApp):
    """The program with three screens; the path in the header is the same wherever the tests run."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (HandoffsPage, SessionsPage, TimelinePage)

    def workspace_opener(self) -> Callable[[], Workspace]:
        return lambda: Workspace.open(self.root, read_only=self.wants_read_only, clock=self.clock)

    def header_state(self) -> HeaderState:
        return replace(super().header_state(), path="~/chronicle")


def app_on(root: Path, *, read_only: bool = False) -> HandoffsApp:
    """The program on a workspace, its clock stopped."""
    return HandoffsApp(root, read_only=read_only, clock=lambda: NOW, screen="handoffs")


def handoffs_page(app: WorkbenchApp) -> HandoffsPage:
    """The screen that is shown."""
    page = app.page
    assert isinstance(page, HandoffsPage)
    return page


async def shown(pilot: Pilot[None], app: WorkbenchApp) -> HandoffsPage:
    """Let the program run until list and detail were read and what waits was counted."""
    await until(pilot, lambda: app.workspace is not None and app.page is not None)
    page = handoffs_page(app)
    await until(pilot, lambda: page.handoffs.source is not None and not page.handoffs.status.loading)
    await until(pilot, lambda: page.pane.row == page.cursor_handoff and page.pane.ready)
    await until(pilot, lambda: page.waiting is not None)
    await settled(pilot, app)
    return page


async def settled(pilot: Pilot[None], app: WorkbenchApp) -> None:
    """Let the program run until nothing goes on beside the screen; what was overtaken counts as ended."""
    await until(pilot, lambda: all(worker.is_finished for worker in app.workers) and not app.counts_later)
    await pilot.pause()


def names(page: HandoffsPage) -> list[str]:
    """The tasks on the screen, in order."""
    return [f"{row.project}/{row.task_id}" for row in page.handoffs.visible_rows]


def detail_text(page: HandoffsPage) -> str:
    """The detail as one text, line by line."""
    pane = page.pane
    if pane.side == "next":
        from workbench.tui.document import Document

        return Document(pane.text.blocks).plain(1_000_000)[0]
    rows = pane.lines._window.rows
    renderer = pane.lines.renderer
    from workbench.tui.widgets.row_renderer import RowState

    lines = [line for row in rows for line in renderer.lines(row, 400, RowState())]
    return "\n".join(visible("".join(span.text for span in line)).rstrip() for line in lines)

"""A small program on the real shell: two screens over rows in memory, and what tests ask of a screen."""

from __future__ import annotations

import asyncio
import atexit
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from workbench.errors import WorkbenchError
from workbench.tui.actions import Action, writing
from workbench.tui.app import WorkbenchApp
from workbench.tui.copying import CopyChoice
from workbench.tui.page import Page
from workbench.tui.present import Line, Span, fit
from workbench.tui.widgets.page_source import MemorySource
from workbench.tui.widgets.row_renderer import PlainRows, RowState
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.workspace import Workspace

HOSTILE = [
    "[/",
    "[/x]",
    "x [b + y [/b2]",
    "([sys:LOCK=SAFE])",
    "array[0] and [tool]",
    "[bold]loud[/bold]",
    "[@click=app.quit]leave[/]",
    "$accent [red on blue]",
    "\\[ literal",
]
"""Texts that are markup to some reader; none holds a character that has to be made visible."""


class NoSuchRow(WorkbenchError):
    """The probe's refusal."""

    code = "no_such_row"


def draw_row(row: str, width: int, state: RowState) -> list[Line]:
    """One line per row."""
    return [(Span(fit(row, width), "text"),)]


class RowsPage(Page):
    """A list of texts; the detail repeats the row under the cursor."""

    NAME, TITLE, NUMBER = "rows", "Rows", 2
    OFFERS = frozenset({"page.filter", "page.goto", "page.copy", "page.select", "page.select_range"})
    ACTIONS = (
        Action("rows.add", "add", "Add a row.", ("i",), "rows", "Act", "add", footer=50, reason=writing),
        Action("rows.fail", "fail", "Fail.", ("X",), "rows", "Act", "fail"),
    )

    def __init__(self) -> None:
        super().__init__()
        self.texts = [f"row {number}" for number in range(1, 31)]
        self.added = 0
        self.filters: list[str] = []
        self.commits = 0

    def compose_list(self) -> ComposeResult:
        yield VirtualList(PlainRows(draw_row))

    def compose_detail(self) -> ComposeResult:
        detail = Static("the detail", id="detail", markup=False)
        detail.can_focus = True
        yield detail

    def on_workspace_ready(self, workspace: Workspace) -> None:
        rows = self.rows
        assert rows is not None
        rows.set_source(MemorySource(tuple(self.texts)))

    def on_committed(self) -> None:
        self.commits += 1

    def on_filter(self, text: str) -> None:
        self.filters.append(text)

    def goto(self, text: str) -> None:
        if text not in self.texts:
            raise NoSuchRow(f"there is no row {text}", hint="try row 1")
        rows = self.rows
        assert rows is not None
        rows.go_to(text)

    def copy_choices(self) -> list[CopyChoice]:
        rows = self.rows
        row = rows.cursor_row if rows is not None else None
        return [] if row is None else [CopyChoice("text", row), CopyChoice("shouted", lambda: row.upper())]

    def action_add(self) -> None:
        self.added += 1

    def action_fail(self) -> None:
        raise ZeroDivisionError("a secret in a message")


class EmptyPage(Page):
    """A screen that offers nothing of its own."""

    NAME, TITLE, NUMBER = "empty", "Empty", 3


class ProbeApp(WorkbenchApp):
    """The shell with the two screens."""

    PAGES: ClassVar[tuple[type[Page], ...]] = (RowsPage, EmptyPage)


def make_workspace(root: Path) -> Path:
    """An empty workspace on disk: a copy of one that is made once."""
    return Path(shutil.copytree(_empty_workspace(), root))


@cache
def _empty_workspace() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="workbench-probe-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Workspace.create(folder / "w", title="Probe", timezone="UTC", owner="ada").close()
    return folder / "w"


def screen_lines(app: App[None]) -> list[str]:
    """What stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip) for strip in strips]


def whole_screen(app: App[None]) -> str:
    """What stands on the screen, as one text."""
    return "\n".join(screen_lines(app))


LOOK_SECONDS = 0.01
"""The pause between two looks."""

PATIENCE = 12
"""How many times as long as it is given a condition may take where the machine has no time for the program."""


async def until(pilot: Pilot[None], condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Let the program run until `condition` holds; fails after `seconds` of the program's own time.

    What the machine gave to other programs does not count: of each look only the pause that was asked for
    and the processor time that this process had. So a busy machine makes no test fail that would pass on
    an idle one. A screen that just came is waited for until its parts are there.
    """
    had = 0.0
    app = pilot.app
    async with asyncio.timeout(seconds * PATIENCE):
        while not (condition() and (not app.screen_stack or app.screen.is_mounted)):
            began, used = time.monotonic(), time.process_time()
            await pilot.pause(LOOK_SECONDS)
            had += min(time.monotonic() - began, LOOK_SECONDS + time.process_time() - used)
            if had >= seconds:
                raise TimeoutError(f"not so after {seconds} s")


async def opened(pilot: Pilot[None], app: WorkbenchApp) -> None:
    """Let the program run until its workspace is open and the rows of its first screen stand there."""
    await until(pilot, lambda: app.workspace is not None)
    page = app.page
    rows = page.rows if page is not None else None
    if rows is not None:
        await until(pilot, lambda: rows.cursor_row is not None and rows.has_focus)


async def work_done(pilot: Pilot[None]) -> None:
    """Let the program run until nothing is read or counted any more; what was overtaken counts as ended."""
    app = pilot.app

    def ended() -> bool:
        return all(worker.is_finished for worker in app.workers) and not getattr(app, "counts_later", False)

    await until(pilot, ended)

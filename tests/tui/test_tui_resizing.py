"""A terminal of any size, and one whose size changes while an earlier change is still being drawn."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from textual.events import Resize
from textual.geometry import Size

import workbench
from tests.benchmarks.pty_harness import PtyProgram
from tests.tui.facts_probe import full
from tests.tui.shell_probe import until, whole_screen
from workbench.tui.app import WorkbenchApp
from workbench.tui.page import Page
from workbench.tui.screens.jobs import JobsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.timeline.bars import filter_parts, laid_out
from workbench.workspace import Workspace
from workbench.workspace.rows import TimelineFilter

ENOUGH = 30
"""Layouts after which two sizes have begotten each other for long enough."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with facts, tasks and a job that no test changes."""
    root = full(tmp_path_factory.mktemp("sizes") / "w")
    with Workspace.open(root) as workspace, workspace.jobs.run("doctor", "examines"):
        pass
    return root


async def test_two_sizes_that_are_under_way_at_once_settle(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid: list[Size] = []
    screen_resized = Page._screen_resized

    def counted(self: Page, size: Size) -> None:
        laid.append(size)
        # What never settles would keep this test, too.
        if len(laid) < ENOUGH:
            screen_resized(self, size)

    monkeypatch.setattr(Page, "_screen_resized", counted)
    app = WorkbenchApp(root, read_only=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.workspace is not None and app.page is not None)
        page = app.page
        assert page is not None
        laid.clear()
        for size in (Size(60, 15), Size(80, 24)):
            page.post_message(Resize(size, size))
            # Two that follow upon each other are made one: something else comes between them.
            page.call_later(lambda: None)
        await pilot.pause(0.3)
        assert len(laid) < ENOUGH
        assert page.size == Size(80, 24)


@pytest.mark.parametrize("screen", [page.NAME for page in WorkbenchApp.PAGES])
async def test_every_screen_stands_in_hardly_any_room(root: Path, screen: str) -> None:
    app = WorkbenchApp(root, read_only=True, screen=screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.page is not None and screen == app.page.NAME)
        if isinstance(app.page, TimelinePage):
            app.page.apply(TimelineFilter(text="a"))
        for size in ((20, 5), (1, 1), (20, 5), (1, 2), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.press("j", "k")
        assert app.return_code is None


async def test_jobs_opens_where_no_row_has_room(root: Path) -> None:
    app = WorkbenchApp(root, read_only=True)
    async with app.run_test(size=(20, 5)) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        await pilot.press("0")
        await until(pilot, lambda: isinstance(app.page, JobsPage) and app.page.job is not None)
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "doctor" in whole_screen(app))


@pytest.mark.parametrize("width", range(8))
def test_a_filter_is_laid_out_in_any_width(width: int) -> None:
    parts = filter_parts(TimelineFilter(text="churn", types=("actum.recorded",)))
    assert 0 < len(laid_out(parts, width, 0, 2)) <= 2
    assert laid_out([], width, 0, 2) == []


def test_errors_may_go_into_a_file(root: Path, tmp_path: Path) -> None:
    errors = tmp_path / "errors.log"
    environment = {
        "PYTHONPATH": str(Path(workbench.__file__).parents[1]),
        "WORKBENCH_STATE_DIR": str(tmp_path / "state"),
        "WORKBENCH_CONFIG_DIR": str(tmp_path / "config"),
    }
    program = (sys.executable, "-m", "workbench", "open", "--read-only", "--root", str(root))
    script = f'exec "$@" 2> "{errors}"'
    with PtyProgram(
        ["/bin/sh", "-c", script, "sh", *program], columns=80, rows=24, env={**os.environ, **environment}
    ) as shown:
        shown.wait_for("read-only", timeout=30)
        shown.send(b"q")
        assert shown.wait_exit(timeout=30) == 0
    assert errors.read_text() == ""

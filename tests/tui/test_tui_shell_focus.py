"""The keys survive a terminal that was too small for a while."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.thorough import some
from tests.tui.shell_probe import ProbeApp, RowsPage, make_workspace, opened, until, whole_screen
from workbench.tui.app import WorkbenchApp


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w")


async def shrunk_and_back(pilot: Pilot[None], app: WorkbenchApp, small: tuple[int, int]) -> None:
    size = app.size
    await pilot.resize_terminal(*small)
    await until(pilot, lambda: "The program needs" in whole_screen(app))
    await until(pilot, lambda: app.page is not None and app.page.focused is None)
    await pilot.resize_terminal(*size)
    await until(pilot, lambda: app.focused is not None)


@pytest.mark.parametrize(
    ("pane", "size", "small"),
    some(
        product(["list", "detail"], [(120, 40), (80, 24), (60, 15)], [(50, 12), (59, 15), (60, 14)]),
        6,
    ),
)
async def test_the_pane_that_had_the_keys_has_them_again(
    root: Path, size: tuple[int, int], small: tuple[int, int], pane: str
) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        page = app.page
        assert isinstance(page, RowsPage)
        rows = page.rows
        assert rows is not None
        if pane == "detail":
            await pilot.press("enter")
            await until(pilot, page.focused_in_detail)
        held = page.focused
        await shrunk_and_back(pilot, app, small)
        assert page.focused is held
        if pane == "detail":
            await pilot.press("escape")
            await until(pilot, lambda: rows.has_focus)
        await pilot.press("j")
        assert rows.cursor_row == "row 2"


async def test_a_filter_that_is_being_written_has_the_keys_again(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.press("slash", "a")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await shrunk_and_back(pilot, app, (50, 12))
        await pilot.press("b")
        page = app.page
        assert page is not None
        assert page.filter_text == "ab"


async def test_the_keys_under_a_dialog_come_back_with_it(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.press("question_mark")
        await pilot.pause()
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        await pilot.resize_terminal(100, 30)
        await pilot.pause()
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.page)
        page = app.page
        assert isinstance(page, RowsPage)
        rows = page.rows
        assert rows is not None
        await until(pilot, lambda: rows.has_focus)
        await pilot.press("j")
        assert rows.cursor_row == "row 2"


async def test_a_detail_that_has_the_keys_stays_where_only_one_pane_fits(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.click("#detail")
        page = app.page
        assert isinstance(page, RowsPage)
        await until(pilot, page.focused_in_detail)
        await pilot.resize_terminal(70, 20)
        await until(pilot, lambda: page.has_class("-narrow"))
        await pilot.pause()
        assert page.focused_in_detail()
        assert "the detail" in whole_screen(app)

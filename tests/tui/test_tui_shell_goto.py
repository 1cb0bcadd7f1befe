"""Asking where to go: a text that leads nowhere stays where it was typed, with the reason under it."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui.jobs_probe import app_on as jobs_app
from tests.tui.jobs_probe import fill as fill_jobs
from tests.tui.jobs_probe import jobs_shown
from tests.tui.shell_probe import NoSuchRow, ProbeApp, RowsPage, make_workspace, opened, until, whole_screen
from tests.tui.trouble_probe import fill
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.widgets.virtual_list import VirtualList


async def ask(pilot: Pilot[None], app: App[None], text: str) -> None:
    """Type a place and give it."""
    await pilot.press("colon")
    await until(pilot, lambda: isinstance(app.focused, Input))
    await pilot.press(*text, "enter")


def refused(app: App[None]) -> PromptDialog | None:
    """The prompt, where it stands there with an error."""
    screen = app.screen
    return screen if isinstance(screen, PromptDialog) and screen.refused is not None else None


def typed(app: App[None]) -> str:
    """What stands in the prompt."""
    return app.screen.query_one(Input).value


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_a_refused_place_is_kept_and_can_be_corrected(tmp_path: Path, size: tuple[int, int]) -> None:
    app = ProbeApp(make_workspace(tmp_path / "w"))
    async with app.run_test(size=size, notifications=True) as pilot:
        await opened(pilot, app)
        page = app.page
        assert isinstance(page, RowsPage)
        await ask(pilot, app, "row 99")
        await until(pilot, lambda: refused(app) is not None and isinstance(app.focused, Input))
        await pilot.pause()
        assert typed(app) == "row 99"
        assert "! There is no row row 99" in whole_screen(app)
        assert "→ Try row 1" in whole_screen(app)
        assert page.GOTO_HINT in whole_screen(app), "what can be typed stands there as before"
        await pilot.press("ctrl+y")
        assert NoSuchRow.code in app.clipboard
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: app.screen is page)
        rows = page.rows
        assert rows is not None
        await until(pilot, lambda: rows.cursor_row == "row 9")
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and isinstance(app.focused, Input))
        assert typed(app) == "", "a place that was found is not asked for again"


async def test_esc_leaves_the_refused_place(tmp_path: Path) -> None:
    app = ProbeApp(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        await ask(pilot, app, "x")
        await until(pilot, lambda: refused(app) is not None)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.page)
        app.show_failure(NoSuchRow("something else"))
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))


async def test_a_job_that_is_looked_for_on_a_thread(tmp_path: Path) -> None:
    app = jobs_app(fill_jobs(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        for text, says in (("77", "There is no job 77"), ("first", "A job is named by its number")):
            await ask(pilot, app, text)
            await until(pilot, lambda: refused(app) is not None)
            await until(pilot, lambda says=says: says in whole_screen(app))  # type: ignore[misc]
            assert typed(app) == text
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is page)
        await ask(pilot, app, "4")
        await until(pilot, lambda: page.job is not None and page.job.id == 4)


@pytest.mark.parametrize(
    ("screen", "text", "says"),
    [
        ("timeline", "5000", "There is no event 5,000"),
        ("timeline", "nowhere", "This names no place on the timeline"),
        ("sessions", "nowhere", "There is no session and no act nowhere"),
    ],
)
async def test_every_screen_keeps_what_was_typed(tmp_path: Path, screen: str, text: str, says: str) -> None:
    root = make_workspace(tmp_path / "w")
    fill(root, 5)
    app = WorkbenchApp(root, screen=screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None and isinstance(app.focused, VirtualList))
        await ask(pilot, app, text)
        await until(pilot, lambda: refused(app) is not None)
        await until(pilot, lambda: says in whole_screen(app))
        assert typed(app) == text


async def test_the_least_terminal_has_room_for_all_of_it(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    fill(root, 5)
    app = WorkbenchApp(root, screen="timeline")
    async with app.run_test(size=(60, 15)) as pilot:
        await until(pilot, lambda: app.workspace is not None and isinstance(app.focused, VirtualList))
        await ask(pilot, app, "nowhere")
        await until(pilot, lambda: "ctrl-y copy the error" in whole_screen(app))
        assert "! This names no place on the timeline" in whole_screen(app)
        assert whole_screen(app).count("yesterday") == 1, "what can be given is said once"


async def test_an_error_after_something_else_was_done_is_a_dialog_of_its_own(tmp_path: Path) -> None:
    app = jobs_app(fill_jobs(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await jobs_shown(pilot, app)
        await ask(pilot, app, "4")
        await until(pilot, lambda: page.job is not None and page.job.id == 4)
        await pilot.press("j")
        page.goto("78")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await until(pilot, lambda: "There is no job 78" in whole_screen(app))

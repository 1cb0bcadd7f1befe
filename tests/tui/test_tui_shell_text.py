"""Text from outside in every place of the shell: drawn as it stands, never read as markup."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.thorough import some
from tests.tui.shell_probe import HOSTILE, ProbeApp, make_workspace, opened, until, whole_screen
from workbench.errors import WorkbenchError
from workbench.tui.dialogs.choose import Choice, ChooseDialog
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.copy_menu import CopyMenu
from workbench.tui.dialogs.help import HelpDialog
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.failures import Failure
from workbench.tui.present import literal, literal_lines
from workbench.tui.problem_page import ProblemPage

CONTROL = "a\x1b]52;c;aGk=\x07b\x9b31mc\r\x00‮d"
"""What a terminal would act on."""
RAW = ("\x1b", "\x07", "\x9b", "\r", "\x00", "‮")

TEXTS = [*HOSTILE, CONTROL]


def expected(text: str) -> str:
    return literal(text).plain


def shows(app: ProbeApp, text: str, times: int) -> bool:
    return whole_screen(app).count(expected(text)) >= times


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w")


async def test_toasts(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 60), notifications=True) as pilot:
        await opened(pilot, app)
        for text in TEXTS:
            app.clear_notifications()
            app.notify(text, title=text)
            await until(pilot, partial(shows, app, text, 2))
            assert not any(raw in whole_screen(app) for raw in RAW)


@pytest.mark.parametrize("text", some(TEXTS, 4))
async def test_dialogs(root: Path, text: str) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        for dialog, places in (
            (MessageDialog(Failure(text, text, text, text)), 4),
            (ConfirmDialog(text, text, yes=text, no="no"), 3),
            (PromptDialog(text, text), 2),
            (ChooseDialog(text, [Choice("1", text, text, text), Choice("2", text, "", "", text)]), 5),
            (CopyMenu([text]), 1),
            (HelpDialog([(text, [Choice("1", text[:9], text)])]), 1),
        ):
            app.push_screen(dialog)
            await until(pilot, partial(shows, app, text[:6], places))
            assert not any(raw in whole_screen(app) for raw in RAW)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.page)


@pytest.mark.parametrize("text", some(TEXTS, 4))
async def test_lines_around_a_screen(root: Path, text: str) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(240, 40), tooltips=True) as pilot:
        await opened(pilot, app)
        page = app.page
        assert page is not None
        page.set_status(text)
        page.set_filter(text)
        page.query_one("#detail").tooltip = literal_lines(text)
        await pilot.hover("#detail")

        def everywhere() -> bool:
            page.set_count(text)  # The list sets its own count as it goes.
            return shows(app, text[:6], 4)

        await until(pilot, everywhere)
        assert not any(raw in whole_screen(app) for raw in RAW)


class Refused(WorkbenchError):
    code = "refused"


@pytest.mark.parametrize("text", some(TEXTS, 4))
async def test_the_page_of_a_workspace_that_cannot_be_opened(tmp_path: Path, text: str) -> None:
    app = ProbeApp(tmp_path / text.replace("/", "∕").replace("\x00", ""))
    async with app.run_test(size=(140, 40)) as pilot:
        await until(pilot, lambda: app.problem is not None)
        await until(pilot, lambda: "There is no workspace" in whole_screen(app))
        screen = app.screen
        assert isinstance(screen, ProblemPage)
        app.access.problem = Failure(text, text, text)
        screen.update()
        await until(pilot, lambda: whole_screen(app).count(expected(text)) >= 3)
        assert not any(raw in whole_screen(app) for raw in RAW)


async def test_the_name_of_a_job_in_the_question_before_leaving(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        with app.job("importing [/x] of [bold]"):
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
            await pilot.pause()
            assert whole_screen(app).count("importing [/x] of [bold]") == 2

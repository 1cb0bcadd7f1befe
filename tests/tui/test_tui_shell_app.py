"""The program around the screens: opening, watching, moving about, and what it says when something fails."""

from __future__ import annotations

import string
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from tests.tui.shell_probe import (
    EmptyPage,
    NoSuchRow,
    ProbeApp,
    RowsPage,
    make_workspace,
    opened,
    screen_lines,
    until,
    whole_screen,
)
from workbench.errors import WorkbenchError
from workbench.guide import FOLDER, pages
from workbench.locations import log_file
from workbench.sessions.model import ActorKind, Actum, ActumKind
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.choose import ChooseDialog
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.copy_menu import CopyMenu
from workbench.tui.dialogs.help import HelpDialog
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.problem_page import ProblemPage
from workbench.tui.widgets.list_bar import ListBar
from workbench.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w")


def rows_page(app: WorkbenchApp) -> RowsPage:
    page = app.page
    assert isinstance(page, RowsPage)
    return page


def toasts(app: WorkbenchApp) -> list[str]:
    return [toast.message for toast in app._notifications]


# Opening


class GatedApp(ProbeApp):
    """Opening waits until it is let go."""

    gate: threading.Event

    def workspace_opener(self) -> Callable[[], Workspace]:
        opener = super().workspace_opener()

        def wait_and_open() -> Workspace:
            assert self.gate.wait(20)
            return opener()

        return wait_and_open


async def test_the_frame_stands_before_the_database_is_open(root: Path) -> None:
    app = GatedApp(root)
    app.gate = threading.Event()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "Opening the workspace" in whole_screen(app))
        assert "◌ opening" in screen_lines(app)[0]
        assert "2 Sessions" not in whole_screen(app)
        assert "2 Rows" in whole_screen(app)
        assert app.workspace is None
        app.gate.set()
        await opened(pilot, app)
        await until(pilot, lambda: "row 1" in whole_screen(app))
        assert "● live" in screen_lines(app)[0]
        assert "schema" in screen_lines(app)[0]
        assert screen_lines(app)[0].endswith("read-write ")
        assert "Opening" not in whole_screen(app)


async def test_a_person_can_leave_while_it_opens(root: Path) -> None:
    app = GatedApp(root)
    app.gate = threading.Event()
    async with app.run_test() as pilot:
        await pilot.press("q")
    assert app.return_code == 0
    app.gate.set()


async def test_a_missing_workspace_has_a_page_and_can_be_tried_again(tmp_path: Path) -> None:
    app = ProbeApp(tmp_path / "w")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ProblemPage) and app.screen.is_mounted)
        shown = whole_screen(app)
        assert "The workspace cannot be opened" in shown
        assert "workbench init" in shown
        assert "R try again   y copy   q quit   ? help" in screen_lines(app)[-1]
        await pilot.press("y")
        assert "OSC 52" in toasts(app)[0]
        assert "code: workspace_missing" in app.clipboard
        make_workspace(tmp_path / "w")
        await pilot.press("R")
        await opened(pilot, app)
        assert isinstance(app.screen, RowsPage)


async def test_help_and_palette_work_without_a_workspace(tmp_path: Path) -> None:
    app = ProbeApp(tmp_path / "w")
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ProblemPage) and app.screen.is_mounted)
        for key in ("question_mark", "ctrl+p", "ctrl+t"):
            await pilot.press(key)
            await until(pilot, lambda: app.screen.is_modal)
            await pilot.press("escape")
            await until(pilot, lambda: not app.screen.is_modal)


class BrokenOpener(ProbeApp):
    def workspace_opener(self) -> Callable[[], Workspace]:
        def fail() -> Workspace:
            raise RuntimeError("inner detail")

        return fail


async def test_an_unexpected_error_while_opening_goes_to_the_log(root: Path) -> None:
    app = BrokenOpener(root)
    async with app.run_test(size=(140, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ProblemPage) and app.screen.is_mounted)
        assert str(log_file()) in whole_screen(app)
        assert "inner detail" not in whole_screen(app)
        assert "Traceback" not in whole_screen(app)
    assert "inner detail" in log_file().read_text("utf-8")


async def test_read_only_is_said_and_writing_keys_say_why(root: Path) -> None:
    app = ProbeApp(root, read_only=True)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await opened(pilot, app)
        assert screen_lines(app)[0].endswith("read-only ")
        assert "i add ⊘" in screen_lines(app)[-1]
        await pilot.press("i")
        assert rows_page(app).added == 0
        assert toasts(app) == ["“add” cannot run now: the workspace was opened read-only."]


# Watching


def record_elsewhere(root: Path) -> None:
    """What another program does: open, record, close."""
    with Workspace.open(root) as workspace:
        workspace.sessions.record_actum(
            "ada",
            Actum(
                chronicum_id="s1",
                kind=ActumKind.MESSAGE,
                actor_kind=ActorKind.HUMAN,
                actor="ada",
                content="hello",
            ),
        )


async def test_a_commit_of_another_program_is_seen(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test() as pilot:
        await opened(pilot, app)
        page = rows_page(app)
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.page, EmptyPage))
        before = page.commits
        record_elsewhere(root)
        await until(pilot, lambda: page._stale)
        assert page.commits == before, "a screen that is not shown asks later"
        await pilot.press("2")
        await until(pilot, lambda: page.commits == before + 1)
        record_elsewhere(root)
        await until(pilot, lambda: page.commits > before + 1)


# Moving about


async def test_keys_of_list_pane_and_page(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        page = rows_page(app)
        rows = page.rows
        assert rows is not None
        await pilot.press("j", "down", "k")
        assert rows.cursor_row == "row 2"
        await pilot.press("G")
        assert rows.cursor_row == "row 30"
        await pilot.press("g", "space", "j", "v", "j")
        assert [*rows.selected_rows] == ["row 1", "row 2", "row 3"]
        await pilot.press("escape", "escape")
        assert not rows.selected_rows
        await pilot.press("enter")
        await until(pilot, lambda: page.query_one("#detail").has_focus)
        await pilot.press("j")
        assert rows.cursor_row == "row 3", "the pane's keys do not move the list"
        await pilot.press("escape")
        await until(pilot, lambda: rows.has_focus)
        await pilot.press("tab")
        await until(pilot, lambda: page.query_one("#detail").has_focus)
        await pilot.press("shift+tab")
        await until(pilot, lambda: rows.has_focus)


async def test_panes_grow_and_shrink(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        page = rows_page(app)
        narrow = page.query_one("#list-pane").size.width
        await pilot.press("plus")
        await pilot.pause()
        assert page.query_one("#list-pane").size.width > narrow
        await pilot.press("plus", "plus")
        await pilot.pause()
        assert not page.query_one("#detail-pane").display
        await pilot.press("tab")
        await until(pilot, lambda: page.query_one("#detail").has_focus)
        assert not page.query_one("#list-pane").display
        await pilot.press("underscore")
        await pilot.pause()
        assert page.query_one("#list-pane").display
        assert page.query_one("#detail-pane").display


@pytest.mark.parametrize("size", [(60, 15), (79, 40), (200, 20)])
async def test_list_and_detail_are_two_pages_where_it_is_narrow(root: Path, size: tuple[int, int]) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        assert "the detail" not in whole_screen(app)
        assert "row 1" in whole_screen(app)
        await pilot.press("enter")
        await until(pilot, lambda: "the detail" in whole_screen(app))
        assert "row 1" not in whole_screen(app)
        assert "esc back" in screen_lines(app)[-1]
        await pilot.press("escape")
        await until(pilot, lambda: "row 1" in whole_screen(app))
        assert "the detail" not in whole_screen(app)


async def test_forms_follow_the_size(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(59, 14)) as pilot:
        await until(pilot, lambda: "The program needs 60 columns and 15 rows." in whole_screen(app))
        await pilot.resize_terminal(120, 40)
        await opened(pilot, app)
        await until(pilot, lambda: " 3 Empty" in screen_lines(app)[3])
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "2 Rows   3 Empty" in screen_lines(app)[1])
        assert "The program needs" not in whole_screen(app)


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_no_screen_has_many_widgets(root: Path, size: tuple[int, int]) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        for key in (None, "question_mark", "ctrl+p"):
            if key is not None:
                await pilot.press(key)
            await pilot.pause()
            assert sum(len(list(screen.walk_children())) for screen in app.screen_stack) < 60
            if key is not None:
                await pilot.press("escape")


async def test_screens_open_by_digit_and_by_mouse(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, EmptyPage))
        await pilot.click("#navigation-column", offset=(4, 1))
        await until(pilot, lambda: isinstance(app.screen, RowsPage))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: app.screen.query_one("#navigation-line").display)
        await pilot.click("#navigation-line", offset=(12, 0))
        await until(pilot, lambda: isinstance(app.screen, EmptyPage))


async def test_the_footer_can_be_clicked(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.click("#footer", offset=(screen_lines(app)[-1].index("go to"), 0))
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))


# Typing


async def test_printable_keys_reach_only_the_input(root: Path) -> None:
    app = ProbeApp(root)
    typed = string.digits + string.ascii_letters + string.punctuation + " "
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        page = rows_page(app)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press(*typed)
        await until(pilot, lambda: page.filter_text == typed)
        assert app.screen is page
        assert page.added == 0
        assert page.rows is not None
        assert page.rows.cursor_row == "row 1"
        assert toasts(app) == []
        assert page.filters == [typed[:length] for length in range(1, len(typed) + 1)]


async def test_a_filter_is_left_and_dropped_with_esc(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        page = rows_page(app)
        bar = page.query_one(ListBar)
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press("a", "b", "enter")
        await until(pilot, lambda: page.rows is not None and page.rows.has_focus)
        assert not bar.editing
        await until(pilot, lambda: "/ ab" in screen_lines(app)[1])
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press("escape")
        await until(pilot, lambda: page.rows is not None and page.rows.has_focus)
        assert page.filter_text == "ab"
        await pilot.press("escape")
        assert page.filter_text == ""
        assert page.filters == ["a", "ab", ""]


async def test_go_to_asks_where(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        rows = rows_page(app).rows
        assert rows is not None
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press(*"row 7", "enter")
        await until(pilot, lambda: rows.cursor_row == "row 7")


# Dialogs


async def test_the_palette_has_every_action_with_key_or_reason(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, EmptyPage))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        dialog = app.screen
        assert isinstance(dialog, ChooseDialog)
        choices = {choice.id: choice for choice in dialog.shown}
        assert set(choices) == set(app.registry.ids()) - {"app.palette"}
        assert choices["app.quit"].key == "q ctrl-q"
        assert choices["rows.add"].reason == "it belongs to the Rows screen"
        assert choices["page.filter"].reason == "this screen does not have it"
        await pilot.press(*"rows screen")
        assert [choice.id for choice in dialog.shown] == ["screen.rows"]
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RowsPage))


async def test_the_palette_moves_the_list(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        await pilot.press(*"last row", "enter")
        rows = rows_page(app).rows
        assert rows is not None
        await until(pilot, lambda: rows.cursor_row == "row 30")


async def test_help_lists_what_can_be_done_here_and_runs_it(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        dialog = app.screen
        assert isinstance(dialog, HelpDialog)
        listed = [action_id for action_id in dialog._ids if action_id]
        assert "list.down" in listed
        assert "pane.down" not in listed
        assert "page.sort" not in listed
        dialog.query_one(OptionList).highlighted = dialog._ids.index("rows.add")
        await pilot.press("enter")
        await until(pilot, lambda: rows_page(app).added == 1)


async def test_help_has_the_guide(root: Path) -> None:
    app = ProbeApp(root)
    names = [name for name, _ in pages()]
    texts = sorted(path.stem for path in FOLDER.glob("*.md"))
    assert names == ["index", *(name for name in texts if name != "index")]
    assert {"keys", "troubleshooting"} <= set(names)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("question_mark", "right_square_bracket")
        await until(pilot, lambda: "One local workspace" in whole_screen(app))
        await pilot.press("left_square_bracket", "left_square_bracket")
        last = pages()[-1][1].splitlines()[0].removeprefix("# ")
        await until(pilot, lambda: last in whole_screen(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.page)


async def test_the_copy_menu_sends_what_was_chosen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux")
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, CopyMenu))
        await pilot.press("2")
        await until(pilot, lambda: app.clipboard == "ROW 1")
        assert "do not confirm" in toasts(app)[0]
        assert "set-clipboard on" in toasts(app)[0]


async def test_nothing_to_copy_is_said(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, app)
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, EmptyPage))
        await pilot.press("y")
        assert toasts(app) == ["“copy” cannot run now: this screen does not have it."]


@pytest.mark.parametrize(("key", "leaves"), [("y", True), ("n", False), ("escape", False)])
async def test_leaving_asks_while_a_job_runs(root: Path, key: str, leaves: bool) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        with app.job("importing 3 of 12") as say:
            say("importing 4 of 12")
            await until(pilot, lambda: "importing 4 of 12" in screen_lines(app)[-1])
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
            await pilot.press(key)
            if leaves:
                await until(pilot, lambda: app.return_code == 0)
            else:
                await until(pilot, lambda: app.screen is app.page)
                assert app.return_code is None
    assert app.return_code == 0 if leaves else app.return_code is None


async def test_the_mouse_can_be_handed_over(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(notifications=True) as pilot:
        await opened(pilot, app)
        await pilot.press("M")
        assert not app.takes_mouse
        await pilot.press("M")
        assert app.takes_mouse
        assert "M takes it back" in toasts(app)[0]


# Failures


async def test_an_unexpected_error_in_an_action_costs_only_the_action(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(140, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("X")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await pilot.pause()
        shown = whole_screen(app)
        assert "An unexpected ZeroDivisionError" in shown
        assert "a secret in a message" not in shown
        assert "Traceback" not in shown
        await pilot.press("enter", "j")
        rows = rows_page(app).rows
        assert rows is not None
        await until(pilot, lambda: rows.cursor_row == "row 2")
    assert "a secret in a message" in log_file().read_text("utf-8")
    assert [type(error) for error in app.unexpected] == [ZeroDivisionError]


@pytest.mark.parametrize("error", [NoSuchRow("no such thing", hint="look again"), ValueError("inner")])
@pytest.mark.parametrize("exits", [True, False])
async def test_a_worker_that_fails_becomes_a_dialog(root: Path, error: Exception, exits: bool) -> None:
    app = ProbeApp(root)

    def work() -> None:
        raise error

    async with app.run_test(size=(140, 40)) as pilot:
        await opened(pilot, app)
        rows_page(app).run_worker(work, thread=True, exit_on_error=exits)
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await pilot.pause()
        title = "That did not work" if isinstance(error, WorkbenchError) else "The program made a mistake"
        assert title in whole_screen(app)
        assert len([screen for screen in app.screen_stack if isinstance(screen, MessageDialog)]) == 1


class RaisingPage(RowsPage):
    def on_committed(self) -> None:
        raise NoSuchRow("this row is gone")


class RaisingApp(ProbeApp):
    PAGES = (RaisingPage,)


async def test_a_refusal_in_a_handler_becomes_a_dialog_and_the_screen_lives(root: Path) -> None:
    app = RaisingApp(root)
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.press("R")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is app.page)
        record_elsewhere(root)
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await pilot.press("enter", "j")
        rows = rows_page(app).rows
        assert rows is not None
        await until(pilot, lambda: rows.cursor_row == "row 2")

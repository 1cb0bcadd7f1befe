"""Help, palette and choices: nothing is cut without a mark, nothing is empty without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.containers import VerticalScroll
from textual.widgets import Input, OptionList, Static
from textual.widgets._toast import Toast

from tests.tui.shell_probe import (
    EmptyPage,
    ProbeApp,
    make_workspace,
    opened,
    screen_lines,
    until,
    whole_screen,
)
from workbench.guide import pages as guide_pages
from workbench.tui.dialogs.base import Dialog
from workbench.tui.dialogs.choose import MOST_WHOLE, Choice, ChooseDialog, whole_lines
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.copy_menu import CopyMenu
from workbench.tui.dialogs.dialog_keys import DialogKeys
from workbench.tui.dialogs.help import HelpDialog, help_entries, tabs_line
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.dialogs.palette import palette_choices
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.failures import Failure
from workbench.tui.widgets.virtual_list import VirtualList


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w")


NAMES = st.lists(st.text("abcdefgh-", min_size=1, max_size=14), min_size=1, max_size=9, unique=True)


@given(NAMES, st.data())
def test_the_tabs_of_help_show_the_active_one_and_mark_what_is_left_out(
    names: list[str], data: st.DataObject
) -> None:
    active = data.draw(st.integers(0, len(names) - 1))
    width = data.draw(st.integers(20, 120))
    line = tabs_line(names, active, width)
    assert line.cell_length <= width
    words = line.plain.split()
    assert names[active] in words
    shown = [word for word in words if word != "…"]
    first = names.index(shown[0])
    assert shown == names[first : first + len(shown)], "whole and in order"
    assert (words[0] == "…") == (first > 0)
    assert (words[-1] == "…") == (first + len(shown) < len(names))


async def test_the_tabs_of_help_fit_the_least_terminal(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(60, 15)) as pilot:
        await opened(pilot, app)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog) and "keys here" in whole_screen(app))
        tabs = next(line for line in screen_lines(app) if "keys here" in line)
        assert tabs.split("│")[1].rstrip().endswith("…")
        for name, _ in guide_pages():
            await pilot.press("right_square_bracket")
            await pilot.pause()
            assert any(f" {name} " in line and "│" in line for line in screen_lines(app)[:5]), name


@pytest.mark.parametrize("key", ["ctrl+t", "ctrl+p"])
async def test_a_search_without_a_match_says_so(root: Path, key: str) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        await pilot.pause()
        assert "nothing fits" not in whole_screen(app)
        await pilot.press(*"zzzz")
        await until(pilot, lambda: "nothing fits" in whole_screen(app))
        await pilot.press("enter")
        assert isinstance(app.screen, ChooseDialog)
        for _ in range(4):
            await pilot.press("backspace")
        await until(pilot, lambda: "nothing fits" not in whole_screen(app))
        dialog = app.screen
        assert dialog.shown
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.page)


async def test_the_palette_has_the_screens_own_first_and_moving_last(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        choices = [choice.id for choice in palette_choices(app) if not choice.reason]
        assert choices[:2] == ["rows.add", "rows.fail"]
        moving = [app.registry[action_id].group == "Move" for action_id in choices]
        assert moving == sorted(moving)
        assert "list.down" in choices


async def test_help_and_toast_name_what_cannot_run_alike(root: Path) -> None:
    app = ProbeApp(root, read_only=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        assert isinstance(app.focused, VirtualList)
        lines = {choice.id: choice for _, choices in help_entries(app) for choice in choices}
        assert lines["rows.add"].reason == f"add: {app.reason_of('rows.add')}"
        assert lines["rows.fail"].reason == ""
        assert "i add ⊘" in screen_lines(app)[-1]
        await pilot.press("i")
        (toast,) = list(app._notifications)
        assert toast.message == f"“add” cannot run now: {app.reason_of('rows.add')}."


async def test_a_screen_without_actions_of_its_own_has_a_palette_too(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.screen, EmptyPage))
        assert palette_choices(app)[0].id == "screen.rows"


def _dialogs() -> list[tuple[str, Dialog[Any], tuple[str, ...]]]:
    """Dialogs without a text field under the keys, and some words that their help has."""
    failure = Failure("It failed", "Something is not there.")
    return [
        ("confirm", ConfirmDialog("Really?"), ("y", "yes", "n", "no", "esc", "close")),
        ("message", MessageDialog(failure), ("y", "copy", "enter", "close")),
        ("copy", CopyMenu(["text", "JSON"]), ("j", "down")),
    ]


@pytest.mark.parametrize("name", [name for name, _, _ in _dialogs()])
@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_the_help_key_lists_the_keys_of_a_dialog(root: Path, name: str, size: tuple[int, int]) -> None:
    [(dialog, words)] = [(dialog, words) for each, dialog, words in _dialogs() if each == name]
    app = ProbeApp(root)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        app.push_screen(dialog)
        await until(pilot, lambda: app.screen is dialog)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, DialogKeys) and "Keys here" in whole_screen(app))
        listed = str(app.screen.query_one("#keys-here", Static).content).split()
        assert set(words) <= set(listed)
        await pilot.press("question_mark")
        await until(pilot, lambda: app.screen is dialog)


async def test_the_help_key_is_a_letter_in_a_text_field(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        prompt = PromptDialog("Go to")
        app.push_screen(prompt)
        await until(pilot, lambda: app.screen is prompt and app.focused is not None)
        await pilot.press("question_mark")
        await until(pilot, lambda: prompt.query_one(Input).value == "?")
        assert app.screen is prompt


async def test_help_moves_with_the_keys_of_a_list_and_tells_a_long_line_whole(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(60, 15)) as pilot:
        await opened(pilot, app)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        options = app.screen.query_one(OptionList)
        await until(pilot, lambda: options.highlighted is not None and options.size.height > 1)
        first = options.highlighted
        await pilot.press("G")
        assert options.highlighted == options.option_count - 1
        await pilot.press("g")
        assert options.highlighted == first
        await pilot.press("full_stop")
        assert first is not None and options.highlighted is not None and options.highlighted > first + 1
        await pilot.press("comma")
        assert options.highlighted == first
        whole = app.screen.query_one("#whole", Static)
        told = set()
        for at in range(options.option_count):
            options.highlighted = at
            await pilot.pause()
            told.add(str(whole.content))
        assert {choice.detail for _, group in help_entries(app) for choice in group} <= told
        await pilot.press("right_square_bracket")
        guide = app.screen.query_one("#guide", VerticalScroll)
        await until(pilot, lambda: guide.max_scroll_y > 0)
        await pilot.press("G")
        await until(pilot, lambda: guide.scroll_y == guide.max_scroll_y)
        await pilot.press("g")
        await until(pilot, lambda: guide.scroll_y == 0)


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_what_a_line_of_the_palette_cuts_stands_whole_below_the_list(
    root: Path, size: tuple[int, int]
) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        dialog = app.screen
        assert isinstance(dialog, ChooseDialog)
        options, whole = dialog.query_one(OptionList), dialog.query_one("#whole", Static)
        await until(pilot, lambda: options.highlighted is not None and options.size.height > 1)
        cut = 0
        for at, choice in enumerate(dialog.shown):
            options.highlighted = at
            await pilot.pause()
            said = f"⊘ {choice.reason}" if choice.reason else choice.detail
            told = " ".join(str(whole.content).split())
            shown = str(options.get_option_at_index(at).prompt)
            assert said in shown or said in told, choice
            cut += said not in shown
        assert cut
        # All of the panel is on the screen.
        await until(pilot, lambda: "esc close" in whole_screen(app))
        assert dialog.query_one(".panel").region.height <= size[1]


async def test_choices_that_fit_have_no_line_below_them(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(60, 15)) as pilot:
        await opened(pilot, app)
        app.push_screen(ChooseDialog("Which?", [Choice("a", "one", "short"), Choice("b", "two", "short")]))
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog) and "two" in whole_screen(app))
        assert not app.screen.query_one("#whole").display


@given(st.text(max_size=400), st.text(max_size=400), st.integers(20, 71), st.integers(2, 30))
def test_what_is_cut_is_told_in_few_lines_that_fit(title: str, detail: str, width: int, names: int) -> None:
    lines = whole_lines(Choice("a", title, detail), width, min(names, width // 2))
    assert len(lines) <= MOST_WHOLE
    assert all(cell_len(line) <= width for line in lines)


async def test_help_is_not_covered_by_what_was_said_before(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await opened(pilot, app)
        app.notify("Something was said.", timeout=600)
        await until(pilot, lambda: "Something was said." in whole_screen(app))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await until(pilot, lambda: "keys here" in whole_screen(app))
        await until(pilot, lambda: not app.screen.query(Toast))
        assert "Something was said." not in whole_screen(app)
        app.notify("This came later.", timeout=600)
        await until(pilot, lambda: "This came later." in whole_screen(app))

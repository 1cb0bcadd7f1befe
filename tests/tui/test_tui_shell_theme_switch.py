"""Themes in the running program: every one can be switched to and started with; one that cannot is given up."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import tomli_w
from textual.theme import Theme
from textual.widgets import OptionList

from tests.thorough import some
from tests.tui.shell_probe import ProbeApp, make_workspace, opened, screen_lines, until, whole_screen
from workbench.data import data_folder
from workbench.locations import log_file
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.choose import ChooseDialog
from workbench.tui.dialogs.help import HelpDialog
from workbench.tui.state import load_state, state_file
from workbench.tui.themes import ThemeFile, load_themes, try_theme

SHIPPED, _ = load_themes([data_folder("themes")])
USERS = ("mine", "mine-ansi")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "config" / "themes"
    folder.mkdir(parents=True)
    for name, like in zip(USERS, ("light", "ansi-dark"), strict=True):
        theme = SHIPPED[like]
        data = {"name": name, "dark": theme.theme.dark, "ansi": theme.ansi, "colors": dict(theme.tokens)}
        (folder / f"{name}.toml").write_text(tomli_w.dumps(data), encoding="utf-8")
    return make_workspace(tmp_path / "w")


def remembered(tmp_path: Path, root: Path) -> str:
    state, problem = load_state(state_file(tmp_path / "state", root))
    assert problem == ""
    return state.theme


async def test_the_theme_of_that_very_name_comes_first(root: Path) -> None:
    app = WorkbenchApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        dialog = app.screen
        assert isinstance(dialog, ChooseDialog)
        await pilot.press(*"dark")
        await until(pilot, lambda: len(dialog.shown) < len(SHIPPED))
        assert [choice.title for choice in dialog.shown][:1] == ["Dark"]


def _is_laid_out(options: OptionList) -> bool:
    return options.highlighted is not None and options.size.height > 1


async def test_the_line_under_the_cursor_of_a_dialog_is_reversed_in_the_terminals_own_colours(
    root: Path,
) -> None:
    app = WorkbenchApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        for theme, reversed_ in (("ansi-dark", True), ("dark", False)):
            app.theme = theme
            await pilot.press("ctrl+t")
            await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
            options = app.screen.query_one(OptionList)
            await until(pilot, partial(_is_laid_out, options))
            at = options.highlighted
            assert at is not None
            for line in range(2):
                styles = [segment.style for segment in options.render_line(line)]
                is_reversed = all(style is not None and bool(style.reverse) for style in styles)
                assert is_reversed is (reversed_ and line == at)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.page)


async def test_a_page_is_gone_down_in_lines_that_were_just_put_in(root: Path) -> None:
    app = WorkbenchApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        options = app.screen.query_one(OptionList)
        options.add_options([f"theme {number}" for number in range(200)])
        options.highlighted = 150
        await pilot.press("pagedown")
        assert options.highlighted > 150


@pytest.mark.parametrize("name", some([*sorted(SHIPPED), *USERS], 4))
async def test_every_theme_can_be_chosen_and_started_with(tmp_path: Path, root: Path, name: str) -> None:
    app = WorkbenchApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        dialog = app.screen
        assert isinstance(dialog, ChooseDialog)
        at = [choice.id for choice in dialog.shown].index(name)
        options = dialog.query_one(OptionList)
        options.highlighted = at
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == name and app.screen is app.page)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await pilot.press("escape")
        app.notify("a toast in this theme")
        await until(pilot, lambda: "a toast in this theme" in whole_screen(app))
    assert app.return_code in (None, 0)
    assert remembered(tmp_path, root) == name

    app = WorkbenchApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        await until(pilot, lambda: "● live" in screen_lines(app)[0])
        assert app.theme == name
        assert list(app._notifications) == []


def test_the_fault_of_a_theme_is_found_before_it_is_used() -> None:
    app_sheet = WorkbenchApp.CSS_PATH
    for theme in SHIPPED.values():
        assert try_theme(theme.theme, {}, app_sheet) is None, theme.name
    error = try_theme(broken_theme().theme, {}, app_sheet)
    assert error is not None
    assert "nowhere" in str(error)


def broken_theme() -> ThemeFile:
    theme = SHIPPED["light"]
    variables = {**theme.theme.variables, "accent": "$nowhere"}
    made = Theme(name="broken", primary="#ff0000", variables=variables)
    return replace(theme, name="broken", title="Broken", theme=made, path=None)


class BrokenThemeApp(ProbeApp):
    """One of its themes has a variable that cannot be resolved."""

    def read_themes(self) -> tuple[dict[str, ThemeFile], list[str]]:
        themes, problems = super().read_themes()
        return {**themes, "broken": broken_theme()}, problems


async def test_a_theme_that_cannot_be_applied_gives_way_and_is_not_remembered(
    tmp_path: Path, root: Path
) -> None:
    app = BrokenThemeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        app.use_theme("light")
        app.use_theme("broken")
        assert app.theme == "dark"
        await until(pilot, lambda: "“broken” cannot be applied; using “dark”" in whole_screen(app))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
    assert remembered(tmp_path, root) == "light", "what worked last"
    assert "nowhere" in log_file().read_text("utf-8")


async def test_a_remembered_theme_that_cannot_be_applied_does_not_stop_the_start(
    tmp_path: Path, root: Path
) -> None:
    app = BrokenThemeApp(root)
    app.state.theme = "broken"
    app.save_state()
    assert remembered(tmp_path, root) == "broken"

    app = BrokenThemeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        assert app.theme == "dark"
        texts = [toast.message for toast in app._notifications]
        assert any("“broken” cannot be applied" in text for text in texts)
    assert remembered(tmp_path, root) == ""

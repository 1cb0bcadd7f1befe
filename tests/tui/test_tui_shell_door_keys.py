"""Keys of the pages before a workspace that is not open: part of the keymap like all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.shell_probe import ProbeApp, make_workspace, opened, screen_lines, until, whole_screen
from tests.tui.test_tui_migration_page import door, is_ready
from tests.tui.trouble_probe import fill, locked, make_older, schema_of
from workbench.tui.actions import APP, BASE_ACTIONS, DOOR, LIST, PAGE, PANE, Registry, live_together
from workbench.tui.dialogs.palette import palette_choices
from workbench.tui.keymap import parse_keymap
from workbench.tui.problem_page import ProblemPage
from workbench.workspace.migrations import SCHEMA_VERSION

REGISTRY = Registry(BASE_ACTIONS)


def write_keymap(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "keymap.toml").write_text(text, encoding="utf-8")


def older(tmp_path: Path) -> Path:
    root = make_workspace(tmp_path / "w")
    fill(root, 20)
    make_older(root)
    return root


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'door.stop = "q"',
            "K:1: The key “q” of “door.stop” already belongs to “app.quit”; “door.stop” keeps its default.",
        ),
        (
            '\ndoor.copy = "m"',
            "K:2: The key “m” of “door.copy” already belongs to “door.migrate”; “door.copy” keeps its default.",
        ),
        (
            'app.theme = "R"',
            "K:1: The key “R” of “app.theme” already belongs to “page.refresh”; “app.theme” keeps its default.",
        ),
        ('door.migrat = "f5"', "K:1: There is no action “door.migrat”. Did you mean “door.migrate”?"),
    ],
)
def test_a_clash_is_named_like_all_others(text: str, problem: str) -> None:
    assert parse_keymap(text, REGISTRY, "K").problems == (problem,)


def test_what_is_never_live_together_may_share_a_key() -> None:
    assert live_together(DOOR, APP)
    assert live_together(DOOR, DOOR)
    assert not any(live_together(DOOR, other) for other in (PAGE, LIST, PANE, "sessions"))
    assert parse_keymap('door.migrate = "slash"\nlist.down = "x"', REGISTRY).problems == ()


async def test_the_migration_has_the_keys_that_a_person_gave_it(tmp_path: Path) -> None:
    write_keymap(tmp_path, 'door.migrate = ["f5", "b"]\ndoor.stop = "f6"\ndoor.try_again = "f7"\n')
    root = older(tmp_path)
    app = ProbeApp(root)
    assert app.keymap.problems == ()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: is_ready(app) and "f5 migrates, then opens" in whole_screen(app))
        assert screen_lines(app)[-1].strip().startswith("f5 migrate   f7 look again   y copy")
        await pilot.press("enter", "m")
        assert is_ready(app), "its own keys are no longer live"
        with locked(root):
            await pilot.press("b")
            await until(pilot, lambda: "f6 stop and roll back" in screen_lines(app)[-1])
            page = door(app)
            assert page is not None
            await pilot.press("x")
            assert not page._stop.is_set()
            await pilot.press("f6")
            await until(pilot, lambda: "Stopping" in whole_screen(app))
        await until(pilot, lambda: is_ready(app) and "Stopped and rolled back" in whole_screen(app))
        assert schema_of(root) == 1
        await pilot.press("f5")
        await opened(pilot, app)
    assert schema_of(root) == SCHEMA_VERSION


async def test_the_page_of_a_problem_has_them_too(tmp_path: Path) -> None:
    write_keymap(tmp_path, 'door.try_again = "f5"\ndoor.copy = "f6"\n')
    app = ProbeApp(tmp_path / "w")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ProblemPage) and app.problem is not None)
        await until(pilot, lambda: "f5 try again   f6 copy" in whole_screen(app))
        await pilot.press("f6")
        assert "workspace" in app.clipboard
        make_workspace(tmp_path / "w")
        await pilot.press("f5")
        await opened(pilot, app)


async def test_help_and_palette_say_which_can_run(tmp_path: Path) -> None:
    app = ProbeApp(older(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: is_ready(app))
        reasons = {choice.id: choice.reason for choice in palette_choices(app)}
        assert reasons["door.migrate"] == ""
        assert reasons["door.stop"] == "no migration runs"
        await pilot.press("question_mark")
        await until(pilot, lambda: "Copy the database, migrate the workspace" in whole_screen(app))
        await pilot.press("escape", "m")
        await opened(pilot, app)
        reasons = {choice.id: choice.reason for choice in palette_choices(app)}
        assert reasons["door.migrate"] == "the workspace is open"

"""The registry: no key that terminals do not send, none twice in one place, every action really there."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.widget import Widget

from tests.tui.shell_probe import ProbeApp, make_workspace, opened
from workbench.tui.actions import (
    APP,
    BASE_ACTIONS,
    DOOR,
    GROUPS,
    LIST,
    PAGE,
    PANE,
    SHARED_CONTEXTS,
    Action,
    Registry,
    live_together,
)
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.palette import palette_choices
from workbench.tui.key_names import DISGUISED, UnknownKey, display, normalise
from workbench.tui.key_sheet import SHEET, current_sheet
from workbench.tui.migration_page import MigrationPage
from workbench.tui.page import Page
from workbench.tui.widgets.virtual_list import VirtualList

PROGRAMS = (WorkbenchApp, ProbeApp)


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_default_key_is_unsent_or_another_in_disguise(program: type[WorkbenchApp]) -> None:
    for action in program.REGISTRY:
        for key in action.keys:
            assert key not in DISGUISED, action.id
            assert normalise(key) == key, f"{action.id}: write {normalise(key)}"


@pytest.mark.parametrize("key", ["ctrl+i", "ctrl-j", "Ctrl+M", "ctrl+h", "ctrl+enter", "shift+enter"])
def test_the_lint_refuses_such_keys(key: str) -> None:
    with pytest.raises(UnknownKey, match="cannot be used"):
        normalise(key)


@pytest.mark.parametrize("program", PROGRAMS)
def test_default_keys_do_not_clash_where_both_are_live(program: type[WorkbenchApp]) -> None:
    seen: dict[str, list[Action]] = {}
    for action in program.REGISTRY:
        for key in action.keys:
            for other in seen.get(key, []):
                assert not live_together(action.context, other.context), f"{key}: {action.id}, {other.id}"
            seen.setdefault(key, []).append(action)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_action_is_complete(program: type[WorkbenchApp]) -> None:
    contexts = {*SHARED_CONTEXTS, *(page.NAME for page in program.PAGES)}
    for action in program.REGISTRY:
        assert action.keys, action.id
        assert action.group in GROUPS, action.id
        assert action.context in contexts, action.id
        assert action.description.endswith("."), action.id
        assert len(action.title) <= 14, action.id


def _has(owner: type, action: Action) -> bool:
    name = action.run.partition("(")[0]
    return hasattr(owner, f"action_{name}")


def test_every_shared_action_can_be_run_where_it_lives() -> None:
    owners: dict[str, type] = {APP: WorkbenchApp, LIST: VirtualList, PANE: Widget, DOOR: MigrationPage}
    for action in BASE_ACTIONS:
        if action.context == PAGE and action.optional:
            continue
        assert _has(owners.get(action.context, Page), action), action.id


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_action_of_a_screen_can_be_run_there(program: type[WorkbenchApp]) -> None:
    for page in program.PAGES:
        offered = [program.REGISTRY[action_id] for action_id in sorted(page.OFFERS)]
        assert all(action.optional for action in offered)
        for action in [*offered, *page.ACTIONS]:
            if action.context not in (LIST, PANE):
                assert _has(page, action), f"{page.NAME}: {action.id}"


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_registry_has_what_some_screen_offers_and_no_more(program: type[WorkbenchApp]) -> None:
    offered = {action_id for page in program.PAGES for action_id in page.OFFERS}
    known = {action.id for action in program.REGISTRY if action.optional}
    assert known == offered
    assert offered <= {action.id for action in BASE_ACTIONS}


async def test_what_no_screen_offers_has_no_key_and_stands_nowhere(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "keymap.toml").write_text('list.down = ["n", "s"]\npage.sort = "f9"\n', encoding="utf-8")
    app = ProbeApp(make_workspace(tmp_path / "w"))
    assert "page.sort" not in app.registry
    assert "page.next_hit" not in app.registry
    (problem,) = app.keymap.problems
    assert "There is no action “page.sort”." in problem
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        page = app.page
        assert page is not None
        assert page.rows is not None
        greeted = len(app._notifications)
        await pilot.press("n", "s", "N")
        assert page.rows.cursor_row == "row 3", "the keys are free for another action"
        assert (app.screen, len(app._notifications)) == (page, greeted), "and the third means nothing"
        assert {"page.sort", "page.next_hit"}.isdisjoint(choice.id for choice in palette_choices(app))


def test_two_actions_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match=r"app\.quit"):
        Registry([*BASE_ACTIONS, BASE_ACTIONS[-1]])


def test_textual_itself_binds_nothing_beside_the_registry() -> None:
    ids = {binding.id for _, binding in ProbeApp(root=SHEET.parent)._bindings}
    assert ids == {action.id for action in ProbeApp.REGISTRY.of(APP)}
    assert App.BINDINGS, "the point of the test is that these are not inherited"


def test_the_printed_key_sheet_is_current() -> None:
    assert SHEET.read_text("utf-8") == current_sheet(), "run: python -m workbench.tui.key_sheet"


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("question_mark", "?"),
        ("ctrl+p", "ctrl-p"),
        ("down", "↓"),
        ("escape", "esc"),
        ("G", "G"),
        ("pageup", "pgup"),
    ],
)
def test_keys_as_a_person_reads_them(key: str, shown: str) -> None:
    assert display(key) == shown

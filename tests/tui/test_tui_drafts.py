"""Drafts outlive the screens that they were typed on, and are not lost by leaving without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import TextArea

from tests.tui import facts_probe, handoffs_probe
from tests.tui.shell_probe import opened, screen_lines, until, whole_screen
from tests.tui.test_tui_facts_supersede import deciding, one_fact
from tests.tui.test_tui_shell_lost import put_folder_back, remove_folder
from tests.tui.test_tui_verdict_kept import judging, notices
from tests.workspace.handoff_cases import make_desk
from workbench.storage.errors import DatabaseReplaced
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.drafts import Drafts


async def lost_and_opened_again(pilot: Pilot[None], app: WorkbenchApp, root: Path) -> None:
    """The folder goes and comes back; R in the box that says so opens the workspace again."""
    remove_folder(root)
    await until(pilot, lambda: isinstance(app.screen, MessageDialog))
    before = app.workspace
    # Whoever reads while it is away makes the engine give it up: it does not come back by itself.
    assert before is not None
    with pytest.raises(DatabaseReplaced):
        before.status()
    put_folder_back(root)
    await until(pilot, lambda: "R open again" in whole_screen(app) and "it is there now" in whole_screen(app))
    assert "○ lost: file was away" in screen_lines(app)[0], "also under two dialogs"
    await pilot.press("R")
    await until(pilot, lambda: app.workspace is not None and app.workspace is not before)
    await opened(pilot, app)


async def test_a_draft_outlives_a_lost_workspace(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = handoffs_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        await judging(pilot, app)
        await pilot.press("q", "tab", *"half a th", "escape")
        await until(pilot, lambda: app.screen is page)
        await lost_and_opened_again(pilot, app, root)
        assert await handoffs_probe.shown(pilot, app) is not page
        assert (await judging(pilot, app)).comment == "half a th"


async def test_words_of_a_dialog_that_is_open_when_the_workspace_is_lost_are_kept(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = handoffs_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await handoffs_probe.shown(pilot, app)
        await judging(pilot, app)
        await pilot.press("q", "tab", *"half a th")
        await lost_and_opened_again(pilot, app, root)
        await handoffs_probe.shown(pilot, app)
        await until(pilot, lambda: "Kept as a draft: r opens it again." in notices(app))
        assert (await judging(pilot, app)).comment == "half a th"


async def test_words_of_an_open_decision_are_kept_when_the_workspace_is_lost(tmp_path: Path) -> None:
    root = facts_probe.make_workspace(tmp_path / "w", one_fact)
    app = facts_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await facts_probe.rows_shown(pilot, app)
        await deciding(pilot, app)
        await pilot.press(*"one host")
        await lost_and_opened_again(pilot, app, root)
        await facts_probe.rows_shown(pilot, app)
        assert (await deciding(pilot, app)).typed.value == "one host"


async def test_a_decision_says_that_it_is_kept_and_goes_on_at_its_end(tmp_path: Path) -> None:
    root = facts_probe.make_workspace(tmp_path / "w", one_fact)
    app = facts_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await facts_probe.rows_shown(pilot, app)
        dialog = await deciding(pilot, app)
        assert dialog.query_one("#value", TextArea).selected_text == "two servers"
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)
        assert "Kept as a draft" not in notices(app)
        await deciding(pilot, app)
        await pilot.press(*"one ho", "tab", *"chea", "escape")
        await until(pilot, lambda: app.screen is page)
        await until(pilot, lambda: "Kept as a draft: S opens it again." in notices(app))
        dialog = await deciding(pilot, app)
        await pilot.press(*"st", "tab", *"per")
        assert dialog.typed == ("one host", "cheaper")


async def test_leaving_with_a_draft_asks_once(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = handoffs_probe.app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        await judging(pilot, app)
        await pilot.press("q", "tab", *"half a th", "escape")
        await until(pilot, lambda: app.screen is page)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await until(pilot, lambda: "An unfinished verdict on" in whole_screen(app))
        await pilot.press("n")
        await until(pilot, lambda: app.screen is page)
        with app.job("an import"):
            await pilot.press("q")
            await until(pilot, lambda: "Leave while this runs?" in whole_screen(app))
            assert "an import" in whole_screen(app) and "An unfinished verdict on" in whole_screen(app)
            await pilot.press("n")
            await until(pilot, lambda: app.screen is page)
        assert (await judging(pilot, app)).comment == "half a th"
        await pilot.press("ctrl+s")
        await until(pilot, lambda: app.screen is page)
        await pilot.press("q")
    assert app.return_code == 0, "what was given is no draft that could be lost"


async def test_drafts_go_with_the_texts_that_a_scrub_removed(tmp_path: Path) -> None:
    app = handoffs_probe.app_on(make_desk(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        await judging(pilot, app)
        await pilot.press("q", "tab", *"the secret", "escape")
        await until(pilot, lambda: app.screen is page)
        await app.begin_others_afresh(page)
        await until(pilot, lambda: "What was kept as a draft is gone" in notices(app))
        assert not app.drafts_lost_by_leaving()


def test_a_draft_is_taken_once_and_named() -> None:
    drafts: Drafts[str] = Drafts("verdict")
    drafts.keep(("a", 1), "the roll-out", "half")
    assert drafts.lost_by_leaving() == ["An unfinished verdict on “the roll-out” would be lost."]
    assert (drafts.take(("a", 2)), drafts.take(("a", 1)), drafts.take(("a", 1))) == (None, "half", None)

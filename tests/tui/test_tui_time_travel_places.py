"""Coming back from the past: screens that were hidden meanwhile, and the cursor on its row."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui import facts_probe, handoffs_probe
from tests.tui.shell_probe import until, whole_screen
from tests.tui.travel_probe import make_story, story_app
from tests.workspace.handoff_cases import make_desk
from workbench.tui.app import WorkbenchApp
from workbench.tui.screens.facts import FactsPage
from workbench.tui.screens.handoffs import HandoffsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage


async def travel(pilot: Pilot[None], app: WorkbenchApp, text: str) -> None:
    """Show a moment."""
    app._find_moment(text)
    await until(pilot, lambda: app.as_of is not None and app.as_of.position == int(text))
    await pilot.pause()


async def screen(pilot: Pilot[None], app: WorkbenchApp, name: str) -> None:
    await app.action_open_screen(name)
    await until(pilot, lambda: app.page is not None and name == app.page.NAME)
    await pilot.pause()


@pytest.mark.parametrize("stay", [False, True], ids=["hidden", "seen in the past"])
async def test_facts_hidden_while_the_past_was_shown_have_their_detail(tmp_path: Path, stay: bool) -> None:
    app = facts_probe.app_on(facts_probe.full(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await facts_probe.rows_shown(pilot, app)
        await pilot.press("j", "j")
        await facts_probe.rows_shown(pilot, app)
        held = page.cursor_fact
        assert held is not None
        await screen(pilot, app, "sessions")
        # Later than the row: it is drawn from the same list entry, then as now.
        await travel(pilot, app, str(held.position))
        if stay:
            await screen(pilot, app, "facts")
            await facts_probe.rows_shown(pilot, app)
            await screen(pilot, app, "sessions")
        await pilot.press("T")
        await screen(pilot, app, "facts")
        await facts_probe.rows_shown(pilot, app)
        assert page.cursor_fact == held
        await until(pilot, lambda: page.pane.detail is not None and page.pane.detail.row == held)
        assert not page.pane.has_class("-nothing")


async def test_a_session_that_is_the_same_then_and_now_is_drawn(tmp_path: Path) -> None:
    app = story_app(make_story(tmp_path / "w"), "sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.page, SessionsPage) and app.page.detail.session is not None)
        page = app.page
        assert isinstance(page, SessionsPage)
        await screen(pilot, app, "timeline")
        await travel(pilot, app, "5")
        await pilot.press("T")
        await screen(pilot, app, "sessions")
        await until(pilot, lambda: "Comet is another matter" in whole_screen(app))
        # As of the last event of all the list says the very same of it.
        await travel(pilot, app, "12")
        await until(pilot, lambda: page.detail.session is not None)
        await until(pilot, lambda: "Comet is another matter" in whole_screen(app))


async def test_an_event_is_drawn_again_after_the_past(tmp_path: Path) -> None:
    app = story_app(make_story(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.page, TimelinePage) and app.page.cursor_event is not None)
        page = app.page
        assert isinstance(page, TimelinePage)
        page.events.go_to(4)
        await until(pilot, lambda: page.event_pane.event is not None and page.event_pane.event.position == 4)
        await screen(pilot, app, "facts")
        await travel(pilot, app, "9")
        await screen(pilot, app, "timeline")
        await until(pilot, lambda: page.event_pane.event is not None)
        await screen(pilot, app, "facts")
        await pilot.press("T")
        await screen(pilot, app, "timeline")
        await until(pilot, lambda: page.event_pane.event is not None and page.event_pane.event.position == 4)
        assert page.event_pane.pane.blocks


async def test_now_has_the_cursor_where_it_was_unless_it_was_moved_meanwhile(tmp_path: Path) -> None:
    app = story_app(make_story(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.page, TimelinePage) and app.page.cursor_event is not None)
        page = app.page
        assert isinstance(page, TimelinePage)

        def at() -> int:
            return 0 if page.cursor_event is None else page.cursor_event.position

        page.events.go_to(11)
        await until(pilot, lambda: at() == 11)
        await travel(pilot, app, "6")
        await until(pilot, lambda: at() == 6)
        await travel(pilot, app, "3")
        await until(pilot, lambda: at() == 3)
        await pilot.press("T")
        await until(pilot, lambda: at() == 11)
        await travel(pilot, app, "6")
        await until(pilot, lambda: at() == 6)
        await pilot.press("j")
        await until(pilot, lambda: at() == 5)
        await pilot.press("T")
        await until(pilot, lambda: not page.events.status.loading and at() == 5)


async def test_facts_and_handoffs_have_the_cursor_where_it_was(tmp_path: Path) -> None:
    app = facts_probe.app_on(facts_probe.full(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        facts = await facts_probe.rows_shown(pilot, app)
        await pilot.press("j")
        await facts_probe.rows_shown(pilot, app)
        held = facts.cursor_fact
        await travel(pilot, app, "4")
        await until(pilot, lambda: facts.cursor_fact not in (None, held))
        await facts_probe.rows_shown(pilot, app)
        await pilot.press("T")
        await until(pilot, lambda: facts.cursor_fact == held)
    desk = handoffs_probe.app_on(make_desk(tmp_path / "d"))
    async with desk.run_test(size=(120, 40)) as pilot:
        tasks = await handoffs_probe.shown(pilot, desk)
        key = tasks.cursor_handoff.key if tasks.cursor_handoff is not None else None
        await travel(pilot, desk, "3")
        await until(pilot, lambda: tasks.cursor_handoff is not None and tasks.cursor_handoff.key != key)
        await pilot.press("T")
        await until(pilot, lambda: tasks.cursor_handoff is not None and tasks.cursor_handoff.key == key)
        await handoffs_probe.shown(pilot, desk)
    assert isinstance(facts, FactsPage) and isinstance(tasks, HandoffsPage)

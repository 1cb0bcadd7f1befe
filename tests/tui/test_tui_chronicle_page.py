"""The Chronicle screen as a person uses it, on real workspaces: tree, sides, search, moments, and the ways out."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.tui.chronicle_probe import (
    REWRITTEN,
    SESSION,
    again,
    app_on,
    chronicle_page,
    close,
    detail_text,
    full,
    go,
    make_workspace,
    named,
    rows,
    rows_shown,
    say,
    settled,
)
from tests.tui.shell_probe import screen_lines, until, whole_screen
from tests.tui.timeline_probe import START, TALK, entry
from workbench.tui.chronicle.chronicle_pane import EVENTS, GENERATIONS, LAG
from workbench.tui.chronicle.nodes import OlderNode, RangeNode
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.moments import AsOf
from workbench.tui.screens.chronicle import ChroniclePage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.workspace import Workspace

TASK = "task/global/atlas/importer"


def stands_on(page: ChroniclePage, found: str) -> bool:
    """Whether the cursor is on this row."""
    return page.cursor_node is not None and named(page.cursor_node) == found


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that no test writes to."""
    return full(tmp_path_factory.mktemp("chronicle") / "w")


async def test_a_stream_opens_to_its_ranges_with_older_generations_under_them(kept: Path) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert rows(page) == [TASK, SESSION]
        await pilot.press("j", "enter")
        tree = [TASK, f"{SESSION} -", "1-8#2", "old 1-8", "9-11", "12-13", "open 14-16"]
        await until(pilot, lambda: rows(page) == tree)
        assert not page.focused_in_detail(), "a stream opens where it stands"
        assert page.cursor_node is not None and named(page.cursor_node) == f"{SESSION} -"
        await pilot.press("j", "j", "left")
        await until(pilot, lambda: rows(page) == [TASK, SESSION])
        await until(pilot, lambda: page.cursor_node is not None and named(page.cursor_node) == SESSION)


async def test_prose_stands_behind_a_bar_under_its_anchor_and_says_that_it_is_advisory(kept: Path) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 1)
        text = detail_text(page)
        for said in (
            "Events 1–8",
            "1-8#2",
            "supersedes  1-8",
            "by          teller 3",
            "5f3a1c0b",
            "advisory",
        ):
            assert said in text, said
        lines = screen_lines(app)
        barred = [line for line in lines if "┃" in line]
        assert any("three steps" in line for line in barred)
        assert any("• one library" in line for line in barred), "it is drawn as Markdown"
        assert not any("supersedes" in line or "teller" in line for line in barred), "anchors are no prose"
        page.tree_list.go_to(("older", SESSION, 1, 1))
        await until(pilot, lambda: isinstance(page.cursor_node, OlderNode))
        await until(pilot, lambda: "superseded" in detail_text(page))


async def test_enter_leads_from_prose_to_its_events_and_from_one_of_them_to_the_timeline(kept: Path) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 9)
        await pilot.press("enter", "enter")
        await until(pilot, lambda: page.pane.side == EVENTS and page.pane.events.has_focus)
        await until(pilot, lambda: [each.seq for each in page.pane.events.visible_rows] == [9, 10, 11])
        await pilot.press("j")
        event = page.target_event
        assert event is not None and event.seq == 10
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))
        timeline = app.page
        assert isinstance(timeline, TimelinePage)
        await until(
            pilot,
            lambda: timeline.cursor_event is not None and timeline.cursor_event.position == event.position,
        )
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        assert page.target_event == event


async def test_a_range_leads_to_its_session(kept: Path) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 12)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.page, SessionsPage))
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(pilot, lambda: sessions.detail.entry is not None and sessions.detail.entry.seq == 12)
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        page.tree_list.go_to(("stream", TASK))
        await until(pilot, lambda: page.cursor_node is not None and page.cursor_node.stream == TASK)
        assert app.registry["chronicle.session"].reason(app) == "its events are of no session"


async def test_generations_are_compared_line_by_line_with_the_marked_one_or_the_neighbour(
    tmp_path: Path,
) -> None:
    root = full(tmp_path / "w")
    with Workspace.open(root) as workspace:
        again(workspace, "1-8#2", REWRITTEN.replace("three", "four"))
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 1)
        page.pane.show_side(GENERATIONS)
        await until(pilot, lambda: "#2 → #3" in detail_text(page))
        text = detail_text(page)
        assert "− The importer goes behind a flag, in three steps." in text
        assert "+ The importer goes behind a flag, in four steps." in text
        assert "1 line gone, 1 line new" in text
        page.tree_list.go_to(("older", SESSION, 1, 1))
        await until(pilot, lambda: isinstance(page.cursor_node, OlderNode))
        await pilot.press("space")
        page.tree_list.go_to(("range", SESSION, 1))
        await until(pilot, lambda: "#1 → #3" in detail_text(page))
        assert "◆" in whole_screen(app)
        await pilot.press("escape")
        await until(pilot, lambda: "#2 → #3" in detail_text(page))


async def test_lag_says_what_closes_next_and_who_writes(kept: Path) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION)
        page.pane.show_side(LAG)
        await until(pilot, lambda: "closes next: events 14–15" in detail_text(page))
        text = detail_text(page)
        assert "up to event 13" in text and "3 events" in text and "extractive" in text


async def test_typing_searches_the_prose_of_every_chronicle_and_clearing_it_finds_the_row_in_the_tree(
    kept: Path,
) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", *"librar")
        await until(pilot, lambda: set(rows(page)) == {"1-8#2", "12-13"})
        assert "old" not in whole_screen(app).split("Prose")[0], "only current prose is found"
        await pilot.press("enter")
        await rows_shown(pilot, app)
        found = page.cursor_node
        assert found is not None
        await pilot.press("c")
        await until(pilot, lambda: len(rows(page)) > 3)
        await until(pilot, lambda: page.cursor_node is not None and page.cursor_node.key == found.key)


@pytest.mark.parametrize(("keys", "ends"), [((), "9-11"), (("j",), "the second that was found")])
async def test_who_ends_a_search_without_choosing_returns_to_the_row_they_came_from(
    kept: Path, keys: tuple[str, ...], ends: str
) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 9)
        await pilot.press("slash", *"librar")
        await until(pilot, lambda: set(rows(page)) == {"1-8#2", "12-13"})
        second = rows(page)[1]
        await until(pilot, lambda: stands_on(page, rows(page)[0]))
        await pilot.press("enter", *keys)
        await until(pilot, lambda: stands_on(page, second if keys else rows(page)[0]))
        await pilot.press("escape")
        await until(pilot, lambda: page.wanted == "" and len(rows(page)) > 3)
        await until(pilot, lambda: stands_on(page, second if keys else ends))


async def test_going_to_an_event_finds_the_section_that_stands_for_it(kept: Path) -> None:
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION)
        for text, found in (("10", "9-11"), ("1-8", "1-8#2"), ("15", "open 14-16"), ("atlas/importer", TASK)):
            page.goto(text)
            await until(pilot, partial(stands_on, page, found))
        await pilot.press("colon", *"nowhere", "enter")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and app.screen.refused is not None)


async def test_what_another_program_writes_shows_and_nothing_moves(tmp_path: Path) -> None:
    root = full(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 12)
        y = rows(page).index("12-13")
        with Workspace.open(root) as workspace:
            workspace.chronicle(SESSION).consolidate()
        await until(pilot, lambda: rows(page)[-2:] == ["14-15", "open 16-16"])
        assert page.cursor_node is not None and named(page.cursor_node) == "12-13"
        assert rows(page).index("12-13") == y


async def test_the_past_shows_what_was_written_then_and_writes_nothing(kept: Path) -> None:
    with Workspace.open(kept, read_only=True) as workspace:
        old = workspace.readers.chronicle.generations(SESSION, 1, 8)
    app = app_on(kept)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await go(pilot, app, SESSION, 1)
        first = old[0].written.position
        assert old[1].written.position > first
        app.travel(AsOf(first, START))
        await until(pilot, lambda: rows(page) == [f"{SESSION} -", "1-8", "9-11", "12-13"])
        await rows_shown(pilot, app)
        assert "1-8#2" not in detail_text(page)
        assert app.registry["chronicle.consolidate"].reason(app) != ""
        app.travel(AsOf(first - 1, START))
        await until(pilot, lambda: rows(page) == [f"{SESSION} -"])
        app.travel(None)
        await until(pilot, lambda: page.cursor_node is not None and named(page.cursor_node) == "1-8#2")


async def test_a_section_that_may_repeat_what_was_hidden_is_marked_and_says_why(tmp_path: Path) -> None:
    root = full(tmp_path / "w")
    with Workspace.open(root) as workspace:
        workspace.chronicle(TASK).consolidate()
        seen = workspace.memory.recent(domain="global", limit=1)[0]
        workspace.memory.quarantine(seen.observation_id, reason="it was a mistake", by="maya")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.open_stream(TASK, opened=True)
        await until(pilot, lambda: len(rows(page)) > 3)
        withheld = [
            row.row.anchor.from_seq
            for row in page.tree_list.visible_rows
            if isinstance(row, RangeNode) and row.row.withheld
        ]
        assert any("⊘" in line for line in screen_lines(app))
        page.tree_list.go_to(("range", TASK, withheld[0]))
        await until(pilot, lambda: "withheld from agents" in detail_text(page))


async def test_where_the_person_was_is_remembered(tmp_path: Path, kept: Path) -> None:
    for _ in range(2):
        app = app_on(kept)
        async with app.run_test(size=(120, 40)) as pilot:
            page = await rows_shown(pilot, app)
            if not page.opened:
                page = await go(pilot, app, SESSION, 9)
                page.pane.show_side(LAG)
                await settled(pilot, app)
                continue
            assert page.cursor_node is not None and named(page.cursor_node) == "9-11"
            assert page.pane.side == LAG


async def test_a_tree_of_many_ranges_is_read_in_pages_down_and_up(tmp_path: Path) -> None:
    def fill(workspace: Workspace) -> None:
        say(workspace, TALK[0])
        for number in range(1, 90):
            say(workspace, entry(f"entry {number}", "planner"), close(f"u{number}", "over"))
        workspace.chronicle(SESSION).consolidate()
        again(workspace, "100-101", "Told again.")

    app = app_on(make_workspace(tmp_path / "w", fill))
    async with app.run_test(size=(80, 24)) as pilot:
        page = await go(pilot, app, SESSION)
        await pilot.press("end")
        await until(pilot, lambda: page.cursor_node is not None and named(page.cursor_node) == "178-179")
        seen = [named(page.cursor_node)] if page.cursor_node is not None else []
        for _ in range(90):
            page.tree_list.action_cursor_up()
            await until(pilot, lambda: page.cursor_node is not None and named(page.cursor_node) != seen[-1])
            assert page.cursor_node is not None
            seen.append(named(page.cursor_node))
        assert seen[-1] == f"{SESSION} -" and seen[-2] == "1-3"
        assert "old 100-101" in seen and seen.index("100-101#2") == seen.index("old 100-101") + 1


async def test_an_empty_workspace_says_what_would_fill_it(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: "workbench chronicle consolidate" in whole_screen(app))
        assert page.cursor_node is None and chronicle_page(app) is page

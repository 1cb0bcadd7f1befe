"""The Timeline's two orders, its filters and what comes while one looks, as a person uses them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.shell_probe import screen_lines, until, whole_screen
from tests.tui.timeline_probe import (
    TALK,
    TimelineApp,
    app_on,
    append_elsewhere,
    append_happened,
    entry,
    make_long,
    make_spread,
    make_workspace,
    rows_shown,
)
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.timeline.bars import FilterLine
from workbench.tui.timeline.filter_dialog import TimelineFilterDialog
from workbench.tui.timeline.messages import SearchLooked
from workbench.tui.widgets.list_bar import ListBar
from workbench.workspace.rows import Place, TimelineFilter

RECORDED = [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
HAPPENED = [5, 4, 9, 8, 3, 2, 13, 12, 11, 10, 7, 6, 1]


def at(page: TimelinePage) -> int:
    row = page.cursor_event
    return 0 if row is None else row.position


def shown(page: TimelinePage) -> list[int]:
    return [row.position for row in page.events.visible_rows]


def count_line(app: TimelineApp) -> str:
    return next(line for line in screen_lines(app) if "/ " in line)


async def test_the_other_order_keeps_the_cursor_on_its_event(tmp_path: Path) -> None:
    app = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert shown(page) == RECORDED
        assert any(" recorded " in line for line in screen_lines(app))
        page.events.go_to(8)
        await pilot.press("s")
        await until(pilot, lambda: shown(page) == HAPPENED)
        assert at(page) == 8
        assert "1–13 of 13 as happened" in count_line(app)
        assert any(" happened " in line and " actor" in line for line in screen_lines(app))
        page.goto("2026-01-12")
        await until(pilot, lambda: at(page) == 10)
        await pilot.press("s")
        await until(pilot, lambda: shown(page) == RECORDED)
        assert at(page) == 10


async def test_order_and_every_part_of_the_filter_are_remembered(tmp_path: Path) -> None:
    root = make_spread(tmp_path / "w")
    wanted = TimelineFilter(
        types=("actum.recorded",),
        actors=("maya",),
        text="comet",
        streams=("session/s1",),
        visibility="public",
        since=datetime(2026, 1, 1, tzinfo=UTC),
        until=datetime(2026, 2, 20, 10, 30, 0, 5, tzinfo=UTC),
    )
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await app.action_perform("page.sort")
        page.apply(wanted)
        await until(pilot, lambda: shown(page) == [3, 7])
        page.events.go_to(7)
        await rows_shown(pilot, app)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert (page.wanted, page.order) == (wanted, "happened")
        await until(pilot, lambda: shown(page) == [3, 7] and at(page) == 7)


async def test_parts_of_the_filter_can_be_removed_one_by_one(tmp_path: Path) -> None:
    app = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(200, 60)) as pilot:
        page = await rows_shown(pilot, app)
        page.apply(
            TimelineFilter(
                actors=("maya",), text="comet", visibility="public", since=datetime(2026, 1, 5, tzinfo=UTC)
            )
        )
        await until(pilot, lambda: shown(page) == [3])
        line = page.query_one(FilterLine)
        text = line.render_line(0).text
        assert "“comet” ×  ·  by maya ×  ·  public only ×  ·  happened 2026-01-05 .. ×" in text
        await pilot.click(line, offset=(text.index("by maya") + 1, 0))
        await until(pilot, lambda: page.wanted.actors == () and shown(page) == [3, 2])
        await pilot.press("minus")
        await until(pilot, lambda: page.wanted.since is None and shown(page) == [7, 6, 3, 2])
        assert page.wanted == TimelineFilter(text="comet", visibility="public")
        text = line.render_line(0).text
        await pilot.click(line, offset=(text.index("clears"), 0))
        await until(pilot, lambda: not page.wanted and shown(page) == RECORDED)
        assert page.filter_text == ""


async def test_only_what_is_private(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w", TALK)
    append_happened(root, (entry("between us"), None), private=True)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert "P between us" in whole_screen(app)
        await app.action_perform("timeline.narrow")
        await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
        dialog = app.screen
        assert isinstance(dialog, TimelineFilterDialog)
        await until(pilot, lambda: dialog.query_one(Input).has_focus)
        for name in ("public", "private"):
            dialog.highlight("visibility", name)
            dialog.action_choose()
        assert dialog.result == TimelineFilter(visibility="private")
        dialog.action_take()
        await until(pilot, lambda: shown(page) == [9])
        assert "private only ×" in whole_screen(app)


async def test_only_this_stream_and_all_again(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w", TALK)
    append_happened(root, (entry("elsewhere", session="s2"), None), session="s2")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("a")
        await until(pilot, lambda: shown(page) == [9])
        assert "in session s2 ×" in whole_screen(app)
        await pilot.press("a")
        await until(pilot, lambda: len(shown(page)) == 9)
        page.apply(TimelineFilter(text="nothing of it"))
        page.apply(TimelineFilter(streams=("session/s1",)))
        await until(pilot, lambda: shown(page) == [8, 7, 6, 5, 4, 3, 2, 1])
        assert page.wanted == TimelineFilter(streams=("session/s1",))


async def test_a_blank_that_is_typed_stays(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w", TALK))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.set_filter("three ")
        page.on_filter("three ")
        await until(pilot, lambda: page.wanted.text == "three")
        assert page.filter_text == "three "


async def test_what_happens_now_comes_in_at_the_top_of_the_other_order(tmp_path: Path) -> None:
    root = make_spread(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.events.go_to(5)
        await app.action_perform("page.sort")
        await until(pilot, lambda: shown(page) == HAPPENED and at(page) == 5)
        append_elsewhere(root, entry("now"))
        await until(pilot, lambda: shown(page) == [14, *HAPPENED] and at(page) == 14, seconds=3)
        # What happened long ago takes its place and offers nothing.
        append_happened(root, (entry("then"), datetime(2026, 1, 12, 9, 30, tzinfo=UTC)))
        await until(pilot, lambda: 15 in shown(page), seconds=3)
        assert shown(page)[shown(page).index(15) :][:2] == [15, 10]
        assert at(page) == 14
        assert "new" not in count_line(app)


@pytest.mark.parametrize("order", ["recorded", "happened"])
async def test_new_matches_are_offered_and_a_click_goes_there(tmp_path: Path, order: str) -> None:
    root = make_long(tmp_path / "w", 2000)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        if order == "happened":
            await app.action_perform("page.sort")
        page.apply(TimelineFilter(text="flag"))
        await until(pilot, lambda: page.events.status.total == 1979)
        page.goto("500")
        await until(pilot, lambda: at(page) in (499, 501))
        start = datetime(2026, 3, 5, tzinfo=UTC)
        append_happened(
            root,
            *(
                (entry(f"a {word}"), start + timedelta(minutes=n))
                for n, word in enumerate(("flag", "comet", "flag", "moon", "flag"))
            ),
        )
        await until(pilot, lambda: "3 new ↑" in count_line(app), seconds=3)
        assert at(page) in (499, 501)
        bar = page.query_one(ListBar)
        await pilot.click(bar, offset=(count_line(app).index("3 new") - bar.region.x, 0))
        await until(pilot, lambda: at(page) == 2005)
        await until(pilot, lambda: "new" not in count_line(app))


async def test_a_search_says_until_when_it_has_looked(tmp_path: Path) -> None:
    app = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        source = page._source
        assert source is not None
        place = Place(round(datetime(2025, 6, 7, tzinfo=UTC).timestamp()) * 1_000_000, 7)
        page.post_message(SearchLooked(source, place))
        await until(pilot, lambda: "looked back to 2025-06-07" in count_line(app))
        page.post_message(SearchLooked(source, None))
        await until(pilot, lambda: "looked" not in count_line(app))

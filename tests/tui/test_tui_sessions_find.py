"""Finding text inside the open session, as a person does it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.thorough import some
from tests.tui.sessions_probe import (
    DESCRIBED,
    TALK,
    act,
    app_on,
    append_elsewhere,
    at,
    call,
    entries_shown,
    make_workspace,
    response,
    rows_shown,
)
from tests.tui.shell_probe import until, whole_screen
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.sessions.find_panes import ActumPane, EntryList

FIG = (
    act("Where do figs grow?"),  # 2
    act("I wonder about a fig.", "coder", "thought"),  # 3
    call("Grep", '{"pattern":"tree"}', "c1"),  # 4
    act("plum", "coder"),  # 5
    response("Grep", "a Fig tree\nand no other", "c1"),  # 6
    act("\n".join(["plum"] * 60 + ["the last fig"] + ["plum"] * 60), "coder"),  # 7
    act("plum and nothing more", "coder"),  # 8
)


@pytest.fixture
def figs(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w", {"talk": (DESCRIBED, *TALK), "figs": FIG})


async def in_acta(pilot: Pilot[None], page: SessionsPage) -> None:
    """Give the keys to the acta, the cursor on the first."""
    await pilot.press("enter")
    await until(pilot, lambda: page.focused is page.detail.entries)
    page.detail.go_to(2)
    await until(pilot, lambda: at(page) == 2)


async def look_for(pilot: Pilot[None], page: SessionsPage, text: str, said: str) -> None:
    await pilot.press("slash")
    await until(pilot, lambda: page.detail.finder.editing)
    await pilot.press(*text)
    await until(pilot, lambda: count(page) == said)


def count(page: SessionsPage) -> str:
    return page.detail.finder.said


def is_at(page: SessionsPage, said: str, seq: int) -> bool:
    return count(page) == said and at(page) == seq


def reader(page: SessionsPage) -> ActumPane:
    return page.query_one("#reader", ActumPane)


async def test_typing_counts_enter_goes_and_n_goes_on_around_the_end(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        assert "find" in whole_screen(app)
        await look_for(pilot, page, "fig", "4 hits")
        assert at(page) == 2
        assert [row.id for row in page.sessions.visible_rows] == ["figs", "talk"]
        await pilot.press("enter")
        await until(pilot, lambda: count(page) == "1 of 4")
        assert page.focused is page.detail.entries
        for seq, said in ((3, "2 of 4"), (4, "3 of 4"), (7, "4 of 4"), (2, "from the start again · 1 of 4")):
            await pilot.press("n")
            await until(pilot, partial(is_at, page, said, seq))
        await pilot.press("N")
        await until(pilot, lambda: count(page) == "from the end again · 4 of 4")
        assert at(page) == 7
        assert "◆ … 109 more lines" in whole_screen(app)
        await pilot.press("N")
        await until(pilot, lambda: at(page) == 4)
        assert any("Grep" in line and "◆" in line for line in whole_screen(app).splitlines())


async def test_it_goes_on_from_the_cursor(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        page.detail.go_to(5)
        await look_for(pilot, page, "fig", "4 hits")
        await pilot.press("enter")
        # The response at 6 is shown by its call, which stands before the cursor.
        await until(pilot, lambda: count(page) == "3 of 4")
        page.detail.go_to(8)
        await pilot.press("N")
        await until(pilot, lambda: at(page) == 7)


async def test_hits_stand_out_in_rows_and_in_an_open_actum(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        await look_for(pilot, page, "fig", "4 hits")
        await pilot.press("enter")
        await until(pilot, lambda: count(page) == "1 of 4")
        assert marked(page.detail.entries) >= ["figs", "fig"]
        page.detail.go_to(7)
        await pilot.press("enter")
        await until(pilot, lambda: "the last fig" in shown(reader(page)))
        assert marked(reader(page)) == ["fig"]


async def test_n_goes_through_an_open_actum_and_then_to_the_next(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        await look_for(pilot, page, "fig", "4 hits")
        await pilot.press("enter")
        await until(pilot, lambda: count(page) == "1 of 4")
        await pilot.press("enter")
        await until(pilot, lambda: "Where do figs grow?" in shown(reader(page)))
        await pilot.press("n")
        await until(pilot, lambda: "I wonder about a fig." in shown(reader(page)))
        await pilot.press("n")
        await until(pilot, lambda: "a Fig tree" in shown(reader(page)))
        await pilot.press("n")
        await until(pilot, lambda: "the last fig" in shown(reader(page)))
        await pilot.press("N")
        await until(pilot, lambda: "a Fig tree" in shown(reader(page)))
        await pilot.press("escape")
        assert page.focused is page.detail.entries
        assert at(page) == 4
        assert page.detail.finder.active
        await pilot.press("escape")
        assert not page.detail.finder.active
        assert not page.detail.finder.display
        assert marked(page.detail.entries) == []
        assert page.focused is page.detail.entries
        await pilot.press("escape")
        await until(pilot, lambda: page.focused is page.sessions)


async def test_it_opens_inside_an_open_actum(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        page.detail.go_to(7)
        await pilot.press("enter")
        await until(pilot, lambda: len(reader(page).blocks) > 1)
        await look_for(pilot, page, "fig", "4 hits")
        await pilot.press("enter")
        await until(pilot, lambda: "the last fig" in shown(reader(page)))
        assert page.focused is reader(page)


async def test_hits_that_are_switched_off_are_counted_apart(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        await look_for(pilot, page, "fig", "4 hits")
        await pilot.press("enter")
        page.action_switch("thought")
        page.action_switch("tool_response")
        await until(pilot, lambda: "2 hidden" in count(page))
        await entries_shown(pilot, page)
        page.detail.go_to(2)
        await pilot.press("n")
        await until(pilot, lambda: at(page) == 7)
        assert count(page) == "2 of 2 · 2 hidden"


async def test_unfolded_a_response_is_its_own_row(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        page.action_form()
        await entries_shown(pilot, page)
        await look_for(pilot, page, "tree", "2 hits")
        await pilot.press("enter", "n")
        await until(pilot, lambda: at(page) == 6)


async def test_what_is_nowhere_is_said_and_nothing_moves(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        await look_for(pilot, page, "quince", "no hit")
        await pilot.press("enter", "n", "N")
        await pilot.pause()
        assert at(page) == 2
        await pilot.press("escape")
        await pilot.press("n")
        await until(
            pilot, lambda: any("Nothing is looked for" in toast.message for toast in app._notifications)
        )
        await look_for(pilot, page, "--", "no word to look for")


async def test_what_arrives_is_counted_too(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        await look_for(pilot, page, "fig", "4 hits")
        append_elsewhere(figs, "figs", act("one more fig"))
        page.on_committed()
        await until(pilot, lambda: count(page) == "5 hits")


async def test_another_session_forgets_it_and_the_list_still_filters(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        await look_for(pilot, page, "fig", "4 hits")
        await pilot.press("escape")
        page.sessions.action_cursor_down()
        await until(pilot, lambda: not page.detail.finder.active)
        page.show_list()
        await until(pilot, lambda: page.focused is page.sessions)
        await pilot.press("slash", *"figs")
        await until(pilot, lambda: [row.id for row in page.sessions.visible_rows] == ["figs"])
        assert not page.detail.finder.active


async def test_what_found_the_session_is_looked_for_in_it(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", *"flag", "enter")
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "talk")
        await rows_shown(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: count(page) == "1 hit")
        assert page.detail.finder.display
        assert page.focused is page.detail.entries


async def test_a_filter_that_only_finds_the_owner_opens_no_box(figs: Path) -> None:
    app = app_on(figs)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", *"atlas", "enter")
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "talk")
        await rows_shown(pilot, app)
        page.detail.offer_find("maya nowhere")
        await until(pilot, lambda: not page.detail.finder.active)
        assert not page.detail.finder.display


@pytest.mark.parametrize("size", some([(60, 15), (80, 24), (120, 40), (200, 60)], 2))
async def test_it_works_at_every_size(figs: Path, size: tuple[int, int]) -> None:
    app = app_on(figs)
    async with app.run_test(size=size) as pilot:
        page = await rows_shown(pilot, app)
        await in_acta(pilot, page)
        await look_for(pilot, page, "fig", "4 hits")
        await pilot.press("enter", "n")
        await until(pilot, lambda: count(page) == "2 of 4")
        assert "2 of 4" in whole_screen(app)


def shown(pane: ActumPane) -> str:
    return "\n".join(pane.render_line(y).text for y in range(pane.size.height))


def marked(pane: ActumPane | EntryList) -> list[str]:
    """The texts that stand out on a pane."""
    return [
        segment.text
        for y in range(pane.size.height)
        for segment in pane.render_line(y)
        if segment.style is not None and segment.style.underline
    ]

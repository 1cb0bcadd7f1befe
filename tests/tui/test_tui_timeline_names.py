"""The Timeline narrowed by project, task, domain, agent and category: typed, chosen, remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from tests.tui.shell_probe import until, whole_screen
from tests.tui.timeline_probe import rows_shown, timeline
from tests.tui.travel_probe import make_story, story_app
from workbench.tui.app import WorkbenchApp
from workbench.tui.timeline.filter_dialog import TimelineFilterDialog
from workbench.tui.timeline.typed_filter import Typed, typed, with_terms
from workbench.workspace.rows import TimelineFilter


@pytest.fixture
def story(tmp_path: Path) -> Path:
    return make_story(tmp_path / "w")


def shown(app: WorkbenchApp) -> list[int]:
    return [row.position for row in timeline(app).events.visible_rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flag", Typed("flag", {})),
        ("project:atlas flag", Typed("flag", {"projects": ("atlas",)})),
        ('project:"Atlas App" is agent:X', Typed("is", {"projects": ("Atlas App",), "agents": ("X",)})),
        ("Project:a project:b project:a", Typed("", {"projects": ("a", "b")})),
        ("project: category:", Typed("", {})),
        ("http://x error:12 subproject:x", Typed("http://x error:12 subproject:x", {})),
        ('"project:atlas"', Typed('"project:atlas"', {})),
        ('task:"not closed', Typed("", {"tasks": ("not closed",)})),
    ],
)
def test_a_text_is_taken_apart(text: str, expected: Typed) -> None:
    assert typed(text) == expected


def test_terms_are_added_to_what_was_chosen() -> None:
    chosen = TimelineFilter(projects=("atlas",), actors=("maya",))
    wanted = with_terms(chosen, "project:comet project:atlas word")
    assert wanted == TimelineFilter(projects=("atlas", "comet"), actors=("maya",), text="word")


async def test_any_spelling_typed_into_the_line_finds_a_project_and_an_agent(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", *"project:atlas_app")
        await until(pilot, lambda: shown(app) == [12, 8, 7, 6, 5])
        await pilot.press("space", *"agent:PLANNER")
        await until(pilot, lambda: shown(app) == [8, 7, 6, 5])
        await pilot.press("space", *"handed", "enter")
        await until(pilot, lambda: shown(app) == [7])
        # On enter names become parts of the filter; the words stay in the line.
        assert page.filter_text == "handed"
        assert page.wanted == TimelineFilter(projects=("atlas_app",), agents=("PLANNER",), text="handed")
        assert "project atlas_app ×" in whole_screen(app)
        await pilot.press("minus", "minus")
        await until(pilot, lambda: page.wanted == TimelineFilter(text="handed"))
        await pilot.press("c")
        await until(pilot, lambda: len(shown(app)) == 12)


async def test_names_are_offered_and_remembered(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
        dialog = app.screen
        assert isinstance(dialog, TimelineFilterDialog)
        await until(pilot, lambda: dialog.query_one(Input).has_focus)
        lines = [str(option.prompt).split() for option in dialog.query_one(OptionList).options]
        assert ["atlas", "3"] in lines and ["comet", "1"] in lines and ["flag"] in lines
        for group, name in (("projects", "atlas"), ("categories", "decision"), ("agents", "planner")):
            dialog.highlight(group, name)
            dialog.action_choose()
        dialog.action_take()
        await until(pilot, lambda: shown(app) == [5])
    again = story_app(story)
    async with again.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, again)
        assert page.wanted == TimelineFilter(
            projects=("atlas",), agents=("planner",), categories=("decision",)
        )
        assert shown(again) == [5]


async def test_enter_takes_the_name_that_was_typed_where_nothing_was_chosen(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)

        async def narrowed_by(*keys: str) -> None:
            await pilot.press("f")
            await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
            await until(pilot, lambda: app.screen.query_one(Input).has_focus)
            await pilot.press(*keys, "enter")
            await until(pilot, lambda: app.screen is page)

        await narrowed_by(*"comet")
        assert page.wanted == TimelineFilter(projects=("comet",))
        # What is chosen already stays, and whoever only looked narrows to nothing.
        await narrowed_by(*"comet")
        await narrowed_by()
        assert page.wanted == TimelineFilter(projects=("comet",))


@pytest.mark.parametrize("width", [60, 120])
async def test_the_line_of_keys_says_whether_enter_takes_the_name_under_the_cursor(
    story: Path, width: int
) -> None:
    app = story_app(story)
    async with app.run_test(size=(width, 24)) as pilot:
        await rows_shown(pilot, app)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
        await until(pilot, lambda: app.screen.query_one(Input).has_focus)
        for keys, said in (
            ((), "enter show"),
            (tuple("comet"), "enter take it"),
            (("space",), "enter show"),
            (("space", "down"), "enter take it"),
        ):
            await pilot.press(*keys)
            line = f"space tick   {said}   ctrl-l clear   esc close"
            await until(pilot, lambda line=line: line in whole_screen(app))  # type: ignore[misc]


async def test_a_click_takes_a_name_where_nothing_was_chosen(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
        options = app.screen.query_one(OptionList)
        await until(pilot, lambda: options.size.height > 2)
        # The first line is a heading.
        await pilot.click(OptionList, offset=(4, 1))
        await until(pilot, lambda: app.screen is page)
        assert page.wanted != TimelineFilter()


async def test_a_name_that_nothing_has_finds_nothing(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        for wanted in (TimelineFilter(projects=("nope",)), TimelineFilter(agents=("\ud800",))):
            page.apply(wanted)
            await until(pilot, lambda: "No event matches the filter" in whole_screen(app))
            page.apply(TimelineFilter())
            await until(pilot, lambda: len(shown(app)) == 12)

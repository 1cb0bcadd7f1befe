"""The Timeline screen as a person uses it, on real workspaces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from tests.tui.shell_probe import screen_lines, until, whole_screen
from tests.tui.timeline_probe import (
    NOW,
    TALK,
    TimelineApp,
    app_on,
    append_elsewhere,
    entry,
    make_long,
    make_workspace,
    rows_shown,
    timeline,
)
from workbench.tui.app import WorkbenchApp
from workbench.tui.destinations import Destination, ToSession
from workbench.tui.dialogs.copy_menu import CopyMenu
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.page import Page
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.timeline.filter_dialog import TimelineFilterDialog
from workbench.workspace.rows import EventRow, TimelineFilter


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w", TALK)


def at(page: TimelinePage) -> int:
    row = page.cursor_event
    assert row is not None
    return row.position


def shown(page: TimelinePage) -> list[int]:
    return [row.position for row in page.events.visible_rows]


def detail(page: TimelinePage) -> str:
    pane = page.event_pane.pane
    return "\n".join(pane.render_line(y).text.rstrip() for y in range(pane.size.height))


def count_line(app: TimelineApp) -> str:
    return next(line for line in screen_lines(app) if "/ " in line)


async def test_newest_first_with_positions(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert shown(page) == [8, 7, 6, 5, 4, 3, 2, 1]
        assert "8–1 of 8" in count_line(app)
        screen = whole_screen(app)
        for said in ("Bash  git log --oneline", "begun for maya", "The importer behind", "planning  The pl"):
            assert said in screen
        assert "■ Unit closed" in detail(page)


async def test_the_event_under_the_cursor_is_shown(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.events.action_cursor_down()
        await rows_shown(pilot, app)
        # Berlin in winter.
        await until(pilot, lambda: "2026-03-01 10:58:05 +01:00" in detail(page))
        assert "The importer behind a flag" in detail(page)
        assert "● Message  planner · agent" in detail(page)
        assert "s1 · maya" in detail(page)
        await app.action_perform("timeline.utc")
        assert "2026-03-01 09:58:05 UTC" in detail(page)
        await app.action_perform("page.next_tab")
        assert '"position": 7,' in detail(page)
        await app.action_perform("page.previous_tab")
        assert "● Message" in detail(page)


async def test_holding_a_key_shows_the_last_event_only(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        seen: list[int] = []
        show = page.event_pane.show

        def noting(row: EventRow | None) -> None:
            seen.append(0 if row is None else row.position)
            show(row)

        page.event_pane.show = noting  # type: ignore[method-assign]
        for _ in range(7):
            page.events.action_cursor_down()
            await pilot.pause(0)
        await until(pilot, lambda: seen[-1:] == [1])
        assert len(seen) <= 3


async def test_filters_combine_and_one_key_clears_them(tmp_path: Path) -> None:
    app = app_on(make_long(tmp_path / "w", 1000))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.set_filter("comet")
        page.on_filter("comet")
        await until(pilot, lambda: page.wanted.text == "comet")
        await rows_shown(pilot, app)
        await until(pilot, lambda: shown(page) == list(range(1000, 99, -100)))
        await app.action_perform("timeline.narrow")
        await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
        app.screen.dismiss(TimelineFilter(text="comet", types=("actum.recorded",), actors=("planner",)))
        await until(pilot, lambda: page.wanted.actors == ("planner",))
        await until(pilot, lambda: "No event matches the filter" in whole_screen(app))
        assert "“comet” ×  ·  by planner ×" in whole_screen(app)
        assert "messages, thoughts, tool calls ×" in whole_screen(app)
        await until(pilot, lambda: page.cursor_event is None)
        await until(pilot, lambda: "Message" not in detail(page))
        await app.action_perform("timeline.clear")
        await rows_shown(pilot, app)
        await until(pilot, lambda: "1\u00a0000–970 of 1\u00a0000" in count_line(app))
        assert "clears" not in whole_screen(app)
        assert app.reason_of("timeline.clear") == "no filter is set"


async def test_a_filter_keeps_the_place(tmp_path: Path) -> None:
    app = app_on(make_long(tmp_path / "w", 1000))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("405")
        await until(pilot, lambda: page.cursor_event is not None and at(page) == 405)
        page.set_filter("comet")
        page.on_filter("comet")
        await until(pilot, lambda: page.wanted.text == "comet" and page.cursor_event is not None)
        assert at(page) == 400
        await until(pilot, lambda: page.events.status.total == 10)


async def test_typing_a_filter(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", "u", "n", "d", "o", "n", "e", "enter")
        await until(pilot, lambda: page.wanted.text == "undone" and shown(page) == [4])
        await pilot.press("escape")
        await until(pilot, lambda: not page.wanted and shown(page) == [8, 7, 6, 5, 4, 3, 2, 1])


async def test_going_to_positions_ids_and_dates(tmp_path: Path) -> None:
    app = app_on(make_long(tmp_path / "w", 1000))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await rows_shown(pilot, app)

        async def goes(text: str, position: int) -> None:
            page.goto(text)
            await until(pilot, lambda: page.cursor_event is not None and at(page) == position)

        await goes("500", 500)
        row = page.cursor_event
        assert row is not None
        await goes("1", 1)
        await goes(row.event_id, 500)
        for text, position, said in (
            ("2026-02-28", 1, "this is the first event"),
            ("2030-01-01", 1000, "this is the last event"),
        ):
            await goes(text, position)
            await until(pilot, lambda said=said: any(said in each.message for each in app._notifications))  # type: ignore[misc]
        page.goto("5000")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await until(pilot, lambda: "There is no event 5,000" in whole_screen(app))
        await pilot.press("escape")
        page.apply(type(page.wanted)(text="comet"))
        await until(pilot, lambda: page.events.status.total == 10)
        page.goto("650")
        await until(pilot, lambda: page.cursor_event is not None and at(page) == 600)
        await until(
            pilot, lambda: any("does not pass the filter" in toast.message for toast in app._notifications)
        )


async def copied(pilot: Pilot[None], app: TimelineApp, label: str) -> str:
    page = timeline(app)
    labels = [choice.label for choice in page.copy_choices()]
    app._clipboard = ""
    await app.action_perform("page.copy")
    await until(pilot, lambda: isinstance(app.screen, CopyMenu))
    app.screen.dismiss(labels.index(label))
    await until(pilot, lambda: app.clipboard != "")
    return app.clipboard


async def test_copying_an_event(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.events.go_to(3)
        assert await copied(pilot, app, "position") == "3"
        assert await copied(pilot, app, "text") == "Plan the move of the importer behind a flag."
        assert json.loads(await copied(pilot, app, "JSON"))["payload"]["actor"] == "maya"
        assert await copied(pilot, app, "id") == json.loads(await copied(pilot, app, "JSON"))["event_id"]
        assert (await copied(pilot, app, "command")).endswith("--after 2 --limit 1 --format json")


async def test_copying_several_events(talk: Path) -> None:
    append_elsewhere(talk, entry("long " * 20_000))
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await app.action_perform("page.select_range")
        page.events.action_cursor_down()
        page.events.action_cursor_down()
        lines = (await copied(pilot, app, "3 events as JSON lines")).splitlines()
        assert [json.loads(line)["position"] for line in lines] == [7, 8, 9]
        # What the list holds of the long one is its beginning; what is copied is the whole.
        assert len(json.loads(lines[2])["payload"]["content"]) == 100_000
        assert "3 selected" in count_line(app)


async def test_a_large_event_is_previewed_then_read(talk: Path) -> None:
    append_elsewhere(talk, entry("start " + "x" * 1_000_000 + " finish"))
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: page.event_pane.event is not None and page.event_pane.event.whole)
        assert "1.0 MB" in whole_screen(app)
        page.event_pane.pane.action_scroll_end()
        assert "finish" in detail(page)
        await app.action_perform("page.next_tab")
        await until(pilot, lambda: '"position": 9' in detail(page))


async def test_a_huge_event_is_read_when_it_is_entered(talk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.tui.timeline.event_pane.AT_ONCE_BYTES", 50_000)
    append_elsewhere(talk, entry("y" * 60_000 + " finish"))
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: "only its beginning is shown" in detail(page))
        page.events.action_open()
        await until(pilot, lambda: page.event_pane.event is not None and page.event_pane.event.whole)
        assert "only its beginning" not in detail(page)
        page.event_pane.pane.action_scroll_end()
        assert "finish" in detail(page)


async def test_the_newest_event_is_followed(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        append_elsewhere(talk, entry("just now"), entry("and now"))
        await until(pilot, lambda: page.cursor_event is not None and at(page) == 10, seconds=3)
        await until(pilot, lambda: "10–1 of 10" in count_line(app))
        assert "new" not in count_line(app)


async def test_what_arrives_moves_nothing_under_the_eyes(tmp_path: Path) -> None:
    root = make_long(tmp_path / "w", 300)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("150")
        await until(pilot, lambda: page.cursor_event is not None and at(page) == 150)
        await rows_shown(pilot, app)
        # The strip above the list, which grows by what arrives, is not what a person reads.
        before = [line.replace("▐", " ") for line in screen_lines(app)[8:38]]
        append_elsewhere(root, *(entry(f"arrival {number}") for number in range(12)))
        await until(pilot, lambda: "12 new ↑ g" in count_line(app), seconds=3)
        # The thumb may move: there is more above.
        assert [line.replace("▐", " ") for line in screen_lines(app)[8:38]] == before
        page.events.action_first()
        await until(pilot, lambda: page.cursor_event is not None and at(page) == 312)
        await until(pilot, lambda: "new" not in count_line(app))


async def test_an_empty_workspace_fills_up(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: "workbench import claude-code" in whole_screen(app))
        assert app.reason_of("page.copy") == "nothing here to copy"
        append_elsewhere(root, entry("the first"))
        await until(pilot, lambda: page.cursor_event is not None and at(page) == 1, seconds=3)
        await until(pilot, lambda: "the first" in detail(page))


async def run_and_remember(root: Path, *, filters: Sequence[str], goto: str) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        if filters:
            page.apply(type(page.wanted)(text=filters[0], actors=tuple(filters[1:])))
            await rows_shown(pilot, app)
        if goto:
            page.goto(goto)
            await until(pilot, lambda: page.cursor_event is not None and at(page) == int(goto))
            await rows_shown(pilot, app)


async def test_filters_and_place_are_remembered(tmp_path: Path) -> None:
    root = make_long(tmp_path / "w", 1000)
    await run_and_remember(root, filters=["comet", "maya", "line\nbreak", "[x]"], goto="300")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert page.wanted.text == "comet"
        assert page.filter_text == "comet"
        assert page.wanted.actors == ("maya", "line\nbreak", "[x]")
        assert at(page) == 300


async def test_who_left_at_the_newest_returns_to_the_newest(tmp_path: Path) -> None:
    root = make_long(tmp_path / "w", 300)
    await run_and_remember(root, filters=[], goto="")
    append_elsewhere(root, entry("later"))
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        assert at(await rows_shown(pilot, app)) == 301


async def test_the_filter_dialog(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        await app.action_perform("timeline.narrow")
        await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
        dialog = app.screen
        assert isinstance(dialog, TimelineFilterDialog)
        await until(pilot, lambda: dialog.query_one(Input).has_focus)
        # planner has three entries, maya and Bash one each.
        lines = [str(option.prompt) for option in dialog.query_one(OptionList).options]
        assert next(line.split()[0] for line in lines if line.split()[-1:] in (["3"], ["1"])) == "planner"
        # A name in any spelling.
        dialog.query_one(Input).value = "ACTUM.Recorded plan"
        await pilot.pause()
        assert "Nothing here is called that." in whole_screen(app)
        dialog.query_one(Input).value = "plan"
        await pilot.pause()
        await pilot.press("space")
        assert dialog.result == TimelineFilter(actors=("planner",))
        dialog.query_one(Input).value = "zzz"
        await pilot.pause()
        assert "Nothing here is called that." in whole_screen(app)
        dialog.action_choose()
        assert dialog.result == TimelineFilter(actors=("planner",))
        dialog.query_one(Input).value = ""
        await pilot.pause()
        # Letters are looked for; space, enter and the arrows are what acts.
        await pilot.press(*"jcg", "space")
        assert dialog.query_one(Input).value == "jcg"
        await pilot.press("ctrl+l")
        assert dialog.result == TimelineFilter()
        dialog.query_one(Input).value = "plan"
        await pilot.pause()
        await pilot.press("down", "up", "space", "enter")
        await until(pilot, lambda: page.wanted.actors == ("planner",) and shown(page) == [7, 5, 4])


async def test_a_name_that_is_gone_can_be_dropped(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
        page.apply(type(page.wanted)(actors=("nobody",), types=("old.type",)))
        await app.action_perform("timeline.narrow")
        await until(pilot, lambda: isinstance(app.screen, TimelineFilterDialog))
        dialog = app.screen
        assert isinstance(dialog, TimelineFilterDialog)
        assert dialog.result == TimelineFilter(types=("old.type",), actors=("nobody",))
        dialog.action_clear()
        dialog.action_take()
        await until(pilot, lambda: not page.wanted)


async def test_without_a_sessions_screen_that_is_said(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        assert app.reason_of("timeline.session") == "there is no Sessions screen"


class EntriesPage(Page):
    """A Sessions screen that notes what it is to show."""

    NAME, TITLE, NUMBER = "sessions", "Sessions", 2

    def __init__(self) -> None:
        super().__init__()
        self.arrivals: list[Destination] = []

    def arrive(self, destination: Destination) -> None:
        self.arrivals.append(destination)


class BothApp(TimelineApp):
    """Both screens."""

    PAGES = (EntriesPage, TimelinePage)


async def test_an_event_leads_to_its_session(talk: Path) -> None:
    app = BothApp(talk, screen="timeline", clock=lambda: NOW)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.events.go_to(5)
        await app.action_perform("timeline.session")
        await until(pilot, lambda: isinstance(app.page, EntriesPage))
        sessions = app.page
        assert isinstance(sessions, EntriesPage)
        await until(pilot, lambda: sessions.arrivals == [ToSession("s1", 5)])


async def test_the_programs_own_sessions_screen_opens(talk: Path) -> None:
    app = WorkbenchApp(talk, screen="timeline", clock=lambda: NOW)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.events.go_to(5)
        await app.action_perform("timeline.session")
        await until(pilot, lambda: app.page is not None and app.page.NAME == "sessions")
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(pilot, lambda: sessions.detail.entry is not None and sessions.detail.entry.actum.seq == 5)
        assert "The importer behind a flag" in whole_screen(app)


async def test_an_event_leads_to_its_act_whatever_sessions_showed(talk: Path) -> None:
    app = WorkbenchApp(talk, screen="sessions", clock=lambda: NOW)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.page, SessionsPage))
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(pilot, lambda: sessions.detail.entry is not None)

        async def from_the_timeline() -> None:
            await app.action_open_screen("timeline")
            page = await rows_shown(pilot, app)
            page.events.go_to(5)
            await rows_shown(pilot, app)
            await app.action_perform("timeline.session")
            await until(pilot, lambda: app.page is sessions)
            await until(pilot, lambda: sessions.focused is sessions.detail.entries)
            assert sessions.detail.side == "acta"
            assert sessions.detail.reading is None
            assert sessions.detail.entry is not None
            assert sessions.detail.entry.seq == 5

        for side in ("about", "window"):
            sessions.detail.go_to(3)
            sessions.detail.choose_side(side)
            await from_the_timeline()
        sessions.detail.go_to(3)
        sessions.detail.open_actum()
        await until(pilot, lambda: sessions.detail.reading is not None)
        await from_the_timeline()


async def test_ages_grow_together(tmp_path: Path) -> None:
    moments = [NOW]
    app = TimelineApp(make_workspace(tmp_path / "w", TALK), clock=lambda: moments[0])
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)

        def ages() -> set[str]:
            rows = (page.events.render_line(y).text for y in range(1, 9))
            return {row.split("d", 1)[0].split()[-1] for row in rows}

        assert ages() == {"3"}
        moments[0] = NOW + timedelta(days=4)
        page.events.action_cursor_down()
        await pilot.pause()
        assert ages() == {"3"}
        page._ages_passed()
        assert ages() == {"7"}


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 60)])
async def test_list_and_detail_at_every_size(talk: Path, size: tuple[int, int]) -> None:
    app = app_on(talk)
    async with app.run_test(size=size) as pilot:
        page = await rows_shown(pilot, app)
        page.events.action_open()
        await until(pilot, lambda: page.event_pane.pane.has_focus)
        assert "■ Unit closed" in whole_screen(app)
        await app.action_perform("page.back")
        await until(pilot, lambda: page.events.has_focus)
        assert "Bash  git" in whole_screen(app)

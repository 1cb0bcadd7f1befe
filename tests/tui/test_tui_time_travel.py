"""`t` shows what was known at an earlier moment on every screen that can, `T` comes back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from uuid import UUID

import pytest
from textual.pilot import Pilot

from tests.thorough import some
from tests.tui.pictures import sizes
from tests.tui.shell_probe import until, whole_screen, work_done
from tests.tui.timeline_probe import NOW, entry, rows_shown, timeline
from tests.tui.travel_probe import Named, make_story, story_app
from workbench.log import identifiers
from workbench.log.streams import session_stream
from workbench.memory import draft
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.time_travel import find_moment
from workbench.tui.timeline.places import NoSuchPlace
from workbench.workspace import Workspace


@pytest.fixture
def story(tmp_path: Path) -> Path:
    return make_story(tmp_path / "w")


def shown(app: WorkbenchApp) -> list[int]:
    return [row.position for row in timeline(app).events.visible_rows]


async def ask(pilot: Pilot[None], app: WorkbenchApp, text: str) -> None:
    """Press `t`, type a moment over what is offered, and give it."""
    await pilot.press("t")
    await until(pilot, lambda: isinstance(app.screen, PromptDialog))
    dialog = app.screen
    dialog.query_one("Input").value = text  # type: ignore[attr-defined]
    await pilot.press("enter")


async def test_the_moment_of_the_row_under_the_cursor_is_offered(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.events.go_to(8)
        await rows_shown(pilot, app)
        await pilot.press("t", "enter")
        await until(pilot, lambda: app.as_of is not None and shown(app) == [8, 7, 6, 5, 4, 3, 2, 1])
        assert "as of 2026-03-01 09:58 · position 8" in whole_screen(app)
        assert "T back to now" in whole_screen(app)
        assert page.cursor_event is not None and page.cursor_event.position == 8
        await pilot.press("T")
        await until(pilot, lambda: app.as_of is None and 12 in shown(app))
        assert "as of" not in whole_screen(app).splitlines()[0]


async def test_writing_is_unavailable_and_says_why(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await ask(pilot, app, "7")
        await until(pilot, lambda: app.as_of is not None)
        reason = "the program shows the past; T comes back to now"
        for action in ("timeline.quarantine", "timeline.verdict", "sessions.import", "redactions.scrub"):
            assert app.registry[action].reason(app) == reason
        await app.action_perform("app.now")
        assert app.registry["sessions.import"].reason(app) == ""


async def test_new_commits_do_not_move_the_past(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await ask(pilot, app, "9")
        await until(pilot, lambda: shown(app)[:1] == [9])
        with Workspace.open(story) as other:
            other.log.append(session_stream("s1"), [entry("new")])
        # The commit is heard of, and waits until the person comes back.
        await until(pilot, lambda: timeline(app)._stale)
        await app.action_perform("page.refresh")
        await rows_shown(pilot, app)
        assert shown(app)[:1] == [9]
        await pilot.press("T")
        await until(pilot, lambda: shown(app)[:1] == [13])


async def test_sessions_are_as_they_were(story: Path) -> None:
    app = story_app(story, "sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        page = app.page
        assert isinstance(page, SessionsPage)
        await until(pilot, lambda: "Second title" in whole_screen(app) and page.detail.looked)
        assert page.sessions.cursor_row is not None and page.sessions.cursor_row.acta == 3
        await ask(pilot, app, "2026-03-01 09:20")
        await until(pilot, lambda: "First title" in whole_screen(app) and "act 1 of 2" in whole_screen(app))
        assert "Second title" not in whole_screen(app)
        assert "Comet is another matter" not in whole_screen(app)
        assert "○ past   as of 2026-03-01 09:14 · position 4" in whole_screen(app)
        await pilot.press("T")
        await until(pilot, lambda: "Comet is another matter" in whole_screen(app))


async def test_a_hidden_screen_follows_when_it_is_shown_again(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.page, SessionsPage) and "Second" in whole_screen(app))
        await ask(pilot, app, "4")
        await until(pilot, lambda: "First title" in whole_screen(app))
        await pilot.press("3")
        await until(pilot, lambda: app.page is not None and app.page.NAME == "timeline")
        await until(pilot, lambda: shown(app) == [4, 3, 2, 1])


@pytest.mark.parametrize("screen", ["redactions", "jobs"])
async def test_screens_about_now_only_say_so(story: Path, screen: str) -> None:
    app = story_app(story, screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None and app.page is not None)
        assert "About now only" not in whole_screen(app)
        await ask(pilot, app, "4")
        await until(pilot, lambda: "▲ About now only" in whole_screen(app))
        await pilot.press("T")
        await until(pilot, lambda: "About now only" not in whole_screen(app))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("99", "Position 99 is still to come"),
        ("0", "Before position 1 nothing was recorded"),
        ("2031-01-01", "2031-01-01 00:00 is still to come"),
        ("2020-01-01", "Nothing was recorded yet at 2020-01-01 00:00"),
        ("blah blah", "This names no place on the timeline"),
    ],
)
async def test_a_moment_that_is_none_is_asked_for_again(story: Path, text: str, sentence: str) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await ask(pilot, app, text)
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and sentence in whole_screen(app))
        dialog = app.screen
        assert dialog.query_one("Input").value == text  # type: ignore[attr-defined]
        await pilot.press("escape")
        assert app.as_of is None


async def test_now_comes_back_and_nothing_is_remembered(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await ask(pilot, app, "5")
        await until(pilot, lambda: app.as_of is not None)
        await ask(pilot, app, "now")
        await until(pilot, lambda: app.as_of is None)
        await ask(pilot, app, "5")
        await until(pilot, lambda: app.as_of is not None)
    again = story_app(story)
    async with again.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, again)
        assert again.as_of is None


def test_a_time_means_what_was_recorded_up_to_then(story: Path) -> None:
    with Workspace.open(story) as workspace:
        reader = workspace.readers.timeline

        def at(text: str) -> int:
            return find_moment(reader, text, UTC, NOW).position

        assert at("2026-03-01 09:36:04") == 4
        assert at("2026-03-01 09:36:06") == 6
        assert at("3 days ago") == 12
        assert at("#7") == 7
        event = reader.event(8)
        assert event is not None and at(event.event_id) == 8
        with pytest.raises(NoSuchPlace):
            find_moment(reader, "9999-12-31", UTC, datetime(2026, 3, 4, tzinfo=UTC))


@pytest.mark.parametrize("size", some([(60, 15), (80, 24), (120, 40), (200, 60)], 2))
async def test_the_moment_is_said_at_every_size(story: Path, size: tuple[int, int]) -> None:
    app = story_app(story)
    async with app.run_test(size=size) as pilot:
        await rows_shown(pilot, app)
        await ask(pilot, app, "8")
        await until(pilot, lambda: app.as_of is not None)
        await pilot.pause()
        assert "as of 2026-03-01 09:58" in whole_screen(app).splitlines()[0]


@pytest.fixture
def counted_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that are the same at each run, as pictures need them."""
    numbers = count(1)

    def next_id() -> bytes:
        return UUID(int=0x019CAD9A << 96 | next(numbers)).bytes

    monkeypatch.setattr(identifiers, "new_event_id", next_id)
    monkeypatch.setattr(draft, "new_event_id", next_id)


@pytest.mark.parametrize("size", sizes(0, 2))
@pytest.mark.parametrize("screen", ["timeline", "sessions", "redactions"])
def test_as_of(
    snap_compare: Callable[..., bool],
    counted_ids: None,
    tmp_path: Path,
    size: tuple[int, int],
    screen: str,
) -> None:
    app = Named(make_story(tmp_path / "w"), screen=screen, clock=lambda: NOW)

    async def before(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.workspace is not None and app.page is not None)
        if screen == "timeline":
            await rows_shown(pilot, app)
        await ask(pilot, app, "8")
        await until(pilot, lambda: app.as_of is not None)
        if screen == "timeline":
            await rows_shown(pilot, app)
        await work_done(pilot)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=before)

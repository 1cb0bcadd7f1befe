"""From an event to its session, task, fact and cause, and with esc back to exactly the same place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.widgets import Static

from tests.tui.shell_probe import until, whole_screen
from tests.tui.timeline_probe import NOW, rows_shown, timeline
from tests.tui.travel_probe import make_story, story_app
from workbench.tui.app import WorkbenchApp
from workbench.tui.destinations import Destination, ToEvent, ToFact, ToTask
from workbench.tui.evidence_viewer import EvidenceViewer
from workbench.tui.page import Page
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.workspace import Workspace
from workbench.workspace.rows import TimelineFilter


@pytest.fixture
def story(tmp_path: Path) -> Path:
    return make_story(tmp_path / "w")


class Noting(Page):
    """A screen that notes where it was led to."""

    def __init__(self) -> None:
        super().__init__()
        self.arrivals: list[Destination] = []

    def compose_list(self) -> ComposeResult:
        yield Static("here")

    def arrive(self, destination: Destination) -> None:
        self.arrivals.append(destination)


class Handoffs(Noting):
    """Stands where tasks are shown."""

    NAME, TITLE, NUMBER = "handoffs", "Handoffs", 1


class Facts(Noting):
    """Stands where facts are shown."""

    NAME, TITLE, NUMBER = "facts", "Facts", 4


class DeskApp(WorkbenchApp):
    """The Timeline between the screens that it leads to."""

    PAGES = (Handoffs, SessionsPage, TimelinePage, Facts)


async def on_event(pilot: Any, app: WorkbenchApp, position: int) -> TimelinePage:
    page = await rows_shown(pilot, app)
    page.events.go_to(position)
    await until(pilot, lambda: page.links is not None and page.links.position == position)
    return page


def at(page: TimelinePage) -> int:
    """The position under the cursor; 0 where there is none."""
    return 0 if page.cursor_event is None else page.cursor_event.position


async def test_an_act_leads_to_its_session_and_esc_comes_back(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 4)
        page.apply(TimelineFilter(actors=("planner",)))
        await on_event(pilot, app, 4)
        page.event_pane.turn(1)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.page, SessionsPage))
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(pilot, lambda: sessions.detail.entry is not None and sessions.detail.entry.seq == 4)
        assert "esc back to Timeline" in whole_screen(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        assert page.wanted == TimelineFilter(actors=("planner",))
        assert page.cursor_event is not None and page.cursor_event.position == 4
        assert page.event_pane.tabs.active == "raw"
        assert "esc back to" not in whole_screen(app)


async def test_a_fact_and_a_checkpoint_lead_to_their_screens(story: Path) -> None:
    app = DeskApp(story, screen="timeline", clock=lambda: NOW)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 6)
        event = page.cursor_event
        assert event is not None
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.page, Facts) and bool(app.page.arrivals))
        assert isinstance(app.page, Facts)
        assert app.page.arrivals == [ToFact(event.event_id)]
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        await on_event(pilot, app, 8)
        assert page.cursor_event is not None
        checkpoint = page.cursor_event.event_id
        await pilot.press("h")
        await until(pilot, lambda: isinstance(app.page, Handoffs) and bool(app.page.arrivals))
        assert isinstance(app.page, Handoffs)
        assert app.page.arrivals == [ToTask("atlas", "flag", "global", checkpoint)]


async def test_a_cause_is_on_the_same_screen_and_esc_goes_back_step_by_step(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 8)
        page.apply(TimelineFilter(types=("checkpoint.recorded",)))
        await on_event(pilot, app, 8)
        await pilot.press("b")
        # The filter gives way: whoever is led to an event sees it.
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event.position == 7)
        assert not page.wanted
        await pilot.press("escape")
        await until(pilot, lambda: page.wanted == TimelineFilter(types=("checkpoint.recorded",)))
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event.position == 8)


async def test_an_act_of_a_session_is_shown_on_the_timeline_and_back(story: Path) -> None:
    app = story_app(story, "sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(pilot, lambda: sessions.detail.entry is not None)
        sessions.detail.go_to(4)
        await until(pilot, lambda: sessions.detail.entry is not None and sessions.detail.entry.seq == 4)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event.position == 4)
        # There and back, and back again: each esc takes one step.
        await pilot.press("o")
        await until(pilot, lambda: app.page is sessions)
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        await pilot.press("escape")
        await until(pilot, lambda: app.page is sessions)
        assert sessions.detail.entry is not None and sessions.detail.entry.seq == 4
        assert "esc back to" not in whole_screen(app)


async def test_who_opens_a_screen_has_left_the_way_back(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_event(pilot, app, 4)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.page, SessionsPage))
        await pilot.press("3", "2")
        await until(pilot, lambda: isinstance(app.page, SessionsPage))
        assert "esc back to" not in whole_screen(app)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.page, SessionsPage)


async def test_a_key_that_comes_before_the_event_was_read_waits_for_it(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 8)
        page._links = None
        await app.action_perform("timeline.cause")
        assert page.cursor_event is not None and page.cursor_event.position == 8
        page._show_links()
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event.position == 7)


async def test_what_an_event_does_not_have_says_so(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_event(pilot, app, 1)
        registry = app.registry
        assert registry["timeline.cause"].reason(app) == "no other event caused this one"
        assert registry["timeline.task"].reason(app) == "this event belongs to no task"
        assert registry["timeline.evidence"].reason(app) == "this event names no source file"
        await on_event(pilot, app, 5)
        # The observation was recorded in a session of the workspace.
        assert registry["timeline.session"].reason(app) == ""
        assert registry["timeline.quarantine"].reason(app) == "it asserts a fact: reject or supersede that"


async def test_an_event_after_the_moment_is_not_there(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_event(pilot, app, 4)
        await pilot.press("t", "enter")
        await until(pilot, lambda: app.as_of is not None)
        await app.lead_to(ToEvent(9))
        await until(pilot, lambda: "recorded after the moment that is shown" in whole_screen(app))
        await pilot.press("escape")
        assert timeline(app).cursor_event is not None


async def test_an_observation_leads_to_its_files(story: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("The flag is turned by hand.\n", "utf-8")
    with Workspace.open(story) as workspace:
        workspace.memory.record_event("See the notes.", project="atlas", source_files=[str(notes)])
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 13)
        assert "e evidence" in whole_screen(app)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, EvidenceViewer))
        await until(pilot, lambda: "The flag is turned by hand." in whole_screen(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)


async def test_a_filter_that_gave_way_is_there_again_at_the_next_visit(story: Path) -> None:
    own = TimelineFilter(types=("checkpoint.recorded",))
    app = story_app(story, "sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(pilot, lambda: sessions.detail.entry is not None)
        await pilot.press("3")
        page = await on_event(pilot, app, 8)
        page.apply(own)
        await pilot.press("2")
        sessions.detail.go_to(4)
        await until(pilot, lambda: sessions.detail.entry is not None and sessions.detail.entry.seq == 4)
        await pilot.press("o")
        await until(pilot, lambda: app.page is page and at(page) == 4)
        assert not page.wanted
        # What is kept for the next start is the person's own filter.
        app.save_state()
        assert "checkpoint.recorded" in app.state.of("timeline").values["types"]
        # Led on and back: the event that was hidden is still shown.
        await pilot.press("o", "escape")
        await until(pilot, lambda: app.page is page and at(page) == 4)
        assert not page.wanted
        await pilot.press("escape")
        await until(pilot, lambda: app.page is sessions and page.wanted == own)
        assert sessions.detail.entry is not None and sessions.detail.entry.seq == 4
        await pilot.press("3")
        await until(pilot, lambda: app.page is page and at(page) == 8)
        assert page.wanted == own


async def test_who_opens_another_screen_finds_the_own_filter_too(story: Path) -> None:
    own = TimelineFilter(types=("checkpoint.recorded",))
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 8)
        page.apply(own)
        await on_event(pilot, app, 8)
        await app.lead_to(ToEvent(4))
        await until(pilot, lambda: at(page) == 4)
        # The number of the screen that is shown changes nothing of what is looked at.
        await pilot.press("3")
        await pilot.pause()
        assert not page.wanted and at(page) == 4
        await pilot.press("2", "3")
        await until(pilot, lambda: app.page is page and page.wanted == own and at(page) == 8)


async def test_a_filter_set_where_the_person_was_led_counts(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 8)
        page.apply(TimelineFilter(types=("checkpoint.recorded",)))
        await on_event(pilot, app, 8)
        await app.lead_to(ToEvent(4))
        await until(pilot, lambda: at(page) == 4)
        page.apply(TimelineFilter(actors=("planner",)))
        await pilot.press("2", "3")
        await until(pilot, lambda: app.page is page)
        assert page.wanted == TimelineFilter(actors=("planner",))

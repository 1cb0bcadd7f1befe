"""Observations are withheld and released from the Timeline, for a reason; verdicts are given there."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.shell_probe import until, whole_screen
from tests.tui.test_tui_leading import on_event
from tests.tui.travel_probe import make_story, story_app
from workbench.tui.dialogs.verdict import VerdictDialog
from workbench.tui.timeline.withholding import WithholdDialog
from workbench.workspace import Workspace


@pytest.fixture
def story(tmp_path: Path) -> Path:
    return make_story(tmp_path / "w")


async def test_an_observation_is_withheld_and_released(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 9)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, WithholdDialog))
        assert "Somebody else's note." in whole_screen(app)
        await pilot.press("enter")
        await until(pilot, lambda: "say why, in a few words" in whole_screen(app))
        app.screen.query_one(Input).value = "It is not ours."
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is page)
        workspace = app.workspace
        assert workspace is not None
        withheld = workspace.memory.quarantined()
        assert [(each.observation.position, each.by, each.reason) for each in withheld] == [
            (9, "maya", "It is not ours.")
        ]
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event.quarantined)
        await until(pilot, lambda: page.links is not None and page.links.quarantined)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, WithholdDialog))
        assert "Release to agents" in whole_screen(app)
        app.screen.query_one(Input).value = "Looked at."
        await pilot.press("enter")
        await until(pilot, lambda: app.screen is page and not workspace.memory.quarantined())


async def test_what_another_program_withholds_is_said_in_the_detail_with_its_reason(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_event(pilot, app, 9)
        assert "withheld" not in whole_screen(app)
        with Workspace.open(story) as other:
            observation = other.readers.timeline.event(9)
            assert observation is not None and observation.withheld is None
            other.memory.quarantine(observation.event_id, reason="foreign", by="other")
            await until(pilot, lambda: "by other, event " in whole_screen(app))
            assert "foreign" in whole_screen(app)
            other.memory.release(observation.event_id, reason="it is ours", by="other")
            await until(pilot, lambda: "by other, event " not in whole_screen(app))


async def test_a_refusal_is_shown_and_what_was_typed_stays(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        await on_event(pilot, app, 9)
        await pilot.press("x")
        await until(pilot, lambda: isinstance(app.screen, WithholdDialog))
        field = app.screen.query_one(Input)
        field.value = "w" * 1001
        await pilot.press("enter")
        await until(
            pilot, lambda: "1 001 characters: shorten it to 1 000" in whole_screen(app).replace("\u00a0", " ")
        )
        assert len(field.value) == 1001
        with Workspace.open(story) as other:
            observation = other.readers.timeline.event(9)
            assert observation is not None
            other.memory.quarantine(observation.event_id, reason="first", by="other")
        field.value = "again"
        await pilot.press("enter")
        await until(pilot, lambda: not isinstance(app.screen, WithholdDialog))
        await until(pilot, lambda: "already" in str([each.message for each in app._notifications]))


async def test_a_verdict_is_given_on_a_checkpoint(story: Path) -> None:
    app = story_app(story)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await on_event(pilot, app, 8)
        assert page.links is not None
        checkpoint = page.links.target_id
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, VerdictDialog))
        assert "Put it behind a flag" in whole_screen(app)
        await pilot.press("q", "enter")
        workspace = app.workspace
        assert workspace is not None
        await until(pilot, lambda: bool(workspace.memory.reviews(target_id=checkpoint).reviews))
        review = workspace.memory.reviews(target_id=checkpoint).reviews[0]
        assert (review.verdict, review.reviewer) == ("questioned", "maya")

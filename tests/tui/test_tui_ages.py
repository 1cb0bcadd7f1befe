"""The ages of list and detail are counted from one moment, and renewing them moves nothing."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

from tests.tui import facts_probe, handoffs_probe
from tests.tui.shell_probe import until, whole_screen
from tests.workspace.handoff_cases import make_desk, make_hostile_desk

WEEKS = timedelta(days=70)


def days_held(shown: str) -> int:
    """The age that the head of the fact, and its row have in common."""
    found = re.search(r"current for (\d+)\sd\b", shown)
    assert found is not None
    days = int(found[1])
    assert len(re.findall(rf"\b{days}\sd\b", shown)) > 1, "the list has another age than the detail"
    return days


async def test_a_fact_ages_in_its_chain_as_in_the_list(tmp_path: Path) -> None:
    moments = [facts_probe.NOW]
    app = facts_probe.FactsApp(
        facts_probe.chain_of(tmp_path / "w", 20), clock=lambda: moments[0], screen="facts"
    )
    async with app.run_test(size=(120, 40)) as pilot:
        page = await facts_probe.rows_shown(pilot, app)
        page.facts.action_open()
        await until(pilot, lambda: page.focused_in_detail())
        for _ in range(7):
            page.pane.chain.action_cursor_down()
        before = (page.pane.chain.cursor_key, page.pane.chain._view.top, page.pane.chain._view.offset)
        held = days_held(whole_screen(app))
        moments[0] += timedelta(days=4)
        page._ages_passed()
        await pilot.pause()
        assert days_held(whole_screen(app)) == held + 4
        # What somebody else records renews the moment too.
        moments[0] += timedelta(days=1)
        page.on_committed()
        await facts_probe.settled(pilot, app)
        assert days_held(whole_screen(app)) == held + 5
        after = (page.pane.chain.cursor_key, page.pane.chain._view.top, page.pane.chain._view.offset)
        assert after == before


async def test_a_hand_off_ages_on_its_sides_when_its_screen_is_shown_again(tmp_path: Path) -> None:
    moments = [handoffs_probe.NOW]
    app = handoffs_probe.HandoffsApp(make_desk(tmp_path / "w"), clock=lambda: moments[0], screen="handoffs")
    async with app.run_test(size=(120, 40)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        before = handoffs_probe.detail_text(page)
        await app.action_open_screen("timeline")
        moments[0] += WEEKS
        await app.action_open_screen("handoffs")
        await handoffs_probe.settled(pilot, app)
        assert handoffs_probe.detail_text(page) != before


async def test_ages_leave_whoever_reads_a_long_checkpoint_where_they_are(tmp_path: Path) -> None:
    moments = [handoffs_probe.NOW]
    app = handoffs_probe.HandoffsApp(
        make_hostile_desk(tmp_path / "w"), clock=lambda: moments[0], screen="handoffs"
    )
    async with app.run_test(size=(80, 24)) as pilot:
        page = await handoffs_probe.shown(pilot, app)
        page.handoffs.action_open()
        lines = page.pane.lines
        await until(pilot, lambda: lines.has_focus)
        # The goal alone is longer than the screen: its cursor is somewhere above what is read.
        for _ in range(5):
            lines.action_scroll_down()
        before, text = (lines._view.top, lines._view.offset), handoffs_probe.detail_text(page)
        assert before != (0, 0)
        moments[0] += timedelta(days=4)
        page._ages_passed()
        await pilot.pause()
        assert handoffs_probe.detail_text(page) != text
        assert (lines._view.top, lines._view.offset) == before

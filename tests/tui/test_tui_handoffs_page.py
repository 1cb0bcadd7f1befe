"""The Handoffs screen: what it shows, and what each of its keys does, on a real workspace."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.tui.handoffs_probe import (
    NOW,
    HandoffsApp,
    app_on,
    detail_text,
    handoffs_page,
    names,
    settled,
    shown,
)
from tests.tui.shell_probe import screen_lines, until, whole_screen
from tests.workspace.handoff_cases import Desk, make_desk
from workbench.tui.destinations import ToTask
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.dialogs.verdict import VerdictDialog
from workbench.tui.evidence_viewer import EvidenceViewer
from workbench.tui.handoffs.desk_rows import FactPick, FilePick
from workbench.tui.screens.handoffs import HandoffsPage, _of_them
from workbench.tui.screens.timeline import TimelinePage
from workbench.workspace import Workspace
from workbench.workspace.rows import HandoffFilter

OPEN = ["lumen/thumb-cache", "atlas/docs-refresh", "orbit/rate-limits", "atlas/importer-v2"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_desk(tmp_path / "w")


async def test_open_tasks_stand_by_their_latest_checkpoint_with_what_needs_a_look(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        assert names(page) == OPEN
        alarms = {row.task_id: row.alarms for row in page.handoffs.visible_rows}
        assert alarms["importer-v2"]._asdict() == {
            "claims": 0,
            "missing": 0,
            "standing": 1,
            "dropped": 1,
            "disputed": 0,
            "quarantined": 0,
        }
        assert (alarms["rate-limits"].claims, alarms["rate-limits"].missing) == (1, 1)
        assert page.waiting == 3
        assert "3 to review" in whole_screen(app)
        assert re.search(r"1 Handoffs +3 ", whole_screen(app)), "the navigation says so on every screen"
        await pilot.press("3")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))
        assert re.search(r"1 Handoffs +3 ", whole_screen(app))


async def test_the_checkpoint_says_what_is_new_stands_was_dropped_and_lacks_evidence(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 60)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("G")
        await shown(pilot, app)
        text = detail_text(page)
        assert "claude · 3 d ago · 2nd of 2" in text
        assert "1 question carried over · 1 step dropped" in text
        assert "✓ Wire the flag through the manifest   new" in text
        assert "■ Parser fuzzed for 10 minutes, no crash" in text
        assert "evidence archived: notes.txt" in text
        assert "stands for 2 checkpoints" in text
        assert "⊘ Delete the old parser" in text
        assert "+ parser.mode   lenient" in text
        await pilot.press("k")
        await shown(pilot, app)
        text = detail_text(page)
        assert "□ Import of the 1 GB sample stays under 200 MB\n    no evidence" in text
        assert "✗ /nowhere/limits.log" in text


async def test_filters_and_toggles_narrow_and_widen_the_list(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("w")
        await shown(pilot, app)
        assert names(page) == [OPEN[0], *OPEN[2:]]
        await pilot.press("d")
        await shown(pilot, app)
        assert len(names(page)) == 3, "closed tasks do not wait"
        await pilot.press("w")
        await shown(pilot, app)
        assert names(page) == ["orbit/old-plan", "orbit/retry-queue", *OPEN]
        await pilot.press("slash", *"orbit limit", "enter")
        await shown(pilot, app)
        assert names(page) == ["orbit/rate-limits"]
        await pilot.press("c")
        await shown(pilot, app)
        assert names(page) == OPEN
        await pilot.press("s")
        await shown(pilot, app)
        assert names(page) == sorted(OPEN)


async def test_a_line_is_questioned_and_the_next_agent_is_told(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 60)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("j", "j")
        await shown(pilot, app)
        await pilot.press("enter", "j", "j")
        await until(pilot, lambda: page.picked is not None and "1 GB" in str(page.picked))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#said")))
        assert "Verification, line 1 · orbit/rate-limits" in whole_screen(app)
        await pilot.press("q", "tab", *"Where?", "ctrl+s")
        await until(pilot, lambda: "questioned by ada" in detail_text(page))
        await until(pilot, lambda: page.waiting == 2)
        await settled(pilot, app)
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: page.pane.side == "next" and page.pane.ready)
        text = detail_text(page)
        assert "Where?" in text
        assert "characters · about" in text
    with Workspace.open(root) as workspace:
        review = workspace.memory.reviews().reviews[0]
        assert (review.verdict, review.comment) == ("questioned", "Where?")
        assert review.line == "Import of the 1 GB sample stays under 200 MB"


async def test_selected_checkpoints_are_accepted_together_after_one_question(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        assert "A accept" not in screen_lines(app)[-1]
        await pilot.press("space", "j", "j", "space")
        await until(pilot, lambda: screen_lines(app)[-1].startswith(" A accept 2   esc drop selection   "))
        await pilot.press("A")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "Accept the 2 checkpoints?" in whole_screen(app)
        assert "1 of them has something that needs a look" in whole_screen(app)
        await pilot.press("y")
        await until(pilot, lambda: page.waiting == 1)
        assert page.handoffs.selected_rows == []
        await until(pilot, lambda: "drop selection" not in screen_lines(app)[-1])
    with Workspace.open(root) as workspace:
        accepted = [each.verdict for each in workspace.memory.reviews().reviews[:2]]
        assert accepted == ["accepted", "accepted"]


async def test_u_goes_round_what_waits(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        seen = []
        for key in ("u", "u", "u", "U"):
            before = page.cursor_handoff
            await pilot.press(key)
            await until(pilot, lambda: page.cursor_handoff not in (before, None))  # noqa: B023
            row = page.cursor_handoff
            assert row is not None
            seen.append(row.task_id)
        assert seen == ["rate-limits", "importer-v2", "thumb-cache", "importer-v2"]


async def test_what_is_handed_off_meanwhile_is_announced_and_the_cursor_stays_with_its_task(
    root: Path,
) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 14 + 10)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("j", "j")
        await shown(pilot, app)
        with Desk(root, new=False) as desk:
            desk.hand_off("nova/first-light", "Point the dish")
        await until(pilot, lambda: len(names(page)) == 5 or "1 new" in whole_screen(app))
        row = page.cursor_handoff
        assert row is not None and row.task_id == "rate-limits"
        with Desk(root, new=False) as desk:
            desk.hand_off("orbit/rate-limits", "Raise the limit on both hosts")
        await until(pilot, lambda: "both hosts" in detail_text(page))
        row = page.cursor_handoff
        assert row is not None and row.task_id == "rate-limits"


async def test_two_checkpoints_are_compared_and_esc_comes_back(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(200, 60), notifications=True) as pilot:
        page = await shown(pilot, app)
        await pilot.press("G")
        await shown(pilot, app)
        page.pane.show_side("history")
        await until(pilot, lambda: page.pane.ready)
        await pilot.press("enter")
        await until(pilot, lambda: page.pane.lines.has_focus)
        await pilot.press("enter")
        await until(pilot, lambda: page.pane.comparing)
        text = detail_text(page)
        assert "= Streaming parser with a bounded buffer" in text
        assert "⊘ Delete the old parser" in text
        assert "│" in text
        await pilot.press("escape")
        assert not page.pane.comparing
        assert page.pane.lines.has_focus
        await pilot.press("j", "enter")
        await until(pilot, lambda: "first checkpoint" in whole_screen(app))


async def test_a_line_leads_to_the_events_near_it(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        row = page.cursor_handoff
        assert row is not None
        await pilot.press("enter")
        await until(pilot, lambda: page.pane.lines.has_focus)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))
        timeline = app.page
        assert isinstance(timeline, TimelinePage)
        await until(
            pilot,
            lambda: timeline.cursor_event is not None and timeline.cursor_event.position == row.position,
        )
        await pilot.press("escape")
        await until(pilot, lambda: app.page is page)
        assert page.cursor_handoff == row
        await until(pilot, lambda: page.pane.lines.has_focus)


async def test_somebody_is_led_to_a_task_and_to_an_earlier_checkpoint_of_it(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        with Workspace.open(root) as workspace:
            reader = workspace.readers.handoffs
            row = reader.page(HandoffFilter("importer"), 1).rows[0]
            first = reader.history(row.position)[-1]
        await app.lead_to(ToTask("orbit", "old-plan"))
        await until(
            pilot, lambda: page.cursor_handoff is not None and page.cursor_handoff.task_id == "old-plan"
        )
        assert page.wanted.closed, "it is closed: the list shows such tasks, too"
        await app.lead_to(ToTask("atlas", "importer-v2", checkpoint_id=first.id))
        await until(pilot, lambda: page.cursor_handoff == row and page.pane.side == "history")
        await pilot.press("escape")
        await until(
            pilot, lambda: page.cursor_handoff is not None and page.cursor_handoff.task_id == "old-plan"
        )
        assert page.pane.side == "checkpoint"


async def test_a_filter_that_gave_way_to_a_task_comes_back_when_the_way_ends(root: Path) -> None:
    own = HandoffFilter("thumb", waiting=True)
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        page._apply(own)
        await shown(pilot, app)
        await app.action_open_screen("timeline")
        await app.lead_to(ToTask("orbit", "old-plan"))
        await until(
            pilot, lambda: page.cursor_handoff is not None and page.cursor_handoff.task_id == "old-plan"
        )
        assert page.wanted == HandoffFilter(closed=True)
        # What is kept for the next start is the person's own filter.
        app.save_state()
        assert app.state.of("handoffs").values["text"] == "thumb"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.page, TimelinePage) and page.wanted == own)
        # A filter that is set where the person was led counts.
        await app.lead_to(ToTask("orbit", "old-plan"))
        await until(pilot, lambda: page.wanted == HandoffFilter(closed=True))
        await app.action_perform("handoffs.waiting")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))
        assert page.wanted == HandoffFilter(closed=True, waiting=True)


async def test_time_travel_shows_the_desk_as_it_was_and_gives_no_verdict(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await shown(pilot, app)
        with Workspace.open(root) as workspace:
            moment = workspace.readers.handoffs.page(HandoffFilter("importer"), 1).rows[0]
        await pilot.press("t", *str(moment.position), "enter")
        await until(pilot, lambda: names(page) == ["atlas/importer-v2"])
        await pilot.press("r")
        assert not isinstance(app.screen, VerdictDialog)
        await pilot.press("T")
        await until(pilot, lambda: names(page) == OPEN)


async def test_a_task_is_gone_to_by_its_name_and_a_filter_that_hides_it_gives_way(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("colon", *"orbit/old-plan", "enter")
        await until(
            pilot, lambda: page.cursor_handoff is not None and page.cursor_handoff.task_id == "old-plan"
        )
        await pilot.press("colon", *"nothing-like-it", "enter")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and app.screen.refused is not None)
        await until(pilot, lambda: "o task goes by" in whole_screen(app))


async def test_read_only_says_why_no_verdict_can_be_given(root: Path) -> None:
    app = app_on(root, read_only=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await shown(pilot, app)
        await pilot.press("r")
        await until(pilot, lambda: "opened read-only" in whole_screen(app))
        assert handoffs_page(app) is app.screen


async def test_the_forms_to_copy(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        choices = {choice.label: choice.resolve() for choice in page.copy_choices()}
        row = page.cursor_handoff
        assert row is not None
        assert choices["id of the checkpoint"] == row.checkpoint_id
        assert choices["text of the checkpoint"].startswith("Goal: Cut cold start below 200 ms\n")
        assert choices["startup command"].endswith("--project lumen --task-id thumb-cache")
        assert '"goal": "Cut cold start below 200 ms"' in choices["JSON of the checkpoint"]
        await pilot.press("v", "j")
        selected = {choice.label: choice.resolve() for choice in page.copy_choices()}
        assert len(selected["2 tasks: ids of the checkpoints"].splitlines()) == 2


async def test_the_other_sides_show_what_came_meanwhile(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("right_square_bracket")
        await shown(pilot, app)
        assert "1 entry" in detail_text(page)
        await pilot.press("left_square_bracket")
        with Desk(root, new=False) as desk:
            desk.entry("lumen/thumb-cache", "Measured again", source_files=["/nowhere/times.txt"])
        await until(pilot, lambda: page.pane.data("since") is None)
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "Measured again" in detail_text(page))
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: "/nowhere/times.txt" in detail_text(page))
        assert "missing: it was not there when it was named" in detail_text(page)


async def test_a_file_that_comes_in_above_moves_the_cursor_off_no_file(root: Path) -> None:
    with Desk(root, new=False) as desk:
        for name in ("a.txt", "b.txt", "c.txt"):
            desk.entry("lumen/thumb-cache", f"Named {name}", source_files=[f"/nowhere/{name}"])
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        page.pane.show_side("evidence")
        await until(pilot, lambda: page.pane.ready)
        page.pane.lines.focus()
        await pilot.press("j")
        await settled(pilot, app)
        held = page.pane.pick
        assert isinstance(held, FilePick)
        first = next(row.pick for row in page.pane.lines._window.rows if row.pick is not None)
        assert held != first, "the cursor stands further down"
        with Desk(root, new=False) as desk:
            desk.entry("lumen/thumb-cache", "Another", source_files=["/nowhere/d.txt", "/nowhere/e.txt"])
        await until(pilot, lambda: "/nowhere/e.txt" in detail_text(page))
        await settled(pilot, app)
        assert page.pane.pick == held


async def test_a_moment_of_the_past_shows_list_and_detail_as_they_were(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Workspace.open(root) as workspace:
        first = workspace.readers.handoffs.history(
            workspace.readers.handoffs.page(HandoffFilter("importer"), 1).rows[0].position
        )[-1]
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("G")
        await shown(pilot, app)
        monkeypatch.setattr(HandoffsPage, "as_of", property(lambda self: first.position))
        page.on_as_of_changed()
        await until(pilot, lambda: names(page) == ["atlas/importer-v2"] and page.pane.detail is not None)
        assert "1st of 1" in detail_text(page)
        page.pane.show_side("next")
        await until(pilot, lambda: page.pane.ready)
        assert "Delete the old parser" in detail_text(page)
        monkeypatch.setattr(HandoffsPage, "as_of", property(lambda self: None))
        page.on_as_of_changed()
        await until(pilot, lambda: names(page) == OPEN)
        row = page.cursor_handoff
        assert row is not None
        assert row.task_id == "importer-v2"


async def test_what_was_looked_at_is_remembered(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("s", "w", "right_square_bracket", "right_square_bracket", "G")
        await shown(pilot, app)
        row = page.cursor_handoff
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        assert page.cursor_handoff == row
        assert (page.order, page.wanted, page.pane.side) == (
            "project",
            HandoffFilter(waiting=True),
            "evidence",
        )


async def test_facts_and_entries_are_judged_where_they_are_shown(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 60)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("G")
        await shown(pilot, app)
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: page.pane.ready)
        await pilot.press("enter", "j")
        await until(pilot, lambda: isinstance(page.picked, FactPick))
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#said")))
        assert "parser.mode = lenient" in whole_screen(app)
        await pilot.press("r", "enter")
        await until(
            pilot,
            lambda: page.cursor_handoff is not None and page.cursor_handoff.alarms.disputed == 1,
        )
        await until(pilot, lambda: "rejected by ada" in detail_text(page))
        assert "Nothing came since." in detail_text(page)
        await pilot.press("left_square_bracket")
        await until(pilot, lambda: "✗ disputed" in detail_text(page))
    with Workspace.open(root) as workspace:
        review = workspace.memory.reviews().reviews[0]
        assert (review.target_kind, review.verdict) == ("fact", "rejected")


async def test_evidence_opens_in_the_viewer(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("G")
        await shown(pilot, app)
        await pilot.press("e")
        await until(pilot, lambda: page.pane.side == "evidence" and page.pane.lines.has_focus)
        await until(pilot, lambda: isinstance(page.picked, FilePick))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EvidenceViewer))
        await until(pilot, lambda: "fuzzed for ten minutes" in whole_screen(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)
        assert page.pane.lines.has_focus


async def test_what_waits_stands_in_the_navigation_before_the_screen_was_shown(root: Path) -> None:
    app = HandoffsApp(root, clock=lambda: NOW, screen="timeline")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "1 Handoffs 3" in " ".join(whole_screen(app).split()))
        assert [page.NAME for page in app.built_pages()] == ["timeline"]
        with Workspace.open(root) as other:
            row = other.readers.handoffs.page(HandoffFilter(waiting=True), 1).rows[0]
            other.review("checkpoint", row.checkpoint_id, "accepted")
        await until(pilot, lambda: "1 Handoffs 2" in " ".join(whole_screen(app).split()))
        # In the past less waited.
        with Workspace.open(root, read_only=True) as other:
            first = other.readers.handoffs.waiting(as_of=2)
        assert first < 2
        await pilot.press("t", "2", "enter")
        await until(pilot, lambda: app.as_of is not None and app.needs_of("handoffs") == first)
        assert app.navigation_entries()[0].waiting == first


@pytest.mark.parametrize(("width", "height", "named"), [(60, 15, True), (120, 40, False)])
async def test_the_detail_names_its_task_where_the_list_is_hidden(
    root: Path, width: int, height: int, named: bool
) -> None:
    app = app_on(root)
    async with app.run_test(size=(width, height)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: page.focused_in_detail())
        await settled(pilot, app)
        if named:
            assert "lumen/thumb-cache" in whole_screen(app)
        assert bool(page.pane.task_line.region) is named


async def test_the_detail_names_a_task_whose_name_the_list_cuts(root: Path) -> None:
    name = "lumen/" + "a-very-long-name-of-a-task-" * 2 + "end"
    with Desk(root, new=False) as desk:
        desk.hand_off(name, "Be named")
    app = app_on(root)
    async with app.run_test(size=(160, 40)) as pilot:
        page = await shown(pilot, app)
        await until(pilot, lambda: name in whole_screen(app))
        await pilot.press("j")
        await until(pilot, lambda: not page.pane.task_line.region)


async def test_what_was_questioned_already_is_told_before_it_is_accepted_with_others(root: Path) -> None:
    with Workspace.open(root) as workspace:
        rows = workspace.readers.handoffs.page(HandoffFilter(), 9).rows
        row = next(each for each in rows if each.task_id == "importer-v2")
        workspace.review("checkpoint", row.checkpoint_id, "questioned", "Why?")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        page.handoffs.action_last()
        await shown(pilot, app)
        await pilot.press("space", "A")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "It was questioned already: this accepts it after all" in whole_screen(app)


@pytest.mark.parametrize(
    ("count", "of", "said"),
    [(1, 1, "It"), (2, 2, "Both"), (3, 3, "All 3"), (1, 2, "1 of them"), (2, 3, "2 of them")],
)
def test_a_warning_says_of_how_many_of_the_selected_tasks_it_is(count: int, of: int, said: str) -> None:
    assert _of_them(count, of) == said


async def test_esc_says_that_it_leaves_the_detail_and_what_cannot_be_done_makes_room(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await shown(pilot, app)
        assert "esc" not in screen_lines(app)[-1]
        await pilot.press("enter")
        await until(pilot, lambda: screen_lines(app)[-1].startswith(" esc back   "))
        await pilot.press("escape")
        await until(pilot, lambda: "esc" not in screen_lines(app)[-1])

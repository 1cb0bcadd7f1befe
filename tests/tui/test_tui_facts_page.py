"""The Facts screen as a person uses it, on real workspaces: list, filter, order, chain, and the ways out."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.facts_probe import (
    NOW,
    START,
    FactsApp,
    app_on,
    chain_of,
    facts_page,
    full,
    make_workspace,
    put,
    rows_shown,
    settled,
    wide,
)
from tests.tui.shell_probe import screen_lines, until, whole_screen
from workbench.tui.destinations import ToFact
from workbench.tui.dialogs.choose import ChooseDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.dialogs.verdict import VerdictDialog
from workbench.tui.evidence_viewer.viewer import EvidenceViewer
from workbench.tui.facts.stops import FactStop, LinkStop
from workbench.tui.moments import AsOf
from workbench.tui.screens.facts import FactsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.watch import Committed
from workbench.workspace import Workspace
from workbench.workspace.fact_rows import FactFilter


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return full(tmp_path / "w")


def slots(page: FactsPage) -> list[str]:
    return [row.slot for row in page.facts.visible_rows]


def count_line(app: FactsApp) -> str:
    return next(line for line in screen_lines(app) if "/ " in line)


def stop_at(page: FactsPage) -> str:
    """The value that the chain's cursor stands on."""
    stop = page.pane.stop
    assert isinstance(stop, LinkStop | FactStop)
    return stop.link.fact.value if isinstance(stop, LinkStop) else f"{stop.group}: {stop.row.value}"


async def test_newest_first_with_kind_number_of_values_scope_and_marks(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(200, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert slots(page) == [
            "team.language",
            "release.day",
            "release.day",
            "worker.count",
            "queue.backend",
            "rate.limit",
            "deploy.target",
            "deploy.target",
            "rollback.plan",
        ]
        await until(pilot, lambda: "1–9 of 9" in count_line(app))
        lines = {line[:90] for line in screen_lines(app)}
        for mark, slot in (
            ("!", "rate.limit"),
            ("≠", "release.day"),
            ("▲", "queue.backend"),
            ("✓", "deploy.target"),
        ):
            assert any(mark in line and slot in line for line in lines), mark
        screen = whole_screen(app)
        for said in ("blue/green pair", "orbit · coder", "assumption", "decision", "since↓"):
            assert said in screen
        # The same as a table, where the list is wide.
        await pilot.press("plus", "plus")
        await until(pilot, lambda: any("scope" in line and "author" in line for line in screen_lines(app)))
        assert any(
            "atlas" in line and "deploy.target" in line and "blue/green pair" in line and "claude" in line
            for line in screen_lines(app)
        )


def said_on_screen(app: FactsApp, said: str) -> bool:
    return said in whole_screen(app)


async def test_who_replaced_what_most_often_is_two_keys_away(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        at = page.cursor_fact
        assert at is not None
        for said in (" · by scope and slot", " · most replaced first"):
            await pilot.press("s")
            await until(pilot, partial(said_on_screen, app, said))
            await rows_shown(pilot, app)
            # The cursor stays on its fact.
            await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.id == at.id)
        await pilot.press("g")
        await until(pilot, lambda: slots(page)[:1] == ["deploy.target"] and page.cursor_fact is not None)
        await until(pilot, lambda: "3rd value" in whole_screen(app))
        screen = whole_screen(app)
        assert "values↓" in screen and "3rd value" in screen
        for said in (
            "claude",
            "codex",
            "glm",
            "confirmed by claude",
            "✓ accepted by ada",
            "▲ 1 fact built on it",
        ):
            assert said in screen
        await pilot.press("s")
        await until(pilot, lambda: page.order == "newest" and slots(page)[:1] == ["team.language"])


async def test_the_chain_is_walked_link_by_link_and_leads_to_the_event(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("deploy.target")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.project == "orbit")
        page.goto("5")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.project == "atlas")
        await rows_shown(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: page.focused_in_detail())
        seen = [stop_at(page)]
        for _ in range(4):
            await pilot.press("j")
            seen.append(stop_at(page))
        assert seen == [
            "blue/green pair",
            "two servers",
            "staging cluster",
            "elsewhere: single host",
            "built 2: by hand",
        ]
        await pilot.press("k", "k", "k")
        assert stop_at(page) == "two servers"
        position = page.target_position
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))
        timeline = app.page
        assert isinstance(timeline, TimelinePage)
        await until(
            pilot, lambda: timeline.cursor_event is not None and timeline.cursor_event.position == position
        )
        assert timeline.cursor_event is not None and timeline.cursor_event.type == "fact.asserted"
        # Back is where it was.
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.page, FactsPage))
        await until(pilot, lambda: page.focused_in_detail())
        assert stop_at(page) == "two servers"


async def test_another_fact_of_the_detail_is_gone_to_in_the_list(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("release.day")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.values == 2)
        await rows_shown(pilot, app)
        assert "2 current values under several spellings" in whole_screen(app)
        was = page.cursor_fact
        page.apply(FactFilter(text="wednesday"))
        await rows_shown(pilot, app)
        await pilot.press("enter", "j")
        assert isinstance(page.pane.stop, FactStop) and page.pane.stop.group == "rivals"
        await pilot.press("enter")
        # The filter would hide it.
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.value == "Tuesday")
        assert page.wanted == FactFilter() and page.cursor_fact != was and not page.focused_in_detail()


async def test_words_narrow_as_they_are_typed_and_esc_clears_them(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", *"orbit")
        await until(pilot, lambda: page.wanted.text == "orbit" and len(slots(page)) == 4)
        await pilot.press("enter")
        await until(pilot, lambda: "1–4 of 4" in whole_screen(app) or " 4 " in count_line(app))
        await pilot.press("escape")
        await until(pilot, lambda: page.wanted == FactFilter() and len(slots(page)) == 9)


async def test_the_cursor_stays_with_the_fact_that_is_read_while_the_filter_goes(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", *"orbit")
        await until(pilot, lambda: page.wanted.text == "orbit" and len(slots(page)) == 4)
        await pilot.press("enter")
        await settled(pilot, app)
        held = page.cursor_fact
        assert held is not None
        await pilot.press("enter")
        await until(pilot, page.focused_in_detail)
        await pilot.press("c")
        await until(pilot, lambda: page.wanted == FactFilter() and len(slots(page)) == 9)
        await settled(pilot, app)
        assert page.cursor_fact is not None and page.cursor_fact.id == held.id
        await pilot.press("escape")
        await settled(pilot, app)
        assert page.pane.row is not None and page.pane.row.id == held.id


async def test_kinds_disputes_and_conflicts_are_chosen_and_dropped(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        for words, expected in (
            ("assumption", ["queue.backend", "rate.limit"]),
            ("disputed", ["rate.limit"]),
        ):
            await pilot.press("f")
            await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
            await pilot.press(*words, "enter")
            await until(pilot, lambda expected=expected: slots(page) == expected)  # type: ignore[misc]
        assert "disputed only" in whole_screen(app)
        await pilot.press("minus")
        await until(pilot, lambda: slots(page) == ["queue.backend", "rate.limit"])
        await pilot.press("c")
        await until(pilot, lambda: len(slots(page)) == 9)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        await pilot.press(*"several", "enter")
        await until(pilot, lambda: slots(page) == ["release.day", "release.day"])


async def test_a_filter_that_matches_nothing_says_what_it_looks_in(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.apply(FactFilter(text="zebra"))
        await until(pilot, lambda: "No fact matches the filter" in whole_screen(app))
        assert "esc, then c shows every fact again" in whole_screen(app)
        acting = ("facts.supersede", "facts.review", "facts.evidence", "facts.timeline", "facts.whole")
        reasons = ["there is no fact here"] * len(acting)
        await until(pilot, lambda: [app.registry[each].reason(app) for each in acting] == reasons)
        assert page.copy_choices() == []


async def test_evidence_of_a_link_is_asked_for_where_there_are_several(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("5")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.links == 3)
        await rows_shown(pilot, app)
        assert app.registry["facts.evidence"].reason(app) == "nothing was given as evidence for this value"
        await pilot.press("enter", "j")
        assert app.registry["facts.evidence"].reason(app) == ""
        assert "✓ archived" in whole_screen(app) and "✗ missing" in whole_screen(app)
        await pilot.press("e")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        await pilot.press(*"gone", "enter")
        await until(pilot, lambda: isinstance(app.screen, EvidenceViewer))
        await until(pilot, lambda: "gone.txt" in whole_screen(app) and "missing" in whole_screen(app))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is page)
        assert stop_at(page) == "two servers"


async def test_a_verdict_on_a_link_is_written_and_shown(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("team.language")
        await rows_shown(pilot, app)
        await pilot.press("r")
        await until(
            pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#comment"))
        )
        await pilot.pause()
        await pilot.press("r", "enter")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.disputed)
        await until(
            pilot, lambda: "✓" not in "".join(screen_lines(app)[3:6]) and "disputed" in whole_screen(app)
        )
    with Workspace.open(root, read_only=True) as workspace:
        (review, *_) = workspace.memory.reviews().reviews
        assert (review.verdict, review.target_kind, review.reviewer) == ("rejected", "fact", "ada")


async def test_what_another_program_asserts_comes_in_without_moving_anything(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(60, 15)) as pilot:
        page = await rows_shown(pilot, app)
        for _ in range(4):
            page.facts.action_cursor_down()
        await rows_shown(pilot, app)
        held, shown = page.cursor_fact, slots(page)
        assert held is not None and held.slot == "queue.backend"
        with Workspace.open(root, clock=lambda: NOW) as other:
            put(other, "new.slot", "x")
        await until(pilot, lambda: "new ↑" in count_line(app))
        assert page.cursor_fact == held and slots(page) == shown
        page.facts.action_first()
        await until(pilot, lambda: slots(page)[0] == "new.slot")


async def test_a_chain_that_is_read_stays_when_somebody_replaces_its_fact(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("rate.limit")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.slot == "rate.limit")
        await rows_shown(pilot, app)
        held = page.cursor_fact
        assert held is not None
        await pilot.press("enter")
        await until(pilot, lambda: page.focused_in_detail())
        with Workspace.open(root, clock=lambda: NOW) as other:
            put(other, "rate.limit", "60 per minute", supersedes=held.id, project="orbit")
        await until(pilot, lambda: page.shown_fact is not None and page.shown_fact.value == "60 per minute")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.id != held.id)
        # Read on where one was; what is decided now is about this slot.
        assert stop_at(page) == "180 per minute" and "2nd value" in whole_screen(app)
        await pilot.press("escape")
        await until(pilot, lambda: page.pane.row == page.cursor_fact)


async def test_places_that_are_none_are_asked_for_again(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        await pilot.press("colon", *"no slot", "enter")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and app.screen.refused is not None)
        assert "No fact is meant by this" in whole_screen(app)


async def test_everything_of_a_fact_can_be_copied(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        choices = {choice.label: choice.resolve() for choice in page.copy_choices()}
        assert choices["text"] == "team.language = English"
        assert json.loads(choices["JSON"])["slot"] == "team.language"
        assert choices["command"].endswith(f"--chain {choices['id']}")
        await pilot.press("enter")
        assert {choice.label for choice in page.copy_choices()} == set(choices)


async def test_long_texts_are_cut_and_shown_whole_on_demand(tmp_path: Path) -> None:
    app = app_on(wide(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("x" * 200)
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.slot == "x" * 200)
        await rows_shown(pilot, app)
        assert "… cut here" in whole_screen(app)
        await pilot.press("w")
        await until(pilot, lambda: page.pane.whole)
        await pilot.pause()
        assert "… cut here" not in whole_screen(app)
        await pilot.press("enter", "G")
        await pilot.press("w")
        assert not page.pane.whole


async def test_a_long_chain_scrolls(tmp_path: Path) -> None:
    app = app_on(chain_of(tmp_path / "w", 20))
    async with app.run_test(size=(80, 24)) as pilot:
        page = await rows_shown(pilot, app)
        assert "20th value" in whole_screen(app)
        await pilot.press("enter", "G")
        await until(pilot, lambda: stop_at(page) == "1 passed")
        assert "1 passed" in whole_screen(app)
        await pilot.press("g")
        await until(pilot, lambda: stop_at(page) == "20 passed")


@pytest.mark.parametrize(
    ("links", "said"), [(100, ""), (101, "and 1 older value,"), (103, "and 3 older values,")]
)
async def test_a_chain_of_more_than_a_hundred_says_what_it_leaves_out(
    tmp_path: Path, links: int, said: str
) -> None:
    app = app_on(chain_of(tmp_path / "w", links))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert "left out here" not in whole_screen(app)
        await pilot.press("enter", "G")
        await until(pilot, lambda: stop_at(page) == f"{max(1, links - 99)} passed")
        await pilot.pause()
        assert ("left out here" in whole_screen(app)) is bool(said)
        assert said in whole_screen(app)
        (command,) = [each.resolve() for each in page.copy_choices() if each.label == "command"]
    shown = subprocess.run(
        [sys.executable, "-m", *shlex.split(command), "--format", "json"], capture_output=True, check=True
    )
    assert len(json.loads(shown.stdout)["chain"]) == links


async def test_the_session_of_its_author_is_opened_if_it_is_there(tmp_path: Path) -> None:
    from workbench.sessions import Actum

    def fill(workspace: Workspace) -> None:
        act = Actum(kind="message", actor_kind="human", actor="ada", chronicum_id="here", content="hello")
        workspace.sessions.record_actum("ada", act)
        put(workspace, "known", "x", session_id="here")
        put(workspace, "unknown", "x", session_id="elsewhere")
        put(workspace, "none", "x")

    app = app_on(make_workspace(tmp_path / "w", fill))
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await rows_shown(pilot, app)
        assert app.registry["facts.session"].reason(app) == "its author named no session"
        page.facts.action_cursor_down()
        await rows_shown(pilot, app)
        await pilot.press("o")
        await until(pilot, lambda: "nothing of the session elsewhere" in whole_screen(app))
        page.facts.action_cursor_down()
        await rows_shown(pilot, app)
        await pilot.press("o")
        await until(pilot, lambda: isinstance(app.page, SessionsPage))
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(
            pilot, lambda: sessions.detail.session is not None and sessions.detail.session.id == "here"
        )


async def test_the_past_is_shown_and_cannot_be_written(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        app.travel(AsOf(2, START))
        await until(pilot, lambda: slots(page) == ["deploy.target"])
        await rows_shown(pilot, app)
        assert page.cursor_fact is not None and page.cursor_fact.value == "staging cluster"
        assert "1st value" in whole_screen(app)
        for action in ("facts.supersede", "facts.review"):
            assert "past" in app.registry[action].reason(app)
        app.travel(None)
        await until(pilot, lambda: len(slots(page)) == 9)


async def test_filter_order_and_place_are_kept(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.apply(FactFilter(text="orbit"), "scope")
        await rows_shown(pilot, app)
        page.facts.action_cursor_down()
        await rows_shown(pilot, app)
        kept = page.cursor_fact
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: page.cursor_fact == kept)
        assert page.wanted == FactFilter(text="orbit") and page.order == "scope"
        await settled(pilot, app)
        assert facts_page(app) is page


async def test_a_damaged_fact_stands_in_its_place(root: Path) -> None:
    with Workspace.open(root, read_only=True) as workspace:
        path, at = workspace.log.path, workspace.readers.facts.of_slot("rate.limit")
    file = sqlite3.connect(path)
    file.execute("UPDATE events SET payload = '{' WHERE position = ?", (at,))
    file.commit()
    file.close()
    app = app_on(root)
    async with app.run_test(size=(200, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("rate.limit")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.slot == "rate.limit")
        await rows_shown(pilot, app)
        screen = whole_screen(app)
        assert screen.count("‹unreadable: ") == 2, screen
        assert len(slots(page)) == 9 and page.copy_choices()
        await pilot.press("enter", "e", "o")
        assert page.focused_in_detail()


async def test_a_fact_is_led_to_from_elsewhere_and_esc_leads_back(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.apply(FactFilter(text="wednesday"), "scope")
        await rows_shown(pilot, app)
        held = page.cursor_fact
        with Workspace.open(root, read_only=True) as workspace:
            oldest = workspace.readers.facts.row(2)
        assert oldest is not None
        await app.lead_to(ToFact(oldest.id))
        # What the slot holds now stands for what it held.
        await until(
            pilot, lambda: page.cursor_fact is not None and page.cursor_fact.value == "blue/green pair"
        )
        assert page.wanted == FactFilter()
        await rows_shown(pilot, app)
        await pilot.press("escape")
        await until(pilot, lambda: page.cursor_fact == held and page.wanted == FactFilter(text="wednesday"))
        app.travel(AsOf(1, START))
        await app.lead_to(ToFact(oldest.id))
        await until(pilot, lambda: "after the moment that is shown" in whole_screen(app))


async def test_a_filter_that_gave_way_to_a_fact_comes_back_when_the_way_ends(root: Path) -> None:
    own = FactFilter(text="wednesday")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.apply(own, "scope")
        await rows_shown(pilot, app)
        with Workspace.open(root, read_only=True) as workspace:
            oldest = workspace.readers.facts.row(2)
        assert oldest is not None
        await app.action_open_screen("timeline")
        await app.lead_to(ToFact(oldest.id))
        await until(pilot, lambda: page.wanted == FactFilter())
        # What is kept for the next start is the person's own filter.
        app.save_state()
        assert app.state.of("facts").values["text"] == "wednesday"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.page, TimelinePage) and page.wanted == own)
        # A place that the person goes to by themselves takes the filter away for good.
        await pilot.press("4")
        page.goto("deploy.target")
        await until(pilot, lambda: page.wanted == FactFilter())
        await pilot.press("3", "4")
        await rows_shown(pilot, app)
        assert page.wanted == FactFilter() and page.order == "scope"


async def test_a_list_that_cannot_be_read_says_so_whole_and_nothing_else(root: Path) -> None:
    connection = sqlite3.connect(root / "chronicle.db")
    connection.execute("ALTER TABLE facts RENAME COLUMN slot TO gone")
    connection.close()
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: "That did not work" in whole_screen(app))
        await pilot.press("escape")
        page = facts_page(app)
        await until(pilot, lambda: app.screen is page)
        await settled(pilot, app)
        said = " ".join(line[19:63].strip(" │") for line in screen_lines(app))
        assert "no such column" in said and "restore the file from a backup" in " ".join(said.split())
        assert "Nothing here yet" not in whole_screen(app), "there is something, which cannot be read"


RECORDING = """
import sys
from workbench.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    held = None
    for number in range(40):
        held = workspace.memory.record_event(
            f"run {number}", project="atlas", agent="other",
            fact={"slot": "busy.slot", "value": str(number), "kind": "observed", "supersedes": held},
        ).fact_id
        workspace.memory.record_event(
            f"slot {number}", project="atlas", agent="other",
            fact={"slot": f"new.slot.{number}", "value": "x", "kind": "assumption"},
        )
"""


async def test_every_key_works_while_another_process_records(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.goto("deploy.target")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.slot == "deploy.target")
        with subprocess.Popen([sys.executable, "-c", RECORDING, str(root)]) as other:
            rounds = 0
            while other.poll() is None or not rounds:
                rounds += 1
                await pilot.press("enter", "j", "k", "w", "w", "escape", "j", "s", "k", "G", "g", "s", "s")
            assert other.returncode == 0
        await until(pilot, lambda: page.facts.status.total == 9 + 41)
        page.goto("busy.slot")
        await until(pilot, lambda: page.cursor_fact is not None and page.cursor_fact.links == 40)
        await until(pilot, lambda: page.pane.detail is not None and page.pane.detail.row.links == 40)
        assert app.screen is page and page.order == "newest"


class AskedWhileEnding(FactsPage):
    """Hears of a commit when its parts are gone."""

    def on_unmount(self) -> None:
        super().on_unmount()
        assert isinstance(self.app, EndingApp)
        self.app.on_committed(Committed())


class EndingApp(FactsApp):
    PAGES = (AskedWhileEnding,)


async def test_a_commit_while_the_program_ends_changes_nothing(root: Path) -> None:
    app = EndingApp(root, clock=lambda: NOW, screen="facts")
    async with app.run_test(size=(100, 30)) as pilot:
        page = await rows_shown(pilot, app)
    assert app.unexpected == [] and not page.is_attached


async def test_who_ends_a_search_without_choosing_returns_to_where_they_were(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("j", "j", "j")
        await until(pilot, lambda: page.facts.status.first == 1)
        here = page.cursor_fact
        assert here is not None
        for keys, kept in ((("escape", "escape"), True), (("enter", "j", "escape"), False)):
            await pilot.press("slash")
            await until(pilot, lambda: isinstance(app.focused, Input))
            await pilot.press(*"a")
            await until(pilot, lambda: page.wanted.text == "a" and not page.facts.status.loading)
            await rows_shown(pilot, app)
            await pilot.press(*keys)
            await until(pilot, lambda: page.wanted.text == "" and not page.facts.status.loading)
            await rows_shown(pilot, app)
            assert page.cursor_fact is not None
            assert (page.cursor_fact.id == here.id) is kept

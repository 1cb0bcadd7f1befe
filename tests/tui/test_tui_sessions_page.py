"""The Sessions screen as a person uses it, on real workspaces."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tui.sessions_probe import (
    DESCRIBED,
    NOW,
    TALK,
    SessionsApp,
    act,
    app_on,
    append_elsewhere,
    at,
    entries_shown,
    make_workspace,
    rows_shown,
    seqs,
    sessions_page,
)
from tests.tui.shell_probe import until, whole_screen
from workbench.sessions.events import ChronicumCreated, ChronicumDescribed
from workbench.tui.dialogs.copy_menu import CopyMenu
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.widgets.text_pane import TextPane

FOLDED = [3, 4, 5, 7, 9, 10, 11, 14, 15, 16, 17, 18]
"""The seqs of `TALK` with responses folded into their calls."""


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    return make_workspace(
        tmp_path / "w",
        {"older": (act("An older question", "ann", actor_kind="human"),), "s1": (DESCRIBED, *TALK)},
    )


def pane_text(page: SessionsPage, css_id: str) -> str:
    pane = page.query_one(f"#{css_id}", TextPane)
    return "\n".join(pane.render_line(y).text.rstrip() for y in range(pane.size.height))


async def reader_shown(pilot: Pilot[None], page: SessionsPage) -> str:
    await until(pilot, lambda: len(page.query_one("#reader", TextPane).blocks) > 1)
    await pilot.pause()
    return pane_text(page, "reader")


async def test_newest_activity_first_and_what_is_known_of_it(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert [row.id for row in page.sessions.visible_rows] == ["s1", "older"]
        shown = whole_screen(app)
        assert "The importer behind a flag" in shown
        assert "atlas · coder" in shown
        assert "15 acta" in shown
        assert "An older question" in shown
        assert "2026-03-01" in shown
        assert "●m messages 5" in shown
        assert "●p people 3" in shown


async def test_responses_are_folded_into_their_calls(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert seqs(page) == FOLDED
        shown = whole_screen(app)
        assert "git status --short" in shown
        assert "✓ 2 lines" in shown
        assert "✗ error" in shown
        page.action_form()
        await entries_shown(pilot, page)
        assert seqs(page) == list(range(3, 19))


async def test_switches_hide_kinds_and_actors(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("c")
        await entries_shown(pilot, page)
        # Without their calls the responses stand by themselves.
        assert seqs(page) == [3, 4, 6, 8, 10, 12, 13, 14, 16, 17, 18]
        assert "○c calls 5" in whole_screen(app)
        page.action_switch("tool_response")
        page.action_switch("agent")
        await entries_shown(pilot, page)
        assert seqs(page) == [3, 14, 17, 18]
        for name in ("human", "system", "unit_closed"):
            page.action_switch(name)
        await entries_shown(pilot, page)
        assert seqs(page) == []
        assert "Everything in this session is switched off" in whole_screen(app)
        page.action_switch("human")
        await entries_shown(pilot, page)
        assert seqs(page) == [3, 14, 18]


async def test_the_cursor_stays_on_its_act_when_switches_turn(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.detail.go_to(16)
        page.action_switch("thought")
        await entries_shown(pilot, page)
        assert at(page) == 16
        page.action_form()
        await entries_shown(pilot, page)
        assert at(page) == 16


async def test_a_call_a_sub_agent_and_a_result_are_one_key_apart(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert app.reason_of("sessions.into") != ""
        page.detail.go_to(9)
        page.detail.focus_body()
        assert app.reason_of("sessions.into") == ""
        await pilot.press("greater_than_sign")
        assert at(page) == 10
        await pilot.press("less_than_sign")
        await until(pilot, lambda: at(page) == 9)
        page.action_form()
        await entries_shown(pilot, page)
        page.action_response()
        assert at(page) == 13
        page.action_out()
        assert at(page) == 9
        page.detail.go_to(15)
        assert app.reason_of("sessions.response") == "this call has no response"


async def test_a_folded_result_opens_in_its_call(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.detail.go_to(5)
        page.action_response()
        text = await reader_shown(pilot, page)
        assert "M a.py\nM b.py" in "\n".join(line.strip() for line in text.splitlines())


async def test_an_act_opens_whole_and_esc_goes_back_to_it(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: page.focused is page.detail.entries)
        page.detail.go_to(16)
        assert "18 more lines, enter opens" in whole_screen(app)
        await pilot.press("enter")
        text = await reader_shown(pilot, page)
        assert page.focused is page.query_one("#reader")
        assert "line 13" in text
        await pilot.press("escape")
        assert page.focused is page.detail.entries
        assert at(page) == 16
        await pilot.press("escape")
        await until(pilot, lambda: page.focused is page.sessions)


async def test_an_open_call_shows_input_response_and_raw_form(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.detail.go_to(7)
        page.detail.open_actum()
        text = await reader_shown(pilot, page)
        assert "Read, called by coder" in text
        assert "act 5 of the session, event 9 of the log" in text
        assert "file_path  /src/atlas/atlas/nightly.py" in text
        assert "✗ Response" in text
        assert "call_id" in text
        page.action_form()
        await until(pilot, lambda: '{"file_path"' in pane_text(page, "reader"))
        assert "raw" in whole_screen(app)


async def test_the_context_window_leaves_private_acts_out(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.action_next_tab()
        await until(pilot, lambda: "14 acta" in pane_text(page, "window"))
        assert "my eyes" not in pane_text(page, "window")
        for name in ("agent", "system"):
            page.action_switch(name)
        await until(pilot, lambda: "2 acta" in pane_text(page, "window"))
        page.detail.set_last_n(1)
        await until(pilot, lambda: "1 actum · 21 characters · ≈ 6 tokens" in pane_text(page, "window"))
        assert "Good. Go on tomorrow." in pane_text(page, "window")
        page.action_last_n(1)
        assert page.detail.last_n == 2
        page.action_ask_last_n()
        await pilot.pause()
        assert isinstance(app.screen, PromptDialog)


async def test_about_says_everything(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.action_previous_tab()
        await until(pilot, lambda: "/src/atlas" in pane_text(page, "about"))
        assert "calls     5" in pane_text(page, "about")


async def test_a_missing_source_is_marked(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("{}")
    root = make_workspace(
        tmp_path / "w",
        {
            "kept": (ChronicumDescribed(source=str(there)), act("one")),
            "lost": (ChronicumDescribed(source=str(tmp_path / "gone.jsonl")), act("two")),
        },
    )
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert "source gone" in whole_screen(app)
        page.sessions.action_cursor_down()
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "kept")
        await entries_shown(pilot, page)
        assert "source gone" not in whole_screen(app)


async def test_a_filter_narrows_and_esc_clears_it(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("slash", "a", "n", "n", "enter")
        await until(pilot, lambda: [row.id for row in page.sessions.visible_rows] == ["older"])
        await rows_shown(pilot, app)
        page.set_filter("nowhere")
        page.on_filter("nowhere")
        await until(pilot, lambda: "No session has “nowhere”" in whole_screen(app))
        await until(pilot, lambda: page.detail.session is None)
        assert "esc  clears the filter" in whole_screen(app)
        await pilot.press("escape")
        await until(pilot, lambda: len(page.sessions.visible_rows) == 2)


async def test_an_empty_workspace_says_what_fills_it(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w", {}))
    async with app.run_test(size=(60, 15)) as pilot:
        await rows_shown(pilot, app)
        shown = whole_screen(app)
        for command in ("workbench demo", "workbench import claude-code", "workbench sessions record"):
            assert command in shown
        assert "i  imports transcripts" in shown


async def test_going_to_acts_positions_and_sessions(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        # Acts count from 1; what begins and describes a session is none.
        page.goto("14")
        await until(pilot, lambda: at(page) == 16)
        page.goto("older")
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "older")
        await entries_shown(pilot, page)
        # The older session has one act: a larger number is a position of the log.
        page.goto("10")
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "s1")
        await entries_shown(pilot, page)
        assert at(page) == 7
        page.goto("no such place")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await until(pilot, lambda: "o session and no act no such place" in whole_screen(app))


async def test_going_to_a_session_that_the_filter_hides_clears_the_filter(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.set_filter("older")
        page.on_filter("older")
        await rows_shown(pilot, app)
        page.goto("s1")
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "s1")
        assert page.filter_text == ""


async def test_what_another_program_records_appears_and_nothing_moves(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.sessions.action_cursor_down()
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "older")
        await entries_shown(pilot, page)
        append_elsewhere(talk, "s1", act("news", "coder"))
        append_elsewhere(talk, "older", act("an answer", "coder"))
        page.on_committed()
        await until(pilot, lambda: [row.id for row in page.sessions.visible_rows] == ["older", "s1"])
        row = page.sessions.cursor_row
        assert row is not None and row.id == "older"
        await until(pilot, lambda: seqs(page) == [2, 3])
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.acta == 2)
        assert at(page) == 2


async def test_new_sessions_are_offered_while_the_list_is_scrolled_away(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w", {f"s{number}": (act(f"ask {number}"),) for number in range(40)})
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        page = await rows_shown(pilot, app)
        page.sessions.action_last()
        await pilot.pause()
        append_elsewhere(root, "fresh", ChronicumCreated(chronicum_id="fresh", owner_id="maya"), act("new"))
        page.on_committed()
        await until(pilot, lambda: "1 new ↑" in whole_screen(app))


async def test_each_session_remembers_its_place(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.detail.go_to(14)
        await pilot.pause()
        page.sessions.action_cursor_down()
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "older")
        await entries_shown(pilot, page)
        page.sessions.action_cursor_up()
        await until(pilot, lambda: page.detail.session is not None and page.detail.session.id == "s1")
        await entries_shown(pilot, page)
        assert at(page) == 14


async def test_the_screen_is_remembered(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.detail.go_to(17)
        page.action_switch("thought")
        page.detail.set_last_n(7)
        page.action_previous_tab()
        page.set_filter("importer")
        page.on_filter("importer")
        await rows_shown(pilot, app)
    again = app_on(talk)
    async with again.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, again)
        assert page.filter_text == "importer"
        assert page.detail.last_n == 7
        assert not page.detail.shown.has("thought")
        assert at(page) == 17


async def test_copying_offers_the_act_and_the_session(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        page = await rows_shown(pilot, app)
        labels = [choice.label for choice in page.copy_choices()]
        assert labels[0] == "id of the session"
        page.detail.focus_body()
        page.detail.go_to(5)
        await pilot.pause()
        choices = {choice.label: choice for choice in page.copy_choices()}
        assert choices["text"].resolve().endswith("M a.py\nM b.py")
        assert json.loads(choices["JSON"].resolve())["seq"] == 5
        assert "workbench sessions show s1 --root " in choices["command that shows it"].resolve()
        page.action_copy()
        await until(pilot, lambda: isinstance(app.screen, CopyMenu) and app.screen.is_mounted)
        app.screen.query_one(OptionList).action_select()
        entry = page.detail.entry
        assert entry is not None
        await until(pilot, lambda: app.clipboard == entry.actum.id)


async def test_read_only_says_why_nothing_is_imported(talk: Path) -> None:
    app = app_on(talk, read_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await rows_shown(pilot, app)
        assert app.reason_of("sessions.import") == "the workspace was opened read-only"
        assert "i import ⊘" in whole_screen(app)


async def test_the_keys_go_from_pane_to_pane(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.action_next_pane()
        await until(pilot, lambda: page.focused is page.detail.entries)
        page.action_next_pane()
        await until(pilot, lambda: page.focused is page.sessions)


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_small_screens_have_every_side(talk: Path, size: tuple[int, int]) -> None:
    app = app_on(talk)
    async with app.run_test(size=size) as pilot:
        page = await rows_shown(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: page.focused is page.detail.entries)
        for css_id in ("window", "about"):
            page.action_next_tab()
            await until(pilot, lambda: page.focused is page.query_one(f"#{css_id}"))  # noqa: B023
            await until(pilot, lambda: len(page.query_one(f"#{css_id}", TextPane).blocks) > 1)  # noqa: B023


async def test_there_are_few_widgets(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert len(page.query("*")) <= 30


async def test_a_fifty_megabyte_act_opens(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w", {"s": (act("word " * 10_000_000, "coder"),)})
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert "more characters, enter opens" in whole_screen(app)
        page.detail.open_actum()
        assert len(page.query_one("#reader", TextPane).blocks) == 1
        text = await reader_shown(pilot, page)
        assert "50 000 000 characters" in text.replace("\u00a0", " ")


def test_the_page_is_the_one_that_the_program_shows() -> None:
    assert (SessionsPage,) == SessionsApp.PAGES
    assert sessions_page.__annotations__["return"] == "SessionsPage"


async def test_the_list_goes_by_what_happened_or_by_what_was_recorded(tmp_path: Path) -> None:
    root = make_workspace(
        tmp_path / "w",
        {
            "newer": (act("one", occurred_at=NOW - timedelta(days=3)),),
            "older": (act("two", occurred_at=NOW - timedelta(days=90)),),
        },
    )
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert [row.id for row in page.sessions.visible_rows] == ["newer", "older"]
        assert "as happened · 1–2 of 2" in whole_screen(app)
        # The older one was recorded last: by what happened it is old all the same.
        assert " 90 d" in page.sessions.render_line(2).text
        page.sessions.go_to("older")
        await pilot.press("s")
        await rows_shown(pilot, app)
        await until(pilot, lambda: [row.id for row in page.sessions.visible_rows] == ["older", "newer"])
        assert page.sessions.cursor_key == "older"
        assert "as recorded · 1–2 of 2" in whole_screen(app)
        assert " 3 d" in page.sessions.render_line(0).text
    again = app_on(root)
    async with again.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, again)
        assert [row.id for row in page.sessions.visible_rows] == ["older", "newer"]
        await pilot.press("s")
        await until(pilot, lambda: [row.id for row in page.sessions.visible_rows] == ["newer", "older"])


async def test_the_place_of_an_act_agrees_with_the_count(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        for seq, said in ((3, "  act 1 of 15"), (17, "after act 14 of 15"), (18, "  act 15 of 15")):
            page.detail.go_to(seq)
            await until(pilot, lambda seq=seq: at(page) == seq)  # type: ignore[misc]
            await until(pilot, lambda said=said: said in whole_screen(app))  # type: ignore[misc]
        page.action_switch("message")
        await entries_shown(pilot, page)
        page.detail.go_to(4)
        await until(pilot, lambda: "  act 2 of 15" in whole_screen(app))


async def test_the_footer_names_the_keys_of_the_side(talk: Path) -> None:
    app = app_on(talk)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)

        def footer() -> str:
            return whole_screen(app).splitlines()[-1]

        assert "f fold/raw" in footer()
        assert "fewer" not in footer()
        page.action_next_tab()
        await pilot.pause()
        for said in ("- fewer", "= more", "# how many"):
            assert said in footer()
        assert "fold" not in footer()
        assert app.reason_of("sessions.form") == "only acta can be folded or shown raw"
        page.action_next_tab()
        await pilot.pause()
        assert "fold" not in footer()
        assert "fewer" not in footer()


async def test_clearing_a_filter_goes_back_to_the_session_before_it(tmp_path: Path) -> None:
    app = app_on(
        make_workspace(tmp_path / "w", {f"s{number}": (act(f"ask {number}"),) for number in range(6)})
    )
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)

        async def narrow(text: str) -> None:
            page.set_filter(text)
            page.on_filter(text)
            await rows_shown(pilot, app)

        page.sessions.go_to("s2")
        await rows_shown(pilot, app)
        for text in ("ask 4", "nowhere", "ask"):
            await narrow(text)
            await pilot.press("escape")
            await rows_shown(pilot, app)
            assert page.filter_text == ""
            assert page.sessions.cursor_key == "s2"
        # Who chose another in the filtered list stays on that.
        await narrow("ask")
        page.sessions.action_cursor_down()
        await rows_shown(pilot, app)
        await pilot.press("escape")
        await rows_shown(pilot, app)
        assert page.sessions.cursor_key == "s1"

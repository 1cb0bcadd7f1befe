"""The Redactions screen as a person uses it, on real workspaces: list, filter, detail, and the ways out."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.tui.redactions_probe import (
    NOW,
    RedactionsApp,
    Said,
    Secrets,
    app_on,
    fixed_version,
    make_workspace,
    pane_text,
    record,
    redactions_page,
    rows_shown,
    settled,
    talk,
)
from tests.tui.shell_probe import screen_lines, until, whole_screen
from workbench.redaction import default_filter
from workbench.tui.dialogs.choose import ChooseDialog
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.present import line_width
from workbench.tui.redactions.filters import filter_parts
from workbench.tui.screens.redactions import RedactionsPage
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.widgets.row_renderer import RowState
from workbench.workspace import Workspace
from workbench.workspace.rows import RedactionFilter, TimelineFilter


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_workspace(tmp_path / "w", talk(Secrets()))


def kinds(page: RedactionsPage) -> list[str]:
    return [row.kind for row in page.redactions.visible_rows]


def count_line(app: RedactionsApp) -> str:
    return next(line for line in screen_lines(app) if "/ " in line)


async def test_newest_first_with_place_actor_and_count(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(200, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert kinds(page) == [
            "aws_access_key",
            "github_token",
            "openai_key",
            "github_token",
            "openai_key",
            "aws_access_key",
            "github_token",
        ]
        await until(pilot, lambda: "1–7 of 7" in count_line(app))
        screen = whole_screen(app)
        for said in ("Deploy the importer to staging", "metadata.env.1", "planner", "9 d"):
            assert said in screen
        # The counts above the list, by the day of the row under the cursor.
        await until(pilot, lambda: "2026-03-10 · 2 secrets · " in whole_screen(app))


async def test_what_stood_around_is_shown_and_never_the_secret(tmp_path: Path) -> None:
    secrets = Secrets()
    app = app_on(make_workspace(tmp_path / "w", talk(secrets)))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.redactions.action_last()
        await rows_shown(pilot, app)
        page.redactions.action_cursor_up()
        await rows_shown(pilot, app)
        await until(pilot, lambda: "third [REDACTED:aws_access_key] [bold]x[/bold]" in pane_text(page))
        said = pane_text(page)
        assert said.startswith("3 × aws_access_key")
        # Three markers near each other are one stretch of text.
        assert said.count("first ") == 1 and said.count("[REDACTED:aws_access_key]") == 3
        for fact in ("event  ", "content", "Deploy the importer to staging", "coder", "2026-03-05"):
            assert fact in said
        for row in page.redactions.visible_rows:
            page.redactions.go_to(row.place)
            await rows_shown(pilot, app)
            assert not any(secret in whole_screen(app) for secret in secrets.made)


async def test_a_zone_and_utc(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert "2026-03-10 21:00:00 +01:00" in pane_text(page)
        await app.action_perform("redactions.utc")
        assert "2026-03-10 20:00:00 UTC" in pane_text(page)


async def test_the_filter_looks_for_words_and_keeps_the_cursor(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.redactions.action_cursor_down()
        at = (await rows_shown(pilot, app)).cursor_redaction
        await pilot.press("slash", *"github")
        await until(pilot, lambda: page.wanted.text == "github")
        await rows_shown(pilot, app)
        assert kinds(page) == ["github_token"] * 3
        assert page.cursor_redaction == at
        await pilot.press("enter")
        await until(pilot, lambda: "“github”" in whole_screen(app))
        await pilot.press("c")
        await until(pilot, lambda: page.wanted == RedactionFilter())
        await rows_shown(pilot, app)
        assert len(kinds(page)) == 7 and page.cursor_redaction == at


async def test_a_filter_that_finds_nothing_says_so(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page._apply(RedactionFilter(text="comet"))
        await until(pilot, lambda: "No redaction matches the filter" in whole_screen(app))
        assert page.cursor_redaction is None
        await app.action_perform("redactions.drop")
        await rows_shown(pilot, app)
        assert len(kinds(page)) == 7


async def test_narrowing_to_a_kind_an_actor_a_stream_and_a_time(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await app.action_perform("redactions.narrow")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        dialog = app.screen
        assert isinstance(dialog, ChooseDialog)
        assert [choice.title for choice in dialog.shown][:4] == [
            "aws_access_key",
            "github_token",
            "openai_key",
            "by coder",
        ]
        dialog.dismiss("kind aws_access_key")
        await until(pilot, lambda: page.wanted.kinds == ("aws_access_key",))
        await rows_shown(pilot, app)
        assert kinds(page) == ["aws_access_key"] * 2
        await app.action_perform("redactions.stream")
        await rows_shown(pilot, app)
        assert page.wanted.stream == "session/plain" and len(kinds(page)) == 1
        await app.action_perform("redactions.stream")
        await app.action_perform("redactions.narrow")
        await until(pilot, lambda: isinstance(app.screen, ChooseDialog))
        app.screen.dismiss("actor coder")
        await until(pilot, lambda: page.wanted.actor == "coder")
        await app.action_perform("redactions.range")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and app.screen.focused is not None)
        app.screen.query_one(Input).value = "whenever"
        await pilot.press("enter")
        await until(pilot, lambda: "That names no time." in whole_screen(app))
        app.screen.query_one(Input).value = "2026-03-10"
        await pilot.press("enter")
        await until(pilot, lambda: page.wanted.since is not None)
        await rows_shown(pilot, app)
        assert len(kinds(page)) == 1
        await until(pilot, lambda: "noted 2026-03-10" in whole_screen(app))
        # The bars are of what passes.
        await until(pilot, lambda: page.strip.over is not None and page.strip.over.secrets == 1)
        for left in (2, 1, 0):
            await app.action_perform("redactions.drop")
            assert len(filter_parts(page.wanted)) == left
        assert page.wanted == RedactionFilter()


async def test_going_to_an_event_and_a_moment(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        positions = [row.position for row in page.redactions.visible_rows]
        page.goto(str(positions[4]))
        await until(
            pilot,
            lambda: page.cursor_redaction is not None and page.cursor_redaction.position == positions[4],
        )
        page.goto("2026-03-09 12:00")
        await until(
            pilot,
            lambda: page.cursor_redaction is not None and page.cursor_redaction.position == positions[2],
        )
        with app.showing_failures():
            page.goto("nowhere at all")
        await until(pilot, lambda: isinstance(app.screen, MessageDialog))
        await pilot.press("enter")


@pytest.mark.parametrize("text", ["nowhere at all", "019cad9a-1c3e", "c0ffee"])
async def test_a_place_that_is_none_is_refused_in_one_sentence(root: Path, text: str) -> None:
    """An event's id goes somewhere on the Timeline, and nowhere here: nothing offers it."""
    app = app_on(root)
    async with app.run_test(size=(80, 24)) as pilot:
        await rows_shown(pilot, app)
        await pilot.press("colon")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and app.screen.focused is not None)
        app.screen.query_one(Input).value = text
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog) and app.screen.refused is not None)
        said = " ".join(" ".join(screen_lines(app)).replace("│", " ").split())
        assert "This is no position of an event and no time" in said
        assert said.count("or when a redaction was noted") == 1
        assert "timeline" not in said.replace("Timeline", "") and "019cad9a-1c3e)" not in said


async def test_the_longest_kind_and_the_field_are_shown_from_120_columns_on(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: page._rows.longest == len("aws_access_key"))
        await pilot.pause()
        screen = whole_screen(app)
        assert "aws_access_key " in screen and "field" in next(
            line for line in screen_lines(app) if "kind" in line
        )
        assert "…header" in screen
        rows, listed = page._rows, page.redactions.visible_rows
    for width in (30, 41, 48, 54, 90):
        for row in listed:
            (line,) = rows.lines(row, width, RowState())
            assert line_width(line) == width
            assert width < 41 or row.kind in "".join(span.text for span in line)


async def test_a_session_is_called_by_its_title_on_one_line(tmp_path: Path) -> None:
    """Its first prompt may be long: the detail cuts it, and the filter says it instead of the stream's name."""
    prompt = "Roll the importer out, night after night. " * 12
    said: list[Said] = [
        ("claude-code/5bc8", "ada", prompt, {}),
        ("claude-code/5bc8", "coder", f"TOKEN={Secrets().github()}", {}),
    ]
    app = app_on(make_workspace(tmp_path / "w", said))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        (line,) = [each for each in pane_text(page).splitlines() if each.startswith("session")]
        assert line.endswith("…") and len(line) <= page.pane.pane.size.width
        await app.action_perform("redactions.stream")
        await until(pilot, lambda: "in Roll the importer out" in whole_screen(app))
        assert "%2F" not in whole_screen(app)
        page.pane.show_side("kinds")
        await until(pilot, lambda: "of in Roll the importer out" in " ".join(pane_text(page).split()))
        await app.action_open_screen("timeline")
        timeline = app.page
        assert isinstance(timeline, TimelinePage)
        await until(pilot, lambda: bool(timeline.events.visible_rows))
        timeline.apply(TimelineFilter(streams=("session/claude-code%2F5bc8",)))
        await until(pilot, lambda: "in Roll the importer out" in whole_screen(app))


async def test_kinds_over_time_follow_the_filter(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await app.action_perform("page.next_tab")
        await until(pilot, lambda: "9 secrets of 3 kinds" in pane_text(page))
        assert "aws_access_key" in pane_text(page) and "█" in pane_text(page)
        page._apply(RedactionFilter(kinds=("github_token",)))
        await until(pilot, lambda: "3 secrets of 1 kind" in pane_text(page))
        assert "of github_token" in pane_text(page)
        await app.action_perform("page.previous_tab")
        await until(pilot, lambda: "[REDACTED:" in pane_text(page))


async def test_the_event_in_its_session_and_on_the_timeline(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page.redactions.action_last()
        await rows_shown(pilot, app)
        row = page.cursor_redaction
        assert row is not None
        await pilot.press("enter")
        await until(pilot, lambda: page.focused_in_detail())
        # In the detail enter leads on.
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.page, SessionsPage))
        sessions = app.page
        assert isinstance(sessions, SessionsPage)
        await until(
            pilot, lambda: sessions.detail.session is not None and sessions.detail.session.id == "deploy"
        )
        await until(
            pilot,
            lambda: (
                sessions.detail.entry is not None and sessions.detail.entry.actum.position == row.position
            ),
        )
        await app.action_open_screen("redactions")
        await rows_shown(pilot, app)
        await app.action_perform("redactions.timeline")
        await until(pilot, lambda: isinstance(app.page, TimelinePage))
        timeline = app.page
        assert isinstance(timeline, TimelinePage)
        await until(
            pilot,
            lambda: timeline.cursor_event is not None and timeline.cursor_event.position == row.position,
        )


async def test_at_the_top_what_comes_is_shown_at_once(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        secrets = Secrets(99)
        with Workspace.open(root, clock=lambda: NOW) as workspace:
            record(workspace, [("deploy", "coder", f"new {secrets.github()}", {})])
        await until(pilot, lambda: page.redactions.status.total == 8)
        await rows_shown(pilot, app)
        assert page.cursor_redaction is not None and page.cursor_redaction.kind == "github_token"
        await until(pilot, lambda: page.strip.over is not None and page.strip.over.secrets == 10)


async def test_a_click_on_a_bar_goes_there(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: page.strip.over is not None)
        await pilot.click(page.strip, offset=(2, 1))
        await until(pilot, lambda: page.cursor_redaction is not None and page.cursor_redaction.position == 3)


async def test_the_state_is_remembered(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        page._apply(RedactionFilter(kinds=("github_token", "openai_key"), text="s"))
        await rows_shown(pilot, app)
        page.redactions.action_cursor_down()
        await rows_shown(pilot, app)
        at = page.cursor_redaction
        page.pane.show_side("kinds")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert page.wanted == RedactionFilter(kinds=("github_token", "openai_key"), text="s")
        assert page.filter_text == "s"
        assert page.cursor_redaction == at
        assert page.pane.side == "kinds"


async def test_copies(root: Path) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        choices = {choice.label: choice.resolve() for choice in page.copy_choices()}
        assert choices["field"] == "content" and choices["session"] == "plain"
        assert json.loads(choices["JSON"])["kind"] == "aws_access_key"
        assert choices["command"].endswith("--kind aws_access_key")


async def test_an_empty_screen_says_what_fills_it(tmp_path: Path) -> None:
    app = app_on(make_workspace(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await until(pilot, lambda: "Nothing was removed yet" in whole_screen(app))
        assert "workbench redactions test" in whole_screen(app)
        assert "The secret itself is gone." in pane_text(page)
        assert page.strip.has_class("-empty")
        for action in ("redactions.open", "redactions.timeline", "redactions.stream", "redactions.clear"):
            assert app.reason_of(action)
        await app.action_perform("redactions.narrow")
        await settled(pilot, app)
        assert redactions_page(app) is page


async def test_new_rules_ask_for_a_rescan(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert page.hint.text == ""
    fixed_version(monkeypatch)
    assert default_filter().version == "2-0123456789abcdef"
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert page.hint.text == (
            "The filter's rules changed: 11 events were stored before. d looks through what is stored."
        )
        await until(pilot, lambda: "The filter's rules changed" in whole_screen(app))


async def test_many_rows_are_read_in_pages(tmp_path: Path) -> None:
    secrets = Secrets()
    said: list[Said] = [("s", "coder", f"number {at} {secrets.github()}", {}) for at in range(450)]
    root = make_workspace(tmp_path / "w", said, step=timedelta(minutes=5))
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        assert len(page.redactions._window.rows) < 450
        page.redactions.action_last()
        await rows_shown(pilot, app)
        await until(pilot, lambda: "of 450" in count_line(app))
        assert page.redactions.status.last == 450
        page.redactions.seek(0.5)
        await rows_shown(pilot, app)
        row = page.cursor_redaction
        assert row is not None and 200 < row.position < 260
        # What comes now moves nothing, and is offered.
        with Workspace.open(root, clock=lambda: NOW) as workspace:
            record(workspace, [("s", "coder", f"new {secrets.github()}", {})])
        await until(pilot, lambda: "1 new ↑ g" in count_line(app))
        assert page.cursor_redaction == row
        await pilot.press("g")
        await until(
            pilot, lambda: page.cursor_redaction is not None and page.cursor_redaction.position == 452
        )
        await until(pilot, lambda: "new ↑" not in count_line(app))

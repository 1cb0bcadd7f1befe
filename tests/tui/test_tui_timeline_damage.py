"""One damaged event on the Timeline and in its session: it says so, and all others stand where they stood."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path

import apsw
import pytest

from tests.tui import sessions_probe
from tests.tui.sessions_probe import SessionsApp
from tests.tui.shell_probe import until, whole_screen
from tests.tui.timeline_probe import TALK, app_on, make_workspace, rows_shown
from workbench.tui.document import Paragraph
from workbench.tui.screens.sessions import SessionsPage
from workbench.tui.sessions.context_window import read_window, window_blocks
from workbench.tui.sessions.shown import Shown
from workbench.tui.timeline.copies import event_copies
from workbench.tui.widgets.text_pane import TextPane
from workbench.workspace import Workspace
from workbench.workspace.readers.entry_damage import UnreadableActum, UnreadableEvent
from workbench.workspace.rows import TimelineFilter

CHANGES = {
    "half": ("payload = substr(payload, 1, 30)", "its payload is not valid JSON"),
    "no text": ("payload = CAST(x'7b2261223a22ff227d' AS TEXT)", "its text is not valid UTF-8"),
    "no time": (f"occurred_at = {2**61}", "its time is impossible"),
}
HIT = 5
"""A tool call, which is answered by the event after it."""


def broken(root: Path, change: str) -> Path:
    make_workspace(root, TALK)
    with Workspace.open(root) as workspace:
        path = workspace.log.path
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE events SET {change} WHERE position = ?", (HIT,))
    connection.close()
    return root


def pane_text(page: SessionsPage, css_id: str) -> str:
    pane = page.query_one(f"#{css_id}", TextPane)
    return "\n".join(pane.render_line(y).text.rstrip() for y in range(pane.size.height))


@pytest.mark.parametrize("name", CHANGES)
async def test_the_list_shows_all_others(tmp_path: Path, name: str) -> None:
    change, reason = CHANGES[name]
    app = app_on(broken(tmp_path / "w", change))
    async with app.run_test(size=(200, 40)) as pilot:
        page = await rows_shown(pilot, app)
        everything = [8, 7, 6, 5, 4, 3, 2, 1]
        assert [row.position for row in page.events.visible_rows] == everything
        assert f"‹unreadable: {reason}" in whole_screen(app)
        assert "Plan the move of the importer" in whole_screen(app)
        page.events.go_to(HIT)
        await rows_shown(pilot, app)
        shown = whole_screen(app)
        assert "✗ Unreadable" in shown
        assert "As it is stored" in shown
        page.action_next_tab()
        await until(pilot, lambda: f'"unreadable": "{reason}"' in whole_screen(app))
        await app.action_perform("page.sort")
        await rows_shown(pilot, app)
        assert sorted(row.position for row in page.events.visible_rows) == sorted(everything)
        page.apply(TimelineFilter(types=("actum.recorded",)))
        await rows_shown(pilot, app)
        assert [row.position for row in page.events.visible_rows if row.position != HIT] == [7, 6, 4, 3]
        assert HIT in [row.position for row in page.events.visible_rows]


def test_a_damaged_event_can_be_copied(tmp_path: Path) -> None:
    root = broken(tmp_path / "w", CHANGES["half"][0])
    with Workspace.open(root) as workspace:
        rows = workspace.readers.timeline.page(TimelineFilter(), 20)
        texts = [choice.text for choice in event_copies(workspace, root, rows, None)]
        told = [text() if callable(text) else text for text in texts]
    assert "its payload is not valid JSON" in told[0]
    assert len(told[0].splitlines()) == len(TALK)


@pytest.mark.parametrize("name", CHANGES)
async def test_its_session_shows_all_others(tmp_path: Path, name: str) -> None:
    change, reason = CHANGES[name]
    app = SessionsApp(broken(tmp_path / "w", change))
    async with app.run_test(size=(200, 60)) as pilot:
        page = await sessions_probe.rows_shown(pilot, app)
        rows = page.detail.entries.visible_rows
        # Its answer is not folded into a call that nobody can read.
        assert [row.seq for row in rows] == [3, 4, 5, 6, 7, 8]
        assert [row.seq for row in rows if isinstance(row.actum, UnreadableActum)] == [HIT]
        assert f"‹unreadable: {reason}› run workbench doctor" in whole_screen(app)
        page.detail.go_to(HIT)
        page.detail.open_actum()
        await until(pilot, lambda: "✗ Unreadable tool request" in whole_screen(app))
        assert "As it is stored" in pane_text(page, "reader")
        page.detail.choose_side("window")
        await until(pilot, lambda: "1 actum cannot be read" in whole_screen(app))
        assert "The last 20 acta" in pane_text(page, "window")
        assert "Three steps." in pane_text(page, "window")


def test_a_damaged_response_is_not_said_to_be_fine(tmp_path: Path) -> None:
    from workbench.tui.sessions.calls import outcome

    root = broken(tmp_path / "w", CHANGES["half"][0])
    with Workspace.open(root) as workspace:
        bad = workspace.readers.entries.entry("s1", HIT)
        call = workspace.readers.entries.entry("s1", HIT + 1)
    assert bad is not None
    assert call is not None
    assert [span.text for span in outcome(call, bad)] == ["✗", " unreadable"]


def test_what_can_be_read_of_a_window_is_what_an_agent_would_be_handed(tmp_path: Path) -> None:
    whole, hurt = make_workspace(tmp_path / "a", TALK), broken(tmp_path / "b", CHANGES["half"][0])
    with Workspace.open(whole) as workspace:
        expected = read_window(workspace, "maya", "s1", Shown(), 3)
        assert expected.unreadable == 0
    with Workspace.open(hurt) as workspace:
        found = read_window(workspace, "maya", "s1", Shown(), 3)
        assert found.unreadable == 1
        assert [actum.content for actum in found.acta[1:]] == [actum.content for actum in expected.acta[1:]]
        # The damaged one is not among the last two: nothing is refused.
        assert read_window(workspace, "maya", "s1", Shown(), 2).unreadable == 0
        said = [block for block in window_blocks(found, 3, UTC, Path("/w")) if isinstance(block, Paragraph)]
        assert any("1 actum cannot be read" in str(block.text) for block in said)


def test_an_unreadable_event_is_one_of_the_log(tmp_path: Path) -> None:
    root = broken(tmp_path / "w", CHANGES["no time"][0])
    with Workspace.open(root) as workspace:
        event = workspace.readers.timeline.event(HIT)
    assert isinstance(event, UnreadableEvent)
    assert (event.type, event.stream, event.times_known) == ("actum.recorded", "session/s1", False)

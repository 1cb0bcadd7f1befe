"""The Handoffs screen under texts that break programs, locks, damage and a database that goes away."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from rich.cells import cell_len

from tests.thorough import some
from tests.tui.handoffs_probe import app_on, detail_text, names, settled, shown
from tests.tui.hostile_text import HOSTILE, unseen
from tests.tui.shell_probe import screen_lines, until, whole_screen
from tests.tui.trouble_probe import locked
from tests.workspace.handoff_cases import Desk, make_desk, make_hostile_desk
from workbench.tui.dialogs.verdict import VerdictDialog
from workbench.tui.handoffs.handoff_pane import SIDES
from workbench.workspace import Workspace
from workbench.workspace.rows import HandoffFilter


@pytest.mark.parametrize("size", some([(60, 15), (80, 24), (120, 40), (200, 60)], 2))
async def test_hostile_texts_are_drawn_and_keep_the_columns(tmp_path: Path, size: tuple[int, int]) -> None:
    root = make_hostile_desk(tmp_path / "w")
    with Desk(root, new=False) as desk:
        texts = [text for text in HOSTILE if text.strip() and "\ud800" not in text]
        desk.hand_off(
            "atlas/texts",
            texts[0],
            completed=texts[:8],
            verification=texts[8:14],
            questions=texts[14:18],
            steps=texts[18:],
            why="\n".join(texts),
        )
    app = app_on(root)
    async with app.run_test(size=size) as pilot:
        page = await shown(pilot, app)
        page.handoffs.action_open()
        await until(pilot, lambda: page.pane.lines.has_focus)
        for side in SIDES:
            page.pane.show_side(side)
            await until(pilot, lambda: page.pane.ready)
            for _ in range(6):
                screen = screen_lines(app)
                assert unseen("".join(screen)) == []
                assert {cell_len(line) for line in screen} == {size[0]}
                (page.pane.text if side == "next" else page.pane.lines).action_page_down()
                await pilot.pause()
        await settled(pilot, app)


async def test_every_line_of_a_long_checkpoint_can_be_reached(tmp_path: Path) -> None:
    app = app_on(make_hostile_desk(tmp_path / "w"))
    async with app.run_test(size=(80, 24)) as pilot:
        page = await shown(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: page.pane.lines.has_focus)
        lines = page.pane.lines
        seen = set()
        for _ in range(2000):
            seen.add(lines.cursor_key)
            before = (lines.cursor_key, lines._view.top, lines._view.offset)
            lines.action_scroll_down()
            if before == (lines.cursor_key, lines._view.top, lines._view.offset):
                break
        wheres = [key[0] for key in seen if isinstance(key, tuple)]
        for where in ("completed", "verification", "open_questions", "next_steps"):
            assert wheres.count(where) == 20
        lines.action_scroll_home()
        assert (lines._view.top, lines._view.offset) == (0, 0)
        lines.action_scroll_end()
        assert lines.cursor_key is not None
        assert lines._view.shown()[-1][0] == len(lines._window) - 1


async def test_a_verdict_waits_for_a_lock_beside_the_screen(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        with locked(root) as other:
            await pilot.press("r")
            await until(
                pilot, lambda: isinstance(app.screen, VerdictDialog) and bool(app.screen.query("#said"))
            )
            await pilot.press("a", "enter")
            await until(pilot, lambda: "recording …" in whole_screen(app))
            await pilot.press("escape", "enter", "tab", *"more")
            await until(pilot, lambda: "waiting for another program that writes" in whole_screen(app))
            assert isinstance(app.screen, VerdictDialog), "what is being written is waited for"
            other.release()
        await until(pilot, lambda: app.screen is page)
        await until(pilot, lambda: page.waiting == 2)
    with Workspace.open(root) as workspace:
        assert workspace.memory.reviews().reviews[0].verdict == "accepted"


async def test_a_damaged_checkpoint_says_so_and_the_others_are_read(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    with Workspace.open(root) as workspace:
        row = workspace.readers.handoffs.page(HandoffFilter("importer"), 9).rows[0]
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("UPDATE events SET payload = '{\"goal' WHERE position = ?", (row.position,))
    connection.close()
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        assert len(names(page)) == 4
        await pilot.press("G")
        await shown(pilot, app)
        for side in SIDES[:4]:
            page.pane.show_side(side)
            await settled(pilot, app)
            assert "The stored checkpoint cannot be read" in detail_text(page)
        assert app.screen is page, "no error stands over the screen"
        await pilot.press("k")
        await shown(pilot, app)
        page.pane.show_side("checkpoint")
        await until(pilot, lambda: page.pane.detail is not None)


async def test_a_database_that_is_gone_is_said_and_nothing_is_lost_of_the_screen(tmp_path: Path) -> None:
    root = make_desk(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await shown(pilot, app)
        kept = (root / "chronicle.db").rename(root / "elsewhere.db")
        await until(pilot, lambda: app.access.live == "lost")
        await pilot.press("escape", "r")
        assert names(page), "what was read stays"
        assert not isinstance(app.screen, VerdictDialog)
        kept.rename(root / "chronicle.db")

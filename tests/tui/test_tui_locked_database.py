"""Another program holds the write lock: nothing freezes, reads go on, and a write that waits says so."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from tests.tui.sessions_probe import TALK
from tests.tui.sessions_probe import make_workspace as make_sessions
from tests.tui.shell_probe import ProbeApp, make_workspace, opened, screen_lines, until, whole_screen
from tests.tui.test_tui_sessions_import import transcript
from tests.tui.trouble_probe import fill, heartbeat, locked
from workbench.storage import turns
from workbench.tui.access import WAITS_ON_SECONDS
from workbench.tui.app import WorkbenchApp
from workbench.tui.dialogs.import_picker import ImportPicker
from workbench.tui.watch import WriteWaits
from workbench.workspace import Workspace

LATE_SECONDS = 0.5
"""How late the UI thread may be, over what the machine itself was."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make_workspace(tmp_path / "w")
    fill(made, 400)
    fill(made, 30, "s2")
    return made


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    transcript(tmp_path / "claude" / "projects" / "a" / "one.jsonl", "one", 3)
    return tmp_path / "claude" / "projects"


async def begin_import(pilot: Pilot[None], app: WorkbenchApp) -> ImportPicker:
    """Choose what is new, and import it; the picker stands on the screen."""
    await app.action_perform("sessions.import")
    await until(pilot, lambda: isinstance(app.screen, ImportPicker) and app.screen.is_mounted)
    picker = app.screen
    assert isinstance(picker, ImportPicker)
    await until(pilot, lambda: not picker.searching and bool(picker.chosen))
    await picker.action_take()
    return picker


async def test_a_writer_that_holds_the_lock_for_three_seconds_freezes_nothing(
    root: Path, projects: Path
) -> None:
    app = WorkbenchApp(root, screen="sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None and "step 0" in whole_screen(app))
        await pilot.pause(0.3)
        async with heartbeat() as beats:
            with locked(root):
                began = time.monotonic()
                await begin_import(pilot, app)
                await pilot.press("escape")
                await until(pilot, lambda: not app.screen.is_modal)
                # Reads go on: lists, details and other screens answer while the write waits.
                await pilot.press("j", "k", "enter", "G", "escape")
                await app.action_perform("screen.timeline")
                await until(pilot, lambda: "step 29" in whole_screen(app))
                await until(
                    pilot, lambda: "waiting for another program that writes, 1 s" in screen_lines(app)[-1]
                )
                await until(
                    pilot, lambda: "waiting for another program that writes, 2 s" in screen_lines(app)[-1]
                )
                await asyncio.sleep(max(0.0, began + 3.0 - time.monotonic()))
            await until(pilot, lambda: "waiting" not in screen_lines(app)[-1])
            await until(pilot, lambda: not app.running_jobs())
        print(
            f"\nthe event loop was late by {beats.worst * 1000:.0f} ms at most "
            f"(a bare thread: {beats.machine * 1000:.0f} ms)"
        )
        assert beats.worst < LATE_SECONDS + 2 * beats.machine
    with Workspace.open(root, read_only=True) as workspace:
        assert workspace.status()["summary"]["sessions"] == 3, "the import succeeded once it could"


async def test_a_lock_for_ever_ends_the_write_with_what_helps(
    root: Path, projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 1500)
    app = WorkbenchApp(root, screen="sessions")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.workspace is not None and "step 0" in whole_screen(app))
        with locked(root) as holder:
            async with heartbeat() as beats:
                await begin_import(pilot, app)
                await pilot.press("escape")
                await until(pilot, lambda: "being written by another program" in whole_screen(app), 20)
                assert "code db_locked" in whole_screen(app)
                assert "→" in whole_screen(app)
            assert beats.worst < LATE_SECONDS + 2 * beats.machine
            await pilot.press("enter")
            await until(pilot, lambda: not app.screen.is_modal)
            await pilot.press("j")
            holder.release()
        picker = await begin_import(pilot, app)
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
        assert picker.job is not None
        assert picker.job.error is None


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_the_dialog_of_an_import_says_that_it_waits(
    root: Path, projects: Path, size: tuple[int, int]
) -> None:
    app = WorkbenchApp(root, screen="sessions")
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: app.workspace is not None and "step 0" in whole_screen(app))
        with locked(root):
            picker = await begin_import(pilot, app)
            status = picker.query_one("#status", Static)
            await until(pilot, lambda: "waiting for another program that writes, 1 s" in str(status.content))
            assert "Reading …" not in whole_screen(app)
            await until(pilot, lambda: "waiting for another program that writes, 3 s" in str(status.content))
            await pilot.press("x")
            await until(pilot, lambda: "Stopping; waiting for another program" in whole_screen(app))
        await until(pilot, lambda: picker.job is not None and not picker.job.running)
        await until(pilot, lambda: "waiting" not in whole_screen(app))


@pytest.mark.parametrize("closed", [False, True], ids=["in the dialog", "after it was closed"])
async def test_an_import_that_a_lock_ended_can_be_tried_again(
    root: Path, projects: Path, monkeypatch: pytest.MonkeyPatch, closed: bool
) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 500)
    app = WorkbenchApp(root, screen="sessions")
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.workspace is not None and "step 0" in whole_screen(app))
        with locked(root):
            picker = await begin_import(pilot, app)
            if closed:
                await pilot.press("escape")
            await until(pilot, lambda: "r try again" in whole_screen(app), 20)
        job = picker.job
        assert job is not None
        await pilot.press("r")
        await until(pilot, lambda: not job.running and job.report is not None)
        assert job.error is None
        await until(pilot, lambda: "6 acta added to 1 session" in whole_screen(app))


async def test_a_locked_workspace_opens_and_can_be_left(root: Path) -> None:
    app = ProbeApp(root)
    with locked(root):
        began = time.monotonic()
        async with app.run_test(size=(120, 40)) as pilot:
            await opened(pilot, app)
            assert "● live" in screen_lines(app)[0]
            await pilot.press("q")
        assert time.monotonic() - began < 4
    assert app.return_code == 0


async def test_the_words_of_a_wait_go_when_nobody_waits_any_more(tmp_path: Path) -> None:
    app = ProbeApp(make_sessions(tmp_path / "w", {"a": TALK}))
    async with app.run_test(size=(60, 15)) as pilot:
        await opened(pilot, app)
        before = screen_lines(app)[-1]
        app.post_message(WriteWaits(1.0))
        await until(pilot, lambda: "waiting for another program that writes, 1 s" in screen_lines(app)[-1])
        assert "? help" in screen_lines(app)[-1], "help stays in the smallest footer"
        heard = time.monotonic()
        await until(pilot, lambda: screen_lines(app)[-1] == before)
        assert time.monotonic() - heard < WAITS_ON_SECONDS + 2

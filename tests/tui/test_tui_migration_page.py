"""A workspace of an older release opens on one page, from which it is migrated (contract workspace, "Schema")."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.tui.shell_probe import (
    ProbeApp,
    RowsPage,
    make_workspace,
    opened,
    screen_lines,
    until,
    whole_screen,
)
from tests.tui.trouble_probe import fill, heartbeat, locked, make_older, schema_of
from workbench.storage import turns
from workbench.tui.dialogs.confirm import ConfirmDialog
from workbench.tui.migration_page import MigrationPage, Progress
from workbench.tui.problem_page import ProblemPage
from workbench.workspace import Workspace
from workbench.workspace.migrations import SCHEMA_VERSION
from workbench.workspace.opening import NoDatabaseFile

EVENTS = 200


@pytest.fixture
def older(tmp_path: Path) -> Path:
    root = make_workspace(tmp_path / "w")
    fill(root, EVENTS)
    make_older(root)
    return root


def door(app: ProbeApp) -> MigrationPage | None:
    screen = app.screen_stack[0]
    return screen if isinstance(screen, MigrationPage) else None


def is_ready(app: ProbeApp) -> bool:
    page = door(app)
    return page is not None and page.is_mounted and page.state == "ready"


def toasts(app: ProbeApp) -> list[str]:
    return [toast.message for toast in app._notifications]


def backups(root: Path) -> list[Path]:
    return sorted((root / "backups").rglob("*.bak-*"))


async def test_the_page_says_what_would_be_done_and_does_nothing(older: Path) -> None:
    before = (older / "chronicle.db").read_bytes()
    app = ProbeApp(older)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: is_ready(app))
        await until(pilot, lambda: "enter migrates" in whole_screen(app))
        shown = whole_screen(app)
        assert "▲ to be migrated" in screen_lines(app)[0]
        assert (
            f"It has schema 1; this program works with schema {SCHEMA_VERSION}. Nothing was changed yet."
            in shown
        )
        assert "  2 Adds the list of jobs, and counts of activity" in shown
        assert re.search(rf"[2-9] projections from {EVENTS + 1} events: [a-z_, ]*activity, redactions", shown)
        assert "is copied to" in shown
        assert "enter migrate   R look again   y copy   q quit   ? help" in screen_lines(app)[-1]
        await pilot.press("3")
        assert door(app) is not None, "no screen opens before it is migrated"
        await pilot.press("y")
        assert "Adds the list of jobs" in app.clipboard
    assert schema_of(older) == 1
    assert (older / "chronicle.db").read_bytes() == before
    assert backups(older) == []


async def test_one_key_copies_migrates_and_opens(older: Path) -> None:
    app = ProbeApp(older)
    async with app.run_test(size=(160, 40), notifications=True) as pilot:
        await until(pilot, lambda: is_ready(app))
        async with heartbeat() as beats:
            await pilot.press("enter")
            await opened(pilot, app)
        assert beats.worst < 0.5 + 2 * beats.machine
        assert isinstance(app.screen, RowsPage)
        assert f"schema {SCHEMA_VERSION}" in screen_lines(app)[0]
        assert any("The copy from before is" in text for text in toasts(app))
    assert schema_of(older) == SCHEMA_VERSION
    (backup,) = backups(older)
    connection = apsw.Connection(str(backup))
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()
    with Workspace.open(older, read_only=True) as workspace:
        assert workspace.status()["summary"]["events"] == EVENTS + 1


async def test_it_waits_for_another_program_and_says_so(older: Path) -> None:
    app = ProbeApp(older)
    with locked(older) as holder:
        async with app.run_test(size=(120, 40)) as pilot, heartbeat() as beats:
            await until(pilot, lambda: is_ready(app))
            await pilot.press("m")
            await until(pilot, lambda: "waiting for another program that writes, 1 s" in whole_screen(app))
            assert "x stop and roll back" in screen_lines(app)[-1]
            await pilot.press("question_mark")
            await until(pilot, lambda: app.screen.is_modal)
            await pilot.press("escape")
            holder.release()
            await opened(pilot, app)
    assert beats.worst < 0.5 + 2 * beats.machine
    assert schema_of(older) == SCHEMA_VERSION


async def test_a_lock_that_is_never_released_is_said_and_can_be_tried_again(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 400)
    app = ProbeApp(older)
    with locked(older) as holder:
        async with app.run_test(size=(120, 50)) as pilot:
            await until(pilot, lambda: is_ready(app))
            await pilot.press("enter")
            await until(pilot, lambda: "code db_locked" in whole_screen(app), 30)
            assert "The migration ended early; the file is as it was" in whole_screen(app)
            assert schema_of(older) == 1
            holder.release()
            await until(pilot, lambda: is_ready(app) and "enter tries again" in whole_screen(app))
            await pilot.press("enter")
            await opened(pilot, app)
    assert schema_of(older) == SCHEMA_VERSION


async def test_stopping_rolls_everything_back(older: Path) -> None:
    app = ProbeApp(older)
    before = (older / "chronicle.db").read_bytes()
    with locked(older) as holder:
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: is_ready(app))
            await pilot.press("enter")
            await until(pilot, lambda: "waiting for another" in whole_screen(app))
            await pilot.press("x")
            await until(pilot, lambda: "Stopping" in whole_screen(app))
            holder.release()
            await until(pilot, lambda: is_ready(app) and "Stopped and rolled back" in whole_screen(app))
            assert app.workspace is None
    assert schema_of(older) == 1
    assert backups(older) == []
    assert (older / "chronicle.db").read_bytes() == before


async def test_leaving_while_it_migrates_asks_first(older: Path) -> None:
    app = ProbeApp(older)
    with locked(older):
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: is_ready(app))
            await pilot.press("enter")
            await until(pilot, lambda: "waiting for another" in whole_screen(app))
            await pilot.press("q")
            await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
            await pilot.press("y")
    assert app.return_code == 0
    assert schema_of(older) == 1


async def test_read_only_it_is_shown_as_unavailable_with_the_reason(older: Path) -> None:
    app = ProbeApp(older, read_only=True)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await until(pilot, lambda: is_ready(app))
        await until(pilot, lambda: "enter migrate ⊘" in screen_lines(app)[-1])
        words = "Nothing can be migrated now: the workspace was opened read-only."
        await until(pilot, lambda: words in whole_screen(app))
        await pilot.press("enter")
        assert toasts(app) == ["“migrate” cannot run now: the workspace was opened read-only."]
        assert is_ready(app)
    assert schema_of(older) == 1


@pytest.mark.parametrize("key", ["R", "enter"])
async def test_what_another_program_migrated_meanwhile_is_opened(older: Path, key: str) -> None:
    app = ProbeApp(older)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: is_ready(app))
        await asyncio.to_thread(Workspace.migrate, older)
        await pilot.press(key)
        await opened(pilot, app)
    assert len(backups(older)) == 1


async def test_the_environment_may_ask_for_it_and_it_shows_on_the_same_page(
    older: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", "1")
    app = ProbeApp(older)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
    assert schema_of(older) == SCHEMA_VERSION
    assert len(backups(older)) == 1


async def test_projections_of_another_release_are_named(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("UPDATE folds SET version = version - 1 WHERE name = 'actors'")
    connection.close()
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: is_ready(app))
        await until(pilot, lambda: "Another release built its projections" in whole_screen(app))
        assert ": actors" in whole_screen(app)
        await pilot.press("enter")
        await opened(pilot, app)


KILLED = """
import os, sys
from workbench.workspace import Workspace
def stop(done, total, note):
    if note == "projections":
        os.kill(os.getpid(), 9)
Workspace.migrate(sys.argv[1], progress=stop)
"""


async def test_what_a_killed_migration_left_is_migrated_as_if_nothing_had_been(older: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(older)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stderr=subprocess.DEVNULL,
    )
    assert killed.returncode == -signal.SIGKILL
    app = ProbeApp(older)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: is_ready(app))
        await pilot.press("enter")
        await opened(pilot, app)
    assert schema_of(older) == SCHEMA_VERSION


# What cannot be migrated


async def test_a_newer_workspace_says_so_and_is_not_touched(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("INSERT INTO schema_migrations VALUES(99, 'later', '')")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    await assert_refused(root, "A newer release wrote this workspace", "schema_ahead_of_code")


async def test_a_stranger_s_database_says_so_and_is_not_touched(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    for file in root.glob("chronicle.db*"):
        file.unlink()
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("CREATE TABLE songs(title TEXT)")
    connection.close()
    await assert_refused(root, "This is no workbench database", "not_a_workbench_database")


async def test_an_emptied_database_says_so_and_is_not_touched(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    (root / "chronicle.db").write_bytes(b"")
    await assert_refused(root, "is empty", NoDatabaseFile.code)


async def assert_refused(root: Path, title: str, code: str) -> None:
    before = {file.name: file.read_bytes() for file in root.glob("chronicle.db*")}
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, ProblemPage) and code in whole_screen(app))
        shown = whole_screen(app)
        assert title in shown
        assert "The file is as it was: nothing was written to it." in shown
        assert "→" in shown
        await pilot.press("R")
        await until(pilot, lambda: code in whole_screen(app))
    assert {file.name: file.read_bytes() for file in root.glob("chronicle.db*")} == before


async def test_a_file_that_cannot_be_copied_leaves_the_page_usable(older: Path) -> None:
    # Where the copies should go stands a file: no copy can be made, so nothing is migrated.
    shutil.rmtree(older / "backups")
    (older / "backups").write_text("in the way")
    app = ProbeApp(older)
    async with app.run_test(size=(120, 50)) as pilot:
        await until(pilot, lambda: is_ready(app))
        await pilot.press("enter")
        await until(pilot, lambda: is_ready(app) and "enter tries again" in whole_screen(app))
        assert "The migration ended early" in whole_screen(app)
        assert "unexpected" not in whole_screen(app)
        assert schema_of(older) == 1
        (older / "backups").unlink()
        await pilot.press("enter")
        await opened(pilot, app)
    assert schema_of(older) == SCHEMA_VERSION


def test_progress_says_phase_count_and_what_is_left() -> None:
    progress = Progress()
    assert "beginning" in progress.content(60, stopping=False).plain
    progress.step(1000, 4000, "projections")
    lines = progress.content(60, stopping=False).plain.splitlines()
    assert "25 %" in lines[0]
    assert "1\u00a0000 of 4\u00a0000 events" in lines[0]
    assert lines[1].startswith("building projections from the events")
    progress._phase_began -= 10
    assert "about 30 s left" in progress.content(80, stopping=False).plain
    assert "rolled back" in progress.content(80, stopping=True).plain
    assert all(len(line) <= 24 for line in progress.content(24, stopping=False).plain.splitlines()[1:])

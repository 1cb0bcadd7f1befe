"""The database destroyed under the open program: the header says it, one dialog says it once, R opens it again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tui.shell_probe import (
    EmptyPage,
    ProbeApp,
    RowsPage,
    make_workspace,
    opened,
    screen_lines,
    until,
    whole_screen,
)
from tests.tui.trouble_probe import fill, heartbeat
from workbench.storage.errors import DatabaseDamaged, DatabaseLocked, StorageError
from workbench.tui.dialogs.message import MessageDialog
from workbench.tui.file_fate import FileFate, WorkspaceLost
from workbench.tui.problem_page import ProblemPage


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make_workspace(tmp_path / "w")
    fill(made, 50)
    return made


def dialogs(app: ProbeApp) -> list[MessageDialog]:
    return [screen for screen in app.screen_stack if isinstance(screen, MessageDialog)]


def delete_file(root: Path) -> None:
    (root / "chronicle.db").rename(root / "away.db")


def put_file_back(root: Path) -> None:
    (root / "away.db").rename(root / "chronicle.db")


def replace_file(root: Path) -> None:
    copy = root / "copy.db"
    shutil.copy(root / "chronicle.db", copy)
    copy.replace(root / "chronicle.db")


def nothing(root: Path) -> None:
    """It is there already."""


def remove_folder(root: Path) -> None:
    root.rename(root.with_name("away"))


def put_folder_back(root: Path) -> None:
    root.with_name("away").rename(root)


def cut_to_nothing(root: Path) -> None:
    shutil.copy(root / "chronicle.db", root / "whole.db")
    os.truncate(root / "chronicle.db", 0)


def cut_in_half(root: Path) -> None:
    database = root / "chronicle.db"
    shutil.copy(database, root / "whole.db")
    os.truncate(database, database.stat().st_size // 2)


def mend_cut(root: Path) -> None:
    for name in ("chronicle.db-wal", "chronicle.db-shm"):
        (root / name).unlink(missing_ok=True)
    (root / "whole.db").replace(root / "chronicle.db")


CASES = {
    "deleted": (delete_file, "file gone", put_file_back),
    "replaced": (replace_file, "replaced", nothing),
    "folder": (remove_folder, "folder gone", put_folder_back),
    "emptied": (cut_to_nothing, "cut off", mend_cut),
    "halved": (cut_in_half, "cut off", mend_cut),
}
Ruin = Callable[[Path], None]


@pytest.mark.parametrize(("ruin", "reason", "mend"), CASES.values(), ids=CASES)
async def test_it_is_said_once_and_keys_work_and_r_opens_it_again(
    root: Path, ruin: Ruin, reason: str, mend: Ruin
) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        async with heartbeat() as beats:
            ruin(root)
            await until(pilot, lambda: "The workspace is lost" in whole_screen(app))
            assert len(dialogs(app)) == 1
            await pilot.press("enter")
            await until(pilot, lambda: not dialogs(app) and len(screen_lines(app)) == 40)
            assert f"○ lost: {reason}" in screen_lines(app)[0]
            assert "live" not in screen_lines(app)[0]
            assert f"{reason}: R opens it again" in screen_lines(app)[-1]
            # Keys work, and what fails for the same reason does not ask for attention again.
            await pilot.press("j", "3")
            await until(pilot, lambda: isinstance(app.screen, EmptyPage))
            for error in (StorageError("gone"), DatabaseDamaged("odd"), WorkspaceLost("x", "y", hint="z")):
                app.show_failure(error)
            await pilot.pause()
            assert not dialogs(app)
            await pilot.press("2")
            await until(pilot, lambda: isinstance(app.screen, RowsPage))
            await pilot.press("i")
            page = app.page
            assert isinstance(page, RowsPage)
            assert page.added == 0, "nothing is written to a workspace that is lost"
            mend(root)
            await pilot.press("R")
            await opened(pilot, app)
            assert "● live" in screen_lines(app)[0]
            assert app.page is not page, "the screens begin afresh on the file that is there now"
            fill(root, 1)
            fresh = app.page
            assert isinstance(fresh, RowsPage)
            await until(pilot, lambda: fresh.commits > 0)
        assert beats.worst < 0.5 + 2 * beats.machine


async def test_while_it_is_away_r_says_so_and_the_program_can_be_left(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        delete_file(root)
        await until(pilot, lambda: bool(dialogs(app)))
        await pilot.press("enter", "R")
        await until(pilot, lambda: isinstance(app.screen, ProblemPage) and "code" in whole_screen(app))
        assert "R try again" in screen_lines(app)[-1]
        assert "Put it back, or a copy of it" in whole_screen(app)
        assert "init" not in whole_screen(app), "a new workspace in its place would help nobody"
        put_file_back(root)
        await pilot.press("R")
        await opened(pilot, app)
        delete_file(root)
        await until(pilot, lambda: bool(dialogs(app)))
        await pilot.press("enter", "q")
    assert app.return_code == 0


async def test_a_file_that_comes_back_as_it_was_is_live_again_by_itself(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        remove_folder(root)
        await until(pilot, lambda: bool(dialogs(app)))
        put_folder_back(root)
        await until(pilot, lambda: not dialogs(app) and "● live" in whole_screen(app))
        assert "opens it again" not in screen_lines(app)[-1]


async def test_the_box_itself_opens_it_again_with_the_key_that_does_so_on_every_screen(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        app.show_failure(StorageError("it could not be read"))
        await until(pilot, lambda: bool(dialogs(app)) and "enter close" in whole_screen(app))
        assert "open again" not in whole_screen(app)
        before = app.workspace
        await pilot.press("R")
        assert dialogs(app) and app.workspace is before, "nothing is lost yet"
        replace_file(root)
        await until(pilot, lambda: "R open again" in whole_screen(app))
        await pilot.press("R")
        await until(pilot, lambda: app.workspace is not None and app.workspace is not before)
        await opened(pilot, app)
        assert not dialogs(app) and "● live" in screen_lines(app)[0]


async def test_an_error_dialog_becomes_the_one_that_says_the_cause(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        app.show_failure(StorageError("it could not be read", hint="check the disk"))
        app.show_failure(StorageError("it could not be read", hint="check the disk"))
        await until(pilot, lambda: bool(dialogs(app)))
        assert len(dialogs(app)) == 1
        delete_file(root)
        await until(pilot, lambda: "deleted or moved away" in whole_screen(app))
        assert len(dialogs(app)) == 1
        await pilot.press("y")
        assert "workspace_lost" in app.clipboard


async def test_an_error_that_may_pass_can_be_tried_again(root: Path) -> None:
    app = ProbeApp(root)
    tried: list[int] = []
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        app.show_failure(DatabaseLocked("it is being written", hint="wait"), retry=lambda: tried.append(1))
        await until(pilot, lambda: bool(dialogs(app)) and "r try again" in whole_screen(app))
        await pilot.press("r")
        await until(pilot, lambda: not dialogs(app))
        assert tried == [1]
        app.show_failure(DatabaseDamaged("it is torn"), retry=lambda: tried.append(2))
        await until(pilot, lambda: bool(dialogs(app)) and "enter close" in whole_screen(app))
        assert "try again" not in whole_screen(app)
        await pilot.press("r")
        assert dialogs(app)
    assert tried == [1]


async def test_a_job_that_still_runs_keeps_it_from_being_opened_again(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        before = app.workspace
        with app.job("an import"):
            replace_file(root)
            await until(pilot, lambda: bool(dialogs(app)))
            await pilot.press("enter", "R")
            assert any("A job still runs" in toast.message for toast in app._notifications)
            assert app.workspace is before


UNREADABLE = """
import asyncio, os, sys
from pathlib import Path
from tests.tui.shell_probe import ProbeApp, opened, until
root = Path(sys.argv[1])
async def main():
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        (root / "chronicle.db").chmod(0o000)
        await until(pilot, lambda: app.header_state().reason == "unreadable" or os.getuid() == 0)
        (root / "chronicle.db").chmod(0o600)
        await until(pilot, lambda: app.header_state().live == "live")
# Once with every right, so that everything is imported: an unprivileged user may not read the installation.
asyncio.run(main())
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
asyncio.run(main())
print("ok", flush=True)
"""


def test_a_file_that_may_not_be_read_any_more(shared_folder: Path) -> None:
    root = make_workspace(shared_folder / "w")
    if os.getuid() == 0:
        for path in (shared_folder, root, *root.rglob("*")):
            os.chown(path, 65534, 65534)
    run = subprocess.run(
        [sys.executable, "-c", UNREADABLE, str(root)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={
            **os.environ,
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "WORKBENCH_STATE_DIR": str(shared_folder / "state"),
            "WORKBENCH_CONFIG_DIR": str(shared_folder / "config"),
        },
    )
    assert run.stdout == "ok\n", run.stderr[-3000:]


# The file alone


def test_the_fate_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(bytes(1000))
    fate = FileFate(path)
    fate.refuse_lost()
    path.write_bytes(bytes(2000))
    fate.refuse_lost()
    os.truncate(path, 1999)
    with pytest.raises(WorkspaceLost, match="1,999 of 2,000 bytes"):
        fate.refuse_lost()
    with path.open("rb"):  # As SQLite does; the number of a file that nobody has is given away again.
        path.unlink()
        with pytest.raises(WorkspaceLost) as gone:
            fate.refuse_lost()
        assert gone.value.reason == "file gone"
        path.mkdir()
        with pytest.raises(WorkspaceLost) as other:
            fate.refuse_lost()
        assert other.value.reason == "replaced"

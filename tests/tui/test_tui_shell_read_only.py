"""Read-only: every writing key stays listed and says why, whatever keeps the workspace from being written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.shell_probe import ProbeApp, make_workspace, opened, screen_lines, until, whole_screen
from tests.tui.trouble_probe import fill
from workbench.tui.actions import writing
from workbench.tui.app import WorkbenchApp

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = make_workspace(tmp_path / "w")
    fill(made, 3)
    return made


def toasts(app: WorkbenchApp) -> list[str]:
    return [toast.message for toast in app._notifications]


async def test_every_writing_action_of_every_screen_says_why(root: Path) -> None:
    app = WorkbenchApp(root, read_only=True)
    writers = [action for action in app.registry if action.reason is writing]
    assert "sessions.import" in {action.id for action in writers}
    before = (root / "chronicle.db").read_bytes()
    async with app.run_test(size=(160, 40), notifications=True) as pilot:
        await until(pilot, lambda: app.workspace is not None)
        for action in writers:
            if action.context in {page.NAME for page in app.PAGES}:
                await app.action_open_screen(action.context)
            assert app.reason_of(action.id) == "the workspace was opened read-only"
            app.clear_notifications()
            await app.action_perform(action.id)
            said = f"“{action.title}” cannot run now: the workspace was opened read-only."
            await until(pilot, lambda said=said: said in toasts(app))  # type: ignore[misc]
            assert not app.screen.is_modal
        assert screen_lines(app)[0].rstrip().endswith("read-only")
    assert (root / "chronicle.db").read_bytes() == before


async def test_the_picture_of_a_key_that_cannot_write(root: Path) -> None:
    app = WorkbenchApp(root, read_only=True, screen="sessions")
    async with app.run_test(size=(160, 40)) as pilot:
        await until(pilot, lambda: "step 0" in whole_screen(app))
        assert "i import ⊘" in screen_lines(app)[-1]
        await app.action_perform("app.palette")
        await until(pilot, lambda: app.screen.is_modal and "import" in whole_screen(app))
        await pilot.press(*"import")
        await until(pilot, lambda: "the workspace was opened read-only" in whole_screen(app))


SEALED = """
import asyncio, os, sys
from pathlib import Path
from tests.tui.shell_probe import ProbeApp, opened, screen_lines, until
writable, sealed = Path(sys.argv[1]), Path(sys.argv[2])
async def main(root, words):
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        assert screen_lines(app)[0].rstrip().endswith(words), screen_lines(app)[0]
        assert ("○ not live" in screen_lines(app)[0]) == (words == "read-only")
        return app.reason_of("rows.add")
# Once with every right, so that everything is imported: an unprivileged user may not read the installation.
assert asyncio.run(main(writable, "read-write")) == ""
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print(asyncio.run(main(sealed, "read-only")))
"""


@pytest.mark.parametrize("filled", [False, True], ids=["no log", "a log beside the file"])
def test_a_workspace_whose_files_cannot_be_written_opens_for_reading(
    root: Path, shared_folder: Path, filled: bool
) -> None:
    sealed = make_workspace(shared_folder / "w")
    if filled:
        # A program that died left its log behind: what is in it has to be read from a copy.
        left = f"import os; from tests.tui.trouble_probe import fill_and_die; fill_and_die({str(sealed)!r})"
        subprocess.run(
            [sys.executable, "-c", left], cwd=CHECKOUT, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}
        )
        assert (sealed / "chronicle.db-wal").stat().st_size > 0
        (sealed / "chronicle.db-shm").unlink()
    state = shared_folder / "state"
    state.mkdir(mode=0o777)
    state.chmod(0o777)
    for path in (sealed, *sealed.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    run = subprocess.run(
        [sys.executable, "-c", SEALED, str(root), str(sealed)],
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        env={
            **os.environ,
            "PYTHONPATH": str(CHECKOUT),
            "TMPDIR": "/tmp",
            "WORKBENCH_STATE_DIR": str(state),
            "WORKBENCH_CONFIG_DIR": str(state),
        },
    )
    for path in (sealed, *(folder for folder in sealed.rglob("*") if folder.is_dir())):
        path.chmod(0o755)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stdout.strip() == "its files cannot be written by this user"


async def test_nothing_to_copy_leaves_the_clipboard_alone(root: Path) -> None:
    app = ProbeApp(root)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await opened(pilot, app)
        app.copy("kept", "the text")
        app.copy("", "the outcome")
        assert app.clipboard == "kept"
        await until(pilot, lambda: "Nothing to copy: the outcome is empty." in toasts(app))

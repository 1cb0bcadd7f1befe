"""Every key of every screen while a second process records: nothing unforeseen, and what came is there after."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import App

import workbench
from tests.thorough import THOROUGH
from tests.tui.handoffs_probe import NOW
from tests.tui.shell_probe import until, whole_screen, work_done
from tests.workspace.handoff_cases import make_desk
from workbench.tui.actions import SHARED_CONTEXTS
from workbench.tui.app import WorkbenchApp
from workbench.workspace import Workspace

SCREENS = [page.NAME for page in WorkbenchApp.PAGES]
LEAVING = {"app.quit", "app.suspend"}
WRITER = """
import sys
from workbench.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    for number, line in enumerate(sys.stdin):
        workspace.memory.record_event(
            f"entry {number} beside the keys", project="atlas", task_id=f"beside-{number % 3}", agent="coder",
            category="milestone", checkpoint={"goal": f"goal {number}", "completed": ["one"]})
        print(number, flush=True)
"""


@contextmanager
def writer(root: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that records an entry with a checkpoint for each line that it is given."""
    command = [sys.executable, "-c", WRITER, str(root)]
    environment = {"PYTHONPATH": str(Path(workbench.__file__).parents[1]), "PATH": ""}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0


def keys_of(screen: str) -> list[str]:
    """One key of each action of the screen's own, thorough: of each that it has but those that leave the program."""
    contexts = (*SHARED_CONTEXTS, screen) if THOROUGH else (screen,)
    return [action.keys[0] for action in WorkbenchApp.REGISTRY.of(*contexts) if action.id not in LEAVING]


def closed(app: App[None]) -> bool:
    """Whether no dialog stands over the screen."""
    return len(app.screen_stack) == 1


@pytest.mark.parametrize("screen", SCREENS)
async def test_every_key_while_another_process_records(tmp_path: Path, screen: str) -> None:
    root = make_desk(tmp_path / "w")
    app = WorkbenchApp(root, screen=screen, clock=lambda: NOW)
    with writer(root) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        async with app.run_test(size=(120, 40)) as pilot:
            await until(pilot, lambda: app.workspace is not None and app.page is not None)
            await work_done(pilot)
            written = 0
            for key in keys_of(screen):
                process.stdin.write("\n")
                process.stdin.flush()
                await pilot.press(key)
                assert process.stdout.readline() == f"{written}\n"
                written += 1
                await pilot.pause()
                for _ in range(4):
                    if closed(app):
                        break
                    await pilot.press("escape")
                await until(pilot, lambda: closed(app))
                await app.show_screen(screen)
            await pilot.press("escape", "T")
            await work_done(pilot)
            assert app.unexpected == []
            assert whole_screen(app).strip()
    with Workspace.open(root, read_only=True) as workspace:
        (recorded,) = workspace.memory.recent(limit=1)
        assert recorded.text == f"entry {written - 1} beside the keys"

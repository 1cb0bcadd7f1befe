"""Several importers at once, and one that is killed: each record once, none lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.imports.claude_code_records import SESSION, write
from tests.imports.driver_log import acta_of_talk, assert_gapless, contents, described, new_workspace, talk
from workbench.workspace import Workspace

ROOT = Path(__file__).parents[2]
IMPORT = """
import sys
from workbench.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    sys.stdin.readline()
    def told(done, total, note):
        print(done, flush=True)
    report = workspace.import_claude_code([sys.argv[2]], progress=told)
    print("added", report.totals["acta_added"], flush=True)
"""


def start(root: Path, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", IMPORT, str(root), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return write(tmp_path / f"{SESSION}.jsonl", talk(range(4000)))


def test_two_threads(tmp_path: Path, transcript: Path) -> None:
    with new_workspace(tmp_path / "ws") as workspace:
        barrier = threading.Barrier(2)
        added: list[int] = []

        def run() -> None:
            barrier.wait()
            added.append(workspace.import_claude_code([transcript]).totals["acta_added"])

        threads = [threading.Thread(target=run) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(added) == 6000
        assert contents(workspace) == acta_of_talk(range(4000))
        assert_gapless(workspace)


def test_two_processes(tmp_path: Path, transcript: Path) -> None:
    with new_workspace(tmp_path / "ws") as workspace:
        importers = [start(workspace.root, transcript) for _ in range(2)]
        for importer in importers:
            assert importer.stdin is not None
            importer.stdin.write("go\n")
            importer.stdin.flush()
        said = [importer.communicate()[0].splitlines()[-1] for importer in importers]
        assert [importer.returncode for importer in importers] == [0, 0]
        assert sum(int(line.removeprefix("added ")) for line in said) == 6000
        assert contents(workspace) == acta_of_talk(range(4000))
        assert_gapless(workspace)


def test_killed_at_any_moment_and_started_again(tmp_path: Path, transcript: Path) -> None:
    chance = random.Random(7)
    with new_workspace(tmp_path / "ws") as workspace:
        root = workspace.root
    killed = 0
    for _ in range(6):
        importer = start(root, transcript)
        assert importer.stdin is not None
        assert importer.stdout is not None
        importer.stdin.write("go\n")
        importer.stdin.flush()
        # After some transactions have been told of, in the midst of the next one.
        for _ in range(chance.randrange(1, 3)):
            importer.stdout.readline()
        try:
            importer.wait(chance.random() * 0.05)
        except subprocess.TimeoutExpired:
            importer.send_signal(signal.SIGKILL)
            killed += 1
        importer.communicate()
        with Workspace.open(root) as workspace:
            stored = contents(workspace)
            assert stored == acta_of_talk(range(4000))[: len(stored)]
            assert_gapless(workspace)
    assert killed
    with Workspace.open(root) as workspace:
        workspace.import_claude_code([transcript])
        assert contents(workspace) == acta_of_talk(range(4000))
        assert described(workspace)["title"] == "prompt 0"
        assert_gapless(workspace)

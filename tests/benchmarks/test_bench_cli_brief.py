"""How long `workbench brief`, which a shell hook runs, takes as a process, beside loading its libraries."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import workbench
from workbench.workspace import Workspace

pytestmark = pytest.mark.bench

ROUNDS = 30
MOST = 2.0


def test_a_brief_is_printed_fast(tmp_path: Path) -> None:
    root = tmp_path / "w"
    with Workspace.create(root, title="Load", timezone="Europe/Berlin", owner="maya") as opened:
        for index in range(20):
            opened.memory.record_event(
                f"Decision {index}",
                project="atlas",
                category="decision",
                agent="codex",
                why="It was measured",
            )
            opened.memory.record_event(
                f"Fact {index}",
                project="atlas",
                agent="codex",
                fact={"slot": f"slot.{index}", "value": "on", "kind": "observed"},
            )
            opened.memory.record_event(
                f"Hand-off {index}",
                project="atlas",
                task_id=f"task {index}",
                agent="codex",
                checkpoint={"goal": f"Goal {index}", "next_steps": ["Measure", "Write it down"]},
            )
    # An installed program has its bytecode; a checkout gets it here, whatever the tests are run with.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path / "bytecode")
    environment["PYTHONPATH"] = str(Path(workbench.__file__).parents[1])
    script = "import sys; from workbench.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "brief", "--project", "atlas", "--root", str(root)]
    libraries = [sys.executable, "-c", "import apsw, click, msgspec"]

    def seconds(words: list[str]) -> float:
        began = time.perf_counter()
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began

    seconds(libraries), seconds(command)
    pairs = [(seconds(libraries), seconds(command)) for _ in range(ROUNDS)]
    bare = statistics.median(pair[0] for pair in pairs)
    whole = statistics.median(pair[1] for pair in pairs)
    ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
    print(f"\nbrief: {whole * 1e3:.0f} ms; its libraries alone: {bare * 1e3:.0f} ms; ratio {ratio:.2f}")
    assert ratio <= MOST

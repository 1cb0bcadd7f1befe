"""An open terminal program sees what another process commits (design tui, "Live")."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import workbench
from tests.benchmarks.pty_harness import PtyProgram
from workbench.drawing import number
from workbench.sessions.model import Actum
from workbench.workspace import Workspace

RECORD = """
import sys, time
from workbench import Actum, Workspace
with Workspace.open(sys.argv[1]) as workspace:
    for index in range(int(sys.argv[2])):
        workspace.sessions.record_actum("maya", Actum(
            chronicum_id="live", kind="message", actor_kind="agent", actor="coder", content=f"step {index}"))
    workspace.sessions.record_actum("maya", Actum(
        chronicum_id="live", kind="message", actor_kind="human", actor="maya", content="the very last word"))
print(time.time())
"""


def test_the_last_event_of_another_process_is_shown(tmp_path: Path) -> None:
    root = tmp_path / "w"
    with Workspace.create(root, title="Live", timezone="UTC", owner="maya") as opened:
        opened.sessions.record_actum(
            "maya",
            Actum(chronicum_id="live", kind="message", actor_kind="human", actor="maya", content="begin"),
        )
    environment = {
        "PYTHONPATH": str(Path(workbench.__file__).parents[1]),
        "WORKBENCH_STATE_DIR": str(tmp_path / "state"),
        "WORKBENCH_CONFIG_DIR": str(tmp_path / "config"),
    }
    start = "import sys; from workbench.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "open", "--screen", "timeline", "--root", str(root)]
    with PtyProgram(command, columns=120, rows=40, env=environment) as program:
        program.wait_for("begin")
        program.settle()
        done = subprocess.run(
            [sys.executable, "-c", RECORD, str(root), "300"],
            env={**environment, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        committed = float(done.stdout)
        # Whatever is offered ("301 new"), one key leads to the newest.
        program.wait_for(number(303))
        program.send(b"g")
        program.wait_for("the very last word")
        print(f"\nshown {time.time() - committed:.2f} s after the other process's last commit")

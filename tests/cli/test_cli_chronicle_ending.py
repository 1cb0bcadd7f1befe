"""Commands that write a chronicle: asked to end, killed, waiting for one another and for themselves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.cli.chronicle_words import rounds, script, summarized_by
from tests.cli.program import CHECKOUT, Run
from tests.workspace.jobs_cases import holding
from workbench.workspace import Workspace


def _is_alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _gone(pid: int) -> bool:
    """Whether a process ends within seconds."""
    until = time.monotonic() + 10
    while _is_alive(pid) and time.monotonic() < until:
        threading.Event().wait(0.02)
    return not _is_alive(pid)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
@pytest.mark.parametrize(("name", "code"), [("TERM", 143), ("HUP", 129)])
def test_being_asked_to_end_is_as_ctrl_c(
    process: Run, workspace: Workspace, tmp_path: Path, name: str, code: int
) -> None:
    rounds(workspace, 1)
    program = script(
        tmp_path / "p", f'echo $$ > "$0.pid"; kill -{name} $PPID; sleep 60 & echo $! > "$0.child"; wait'
    )
    summarized_by(workspace, program)
    workspace.chronicles.trust()
    # Under nohup the tests ignore one of them, and so would every program that they start.
    before = signal.signal(signal.Signals[f"SIG{name}"], signal.SIG_DFL)
    try:
        answer = process("chronicle", "consolidate")
    finally:
        signal.signal(signal.Signals[f"SIG{name}"], before)
    assert answer.code == code, answer
    assert answer.out.startswith("stopped: nothing was written")
    assert workspace.jobs.page(1)[0].status == "stopped"
    assert _gone(int(Path(f"{program}.pid").read_text())) and _gone(int(Path(f"{program}.child").read_text()))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_a_program_ends_with_all_that_it_started_when_the_command_is_killed(
    process: Run, workspace: Workspace, tmp_path: Path
) -> None:
    rounds(workspace, 1)
    program = script(tmp_path / "p", 'sleep 60 & echo $! $$ > "$0.pids"; kill -KILL $PPID; wait')
    summarized_by(workspace, program)
    workspace.chronicles.trust()
    assert process("chronicle", "consolidate").code == -9
    for pid in Path(f"{program}.pids").read_text().split():
        assert _gone(int(pid))
    assert workspace.jobs.page(1)[0].status == "failed"


@pytest.mark.parametrize(
    "clean", ["", "env -i PATH=/usr/bin:/bin HOME=$HOME XDG_STATE_HOME=$XDG_STATE_HOME "]
)
def test_a_summarizer_that_consolidates_is_refused_at_once(
    process: Run, workspace: Workspace, tmp_path: Path, clean: str
) -> None:
    rounds(workspace, 1)
    program = script(
        tmp_path / "p",
        f"{clean}{sys.executable} -m workbench chronicle consolidate --format json --root {workspace.root} "
        '> "$0.said"; echo Good.',
    )
    text = program.read_text()
    program.write_text(text.replace("cat", f"cd {CHECKOUT}\ncat", 1))
    summarized_by(workspace, program)
    workspace.chronicles.trust()
    assert process("chronicle", "consolidate", "--root", workspace.root).code == 0
    said = json.loads(Path(f"{program}.said").read_text())
    assert said["error_type"] == "already_consolidating", said


def test_whom_a_command_waits_for_is_said_once(workspace: Workspace) -> None:
    rounds(workspace, 1)
    with holding(workspace.root, "chronicle", "Consolidating it", "chronicle/session/dinner") as holder:
        job = holder.running()
        waiting = subprocess.Popen(
            [sys.executable, "-m", "workbench", "chronicle", "consolidate", "--root", workspace.root],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        holder.end()
        out, rest = waiting.communicate(timeout=30)
    assert said == f"waiting for “Consolidating it” (job {job}, process {holder.process.pid})\n"
    assert (waiting.returncode, rest) == (0, "") and "1-3" in out

"""With NO_COLOR the real program starts, in a real terminal, with an empty and with a filled workspace."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import workbench
from tests.benchmarks.pty_harness import PtyProgram
from tests.thorough import some
from workbench.sessions.model import Actum
from workbench.workspace import Workspace

START = "import sys; from workbench.cli import main; sys.exit(main())"


@pytest.mark.parametrize(
    ("screen", "other", "filled"),
    some(
        [
            ("timeline", b"2", False),
            ("timeline", b"2", True),
            ("sessions", b"3", False),
            ("sessions", b"3", True),
        ],
        2,
    ),
)
def test_the_program_runs_without_colours(tmp_path: Path, screen: str, other: bytes, filled: bool) -> None:
    root = tmp_path / "w"
    with Workspace.create(root, title="Grey", timezone="UTC", owner="maya") as opened:
        if filled:
            opened.sessions.record_actum(
                "maya",
                Actum(chronicum_id="grey", kind="message", actor_kind="human", actor="maya", content="hello"),
            )
    environment = {
        "PYTHONPATH": str(Path(workbench.__file__).parents[1]),
        "WORKBENCH_STATE_DIR": str(tmp_path / "state"),
        "WORKBENCH_CONFIG_DIR": str(tmp_path / "config"),
        "NO_COLOR": "1",
    }
    command = [sys.executable, "-c", START, "open", "--screen", screen, "--root", str(root)]
    with PtyProgram(command, columns=120, rows=40, env=environment) as program:
        program.wait_for("● live", timeout=30)
        program.settle()
        program.send(b"?")
        program.wait_for("keys here")
        program.send(b"]")
        program.settle()
        program.send(b"\x1b")
        program.settle()
        program.send(other)
        program.settle()
        program.send(b"\t")
        program.settle()
        assert program.running, program.text()
        assert program.shows("● live")
        program.send(b"q")
        assert program.wait_exit() == 0
    assert not (tmp_path / "state" / "workbench.log").exists()

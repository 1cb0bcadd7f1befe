"""The hand-off of the README, run as it stands there by a shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.program import CHECKOUT


def example() -> str:
    """The shell lines of the part about hand-offs."""
    text = (CHECKOUT / "README.md").read_text("utf-8")
    found = re.search(r"^## Hand-offs between agents\n.*?^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_second_agent_goes_on_where_the_first_stopped(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "workbench"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m workbench "$@"\n')
    program.chmod(0o755)
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT), "PATH": f"{folder}:{os.environ['PATH']}"}
    script = example()
    assert script.count(" fact ID ") == 1
    read_id = '$(workbench facts --format json | grep -o \'"id":"[^"]*"\' | cut -d\'"\' -f4)'
    script = script.replace(" fact ID ", f" fact {read_id} ")

    def shell(lines: str) -> str:
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", lines],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    shell("workbench init --root ~/chronicle")
    said = shell(script)
    (bundle,) = (json.loads(line) for line in said.splitlines() if line.startswith("{"))
    context = bundle["task_context"]
    assert context["checkpoint"]["checkpoint"]["next_steps"] == ["Measure recall"]
    assert [(each["slot"], each["value"]) for each in context["current_facts"]] == [
        ("storage.engine", "SQLite")
    ]
    assert re.search(r"^- storage\.engine = SQLite .*\(fact ", said, re.MULTILINE)
    assert "questioned (event " in said
    assert "Also on the phone?" in shell("cd ~/chronicle; workbench brief --project atlas")

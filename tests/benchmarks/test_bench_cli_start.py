"""How long a whole command takes, beside loading the libraries that it cannot do without."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

import workbench
from workbench.sessions.model import Actum
from workbench.workspace import Workspace

pytestmark = pytest.mark.bench

ROUNDS = 30
MOST = 1.6


def test_a_list_of_sessions_starts_fast(tmp_path: Path) -> None:
    root = tmp_path / "w"
    with Workspace.create(root, title="Load", timezone="Europe/Berlin", owner="maya") as opened:
        for index in range(60):
            actum = Actum(
                chronicum_id=f"s{index}", kind="message", actor_kind="human", actor="maya", content="Fix it."
            )
            opened.sessions.record_actum("maya", actum)
    # An installed program has its bytecode; a checkout gets it here, whatever the tests are run with.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path / "bytecode")
    environment["PYTHONPATH"] = str(Path(workbench.__file__).parents[1])
    script = "import sys; from workbench.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, "sessions", "list", "--format", "json", "--root", str(root)]
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
    print(
        f"\nsessions list: {whole * 1e3:.0f} ms; its libraries alone: {bare * 1e3:.0f} ms; ratio {ratio:.2f}"
    )
    assert ratio <= MOST

"""A sealed world for the command line: no configuration, folder or variable of whoever runs the tests."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.program import CHECKOUT, Answer, Run
from tests.laid_out import laid_out_once
from workbench.cli import main
from workbench.workspace import Workspace


@pytest.fixture(autouse=True)
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Private folders, no variables of ours, and a working folder outside any workspace."""
    for name in list(os.environ):
        if name.startswith(("CHRONICLE_", "WORKBENCH_", "CLAUDE_")):
            monkeypatch.delenv(name)
    for name, folder in (
        ("HOME", "home"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_CONFIG_HOME", "config"),
    ):
        (tmp_path / folder).mkdir()
        monkeypatch.setenv(name, str(tmp_path / folder))
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program in this process: `run("sessions", "list", stdin=b"…")`."""

    def run_(*words: str | Path, stdin: bytes = b"") -> Answer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        capsysbinary.readouterr()
        code = main([str(word) for word in words])
        said = capsysbinary.readouterr()
        return Answer(code, said.out.decode(), said.err.decode())

    return run_


@pytest.fixture
def process() -> Run:
    """Run the program as a process of its own."""

    def run_(*words: str | bytes | Path, stdin: bytes = b"") -> Answer:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *words],
            input=stdin,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            check=False,
            timeout=60,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run_


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """An empty workspace of the owner “ada”, which the program finds by `$CHRONICLE_ROOT`."""
    root = tmp_path / "workspace"
    monkeypatch.setenv("CHRONICLE_ROOT", str(root))
    with Workspace.open(_empty(root)) as opened:
        yield opened


@laid_out_once
def _empty(root: Path) -> Path:
    Workspace.create(root, title="Trial", timezone="UTC", owner="ada").close()
    return root

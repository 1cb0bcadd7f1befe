"""What the README tells somebody to enter works as it is written."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import workbench

CHECKOUT = Path(workbench.__file__).parents[1]
README = (CHECKOUT / "README.md").read_text("utf-8")


def _blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def _block(beginning: str) -> str:
    (found,) = [block for block in _blocks() if beginning in block]
    return found


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, in which `workbench` is this checkout's."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "workbench"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m workbench "$@"\n')
    program.chmod(0o755)
    return {
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PYTHONPATH": str(CHECKOUT),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


def _run(script: str, environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        ["sh", "-euc", script], env=environment, cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_round_trip_goes_round(environment: dict[str, str], tmp_path: Path) -> None:
    """The block about the file, entered after the workspace of the block before was laid out and used."""
    laid_out = _block("workbench init --root ~/chronicle").splitlines()[0]
    act = (
        "workbench sessions record --root ~/chronicle --session dinner --owner maya --kind message "
        "--actor-kind agent --actor planner --content four"
    )
    _run(f"{laid_out}\n{act}\n{_block('workbench doctor')}", environment, tmp_path)
    listed = _run("workbench sessions list --root ~/copy", environment, tmp_path)
    assert "dinner" in listed


def test_the_command_is_on_the_path_before_it_is_used() -> None:
    """Only the first block installs it, as `.venv/bin/workbench`; from there on it is called `workbench`."""
    first, *others = _blocks()
    assert ".venv/bin/workbench" in first and ". .venv/bin/activate" in first
    assert any(line.startswith("workbench ") for block in others for line in block.splitlines())


def test_each_picture_is_there_and_names_no_folder_of_a_machine() -> None:
    named = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", README, re.MULTILINE)
    assert {Path(each).stem for each in named} == {"handoffs", "facts", "sessions", "chronicle"}
    for each in named:
        drawn = (CHECKOUT / each).read_text("utf-8")
        (header,) = re.findall(r">([^<]*~[^<]*)<", drawn)
        assert "~/chronicle" in header
        assert not re.search(r"/(tmp|work|root|Users)/", drawn)

"""`demo`: a workspace from a sample."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.cli.program import CHECKOUT, Run
from workbench.workspace import Workspace


def test_list_of_samples(run: Run) -> None:
    said = run("demo", "--list", "--format", "json").json
    assert list(said) == ["samples"]
    assert {"name": "atlas-handoff", "title": "Atlas handoff"} in said["samples"]
    assert all(list(sample) == ["name", "title"] for sample in said["samples"])
    assert "atlas-handoff" in run("demo", "--list").out


def test_twice_makes_two_workspaces(run: Run, tmp_path: Path) -> None:
    first = run("demo", "--no-open", "--format", "json")
    second = run("demo", "--no-open", "--format", "json")
    assert first.code == second.code == 0
    assert list(first.json) == ["root", "sample", "events"]
    assert first.json["sample"] == "atlas-handoff"
    assert first.json["events"] == second.json["events"] > 0
    parent = tmp_path / "data" / "chronicle-workbench" / "demo"
    assert first.json["root"] == str(parent / "atlas-handoff-1")
    assert second.json["root"] == str(parent / "atlas-handoff-2")
    with Workspace.open(first.json["root"], read_only=True) as workspace:
        assert workspace.log.last_position() == first.json["events"]


def test_the_newest_event_is_five_minutes_old(run: Run, tmp_path: Path) -> None:
    run("demo", "--to", tmp_path / "d", "--no-open")
    events = run("timeline", "--root", tmp_path / "d", "--limit", "100000", "--format", "json").json["events"]
    times = [
        datetime.fromisoformat(e[key]) for e in events for key in ("recorded_at", "occurred_at") if e[key]
    ]
    age = datetime.now(UTC) - max(times)
    assert timedelta(minutes=5) <= age < timedelta(minutes=7)


def test_times_can_be_kept(run: Run, tmp_path: Path) -> None:
    run("demo", "--to", tmp_path / "d", "--no-open", "--keep-times")
    (event,) = run("timeline", "--root", tmp_path / "d", "--limit", "1", "--format", "json").json["events"]
    assert datetime.fromisoformat(event["recorded_at"]).year == 2026
    assert datetime.fromisoformat(event["recorded_at"]).month == 3


def test_text_form_prints_the_root(run: Run, tmp_path: Path) -> None:
    answer = run("demo", "atlas-handoff", "--to", tmp_path / "d", "--no-open")
    assert (answer.code, answer.out) == (0, f"{tmp_path / 'd'}\n")


def test_moved_times_are_said_not_to_be_those_of_the_texts(run: Run, tmp_path: Path) -> None:
    moved = run("demo", "--to", tmp_path / "d", "--no-open").err
    assert re.search(r"days that its texts name stay as they were written, around 2026-03-\d\d\. With", moved)
    assert run("demo", "--to", tmp_path / "e", "--no-open", "--keep-times").err == ""
    assert run("demo", "--to", tmp_path / "f", "--no-open", "--format", "json").err == ""


def test_a_folder_that_is_not_empty_is_refused_and_kept(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "d"
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    answer = run("demo", "--to", target, "--no-open", "--format", "json")
    assert answer.code == 2
    assert answer.json["error_type"] == "target_not_empty"
    assert [path.name for path in target.iterdir()] == ["mine.txt"]
    file = run("demo", "--to", target / "mine.txt", "--no-open")
    assert file.code == 2


def test_an_empty_folder_is_taken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    assert run("demo", "--to", tmp_path / "d", "--no-open").code == 0


def test_quitting_says_where_it_is_and_how_to_open_it_again(tmp_path: Path) -> None:
    root = tmp_path / "my demo"
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))
    program = subprocess.Popen(
        [sys.executable, "-m", "workbench", "demo", "--to", root],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    end = time.monotonic() + 60
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    read = os.read(ours, 65536)
                except OSError:
                    break
                if not read:
                    break
                said += read
            elif b"\x1b[?1049h" in said and program.poll() is None:
                # It has drawn its screen and is quiet.
                os.write(ours, b"\x11")
        assert program.wait(timeout=20) == 0
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()
        os.close(ours)
    before = said.partition(b"\x1b[?1049h")[0].decode()
    assert f"the workspace is in {root}" in before
    after = said.rpartition(b"\x1b[?1049l")[2].decode().replace("\r\n", "\n")
    assert f"the workspace is in {root}\n" in after
    assert f"open it again with: workbench --root '{root}'\n" in after

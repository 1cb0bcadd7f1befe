"""Lines too long to be read, as a last line and in packed files that unpack to very much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from tests.imports import claude_code_records as claude
from tests.imports import codex_records as codex
from tests.imports.driver_log import contents, new_workspace, problems
from workbench.imports.claude_code.reader import read_transcript
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.codex import read_rollout
from workbench.imports.transcript.items import ActumItem, Checkpoint, Item, Problem
from workbench.imports.transcript.lines import MAX_LINE
from workbench.workspace import Workspace

CHECKOUT = Path(__file__).parents[2]
MEGABYTE = 1024 * 1024
NAME = f"rollout-2026-03-04T00-00-00-{codex.SESSION}.jsonl"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with new_workspace(tmp_path / "ws") as made:
        yield made


def pack(path: Path, megabytes: int, byte: bytes = b"a", behind: bytes = b"") -> Path:
    """A small packed rollout whose third line is very long."""
    with path.open("wb") as file, zstandard.ZstdCompressor(level=3).stream_writer(file) as packer:
        packer.write(codex.lines([codex.meta(), codex.said("user", "before")]))
        for _ in range(megabytes):
            packer.write(byte * MEGABYTE)
        packer.write(behind)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def said(items: list[Item]) -> tuple[list[str], list[tuple[int, str]]]:
    return (
        [item.content for item in items if isinstance(item, ActumItem)],
        [(item.line, item.reason) for item in items if isinstance(item, Problem)],
    )


def end_of(items: list[Item]) -> Checkpoint:
    end = items[-1]
    assert isinstance(end, Checkpoint)
    return end


@pytest.mark.parametrize("settled", [True, False])
def test_a_last_line_over_the_bound_is_named_once(tmp_path: Path, settled: bool) -> None:
    path = tmp_path / NAME
    start = codex.lines([codex.meta(), codex.said("user", "a")])
    for size, expected, waiting in ((1500, [], 1500), (2500, [(3, "line too long")], 0)):
        path.write_bytes(start + b"x" * size)
        items = list(read_rollout(path, owner="ada", max_line=2000, settled=settled))
        assert said(items) == (["a"], expected)
        assert end_of(items).partial == waiting
    state = codex.state_of(items)
    assert state.inside_long_line and state.offset == len(start) + 2500
    # It goes on growing, ends, and another one follows.
    for more, found in (
        (b"", []),
        (b'{"type":', []),
        (b"}\n" + codex.lines([codex.said("user", "b")]), ["b"]),
    ):
        path.write_bytes(start + b"x" * 2500 + more)
        again = list(read_rollout(path, owner="ada", state=state, max_line=2000))
        assert said(again) == (found, [])
    assert end_of(again).state.line == 4


def test_a_last_line_over_the_bound_is_named_once_for_claude_code(tmp_path: Path) -> None:
    path = tmp_path / f"{claude.SESSION}.jsonl"
    start = claude.lines([claude.user(0, "a")])
    path.write_bytes(start + b"x" * 2500)
    items = list(read_transcript(path, owner="ada", max_line=2000))
    assert said(items) == (["a"], [(2, "line too long")])
    state = end_of(items).state
    assert isinstance(state, ReaderState)
    path.write_bytes(start + b"x" * 2500 + b"{}\n" + claude.lines([claude.user(1, "b")]))
    again = list(read_transcript(path, owner="ada", state=state, max_line=2000))
    assert said(again) == (["b"], [])


def test_a_packed_line_without_end_is_named_and_measured_in_packed_bytes(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = pack(tmp_path / (NAME + ".zst"), 400)
    seen: list[tuple[int, int | None]] = []
    report = workspace.import_codex([path], progress=lambda done, total, note: seen.append((done, total)))
    assert problems(report) == [(path.name, 3, "line too long")]
    assert contents(workspace) == ["before"]
    size = path.stat().st_size
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {size}
    assert len({done for done, _ in seen if done < size}) > 10
    assert seen[-1][0] == size
    again = workspace.import_codex([path])
    assert again.sessions[0].unchanged
    assert problems(again) == []


def test_passing_over_a_line_without_end_can_be_stopped_and_goes_on(
    workspace: Workspace, tmp_path: Path
) -> None:
    path = pack(tmp_path / (NAME + ".zst"), 400, behind=b"\n" + codex.lines([codex.said("user", "behind")]))
    seen: list[int] = []
    report = workspace.import_codex(
        [path], progress=lambda done, total, note: seen.append(done), cancelled=lambda: len(seen) >= 3
    )
    assert report.cancelled
    assert seen[-1] < path.stat().st_size / 2
    report = workspace.import_codex([path])
    assert problems(report) == [(path.name, 3, "line too long")]
    assert contents(workspace) == ["before", "behind"]


def test_packed_blank_lines_are_passed_over_at_once(workspace: Workspace, tmp_path: Path) -> None:
    behind = b"nonsense\n" + codex.lines([codex.said("user", "behind")])
    path = pack(tmp_path / (NAME + ".zst"), 64, b"\n", behind)
    report = workspace.import_codex([path])
    # One by one they would take minutes.
    assert problems(report) == [(path.name, 3 + 64 * MEGABYTE, "not JSON")]
    assert contents(workspace) == ["before", "behind"]


_IMPORT = """
import sys
from pathlib import Path
from workbench.workspace import Workspace
with Workspace.create(Path(sys.argv[2]), title="Test", timezone="UTC", owner="ada") as workspace:
    workspace.import_codex([Path(sys.argv[1])])
for line in Path("/proc/self/status").read_text().splitlines():
    if line.startswith("VmHWM:"):
        print(line.split()[1])
"""


def test_memory_for_a_packed_line_without_end_is_bounded(tmp_path: Path) -> None:
    path = pack(tmp_path / (NAME + ".zst"), 612)
    assert path.stat().st_size < 64 * 1024
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT, str(path), str(tmp_path / "ws")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    # Kilobytes, and the program itself with the filter's rules is in it. What getrusage says would count the program before, too.
    assert int(done.stdout) * 1024 < MAX_LINE + 112 * MEGABYTE


def test_a_first_line_without_end_is_still_a_transcript(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / (NAME + ".zst")
    head = json.dumps(codex.meta())[:-1].encode() + b', "x": "'
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as packer:
        packer.write(head)
        for _ in range(160):
            packer.write(b"a" * MEGABYTE)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    report = workspace.import_codex([path])
    assert problems(report) == [(path.name, 1, "line too long")]
    assert contents(workspace) == []

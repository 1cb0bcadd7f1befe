"""Records too long to be looked at: discovery stays small, and the file is not refused for them."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path

import pytest

from tests.imports import claude_code_records as claude
from tests.imports import codex_records as codex
from tests.imports.driver_log import contents, new_workspace, problems, talk
from workbench.imports.transcript import places

LONG_AGO = 1_700_000_000
STEM = "7b1d2f60-52aa-4c11-9d0e-0a4f5e6c7d81"


@pytest.fixture
def small_head(monkeypatch: pytest.MonkeyPatch) -> int:
    """What discovery looks at of a line, made small."""
    monkeypatch.setattr(places, "MAX_HEAD_LINE", 4096)
    return 4096


def settle(path: Path) -> Path:
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


@pytest.mark.parametrize("behind", [0, 4])
def test_a_transcript_that_begins_with_such_a_record_is_imported_whole(
    tmp_path: Path, small_head: int, behind: int
) -> None:
    session = STEM if not behind else claude.SESSION
    first = claude.user(900, "x" * small_head, sessionId=session)
    path = settle(claude.write(tmp_path / f"{STEM}.jsonl", [first, *talk(range(behind))]))
    with new_workspace(tmp_path / "ws") as workspace:
        [found] = workspace.find_claude_code([path]).transcripts
        assert found.candidate.session_id == session
        assert found.candidate.title == ("prompt 0" if behind else "")
        report = workspace.import_claude_code([path])
        assert report.totals["problems"] == 0
        assert [each.id for each in report.sessions] == [f"claude-code/{session}"]
        assert contents(workspace)[0] == "x" * small_head


@pytest.mark.parametrize("behind", [False, True])
def test_a_rollout_that_begins_with_such_a_record_is_imported_whole(
    tmp_path: Path, small_head: int, behind: bool
) -> None:
    records = [codex.said("user", "x" * small_head)]
    if behind:
        records += [codex.meta(), codex.turn("t"), codex.said("user", "Draw it")]
    path = settle(codex.write(tmp_path / f"rollout-2026-03-04T00-00-00-{codex.SESSION}.jsonl", records))
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_codex([path])
        assert [each.id for each in report.sessions] == [f"codex/{codex.SESSION}"]
        assert contents(workspace) == ["x" * small_head, *(["Draw it"] if behind else [])]
        assert report.totals["problems"] == 0


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_a_line_without_an_end_is_a_half_written_record(tmp_path: Path, small_head: int, kind: str) -> None:
    path = tmp_path / f"{STEM}.jsonl"
    path.write_bytes(b'{"type": "user", "message": "' + b"x" * small_head)
    settle(path)
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_transcripts(kind, [path])
        assert problems(report) == []
        assert report.sessions[0].waiting == path.stat().st_size


@pytest.mark.parametrize("kind", ["claude-code", "codex"])
def test_what_no_record_is_stays_refused(tmp_path: Path, small_head: int, kind: str) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("x" * small_head * 2 + "\n" + json.dumps({"note": "mine"}) + "\n")
    with new_workspace(tmp_path / "ws") as workspace:
        found = workspace.find_transcripts(kind, [path])
        assert [each.reason for each in found.refused] == ["no session records"]


def test_looking_at_a_record_of_a_hundred_megabytes_takes_no_such_memory(tmp_path: Path) -> None:
    path = tmp_path / f"{STEM}.jsonl"
    with path.open("wb") as file:
        file.write(b'{"type": "user", "sessionId": "s", "message": {"content": "')
        for _ in range(100):
            file.write(b"x" * 1_000_000)
        file.write(b'"}}\n' + claude.lines(talk(range(2))))
    with new_workspace(tmp_path / "ws") as workspace:
        tracemalloc.start()
        [found] = workspace.find_claude_code([path]).transcripts
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert found.candidate.session_id == claude.SESSION
    assert peak < 2.5 * places.MAX_HEAD_LINE

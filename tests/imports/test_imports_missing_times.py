"""Records that do not say when they happened: the last known time of their file stands in."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.imports import claude_code_records as claude
from tests.imports import codex_records as codex
from tests.imports.driver_log import new_workspace, told
from workbench.imports.claude_code.reader import read_transcript
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.codex import RolloutState, read_rollout
from workbench.imports.codex.identity import time_in_id
from workbench.imports.codex.lineage import began
from workbench.imports.transcript.items import ActumItem, Checkpoint, Item
from workbench.imports.transcript.state import FileState, copy_state

UUID = "0b1f6a2e-4d1c-4b7e-9c55-0d7f0c5f1a11"
"""Holds no time."""
NAME = f"rollout-2026-03-04T05-06-07-{UUID}.jsonl"
NAMED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def at(second: int) -> datetime:
    return datetime(2026, 5, 6, 7, 8, second, tzinfo=UTC)


def claude_line(number: int, second: int | None) -> dict[str, Any]:
    return stamped(claude.user(number, f"text {number}"), second)


def codex_line(number: int, second: int | None) -> dict[str, Any]:
    return stamped(codex.said("user", f"text {number}"), second)


def stamped(record: dict[str, Any], second: int | None) -> dict[str, Any]:
    record.pop("timestamp", None)
    return record if second is None else record | {"timestamp": at(second).isoformat()}


def read_claude(path: Path, state: FileState | None, *, settled: bool = True) -> Iterable[Item]:
    known = state if isinstance(state, ReaderState) else None
    return read_transcript(path, owner="ada", state=known, settled=settled)


def read_codex(path: Path, state: FileState | None, *, settled: bool = True) -> Iterable[Item]:
    known = state if isinstance(state, RolloutState) else None
    return read_rollout(path, owner="ada", state=known, settled=settled)


class Kind(NamedTuple):
    """How one program's files are written and read."""

    line: Callable[[int, int | None], dict[str, Any]]
    read: Callable[..., Iterable[Item]]
    name: str


KINDS = [
    pytest.param(Kind(claude_line, read_claude, f"{UUID}.jsonl"), id="claude-code"),
    pytest.param(Kind(codex_line, read_codex, NAME), id="codex"),
]


def times(items: Iterable[Item]) -> list[datetime | None]:
    return [item.occurred_at for item in items if isinstance(item, ActumItem)]


def put(path: Path, records: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_time_stands_in_and_before_any_the_next(kind: Kind, tmp_path: Path) -> None:
    seconds = [None, None, 5, None, 9, None, None, 7, None]
    path = put(tmp_path / kind.name, [kind.line(*each) for each in enumerate(seconds)])
    assert times(kind.read(path, None)) == [at(second) for second in (5, 5, 5, 5, 9, 9, 9, 7, 7)]


@pytest.mark.parametrize("kind", KINDS)
def test_what_gives_no_actum_tells_the_time_too(kind: Kind, tmp_path: Path) -> None:
    records = [kind.line(0, 1), {"type": "other", "timestamp": at(4).isoformat()}, kind.line(1, None)]
    assert times(kind.read(put(tmp_path / kind.name, records), None)) == [at(1), at(4)]


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(
    seconds=st.lists(st.none() | st.integers(0, 59), min_size=1, max_size=12),
    cut=st.integers(0, 12),
    settled=st.booleans(),
)
def test_read_in_two_parts_the_times_are_the_same(
    kind: Kind, seconds: list[int | None], cut: int, settled: bool
) -> None:
    # What no time was known for at the first import cannot have the one that was written later.
    seconds[0] = 30 if seconds[0] is None else seconds[0]
    records = [kind.line(*each) for each in enumerate(seconds)]
    with tempfile.TemporaryDirectory() as folder:
        whole = times(kind.read(put(Path(folder) / kind.name, records), None))
        path = put(Path(folder) / kind.name, records[:cut])
        *first, end = kind.read(path, None, settled=settled)
        assert isinstance(end, Checkpoint)
        put(path, records)
        second = times(kind.read(path, copy_state(end.state)))
        assert (times(first) + second)[-len(whole) :] == whole


def test_an_event_that_waits_comes_with_the_time_it_had(tmp_path: Path) -> None:
    event = codex.event("agent_message", message="waits")
    records = [codex_line(0, 3), stamped(event, None), codex_line(1, 8)]
    path = put(tmp_path / NAME, records)
    *items, end = read_codex(path, None, settled=False)
    assert isinstance(end, Checkpoint)
    assert times(items) == [at(3), at(8)]
    assert times(read_codex(path, copy_state(end.state))) == [at(3), at(8)]


def test_a_claude_code_answer_that_waits_does_not_change_the_time_before_it(tmp_path: Path) -> None:
    answer = claude.assistant(1, [claude.text("a")], usage={"output_tokens": 1})
    records = [claude_line(0, 3), stamped(answer, None), stamped(claude.user(2, "b"), 8)]
    path = put(tmp_path / f"{UUID}.jsonl", records)
    *items, end = read_claude(path, None, settled=False)
    assert isinstance(end, Checkpoint)
    assert times(items) == [at(3)]
    assert times(read_claude(path, copy_state(end.state))) == [at(3), at(8)]


def test_a_rollout_without_any_time_takes_that_of_its_session(tmp_path: Path) -> None:
    records = [codex_line(0, None), codex_line(1, None)]
    assert times(read_codex(put(tmp_path / NAME, records), None)) == [NAMED, NAMED]
    meta = codex.meta()
    del meta["timestamp"], meta["payload"]["timestamp"]
    made = time_in_id(codex.SESSION)
    assert made is not None
    assert times(read_codex(put(tmp_path / "log.jsonl", [meta, *records]), None)) == [made, made]
    assert times(read_codex(put(tmp_path / "other.jsonl", records), None)) == [None, None]


def test_the_older_form_has_the_time_of_its_description(tmp_path: Path) -> None:
    bare = {"id": UUID, "timestamp": at(2).isoformat(), "instructions": None}
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}
    assert times(read_codex(put(tmp_path / NAME, [bare, item]), None)) == [at(2)]


@pytest.mark.parametrize(
    ("name", "session", "expected"),
    [
        (NAME, UUID, NAMED),
        (NAME + ".zst", UUID, NAMED),
        ("rollout-2026-02-30T05-06-07-x.jsonl", "x", None),
        ("rollout-2026-03-04T25-06-07-x.jsonl", "x", None),
        ("log.jsonl", "x", None),
        (NAME, "019cb739-6bb4-7000-8000-000000000001", None),
        (NAME, "ffffffff-ffff-7000-8000-000000000001", NAMED),
    ],
)
def test_when_a_session_began(name: str, session: str, expected: datetime | None) -> None:
    found = began(Path(name), session)
    if expected is None and session.startswith("019cb739"):
        expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=0x019CB7396BB4)
    assert found == expected


def test_a_growing_rollout_is_stored_like_a_whole_one(tmp_path: Path) -> None:
    records = [codex_line(0, None), codex_line(1, 9), codex_line(2, None), codex_line(3, None)]
    (tmp_path / "in").mkdir()
    path = put(tmp_path / "in" / NAME, records)
    with new_workspace(tmp_path / "whole") as workspace:
        workspace.import_codex([path])
        whole = told(workspace)
    with new_workspace(tmp_path / "parts") as workspace:
        for count in (2, 3, 4):
            workspace.import_codex([put(path, records[:count])])
        parts = told(workspace)
    assert parts == whole
    assert [each[-1] for each in whole] == [at(9)] * 4

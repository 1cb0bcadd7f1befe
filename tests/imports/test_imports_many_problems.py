"""Files of nothing but bad lines: the first are named, all are counted, and memory stays as it is."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.imports.claude_code_records import SESSION, write
from tests.imports.driver_log import assert_adds_up, contents, new_workspace, talk
from workbench.imports.report import MOST_PROBLEMS, ImportProblem, SessionReport, ignored_words
from workbench.imports.transcript.decoding import Undecodable, decode_leniently

OTHER = "99999999-2222-4333-8444-555555555555"


def broken(path: Path, count: int, session: str = SESSION, first: int = 0) -> Path:
    """A file of a message, `count` bad lines, and one more message."""
    write(path, talk([first], session))
    with path.open("ab") as file:
        file.write(b"{\n" * count)
        file.write(json.dumps(talk([first + 2], session)[0]).encode() + b"\n")
    return path


@pytest.mark.parametrize("dry_run", [False, True])
def test_of_each_transcript_the_first_are_named_and_all_counted(tmp_path: Path, dry_run: bool) -> None:
    # Far enough for checkpoints that have nothing new before them to be noted as one.
    count = MOST_PROBLEMS + 11_000
    paths = [
        broken(tmp_path / "in" / f"{SESSION}.jsonl", count),
        broken(tmp_path / "in" / f"{OTHER}.jsonl", 5, OTHER, first=4),
    ]
    with new_workspace(tmp_path / "ws") as workspace:
        report = workspace.import_claude_code(paths, dry_run=dry_run)
        assert [len(each.problems) for each in report.sessions] == [MOST_PROBLEMS, 5]
        assert [each.problems_more for each in report.sessions] == [11_000, 0]
        assert [each.line for each in report.sessions[0].problems] == list(range(2, MOST_PROBLEMS + 2))
        assert report.totals["problems"] == count + 5
        assert report.totals["acta_added"] == 4
        assert_adds_up(report)
        if not dry_run:
            assert contents(workspace) == [f"prompt {number}" for number in (0, 2, 4, 6)]
            assert all(each.unchanged for each in workspace.import_claude_code(paths).sessions)


def test_memory_does_not_grow_with_the_bad_lines(tmp_path: Path) -> None:
    peaks = []
    for count in (2 * MOST_PROBLEMS, 20 * MOST_PROBLEMS):
        path = broken(tmp_path / str(count) / f"{SESSION}.jsonl", count)
        with new_workspace(tmp_path / f"ws{count}") as workspace:
            tracemalloc.start()
            try:
                workspace.import_claude_code([path])
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
    # A problem takes more than a hundred bytes; there are 18,000 more of them.
    assert peaks[1] < peaks[0] + 500_000


def test_a_problem_of_the_whole_file_is_always_named() -> None:
    report = SessionReport(id="", source="f")
    for line in range(1, MOST_PROBLEMS + 3):
        report.note(ImportProblem("f", line, "not JSON"))
    report.note(ImportProblem("f", 0, "it went"))
    assert report.problems_more == 2
    assert report.problems[-1].is_whole


def outcome(data: bytes) -> object:
    try:
        return decode_leniently(data, 1, [])
    except Undecodable as problem:
        return problem.reason


@given(st.text(alphabet='{}[]":,1eaN \\\t\x01', max_size=12).map(lambda text: "{" + text))
def test_a_line_is_no_json_just_where_the_parser_says_so(text: str) -> None:
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        assert outcome(text.encode()) == "not JSON"
    else:
        assert isinstance(value, dict)
        assert isinstance(outcome(text.encode()), dict)


def test_what_has_no_type_is_said_in_words() -> None:
    assert ignored_words("record:None") == "a record without a type"
    assert ignored_words("item:None") == "an item without a type"
    assert ignored_words("record:summary") == "record:summary"

"""Records that come again: grown, cut and replaced files, duplicates, forks, names that look alike."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.imports.claude_code_records import SESSION, assistant, lines, text, user, write
from tests.imports.driver_log import (
    CHRONICUM,
    acta_of_talk,
    assert_adds_up,
    assert_gapless,
    contents,
    described,
    events,
    keys,
    new_workspace,
    numbers,
    talk,
)
from workbench.imports import driver
from workbench.workspace import Workspace

FORK = "99999999-2222-4333-8444-555555555555"


@pytest.fixture
def workspace(tmp_path: Path) -> Any:
    with new_workspace(tmp_path / "ws") as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


BAD = (b"not JSON\n", b'{"broken": \xff}\n', b"[]\n")


def test_lines_that_could_not_be_read_are_counted_by_every_later_import(
    workspace: Workspace, path: Path
) -> None:
    whole = lines(talk(range(4))).splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:2], *BAD[:2], *whole[2:]]))
    first = workspace.import_claude_code([path])
    assert (first.totals["problems"], first.totals["unread_before"]) == (2, 0)
    for dry_run in (True, False):
        again = workspace.import_claude_code([path], dry_run=dry_run)
        assert again.sessions[0].unchanged
        assert (again.totals["problems"], again.totals["unread_before"]) == (0, 2)
    with path.open("ab") as file:
        file.write(BAD[2] + lines(talk([4])))
    grown = workspace.import_claude_code([path])
    assert (grown.totals["problems"], grown.totals["unread_before"]) == (1, 2)
    assert workspace.import_claude_code([path]).totals["unread_before"] == 3
    # Another file in its place is read from its start: what is wrong with it is named.
    path.write_bytes(b"".join([BAD[0], *whole]))
    replaced = workspace.import_claude_code([path])
    assert (replaced.totals["problems"], replaced.totals["unread_before"]) == (1, 0)
    assert workspace.import_claude_code([path]).totals["unread_before"] == 1
    path.write_bytes(b"".join(whole))
    assert workspace.import_claude_code([path]).totals["unread_before"] == 0


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_half_written_line_waits_for_its_rest(workspace: Workspace, path: Path, cut: int) -> None:
    whole = lines(talk(range(6)))
    path.write_bytes(whole[:-cut])
    report = workspace.import_claude_code([path])
    last = 5 if cut == 1 else 4
    assert contents(workspace) == acta_of_talk(range(last + 1))
    assert (report.sessions[0].waiting > 0) is (cut > 1)
    assert report.totals["problems"] == 0
    before = events(workspace)
    again = workspace.import_claude_code([path])
    assert again.sessions[0].unchanged
    # It waits still, and that is said.
    assert again.sessions[0].waiting == report.sessions[0].waiting
    assert again.totals["waiting_lines"] == int(cut > 1)
    assert not workspace.find_claude_code([path]).transcripts[0].is_new
    assert events(workspace) == before
    path.write_bytes(whole + lines(talk([6])))
    workspace.import_claude_code([path])
    assert contents(workspace) == acta_of_talk(range(7))
    assert_gapless(workspace)


def test_a_file_grows_byte_by_byte(workspace: Workspace, path: Path) -> None:
    whole = lines(talk(range(3)))
    for end in range(200, len(whole) + 1, 97):
        path.write_bytes(whole[:end])
        workspace.import_claude_code([path])
    path.write_bytes(whole)
    workspace.import_claude_code([path])
    assert contents(workspace) == acta_of_talk(range(3))


def test_of_a_file_that_shrank_or_was_replaced_only_new_records_enter(
    workspace: Workspace, path: Path
) -> None:
    write(path, talk(range(1200)))
    workspace.import_claude_code([path])
    before = events(workspace)
    write(path, talk(range(700)))
    report = workspace.import_claude_code([path])
    assert (report.totals["acta_added"], report.totals["duplicates"]) == (0, 700)
    assert events(workspace) == before
    write(path, [user(5000, "at the front"), *talk(range(3)), user(5001, "at the end")])
    report = workspace.import_claude_code([path])
    assert (report.totals["acta_added"], report.totals["duplicates"]) == (2, 3)
    assert contents(workspace)[-2:] == ["at the front", "at the end"]
    assert_gapless(workspace)


def test_a_file_read_again_tells_no_old_branch_or_title(workspace: Workspace, path: Path) -> None:
    records = talk(range(1500))
    for number, record in enumerate(records):
        record["gitBranch"] = f"branch-{number // 600}"
    write(path, records)
    workspace.import_claude_code([path])
    before = events(workspace)
    assert described(workspace)["git_branch"] == "branch-2"
    copy = path.with_name("copy") / path.name
    copy.parent.mkdir()
    shutil.copy(path, copy)
    path.unlink()
    workspace.import_claude_code([copy])
    # The file moved, and nothing else is to be told.
    assert [event.payload for event in events(workspace)[len(before) :]] == [{"source": str(copy)}]


def test_a_record_twice_in_a_file_enters_once(workspace: Workspace, path: Path) -> None:
    twice = assistant(1, [text("one"), text("two")])
    longer = assistant(1, [text("one"), text("two"), text("three")])
    far = talk(range(100, 1400))
    write(path, [user(0, "go"), twice, longer, twice, user(2, "on"), *far, twice, user(0, "go")])
    foreseen = workspace.import_claude_code([path], dry_run=True)
    report = workspace.import_claude_code([path])
    assert numbers(foreseen) == numbers(report)
    assert report.sessions[0].duplicates == 4
    assert contents(workspace) == ["go", "one", "two", "on", *acta_of_talk(range(100, 1400))]
    assert_gapless(workspace)


def test_a_record_in_two_files_enters_once_and_a_dry_run_foresees_it(
    workspace: Workspace, tmp_path: Path
) -> None:
    write(tmp_path / "in" / "a" / f"{SESSION}.jsonl", talk(range(6)))
    write(tmp_path / "in" / "b" / f"{SESSION}.jsonl", talk(range(3, 9)))
    foreseen = workspace.import_claude_code([tmp_path / "in"], dry_run=True)
    report = workspace.import_claude_code([tmp_path / "in"])
    assert numbers(foreseen) == numbers(report)
    assert foreseen.totals == report.totals
    assert [(s.acta_added, s.duplicates, s.acta_total) for s in report.sessions] == [(9, 0, 9), (4, 3, 13)]
    assert contents(workspace) == acta_of_talk(range(9))
    assert_adds_up(report)


@pytest.mark.parametrize("shared", [3, 1500])
def test_a_fork_leaves_its_first_records_where_they_were(
    workspace: Workspace, tmp_path: Path, shared: int
) -> None:
    first = write(tmp_path / f"{SESSION}.jsonl", talk(range(shared)))
    fork = write(tmp_path / f"{FORK}.jsonl", talk(range(shared + 2), FORK))
    workspace.import_claude_code([first])
    report = workspace.import_claude_code([fork])
    [session] = report.sessions
    assert (session.id, session.duplicates) == (f"claude-code/{FORK}", shared)
    assert session.acta_added == len(acta_of_talk(range(shared, shared + 2)))
    facts = described(workspace, f"claude-code/{FORK}")
    assert facts["forked_from"] == CHRONICUM
    assert (facts["title"], facts["source"]) == ("prompt 0", str(fork))
    assert "forked_from" not in described(workspace)
    before = events(workspace)
    workspace.import_claude_code([first, fork])
    assert events(workspace) == before


def test_where_the_fork_came_first_the_other_names_it(workspace: Workspace, tmp_path: Path) -> None:
    fork = write(tmp_path / f"{FORK}.jsonl", talk(range(4), FORK))
    workspace.import_claude_code([fork])
    first = write(tmp_path / f"{SESSION}.jsonl", talk(range(2)) + talk(range(10, 12)))
    workspace.import_claude_code([first])
    assert described(workspace)["forked_from"] == f"claude-code/{FORK}"


def test_a_fork_that_says_something_of_its_own_later_is_described_then(
    workspace: Workspace, tmp_path: Path
) -> None:
    write(tmp_path / f"{SESSION}.jsonl", talk(range(600)))
    fork = write(tmp_path / f"{FORK}.jsonl", talk(range(600), FORK))
    report = workspace.import_claude_code([tmp_path])
    assert report.totals["duplicates"] == 600
    assert [s.acta_total for s in report.sessions] == [900, 0]
    assert not any(found.is_new for found in workspace.find_claude_code([tmp_path]).transcripts)
    with fork.open("ab") as file:
        file.write(lines(talk([600], FORK)))
    workspace.import_claude_code([tmp_path])
    facts = described(workspace, f"claude-code/{FORK}")
    assert (facts["title"], facts["forked_from"]) == ("prompt 0", CHRONICUM)


def test_blocks_of_one_record_are_never_divided(
    workspace: Workspace, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stop between two transactions must not make the rest of a record a duplicate.
    monkeypatch.setattr(driver, "_BATCH_ITEMS", 7)
    many = [assistant(n, [text(f"{n}.{block}") for block in range(5)]) for n in range(20)]
    write(path, many)
    expected = [f"{n}.{block}" for n in range(20) for block in range(5)]
    for stop in range(12):
        asked = iter(range(stop))
        workspace.import_claude_code([path], cancelled=lambda asked=asked: next(asked, -1) < 0)  # type: ignore[misc]
        assert contents(workspace) == expected[: len(contents(workspace))]
        assert len(contents(workspace)) % 5 == 0
    workspace.import_claude_code([path])
    assert contents(workspace) == expected


def test_names_that_begin_alike_are_different_records(workspace: Workspace, path: Path) -> None:
    names = ["u1:0", "u1", "u", "u1:0:0", "u1:", "u1:x", "u1;", "u1\x00", "u1:0\x00", "U1", "ü1", "%", "_1"]
    for order in (names, names[::-1]):
        write(path, [user(0, f"says {name}", uuid=name) for name in order])
        workspace.import_claude_code([path])
        assert sorted(contents(workspace)) == sorted(f"says {name}" for name in names)
    assert len(set(keys(workspace))) == len(names)


def test_records_without_a_name_enter_once(workspace: Workspace, path: Path) -> None:
    records = [user(n, "same words", uuid=None) for n in range(3)]
    for number, record in enumerate(records):
        record["timestamp"] = f"2026-02-03T04:05:0{number}.000Z"
    write(path, records)
    workspace.import_claude_code([path])
    workspace.import_claude_code([path])
    # The place of a line is a part of its name, so that equal lines stay apart.
    with path.open("ab") as file:
        file.write(lines([records[2]]))
    path.with_name("copy").mkdir()
    shutil.copy(path, path.with_name("copy") / path.name)
    report = workspace.import_claude_code([path.with_name("copy")])
    assert (report.totals["acta_added"], report.totals["duplicates"]) == (1, 3)
    assert contents(workspace) == ["same words"] * 4

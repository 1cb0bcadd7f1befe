"""Codex rollouts through a real workspace: growth, repeats, forks, owners, secrets, what goes wrong."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.imports.codex_records import (
    SESSION,
    call,
    event,
    item,
    lines,
    meta,
    output,
    record,
    said,
    thought,
    turn,
    write,
)
from tests.imports.driver_log import (
    assert_adds_up,
    assert_gapless,
    contents,
    described,
    events,
    new_workspace,
    numbers,
    problems,
)
from workbench.workspace import Workspace

NAME = f"rollout-2026-03-04T00-00-00-{SESSION}.jsonl"
CHRONICUM = f"codex/{SESSION}"
FORK = "0199a1b3-0000-7000-8000-000000000002"
KEY = "sk-ant-api03-" + "aaa" + "9xQ2vB7nM4kL8pR5tW"
MARKER = "[REDACTED:anthropic_key]"
LONG_AGO = 1_700_000_000

TALK = [
    meta(),
    turn("t1"),
    event("user_message", message="Draw it"),
    said("user", "Draw it"),
    thought("A plan"),
    call("c1"),
    output("c1", "a.py"),
    said("assistant", "Drawn"),
]
ACTA = ["Draw it", "A plan", '{"command":["ls"]}', "a.py", "Drawn"]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with new_workspace(tmp_path / "ws") as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "in" / NAME


def put(path: Path, records: Iterable[Any], *, more: bytes = b"") -> Path:
    """A rollout that was left alone long enough to be complete."""
    write(path, records)
    with path.open("ab") as file:
        file.write(more)
    return settle(path)


def settle(path: Path) -> Path:
    # A moment later with each call: two states of a file never look the same.
    settle.calls += 1  # type: ignore[attr-defined]
    at = LONG_AGO + settle.calls  # type: ignore[attr-defined]
    os.utime(path, (at, at))
    return path


settle.calls = 0  # type: ignore[attr-defined]


# -- growth ------------------------------------------------------------------------------------


def test_a_rollout_enters_once_and_goes_on_where_it_grew(workspace: Workspace, path: Path) -> None:
    put(path, TALK)
    foreseen = workspace.import_codex([path], dry_run=True)
    assert events(workspace) == []
    report = workspace.import_codex([path])
    assert numbers(foreseen) == numbers(report)
    assert contents(workspace) == ACTA
    assert_adds_up(report)
    before = events(workspace)
    assert workspace.import_codex([path]).sessions[0].unchanged
    assert not workspace.find_codex([path]).transcripts[0].is_new
    put(path, [*TALK, turn("t2"), said("user", "More"), said("assistant", "Drawn")])
    assert workspace.find_codex([path]).transcripts[0].is_new
    grown = workspace.import_codex([path])
    assert (grown.totals["acta_added"], grown.totals["duplicates"]) == (2, 0)
    assert contents(workspace) == [*ACTA, "More", "Drawn"]
    assert events(workspace)[: len(before)] == before
    assert_gapless(workspace)


@pytest.mark.parametrize("cut", [1, 20, 120])
def test_a_half_written_line_waits_for_its_rest(workspace: Workspace, path: Path, cut: int) -> None:
    whole = lines(TALK)
    put(path, [], more=whole[:-cut])
    report = workspace.import_codex([path])
    assert contents(workspace) == (ACTA if cut == 1 else ACTA[:-1])
    assert (report.sessions[0].waiting > 0) is (cut > 1)
    assert report.totals["problems"] == 0
    assert workspace.import_codex([path]).sessions[0].unchanged
    put(path, [], more=whole)
    workspace.import_codex([path])
    assert contents(workspace) == ACTA
    assert_gapless(workspace)


def test_a_rollout_grows_byte_by_byte(workspace: Workspace, path: Path) -> None:
    whole = lines(TALK)
    for end in range(150, len(whole) + 1, 61):
        put(path, [], more=whole[:end])
        workspace.import_codex([path])
    put(path, [], more=whole)
    workspace.import_codex([path])
    assert sorted(contents(workspace)) == sorted(ACTA)
    assert_gapless(workspace)


def test_an_event_whose_item_may_still_come_waits_and_is_reported(workspace: Workspace, path: Path) -> None:
    begun = [*TALK, turn("t2"), event("user_message", message="And now?")]
    write(path, begun)
    report = workspace.import_codex([path])
    assert contents(workspace) == ACTA
    assert [each.waiting_messages for each in report.sessions] == [1]
    assert workspace.find_codex([path]).transcripts[0].is_new
    # Its item came: the event is its twin.
    write(path, [*begun, said("user", "And now?")])
    assert workspace.import_codex([path]).totals["acta_added"] == 1
    assert contents(workspace) == [*ACTA, "And now?"]
    # No item comes for this one, and the file is left alone.
    last = [*begun, said("user", "And now?"), event("agent_message", message="Only an event")]
    write(path, last)
    assert workspace.import_codex([path]).sessions[0].waiting_messages == 1
    put(path, last)
    settled = workspace.import_codex([path])
    assert (settled.totals["acta_added"], settled.sessions[0].waiting_messages) == (1, 0)
    assert contents(workspace) == [*ACTA, "And now?", "Only an event"]
    assert workspace.import_codex([path]).sessions[0].unchanged
    assert_gapless(workspace)


def test_of_a_rollout_that_shrank_or_moved_nothing_enters_twice(
    workspace: Workspace, path: Path, tmp_path: Path
) -> None:
    put(path, TALK)
    workspace.import_codex([path])
    before = events(workspace)
    put(path, TALK[:-2])
    report = workspace.import_codex([path])
    assert (report.totals["acta_added"], report.totals["duplicates"]) == (0, 3)
    moved = put(tmp_path / "archived_sessions" / NAME, TALK)
    report = workspace.import_codex([moved])
    assert (report.totals["acta_added"], report.totals["duplicates"]) == (0, 5)
    assert [e.payload for e in events(workspace)[len(before) :]] == [{"source": str(moved)}]


# -- compaction, rollback, images -----------------------------------------------------------------


def test_compactions_and_rollbacks_close_units_and_keep_the_turns(workspace: Workspace, path: Path) -> None:
    taken_back = [turn("t2"), said("user", "Bad"), event("thread_rolled_back", num_turns=1)]
    compacted = record("compacted", {"message": "In short"})
    put(path, [*TALK, *taken_back, turn("t3"), said("user", "Good"), compacted, said("assistant", "Yes")])
    workspace.import_codex([path])
    assert contents(workspace) == [*ACTA, "Bad", "Good", "In short", "Yes"]
    closed = [e.payload for e in events(workspace) if e.envelope.type == "unit.closed"]
    assert [(each["unit"], each.get("note", "")) for each in closed] == [
        ("rollback", "1 turn"),
        ("compaction", ""),
    ]
    turns = {e.payload["content"]: e.payload["metadata"].get("turn_id") for e in acta(workspace)}
    assert (turns["Bad"], turns["Good"]) == ("t2", "t3")
    seqs = {e.payload["content"]: e.seq for e in acta(workspace)}
    assert workspace.readers.entries.rewound(CHRONICUM) == [(seqs["Bad"], seqs["Bad"], True)]


def acta(workspace: Workspace) -> list[Any]:
    return [e for e in events(workspace) if e.envelope.type == "actum.recorded"]


def picture(data: bytes) -> dict[str, Any]:
    address = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return {"type": "input_image", "image_url": address}


def test_images_in_messages_are_evidence_by_digest(workspace: Workspace, path: Path) -> None:
    one, two = b"\x89PNG one", b"\x89PNG two"
    asked = [{"type": "input_text", "text": "What is it?"}, picture(one)]
    answered = [{"type": "input_text", "text": "shot"}, picture(two)]
    put(
        path,
        [meta(), turn("t"), item("message", role="user", content=asked), call("c"), output("c", answered)],
    )
    workspace.import_codex([path], dry_run=True)
    assert list(workspace.layout.artifacts.rglob("*")) == []
    workspace.import_codex([path])
    digests = [hashlib.sha256(each).hexdigest() for each in (one, two)]
    found = {e.payload["content"]: e.payload["metadata"].get("evidence") for e in acta(workspace)}
    assert found["[image png, 8 bytes]" if len(one) == 8 else f"[image png, {len(one)} bytes]"] == [
        digests[0]
    ]
    assert [digests[1]] in found.values()
    assert [workspace.evidence.get(digest) for digest in digests] == [one, two]


# -- forks and sub-agents -------------------------------------------------------------------------


def fork_records() -> list[dict[str, Any]]:
    return [meta(FORK, forked_from_id=SESSION), *TALK, turn("t9"), said("user", "Another way")]


def test_a_fork_leaves_its_first_records_where_they_were(workspace: Workspace, path: Path) -> None:
    put(path, [*TALK, turn("t2"), said("user", "On")])
    fork = put(path.with_name(f"rollout-2026-03-04T00-09-00-{FORK}.jsonl"), fork_records())
    report = workspace.import_codex([fork, path])
    assert [(s.id, s.acta_added, s.duplicates) for s in report.sessions] == [
        (CHRONICUM, 6, 0),
        (f"codex/{FORK}", 1, 5),
    ]
    assert described(workspace, f"codex/{FORK}")["forked_from"] == CHRONICUM
    assert "forked_from" not in described(workspace, CHRONICUM)


def test_a_fork_that_came_before_its_parent_keeps_what_they_share(workspace: Workspace, path: Path) -> None:
    fork = put(path.with_name(f"rollout-2026-03-04T00-09-00-{FORK}.jsonl"), fork_records())
    workspace.import_codex([fork])
    put(path, [*TALK, turn("t2"), said("user", "On")])
    report = workspace.import_codex([path])
    assert (report.totals["acta_added"], report.totals["duplicates"]) == (1, 5)
    assert described(workspace, f"codex/{FORK}")["forked_from"] == CHRONICUM
    assert described(workspace, CHRONICUM)["forked_from"] == f"codex/{FORK}"
    assert contents(workspace) == [*ACTA, "Another way", "On"]
    # Each names the other, and every list of sessions still ends.
    page = workspace.readers.sessions
    assert {page.get(each).forked_from for each in (CHRONICUM, f"codex/{FORK}")} == {  # type: ignore[union-attr]
        CHRONICUM,
        f"codex/{FORK}",
    }


@pytest.mark.parametrize("names", [("one",), ("one", "two"), ("one", "two", "three")])
def test_sessions_that_are_forks_of_each_other_are_imported(
    workspace: Workspace, tmp_path: Path, names: tuple[str, ...]
) -> None:
    for place, name in enumerate(names):
        origin = names[(place + 1) % len(names)]
        put(
            tmp_path / "in" / f"{name}.jsonl", [meta(name, forked_from_id=origin), turn(), said("user", name)]
        )
    report = workspace.import_codex([tmp_path / "in"])
    assert report.totals["acta_added"] == len(names)
    assert sorted(contents(workspace)) == sorted(names)
    for name in names:
        assert workspace.readers.sessions.get(f"codex/{name}") is not None


# -- owners, secrets ------------------------------------------------------------------------------


def test_a_foreign_session_is_refused_and_the_others_go_on(workspace: Workspace, path: Path) -> None:
    put(path, TALK)
    workspace.import_codex([path], owner="bob")
    other = put(path.with_name("other.jsonl"), [meta("other"), turn(), said("user", "hers")])
    put(path, [*TALK, turn("t2"), said("user", "his")])
    report = workspace.import_codex([path.parent])
    assert problems(report) == [(NAME, 0, f"the session {CHRONICUM} belongs to another owner")]
    assert report.totals["acta_added"] == 1
    assert other.exists()
    assert workspace.import_codex([path], owner="bob").totals["acta_added"] == 1


SECRET_PLACES = ["text", "arguments", "tool", "call id", "cwd", "branch", "turn", "session", "root", "path"]


@pytest.mark.parametrize("place", SECRET_PLACES)
def test_a_secret_is_stored_nowhere_and_counted(tmp_path: Path, path: Path, place: str) -> None:
    session = KEY if place in ("session", "root") else SESSION
    begin = [meta(session, cwd=f"/home/{KEY}" if place == "cwd" else "/home/ada")]
    if place == "branch":
        begin = [meta(session, git={"branch": f"fix/{KEY}"})]
    if place == "root":
        begin = [meta(FORK, forked_from_id=KEY), meta(KEY)]
    begin.append(turn(KEY if place == "turn" else "t1"))
    records = [*begin, *TALK[2:]]
    if place == "text":
        records.append(said("assistant", f"use {KEY}!"))
    elif place == "arguments":
        records.append(call("c7", arguments=json.dumps({"text": f"# env\n{KEY}\n"})))
    elif place == "tool":
        records.append(call("c7", name=KEY))
    elif place == "call id":
        records += [call(KEY), output(KEY, "done")]
    elif place == "path":
        path = tmp_path / "in" / KEY / NAME
    put(path, records)
    with new_workspace(tmp_path / "ws") as workspace:
        foreseen = workspace.import_codex([path], dry_run=True)
        report = workspace.import_codex([path])
        assert report.totals["problems"] == 0
        assert sum(each.redactions.get("anthropic_key", 0) for each in report.sessions) >= 1
        assert numbers(foreseen) == numbers(report)
        before = events(workspace)
        assert MARKER in json.dumps([e.payload for e in before])
        assert workspace.import_codex([path]).sessions[0].unchanged == (place != "path")
        # It grows: the names of its records go on as they began, and it is read again from its start.
        put(path, [*records, said("assistant", "Drawn")])
        assert workspace.import_codex([path]).totals["acta_added"] == 1
        put(path.with_name("copy.jsonl"), [*records, said("assistant", "Drawn")])
        again = workspace.import_codex([path.with_name("copy.jsonl")])
        assert again.totals["acta_added"] == 0
        assert_gapless(workspace)
    stored = b"".join(file.read_bytes() for file in (tmp_path / "ws").rglob("*") if file.is_file())
    assert KEY.encode() not in stored


# -- what goes wrong --------------------------------------------------------------------------------


def test_a_rollout_that_vanishes_during_the_import_is_named(workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("a", "b", "c"):
        put(folder / f"{name}.jsonl", [meta(name), turn(), said("user", f"of {name}")])

    def vanish(done: int, total: int | None, note: str) -> None:
        (folder / "c.jsonl").unlink(missing_ok=True)

    report = workspace.import_codex([folder], progress=vanish)
    assert problems(report) == [("c.jsonl", 0, "No such file or directory")]
    assert contents(workspace) == ["of a", "of b"]
    assert_adds_up(report)
    # What is gone stays as it was imported.
    (folder / "a.jsonl").unlink()
    workspace.import_codex([folder])
    assert contents(workspace) == ["of a", "of b"]


def test_bad_lines_are_named_and_the_others_kept(workspace: Workspace, path: Path) -> None:
    good = lines(TALK).splitlines(keepends=True)
    path.parent.mkdir()
    deep = b'{"type":"response_item","payload":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    path.write_bytes(b"".join([*good[:4], b"not json\n", b"[1]\n", b"\xff\xfe\n", deep, *good[4:]]))
    settle(path)
    report = workspace.import_codex([path])
    assert [(line, reason) for _, line, reason in problems(report)] == [
        (5, "not JSON"),
        (6, "not an object"),
        (7, "not UTF-8"),
        (8, "too deep"),
    ]
    assert contents(workspace) == ACTA


def test_a_compressed_rollout_is_read_and_is_the_same_session_as_the_plain_one(
    workspace: Workspace, path: Path
) -> None:
    packed = path.with_name(NAME + ".zst")
    packed.parent.mkdir()
    packed.write_bytes(zstandard.ZstdCompressor().compress(lines(TALK)))
    settle(packed)
    assert workspace.import_codex([path.parent]).totals["acta_added"] == 5
    assert workspace.import_codex([path.parent]).sessions[0].unchanged
    # Unpacked, the plain file is the one that is read; it went on.
    put(path, [*TALK, turn("t2"), said("user", "More")])
    found = workspace.find_codex([path.parent])
    assert [each.candidate.path for each in found.transcripts] == [path]
    report = workspace.import_codex([path.parent])
    assert (report.totals["acta_added"], report.totals["duplicates"]) == (1, 5)
    assert contents(workspace) == [*ACTA, "More"]


def test_a_small_compressed_rollout_is_done_though_it_is_longer_packed(
    workspace: Workspace, path: Path
) -> None:
    packed = path.with_name(NAME + ".zst")
    packed.parent.mkdir()
    noise = b"".join(zstandard.ZstdCompressor().compress(b"") for _ in range(400))
    packed.write_bytes(zstandard.ZstdCompressor().compress(lines(TALK)) + noise)
    settle(packed)
    assert packed.stat().st_size > len(lines(TALK))
    assert workspace.import_codex([packed]).totals["acta_added"] == 5
    assert workspace.import_codex([packed]).sessions[0].unchanged


def test_a_damaged_compressed_rollout_is_named_and_what_could_be_read_of_it_stays(
    workspace: Workspace, path: Path
) -> None:
    packed = path.with_name(NAME + ".zst")
    packed.parent.mkdir()
    many = [*TALK, *(said("assistant", os.urandom(400).hex()) for _ in range(1500))]
    packed.write_bytes(zstandard.ZstdCompressor().compress(lines(many))[:-5000])
    settle(packed)
    report = workspace.import_codex([packed])
    assert report.totals["acta_added"] > 500
    assert contents(workspace)[:5] == ACTA
    assert problems(report) == [(packed.name, 0, "the compressed file ends too early")]
    assert workspace.find_codex([packed]).transcripts[0].is_new


def test_a_file_of_the_other_program_is_told_apart(workspace: Workspace, path: Path, tmp_path: Path) -> None:
    put(path, TALK)
    theirs = tmp_path / "theirs.jsonl"
    theirs.write_text(
        json.dumps({"type": "user", "uuid": "u", "sessionId": "s", "message": {"content": "hello"}}) + "\n"
    )
    said_of = problems(workspace.import_codex([theirs]))
    assert said_of == [(theirs.name, 0, "written by Claude Code: “workbench import claude-code” reads it")]
    said_of = problems(workspace.import_claude_code([path]))
    assert said_of == [(NAME, 0, "written by Codex: “workbench import codex” reads it")]
    assert events(workspace) == []
    # Where nobody says which it is, each is read.
    report = workspace.import_transcripts(None, [theirs, path])
    assert [each.id for each in report.sessions] == ["claude-code/s", CHRONICUM]
    assert problems(report) == []


def test_the_acta_added_so_far_are_told_and_end_at_the_total(workspace: Workspace, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        put(tmp_path / "in" / f"{name}.jsonl", [meta(name), turn(), said("user", f"of {name}")])
    counts: list[int] = []
    report = workspace.import_transcripts(None, [tmp_path / "in"], added=counts.append)
    assert counts == sorted(counts)
    assert counts[-1] == report.totals["acta_added"] == 3


def test_a_bad_line_behind_an_event_that_waits_is_counted_once(workspace: Workspace, path: Path) -> None:
    # Reading resumes at the event, in front of the bad line, which is then named again.
    begun = [*TALK, turn("t2"), event("user_message", message="And now?")]
    write(path, begun)
    with path.open("ab") as file:
        file.write(b"not JSON\n")
    report = workspace.import_codex([path])
    assert ([each.waiting_messages for each in report.sessions], report.totals["problems"]) == ([1], 1)
    put(path, [], more=path.read_bytes())
    settled = workspace.import_codex([path])
    assert (settled.totals["problems"], settled.totals["unread_before"]) == (1, 0)
    unchanged = workspace.import_codex([path])
    assert (unchanged.totals["problems"], unchanged.totals["unread_before"]) == (0, 1)

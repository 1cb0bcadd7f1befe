"""`import claude-code` and `import codex`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import Run
from workbench.workspace import Workspace


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """A transcript of two messages and a broken line between them."""
    path = tmp_path / "projects" / "-srv-atlas" / "0b1f6a2e-4d1c-4b7e-9c55-0d7f0c5f1a11.jsonl"
    path.parent.mkdir(parents=True)
    common = {
        "sessionId": path.stem,
        "cwd": "/srv/atlas",
        "version": "2.0.1",
        "isSidechain": False,
        "userType": "external",
    }
    prompt = {
        **common,
        "type": "user",
        "uuid": "a1",
        "parentUuid": None,
        "timestamp": "2026-01-05T10:00:00.000Z",
        "message": {"role": "user", "content": "Why is the \x1b[31mbuild red?"},
    }
    reply = {
        **common,
        "type": "assistant",
        "uuid": "a2",
        "parentUuid": "a1",
        "timestamp": "2026-01-05T10:00:09.000Z",
        "message": {
            "id": "m1",
            "role": "assistant",
            "model": "some-model",
            "content": [{"type": "text", "text": "A test fails."}],
        },
    }
    path.write_text(f"{json.dumps(prompt)}\nnot json\n{json.dumps(reply)}\n")
    return path


def test_a_half_written_last_line_is_said_to_wait(run: Run, workspace: Workspace, transcript: Path) -> None:
    transcript.write_bytes(transcript.read_bytes()[:-20])
    for _ in range(2):
        answer = run("import", "claude-code", transcript, "--yes")
        assert answer.code == 0
        assert "1 half-written last line, for the next import\n" in answer.out.replace("\u00a0", " ")
    totals = run("import", "claude-code", transcript, "--yes", "--format", "json").json["totals"]
    assert totals["waiting_lines"] == 1


def test_import_and_again(run: Run, workspace: Workspace, transcript: Path) -> None:
    first = run("import", "claude-code", transcript, "--yes", "--format", "json")
    assert first.code == 0
    assert {"sessions", "ignored", "totals"} <= set(first.json)
    (session,) = first.json["sessions"]
    assert {"id", "source", "acta_added", "acta_total", "duplicates", "problems"} <= set(session)
    assert session["id"] == f"claude-code/{transcript.stem}"
    assert (session["acta_added"], session["acta_total"]) == (2, 2)
    (problem,) = session["problems"]
    assert problem == {"file": str(transcript), "line": 2, "reason": problem["reason"]}
    again = run("import", "claude-code", transcript, "--yes", "--format", "json")
    assert again.code == 0
    assert again.json["totals"]["acta_added"] == 0
    # The line that was named is missing still, in a file that has not changed.
    assert (again.json["totals"]["problems"], again.json["totals"]["unread_before"]) == (0, 1)
    assert again.json["sessions"][0]["unread_before"] == 1
    assert "1 line that earlier imports could not read, and named, is still missing" in run(
        "import", "claude-code", transcript, "--yes"
    ).out.replace("\u00a0", " ")
    (listed,) = run("sessions", "list", "--format", "json").json["sessions"]
    assert (listed["acta"], listed["source"]) == (2, "claude-code")


def test_a_dry_run_writes_nothing(run: Run, workspace: Workspace, transcript: Path) -> None:
    answer = run("import", "claude-code", transcript.parent, "--dry-run", "--format", "json")
    assert answer.code == 0
    assert answer.json["totals"]["acta_added"] == 2
    assert workspace.log.last_position() == 0
    assert "would add 2 acta" in run("import", "claude-code", transcript, "--dry-run").out.replace(
        "\u00a0", " "
    )


def test_without_a_terminal_it_lists_and_wants_yes(run: Run, workspace: Workspace, transcript: Path) -> None:
    answer = run("import", "claude-code", transcript)
    assert answer.code == 2
    assert str(transcript) in answer.out
    assert "\x1b" not in answer.out
    assert "--yes" in answer.err
    as_json = run("import", "claude-code", transcript, "--format", "json")
    assert as_json.code == 2
    assert as_json.json["error_type"] == "usage"
    assert workspace.log.last_position() == 0


def test_nothing_new_needs_no_yes(run: Run, workspace: Workspace, transcript: Path) -> None:
    run("import", "claude-code", transcript, "--yes")
    answer = run("import", "claude-code", transcript)
    assert answer.code == 0
    assert "added 0 acta" in answer.out.replace("\u00a0", " ")


def test_the_default_place(
    run: Run, workspace: Workspace, transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert run("import", "claude-code", "--yes", "--format", "json").json["totals"]["acta_added"] == 2


def test_a_named_path_that_gives_nothing_ends_with_1(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("milk\n")
    for path in (tmp_path / "none.jsonl", tmp_path / "list.txt"):
        answer = run("import", "claude-code", path, "--yes", "--format", "json")
        assert answer.code == 1
        assert answer.json["sessions"][0]["problems"][0]["file"] == str(path)


def test_what_is_refused_ends_with_1_wherever_it_was_named_from(
    run: Run, workspace: Workspace, transcript: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = transcript.with_name("empty.jsonl")
    empty.touch()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    for words in ((), (transcript.parent,), (transcript.parent.parent,)):
        answer = run("import", "claude-code", *words, "--yes")
        assert answer.code == 1
        assert f"problem: {empty}: empty" in answer.out
        assert "from 1 file\n" in answer.out.replace("\u00a0", " ")
    empty.unlink()
    assert run("import", "claude-code", "--yes").code == 0


def test_a_session_of_another_owner_is_named_by_its_id(
    run: Run, workspace: Workspace, transcript: Path
) -> None:
    assert run("import", "claude-code", transcript, "--yes", "--owner", "eve").code == 0
    session = f"claude-code/{transcript.stem}"
    for words in ((transcript,), (transcript.parent,), (transcript, "--dry-run")):
        answer = run("import", "claude-code", *words, "--yes", "--format", "json")
        assert answer.code == 1
        (report,) = answer.json["sessions"]
        assert (report["id"], report["refused"], report["acta_total"]) == (session, True, 0)
        assert answer.json["totals"]["files"] == answer.json["totals"]["sessions"] == 0
    answer = run("import", "claude-code", transcript, "--yes")
    assert answer.code == 1
    assert f"problem: {transcript}: the session {session} belongs to another owner" in answer.out


def test_a_folder_without_transcripts_is_named(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    folder = tmp_path / "nothing"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "list.txt").write_text("milk\n")
    answer = run("import", "claude-code", folder, "--yes")
    assert answer.code == 1
    assert f"problem: {folder}: no transcripts: looked for *.jsonl files in it, at any depth" in answer.out
    assert "from 0 files" in answer.out.replace("\u00a0", " ")


@pytest.mark.parametrize("exists", [False, True])
def test_a_missing_default_place_is_named(
    run: Run, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
) -> None:
    at_home = run("import", "claude-code", "--yes")
    assert at_home.code == 1
    assert "not found; name another place as PATH or with $CLAUDE_CONFIG_DIR" in at_home.out
    folder = tmp_path / "gone"
    missing = folder
    if exists:
        folder.mkdir()
        missing = folder / "projects"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    answer = run("import", "claude-code", "--yes")
    assert answer.code == 1
    assert f"problem: {missing}: not found; it is where $CLAUDE_CONFIG_DIR points" in answer.out
    assert "from 0 files" in answer.out.replace("\u00a0", " ")


def test_codex_rollouts_are_told_apart(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    meta = {"timestamp": "2026-01-05T10:00:00.000Z", "type": "session_meta", "payload": {"id": "c"}}
    by_content, by_name = tmp_path / "log.jsonl", tmp_path / "rollout-2026-01-05T10-00-00-c.jsonl"
    by_content.write_text(json.dumps(meta) + "\n")
    by_name.write_text('{"id": "c"}\n')
    other = tmp_path / "other.jsonl"
    other.write_text('{"type": "somebody"}\n')
    answer = run("import", "claude-code", by_content, by_name, other, "--yes", "--format", "json")
    assert answer.code == 1
    said = {each["source"]: each["problems"][0]["reason"] for each in answer.json["sessions"]}
    assert said[str(by_content)] == "written by Codex: “workbench import codex” reads it"
    assert said[str(by_name)] == said[str(by_content)]
    assert said[str(other)] == "no session records"


def test_text_counts_what_was_ignored_by_kind(run: Run, workspace: Workspace, transcript: Path) -> None:
    with transcript.open("a") as file:
        for kind in ("mode", "queue-operation", "mode"):
            file.write(json.dumps({"type": kind, "sessionId": transcript.stem}) + "\n")
    answer = run("import", "claude-code", transcript, "--yes")
    assert answer.code == 0
    assert "ignored: record:mode 2, record:queue-operation 1\n" in answer.out


def test_owner(run: Run, workspace: Workspace, transcript: Path) -> None:
    assert run("import", "claude-code", transcript, "--yes", "--owner", "").code == 2
    assert run("import", "claude-code", transcript, "--yes", "--owner", "eve").code == 0
    (listed,) = run("sessions", "list", "--format", "json").json["sessions"]
    assert listed["owner_id"] == "eve"


@pytest.fixture
def rollout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rollout where Codex keeps its own, left alone since."""
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    path = tmp_path / "codex" / "sessions" / "2026" / "01" / "05" / "rollout-2026-01-05T10-00-00-c1.jsonl"
    put(
        path,
        [
            session_meta("c1"),
            message("user", "Why is the \x1b[31mbuild red?"),
            message("assistant", "It is."),
        ],
    )
    return path


def put(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    os.utime(path, (1_700_000_000, 1_700_000_000))


def session_meta(session: str) -> dict[str, Any]:
    payload = {"id": session, "cwd": "/srv/atlas", "cli_version": "0.71.0"}
    return {"timestamp": "2026-01-05T10:00:00.000Z", "type": "session_meta", "payload": payload}


def message(role: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_text" if role == "assistant" else "input_text", "text": text}]
    payload = {"type": "message", "role": role, "content": content}
    return {"timestamp": "2026-01-05T10:00:01.000Z", "type": "response_item", "payload": payload}


def test_codex_without_a_path_reads_what_codex_keeps(run: Run, workspace: Workspace, rollout: Path) -> None:
    archived = rollout.parents[4] / "archived_sessions" / "rollout-2026-01-04T10-00-00-c2.jsonl"
    put(archived, [session_meta("c2"), message("user", "Old one")])
    asked = run("import", "codex")
    assert asked.code == 2
    assert "Old one" in asked.out and "build red?" in asked.out
    assert "\x1b" not in asked.out
    assert workspace.log.last_position() == 0
    first = run("import", "codex", "--yes", "--format", "json")
    assert first.code == 0
    assert {each["id"]: each["acta_added"] for each in first.json["sessions"]} == {
        "codex/c1": 2,
        "codex/c2": 1,
    }
    again = run("import", "codex", "--format", "json")
    assert (again.code, again.json["totals"]["acta_added"]) == (0, 0)
    listed = run("sessions", "list", "--format", "json").json["sessions"]
    assert {each["source"] for each in listed} == {"codex"}
    shown = run("sessions", "show", "codex/c1")
    assert shown.code == 0 and "It is." in shown.out


def test_codex_dry_run_and_owner(run: Run, workspace: Workspace, rollout: Path) -> None:
    assert "would add 2 acta" in run("import", "codex", rollout, "--dry-run").out.replace("\u00a0", " ")
    assert workspace.log.last_position() == 0
    assert run("import", "codex", rollout, "--yes", "--owner", "").code == 2
    assert run("import", "codex", rollout, "--yes", "--owner", "eve").code == 0
    (listed,) = run("sessions", "list", "--format", "json").json["sessions"]
    assert listed["owner_id"] == "eve"
    refused = run("import", "codex", rollout, "--yes")
    assert refused.code == 1
    assert "belongs to another owner" in refused.out


def test_codex_says_which_command_reads_another_programs_file(
    run: Run, workspace: Workspace, transcript: Path
) -> None:
    answer = run("import", "codex", transcript, "--yes")
    assert answer.code == 1
    assert "written by Claude Code: “workbench import claude-code” reads it" in answer.out


def test_a_missing_codex_folder_names_its_variable(
    run: Run, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    assert "with $CODEX_HOME" in run("import", "codex", "--yes").out
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "gone"))
    assert "it is where $CODEX_HOME points" in run("import", "codex", "--yes").out


def test_messages_that_wait_are_told(run: Run, workspace: Workspace, rollout: Path) -> None:
    event = {"type": "user_message", "message": "And now?"}
    with rollout.open("a") as file:
        line = {"timestamp": "2026-01-05T10:00:02.000Z", "type": "event_msg", "payload": event}
        file.write(json.dumps(line) + "\n")
    answer = run("import", "codex", "--yes")
    assert answer.code == 0
    assert "1 message at the end of a file that is being written" in answer.out.replace("\u00a0", " ")


def test_without_zstandard_a_compressed_rollout_says_how_to_read_it(
    run: Run, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = tmp_path / "rollout-2026-01-05T10-00-00-c1.jsonl.zst"
    packed.write_bytes(b"\x28\xb5\x2f\xfd")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    answer = run("import", "codex", packed, "--yes")
    assert answer.code == 1
    assert "pip install 'chronicle-workbench[zstd]'" in answer.out


def test_a_place_named_from_here_is_kept_whole(run: Run, workspace: Workspace, sealed: Path) -> None:
    put(sealed / "here.jsonl", [session_meta("c9"), message("user", "Here")])
    assert run("import", "codex", "here.jsonl", "--yes").code == 0
    (found,) = workspace.find_codex([sealed / "here.jsonl"]).transcripts
    assert not found.is_new


def test_a_session_of_several_files_counts_once_and_what_they_share_is_told(
    run: Run, workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    talk = [session_meta("c1"), message("user", "One"), message("assistant", "Two")]
    put(folder / "rollout-2026-01-05T10-00-00-c1.jsonl", talk)
    put(folder / "archived" / "rollout-2026-01-05T10-00-00-c1.jsonl", [*talk, message("user", "Three")])
    fork = {"id": "c2", "forked_from_id": "c1", "timestamp": "2026-01-05T10:00:00.000Z"}
    copy = [{**session_meta("c2"), "payload": fork}, *talk, message("user", "Four")]
    put(folder / "rollout-2026-01-06T10-00-00-c2.jsonl", copy)
    out = run("import", "codex", folder, "--yes").out.replace("\u00a0", " ")
    assert "added 4 acta to 2 sessions from 3 files\n" in out
    assert "passed over 4 duplicates: in the workspace or this import already\n" in out


def test_nothing_is_said_of_duplicates_where_there_are_none(
    run: Run, workspace: Workspace, transcript: Path
) -> None:
    assert "duplicate" not in run("import", "claude-code", transcript, "--yes").out


def test_the_listing_begins_with_the_newest_and_names_forks(
    run: Run, workspace: Workspace, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    parent = "0199a1b2-0000-7000-8000-000000000001"
    for day, session, fields in (
        (5, parent, {}),
        (9, "c9", {"forked_from_id": parent}),
        (7, "c7", {"forked_from_id": "short"}),
    ):
        meta = session_meta(session)
        meta["payload"] |= fields
        said = {**message("user", "Draw it"), "timestamp": f"2026-01-{day:02}T12:00:00.000Z"}
        put(folder / f"rollout-2026-01-05T10-00-00-{session}.jsonl", [meta, said])
    put(folder / "rollout-a.jsonl", [{"type": "session_meta", "payload": {"id": "timeless"}}])
    # A long path is cut at the end of its line.
    rows = [line for line in run("import", "codex", folder).out.splitlines() if str(folder)[:20] in line]
    expected = [
        ("2026-01-09 12:00", "fork of 0199a1b2-0000…: Draw it"),
        ("2026-01-07 12:00", "fork of short: Draw it"),
        ("2026-01-05 12:00", "Draw it"),
        ("", "timeless"),
    ]
    assert len(rows) == len(expected)
    for row, (last, title) in zip(rows, expected, strict=True):
        assert row.strip().startswith(last)
        assert title in row
    assert "fork" not in rows[2]


def test_a_fork_of_claude_code_is_named(run: Run, workspace: Workspace, transcript: Path) -> None:
    lines = [json.loads(line) for line in transcript.read_text().splitlines() if line != "not json"]
    for each in lines:
        each["forkedFrom"] = {"sessionId": "before", "messageUuid": "a1"}
    transcript.write_text("".join(json.dumps(each) + "\n" for each in lines))
    assert "fork of before: Why is the" in run("import", "claude-code", transcript).out

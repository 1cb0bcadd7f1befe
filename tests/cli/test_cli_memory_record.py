"""`record`: what it takes, what it answers, what it refuses (cases F14–F25)."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from tests.cli.memory_words import HANDOFF, JSON, SHIP, assertion, hand_off, say
from tests.cli.program import Run
from workbench.workspace import Workspace


def test_a_receipt_has_the_keys_that_scripts_rely_on(run: Run, workspace: Workspace) -> None:
    receipt = say(
        run,
        "Chose local storage",
        *SHIP,
        "--agent",
        "claude-mac",
        "--category",
        "decision",
        "--why",
        "Works offline",
        "--request-id",
        "d1",
        "--session-id",
        "s1",
        "--recorded-at",
        "2026-03-02 14:00",
        "--id",
        "other-7",
        "--entity-id",
        "e1",
        "--entity-type",
        "person",
    )
    assert receipt["event_id"] == receipt["observation_id"]
    assert receipt["chronicle_status"] == "stored"
    assert (receipt["fact_id"], receipt["checkpoint_id"], receipt["chronicle_error"]) == (None, None, None)
    assert (receipt["agent"], receipt["actor_raw"], receipt["agent_source"]) == (
        "claude",
        "claude-mac",
        "explicit",
    )
    assert (receipt["domain"], receipt["project"], receipt["task_id"]) == ("global", "atlas", "ship")
    assert (receipt["category"], receipt["why"]) == ("decision", "Works offline")
    assert (receipt["request_id"], receipt["session_id"], receipt["external_id"]) == ("d1", "s1", "other-7")
    assert (receipt["entity_id"], receipt["entity_type"]) == ("e1", "person")
    assert receipt["occurred_at"].startswith("2026-03-02T14:00:00")
    assert "dedupe_status" not in receipt
    assert "redactions" not in receipt
    event = workspace.log.event(receipt["position"])
    assert event is not None
    assert event.payload["text"] == "Chose local storage"


def test_text_comes_from_standard_input_too(run: Run, workspace: Workspace) -> None:
    assert say(run, "-", stdin=b"two\nlines\n")["text"] == "two\nlines"
    assert say(run, "why", "--why", "-", stdin=b"because\r\n")["why"] == "because"
    # Bytes that are no text lose nothing but themselves.
    assert say(run, "-", stdin=b"a\xffb")["text"] == "a\ufffdb"


def test_who_speaks(run: Run, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (say(run, "a")["agent"], say(run, "b")["agent_source"]) == ("cli", "default")
    monkeypatch.setenv("CHRONICLE_AGENT", "Codex CLI")
    assert (say(run, "c")["agent"], say(run, "d")["agent_source"]) == ("codex", "session")
    assert say(run, "e", "--agent", "gemini")["agent"] == "gemini"
    assert "agent is blank" in run("record", "f", "--agent", " ").err
    owner = say(run, "g", "--as-owner")
    assert (owner["agent"], owner["agent_source"]) == ("ada", "explicit")
    both = run("record", "h", "--as-owner", "--agent", "x", *JSON)
    assert (both.code, both.json["error_type"]) == (2, "usage")
    monkeypatch.setenv("CHRONICLE_AGENT", " ")
    assert say(run, "i")["agent"] == "cli"


def test_private_ones_reach_no_agent(run: Run, workspace: Workspace) -> None:
    assert say(run, "for ada alone", "--private")["visibility"] == "private"
    assert run("recent", *JSON).json["events"] == []
    (seen,) = run("recent", "--raw", *JSON).json["events"]
    assert (seen["text"], seen["private"]) == ("for ada alone", True)
    assert "[private]" in run("recent", "--raw").out
    assert "for ada alone" not in run("startup").out + run("brief").out


# -- F14 to F18: what is refused -----------------------------------------------------------


def test_a_checkpoint_needs_its_task_and_a_task_its_project(run: Run, workspace: Workspace) -> None:
    body = json.dumps(HANDOFF).encode()
    for words in ((), ("--project", "atlas")):
        answer = run("record", "x", *words, "--checkpoint-file", "-", *JSON, stdin=body)
        assert (answer.code, answer.json["error_type"]) == (2, "invalid_argument")
        assert "requires project and task_id" in answer.json["error"]
    answer = run("record", "x", "--task-id", "ship", *JSON)
    assert answer.code == 2
    assert "task_id requires project" in answer.json["error"]
    assert workspace.log.last_position() == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"goal": " "},
        {"goal": "g" * 2001},
        {"next_steps": ["s"] * 21},
        {"completed": ["c" * 1001]},
        {"verification": "all"},
        {"open_questions": [""]},
        {"goal": None},
        {"mood": "good"},
    ],
)
def test_a_checkpoint_keeps_its_limits(run: Run, workspace: Workspace, changed: dict[str, object]) -> None:
    body = json.dumps(HANDOFF | changed).encode()
    answer = run("record", "x", *SHIP, "--checkpoint-file", "-", *JSON, stdin=body)
    assert (answer.code, answer.json["error_type"]) == (2, "invalid_argument")
    assert workspace.log.last_position() == 0


def test_a_checkpoint_at_its_limits_is_taken(run: Run, workspace: Workspace) -> None:
    assert hand_off(run, goal="g" * 2000, next_steps=["s" * 1000] * 20)["checkpoint_id"] is not None


@pytest.mark.parametrize("option", ["--project", "--domain", "--agent", "--request-id", "--session-id"])
def test_names_keep_their_limits(run: Run, workspace: Workspace, option: str) -> None:
    say(run, "x", option, " " + "n" * 200 + " ")
    answer = run("record", "y", option, "n" * 201, *JSON)
    assert (answer.code, answer.json["error_type"]) == (2, "invalid_argument")
    assert workspace.log.last_position() == 1


def test_blank_names_are_refused(run: Run, workspace: Workspace) -> None:
    for words in (("--project", "  "), ("--project", "a", "--task-id", " "), ("--request-id", "\t")):
        assert run("record", "x", *words).code == 2
    assert say(run, "x", "--project", "  Beta  ")["project"] == "Beta"


def test_text_and_category(run: Run, workspace: Workspace) -> None:
    for blank in ("", "  \n"):
        answer = run("record", blank, *JSON)
        assert (answer.code, answer.json["error"]) == (2, "Event text is required.")
        assert answer.json["hint"] == "say in a sentence what was done, decided or found"
    answer = run("record", "x", "--category", "Big Idea!", *JSON)
    assert answer.code == 2
    assert "Invalid category" in answer.json["error"]
    receipt = say(run, "x", "--category", "brainstorm")
    assert receipt["category"] == "note"
    assert receipt["category_fallback"] == {"requested": "brainstorm", "stored": "note"}
    assert say(run, "y", "--category", "status-change")["category"] == "state_change"


# -- F19 to F24: again ---------------------------------------------------------------------


def test_the_same_request_again_changes_nothing(run: Run, workspace: Workspace) -> None:
    words = (*SHIP, "--request-id", "r1")
    first = say(run, "x", *words, "--session-id", "one")
    last = workspace.log.last_position()
    again = say(run, "x", *words, "--session-id", "two")
    assert (again["chronicle_status"], again["dedupe_status"]) == ("existing", "request_id_match")
    assert (again["observation_id"], again["session_id"]) == (first["observation_id"], "one")
    assert workspace.log.last_position() == last
    assert "nothing was written" in run("record", "x", *words).out


@pytest.mark.parametrize("words", [("y",), ("x", "--agent", "gemini"), ("x", "--why", "so")])
def test_a_request_id_is_of_one_input(run: Run, workspace: Workspace, words: tuple[str, ...]) -> None:
    say(run, "x", *SHIP, "--request-id", "r1")
    answer = run("record", *words, *SHIP, "--request-id", "r1", *JSON)
    assert (answer.code, answer.json["error_type"]) == (1, "request_conflict")
    assert workspace.log.last_position() == 1


def test_the_same_words_are_one_event_whoever_says_them(run: Run, workspace: Workspace) -> None:
    first = say(run, "It rains", *SHIP, "--agent", "codex")
    again = say(run, "It rains", *SHIP, "--agent", "gemini")
    assert again["event_id"] == first["event_id"] != again["observation_id"]
    assert (again["dedupe_status"], again["dedupe_window_hours"]) == ("content_hash_match", 24)
    assert first["event_id"] in run("record", "It rains", *SHIP).out
    for words in (("--project", "atlas", "--task-id", "other"), ("--project", "atlas"), ()):
        assert "dedupe_status" not in say(run, "It rains", *words)
    hand_off(run)
    assert "dedupe_status" not in hand_off(run, goal="Another")


# -- F25: evidence -------------------------------------------------------------------------


def test_evidence_is_kept_or_said_to_be_missing(run: Run, workspace: Workspace, sealed: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    (sealed / "bench.txt").write_text("fast\n")
    (sealed / "keyed.md").write_text(f"token {key}\n")
    (sealed / "core.bin").write_bytes(b"\0\1")
    (sealed / "link.txt").symlink_to(sealed / "bench.txt")
    (sealed / "folder").mkdir()
    names = ("bench.txt", "keyed.md", "core.bin", "link.txt", "absent.txt", "folder")
    words = [word for name in names for word in ("--source-file", name)]
    receipt = say(run, "Measured", *SHIP, *words)
    by_path = {each["path"]: each for each in receipt["evidence"]}
    assert {path: each["status"] for path, each in by_path.items()} == {
        "bench.txt": "archived",
        "keyed.md": "archived",
        "core.bin": "pointer_only",
        "link.txt": "pointer_only",
        "absent.txt": "missing",
        "folder": by_path["folder"]["status"],
    }
    assert by_path["folder"]["status"] != "archived"
    assert sum(by_path["keyed.md"]["redactions"].values()) == 1
    assert len(by_path["bench.txt"]["sha256"]) == 64
    assert receipt["artifacts_written"] == 2
    out = run("recent").out
    assert "evidence bench.txt: archived" in out
    assert "keyed.md: archived, 1 taken out" in out
    assert key not in out


# -- files of JSON -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{"goal": "x",\n "next_steps": [\n', "{}:3: no JSON"),
        (b"", "{} is empty"),
        (b"[1]", "{} holds no JSON object"),
        (b'"goal"', "{} holds no JSON object"),
        (b'{"goal": "a", "goal": "b"}', "a key stands twice"),
        (b'{"goal": NaN}', "no number"),
        (b'{"goal":\n"\xff"}', "{}:2: not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b" " * (1024 * 1024 + 1), "{} is longer than 1,024 KiB"),
        (b'{"goal": ' + b"9" * 5000 + b"}", "{}: no JSON: a number is too long"),
    ],
    ids=range(10),
)
@pytest.mark.parametrize("option", ["--checkpoint-file", "--fact-file"])
def test_files_that_are_broken_are_named(
    run: Run, workspace: Workspace, sealed: Path, raw: bytes, said: str, option: str
) -> None:
    (sealed / "given.json").write_bytes(raw)
    for name, stdin, called in (("given.json", b"", "given.json"), ("-", raw, "standard input")):
        answer = run("record", "x", *SHIP, option, name, *JSON, stdin=stdin)
        assert (answer.code, answer.json["error_type"]) == (2, "usage")
        assert said.format(called) in answer.json["error"]
        assert run("record", "x", *SHIP, option, name, stdin=stdin).err.startswith("error: ")
    assert workspace.log.last_position() == 0


@pytest.mark.parametrize("option", ["--checkpoint-file", "--fact-file"])
def test_files_that_are_none(run: Run, workspace: Workspace, sealed: Path, option: str) -> None:
    (sealed / "folder").mkdir()
    (sealed / "dark.json").write_text("{}")
    for name, code, said in (
        ("folder", 2, "folder is a folder"),
        ("absent.json", 1, "No such file"),
        ("", 2, "name is empty"),
        ("a\0b", 2, "no file can have such a name"),
        ("n" * 5000, 1, "too long"),
    ):
        answer = run("record", "x", *SHIP, option, name, *JSON)
        assert answer.code == code, answer
        assert said in answer.json["error"]
    assert workspace.log.last_position() == 0


@pytest.mark.parametrize("option", ["--checkpoint-file", "--fact-file"])
def test_what_is_no_plain_file_is_refused_at_once(
    run: Run, workspace: Workspace, sealed: Path, option: str
) -> None:
    # Nobody ever writes to it.
    os.mkfifo(sealed / "pipe.json")
    (sealed / "link.json").symlink_to("pipe.json")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.json")
        for name, said in (
            ("pipe.json", "pipe.json is a pipe"),
            ("link.json", "link.json is a pipe"),
            ("s.json", "s.json is a socket or a device"),
            ("/dev/zero", "/dev/zero is a device"),
            ("/proc/self/mem", "/proc/self/mem cannot be read"),
        ):
            answer = run("record", "x", *SHIP, option, name, *JSON)
            assert (answer.code, answer.json["error_type"]) == (2, "usage"), answer
            assert said in answer.json["error"]
            assert "standard input" in answer.json["hint"]
    assert workspace.log.last_position() == 0


def test_standard_input_is_read_once(run: Run, workspace: Workspace) -> None:
    answer = run("record", "-", *SHIP, "--fact-file", "-", *JSON, stdin=assertion("a", "b"))
    assert (answer.code, answer.json["error_type"]) == (2, "usage")
    assert "once" in answer.json["error"]


def test_a_byte_order_mark_and_a_pipe_do_no_harm(run: Run, workspace: Workspace, sealed: Path) -> None:
    (sealed / "fact.json").write_bytes(b"\xef\xbb\xbf" + assertion("a", "b"))
    assert say(run, "x", "--fact-file", "fact.json")["fact_id"] is not None
    reading, writing = os.pipe()
    os.write(writing, assertion("c", "d"))
    os.close(writing)
    assert say(run, "y", "--fact-file", f"/dev/fd/{reading}")["fact_id"] is not None
    os.close(reading)


def test_recording_needs_a_workspace(run: Run, tmp_path: Path) -> None:
    answer = run("record", "x", "--root", tmp_path / "none", *JSON)
    assert (answer.code, answer.json["error_type"]) == (2, "workspace_missing")
    assert not (tmp_path / "none").exists()


def test_two_processes_record_and_read(process: Run, workspace: Workspace, sealed: Path) -> None:
    (sealed / "handoff.json").write_text(json.dumps(HANDOFF))
    done = process("record", "Handing off", *SHIP, "--checkpoint-file", "handoff.json", "--agent", "codex")
    assert done.code == 0, done
    assert done.out.startswith("recorded\n")
    bundle = process("startup", *SHIP, "--agent", "claude", *JSON).json
    assert bundle["task_context"]["checkpoint"]["checkpoint"]["goal"] == HANDOFF["goal"]
    refused = process("record", "x", b"--project", b"\xff", *JSON)
    assert refused.code == 2
    assert "UTF-8" in refused.json["error"]

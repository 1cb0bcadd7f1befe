"""Shared memory in a terminal: narrow lines, hostile text, pipes, no colour; and JSON for every command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from collections.abc import Iterator

import pytest
from rich.cells import cell_len

from tests.cli.memory_words import HANDOFF, JSON, SHIP, fact, hand_off, say
from tests.cli.program import CHECKOUT, Run
from workbench.workspace import Workspace

HOSTILE = "x\x1b[2J\x1b]8;;http://evil\x07y\r\u202egnp.exe\u200b [bold]\U000e0041 界" + "a\u0301\u0302" * 9
READING = [
    ("startup",),
    ("startup", *SHIP),
    ("startup", "--focus", "search"),
    ("brief",),
    ("recent",),
    ("recent", "--raw"),
    ("timeline", "--at", "now"),
    ("timeline", "--at", "now", "--as-of"),
    ("facts",),
    ("facts", "--raw"),
    ("facts", "--conflicts"),
    ("tasks",),
    ("tasks", "--all"),
    ("reviews",),
]


@pytest.fixture
def full(run: Run, workspace: Workspace) -> Iterator[dict[str, str]]:
    """A workspace in which an agent said the worst that it could."""
    lines = {name: [HOSTILE, "l" * 1000, "search " * 60] for name in HANDOFF if name != "goal"}
    receipt = hand_off(run, goal=f"search {HOSTILE}", text=HOSTILE, **lines)
    names = ("--project", "at\u202elas", "--agent", "[red]agent\u200b", "--task-id", "ship\u2066")
    said = say(
        run, HOSTILE, *names, "--why", HOSTILE, "--source-file", "no\x1b[31m.txt", "--category", "decision"
    )
    first = fact(run, "engine\u202e", HOSTILE, *SHIP).json["fact_id"]
    second = fact(run, "engine\u202e", "w" * 4000, *SHIP, kind="assumption", supersedes=first).json["fact_id"]
    say(run, "private " + HOSTILE, "--private")
    ids = {"checkpoint": receipt["checkpoint_id"], "observation": said["observation_id"], "fact": second}
    for kind, an_id in ids.items():
        done = run("review", kind, an_id, "--verdict", "questioned", "--comment", HOSTILE)
        assert done.code == 0, done
        assert "\x1b" not in done.out
    yield ids


def commands(ids: dict[str, str]) -> list[tuple[str, ...]]:
    return [*READING, ("facts", "--chain", ids["fact"]), ("reviews", "--target", ids["checkpoint"])]


def test_nothing_acts_on_a_terminal(run: Run, full: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for plain in (False, True):
        if plain:
            monkeypatch.setenv("NO_COLOR", "1")
        for words in commands(full):
            answer = run(*words)
            assert (answer.code, answer.err) == (0, ""), words
            odd = {
                char
                for char in answer.out
                if char != "\n" and unicodedata.category(char) in ("Cc", "Cf", "Cs")
            }
            assert odd == set(), words


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_lines_fit(run: Run, full: dict[str, str], monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr("workbench.cli.memory_lines.line_width", lambda: width)
    for words in commands(full):
        if words[0] == "brief":
            continue
        for line in run(*words).out.splitlines():
            if not line.startswith(("older: ", "newer: ", "what comes later: ", "more: ")):
                assert cell_len(line) <= width, (words, line)
            assert line == line.rstrip(" ")
    # What is copied is never broken.
    an_id = full["fact"]
    assert any(an_id in line for line in run("facts").out.splitlines())


def test_a_mark_cannot_be_forged(run: Run, workspace: Workspace) -> None:
    fact(run, "engine", "SQLite [disputed]")
    out = run("facts").out
    assert out.startswith("engine = SQLite [disputed]\n")
    fact(run, "other", "x", kind="assumption")
    assert run("facts").out.startswith("[assumption] other = x\n")


def test_json_is_whole_and_exact(run: Run, full: dict[str, str]) -> None:
    for words in commands(full):
        answer = run(*words, *JSON)
        assert answer.code == 0
        assert answer.out.count("\n") == 1
        assert isinstance(answer.json, dict)
        assert not set(answer.out) & set("\x1b\u202e\u200b")
    # The text as it is stored, not as it is drawn.
    events = run("recent", *JSON).json["events"]
    assert HOSTILE in [each["text"] for each in events]


def test_what_writes_answers_in_json_too(run: Run, workspace: Workspace) -> None:
    receipt = hand_off(run)
    for words in (
        ("review", "checkpoint", receipt["checkpoint_id"], "--verdict", "accepted"),
        ("quarantine", receipt["observation_id"], "--reason", "r"),
        ("release", receipt["observation_id"], "--reason", "r"),
    ):
        answer = run(*words, *JSON)
        assert (answer.code, answer.err, answer.out.count("\n")) == (0, "", 1)
        json.loads(answer.out)


def test_a_reader_that_leaves_early_is_no_error(workspace: Workspace, run: Run) -> None:
    for number in range(30):
        say(run, f"{number} " + "x" * 3000)
    program = subprocess.Popen(
        [sys.executable, "-m", "workbench", "recent", "--limit", "30"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert program.stdout is not None
    assert program.stderr is not None
    program.stdout.read(10)
    program.stdout.close()
    assert program.stderr.read() == b""
    program.stderr.close()
    assert program.wait(60) in (0, 1)


def test_a_workspace_of_nothing_is_calm(run: Run, workspace: Workspace) -> None:
    for words in READING:
        answer = run(*words)
        assert (answer.code, answer.err) == (0, "")
        assert answer.out.strip() != ""
        assert run(*words, *JSON).code == 0


def test_read_only_workspaces_are_read(run: Run, workspace: Workspace) -> None:
    hand_off(run)
    workspace.close()
    database = workspace.layout.database
    for name in ("-wal", "-shm"):
        database.with_name(database.name + name).unlink(missing_ok=True)
    database.chmod(0o400)
    workspace.root.chmod(0o500)
    try:
        for words in (("startup", *SHIP), ("brief",), ("facts",), ("tasks",), ("recent",)):
            assert run(*words).code == 0
    finally:
        workspace.root.chmod(0o700)
        database.chmod(0o600)

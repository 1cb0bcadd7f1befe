"""The program as a process: what it loads, its streams, its arguments as bytes."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.cli.program import CHECKOUT, Run
from workbench.sessions.model import Actum
from workbench.workspace import Workspace

HEAVY = ("textual", "rich", "re2", "platformdirs", "hashlib", "tempfile", "uuid_utils")


def test_a_json_list_loads_nothing_heavy(workspace: Workspace) -> None:
    code = (
        "import sys\nfrom workbench.cli import main\nmain(['sessions', 'list', '--format', 'json'])\n"
        "print(sorted(set(sys.modules) & set(sys.argv[1:])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *HEAVY],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        check=True,
    )
    answer, loaded = done.stdout.splitlines()
    assert answer == '{"sessions":[],"next":null}'
    assert loaded == "[]"


def test_exit_codes_reach_the_shell(process: Run, workspace: Workspace) -> None:
    assert process("status").code == 0
    assert process("sessions", "show", "none").code == 1
    assert process("sessions", "show").code == 2


def test_arguments_that_are_not_utf8(process: Run, workspace: Workspace) -> None:
    words = ["--kind", "message", "--actor-kind", "human", "--actor", "ada", "--format", "json"]
    stored = process("sessions", "record", "--session", "s", "--content", b"caf\xe9", *words)
    assert stored.code == 0
    assert stored.json["content"] == "caf\N{REPLACEMENT CHARACTER}"
    refused = process("sessions", "record", "--session", b"caf\xe9", "--content", "x", *words)
    assert refused.code == 2
    assert refused.json["error_type"] == "usage"


def test_stdin_as_content(process: Run, workspace: Workspace) -> None:
    words = ["--kind", "message", "--actor-kind", "human", "--actor", "ada", "--format", "json"]
    stored = process(
        "sessions", "record", "--session", "s", "--content", "-", *words, stdin="häuser\n".encode()
    )
    assert stored.json["content"] == "häuser"


def test_a_reader_that_goes_away_is_no_error(workspace: Workspace) -> None:
    workspace.sessions.record_actum(
        "ada",
        Actum(chronicum_id="s", kind="message", actor_kind="human", actor="ada", content="word " * 100_000),
    )
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "sessions", "context", "s", "--format", "json"],
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            check=False,
        )
    finally:
        os.close(writing)
    assert done.returncode == 1
    assert done.stderr == b""


def test_text_for_a_terminal_without_unicode(workspace: Workspace) -> None:
    workspace.sessions.record_actum(
        "ada", Actum(chronicum_id="s", kind="message", actor_kind="human", actor="ada", content="界\x1b")
    )
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "sessions", "show", "s"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert b"\\u754c\\u241b" in done.stdout
    assert done.stderr == b""

"""Streams that are closed, errors about errors, and words of the command line that hold a key."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.on_terminal import on_terminal
from tests.cli.program import CHECKOUT, Run
from tests.workspace.redaction_cases import core, token
from workbench.cli import last_word
from workbench.error_log import write_details
from workbench.locations import log_file
from workbench.redaction import SecretFilter
from workbench.workspace import Workspace

KEY = token(1)


def shell(line: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell in which `W` is the program."""
    program = f"{sys.executable} -m workbench"
    return subprocess.run(
        ["/bin/sh", "-c", line.replace("W ", f"{program} ")],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **variables},
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_what_is_closed_costs_no_work(workspace: Workspace, closed: str) -> None:
    record = "W sessions record --session s --kind message --actor-kind agent --actor a --content hello"
    done = shell(f"{record} {closed}")
    assert (done.returncode, done.stderr) == (0, b"")
    assert workspace.log.last_position() == 2
    # Nothing that was printed went into a file that took the stream's number.
    assert shell("W doctor").returncode == 0


def test_an_export_into_nothing_is_refused(workspace: Workspace) -> None:
    done = shell("W export jsonl >&-")
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, b"error: standard output is closed")


def test_a_reader_that_goes_away(workspace: Workspace) -> None:
    done = shell("W --help | head -1")
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_export_comes_in_by_standard_input(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    run("sessions", "record", *"--session s --kind message --actor-kind agent --actor a --content x".split())
    exported = run("export", "jsonl").out.encode()
    other = tmp_path / "other"
    run("init", "--root", other)
    cut = run("import", "jsonl", "-", "--root", other, stdin=exported[:-30])
    assert cut.code == 1
    assert "breaks off in the middle" in cut.err
    assert "standard input" in cut.err
    assert run("import", "jsonl", "-", "--root", other, stdin=exported).code == 0
    assert run("export", "jsonl", "--root", other).out.encode() == exported


# -- errors about errors -------------------------------------------------------------------


@pytest.fixture
def broken_filter(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: SecretFilter, text: str) -> Any:
        raise ValueError(f"cannot filter {text}")

    monkeypatch.setattr(SecretFilter, "redact_text", fail)


@pytest.mark.usefixtures("broken_filter")
@pytest.mark.parametrize("words", [[KEY], ["sessions", "show", KEY], ["--root", f"/nowhere/{KEY}", "doctor"]])
@pytest.mark.parametrize("as_json", [False, True])
def test_a_filter_that_fails_shows_no_word_of_the_command(run: Run, words: list[str], as_json: bool) -> None:
    answer = run(*words, *(["--format", "json"] if as_json else []))
    assert answer.code == 1
    if as_json:
        assert answer.json["error"] == last_word.SENTENCE
    else:
        assert answer.err.splitlines()[0] == f"error: {last_word.SENTENCE}"
    kept = log_file().read_text()
    for text in (answer.out, answer.err, kept):
        assert core(1) not in text
        assert "Traceback" not in text
    assert "ValueError" in kept


@pytest.mark.usefixtures("broken_filter")
def test_details_without_a_filter_are_places_in_the_code_alone(tmp_path: Path) -> None:
    try:
        try:
            raise KeyError(KEY)
        except KeyError as inner:
            raise RuntimeError(KEY) from inner
    except RuntimeError as error:
        write_details(error)
    kept = log_file().read_text()
    assert core(1) not in kept
    assert "RuntimeError" in kept
    assert "KeyError" in kept
    assert Path(__file__).name in kept


def test_what_escapes_on_any_thread_is_said_in_fixed_words() -> None:
    program = (
        "import sys, threading\n"
        "from workbench.cli.last_word import take_hooks\n"
        "take_hooks()\n"
        f"key = 'sk-ant-' + {core(1)!r}\n"
        "def fail(): raise ValueError(key)\n"
        "thread = threading.Thread(target=fail); thread.start(); thread.join()\n"
        "fail()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count(f"error: {last_word.SENTENCE}") == 2
    assert "Traceback" not in done.stderr
    assert core(1) not in done.stderr


# -- words that are printed again ----------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "words",
    [
        ["status", "--root", KEY],
        ["init", "--root", KEY],
        ["demo", "--to", KEY, "--no-open"],
        ["timeline", "--type", KEY],
        ["timeline", "--stream", KEY],
        ["redactions", "list", "--kind", KEY],
        ["redactions", "list", "--actor", KEY],
        ["redactions", "list", "--stream", KEY],
        ["import", "claude-code", KEY, "--yes"],
        ["import", "codex", KEY, "--yes"],
        ["export", "jsonl", "--to", f"{KEY}.jsonl"],
        ["sessions", "show", KEY],
        ["jobs", "show", KEY],
        ["doctor", "--root", KEY],
    ],
)
def test_a_key_among_the_words_is_not_said_again(
    run: Run, workspace: Workspace, words: list[str], form: str
) -> None:
    answer = run(*words, "--format", form)
    assert core(1) not in answer.out + answer.err
    if form == "json":
        json.loads(answer.out)


def test_a_folder_named_for_a_key_works_and_is_shown_with_the_marker(run: Run) -> None:
    assert run("init", "--root", KEY).code == 0
    for words in (
        ["status"],
        ["doctor"],
        ["redactions", "rescan"],
        ["jobs"],
        ["export", "jsonl", "--to", "x"],
    ):
        answer = run(*words, "--root", KEY)
        assert answer.code == 0
        assert core(1) not in answer.out + answer.err
    assert run("status", "--root", KEY, "--format", "json").json["root"].endswith("[REDACTED:anthropic_key]")


@pytest.mark.parametrize(("name", "kind"), [("CODEX_HOME", "codex"), ("CLAUDE_CONFIG_DIR", "claude-code")])
def test_a_variable_that_holds_a_key(
    run: Run, workspace: Workspace, name: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(tmp_path / KEY))
    for form in ("text", "json"):
        answer = run("import", kind, "--yes", "--format", form)
        assert core(1) not in answer.out + answer.err


# -- the list of redactions ----------------------------------------------------------------


def test_the_list_takes_a_plain_id_and_warns_of_what_is_not_there(run: Run, workspace: Workspace) -> None:
    record = "--kind message --actor-kind agent --actor coder --session".split()
    run("sessions", "record", *record, "a b", "--content", f"the key is {KEY}")
    for stream in ("a b", "session/a b", "session/a%20b"):
        answer = run("redactions", "list", "--stream", stream)
        assert (answer.err, "anthropic_key" in answer.out) == ("", True)
    assert "warning: there is no stream nowhere" in run("redactions", "list", "--stream", "nowhere").err
    told = run("redactions", "list", "--actor", "nobody").err
    assert "nobody" in told
    assert "coder" in told


def test_the_sum_below_the_list_is_of_what_is_listed(run: Run, workspace: Workspace) -> None:
    record = "--kind message --actor-kind agent --session s".split()
    run("sessions", "record", *record, "--actor", "one", "--content", f"{KEY}")
    run("sessions", "record", *record, "--actor", "two", "--content", f"{token(2)} and {token(3)}")
    assert "in all: anthropic_key 3" in run("redactions", "list").out
    assert "in all: anthropic_key 2" in run("redactions", "list", "--actor", "two").out
    assert run("redactions", "list", "--kind", "jwt", "--format", "json").json["kinds"] == {}


# -- terminals -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dumb", "", "no-such-terminal"])
def test_a_terminal_without_a_screen_is_told_what_there_is_instead(workspace: Workspace, name: str) -> None:
    code, said = on_terminal(TERM=name)
    assert code == 2
    assert b"\x1b" not in said
    assert b"workbench sessions list" in said


def test_a_journal_beside_the_database_is_called_what_it_is(run: Run, workspace: Workspace) -> None:
    root = workspace.root
    workspace.close()
    (root / "chronicle.db-journal").write_bytes(bytes(range(1, 200)) * 20)
    answer = run("doctor")
    assert answer.code == 1
    assert "chronicle.db-journal" in answer.err
    assert "permissions" not in answer.err

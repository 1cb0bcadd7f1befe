"""Every error has a form, an exit code and no traceback."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path

import apsw
import pytest

from tests.cli.program import Run
from workbench.cli import main
from workbench.cli.errors import report
from workbench.cli.options import Given
from workbench.storage import turns
from workbench.workspace import Workspace

KEYS = ["status", "error_type", "error", "hint", "retryable"]


@pytest.mark.parametrize(
    ("words", "code", "error_type"),
    [
        (["sessions", "list", "--root", "/nowhere"], 2, "workspace_missing"),
        (["sessions", "list", "--limit", "0"], 2, "usage"),
        (["sessions", "list", "--limit", "many"], 2, "usage"),
        (["sessions", "list", "--no-such-option"], 2, "usage"),
        (["sessions"], 2, "usage"),
        (["no-such-command"], 2, "usage"),
        (["sessions", "show"], 2, "usage"),
        (["sessions", "list", "--root", ""], 2, "usage"),
        (["sessions", "list", "--root", "bad\udcff"], 2, "usage"),
        (["--read-only", "status"], 2, "usage"),
        (["open"], 2, "usage"),
        ([], 2, "usage"),
        (["demo", "--root", "somewhere"], 2, "usage"),
        (["demo", "no-such-sample"], 2, "unknown_sample"),
        (["init", "--timezone", "Mars/Olympus"], 2, "configuration"),
    ],
)
def test_both_forms_of_an_error(run: Run, words: list[str], code: int, error_type: str) -> None:
    as_text = run(*words)
    assert as_text.code == code
    assert as_text.out == ""
    assert "Traceback" not in as_text.err
    lines = as_text.err.splitlines()
    assert [line for line in lines if line.startswith("error: ")] != []
    assert lines[-1].startswith("hint: ")

    as_json = run(*words, "--format", "json")
    assert as_json.code == code
    assert as_json.err == ""
    assert list(as_json.json) == KEYS
    assert as_json.json["status"] == "error"
    assert as_json.json["error_type"] == error_type
    assert as_json.json["hint"] != ""
    assert as_json.json["retryable"] is False


def test_an_unforeseen_error_is_one_sentence_and_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "kept"))
    try:
        raise ZeroDivisionError("the details \x1b[31m")
    except ZeroDivisionError as error:
        code = report(error, Given(), [])
    said = capsys.readouterr()
    assert code == 1
    assert said.out == ""
    path = tmp_path / "kept" / "workbench.log"
    assert said.err == (
        f"error: an unforeseen ZeroDivisionError stopped the command\nhint: the details are in {path}\n"
    )
    assert "Traceback" in path.read_text()
    assert "the details" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_unforeseen_error_in_json(
    capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The log cannot be written where a file stands in the way: the sentence comes all the same.
    (tmp_path / "kept").write_text("")
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "kept"))
    assert report(ZeroDivisionError(), Given(), ["status", "--format=json"]) == 1
    said = json.loads(capsysbinary.readouterr().out)
    assert list(said) == KEYS
    assert said["error_type"] == "internal"
    assert "could not be written" in said["hint"]


def test_what_an_error_quotes_is_drawn_not_obeyed(run: Run, workspace: Workspace) -> None:
    answer = run("sessions", "list", "--after", "a\x1b]52;c;eA==\x07\n\u202eb")
    assert answer.code == 2
    assert not set(answer.err) & {"\x1b", "\x07", "\u202e"}
    assert len(answer.err.splitlines()) == 2


def test_json_of_an_error_that_quotes_a_broken_text(run: Run) -> None:
    answer = run("no\udcffsuch", "--format", "json")
    assert answer.code == 2
    assert "\N{REPLACEMENT CHARACTER}" in answer.json["error"] or "\\udcff" in answer.json["error"]


class _Interrupted(io.RawIOBase):
    """A standard input at which somebody presses Ctrl-C."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        raise KeyboardInterrupt


def test_ctrl_c_is_quiet(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(_Interrupted())))
    words = "sessions record --session s --kind message --actor-kind human --actor ada --content -"
    assert main(words.split()) == 130
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.strip() == ""
    assert workspace.log.last_position() == 0


@pytest.mark.parametrize(
    ("application_id", "version", "error_type"),
    [(0x4357424B, 99, "schema_ahead_of_code"), (0x4348524E, 15, "not_a_workbench_database")],
)
def test_a_file_of_another_kind_ends_with_3(
    run: Run, workspace: Workspace, application_id: int, version: int, error_type: str
) -> None:
    import apsw

    path = workspace.layout.database
    workspace.close()
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA application_id={application_id}; PRAGMA user_version={version}")
    connection.close()
    answer = run("sessions", "list", "--format", "json")
    assert answer.code == 3
    assert answer.json["error_type"] == error_type
    # A copy of the file is what helps, unless a newer release does.
    assert "restore a copy" in answer.json["hint"] or version == 99


def test_a_file_that_is_no_database_or_damaged_ends_with_3(run: Run, workspace: Workspace) -> None:
    path = workspace.layout.database
    workspace.close()
    whole = path.read_bytes()
    for data in (b"milk, bread\n" * 500, whole[: len(whole) // 8]):
        for beside in path.parent.glob("chronicle.db-*"):
            beside.unlink()
        path.write_bytes(data)
        answer = run("sessions", "list", "--format", "json")
        assert answer.code == 3
        assert answer.json["error_type"] in ("not_a_workbench_database", "db_damaged")
        assert "restore a copy" in answer.json["hint"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sessions", "list", "--limit", "many"], "'many' is not a whole number."),
        (["sessions", "list", "--limit", "0"], "0 is too small; the least is 1."),
        (["timeline", "--after", str(2**70)], f"{2**70} is too large; the most is {2**62}."),
        (["sessions", "show", "s", "--after", "1.5"], "'1.5' is not a whole number."),
        (["sessions", "context", "s", "--last-n", "x"], "'x' is not a whole number."),
        (["lst"], "No such command 'lst'."),
        (["statu"], "No such command 'statu'. Did you mean 'status'?"),
        (["sessions", "lst"], "No such command 'lst'. Did you mean 'list'?"),
    ],
)
def test_usage_is_corrected_in_plain_words(run: Run, words: list[str], said: str) -> None:
    answer = run(*words)
    assert answer.code == 2
    assert answer.err.splitlines()[0].endswith(said)


def test_who_has_the_database_for_itself_is_waited_for_once(
    run: Run, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a scrub holds it is looked for afterwards, without a second wait."""
    workspace.close()
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 300)
    holder = apsw.Connection(str(workspace.layout.database))
    holder.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
    holder.execute("BEGIN EXCLUSIVE; CREATE TABLE held(x)")
    began = time.monotonic()
    answer = run("status", "--format", "json")
    waited = time.monotonic() - began
    holder.close()
    assert (answer.code, answer.json["error_type"]) == (1, "db_locked")
    assert waited < 4

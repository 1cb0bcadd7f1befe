"""`export jsonl` and `import jsonl`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import CHECKOUT, Run
from workbench.workspace import Workspace

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.fixture
def filled(run: Run, workspace: Workspace) -> Workspace:
    """The workspace with a session of two messages."""
    for text in ("Why is the \x1b[31mbuild red?", "A test fails: 試験."):
        words = ("--kind", "message", "--actor-kind", "agent", "--actor", "coder", "--content", text)
        assert run("sessions", "record", "--session", "s", *words).code == 0
    return workspace


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The root of an empty workspace."""
    root = tmp_path / "other"
    Workspace.create(root, title="Other", timezone="UTC", owner="ada").close()
    return root


@pytest.mark.parametrize("words", [("export", "jsonl"), ("import", "jsonl")], ids=" ".join)
def test_it_explains_itself(run: Run, words: tuple[str, ...]) -> None:
    answer = run(*words, "--help")
    assert answer.code == 0
    assert f"Usage: workbench {' '.join(words)} " in answer.out
    assert "--root" in answer.out


def test_out_and_in_and_out_again(run: Run, filled: Workspace, other: Path, tmp_path: Path) -> None:
    path, again = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    answer = run("export", "jsonl", "--to", path, "--format", "json")
    assert (answer.code, answer.json, answer.err) == (0, {"events": 3, "evidence_copies": 0}, "")
    answer = run("import", "jsonl", path, "--root", other, "--format", "json")
    assert (answer.code, answer.json) == (
        0,
        {"events": 3, "redactions": {}, "events_without_evidence": 0},
    )
    assert run("export", "jsonl", "--to", again, "--root", other).code == 0
    assert again.read_bytes() == path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    shown = [
        run("sessions", "show", "s", "--format", "json", "--root", root).json["acta"]
        for root in (filled.root, other)
    ]
    assert shown[0] == shown[1] != []


def test_without_to_the_lines_are_the_output(run: Run, filled: Workspace, tmp_path: Path) -> None:
    answer = run("export", "jsonl")
    assert (answer.code, answer.err) == (0, "")
    assert run("export", "jsonl", "--to", tmp_path / "a.jsonl").code == 0
    assert answer.out == (tmp_path / "a.jsonl").read_text()
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert [line["position"] for line in lines] == [1, 2, 3]
    assert set(lines[0]) == {
        *("position", "stream", "seq", "event_id", "namespace", "type", "schema_version"),
        *("causation_id", "correlation_id", "visibility", "recorded_at", "occurred_at", "payload"),
    }


def test_a_dash_is_standard_output(
    run: Run, filled: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("export", "jsonl", "--to", "-") == run("export", "jsonl")
    assert not (tmp_path / "-").exists()
    assert run("export", "jsonl", "--to", "-", "--format", "json").json["error_type"] == "usage"
    assert run("export", "jsonl", "--to", "./-").code == 0
    assert (tmp_path / "-").read_text() == run("export", "jsonl").out
    assert "“-” is standard output" in " ".join(run("export", "jsonl", "--help").out.split())


def test_notes_behind_an_exports_line_are_not_written_over(
    run: Run, filled: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    notes = run("export", "jsonl").out.splitlines(keepends=True)[0] + "precious notes\n"
    path.write_text(notes)
    answer = run("export", "jsonl", "--to", path)
    assert answer.code == 2
    assert answer.err == (
        f"error: {path} exists and is no export: line 2 is no event\n"
        "hint: name another file with --to; this one was not touched\n"
    )
    assert path.read_text() == notes


def test_an_empty_file_is_refused(run: Run, other: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for blanks in ("", "\n\n"):
        path.write_text(blanks)
        answer = run("import", "jsonl", path, "--root", other)
        assert answer.code == 2
        assert answer.err.startswith(f"error: {path} is empty: there is no event in it")
        assert "“export jsonl --to FILE” wrote" in answer.err


def test_text_says_how_many_and_where(run: Run, filled: Workspace, other: Path, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b.jsonl"
    out = run("export", "jsonl", "--to", path).out.replace("\u00a0", " ")
    assert out.startswith("exported 3 events to ")
    assert "\x1b" not in out
    out = run("import", "jsonl", path, "--root", other).out.replace("\u00a0", " ")
    assert out == f"imported 3 events into {other}\n"


def test_json_without_to_is_refused(run: Run, filled: Workspace) -> None:
    answer = run("export", "jsonl", "--format", "json")
    assert answer.code == 2
    assert answer.json["error_type"] == "usage"


@pytest.mark.parametrize("name", ["", "none/a.jsonl", "here"])
def test_a_place_that_cannot_be_written_is_named(
    run: Run, filled: Workspace, tmp_path: Path, name: str
) -> None:
    answer = run("export", "jsonl", "--to", tmp_path / name if name else "")
    assert answer.code == 2
    assert answer.err.startswith("error: ")


def test_the_database_is_never_written_over(run: Run, filled: Workspace) -> None:
    before = filled.layout.database.read_bytes()
    answer = run("export", "jsonl", "--to", filled.layout.database)
    assert answer.code == 2
    assert "is this workspace's database" in answer.err
    assert filled.layout.database.read_bytes() == before


def test_a_log_with_events_takes_no_import(run: Run, filled: Workspace, tmp_path: Path) -> None:
    run("export", "jsonl", "--to", tmp_path / "a.jsonl")
    answer = run("import", "jsonl", tmp_path / "a.jsonl", "--format", "json")
    assert answer.code == 1
    assert answer.json["error_type"] == "log_not_empty"
    assert answer.json["error"].startswith(f"the workspace at {filled.root} holds events already")
    assert "init --root" in answer.json["hint"]


def test_a_bad_line_is_named_and_nothing_is_kept(
    run: Run, filled: Workspace, other: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    run("export", "jsonl", "--to", path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    answer = run("import", "jsonl", path, "--root", other)
    assert answer.code == 1
    assert answer.err.startswith("error: line 3: ")
    assert run("export", "jsonl", "--root", other).out == ""
    path.write_bytes(whole)
    assert run("import", "jsonl", path, "--root", other).code == 0


def test_secrets_are_refused_or_taken_out(run: Run, filled: Workspace, other: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    run("export", "jsonl", "--to", path)
    path.write_bytes(path.read_bytes().replace(b"A test fails", b"A test fails with " + SECRET.encode()))
    answer = run("import", "jsonl", path, "--root", other)
    assert answer.code == 1
    assert SECRET not in answer.err
    assert "--redact" in answer.err
    answer = run("import", "jsonl", path, "--root", other, "--redact")
    assert answer.code == 0
    assert "removed 1 secret before storing" in answer.out.replace("\u00a0", " ")
    assert SECRET not in run("export", "jsonl", "--root", other).out


def test_a_missing_file_is_named(run: Run, other: Path, tmp_path: Path) -> None:
    answer = run("import", "jsonl", tmp_path / "none.jsonl", "--root", other)
    assert answer.code == 2
    assert answer.err.startswith(f"error: {tmp_path / 'none.jsonl'} cannot be read: ")


def test_whoever_reads_the_output_may_leave(filled: Workspace) -> None:
    done = subprocess.Popen(
        [sys.executable, "-m", "workbench", "export", "jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )
    assert done.stdout is not None
    done.stdout.close()
    assert done.stderr is not None
    said = done.stderr.read()
    done.stderr.close()
    assert (done.wait(60), said) == (1, b"")


def test_a_full_medium_is_said_in_words(filled: Workspace) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "export", "jsonl"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            check=False,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: no room left to write the output\n")
    assert b"Traceback" not in done.stderr


def test_copies_of_evidence_are_said_to_be_left_behind(
    run: Run, filled: Workspace, other: Path, tmp_path: Path
) -> None:
    for number in range(2):
        note = tmp_path / f"note-{number}.txt"
        note.write_text(f"measured {number}")
        assert run("record", "seen", "--project", "a", "--source-file", note, "--agent", "x").code == 0
    # What was purged is missed nowhere.
    gone = tmp_path / "gone.txt"
    gone.write_text("not for long")
    recorded = run(
        "record", "seen", "--project", "a", "--source-file", gone, "--agent", "x", "--format", "json"
    )
    digest = recorded.json["evidence"][0]["sha256"]
    assert run("evidence", "purge", digest, "--reason", "no more").code == 0

    path, again = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    out = run("export", "jsonl", "--to", path).out.replace("\u00a0", " ")
    assert "2 copies of evidence lie in " in out
    assert "and not in the file: copy that folder too" in out
    assert run("export", "jsonl", "--to", again, "--format", "json").json["evidence_copies"] == 2
    # Where the events are the output, it is said beside it.
    assert "2 copies of evidence lie in " in run("export", "jsonl").err.replace("\u00a0", " ")

    out = run("import", "jsonl", path, "--root", other).out.replace("\u00a0", " ")
    assert "2 events speak of evidence whose copies are not here: copy the folder artifacts" in out
    third = tmp_path / "third"
    Workspace.create(third, title="Third", timezone="UTC", owner="ada").close()
    shutil.copytree(filled.layout.artifacts, third / "artifacts", dirs_exist_ok=True)
    answer = run("import", "jsonl", path, "--root", third, "--format", "json")
    assert answer.json["events_without_evidence"] == 0


def test_a_file_that_lost_its_last_lines_is_told_by_the_numbers(
    run: Run, filled: Workspace, other: Path, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    said = run("export", "jsonl", "--to", path, "--format", "json").json["events"]
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == said
    path.write_bytes(b"".join(lines[:-1]))
    answer = run("import", "jsonl", path, "--root", other, "--format", "json")
    assert answer.json["events"] == said - 1
    for words in (("import", "jsonl"), ("export", "jsonl")):
        text = " ".join(run(*words, "--help").out.split())
        assert "missing at" in text
        assert (
            "Copies of evidence are not in the file" in text
            or "copies of evidence are not in the file" in text
        )

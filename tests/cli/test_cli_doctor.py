"""`doctor` on the command line."""

from __future__ import annotations

from pathlib import Path

import apsw

from tests.cli.program import Run
from workbench.workspace import Workspace

RECORD = "sessions record --session s --kind message --actor-kind human --actor ada --content hi".split()


def edit(workspace: Workspace, *statements: str) -> None:
    """Change the database file as nobody should."""
    workspace.close()
    connection = apsw.Connection(str(workspace.layout.database))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_a_healthy_workspace(run: Run, workspace: Workspace) -> None:
    run(*RECORD)
    answer = run("doctor", "--format", "json")
    assert answer.code == 0
    assert answer.json == {"findings": [], "mended": [], "ok": True}
    text = run("doctor")
    assert (text.code, text.out, text.err) == (0, "everything is well\n", "")
    assert run("doctor", "--fix").out == "everything is well\n"


def test_something_critical_ends_with_1_until_it_is_mended(run: Run, workspace: Workspace) -> None:
    run(*RECORD)
    edit(workspace, "UPDATE facet_counts SET entries = 7")
    answer = run("doctor", "--format", "json")
    assert answer.code == 1
    assert answer.json["ok"] is False
    [finding] = answer.json["findings"]
    assert list(finding) == ["severity", "code", "meaning", "command"]
    assert (finding["severity"], finding["code"]) == ("critical", "fold_differs")
    assert finding["command"] == f"workbench doctor --fix --root {workspace.root}"

    text = run("doctor")
    assert text.code == 1
    lines = text.out.splitlines()
    assert lines[0] == "critical  fold_differs"
    assert f"  → {finding['command']}" in lines
    assert lines[-1].replace("\u00a0", " ") == "1 finding, 1 of them critical"

    fixed = run("doctor", "--fix", "--format", "json")
    assert fixed.code == 0
    assert fixed.json == {"findings": [], "mended": [finding], "ok": True}
    assert run("doctor").code == 0


def test_a_warning_ends_with_0(run: Run, workspace: Workspace) -> None:
    (workspace.root / "logs").chmod(0o755)
    answer = run("doctor", "--format", "json")
    assert answer.code == 0
    assert answer.json["ok"] is True
    assert [finding["severity"] for finding in answer.json["findings"]] == ["warning"]
    assert "none of them critical" in run("doctor").out
    fixed = run("doctor", "--fix")
    assert fixed.out.startswith("mended  permissions_open\n")
    assert fixed.out.endswith("everything is well now\n")


def test_names_from_a_strangers_file_are_drawn_literally(run: Run, workspace: Workspace) -> None:
    run(*RECORD)
    edit(workspace, "UPDATE streams SET name = 'session/' || char(27) || '[31m', last_seq = 99")
    out = run("doctor").out
    assert "last_seq_differs" in out
    assert "\x1b" not in out


def test_a_database_that_cannot_be_opened_is_a_finding(run: Run, workspace: Workspace) -> None:
    edit(workspace, "DROP TABLE actors")
    for words in (("doctor",), ("doctor", "--fix")):
        answer = run(*words, "--format", "json")
        assert answer.code == 1
        assert [finding["code"] for finding in answer.json["findings"]] == ["db_damaged"]
        assert "actors" in answer.json["findings"][0]["meaning"]


def test_a_database_of_a_newer_release_is_refused(run: Run, workspace: Workspace) -> None:
    edit(workspace, "PRAGMA user_version=999")
    before = workspace.layout.database.read_bytes()
    for words in (("doctor",), ("doctor", "--fix")):
        answer = run(*words, "--format", "json")
        assert answer.code == 3
        assert answer.json["error_type"] == "schema_ahead_of_code"
    assert workspace.layout.database.read_bytes() == before


def test_a_schema_that_no_release_wrote_is_a_finding(run: Run, workspace: Workspace) -> None:
    edit(workspace, "PRAGMA user_version=0")
    before = workspace.layout.database.read_bytes()
    for words in (("doctor",), ("doctor", "--fix")):
        answer = run(*words, "--format", "json")
        assert answer.code == 1
        [finding] = answer.json["findings"]
        assert finding["code"] == "db_damaged"
        assert "schema 0" in finding["meaning"]
    assert workspace.layout.database.read_bytes() == before


def test_where_there_is_no_workspace(run: Run, tmp_path: Path) -> None:
    answer = run("doctor", "--root", tmp_path / "none", "--format", "json")
    assert answer.code == 2
    assert not (tmp_path / "none").exists()


def test_as_a_process_of_its_own(process: Run, workspace: Workspace) -> None:
    workspace.close()
    answer = process("doctor", "--format", "json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.json["ok"] is True

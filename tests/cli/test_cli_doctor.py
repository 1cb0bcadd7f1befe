"""`doctor` on the command line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from tests.cli.program import Run
from workbench.drawing import exact
from workbench.workspace import Workspace

FUTURE = datetime(2200, 1, 1, tzinfo=UTC)

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
    assert lines[-1].replace("\u00a0", " ") == "1 finding, critical"

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
    assert run("doctor").out.splitlines()[-1] == "1 finding, a warning"
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
    edit(workspace, "DROP TABLE schema_migrations")
    for words in (("doctor",), ("doctor", "--fix")):
        answer = run(*words, "--format", "json")
        assert answer.code == 1
        assert [finding["code"] for finding in answer.json["findings"]] == ["db_damaged"]
        assert "schema_migrations" in answer.json["findings"][0]["meaning"]


def test_several_findings_are_counted(run: Run, workspace: Workspace) -> None:
    (workspace.root / "logs").chmod(0o755)
    edit(workspace, "DELETE FROM folds")
    assert run("doctor").out.splitlines()[-1].replace("\u00a0", " ") == "2 findings, 1 of them critical"


@pytest.mark.parametrize("table", ["jobs", "actors", "folds", "import_sources", "projection_positions"])
def test_a_database_that_lacks_a_table_is_mended(run: Run, workspace: Workspace, table: str) -> None:
    run(*RECORD)
    edit(workspace, f"DROP TABLE {table}")
    assert run("jobs").code == 3
    answer = run("doctor", "--format", "json")
    assert answer.code == 1
    [finding] = answer.json["findings"]
    assert finding["code"] == "table_missing"
    assert table in finding["meaning"]
    assert "doctor --fix" in finding["command"]
    fixed = run("doctor", "--fix")
    assert fixed.code == 0
    assert fixed.out.startswith("mended  table_missing\n")
    for words in (("doctor",), ("jobs",), ("timeline", "--order", "happened"), ("sessions", "list"), RECORD):
        assert run(*words).code == 0


def test_a_list_of_jobs_that_refuses_another_is_mended_and_the_job_noted(
    run: Run, workspace: Workspace
) -> None:
    """What stands in the way of the examination's own job is no reason to stop."""
    edit(
        workspace,
        "CREATE UNIQUE INDEX one_only ON jobs(process IS NULL)",
        "INSERT INTO jobs VALUES(7, 'import', 't', 'weird', 'doctor', 'p', 1, 1, NULL, 0, NULL, "
        "'', '', '', '', 0)",
        "CREATE TRIGGER refuse BEFORE INSERT ON jobs BEGIN SELECT raise(ABORT, 'no'); END",
    )
    fixed = run("doctor", "--fix")
    assert (fixed.code, fixed.err) == (0, "")
    assert "The trigger refuse on jobs, which was none of ours, is dropped; it was made with" in fixed.out
    assert "job 7" in fixed.out
    listed = run("jobs", "--format", "json").out
    assert '"doctor"' in listed
    assert "weird" not in listed
    assert run("doctor").out == "everything is well\n"


def test_times_are_for_a_person_in_text_and_whole_in_json(run: Run, workspace: Workspace) -> None:
    run(*RECORD)
    edit(workspace, "UPDATE events SET recorded_at = 7258118400123456 WHERE position = 2")
    text = " ".join(run("doctor").out.split())
    assert f"recorded at {exact(FUTURE, ZoneInfo(workspace.timezone))}," in text
    meanings = [each["meaning"] for each in run("doctor", "--format", "json").json["findings"]]
    assert any("2200-01-01T00:00:00.123456+00:00" in meaning for meaning in meanings)


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


def leave_log(workspace: Workspace) -> None:
    """A log that its program left behind, and beside it a file that went on without it."""
    workspace.close()
    database = workspace.layout.database
    log = database.with_name("chronicle.db-wal")
    connection = apsw.Connection(str(database))
    connection.execute("PRAGMA wal_autocheckpoint=0").fetchall()
    connection.execute("CREATE TABLE mine(x)")
    connection.execute("INSERT INTO mine VALUES(zeroblob(90000))")
    kept = log.read_bytes()
    connection.close()
    for number in range(200):
        edit(workspace, f"CREATE TABLE later{number}(x)")
    log.write_bytes(kept)


def test_the_log_of_another_file_is_moved_away(run: Run, workspace: Workspace) -> None:
    leave_log(workspace)
    answer = run("timeline", "--format", "json")
    assert answer.code == 3
    assert answer.json["hint"].startswith("if chronicle.db is the right one, move chronicle.db-wal")
    text = run("doctor")
    assert text.code == 1
    log = workspace.layout.database.with_name("chronicle.db-wal")
    assert f"  → mv {log} {log}.other\n" in text.out
    assert "  chronicle.db-wal beside" in text.out
    assert ".recover" not in text.out


@pytest.mark.parametrize("emptied", [False, True])
def test_a_log_that_lost_its_database_is_nothing_to_run_anything_on(
    run: Run, workspace: Workspace, emptied: bool
) -> None:
    leave_log(workspace)
    workspace.layout.database.unlink()
    if emptied:
        workspace.layout.database.touch()
    answer = run("timeline", "--format", "json")
    assert answer.code == 3
    assert answer.json["hint"].startswith("put the database back before anything else")
    for words in (["doctor"], ["doctor", "--fix"]):
        text = run(*words)
        assert text.code == 1
        assert "put the database back before anything else" in " ".join(text.out.split())
        assert "→" not in text.out
        assert ".recover" not in text.out
    assert run("doctor", "--format", "json").json["findings"][0]["command"] == ""


@pytest.mark.parametrize("version", [1, 99])
def test_another_releases_database_is_not_examined(run: Run, workspace: Workspace, version: int) -> None:
    edit(workspace, f"PRAGMA user_version={version}")
    if version == 1:
        edit(workspace, "DELETE FROM schema_migrations WHERE version > 1")
    answer = run("doctor", "--format", "json")
    assert answer.code == 3
    assert answer.json["error_type"] == ("schema_migration_required", "schema_ahead_of_code")[version == 99]


@pytest.mark.parametrize("fix", [(), ("--fix",)])
def test_a_manifest_that_cannot_be_used_hides_nothing_else(
    run: Run, workspace: Workspace, fix: tuple[str, ...]
) -> None:
    run(*RECORD)
    workspace.close()
    manifest = workspace.layout.manifest
    manifest.write_text(manifest.read_text() + "x = = 1\n")
    before = manifest.read_text()
    edit(workspace, "UPDATE facet_counts SET entries = 7")
    answer = run("doctor", *fix, "--format", "json")
    assert answer.code == 1
    codes = {each["code"] for each in (*answer.json["findings"], *answer.json["mended"])}
    assert codes == {"manifest_unusable", "fold_differs"}
    assert manifest.read_text() == before
    assert run("status").code != 0

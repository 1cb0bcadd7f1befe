"""`doctor` over the list of jobs: a row that cannot be read is named and taken out, the others stay."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from workbench.storage import fetch
from workbench.workspace import Workspace
from workbench.workspace.doctor import DoctorReport

CLEAN = DoctorReport([], [], True)

WRONG = {
    "a status that is none": "status = 'weird'",
    "a beginning at no time": f"started_at = {2**63 - 1}",
    "a last word at no time": f"heartbeat_at = {-(2**63)}",
    "an end at no time": f"finished_at = {2**63 - 1}",
    "an end that is missing": "finished_at = NULL",
    "running after its end": "status = 'running'",
    "less than nothing done": "done = -5",
    "less than nothing to do": "total = -7",
    "a number below one": "job_id = -5",
    "a title that is no text": "title = CAST(x'ff00' AS TEXT)",
    "a lease that is no text": "lease = CAST(x'ff00' AS TEXT)",
}
LOOSE = {
    "a number that is text": "done = 'many'",
    "a time that is text": "started_at = 'yesterday'",
    "a text that is missing": "outcome = NULL",
    "a text that is bytes": "process = x'00'",
    "a flag that is text": "stop_asked = 'yes'",
    "no time at all": "heartbeat_at = NULL",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with three jobs: done, failed and stopped."""
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        for kind in ("import", "export", "doctor"):
            with workspace.jobs.run(kind, f"a job of {kind}", lease=kind) as job:
                job.progress(3, 7, "half")
                job.finish("done", stopped=kind == "doctor")
    return tmp_path / "w"


def edit(root: Path, *statements: str) -> None:
    """Change the database file as nobody should."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def look(root: Path, *, fix: bool = False) -> DoctorReport:
    """What `doctor` says."""
    with Workspace.open(root, read_only=not fix) as workspace:
        return workspace.doctor(fix=fix)


def kinds(root: Path) -> list[str]:
    """The kinds of the jobs in the list."""
    with Workspace.open(root) as workspace:
        return [row.kind for row in workspace.jobs.page(10)]


def check_named_and_removed(root: Path) -> None:
    """The second of the three is wrong."""
    report = look(root)
    [finding] = report.findings
    assert (finding.severity, finding.code) == ("critical", "job_unreadable")
    assert "job " in finding.meaning
    assert "doctor --fix" in finding.command
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert look(root) == CLEAN
    assert kinds(root) == ["doctor", "import"]


def test_a_healthy_list_is_left_alone(root: Path) -> None:
    assert look(root) == look(root, fix=True) == CLEAN
    assert kinds(root) == ["doctor", "export", "import"]


def test_a_running_job_is_right(root: Path) -> None:
    with Workspace.open(root) as workspace, workspace.jobs.run("import", "now", lease="import") as job:
        job.progress(1, None, "on its way")
        assert workspace.doctor(fix=True) == CLEAN


def test_a_kind_of_a_later_release_is_right(root: Path) -> None:
    edit(root, "UPDATE jobs SET kind = 'unheard of', outcome = char(27) || '[31m'")
    assert look(root) == CLEAN


@pytest.mark.parametrize("damage", WRONG)
def test_a_row_that_cannot_be_read_is_named_and_removed(root: Path, damage: str) -> None:
    edit(root, f"UPDATE jobs SET {WRONG[damage]} WHERE job_id = 2")
    check_named_and_removed(root)


@pytest.mark.parametrize("damage", LOOSE)
def test_a_row_that_no_table_of_ours_can_hold_is_named_and_removed(root: Path, damage: str) -> None:
    schema = "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = {} WHERE name = 'jobs'"
    connection = apsw.Connection(str(root / "chronicle.db"))
    laid: str = fetch.value(connection, "SELECT sql FROM sqlite_schema WHERE name = 'jobs'")
    connection.execute(schema.format("replace(replace(sql, ' STRICT', ''), ' NOT NULL', '')"))
    connection.close()
    edit(root, f"UPDATE jobs SET {LOOSE[damage]} WHERE job_id = 2")
    edit(root, schema.format("'" + laid.replace("'", "''") + "'"))
    report = look(root)
    assert "job_unreadable" in [each.code for each in report.findings]
    assert "job 2; and that is left as it is" in next(
        each.meaning for each in report.findings if each.code == "job_unreadable"
    )
    assert not report.ok

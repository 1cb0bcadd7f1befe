"""`doctor` on evidence of observations: what is orphaned, purged, missing or left, and what it removes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from tests.workspace.evidence_cases import observe
from workbench.evidence import EvidencePolicy
from workbench.evidence.places import ORPHAN_SECONDS, STAGING
from workbench.workspace import Workspace
from workbench.workspace.doctor import DoctorReport
from workbench.workspace.evidence import purge, stager
from workbench.workspace.rows import EvidenceFilter


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one observation that names two artifacts."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.md").write_text("one")
    (files / "b.md").write_text("two")
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        observe(workspace, files, "a.md", "b.md", "none.md")
    return tmp_path / "w"


def look(root: Path, *, fix: bool = False) -> DoctorReport:
    """What `doctor` says."""
    with Workspace.open(root, read_only=not fix) as workspace:
        return workspace.doctor(fix=fix)


def codes(report: DoctorReport) -> list[str]:
    """The codes of what is wrong."""
    return [finding.code for finding in report.findings]


def files_of(root: Path) -> list[Path]:
    """Every file among the artifacts."""
    return sorted(path for path in (root / "artifacts").rglob("*") if path.is_file())


def orphan(root: Path, content: bytes) -> Path:
    """An artifact that nothing names, of a program that has ended."""
    with Workspace.open(root) as workspace:
        path = workspace.evidence.path(workspace.evidence.put(content))
        del workspace.__dict__["evidence"]
    return path


def first_digest(workspace: Workspace) -> str:
    """Of the first file that the observation names."""
    [row] = workspace.readers.evidence.page(EvidenceFilter(path="a.md"), 5)
    return row.digest


def test_what_observations_name_is_no_orphan(root: Path) -> None:
    assert look(root) == look(root, fix=True) == DoctorReport([], [], True)
    assert len(files_of(root)) == 2


def test_missing_evidence_of_an_observation_is_found(root: Path) -> None:
    files_of(root)[0].unlink()
    report = look(root)
    assert codes(report) == ["artifact_missing"]
    assert "event 1" in report.findings[0].meaning


def test_an_orphan_is_removed_by_a_fix(root: Path) -> None:
    kept = files_of(root)
    path = orphan(root, b"nobody's")
    report = look(root)
    assert codes(report) == ["artifact_orphaned"]
    assert report.findings[0].command.startswith("workbench doctor --fix")
    assert path.exists()
    fixed = look(root, fix=True)
    assert codes(fixed) == []
    assert [each.code for each in fixed.mended] == ["artifact_orphaned"]
    assert files_of(root) == kept


HOLDING = """
import sys
from workbench.workspace import Workspace
with Workspace.open(sys.argv[1]) as workspace:
    print(workspace.evidence.put(b"about to be named"), flush=True)
    sys.stdin.read()
"""


def test_what_a_program_is_about_to_name_stays_for_an_hour(root: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert program.stdout is not None
    try:
        name = program.stdout.readline().strip()
        path = root / "artifacts" / name[:2] / name[2:4] / name
        assert codes(look(root, fix=True)) == ["artifact_orphaned"]
        assert path.exists()
        long_ago = time.time() - ORPHAN_SECONDS - 60
        os.utime(path, (long_ago, long_ago))
        assert codes(look(root, fix=True)) == []
        assert not path.exists()
    finally:
        program.communicate("")
    assert program.returncode == 0


def test_where_events_are_damaged_no_orphan_is_removed(root: Path) -> None:
    path = orphan(root, b"nobody's")
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("UPDATE events SET payload = 'no json'")
    connection.close()
    found = codes(look(root, fix=True))
    assert "event_unreadable" in found
    assert len(files_of(root)) == 3
    assert path.exists()


def test_where_a_newer_release_wrote_events_no_orphan_is_removed(root: Path) -> None:
    path = orphan(root, b"of a kind that is not known here")
    connection = apsw.Connection(str(root / "chronicle.db"))
    connection.execute("INSERT INTO event_types(namespace, type) VALUES('workbench', 'future.thing')")
    connection.execute(
        "INSERT INTO events SELECT 2, stream_id, 2, "
        "(SELECT type_id FROM event_types WHERE type = 'future.thing'), 1, randomblob(16), NULL, NULL, 0, "
        "recorded_at, NULL, '{}' FROM events WHERE position = 1"
    )
    connection.execute("UPDATE streams SET last_seq = 2")
    connection.execute("UPDATE folds SET position = 2")
    connection.close()
    assert "artifact_orphaned" in codes(look(root, fix=True))
    assert path.exists()


def test_what_was_purged_is_not_missing(root: Path) -> None:
    with Workspace.open(root) as workspace:
        name = first_digest(workspace)
        purge(workspace.log, workspace.evidence, name, reason="not ours", by="ada")
    report = look(root)
    assert codes(report) == ["artifact_purged"]
    assert report.findings[0].severity == "info"
    assert name[:12] in report.findings[0].meaning
    assert "--status purged" in report.findings[0].command
    assert report.ok


def test_purged_bytes_that_came_back_are_removed_by_a_fix(root: Path, tmp_path: Path) -> None:
    """As after a copy of the artifacts was put back."""
    shutil.copytree(root / "artifacts", tmp_path / "copy")
    with Workspace.open(root) as workspace:
        name = first_digest(workspace)
        purge(workspace.log, workspace.evidence, name, reason="not ours", by="ada")
    shutil.copytree(tmp_path / "copy", root / "artifacts", dirs_exist_ok=True)
    report = look(root)
    assert codes(report) == ["artifact_purge_unfinished"]
    fixed = look(root, fix=True)
    assert codes(fixed) == ["artifact_purged"]
    assert [path.name for path in files_of(root)] != []
    assert name not in [path.name for path in files_of(root)]


def test_what_a_killed_program_left_is_swept(root: Path, tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        with Workspace.open(root) as workspace:
            taking = stager(workspace.log, workspace.evidence, EvidencePolicy(), tmp_path / "files")
            with taking.stage(["a.md"]):
                os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    report = look(root)
    assert codes(report) == ["staging_leftovers"]
    fixed = look(root, fix=True)
    assert (codes(fixed), [each.code for each in fixed.mended]) == ([], ["staging_leftovers"])
    assert not (root / "artifacts" / STAGING).exists()


def test_a_kill_between_keeping_and_appending_leaves_an_orphan_that_a_fix_removes(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "files" / "c.md").write_text("three")
    kept = files_of(root)
    pid = os.fork()
    if pid == 0:
        with Workspace.open(root) as workspace:
            taking = stager(workspace.log, workspace.evidence, EvidencePolicy(), tmp_path / "files")
            with taking.stage(["a.md", "c.md"]) as staging, workspace.log.transaction():
                staging.keep()
                os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert codes(look(root)) == ["artifact_orphaned"]
    assert codes(look(root, fix=True)) == []
    assert files_of(root) == kept


def test_what_is_on_its_way_is_nothing_to_tell(root: Path, tmp_path: Path) -> None:
    with Workspace.open(root) as workspace:
        taking = stager(workspace.log, workspace.evidence, EvidencePolicy(), tmp_path / "files")
        with taking.stage(["a.md"]) as staging:
            assert codes(look(root, fix=True)) == []
            staging.keep()
    assert codes(look(root)) == []

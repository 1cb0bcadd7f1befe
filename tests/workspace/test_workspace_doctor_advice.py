"""What `doctor` advises helps, and never makes it worse."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from workbench import Actum
from workbench.storage.errors import DatabaseDamaged
from workbench.workspace import Workspace
from workbench.workspace.doctor import DoctorReport, Finding, doctor_of_refused
from workbench.workspace.doctor.permissions import permissions
from workbench.workspace.doctor.places import newest_copy, wrong_log
from workbench.workspace.doctor.report import Commands, sentence
from workbench.workspace.doctor.stages import Watch
from workbench.workspace.layout import Layout


def act(workspace: Workspace, count: int) -> None:
    """Record some messages."""
    for number in range(count):
        workspace.sessions.record_actum(
            "ada",
            Actum(
                chronicum_id="one", kind="message", actor_kind="human", actor="ada", content=f"words {number}"
            ),
        )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A healthy workspace."""
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        act(workspace, 20)
    return tmp_path / "w"


def edit(root: Path, *statements: str) -> None:
    """Change the database file as nobody should."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def look(root: Path, *, fix: bool = False) -> DoctorReport:
    """What `doctor` says, whether or not the workspace can be opened."""
    try:
        workspace = Workspace.open(root, read_only=not fix)
    except DatabaseDamaged as error:
        return doctor_of_refused(Layout(root), error, fix=fix)
    with workspace:
        return workspace.doctor(fix=fix)


def leave_log(root: Path) -> None:
    """A log that its program left behind, and beside it a file that went on without it."""
    database = root / "chronicle.db"
    connection = apsw.Connection(str(database))
    connection.execute("PRAGMA wal_autocheckpoint=0").fetchall()
    connection.execute("CREATE TABLE mine(x)")
    connection.execute("INSERT INTO mine VALUES(zeroblob(90000))")
    shutil.copy(root / "chronicle.db-wal", root / "kept")
    connection.close()
    with Workspace.open(root) as workspace:
        act(workspace, 200)
    (root / "kept").rename(root / "chronicle.db-wal")


def content(root: Path) -> dict[str, bytes]:
    """The database and what lies beside it."""
    return {path.name: path.read_bytes() for path in root.glob("chronicle.db*")}


@pytest.mark.parametrize("leave", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["gone", "empty"])
def test_a_log_without_its_database_is_never_run_over(root: Path, leave: Callable[[Path], object]) -> None:
    leave_log(root)
    leave(root / "chronicle.db")
    before = content(root)
    for fix in (False, True):
        [finding] = look(root, fix=fix).findings
        assert (finding.severity, finding.code, finding.command) == ("critical", "db_damaged", "")
        assert "put the database back" in finding.meaning
        assert "move chronicle.db-wal away" in finding.meaning
        assert content(root) == before


def test_a_log_of_another_file_is_moved_away(root: Path) -> None:
    leave_log(root)
    (root / "chronicle.db-shm").write_bytes(b"old")
    (root / "chronicle.db-wal.other").write_bytes(b"kept from before")
    log = (root / "chronicle.db-wal").read_bytes()
    for fix in (False, True):
        [finding] = look(root, fix=fix).findings
        assert finding.meaning.startswith("chronicle.db-wal beside")
        assert "if chronicle.db is the right one" in finding.meaning
        assert ".recover" not in finding.command
    subprocess.run(finding.command, shell=True, check=True)
    assert (root / "chronicle.db-wal.other").read_bytes() == b"kept from before"
    assert (root / "chronicle.db-wal.other2").read_bytes() == log
    assert (root / "chronicle.db-shm.other").read_bytes() == b"old"
    assert wrong_log(Layout(root)) is None
    with Workspace.open(root) as workspace:
        assert workspace.log.last_position() > 200


def test_a_sentence_that_begins_with_a_file_stays_as_it_is() -> None:
    assert sentence("chronicle.db-wal beside it") == "chronicle.db-wal beside it."
    assert sentence("the file is gone.") == "The file is gone."
    assert sentence("gone") == "Gone."


BROKEN_TEXT = "CAST(x'7b2261223a22ff222c2265766964656e6365223a5b5d7d' AS TEXT)"


def test_a_payload_that_is_no_text_is_one_finding_among_others(root: Path) -> None:
    edit(root, f"UPDATE events SET payload = {BROKEN_TEXT} WHERE position = 7")
    edit(root, "UPDATE streams SET last_seq = 900")
    (root / "logs").chmod(0o755)
    found = {finding.code: finding for finding in look(root).findings}
    assert set(found) == {"event_unreadable", "replay_failed", "last_seq_differs", "permissions_open"}
    assert found["event_unreadable"].meaning.endswith("at 7.")
    assert "--after 6 " in found["event_unreadable"].command
    assert "event 7" in found["replay_failed"].meaning
    after = look(root, fix=True)
    assert {finding.code for finding in after.findings} == {"event_unreadable", "replay_failed"}


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE events SET schema_version = 99 WHERE position = 7", "replay_failed"),
        (
            "UPDATE event_types SET type = 'dream.recorded' WHERE type = 'chronicum.created'",
            "event_type_unknown",
        ),
    ],
)
def test_what_a_newer_release_wrote_needs_it(root: Path, statement: str, code: str) -> None:
    edit(root, statement)
    [finding] = [finding for finding in look(root).findings if finding.code == code]
    assert "install a newer chronicle-workbench" in finding.meaning
    assert "migrate" not in finding.command


def test_what_is_left_alone_in_a_damaged_file_is_said_so(root: Path) -> None:
    edit(root, "ALTER TABLE events ADD COLUMN more TEXT", "UPDATE streams SET last_seq = 3")
    before = look(root)
    assert [finding.code for finding in before.findings] == ["table_differs", "last_seq_differs"]
    assert "left as it is until" in before.findings[1].meaning
    assert not [finding for finding in before.findings if "--fix" in finding.command]
    assert look(root, fix=True) == before


def test_the_newest_copy_is_named(root: Path) -> None:
    edit(root, "DELETE FROM events WHERE position = 9")
    folder = root / "backups" / "migrations"
    folder.mkdir()
    for age, name in enumerate(("newest", "older", "oldest")):
        shutil.copyfile(root / "chronicle.db", folder / name)
        os.utime(folder / name, (9000 - age, 9000 - age))
    (folder / "note").write_text("no database")
    (folder / "half.part").write_bytes((root / "chronicle.db").read_bytes())
    (folder / "away").symlink_to(root / "chronicle.db")
    os.mkfifo(folder / "pipe")
    assert newest_copy(Layout(root)) == folder / "newest"
    [gap] = [finding for finding in look(root).findings if finding.code == "position_gap"]
    assert "only a copy can bring them back (the newest is backups/migrations/newest)" in gap.meaning


def test_what_is_recovered_is_the_owners_alone(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "a b")
    command = Commands(layout).recover
    assert command.startswith("(umask 077; sqlite3 '")
    assert command.endswith("/a b/chronicle.db.recovered')")


def _permissions(root: Path, user: int) -> list[Finding]:
    layout = Layout(root)
    return list(permissions(layout, Commands(layout), Watch(None, None), user=user))


def test_permissions_that_another_user_owns_are_told_apart(root: Path) -> None:
    (root / "logs").chmod(0o755)
    owner = (root / "logs").stat().st_uid
    [ours] = _permissions(root, owner)
    assert "doctor --fix" in ours.command
    [theirs] = _permissions(root, owner + 70_000)
    assert (theirs.severity, theirs.code) == ("warning", "permissions_open")
    assert f"user {owner})" in theirs.meaning
    # The workspace is another's: nobody is told to take it from them.
    assert "chown" not in f"{theirs.meaning} {theirs.command}"
    assert "ask its owner to run the command" in theirs.meaning
    assert "workbench --read-only" in theirs.meaning
    assert theirs.command == Commands(Layout(root)).fix


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_part_of_ones_own_workspace_that_another_user_owns_is_taken_back(root: Path) -> None:
    user = 70_000
    os.chown(root, user, -1)
    (root / "logs").chmod(0o755)
    [theirs] = _permissions(root, user)
    assert theirs.command.startswith(f"sudo chown -- {user} {root / 'logs'} && workbench doctor")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (os.mkfifo, "a pipe"),
        (Path.touch, "a file"),
        (lambda path: path.symlink_to("nowhere"), "a symbolic link that leads nowhere"),
    ],
)
def test_what_stands_in_the_place_of_the_artifacts_is_named(
    root: Path, make: Callable[[Path], object], kind: str
) -> None:
    (root / "artifacts").rmdir()
    make(root / "artifacts")
    for fix in (False, True):
        [finding] = [each for each in look(root, fix=fix).findings if each.code == "artifact_unreadable"]
        assert finding.severity == "critical"
        assert f"stands {kind}," in finding.meaning

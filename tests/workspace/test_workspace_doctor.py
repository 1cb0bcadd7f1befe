"""`doctor`: a healthy workspace is clean, each kind of damage is found, and mended where that is promised."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.laid_out import laid_out_once
from workbench import Actum
from workbench.log import leftovers
from workbench.log.event_log import EventLog
from workbench.log.inline_rebuild import rebuild
from workbench.storage import fetch
from workbench.storage.errors import DatabaseDamaged, DatabaseReadOnly
from workbench.workspace import Workspace
from workbench.workspace.doctor import DoctorReport, Finding, unopened
from workbench.workspace.errors import Cancelled
from workbench.workspace.folds import FOLDS
from workbench.workspace.layout import Layout


def act(workspace: Workspace, session: str, text: str, **metadata: Any) -> None:
    """Record one message."""
    workspace.sessions.record_actum(
        "ada",
        Actum(
            chronicum_id=session,
            kind="message",
            actor_kind="human",
            actor="ada",
            content=text,
            metadata=metadata,
        ),
    )


def fill(workspace: Workspace, acta: int = 40) -> None:
    """Two sessions, one act of which names evidence."""
    digest = workspace.evidence.put(b"a picture")
    act(workspace, "one", "look at this", evidence=[digest, "no digest", 7])
    for number in range(acta):
        act(workspace, ("one", "two")[number % 3 == 0], f"words{number} common", call_id=f"c{number}")


@laid_out_once
def healthy(root: Path) -> Path:
    """A healthy workspace."""
    with Workspace.create(root, timezone="UTC", owner="ada") as workspace:
        fill(workspace)
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return healthy(tmp_path / "w")


def edit(root: Path, *statements: str) -> None:
    """Change the database file as nobody should."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    try:
        for statement in statements:
            connection.execute(statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()


def look(root: Path, *, fix: bool = False) -> DoctorReport:
    """What `doctor` says."""
    with Workspace.open(root, read_only=not fix) as workspace:
        return workspace.doctor(fix=fix)


def codes(report: DoctorReport) -> list[str]:
    """The codes of what is wrong."""
    return [finding.code for finding in report.findings]


def artifact(root: Path) -> Path:
    """The one artifact."""
    [path] = [path for path in (root / "artifacts").rglob("*") if path.is_file()]
    return path


def events_of(root: Path) -> list[tuple[Any, ...]]:
    """Every stored event."""
    connection = apsw.Connection(str(root / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return fetch.rows(connection, "SELECT * FROM events ORDER BY position")
    finally:
        connection.close()


def check_finding(finding: Finding) -> None:
    """One sentence, and a command."""
    assert finding.meaning[0] == finding.meaning[0].upper()
    assert finding.meaning.endswith(".")
    assert "\n" not in finding.meaning
    assert finding.command


# -- healthy ---------------------------------------------------------------------------------


def test_a_healthy_workspace_is_clean(root: Path) -> None:
    clean = DoctorReport([], [], True)
    assert look(root) == clean
    assert look(root, fix=True) == clean


def test_an_empty_workspace_is_clean(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        assert workspace.doctor() == DoctorReport([], [], True)


def test_a_workspace_is_clean_beside_a_writer(root: Path) -> None:
    """What is appended between the replay and the comparison is taken into account."""
    with Workspace.open(root) as workspace, Workspace.open(root) as other:
        ended = threading.Event()

        def write() -> None:
            number = 0
            while not ended.is_set():
                number += 1
                act(other, "beside", f"beside{number} common")

        def write_once(done: int, total: int | None, note: str) -> None:
            act(other, "between", f"{note} {done}")

        thread = threading.Thread(target=write)
        thread.start()
        try:
            assert workspace.doctor(progress=write_once) == DoctorReport([], [], True)
        finally:
            ended.set()
            thread.join()
        assert workspace.doctor() == DoctorReport([], [], True)


def test_looking_changes_nothing(root: Path) -> None:
    edit(root, "UPDATE streams SET last_seq = 1", "DELETE FROM actors")
    (root / "chronicle.db").chmod(0o644)

    def state() -> list[tuple[str, int, bytes]]:
        paths = sorted(p for p in root.rglob("*") if p.is_file() and not p.name.endswith(("-shm", "-wal")))
        return [(str(path), path.stat().st_mode, path.read_bytes()) for path in paths]

    before = state()
    assert not look(root).ok
    with Workspace.open(root) as workspace:
        assert not workspace.doctor().ok
    assert state() == before


# -- projections -----------------------------------------------------------------------------

FOLD_DAMAGE = {
    "a counter": ("session_counts", "UPDATE facet_counts SET entries = entries + 1"),
    "a row too few": ("sessions", "DELETE FROM session_entries WHERE seq = 5"),
    "a row too many": ("sessions", "INSERT INTO session_keys VALUES(1, 'zzz', 2)"),
    "a row changed": ("sessions", "UPDATE chronica SET owner_id = 'eve'"),
    "a description": ("sessions", "INSERT INTO session_descriptions VALUES(1, 'title', 1, NULL, '\"x\"')"),
    "no rows": ("actors", "DELETE FROM event_actors"),
    "an actor": ("actors", "UPDATE actors SET name = 'eve'"),
    "a text forgotten": ("fulltext", "DELETE FROM fulltext WHERE rowid = 9"),
    "a text more": ("fulltext", "INSERT INTO fulltext(rowid, title, body) VALUES(900, '', 'plum')"),
}


@pytest.mark.parametrize("damage", FOLD_DAMAGE)
def test_a_projection_that_differs_is_found_and_built_again(root: Path, damage: str) -> None:
    fold, statement = FOLD_DAMAGE[damage]
    edit(root, statement)
    before = events_of(root)
    report = look(root)
    assert codes(report) == ["fold_differs"]
    assert report.findings[0].severity == "critical"
    assert f"projection {fold} " in report.findings[0].meaning
    assert "doctor --fix" in report.findings[0].command
    assert not report.ok
    check_finding(report.findings[0])
    mended = look(root, fix=True)
    assert mended == DoctorReport([], report.findings, True)
    assert look(root) == DoctorReport([], [], True)
    assert events_of(root) == before


def test_several_projections_are_mended_together(root: Path) -> None:
    edit(root, *(statement for _, statement in FOLD_DAMAGE.values()))
    found = look(root)
    assert codes(found) == ["fold_differs"] * 4
    assert look(root, fix=True) == DoctorReport([], found.findings, True)


def test_a_broken_full_text_index_is_built_again(root: Path) -> None:
    edit(root, "DELETE FROM fulltext_data WHERE id > 100")
    report = look(root)
    assert codes(report) == ["fold_damaged"]
    check_finding(report.findings[0])
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    with Workspace.open(root) as workspace, workspace.log.reader() as connection:
        found = fetch.rows(connection, "SELECT rowid FROM fulltext WHERE fulltext MATCH 'words7'")
        assert len(found) == 1


def test_full_text_that_sqlite_does_not_know_any_more_is_built_again(root: Path) -> None:
    """The check as a whole breaks off there, and is made table by table."""
    edit(root, "UPDATE fulltext_config SET v = 99 WHERE k = 'version'")
    report = look(root)
    assert codes(report) == ["fold_damaged"]
    assert "fulltext" in report.findings[0].meaning
    check_finding(report.findings[0])
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert look(root) == DoctorReport([], [], True)


def test_an_index_of_a_projection_that_lacks_rows_is_built_again(root: Path) -> None:
    layout = "SELECT sql FROM sqlite_schema WHERE name = 'sessions_by_activity'"
    connection = apsw.Connection(str(root / "chronicle.db"))
    sql = fetch.value(connection, layout)
    # The index forgets its rows: it is made for a moment into one over none of them.
    connection.execute("DROP INDEX sessions_by_activity")
    connection.execute(sql + " WHERE stream_id < 0")
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'sessions_by_activity'", (sql,))
    connection.close()
    report = look(root)
    assert codes(report) == ["fold_damaged"]
    assert "session_counts" in report.findings[0].meaning
    assert look(root, fix=True) == DoctorReport([], report.findings, True)


@pytest.mark.parametrize("position", [3, 900])
def test_a_projection_that_stands_elsewhere_is_built_again(root: Path, position: int) -> None:
    edit(root, f"UPDATE folds SET position = {position} WHERE name = 'actors'")
    report = look(root)
    assert codes(report) == ["fold_position"]
    check_finding(report.findings[0])
    assert look(root, fix=True).findings == []
    assert look(root) == DoctorReport([], [], True)


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("UPDATE folds SET version = 77 WHERE name = 'actors'", "install a newer chronicle-workbench"),
        ("DELETE FROM folds WHERE name = 'sessions'", "workbench migrate"),
        ("INSERT INTO folds VALUES('stranger', 1, 1)", "install a newer chronicle-workbench"),
    ],
)
def test_another_fold_set_needs_a_migration_or_a_newer_release(
    root: Path, statement: str, advice: str
) -> None:
    edit(root, statement)
    for fix in (False, True):
        report = look(root, fix=fix)
        assert codes(report) == ["fold_set_differs"]
        [finding] = report.findings
        assert advice in f"{finding.meaning} {finding.command}"
        assert ("workbench migrate" in finding.command) == (advice == "workbench migrate")
        check_finding(finding)


def test_what_a_killed_rebuild_left_is_taken_away(root: Path) -> None:
    child = os.fork()
    if child == 0:
        with Workspace.open(root) as workspace:

            def die(position: int, end: int) -> None:
                if position >= 10:
                    os._exit(9)

            rebuild(workspace.log.database, FOLDS, workspace.log.decoder, batch_size=5, progress=die)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    report = look(root)
    assert codes(report) == ["rebuild_leftovers"]
    assert report.ok
    check_finding(report.findings[0])
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    with Workspace.open(root) as workspace, workspace.log.reader() as connection:
        assert leftovers.leftovers(connection) == []


# -- events ----------------------------------------------------------------------------------


EVENT_DAMAGE: dict[str, tuple[str, ...]] = {
    "position_gap": ("UPDATE events SET position = position + 100 WHERE position > 20",),
    "seq_gap": ("UPDATE events SET seq = seq + 100 WHERE stream_id = 1 AND seq > 5",),
    "recorded_at_falls": ("UPDATE events SET recorded_at = 5 WHERE position = 12",),
    "event_unreadable": ("UPDATE events SET payload = '{\"content\":' WHERE position = 7",),
    "foreign_keys": ("PRAGMA foreign_keys=OFF", "UPDATE events SET type_id = 99 WHERE position = 7"),
    "replay_failed": ("UPDATE events SET payload = '{}' WHERE position = 7",),
}


LOOKS = {"foreign_keys": "foreign_key_check"}
"""What shows the damage where the timeline does not."""


@pytest.mark.parametrize("code", EVENT_DAMAGE)
def test_damaged_events_are_found_and_never_touched(root: Path, code: str) -> None:
    edit(root, *EVENT_DAMAGE[code])
    before = events_of(root)
    for fix in (False, True):
        report = look(root, fix=fix)
        assert code in codes(report)
        [finding] = [finding for finding in report.findings if finding.code == code]
        assert finding.severity == "critical"
        assert ".recover" not in finding.command
        assert LOOKS.get(code, "workbench timeline") in finding.command
        assert "only a copy can bring" in finding.meaning
        check_finding(finding)
        assert not report.ok
        assert events_of(root) == before


def test_an_event_id_that_is_none_is_found(root: Path) -> None:
    edit(root, "UPDATE events SET event_id = x'00' WHERE position = 7")
    assert "event_unreadable" in codes(look(root))


BROKEN_TEXT = "CAST(x'7b22ff' AS TEXT)"


def test_the_event_that_cannot_be_folded_is_named(root: Path) -> None:
    edit(root, "UPDATE events SET payload = '{}' WHERE position = 7", "DELETE FROM actors")
    for fix in (False, True):
        report = look(root, fix=fix)
        assert codes(report) == ["replay_failed"]
        assert "event 7" in report.findings[0].meaning


@pytest.mark.parametrize(
    "statement",
    [
        f"UPDATE events SET payload = {BROKEN_TEXT} WHERE position = 7",
        "UPDATE events SET payload = CAST(x'7b2261223a22ff222c2265766964656e6365223a5b5d7d' AS TEXT) WHERE position = 7",
        f"UPDATE streams SET name = {BROKEN_TEXT}, last_seq = 3 WHERE stream_id = 1",
        f"UPDATE event_types SET type = {BROKEN_TEXT} WHERE type_id = 1",
    ],
)
def test_bytes_that_are_no_text_are_found(root: Path, statement: str) -> None:
    edit(root, statement, "UPDATE folds SET position = 3 WHERE name = 'actors'")
    for fix in (False, True):
        report = look(root, fix=fix)
        assert {"db_damaged", "replay_failed", "event_unreadable"} & set(codes(report))
        for finding in report.findings:
            check_finding(finding)


def test_bytes_that_are_no_text_in_a_projection_are_mended(root: Path) -> None:
    edit(root, f"UPDATE chronica SET owner_id = {BROKEN_TEXT}")
    report = look(root)
    assert codes(report) == ["fold_differs"]
    assert look(root, fix=True) == DoctorReport([], report.findings, True)


def test_a_missing_event_is_found(root: Path) -> None:
    edit(root, "DELETE FROM events WHERE position = 17")
    report = look(root)
    assert {"position_gap", "seq_gap", "fold_differs"} <= set(codes(report))
    [gap] = [finding for finding in report.findings if finding.code == "position_gap"]
    assert "17 to 17" in gap.meaning


def test_a_log_that_lost_its_end_is_not_made_to_look_whole(root: Path) -> None:
    edit(root, "DELETE FROM events WHERE position > 40")
    for fix in (False, True):
        report = look(root, fix=fix)
        assert codes(report) == ["log_truncated", "last_seq_differs"]
        assert "event 40" in report.findings[0].meaning
        assert report.mended == []
        assert "events are missing" in report.findings[1].meaning
        for finding in report.findings:
            check_finding(finding)
            assert "--fix" not in finding.command
            assert ".recover" not in finding.command


def test_a_stream_said_to_end_elsewhere_is_mended(root: Path) -> None:
    edit(root, "UPDATE streams SET last_seq = 3 WHERE stream_id = 1")
    report = look(root)
    assert codes(report) == ["last_seq_differs"]
    assert report.findings[0].severity == "warning"
    assert report.ok
    check_finding(report.findings[0])
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert look(root) == DoctorReport([], [], True)


def test_a_type_that_nobody_knows_is_told(root: Path) -> None:
    edit(root, "UPDATE event_types SET type = 'dream.recorded' WHERE type = 'chronicum.created'")
    found = [each for each in look(root).findings if each.code == "event_type_unknown"]
    assert len(found) == 1
    assert "workbench:dream.recorded" in found[0].meaning
    assert found[0].severity == "info"


def test_an_event_later_than_the_clock_is_told(tmp_path: Path) -> None:
    today = datetime(2031, 5, 4, tzinfo=UTC)
    moments = [today + timedelta(days=2)]
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada", clock=lambda: moments[-1]) as it:
        fill(it, 3)
        assert it.doctor().findings == []
        moments.append(today)
        report = it.doctor(fix=True)
    assert codes(report) == ["recorded_in_future"]
    assert report.findings[0].severity == "warning"
    assert "2031-05-06" in report.findings[0].meaning
    assert report.ok
    check_finding(report.findings[0])


# -- the file --------------------------------------------------------------------------------


def _scribble(root: Path, sql: str) -> None:
    """Overwrite the middle of a table's or index's first page."""
    edit(root)
    connection = apsw.Connection(str(root / "chronicle.db"))
    page, size = fetch.value(connection, sql), fetch.value(connection, "PRAGMA page_size")
    connection.close()
    with (root / "chronicle.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xaa" * 600)


@pytest.mark.parametrize("name", ["events", "events_by_stream", "session_entries", "streams"])
def test_a_damaged_page_is_found_and_nothing_is_written(root: Path, name: str) -> None:
    _scribble(root, f"SELECT rootpage FROM sqlite_schema WHERE name = '{name}'")
    before = (root / "chronicle.db").read_bytes()
    for fix in (False, True):
        try:
            report = look(root, fix=fix)
        except DatabaseDamaged as error:
            pytest.fail(f"not a report but {error.message}")
        assert codes(report).count("db_damaged") == 1
        assert not report.ok
        for finding in report.findings:
            check_finding(finding)
        assert (root / "chronicle.db").read_bytes() == before


def _truncate(root: Path) -> None:
    edit(root)
    with (root / "chronicle.db").open("r+b") as file:
        file.truncate((root / "chronicle.db").stat().st_size // 2)


@pytest.mark.parametrize("damage", [_truncate, lambda root: edit(root, "DROP TABLE schema_migrations")])
def test_a_file_that_cannot_be_opened_has_a_report_too(root: Path, damage: Callable[[Path], None]) -> None:
    damage(root)
    with pytest.raises(DatabaseDamaged) as caught:
        look(root)
    report = unopened(Layout(root), caught.value)
    assert codes(report) == ["db_damaged"]
    assert not report.ok
    assert report.findings[0].command.startswith("(umask 077; sqlite3 ")
    assert "sqlite3 3.43 or later" in report.findings[0].meaning
    check_finding(report.findings[0])


# -- artifacts -------------------------------------------------------------------------------


def test_a_damaged_artifact_is_found_and_left_alone(root: Path) -> None:
    artifact(root).write_bytes(b"another picture")
    for fix in (False, True):
        report = look(root, fix=fix)
        assert codes(report) == ["artifact_damaged"]
        assert report.findings[0].severity == "critical"
        assert artifact(root).name in report.findings[0].meaning
        check_finding(report.findings[0])
        assert artifact(root).read_bytes() == b"another picture"


def test_a_missing_artifact_is_found(root: Path) -> None:
    path = artifact(root)
    path.unlink()
    report = look(root)
    assert codes(report) == ["artifact_missing"]
    assert path.name[:12] in report.findings[0].meaning
    assert "event 2" in report.findings[0].meaning
    check_finding(report.findings[0])


def test_orphaned_artifacts_are_told_and_removed_once_nobody_may_name_them(root: Path) -> None:
    with Workspace.open(root) as workspace:
        paths = [workspace.evidence.path(workspace.evidence.put(b"nobody's %d" % n)) for n in range(5)]
        report = look(root, fix=True)
        assert codes(report) == ["artifact_orphaned"]
        assert report.findings[0].severity == "info"
        assert "2 more" in report.findings[0].meaning
        assert report.ok
        assert all(path.is_file() for path in paths)
        check_finding(report.findings[0])
        del workspace.__dict__["evidence"]
    assert look(root, fix=True).findings == []
    assert not any(path.exists() for path in paths)


def test_what_is_no_artifact_is_told(root: Path) -> None:
    right = artifact(root)
    (right.parent / ".new-abc").write_bytes(b"half a pic")
    shutil.copy(right, root / "artifacts" / right.name)
    (root / "artifacts" / "link").symlink_to(right)
    for path in (right.parent / ".new-abc", root / "artifacts" / right.name):
        path.chmod(0o600)
    report = look(root)
    assert codes(report) == ["artifact_stray"]
    assert ".new-abc" in report.findings[0].meaning
    assert report.findings[0].severity == "info"
    check_finding(report.findings[0])


# -- permissions -----------------------------------------------------------------------------


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


OPENED: dict[str, tuple[Callable[[Path], Path], int, int]] = {
    "the database": (lambda root: root / "chronicle.db", 0o644, 0o600),
    "the artifacts": (lambda root: root / "artifacts", 0o755, 0o700),
    "an artifact": (artifact, 0o640, 0o600),
    "a folder of artifacts": (lambda root: artifact(root).parent, 0o701, 0o700),
    "the notes": (lambda root: root / "notes", 0o770, 0o700),
    "the backups": (lambda root: root / "backups", 0o710, 0o700),
    "the root": (lambda root: root, 0o755, 0o700),
    "the root, to write": (lambda root: root, 0o777, 0o700),
    "the manifest": (lambda root: root / "SSOT_MANIFEST.toml", 0o644, 0o600),
}


@pytest.mark.parametrize("which", OPENED)
def test_what_is_open_to_others_is_found_and_closed(root: Path, which: str) -> None:
    place, wrong, right = OPENED[which]
    path = place(root)
    path.chmod(wrong)
    report = look(root)
    assert codes(report) == ["permissions_open"]
    assert report.findings[0].severity == "warning"
    check_finding(report.findings[0])
    assert _mode(path) == wrong
    assert look(root, fix=True) == DoctorReport([], report.findings, True)
    assert _mode(path) == right


def test_what_init_lays_out_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Workspace.create(tmp_path / "w", timezone="UTC", owner="ada").close()
    finally:
        os.umask(before)
    assert _mode(tmp_path / "w") == 0o700
    for path in (tmp_path / "w").rglob("*"):
        assert _mode(path) == (0o700 if path.is_dir() else 0o600), path


def test_a_persons_own_choice_is_left_alone(root: Path) -> None:
    (root / "notes" / "README.md").chmod(0o644)
    assert look(root) == DoctorReport([], [], True)


def test_what_its_owner_may_not_read_is_found_and_opened(root: Path) -> None:
    path = artifact(root)
    path.chmod(0)
    path.parent.parent.chmod(0)
    report = look(root)
    assert "permissions_locked" in codes(report)
    assert not report.ok
    assert look(root, fix=True).findings == []
    assert (_mode(path), _mode(path.parent.parent)) == (0o600, 0o700)
    assert look(root) == DoctorReport([], [], True)


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "theirs").write_text("x")
    (outside / "theirs").chmod(0o644)
    (root / "logs" / "away").symlink_to(outside)
    assert look(root, fix=True) == DoctorReport([], [], True)
    assert (_mode(outside), _mode(outside / "theirs")) == (0o755, 0o644)


# -- as a whole ------------------------------------------------------------------------------


def test_the_worst_comes_first_and_everything_mendable_is_mended(root: Path) -> None:
    edit(root, "DELETE FROM actors", "UPDATE streams SET last_seq = 900")
    artifact(root).write_bytes(b"x")
    (root / "logs").chmod(0o755)
    (root / "artifacts" / "stray").touch(mode=0o600)
    report = look(root)
    assert [(finding.severity, finding.code) for finding in report.findings] == [
        ("critical", "fold_differs"),
        ("critical", "artifact_damaged"),
        ("warning", "last_seq_differs"),
        ("warning", "permissions_open"),
        ("info", "artifact_stray"),
    ]
    after = look(root, fix=True)
    assert codes(after) == ["artifact_damaged", "artifact_stray"]
    assert [each.code for each in after.mended] == ["last_seq_differs", "fold_differs", "permissions_open"]
    assert not after.ok


def test_a_workspace_open_for_reading_is_not_mended(root: Path) -> None:
    edit(root, "UPDATE streams SET last_seq = 900")
    with Workspace.open(root, read_only=True) as workspace:
        assert codes(workspace.doctor()) == ["last_seq_differs"]
        with pytest.raises(DatabaseReadOnly):
            workspace.doctor(fix=True)


NOBODY = 65534


@pytest.mark.parametrize("left_in_wal", [False, True])
def test_a_folder_that_cannot_be_written_can_be_examined(root: Path, left_in_wal: bool) -> None:
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    try:
        with Workspace.open(root) as workspace:
            # The log of a program that is still at work comes along, if there is one.
            act(workspace, "one", "the last word")
            if left_in_wal:
                shutil.copytree(root, place / "w", ignore=shutil.ignore_patterns("*-shm"))
        if not left_in_wal:
            shutil.copytree(root, place / "w")
        for path in [place / "w", *(place / "w").rglob("*")]:
            path.chmod(0o500 if path.is_dir() else 0o400)
            if os.geteuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.geteuid() == 0:
                    os.setgroups([])
                    os.setgid(NOBODY)
                    os.setuid(NOBODY)
                # Nothing to examine if this user could write after all.
                assert not os.access(place / "w", os.W_OK)
                code = int(look(place / "w") != DoctorReport([], [], True))
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        for path in [place / "w", *(place / "w").rglob("*")]:
            path.chmod(0o700)
        shutil.rmtree(place)


def test_names_that_a_shell_would_take_apart_are_quoted(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "it's; here", timezone="UTC", owner="ada") as workspace:
        (workspace.root / "logs").chmod(0o755)
        [finding] = workspace.doctor().findings
        assert finding.command == f"workbench doctor --fix --root '{tmp_path}/it'\"'\"'s; here'"


def test_progress_never_goes_back(root: Path) -> None:
    steps: list[tuple[int, int | None, str]] = []
    with Workspace.open(root, read_only=True) as workspace:
        workspace.doctor(progress=lambda *step: steps.append(step))
    done = [step[0] for step in steps]
    assert done == sorted(done)
    assert steps[0][0] == 0
    assert {step[1] for step in steps} == {1000}
    assert done[-1] == 1000
    assert len({step[2] for step in steps}) == 7


@contextmanager
def _asked(after: int) -> Iterator[Callable[[], bool]]:
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > after

    yield cancelled
    assert len(asked) > after


@pytest.mark.parametrize("after", [0, 2, 4, 6, 8])
def test_it_can_be_stopped_anywhere(root: Path, after: int) -> None:
    edit(root, "DELETE FROM actors")
    with Workspace.open(root) as workspace, _asked(after) as cancelled, pytest.raises(Cancelled):
        workspace.doctor(fix=True, cancelled=cancelled)
    assert codes(look(root)) == ["fold_differs"]


def test_a_log_of_another_folder_is_found_by_the_variable(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    edit(root)
    shutil.move(root / "chronicle.db", elsewhere)
    monkeypatch.setenv("CHRONICLE_DB", str(elsewhere))
    elsewhere.chmod(0o644)
    report = look(root, fix=True)
    assert [finding.code for finding in report.mended] == ["permissions_open"]
    assert _mode(elsewhere) == 0o600
    with Workspace.open(root) as workspace:
        assert isinstance(workspace.log, EventLog)

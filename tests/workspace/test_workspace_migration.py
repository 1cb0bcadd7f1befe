"""From the first release's database to this one's: whole or not at all, and only when it is asked for."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path

import apsw
import pytest

from tests.workspace.older_workspace import (
    Unchanged,
    first_log,
    lay_out_first,
    layout_of,
    older_workspace,
    rows_of,
)
from workbench.log.fulltext import match_expression
from workbench.log.streams import session_stream
from workbench.sessions.events import UnitClosed
from workbench.storage import fetch, schema
from workbench.storage.errors import (
    DatabaseDamaged,
    DatabaseLocked,
    NotAWorkbenchDatabase,
    SchemaAheadOfCode,
    SchemaError,
    SchemaMigrationRequired,
    StorageError,
)
from workbench.storage.history import MigrationError
from workbench.workspace import Workspace
from workbench.workspace.errors import Cancelled, WorkspaceMissing
from workbench.workspace.folds import FOLDS
from workbench.workspace.migrations import HISTORY, SCHEMA_VERSION
from workbench.workspace.opening import NoDatabaseFile
from workbench.workspace.transfer import export_file, import_file

UNTOUCHED = ("streams", "event_types", "events", "chronica", "session_keys", "imported_records", "tool_calls")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of whoever runs the tests."""
    for name in ("CHRONICLE_AUTO_MIGRATE", "CHRONICLE_DB"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of schema 1; for copies."""
    return older_workspace(tmp_path_factory.mktemp("older") / "w")


@pytest.fixture
def old(prepared: Path, tmp_path: Path) -> Path:
    """A workspace of schema 1."""
    return Path(shutil.copytree(prepared, tmp_path / "w"))


def edit(root: Path, *statements: str) -> None:
    """Change a database as nobody should."""
    connection = apsw.Connection(str(root / "chronicle.db"))
    for statement in statements:
        connection.execute(statement).fetchall()
    connection.close()


def versions(root: Path) -> tuple[int, list[tuple[int, str]]]:
    """The schema in the header, and the steps that are noted."""
    connection = apsw.Connection(str(root / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return (
            fetch.value(connection, "PRAGMA user_version"),
            fetch.rows(connection, "SELECT version, name FROM schema_migrations ORDER BY version"),
        )
    finally:
        connection.close()


def copies(root: Path) -> list[Path]:
    """The copies from before migrations."""
    return sorted((root / "backups").rglob("*bak-premigrate*"))


def test_m01_a_new_workspace_has_the_newest_schema_and_no_copy(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", timezone="UTC", owner="ada") as workspace:
        assert workspace.schema_version == SCHEMA_VERSION == HISTORY.version
    version, noted = versions(tmp_path / "w")
    assert version == SCHEMA_VERSION
    assert noted == [(step.version, step.name) for step in HISTORY.migrations]
    assert (tmp_path / "w" / "chronicle.db").read_bytes()[68:72] == b"CWBK"
    assert copies(tmp_path / "w") == []
    assert not Workspace.plan_migration(tmp_path / "w").needed


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
def test_m02_opening_an_older_database_is_refused_and_changes_nothing(old: Path, read_only: bool) -> None:
    before = Unchanged(old)
    with pytest.raises(SchemaMigrationRequired) as caught:
        Workspace.open(old, read_only=read_only)
    assert "workbench migrate" in caught.value.hint
    assert caught.value.exit_code == 3
    before.check()


def test_m03_an_upgrade_applies_what_is_pending_after_a_copy(old: Path) -> None:
    before = rows_of(old / "chronicle.db", *UNTOUCHED)
    done = Workspace.migrate(old)
    assert [step.version for step in done.applied] == list(range(2, SCHEMA_VERSION + 1))
    assert versions(old)[0] == SCHEMA_VERSION
    (copy,) = copies(old)
    assert str(copy) == done.backup_path
    assert copy.parent == old / "backups" / "migrations"
    assert copy.name.startswith(f"chronicle.db.bak-premigrate-v1-v{SCHEMA_VERSION}-")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    shutil.copy(copy, old / "copy.db")
    with first_log(old / "copy.db") as log:
        assert log.last_position() == 40
    assert rows_of(old / "chronicle.db", *UNTOUCHED) == before
    with Workspace.open(old, read_only=True) as workspace:
        (job,) = workspace.jobs.page(10)
    assert (job.kind, job.status, job.outcome) == ("migrate", "done", done.summary)


def test_m04_a_second_upgrade_does_nothing_and_copies_nothing(old: Path) -> None:
    Workspace.migrate(old)
    before = Unchanged(old)
    again = Workspace.migrate(old)
    assert (again.applied, again.folds, again.backup_path) == ((), (), None)
    before.check()


def test_m05_a_step_that_nobody_knows_is_refused_even_with_an_upgrade(old: Path) -> None:
    Workspace.migrate(old)
    edit(old, "INSERT INTO schema_migrations VALUES(9999, 'unheard_of', '2033-01-01')")
    before = Unchanged(old)
    for refused in (
        lambda: Workspace.open(old, migrate=True),
        lambda: Workspace.migrate(old),
        lambda: Workspace.plan_migration(old),
    ):
        with pytest.raises(SchemaAheadOfCode):
            refused()
        before.check()
    # Only what looks at the tables tells; to read, SQLite puts its index beside the file.
    with pytest.raises(SchemaAheadOfCode):
        Workspace.open(old, read_only=True)


def test_m06_another_programs_database_is_refused_untouched(old: Path) -> None:
    database = old / "chronicle.db"
    database.unlink()
    edit(old, "CREATE TABLE recipes(name)", "INSERT INTO recipes VALUES('soup')")
    before = Unchanged(old)
    for refused in (
        Workspace.migrate,
        Workspace.plan_migration,
        lambda root: Workspace.open(root, migrate=True),
    ):
        with pytest.raises(NotAWorkbenchDatabase):
            refused(old)
        before.check()
    connection = apsw.Connection(str(database))
    assert fetch.value(connection, "PRAGMA application_id") == 0
    connection.close()


def test_m08_an_older_file_under_a_running_program_is_refused(old: Path) -> None:
    other = Path(shutil.copy(old / "chronicle.db", old / "older.db"))
    Workspace.migrate(old)
    with Workspace.open(old) as workspace:
        workspace.sessions.get_chronicum("ada", "plan")
        other.replace(old / "chronicle.db")
        with pytest.raises(StorageError, match=r"chronicle\.db"):
            workspace.close_unit("ada", "plan", "more")
    with pytest.raises(SchemaMigrationRequired):
        Workspace.open(old)
    assert versions(old) == (1, [(1, "first")])


def test_a_program_of_an_older_release_cannot_write_any_more(old: Path) -> None:
    with first_log(old / "chronicle.db") as log:
        Workspace.migrate(old)
        with pytest.raises(SchemaAheadOfCode), log.transaction():
            pass
    with Workspace.open(old) as workspace:
        assert workspace.log.last_position() == 40


def test_the_migrated_layout_is_that_of_a_new_file(old: Path, tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "new", timezone="UTC", owner="ada"):
        pass
    Workspace.migrate(old)
    assert layout_of(old / "chronicle.db") == layout_of(tmp_path / "new" / "chronicle.db")


def test_the_migrated_workspace_is_whole_and_goes_on(old: Path) -> None:
    Workspace.migrate(old)
    with Workspace.open(old) as workspace:
        report = workspace.doctor()
        assert [finding.code for finding in report.findings if finding.severity == "critical"] == []
        with workspace.log.reader() as connection:
            found = fetch.rows(
                connection,
                "SELECT rowid FROM fulltext WHERE fulltext MATCH ?",
                (match_expression("отчет номер7"),),
            )
            kept = fetch.rows(connection, "SELECT name, version, position FROM folds ORDER BY name")
        assert len(found) == 1
        assert kept == sorted((fold.name, fold.version, 40) for fold in FOLDS)
        workspace.close_unit("ada", "отчёты", "more")
        assert workspace.log.last_position() == 41
        assert workspace.doctor().ok


def test_built_projections_are_what_recording_would_have_made(old: Path, tmp_path: Path) -> None:
    done = Workspace.migrate(old)
    assert done.folds
    with Workspace.open(old) as source:
        export_file(source.log, tmp_path / "log.jsonl")
    with Workspace.create(tmp_path / "again", timezone="UTC", owner="ada") as target:
        import_file(target.log, tmp_path / "log.jsonl")
    tables = [table for fold in FOLDS if fold.name in done.folds for table in fold.tables]
    assert rows_of(old / "chronicle.db", *tables) == rows_of(tmp_path / "again" / "chronicle.db", *tables)


def test_a_plan_says_what_would_be_done_and_changes_nothing(old: Path) -> None:
    before = Unchanged(old)
    plan = Workspace.plan_migration(old)
    before.check()
    assert (plan.current, plan.target, plan.needed) == (1, SCHEMA_VERSION, True)
    assert [step.version for step in plan.pending] == list(range(2, SCHEMA_VERSION + 1))
    assert all(step.what.endswith(".") and len(step.what) > 20 for step in plan.pending)
    assert plan.events == 40
    assert plan.database_bytes == (old / "chronicle.db").stat().st_size
    done = Workspace.migrate(old)
    assert done.applied == plan.pending
    assert done.folds == plan.folds
    assert done.backup_path is not None
    assert Path(done.backup_path).parent == Path(plan.backup_dir)
    start = plan.backup_name.partition("TIME")[0]
    assert Path(done.backup_path).name.startswith(start)


def test_a_plan_beside_a_writer_that_has_not_ended(old: Path) -> None:
    with first_log(old / "chronicle.db") as log, log.transaction():
        plan = Workspace.plan_migration(old)
    assert plan.needed


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (("PRAGMA user_version=900",), SchemaAheadOfCode),
        (("PRAGMA user_version=0",), DatabaseDamaged),
        (("DELETE FROM schema_migrations",), DatabaseDamaged),
        (("DROP TABLE schema_migrations",), DatabaseDamaged),
        (("DROP TABLE folds",), DatabaseDamaged),
        (("INSERT INTO folds VALUES('visions', 1, 0)",), SchemaAheadOfCode),
        (("UPDATE folds SET version = 99 WHERE name = 'actors'",), SchemaAheadOfCode),
        ((f"PRAGMA application_id={0x4348524E}",), NotAWorkbenchDatabase),
    ],
    ids=lambda value: value[0][:40] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_upgraded_is_refused_untouched(
    old: Path, damage: tuple[str, ...], error: type[SchemaError]
) -> None:
    edit(old, *damage)
    before = Unchanged(old)
    for refused in (
        lambda: Workspace.plan_migration(old),
        lambda: Workspace.migrate(old),
        lambda: Workspace.open(old, migrate=True),
    ):
        with pytest.raises(error) as caught:
            refused()
        assert caught.value.exit_code == 3
        before.check()


def test_a_database_with_broken_pages_is_not_migrated(old: Path) -> None:
    database = old / "chronicle.db"
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    page = fetch.value(connection, "SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_id'")
    connection.close()
    content = bytearray(database.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    database.write_bytes(content)
    with pytest.raises(DatabaseDamaged):
        Workspace.migrate(old)
    assert database.read_bytes() == content
    assert copies(old) == []


def test_events_that_cannot_be_folded_stop_it_whole(old: Path) -> None:
    edit(old, "UPDATE events SET payload = '{}' WHERE position = 20")
    content = (old / "chronicle.db").read_bytes()
    with pytest.raises(MigrationError, match="cannot be folded"):
        Workspace.migrate(old)
    assert (old / "chronicle.db").read_bytes() == content
    assert copies(old) == []
    assert not (old / "backups" / "migrations").exists()


def test_a_stopped_migration_leaves_the_old_database(old: Path) -> None:
    content = (old / "chronicle.db").read_bytes()
    looks = 0
    while True:
        left = looks

        def cancelled() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        try:
            done = Workspace.migrate(old, cancelled=cancelled)
        except Cancelled:
            assert (old / "chronicle.db").read_bytes() == content
            assert copies(old) == []
            assert list((old / "backups").iterdir()) == []
            looks += 1
        else:
            break
    assert looks > 5
    assert done.backup_path is not None
    assert versions(old)[0] == SCHEMA_VERSION


def test_progress_tells_the_phases_in_order(old: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    Workspace.migrate(old, progress=lambda done, total, note: seen.append((done, total, note)))
    assert list(dict.fromkeys(note for _, _, note in seen)) == ["backup", "schema", "projections"]
    assert all(total is not None and 0 <= done <= total for done, total, _ in seen)
    for note in ("backup", "schema", "projections"):
        ended = [(done, total) for done, total, each in seen if each == note][-1]
        assert ended[0] == ended[1]


def test_m13_of_several_upgraders_one_does_it(old: Path) -> None:
    start = threading.Barrier(4)
    done: list[object] = []

    def run() -> None:
        start.wait()
        try:
            done.append(Workspace.migrate(old))
        except BaseException as error:
            done.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    backups = [getattr(each, "backup_path", each) for each in done]
    assert sorted(backup is None for backup in backups) == [False, True, True, True], backups
    assert len(copies(old)) == 1
    with Workspace.open(old) as workspace:
        assert workspace.doctor().ok


def test_a_lock_that_nobody_gives_back_ends_it(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.storage.turns.BUSY_TIMEOUT_MS", 20)
    holder = apsw.Connection(str(old / "chronicle.db"))
    holder.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(DatabaseLocked):
            Workspace.migrate(old)
    finally:
        holder.close()
    assert versions(old)[0] == 1
    assert copies(old) == []


def test_a_reader_goes_on_while_it_runs(old: Path) -> None:
    reader = apsw.Connection(str(old / "chronicle.db"), flags=apsw.SQLITE_OPEN_READONLY)
    counts: list[int] = []
    Workspace.migrate(
        old, progress=lambda *_: counts.append(fetch.value(reader, "SELECT count(*) FROM events"))
    )
    reader.close()
    assert set(counts) == {40}


@pytest.mark.parametrize(
    ("said", "upgrades"),
    [
        ("1", True),
        ("TRUE", True),
        ("Yes", True),
        ("on", True),
        ("0", False),
        ("off", False),
        ("", False),
        ("2", False),
    ],
)
def test_m17_the_variable_upgrades_on_opening(
    old: Path, monkeypatch: pytest.MonkeyPatch, said: str, upgrades: bool
) -> None:
    monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", said)
    if upgrades:
        with Workspace.open(old) as workspace:
            assert workspace.schema_version == SCHEMA_VERSION
        assert len(copies(old)) == 1
    else:
        with pytest.raises(SchemaMigrationRequired):
            Workspace.open(old)
        assert copies(old) == []


def test_m17_a_server_is_not_moved_by_the_variable(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", "1")
    before = Unchanged(old)
    with pytest.raises(SchemaMigrationRequired):
        Workspace.open(old, migrate=False)
    before.check()


@pytest.mark.parametrize("migrate", [True, None])
def test_opening_to_read_never_upgrades(
    old: Path, monkeypatch: pytest.MonkeyPatch, migrate: bool | None
) -> None:
    monkeypatch.setenv("CHRONICLE_AUTO_MIGRATE", "1")
    before = Unchanged(old)
    with pytest.raises(SchemaMigrationRequired):
        Workspace.open(old, read_only=True, migrate=migrate)
    before.check()


def test_opening_with_an_upgrade(old: Path) -> None:
    with Workspace.open(old, migrate=True) as workspace:
        workspace.close_unit("ada", "plan", "more")
    assert len(copies(old)) == 1
    with Workspace.open(old, migrate=True):
        pass
    assert len(copies(old)) == 1


def test_m16_to_read_nothing_is_created(old: Path) -> None:
    database = old / "chronicle.db"
    database.unlink()
    before = Unchanged(old)
    with pytest.raises(WorkspaceMissing):
        Workspace.open(old, read_only=True)
    before.check()
    database.touch()
    before = Unchanged(old)
    with pytest.raises(NoDatabaseFile):
        Workspace.open(old, read_only=True)
    before.check()


@pytest.mark.parametrize("pending", [True, False], ids=["pending", "current"])
def test_m16_to_read_a_rollback_journal_stays_one(old: Path, pending: bool) -> None:
    if not pending:
        Workspace.migrate(old)
    edit(old, "PRAGMA journal_mode=DELETE")
    assert (old / "chronicle.db").read_bytes()[18] == 1
    before = Unchanged(old)
    if pending:
        with pytest.raises(SchemaMigrationRequired):
            Workspace.open(old, read_only=True)
    else:
        with Workspace.open(old, read_only=True) as workspace:
            assert workspace.log.last_position() == 40
    before.check()


def test_a_rollback_journal_is_migrated_too(old: Path) -> None:
    edit(old, "PRAGMA journal_mode=DELETE")
    done = Workspace.migrate(old)
    assert done.backup_path is not None
    with Workspace.open(old) as workspace:
        assert workspace.doctor().ok


def test_what_a_killed_program_left_in_its_log_is_migrated_too(old: Path, tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    with first_log(old / "chronicle.db") as log:
        log.append(session_stream("plan"), [UnitClosed(chronicum_id="plan", unit="late")])
        shutil.copytree(old, crashed)
    assert (crashed / "chronicle.db-wal").stat().st_size > 0
    assert Workspace.plan_migration(crashed).events == 41
    Workspace.migrate(crashed)
    with Workspace.open(crashed) as workspace:
        assert workspace.log.last_position() == 41
        assert workspace.doctor().ok


def test_projections_alone_can_be_what_is_pending(old: Path) -> None:
    Workspace.migrate(old)
    edit(old, "UPDATE folds SET version = 0 WHERE name = 'actors'", "DELETE FROM event_actors")
    plan = Workspace.plan_migration(old)
    assert (plan.pending, plan.folds, plan.needed) == ((), ("actors",), True)
    done = Workspace.migrate(old)
    assert (done.applied, done.folds) == ((), ("actors",))
    assert done.backup_path is not None
    with Workspace.open(old) as workspace:
        assert workspace.doctor().ok


def test_tables_of_a_rebuild_that_was_going_on_are_taken_away(old: Path) -> None:
    edit(
        old,
        'CREATE TABLE "rebuild__next_ab"(mark INTEGER) STRICT',
        "CREATE VIRTUAL TABLE fulltext__next USING fts5(title, body, content='')",
    )
    Workspace.migrate(old)
    assert [name for _, name, _, _ in layout_of(old / "chronicle.db") if "__next" in name] == []


def test_half_a_copy_of_a_killed_program_goes(old: Path) -> None:
    folder = old / "backups" / "migrations"
    folder.mkdir()
    part = folder / "chronicle.db.bak-premigrate-v1-v2-20310101T000000000000Z-00000000.part"
    part.write_bytes(b"half")
    (folder / "mine.part").write_bytes(b"a person's")
    Workspace.migrate(old)
    assert not part.exists()
    assert (folder / "mine.part").exists()
    assert len(copies(old)) == 1


def test_init_over_an_older_workspace_changes_no_database(old: Path) -> None:
    content = (old / "chronicle.db").read_bytes()
    with pytest.raises(SchemaMigrationRequired):
        Workspace.create(old, timezone="UTC", owner="ada")
    assert (old / "chronicle.db").read_bytes() == content


def test_the_database_may_lie_elsewhere(old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere.db"
    (old / "chronicle.db").rename(elsewhere)
    monkeypatch.setenv("CHRONICLE_DB", str(elsewhere))
    done = Workspace.migrate(old)
    assert done.db_path == str(elsewhere)
    (copy,) = copies(old)
    assert copy.name.startswith("elsewhere.db.bak-premigrate-")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere.db", "w"]


def test_an_empty_log_is_migrated(tmp_path: Path, old: Path) -> None:
    (old / "chronicle.db").unlink()
    lay_out_first(old / "chronicle.db")
    Workspace.migrate(old)
    with Workspace.open(old) as workspace:
        assert workspace.log.last_position() == 0
        assert workspace.doctor().ok


def test_a_look_keeps_the_locks_of_the_process(old: Path) -> None:
    """Closing a file drops a process's locks on it, however it was opened; SQLite alone knows better."""
    edit(old, "PRAGMA journal_mode=DELETE")
    holder = apsw.Connection(str(old / "chronicle.db"))
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(SchemaMigrationRequired):
        Workspace.open(old)
    Workspace.plan_migration(old)
    child = os.fork()
    if child == 0:
        try:
            other = apsw.Connection(str(old / "chronicle.db"))
            other.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    holder.execute("ROLLBACK")
    holder.close()


def test_every_schema_knows_the_file_by_its_mark(old: Path) -> None:
    with schema.looking(old / "chronicle.db") as connection:
        assert fetch.value(connection, "PRAGMA application_id") == schema.APPLICATION_ID

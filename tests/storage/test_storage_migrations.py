"""Numbered steps: how they are read, and how they are taken, whole or not at all."""

from __future__ import annotations

import multiprocessing
import os
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.storage import fetch, migration_backup, schema, turns
from workbench.storage.errors import DatabaseDamaged, SchemaAheadOfCode
from workbench.storage.history import History, IncompleteScript, MigrationError, statements
from workbench.storage.migration_backup import BackupFailed, BackupRefused
from workbench.storage.migration_steps import MigrationCancelled, Steps
from workbench.storage.migrations import Upgraded, upgrade

FIRST = ("CREATE TABLE things(thing_id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",)
MOMENT = datetime(2031, 5, 4, 3, 2, 1, 987654, tzinfo=UTC)
COLOURS = (
    "-- Gives things a colour.\n"
    "ALTER TABLE things ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey';\n"
    "UPDATE things SET colour = 'red; not blue' WHERE name = 'b';\n"
)


class Nothing:
    """No more than the steps."""

    def is_needed(self, connection: apsw.Connection) -> bool:
        """Never."""
        return False

    def make(self, connection: apsw.Connection, steps: Steps) -> None:
        """Nothing."""

    def check(self, connection: apsw.Connection) -> None:
        """Only that it is one of ours."""
        assert fetch.value(connection, "PRAGMA application_id") == schema.APPLICATION_ID


def write(folder: Path, **scripts: str) -> Path:
    """A folder of steps: `s0002_name="…"` is 0002_name.sql; the first is there already."""
    folder.mkdir(exist_ok=True)
    (folder / "0001_first.sql").write_text("-- The first layout.\n")
    for name, text in scripts.items():
        (folder / f"{name[1:]}.sql").write_text(text)
    return folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of schema 1 with three things in it."""
    file = tmp_path / "w" / "chronicle.db"
    file.parent.mkdir()
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    with connection:
        schema.create(connection, FIRST, at="2030-01-01")
        connection.execute("INSERT INTO things(name) VALUES('a'), ('b'), ('c')")
    connection.close()
    return file


def migrated(path: Path, folder: Path, steps: Steps | None = None) -> Upgraded:
    """Take every step of a folder."""
    return upgrade(
        path,
        History.load(folder),
        Nothing(),
        needs=FIRST,
        backups=path.parent / "backups" / "migrations",
        moment=MOMENT,
        steps=steps or Steps(),
    )


def copies(path: Path) -> list[Path]:
    """Every file below the folder of copies."""
    return [each for each in (path.parent / "backups").rglob("*") if each.is_file()]


def things(path: Path) -> list[tuple[object, ...]]:
    """Every thing."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return fetch.rows(connection, "SELECT * FROM things ORDER BY thing_id")
    finally:
        connection.close()


# -- reading steps ---------------------------------------------------------------------------


def test_m07_two_files_of_one_number_are_refused_by_name(tmp_path: Path) -> None:
    folder = write(tmp_path / "m", s0001_again="")
    with pytest.raises(MigrationError) as caught:
        History.load(folder)
    assert "0001_first.sql" in caught.value.message
    assert "0001_again.sql" in caught.value.message
    assert caught.value.exit_code == 3


def test_a_gap_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MigrationError, match=r"no migration 0002 before .*0003_late\.sql"):
        History.load(write(tmp_path / "m", s0003_late=""))


@pytest.mark.parametrize(
    "name", ["2_short.sql", "0002.sql", "0002-dash.sql", "00002_long.sql", "٠٠٠٢_x.sql", "notes.sql"]
)
def test_an_sql_file_of_another_name_is_refused(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "m")
    (folder / name).write_text("")
    with pytest.raises(MigrationError, match="not named like a migration"):
        History.load(folder)


def test_other_files_are_passed_over(tmp_path: Path) -> None:
    folder = write(tmp_path / "m", s0002_colours=COLOURS)
    (folder / "__init__.py").write_text("")
    (folder / "__pycache__").mkdir()
    history = History.load(folder)
    assert history.version == 2
    assert [step.name for step in history.after(1)] == ["colours"]
    assert history.after(2) == ()
    assert history.migrations[1].what == "Gives things a colour."


def test_no_steps_at_all(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(MigrationError, match=str(folder)):
            History.load(folder)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("-- only a comment; with a semicolon\n/* and; another */", []),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT ';';\n-- a; b\nSELECT \"x;y\" ; ;", ["SELECT ';'", 'SELECT "x;y" ']),
        ("SELECT 1 /* ; */ + 2; SELECT [a;b];", ["SELECT 1 /* ; */ + 2", "SELECT [a;b]"]),
        (
            "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; SELECT 2; END; SELECT 3;",
            ["CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; SELECT 2; END", "SELECT 3"],
        ),
        ("SELECT 'it''s; fine'; -- the end", ["SELECT 'it''s; fine'"]),
    ],
)
def test_statements_end_where_sqlite_says(script: str, expected: list[str]) -> None:
    assert list(statements(script)) == expected


@pytest.mark.parametrize(
    "script",
    [
        "SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT 'open; SELECT 2;",
        "/* open; SELECT 2;",
        "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1;",
        "SELECT 1; x",
    ],
)
def test_a_script_that_ends_inside_a_statement_is_refused(script: str) -> None:
    with pytest.raises(IncompleteScript, match="ends inside a statement"):
        list(statements(script))


_PIECES = st.sampled_from(
    [
        "SELECT 1",
        "SELECT ';'",
        'SELECT "a;b" FROM t',
        "INSERT INTO t VALUES('--', '/*')",
        "UPDATE t SET x = 'it''s;'",
        "CREATE TRIGGER r AFTER DELETE ON t BEGIN DELETE FROM u; DELETE FROM v; END",
        "SELECT /* ; -- */ 2",
        "SELECT 1 -- ;\n + 2",
    ]
)
_BETWEEN = st.lists(st.sampled_from([" ", "\n", "-- a; b\n", "/* ; 'open */", ";"]), max_size=4).map("".join)


@given(st.lists(st.tuples(_BETWEEN, _PIECES)), _BETWEEN)
def test_any_script_comes_apart_into_what_it_was_made_of(parts: list[tuple[str, str]], end: str) -> None:
    script = "".join(f"{between}{piece};" for between, piece in parts) + end
    assert list(statements(script)) == [piece for _, piece in parts]


@given(st.text(alphabet="a;'\"/*-\n BEGIN[]`", max_size=60))
def test_no_script_loses_anything(script: str) -> None:
    try:
        found = list(statements(script))
    except IncompleteScript:
        return
    rest = script
    for statement in found:
        before, _, rest = rest.partition(statement)
        assert not before.strip() or ";" in before or before.lstrip().startswith(("--", "/*"))


# -- taking them -----------------------------------------------------------------------------


def test_steps_are_taken_after_a_copy(path: Path, tmp_path: Path) -> None:
    done = migrated(
        path, write(tmp_path / "m", s0002_colours=COLOURS, s0003_more="INSERT INTO things(name) VALUES('d');")
    )
    assert [step.version for step in done.applied] == [2, 3]
    assert things(path) == [(1, "a", "grey"), (2, "b", "red; not blue"), (3, "c", "grey"), (4, "d", "grey")]
    connection = apsw.Connection(str(path))
    assert fetch.rows(connection, "SELECT * FROM schema_migrations") == [
        (1, "first", "2030-01-01"),
        (2, "colours", "2031-05-04T03:02:01.987654+00:00"),
        (3, "more", "2031-05-04T03:02:01.987654+00:00"),
    ]
    connection.close()
    (copy,) = copies(path)
    assert copy == done.backup
    assert copy.name[:-8] == "chronicle.db.bak-premigrate-v1-v3-20310504T030201987654Z-"
    assert int(copy.name[-8:], 16) >= 0
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert things(copy) == [(1, "a"), (2, "b"), (3, "c")]


def test_nothing_is_done_twice(path: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "m", s0002_colours=COLOURS)
    migrated(path, folder)
    assert migrated(path, folder) == Upgraded(2, (), None)
    assert len(copies(path)) == 1


@pytest.mark.parametrize(
    "script",
    [
        "INSERT INTO nowhere VALUES(1);",
        "INSERT INTO things VALUES(1, 'taken');",
        "COMMIT;",
        "ROLLBACK;",
        "SAVEPOINT a; ROLLBACK TO a;",
        "ATTACH 'other.db' AS other;",
        "VACUUM;",
        "SELECT 1",
        "INSERT INTO things VALUES('no number', 'x');",
        "CREATE TABLE child(t INTEGER REFERENCES things(thing_id)) STRICT; INSERT INTO child VALUES(99);",
    ],
)
def test_a_step_that_fails_undoes_those_before_it(path: Path, tmp_path: Path, script: str) -> None:
    content = path.read_bytes()
    folder = write(tmp_path / "m", s0002_colours=COLOURS, s0003_bad=script)
    with pytest.raises(MigrationError) as caught:
        migrated(path, folder)
    assert caught.value.exit_code == 3
    assert path.read_bytes() == content
    assert copies(path) == []
    assert not (path.parent / "backups" / "migrations").exists()
    assert sorted(each.name for each in path.parent.iterdir() if each.is_file()) == ["chronicle.db"]


def test_a_table_that_others_point_to_can_be_laid_out_anew(path: Path, tmp_path: Path) -> None:
    first = (
        "CREATE TABLE child(thing_id INTEGER NOT NULL REFERENCES things(thing_id)) STRICT;"
        "INSERT INTO child SELECT thing_id FROM things;"
    )
    anew = (
        "CREATE TABLE fresh(thing_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;"
        "INSERT INTO fresh SELECT * FROM things; DROP TABLE things; ALTER TABLE fresh RENAME TO things;"
    )
    migrated(path, write(tmp_path / "m", s0002_child=first, s0003_anew=anew))
    assert things(path) == [(1, "a"), (2, "b"), (3, "c")]
    connection = apsw.Connection(str(path))
    sql = fetch.value(connection, "SELECT sql FROM sqlite_schema WHERE name = 'child'")
    assert "REFERENCES things" in sql.replace('"', "")
    assert fetch.rows(connection, "PRAGMA foreign_key_check") == []
    connection.close()


def test_a_newer_file_stays_as_it_is(path: Path, tmp_path: Path) -> None:
    migrated(path, write(tmp_path / "m", s0002_colours=COLOURS))
    content = path.read_bytes()
    with pytest.raises(SchemaAheadOfCode):
        migrated(path, write(tmp_path / "older"))
    assert path.read_bytes() == content


def test_a_long_statement_can_be_stopped(path: Path, tmp_path: Path) -> None:
    content = path.read_bytes()
    endless = "CREATE TABLE t AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n;"
    looks = iter([False] * 9)
    seen: list[str] = []
    with pytest.raises(MigrationCancelled):
        migrated(
            path,
            write(tmp_path / "m", s0002_endless=endless),
            Steps(lambda done, total, phase: seen.append(phase), lambda: next(looks, True)),
        )
    assert "schema" in seen
    assert path.read_bytes() == content
    assert copies(path) == []


def test_copying_ends_at_its_limit(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_backup, "SECONDS", -1.0)
    content = path.read_bytes()
    with pytest.raises(BackupFailed, match="takes longer"):
        migrated(path, write(tmp_path / "m", s0002_colours=COLOURS))
    assert path.read_bytes() == content
    assert copies(path) == []


def _file(place: Path, elsewhere: Path) -> None:
    place.write_text("a file in the folder's place")


def _link_away(place: Path, elsewhere: Path) -> None:
    elsewhere.mkdir()
    place.symlink_to(elsewhere)


def _dangling(place: Path, elsewhere: Path) -> None:
    place.symlink_to(elsewhere)


def _circle(place: Path, elsewhere: Path) -> None:
    place.symlink_to(place)


def _pipe(place: Path, elsewhere: Path) -> None:
    os.mkfifo(place)


@pytest.mark.parametrize("odd", [_file, _link_away, _dangling, _circle, _pipe])
@pytest.mark.parametrize("name", ["backups", "backups/migrations"])
def test_a_folder_that_is_none_of_its_own_takes_no_copy(
    path: Path, tmp_path: Path, name: str, odd: Callable[[Path, Path], None]
) -> None:
    place, elsewhere = path.parent / name, tmp_path / "elsewhere"
    place.parent.mkdir(exist_ok=True)
    odd(place, elsewhere)
    content, mode = path.read_bytes(), place.lstat().st_mode
    with pytest.raises(BackupRefused) as caught:
        migrated(path, write(tmp_path / "m", s0002_colours=COLOURS))
    assert caught.value.message.startswith(f"{place} is ")
    assert caught.value.hint
    assert not caught.value.retryable
    assert path.read_bytes() == content
    assert place.lstat().st_mode == mode
    assert not elsewhere.exists() or list(elsewhere.iterdir()) == []


def test_what_only_looks_like_half_a_copy_blocks_nothing(path: Path, tmp_path: Path) -> None:
    folder = path.parent / "backups" / "migrations"
    odd = folder / "chronicle.db.bak-premigrate-odd.part"
    (odd / "inside").mkdir(parents=True)
    (tmp_path / "kept").write_text("a person's")
    link = folder / "chronicle.db.bak-premigrate-link.part"
    link.symlink_to(tmp_path / "kept")
    os.mkfifo(folder / "chronicle.db.bak-premigrate-pipe.part")
    done = migrated(path, write(tmp_path / "m", s0002_colours=COLOURS))
    assert done.backup is not None
    assert sorted(each.name for each in folder.iterdir()) == sorted((odd.name, done.backup.name))
    assert (odd / "inside").is_dir()
    assert (tmp_path / "kept").read_text() == "a person's"


def test_the_path_that_the_system_refuses_is_named(path: Path, tmp_path: Path) -> None:
    folder = path.parent / "backups" / ("d" * 300)
    with pytest.raises(BackupFailed) as caught:
        upgrade(
            path,
            History.load(write(tmp_path / "m", s0002_colours=COLOURS)),
            Nothing(),
            needs=FIRST,
            backups=folder,
            moment=MOMENT,
            steps=Steps(),
        )
    assert caught.value.message.startswith(f"{folder} cannot be made")


# -- another program that writes -----------------------------------------------------------


@pytest.fixture
def writer(path: Path) -> Iterator[apsw.Connection]:
    """Another program, which holds the write lock."""
    connection = apsw.Connection(str(path))
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


def test_waiting_is_told_in_seconds_from_the_beginning(
    path: Path, tmp_path: Path, writer: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each try is shorter than what is told: the seconds go on from one to the next.
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 400)
    monkeypatch.setattr(turns, "TOLD_AFTER_SECONDS", 0.2)
    told: list[tuple[int, int | None, str]] = []

    def progress(done: int, total: int | None, phase: str) -> None:
        told.append((done, total, phase))
        if (done, phase) == (1, "waiting") and writer.in_transaction:
            writer.execute("COMMIT")

    done = migrated(path, write(tmp_path / "m", s0002_colours=COLOURS), Steps(progress))
    assert done.backup is not None
    phases = [phase for _, _, phase in told]
    waits = phases.count("waiting")
    assert waits > 1
    assert phases[:waits] == ["waiting"] * waits
    assert told[0] == (0, None, "waiting")
    assert told[waits - 1] == (1, None, "waiting")


def test_whoever_waits_can_be_stopped(path: Path, tmp_path: Path, writer: apsw.Connection) -> None:
    told: list[str] = []
    with pytest.raises(MigrationCancelled):
        migrated(
            path,
            write(tmp_path / "m", s0002_colours=COLOURS),
            Steps(lambda done, total, phase: told.append(phase), lambda: bool(told)),
        )
    assert told == ["waiting"]
    assert writer.in_transaction
    assert not (path.parent / "backups").exists()


def test_other_copies_are_left_alone(path: Path, tmp_path: Path) -> None:
    folder = path.parent / "backups" / "migrations"
    folder.mkdir(parents=True)
    (folder / "mine").write_text("kept")
    with pytest.raises(MigrationError):
        migrated(path, write(tmp_path / "m", s0002_bad="nonsense;"))
    assert [each.name for each in copies(path)] == ["mine"]


def test_damage_shows_in_the_copy_and_nothing_is_migrated(path: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(path))
    page = fetch.value(connection, "SELECT rootpage FROM sqlite_schema WHERE name = 'things'")
    connection.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\x5a" * 4096
    path.write_bytes(content)
    with pytest.raises(DatabaseDamaged, match="was not migrated"):
        migrated(path, write(tmp_path / "m", s0002_more="INSERT INTO things(name) VALUES('d');"))
    assert path.read_bytes() == content
    assert copies(path) == []


def _race(path: Path, folder: Path, start: object, results: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    done = migrated(path, folder)
    results.put((len(done.applied), done.backup is not None))  # type: ignore[attr-defined]


def test_m13_of_several_processes_one_upgrades(path: Path, tmp_path: Path) -> None:
    folder = write(tmp_path / "m", s0002_colours=COLOURS)
    processes = multiprocessing.get_context("fork")
    start, results = processes.Event(), processes.Queue()
    children = [processes.Process(target=_race, args=(path, folder, start, results)) for _ in range(4)]
    for child in children:
        child.start()
    start.set()
    done = sorted(results.get(timeout=60) for _ in children)
    for child in children:
        child.join()
    assert done == [(0, False), (0, False), (0, False), (1, True)]
    assert len(copies(path)) == 1
    assert things(path)[1] == (2, "b", "red; not blue")

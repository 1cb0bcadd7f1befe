"""A write-ahead log that lies beside another file than its own is refused before it is folded in."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.storage import log_chain, schema
from workbench.storage.connection import open_read_only, open_writer
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseDamaged
from workbench.storage.stale_log import refuse_stale_log


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA wal_autocheckpoint=0").fetchall()
    return connection


def laid_out(path: Path) -> apsw.Connection:
    connection = connect(path)
    connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, text BLOB)")
    connection.execute("CREATE TABLE beside(n INTEGER)")
    connection.execute("INSERT INTO beside VALUES(0)")
    return connection


def grow(connection: apsw.Connection, rows: int, seed: int = 0) -> None:
    source = random.Random(seed)
    with connection:
        connection.executemany(
            "INSERT INTO t(text) VALUES(?)", [(source.randbytes(900),) for _ in range(rows)]
        )


def killed(path: Path, target: Path) -> Path:
    """What a kill at this moment leaves of a database, at `target`."""
    shutil.copyfile(path, target)
    log = path.with_name(f"{path.name}-wal")
    if log.exists():
        shutil.copyfile(log, target.with_name(f"{target.name}-wal"))
    return target


def contents(path: Path) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return connection.execute("SELECT id, text FROM t").fetchall()
    finally:
        connection.close()


STEPS = st.lists(
    st.sampled_from(
        ["grow", "grow much", "touch", "delete", "other", "passive", "restart", "truncate", "vacuum"]
    ),
    max_size=14,
)


def take(step: str, mine: apsw.Connection, other: apsw.Connection) -> None:
    match step:
        case "grow":
            grow(mine, 3)
        case "grow much":
            grow(mine, 60)
        case "touch":
            mine.execute("UPDATE beside SET n = n + 1")
        case "delete":
            mine.execute("DELETE FROM t WHERE id % 3 = 0")
        case "other":
            grow(other, 4)
        case "vacuum":
            mine.execute("VACUUM")
        case _:
            mine.execute(f"PRAGMA wal_checkpoint({step.upper()})").fetchall()


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_what_a_kill_leaves_is_always_its_own(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("kills")
    path = folder / "a.db"
    mine = laid_out(path)
    other = connect(path)
    for number, step in enumerate(steps):
        take(step, mine, other)
        refuse_stale_log(path)
        refuse_stale_log(killed(path, folder / f"{number}.db"))
    expected = mine.execute("SELECT id, text FROM t").fetchall()
    left = killed(path, folder / "left.db")
    refuse_stale_log(left)
    assert contents(left) == expected
    mine.close()
    other.close()


@pytest.mark.parametrize("later", ["grow", "grow much"])
@pytest.mark.parametrize("folded", [False, True], ids=["log from the start", "log begun anew"])
def test_an_earlier_copy_under_a_later_log_is_refused(tmp_path: Path, later: str, folded: bool) -> None:
    """The usual accident: a backup is copied over the file of a program that was killed."""
    path = tmp_path / "a.db"
    mine = laid_out(path)
    grow(mine, 40)
    mine.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
    backup = tmp_path / "backup.db"
    shutil.copyfile(path, backup)
    expected = contents(backup)
    grow(mine, 40)
    if folded:
        mine.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
    take(later, mine, mine)
    left = killed(path, tmp_path / "left.db")
    mine.close()
    log = left.with_name("left.db-wal")
    if not folded:
        # The copy is what this log began from: nothing is lost by it.
        shutil.copyfile(backup, left)
        refuse_stale_log(left)
        return
    shutil.copyfile(backup, left)
    before = left.read_bytes(), log.read_bytes()
    for opened in (open_writer, open_read_only):
        with pytest.raises(
            DatabaseDamaged, match=r"left\.db-wal beside .* is the write-ahead log of another file"
        ) as told:
            opened(left)
        assert "move left.db-wal (and left.db-shm) away" in told.value.hint
    assert (left.read_bytes(), log.read_bytes()) == before
    log.unlink()
    assert contents(left) == expected


def test_a_copy_made_by_sqlite_is_refused_under_the_log(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    mine = laid_out(path)
    grow(mine, 20)
    mine.execute("VACUUM INTO ?", (str(tmp_path / "backup.db"),))
    grow(mine, 20)
    left = killed(path, tmp_path / "left.db")
    shutil.copyfile(tmp_path / "backup.db", left)
    with pytest.raises(DatabaseDamaged, match="another file"):
        refuse_stale_log(left)
    mine.close()


@pytest.mark.parametrize("rows", [1, 30, 300])
def test_another_workspaces_file_is_refused_under_the_log(tmp_path: Path, rows: int) -> None:
    path, strange = tmp_path / "a.db", tmp_path / "b.db"
    mine, theirs = laid_out(path), laid_out(strange)
    grow(mine, 50)
    for number in range(5):
        grow(theirs, rows, seed=number)
    theirs.close()
    left = killed(path, tmp_path / "left.db")
    mine.close()
    shutil.copyfile(strange, left)
    with pytest.raises(DatabaseDamaged, match="another file"):
        refuse_stale_log(left)


def test_a_torn_or_foreign_log_is_left_to_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    mine = laid_out(path)
    grow(mine, 5)
    mine.close()
    log = tmp_path / "a.db-wal"
    for content in (b"", b"x" * 31, b"x" * 5000, bytes(8192)):
        log.write_bytes(content)
        refuse_stale_log(path)
    refuse_stale_log(tmp_path / "none.db")


def test_no_trigger_or_view_of_a_stranger_acts(tmp_path: Path) -> None:
    """What somebody put into the file must not undo an acknowledged write, nor show other rows."""
    path = tmp_path / "a.db"
    mine = laid_out(path)
    mine.execute("CREATE TRIGGER eats AFTER INSERT ON t BEGIN DELETE FROM t WHERE id = new.id; END")
    mine.execute("CREATE TRIGGER stops BEFORE UPDATE ON beside BEGIN SELECT RAISE(ABORT, 'no'); END")
    mine.close()
    writer = open_writer(path)
    writer.execute("INSERT INTO t(text) VALUES('kept')")
    writer.execute("UPDATE beside SET n = 7")
    assert writer.execute("SELECT text, n FROM t, beside").fetchall() == [("kept", 7)]
    writer.close()


# -- the mark that ties a log to its file ------------------------------------------------------


def marked(path: Path) -> Database:
    database = Database(path)
    with database.transaction() as connection:
        schema.create(
            connection, ("CREATE TABLE t(id INTEGER PRIMARY KEY, text TEXT) STRICT",), at="2031-01-01"
        )
    return database


def say(database: Database, text: str) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO t(text) VALUES(?)", (text,))


def texts(path: Path) -> list[str]:
    with Database(path) as database, database.reader() as connection:
        return [text for (text,) in connection.execute("SELECT text FROM t ORDER BY id")]


@settings(max_examples=40, deadline=None)
@given(
    steps=st.lists(st.sampled_from(["say", "much", "passive", "restart", "compact", "reopen"]), max_size=12)
)
def test_with_marks_too_what_a_kill_leaves_is_its_own(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("marked")
    path = folder / "a.db"
    database = marked(path)
    for number, step in enumerate(steps):
        match step:
            case "say":
                say(database, "little")
            case "much":
                say(database, "much" * 5000)
            case "compact":
                database.compact()
            case "reopen":
                database.close()
                database = Database(path)
            case _:
                with database.reader() as connection:
                    connection.execute(f"PRAGMA wal_checkpoint({step.upper()})").fetchall()
        refuse_stale_log(path)
        refuse_stale_log(killed(path, folder / f"{number}.db"))
    database.close()


def test_young_files_with_equal_headers_are_told_apart(tmp_path: Path) -> None:
    """Little is written to either: neither the page counts nor the change counters differ."""
    mine, theirs = tmp_path / "a.db", tmp_path / "b.db"
    for path, text in ((mine, "mine"), (theirs, "precious")):
        with marked(path) as database:
            say(database, text)
    assert mine.read_bytes()[24:44] == theirs.read_bytes()[24:44]
    with Database(mine) as database:
        say(database, "later")
        left = killed(mine, tmp_path / "left.db")
    shutil.copyfile(theirs, left)
    with pytest.raises(DatabaseDamaged, match="another file"):
        Database(left)
    (tmp_path / "left.db-wal").unlink()
    assert texts(left) == ["precious"]


@pytest.mark.parametrize("between", [1, 2, 5])
def test_an_earlier_copy_of_the_same_file_is_told_apart(tmp_path: Path, between: int) -> None:
    path, backup = tmp_path / "a.db", tmp_path / "backup.db"
    marked(path).close()
    shutil.copyfile(path, backup)
    for number in range(between):
        with Database(path) as database:
            say(database, str(number))
    with Database(path) as database:
        say(database, "last")
        left = killed(path, tmp_path / "left.db")
    assert texts(killed(left, tmp_path / "whole.db")) == [*map(str, range(between)), "last"]
    shutil.copyfile(backup, left)
    with pytest.raises(DatabaseDamaged, match="another file"):
        open_read_only(left)


def test_a_file_that_gets_its_first_mark_in_this_log_is_its_own(tmp_path: Path) -> None:
    """As a migration leaves it."""
    path = tmp_path / "a.db"
    with Database(path) as database:
        for number in range(50):
            with database.transaction() as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, text TEXT) STRICT")
                connection.execute("INSERT INTO t(text) VALUES(?)", (f"{number}" * 500,))
    with Database(path) as database:
        with database.transaction() as connection:
            connection.execute(log_chain.TABLE)
            connection.execute(log_chain.BEGIN)
        say(database, "marked")
        left = killed(path, tmp_path / "left.db")
    assert texts(left)[-1] == "marked"

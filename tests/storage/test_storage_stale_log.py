"""A write-ahead log that lies beside another file than its own is refused before it is folded in."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.storage.connection import open_read_only, open_writer
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

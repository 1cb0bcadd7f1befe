"""The file under a running program is deleted, moved, overwritten, or another one is put in its place."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from workbench.storage import fetch
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseReplaced, StorageError


def make(path: Path, *numbers: int, born: str = "2031-01-01") -> None:
    """A database that looks like ours, of a given birthday."""
    with Database(path) as database, database.transaction() as connection:
        connection.execute("CREATE TABLE t(x INTEGER PRIMARY KEY, y TEXT) STRICT")
        connection.execute(
            "CREATE TABLE schema_migrations(version INTEGER PRIMARY KEY, applied_at TEXT) STRICT"
        )
        connection.execute("INSERT INTO schema_migrations VALUES(1, ?)", (born,))
        connection.executemany("INSERT INTO t VALUES(?, ?)", [(n, "y" * 3000) for n in numbers])


def put(database: Database, number: int) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES(?, '')", (number,))


def numbers(database: Database) -> list[int]:
    with database.reader() as connection:
        return [x for (x,) in fetch.rows(connection, "SELECT x FROM t ORDER BY x")]


def by_rename(path: Path, other: Path) -> None:
    other.replace(path)


def moved_away(path: Path, other: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def deleted(path: Path, other: Path) -> None:
    path.unlink()


def folder_removed(path: Path, other: Path) -> None:
    shutil.rmtree(path.parent)


def folder_renamed(path: Path, other: Path) -> None:
    path.parent.rename(path.parent.with_name("renamed"))


def log_deleted(path: Path, other: Path) -> None:
    path.with_name("file.db-wal").unlink()


def log_replaced(path: Path, other: Path) -> None:
    wal = path.with_name("file.db-wal")
    content = wal.read_bytes()
    wal.unlink()
    wal.write_bytes(content)


def overwritten(path: Path, other: Path) -> None:
    # `cp`: the same inode with other bytes.
    path.write_bytes(other.read_bytes())


def cut(path: Path, other: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


SWAPS: list[Callable[[Path, Path], None]] = [
    by_rename,
    moved_away,
    deleted,
    folder_removed,
    folder_renamed,
    log_deleted,
    log_replaced,
    overwritten,
    cut,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "w"
    folder.mkdir()
    make(folder / "file.db", 1, 2, 3)
    make(tmp_path / "other.db", *range(100, 120), born="2032-02-02")
    return folder / "file.db"


@pytest.mark.parametrize("swap", SWAPS)
def test_nothing_is_acknowledged_or_read_any_more(
    tmp_path: Path, path: Path, swap: Callable[..., None]
) -> None:
    with Database(path) as database:
        put(database, 4)
        assert numbers(database) == [1, 2, 3, 4]
        with database.data_version_poller() as poller:
            before = poller.poll()
            swap(path, tmp_path / "other.db")
            assert poller.poll() == -1 != before
        for _ in range(2):
            with pytest.raises(DatabaseReplaced) as caught:
                put(database, 5)
            assert caught.value.code == "db_replaced"
            assert str(path) in caught.value.message
            assert "open it again" in caught.value.hint
            with pytest.raises(DatabaseReplaced):
                numbers(database)


@pytest.mark.parametrize("swap", [by_rename, moved_away, deleted, folder_removed, log_deleted])
def test_a_swap_in_the_midst_of_a_transaction_is_not_acknowledged(
    tmp_path: Path, path: Path, swap: Callable[..., None]
) -> None:
    with (
        Database(path) as database,
        pytest.raises(DatabaseReplaced),
        database.transaction() as connection,
    ):
        connection.execute("INSERT INTO t VALUES(5, '')")
        swap(path, tmp_path / "other.db")


def test_the_new_file_is_left_alone_and_read_when_opened_again(tmp_path: Path, path: Path) -> None:
    with Database(path) as database:
        put(database, 4)
        # As a careful person restores a copy: the old log goes as well.
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink()
        (tmp_path / "other.db").replace(path)
        with Database(path) as again:
            assert numbers(again) == list(range(100, 120))
            put(again, 200)
            with pytest.raises(DatabaseReplaced):
                put(database, 5)
    with Database(path) as again:
        assert numbers(again) == [*range(100, 120), 200]


def test_a_reader_notices_too(tmp_path: Path, path: Path) -> None:
    with Database(path) as writer, Database(path, read_only=True) as database:
        put(writer, 4)
        assert numbers(database) == [1, 2, 3, 4]
        (tmp_path / "other.db").replace(path)
        with pytest.raises(DatabaseReplaced):
            numbers(database)


def test_checkpoints_and_other_writers_are_no_swap(path: Path) -> None:
    with Database(path) as first, Database(path) as second:
        for number in range(4, 60):
            put(first if number % 2 else second, number)
            if number % 10 == 0:
                with first.transaction() as connection:
                    connection.execute("INSERT INTO t VALUES(?, ?)", (1000 + number, "z" * 200_000))
                checkpointer = apsw.Connection(str(path))
                checkpointer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                checkpointer.close()
        assert numbers(first) == numbers(second)
    with Database(path) as last:
        assert len(numbers(last)) == 3 + 56 + 5


def test_a_link_may_lead_to_the_file(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with Database(link) as database:
        put(database, 4)
        assert numbers(database) == [1, 2, 3, 4]
        link.unlink()
        link.symlink_to(tmp_path / "other.db")
        with pytest.raises(DatabaseReplaced):
            put(database, 5)
    with Database(path) as database:
        assert numbers(database) == [1, 2, 3, 4]


def test_a_file_that_was_made_and_never_filled_goes_again(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with pytest.raises(StorageError), Database(path) as database, database.transaction() as connection:
        connection.execute("CREATE TABLE t(x)")
        raise StorageError("no")
    assert list(tmp_path.iterdir()) == []
    with Database(path) as database, database.transaction() as connection:
        connection.execute("CREATE TABLE t(x)")
    assert path.exists()


def test_a_vacuum_by_another_program_is_no_swap(path: Path) -> None:
    with Database(path) as database, database.data_version_poller() as poller:
        for number in range(10, 200):
            put(database, number)
        with database.transaction() as connection:
            connection.execute("UPDATE t SET y = ''")
        before = path.stat().st_size
        other = apsw.Connection(str(path))
        other.execute("VACUUM")
        assert other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall() == [(0, 0, 0)]
        other.close()
        assert path.stat().st_size < before
        assert poller.poll() > 0
        put(database, 5)
        assert numbers(database)[:5] == [1, 2, 3, 5, 10]
        # What was seen then is what the next look goes by.
        path.write_bytes(path.read_bytes()[:4096])
        with pytest.raises(DatabaseReplaced, match="was cut"):
            put(database, 6)

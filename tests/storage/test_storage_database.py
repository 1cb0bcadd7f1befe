"""Transactions, savepoints and readers of one database file."""

from __future__ import annotations

import fcntl
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from workbench.storage import fetch, turns
from workbench.storage.connection import open_writer
from workbench.storage.database import POOL_SIZE, Database
from workbench.storage.errors import (
    DatabaseLocked,
    DatabaseReadOnly,
    DiskFull,
    StorageError,
    WrongThread,
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "file.db", synchronous="OFF") as opened:
        with opened.transaction() as connection:
            connection.execute("CREATE TABLE t(x INTEGER PRIMARY KEY, y TEXT) STRICT")
        yield opened


def put(database: Database, *numbers: int) -> None:
    with database.transaction() as connection:
        connection.executemany("INSERT INTO t(x) VALUES(?)", [(n,) for n in numbers])


def numbers(database: Database) -> list[int]:
    with database.reader() as connection:
        return [x for (x,) in fetch.rows(connection, "SELECT x FROM t ORDER BY x")]


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 150)


# -- levels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, apsw.SQLError])
def test_each_level_undoes_its_own(database: Database, error: type[BaseException]) -> None:
    with database.transaction():
        put(database, 1)
        with pytest.raises(error), database.transaction():
            put(database, 2)
            assert database.depth == 2
            with database.transaction():
                put(database, 3)
            raise error
        assert database.depth == 1
        assert numbers(database) == [1]
        put(database, 4)
    assert database.depth == 0
    assert numbers(database) == [1, 4]
    with pytest.raises(error), database.transaction():
        put(database, 5)
        raise error
    assert numbers(database) == [1, 4]
    assert not database.in_transaction


def test_a_failed_statement_is_the_callers_to_judge(database: Database) -> None:
    with database.transaction() as connection:
        put(database, 1)
        with pytest.raises(apsw.ConstraintError), database.transaction():
            put(database, 2, 1)
        with pytest.raises(apsw.SQLError):
            connection.execute("SELECT nothing FROM nowhere")
    assert numbers(database) == [1]


def test_hundreds_of_levels(database: Database) -> None:
    def level(n: int) -> None:
        with database.transaction():
            put(database, n)
            if n < 200:
                level(n + 1)
            if n == 150:
                raise ValueError

    with pytest.raises(ValueError):
        level(1)
    assert numbers(database) == []
    put(database, 1)
    assert numbers(database) == [1]


def test_a_transaction_that_was_undone_as_a_whole_does_not_go_on(database: Database) -> None:
    """As after an I/O error: SQLite has rolled everything back, and the caller caught the error."""
    with pytest.raises(StorageError, match="as a whole"), database.transaction() as connection:
        put_directly = "INSERT INTO t(x) VALUES(1)"
        connection.execute(put_directly)
        with pytest.raises(OSError), database.transaction():
            connection.execute("ROLLBACK")
            raise OSError
        with pytest.raises(StorageError, match="as a whole"):
            put(database, 2)
    assert numbers(database) == []
    assert not database.in_transaction
    put(database, 3)
    assert numbers(database) == [3]


def test_a_full_disk_keeps_nothing_of_the_transaction(database: Database) -> None:
    with database.transaction() as connection:
        pages = fetch.value(connection, "PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count={pages + 20}").fetchall()
    put(database, 1)
    with pytest.raises(DiskFull) as caught, database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES(2, ?)", ("small",))
        with database.reader() as reading:
            reading.execute("INSERT INTO t VALUES(3, ?)", ("x" * 10**6,))
    assert caught.value.retryable
    assert numbers(database) == [1]


# -- readers --------------------------------------------------------------------------------------


def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(DatabaseReadOnly), database.reader() as connection:
        connection.execute("INSERT INTO t(x) VALUES(1)")
    assert numbers(database) == []


def test_a_reader_inside_the_own_transaction_sees_it(database: Database) -> None:
    with database.transaction():
        put(database, 1)
        assert numbers(database) == [1]
        with database.reader() as inside:
            assert inside is database.writer()
    assert numbers(database) == [1]


def test_readers_are_lent_again(database: Database) -> None:
    seen = set()
    for _ in range(POOL_SIZE * 5):
        with database.reader() as connection:
            seen.add(id(connection))
    assert len(seen) == 1
    with pytest.raises(KeyError), database.reader():
        raise KeyError
    for _ in range(POOL_SIZE * 2):
        with pytest.raises(KeyError), database.reader():
            raise KeyError
    assert numbers(database) == []


def test_nested_readers_of_one_thread_share_a_connection(database: Database) -> None:
    with database.reader() as outer:
        with database.reader() as inner:
            assert inner is outer
        with pytest.raises(KeyError), database.reader():
            raise KeyError
        assert fetch.value(outer, "SELECT count(*) FROM t") == 0
    with database.reader() as again:
        assert again is outer


def test_more_threads_than_readers_may_nest_them(database: Database) -> None:
    put(database, 1)
    all_hold_one = threading.Barrier(POOL_SIZE)
    read: list[list[int]] = []

    def nest(first: bool) -> None:
        with database.reader():
            if first:
                all_hold_one.wait(20)
            read.append(numbers(database))

    threads = [
        threading.Thread(target=nest, args=(number < POOL_SIZE,), daemon=True)
        for number in range(POOL_SIZE * 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert read == [[1]] * len(threads)


def test_an_error_of_the_callers_own_passes_a_reader_unchanged(database: Database) -> None:
    with pytest.raises(BrokenPipeError), database.reader():
        raise BrokenPipeError


def test_the_writer_is_lent_inside_a_transaction_only(database: Database) -> None:
    with pytest.raises(WrongThread):
        database.writer()


def test_a_poller_notices_others_and_not_itself(database: Database) -> None:
    with database.data_version_poller() as poller:
        seen = {poller.poll() for _ in range(5)}
        assert len(seen) == 1
        put(database, 1)
        assert poller.poll() not in seen
    assert poller.poll() == 0


# -- locks ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short_patience")
def test_a_writer_gives_up_after_the_busy_timeout(database: Database) -> None:
    other = open_writer(database.path)
    other.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    with pytest.raises(DatabaseLocked) as caught:
        put(database, 1)
    assert 0.1 < time.monotonic() - started < 3
    assert caught.value.retryable
    assert str(database.path) in caught.value.message
    assert numbers(database) == []
    other.execute("COMMIT")
    put(database, 1)
    other.close()
    assert numbers(database) == [1]


@pytest.mark.usefixtures("short_patience")
def test_a_stranger_in_the_queue_delays_and_does_not_stop(database: Database) -> None:
    folder = os.open(database.path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        put(database, 1)
    finally:
        os.close(folder)
    put(database, 2)
    assert numbers(database) == [1, 2]


def test_the_queue_is_left_before_the_work_begins(database: Database) -> None:
    folder = os.open(database.path.parent, os.O_RDONLY)
    try:
        with database.transaction():
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.flock(folder, fcntl.LOCK_UN)
    finally:
        os.close(folder)


@pytest.mark.usefixtures("short_patience")
def test_a_refused_writer_leaves_the_queue(database: Database) -> None:
    other = open_writer(database.path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseLocked):
        put(database, 1)
    folder = os.open(database.path.parent, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(folder)
    other.execute("COMMIT")
    other.close()


# -- the file -------------------------------------------------------------------------------------


def test_a_new_file_is_its_owners_alone_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with Database(tmp_path / "file.db") as database:
            with database.transaction() as connection:
                connection.execute("CREATE TABLE t(x)")
            modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    finally:
        os.umask(old)
    assert modes == {"file.db": 0o600, "file.db-wal": 0o600, "file.db-shm": 0o600}


def test_closing_leaves_no_descriptor_open(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.is_dir():
        descriptors = Path("/dev/fd")
    with Database(tmp_path / "warm.db") as database, database.transaction():
        pass
    before = len(list(descriptors.iterdir()))
    for n in range(20):
        with Database(tmp_path / f"{n}.db", synchronous="OFF") as database:
            with database.transaction() as connection:
                connection.execute("CREATE TABLE t(x)")
            with database.reader() as connection:
                fetch.rows(connection, "SELECT * FROM t")
            with database.data_version_poller() as poller:
                poller.poll()
    assert len(list(descriptors.iterdir())) <= before

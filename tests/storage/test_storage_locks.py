"""Locks that other programs hold: for a while, for ever, and in the queue before the lock."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from workbench.storage import fetch, turns
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseLocked

HOLD = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""
STAND_IN_QUEUE = """
import fcntl, os, sys
folder = os.open(sys.argv[1], os.O_RDONLY)
fcntl.flock(folder, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "file.db", synchronous="OFF") as opened:
        with opened.transaction() as connection:
            connection.execute("CREATE TABLE t(x INTEGER PRIMARY KEY) STRICT")
        yield opened


def put(database: Database, number: int) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO t VALUES(?)", (number,))


def numbers(database: Database) -> list[int]:
    with database.reader() as connection:
        return [x for (x,) in fetch.rows(connection, "SELECT x FROM t ORDER BY x")]


@contextmanager
def other_program(code: str, argument: Path) -> Iterator[subprocess.Popen[str]]:
    """A program that holds something until it is killed or hears a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(argument)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdin is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def let_go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_a_lock_of_four_seconds_is_waited_for_and_told_of(database: Database) -> None:
    told: list[float] = []
    database.on_wait = told.append
    with other_program(HOLD, database.path) as holder:
        timer = threading.Timer(4, let_go, (holder,))
        timer.start()
        began = time.monotonic()
        put(database, 1)
        waited = time.monotonic() - began
        timer.join()
    assert 3.5 < waited < turns.BUSY_TIMEOUT_MS / 1000
    assert [round(seconds) for seconds in told] == [1, 2, 3]
    assert numbers(database) == [1]
    told.clear()
    put(database, 2)
    assert told == []


def test_a_lock_for_ever_is_an_error_and_readers_go_on(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 600)
    put(database, 1)
    with other_program(HOLD, database.path):
        refused: list[DatabaseLocked] = []

        def write() -> None:
            with pytest.raises(DatabaseLocked) as caught:
                put(database, 2)
            refused.append(caught.value)

        writing = threading.Thread(target=write)
        writing.start()
        reads = 0
        while writing.is_alive():
            assert numbers(database) == [1]
            reads += 1
        writing.join()
    assert reads > 10
    [error] = refused
    assert (error.code, error.retryable, error.exit_code) == ("db_locked", True, 1)
    assert "another program" in error.message
    assert error.hint
    # The lock went with the program that was killed.
    put(database, 2)
    assert numbers(database) == [1, 2]


def test_one_that_hangs_in_the_queue_costs_its_patience_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "QUEUE_PATIENCE_MS", 700)
    told: list[float] = []
    monkeypatch.setattr(turns, "TOLD_AFTER_SECONDS", 0.2)
    database.on_wait = told.append
    with other_program(STAND_IN_QUEUE, database.path.parent):
        began = time.monotonic()
        put(database, 0)
        first = time.monotonic() - began
        assert 0.6 < first < turns.BUSY_TIMEOUT_MS / 1000
        assert told
        began = time.monotonic()
        for number in range(1, 21):
            put(database, number)
        assert time.monotonic() - began < 0.6
    assert numbers(database) == list(range(21))


def test_the_queue_is_used_again_once_it_moves(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "QUEUE_PATIENCE_MS", 100)
    with other_program(STAND_IN_QUEUE, database.path.parent):
        put(database, 1)
    put(database, 2)
    folder = os.open(database.path.parent, os.O_RDONLY)
    try:
        # A short hold is waited for, as before.
        fcntl.flock(folder, fcntl.LOCK_EX)
        timer = threading.Timer(0.05, fcntl.flock, (folder, fcntl.LOCK_UN))
        began = time.monotonic()
        timer.start()
        put(database, 3)
        assert time.monotonic() - began >= 0.04
        timer.join()
    finally:
        os.close(folder)
    assert numbers(database) == [1, 2, 3]


def test_nobody_is_told_of_a_database_that_cannot_be_written(tmp_path: Path, database: Database) -> None:
    with Database(database.path, read_only=True) as reading:
        reading.on_wait = print
        assert reading.on_wait is None


HOLD_ALONE = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA locking_mode=EXCLUSIVE").fetchall()
connection.execute("BEGIN EXCLUSIVE; CREATE TABLE held(x)")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


@pytest.mark.parametrize("read_only", [True, False])
def test_opening_what_another_program_has_for_itself_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    path = tmp_path / "file.db"
    with Database(path) as opened, opened.transaction() as connection:
        connection.execute("CREATE TABLE t(x INTEGER PRIMARY KEY) STRICT")
    monkeypatch.setattr(turns, "TOLD_AFTER_SECONDS", 0.2)
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 900)
    told: list[float] = []
    before = turns.told_of_waits.set(told.append)
    try:
        with other_program(HOLD_ALONE, path):
            began = time.monotonic()
            with pytest.raises(DatabaseLocked), Database(path, read_only=read_only) as opened:
                numbers(opened)
            assert time.monotonic() - began < 7
        assert told and told[0] == pytest.approx(0.2, abs=0.15)
    finally:
        turns.told_of_waits.reset(before)

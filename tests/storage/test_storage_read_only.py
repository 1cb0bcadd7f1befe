"""Files that may only be read: as a user without rights, in folders that cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from workbench.storage.connection import open_read_only, open_writer
from workbench.storage.errors import DatabaseMissing

ROOT = Path(__file__).parents[2]
NOBODY = 65534

# Imports come before the rights go: an unprivileged user may not be able to read the installation.
PROBE = f"""
import os, shutil, sys, tempfile
from pathlib import Path
from workbench.storage import fetch
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseReadOnly, StorageError
path = Path(sys.argv[1])
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
assert not os.access(path.parent, os.W_OK) and not os.access(path, os.W_OK)
with Database(path, read_only=True) as database:
    with database.reader() as first, database.reader() as second:
        for connection in (first, second):
            print(fetch.value(connection, "SELECT group_concat(x) FROM (SELECT x FROM t ORDER BY x)"))
    print(database.stale_reason or "live")
    with database.data_version_poller() as poller:
        print(poller.poll() == poller.poll())
    copies = [database._view.copy.name] if database._view.copy else []
    try:
        with database.transaction():
            pass
    except DatabaseReadOnly:
        print("refused")
print(any(Path(copy).exists() for copy in copies))
try:
    Database(path)
except StorageError as error:
    print(error.code)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    # pytest's own temporary folders are closed to other users.
    made = Path(tempfile.mkdtemp(prefix="read-only-", dir="/tmp"))
    yield made
    made.chmod(0o700)
    shutil.rmtree(made)


def seal(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


def probe(path: Path) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", PROBE, str(path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": "/tmp"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def written(path: Path, numbers: int) -> apsw.Connection:
    connection = open_writer(path)
    connection.execute("CREATE TABLE t(x INTEGER PRIMARY KEY)")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.executemany("INSERT INTO t VALUES(?)", [(n,) for n in range(numbers)])
    return connection


def test_a_sealed_folder_without_a_log_is_read_as_it_is(folder: Path) -> None:
    path = folder / "file.db"
    written(path, 3).close()
    seal(folder)
    before = path.read_bytes()
    numbers, again, reason, still, refused, copies_left, to_write = probe(path)
    assert numbers == again == "0,1,2"
    assert "live refresh is off" in reason
    assert (still, refused, copies_left, to_write) == ("True", "refused", "False", "read_only")
    assert [file.name for file in folder.iterdir()] == ["file.db"]
    assert path.read_bytes() == before


def test_an_empty_log_beside_it_changes_nothing(folder: Path) -> None:
    path = folder / "file.db"
    written(path, 3).close()
    (folder / "file.db-wal").touch()
    seal(folder)
    numbers, _, reason, *_ = probe(path)
    assert numbers == "0,1,2"
    assert "live refresh is off" in reason


def test_a_filled_log_is_read_through_a_copy(folder: Path) -> None:
    """As a crashed program leaves it: the newest rows are in the log, the index of it is gone."""
    source = Path(tempfile.mkdtemp(prefix="source-"))
    connection = written(source / "file.db", 4)
    for name in ("file.db", "file.db-wal"):
        shutil.copyfile(source / name, folder / name)
    connection.close()
    shutil.rmtree(source)
    assert (folder / "file.db-wal").stat().st_size > 0
    seal(folder)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    numbers, again, reason, still, refused, copies_left, _ = probe(folder / "file.db")
    assert numbers == again == "0,1,2,3"
    assert "a copy" in reason
    assert (still, refused, copies_left) == ("True", "refused", "False")
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_live_writer_is_seen_by_a_reader_without_rights(folder: Path) -> None:
    path = folder / "file.db"
    connection = written(path, 2)
    seal(folder)
    numbers, *_ = probe(path)
    assert numbers == "0,1"
    connection.close()


def test_plain_read_only_beside_a_writer_follows_it(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    connection = written(path, 2)
    view = open_read_only(path)
    assert (view.reason, view.copy) == ("", None)
    count = "SELECT count(*) FROM t"
    assert view.connection.execute(count).fetchall() == [(2,)]
    connection.execute("INSERT INTO t VALUES(99)")
    assert view.connection.execute(count).fetchall() == [(3,)]
    with pytest.raises(apsw.ReadOnlyError):
        view.connection.execute("DELETE FROM t")
    view.connection.close()
    connection.close()


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_nothing_to_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file.db"
    if kind == "folder":
        path.mkdir()
    with pytest.raises(DatabaseMissing):
        open_read_only(path)

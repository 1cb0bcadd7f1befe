"""A database that became smaller: by a vacuum it is whole, by a cut it is not."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from workbench.tui.file_fate import FileFate, WorkspaceLost


def database(path: Path) -> apsw.Connection:
    """A database in which most pages are free."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("CREATE TABLE t(x)")
    connection.executemany("INSERT INTO t VALUES(randomblob(4000))", [()] * 200)
    connection.execute("DELETE FROM t WHERE rowid > 20")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return connection


@pytest.mark.parametrize("through_link", [False, True])
def test_a_vacuum_is_no_loss(tmp_path: Path, through_link: bool) -> None:
    path = tmp_path / "a.db"
    connection = database(path)
    name = tmp_path / "b.db" if through_link else path
    if through_link:
        name.symlink_to(path)
    fate = FileFate(name)
    size = path.stat().st_size
    for _ in range(2):
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        assert path.stat().st_size < size
        fate.refuse_lost()
        size = path.stat().st_size
        connection.execute("DELETE FROM t WHERE rowid % 2")
    # The locks that this process holds on it are still there.
    connection.execute("BEGIN IMMEDIATE")
    fate.refuse_lost()
    other = apsw.Connection(str(path))
    with pytest.raises(apsw.BusyError):
        other.execute("BEGIN IMMEDIATE")
    other.close()
    connection.close()


def test_a_cut_is_one_even_after_a_vacuum(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connection = database(path)
    fate = FileFate(path)
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    os.truncate(path, path.stat().st_size - 4096)
    with pytest.raises(WorkspaceLost, match="was cut off"):
        fate.refuse_lost()
    connection.close()

"""A rollback journal that somebody put beside a database: nobody plays it back into the file."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.memory.memory import Memory
from workbench.storage.connection import open_read_only, open_writer
from workbench.storage.errors import StorageError
from workbench.storage.schema import looking
from workbench.workspace import Workspace


def hot_journal(folder: Path) -> Path:
    """The journal of another database whose program was killed while it wrote."""
    path = folder / "other.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("PRAGMA cache_size=2")
    connection.execute("CREATE TABLE t(a)")
    connection.executemany("INSERT INTO t VALUES(?)", [(str(n) * 400,) for n in range(200)])
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET a = upper(a) || 'x'")
    copy = folder / "journal"
    shutil.copyfile(f"{path}-journal", copy)
    connection.execute("ROLLBACK")
    connection.close()
    assert copy.read_bytes()[:8] == bytes.fromhex("d9d505f920a163d7")
    return copy


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace that nobody has open, with one event and a stranger's journal beside its database."""
    root = tmp_path / "w"
    with Workspace.create(root, timezone="UTC", owner="maya") as made:
        made.memory.record_event("The parser is done.", agent="codex")
    shutil.copyfile(hot_journal(tmp_path), root / "chronicle.db-journal")
    return root


def contents(root: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in root.iterdir() if path.is_file()
    }


def _read_only(root: Path) -> object:
    return Workspace.open(root, read_only=True)


OPENINGS: dict[str, Callable[[Path], object]] = {
    "for writing": Workspace.open,
    "for reading": _read_only,
    "to lay it out": lambda root: Workspace.create(root, timezone="UTC", owner="maya"),
    "to migrate it": Workspace.migrate,
    "to plan that": Workspace.plan_migration,
    "the writer": lambda root: open_writer(root / "chronicle.db"),
    "the reader": lambda root: open_read_only(root / "chronicle.db"),
    "a look": lambda root: looking(root / "chronicle.db").__enter__(),
}


@pytest.mark.parametrize("opening", OPENINGS)
def test_whoever_opens_it_is_refused_and_nothing_changes(workspace: Path, opening: str) -> None:
    before = contents(workspace)
    with pytest.raises(StorageError, match="rollback journal lies beside it") as refused:
        OPENINGS[opening](workspace)
    assert "move that file away" in refused.value.hint
    assert contents(workspace) == before


def test_moved_away_all_is_there(workspace: Path) -> None:
    (workspace / "chronicle.db-journal").rename(workspace / "journal.other")
    with Workspace.open(workspace) as opened:
        assert isinstance(opened.memory, Memory)
        assert [event.text for event in opened.memory.recent()] == ["The parser is done."]


@pytest.mark.parametrize("content", [b"", bytes(512)], ids=["empty", "finished"])
def test_a_journal_that_is_spent_is_no_obstacle(workspace: Path, content: bytes) -> None:
    (workspace / "chronicle.db-journal").write_bytes(content)
    with Workspace.open(workspace) as opened:
        assert len(opened.memory.recent()) == 1

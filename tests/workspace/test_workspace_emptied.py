"""A database that was cut to nothing is not taken for a new one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from workbench.storage.errors import DatabaseDamaged
from workbench.workspace import Workspace
from workbench.workspace.opening import NoDatabaseFile


@pytest.mark.parametrize("read_only", [False, True])
def test_an_emptied_database_is_refused_and_stays_as_it_is(tmp_path: Path, read_only: bool) -> None:
    Workspace.create(tmp_path / "w", timezone="UTC", owner="maya").close()
    database = tmp_path / "w" / "chronicle.db"
    for file in database.parent.glob("chronicle.db*"):
        file.unlink()
    database.touch()
    with pytest.raises(NoDatabaseFile, match="empty"):
        Workspace.open(tmp_path / "w", read_only=read_only)
    assert database.stat().st_size == 0


def test_a_pipe_in_its_place_is_refused_at_once(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "w", timezone="UTC", owner="maya").close()
    database = tmp_path / "w" / "chronicle.db"
    for file in database.parent.glob("chronicle.db*"):
        file.unlink()
    os.mkfifo(database)
    with pytest.raises(NoDatabaseFile, match="no file"):
        Workspace.open(tmp_path / "w")


def test_a_log_without_its_database_is_kept(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w", owner="ada") as workspace:
        database = workspace.layout.database
    log = database.with_name(f"{database.name}-wal")
    database.rename(tmp_path / "away.db")
    log.write_bytes(b"what was committed last")
    (tmp_path / "w" / "status.md").unlink()
    for opened in (Workspace.create, Workspace.open):
        with pytest.raises(DatabaseDamaged, match="is gone") as refused:
            opened(tmp_path / "w")
        assert "init" not in refused.value.hint
    assert log.read_bytes() == b"what was committed last"
    assert not database.exists()
    assert not (tmp_path / "w" / "status.md").exists()

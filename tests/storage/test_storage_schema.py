"""Which schema a file has, and looking at a file without leaving a trace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from workbench.storage import fetch, schema
from workbench.storage.errors import (
    DatabaseDamaged,
    DatabaseMissing,
    NotAWorkbenchDatabase,
    SchemaAheadOfCode,
    SchemaMigrationRequired,
)
from workbench.storage.history import History, Migration

HISTORY = History([Migration(number, f"step_{number}", None) for number in (1, 2, 3)])
TABLES = ("CREATE TABLE things(thing_id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT",)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    """A file of the newest schema."""
    opened = apsw.Connection(str(tmp_path / "file.db"))
    opened.execute("PRAGMA journal_mode=WAL").fetchall()
    with opened:
        schema.create(opened, TABLES, at="2031-01-01", history=HISTORY)
    yield opened
    opened.close()


def test_a_new_file_has_taken_every_step(connection: apsw.Connection) -> None:
    assert fetch.rows(connection, "SELECT * FROM schema_migrations") == [
        (1, "step_1", "2031-01-01"),
        (2, "step_2", "2031-01-01"),
        (3, "step_3", "2031-01-01"),
    ]
    schema.check(connection, "f", TABLES, HISTORY)
    schema.check_current(connection, "f", HISTORY)
    assert schema.stage(connection, "f", TABLES, HISTORY) == 3
    assert schema.unknown_to(connection, HISTORY) == []


def test_an_older_file(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM schema_migrations WHERE version = 3")
    connection.execute("PRAGMA user_version=2")
    for check in (schema.check_current, lambda c, p, h: schema.check(c, p, TABLES, h)):
        with pytest.raises(SchemaMigrationRequired, match=r"has schema 2; this program needs 3") as caught:
            check(connection, "f", HISTORY)
        assert "workbench migrate" in caught.value.hint
    assert schema.stage(connection, "f", TABLES, HISTORY) == 2


@pytest.mark.parametrize(
    ("edits", "unknown"),
    [
        (("PRAGMA user_version=5",), [4, 5]),
        (("INSERT INTO schema_migrations VALUES(9999, 'x', '')",), [9999]),
        (("PRAGMA user_version=4", "INSERT INTO schema_migrations VALUES(4, 'x', '')"), [4]),
    ],
)
def test_a_newer_file(connection: apsw.Connection, edits: tuple[str, ...], unknown: list[int]) -> None:
    for edit in edits:
        connection.execute(edit)
    with pytest.raises(SchemaAheadOfCode):
        schema.check(connection, "f", TABLES, HISTORY)
    with pytest.raises(SchemaAheadOfCode):
        schema.stage(connection, "f", TABLES, HISTORY)
    assert schema.unknown_to(connection, HISTORY) == unknown


@pytest.mark.parametrize(
    "edit",
    [
        "DELETE FROM schema_migrations",
        "DELETE FROM schema_migrations WHERE version = 2",
        "DELETE FROM schema_migrations WHERE version = 3",
        "PRAGMA user_version=2",
        "PRAGMA user_version=0",
        "PRAGMA user_version=-7",
        "DROP TABLE things",
        "DROP TABLE schema_migrations",
    ],
)
def test_a_file_that_contradicts_itself(connection: apsw.Connection, edit: str) -> None:
    connection.execute(edit)
    with pytest.raises(DatabaseDamaged):
        schema.stage(connection, "f", TABLES, HISTORY)


@pytest.mark.parametrize("mark", [0, 77, 0x4348524E])
def test_another_mark(connection: apsw.Connection, mark: int) -> None:
    connection.execute(f"PRAGMA application_id={mark}")
    with pytest.raises(NotAWorkbenchDatabase):
        schema.check_current(connection, "f", HISTORY)
    with pytest.raises(NotAWorkbenchDatabase):
        schema.stage(connection, "f", TABLES, HISTORY)


def test_looking_leaves_nothing_beside_a_file_at_rest(connection: apsw.Connection, tmp_path: Path) -> None:
    connection.close()
    path = tmp_path / "file.db"
    before = path.stat().st_mtime_ns, path.read_bytes()
    with schema.looking(path) as looked:
        assert fetch.value(looked, "SELECT count(*) FROM schema_migrations") == 3
        with pytest.raises(apsw.ReadOnlyError):
            looked.execute("DELETE FROM schema_migrations")
    assert [each.name for each in tmp_path.iterdir()] == ["file.db"]
    assert (path.stat().st_mtime_ns, path.read_bytes()) == before


def test_looking_sees_what_a_writer_has_committed(connection: apsw.Connection, tmp_path: Path) -> None:
    connection.execute("INSERT INTO things VALUES(1, 'new')")
    with schema.looking(tmp_path / "file.db") as looked:
        assert fetch.rows(looked, "SELECT name FROM things") == [("new",)]


def test_looking_at_nothing(tmp_path: Path) -> None:
    with pytest.raises(DatabaseMissing), schema.looking(tmp_path / "none.db"):
        pass
    assert list(tmp_path.iterdir()) == []

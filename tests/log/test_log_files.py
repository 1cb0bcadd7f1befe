"""Which files are opened, which are refused, and that a refusal changes nothing."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.log.log_cases import TYPES, new_log, said, stream, texts
from workbench.log import FOLDS, EventLog, EventTypeRegistry
from workbench.storage import fetch, schema
from workbench.storage.errors import (
    DatabaseDamaged,
    DatabaseMissing,
    DatabaseReadOnly,
    SchemaError,
    StorageError,
)

Maker = Callable[[Path], None]


def _ours(path: Path, *, events: int = 3) -> None:
    with new_log(path) as log:
        log.append(stream("a"), [said(f"{n} " + "x" * 3000) for n in range(events)])


def _sql(*statements: str, journal: str = "delete") -> Maker:
    def make(path: Path) -> None:
        connection = apsw.Connection(str(path))
        connection.execute(f"PRAGMA journal_mode={journal}").fetchall()
        for statement in statements:
            connection.execute(statement).fetchall()
        connection.close()

    return make


def _crashed(make: Maker) -> Maker:
    """The file as a program leaves it that was killed: the log beside it still holds its writes."""

    def crashed(path: Path) -> None:
        original = path.with_name("original.db")
        make(original)
        connection = apsw.Connection(str(original))
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.execute("CREATE TABLE later(x)")
        for suffix in ("", "-wal"):
            path.with_name(path.name + suffix).write_bytes(
                original.with_name(original.name + suffix).read_bytes()
            )
        connection.close()

    return crashed


def _of_version(version: int) -> Maker:
    def make(path: Path) -> None:
        _ours(path)
        connection = apsw.Connection(str(path))
        connection.execute(f"PRAGMA user_version={version}")
        connection.close()

    return make


def _bytes(content: bytes) -> Maker:
    def make(path: Path) -> None:
        path.write_bytes(content)

    return make


def _cut(size: int) -> Maker:
    def make(path: Path) -> None:
        _ours(path)
        path.write_bytes(path.read_bytes()[:size])

    return make


def _overwritten(start: int, length: int) -> Maker:
    def make(path: Path) -> None:
        _ours(path)
        content = bytearray(path.read_bytes())
        content[start : start + length] = b"\xa5" * length
        path.write_bytes(content)

    return make


def _marked(*statements: str, journal: str) -> Maker:
    """A file with our mark and version, and with no tables but those that `statements` make."""
    ours = (
        f"PRAGMA application_id={schema.APPLICATION_ID}",
        f"PRAGMA user_version={schema.SCHEMA_VERSION}",
    )
    return _sql(*statements, *ours, journal=journal)


def _without(table: str, journal: str) -> Maker:
    def make(path: Path) -> None:
        _ours(path)
        _sql(f"DROP TABLE {table}", journal=journal)(path)

    return make


FOREIGN: dict[str, tuple[Maker, str]] = {
    "a rollback-journal database": (_sql("CREATE TABLE t(x)"), "not_a_workbench_database"),
    "a WAL database": (_sql("CREATE TABLE t(x)", journal="wal"), "not_a_workbench_database"),
    "a crashed database": (_crashed(_sql("CREATE TABLE t(x)")), "not_a_workbench_database"),
    "an empty schema with a version": (_sql("PRAGMA user_version=4"), "not_a_workbench_database"),
    "an empty schema with another id": (_sql("PRAGMA application_id=77"), "not_a_workbench_database"),
    "a negative id": (_sql("CREATE TABLE t(x)", "PRAGMA application_id=-5"), "not_a_workbench_database"),
    "max-chronicle": (
        _sql("CREATE TABLE t(x)", f"PRAGMA application_id={0x4348524E}"),
        "not_a_workbench_database",
    ),
    "many tables": (_sql(*(f"CREATE TABLE t{n}(x)" for n in range(200))), "not_a_workbench_database"),
    "text": (_bytes(b"Dear diary,\n" * 40), "not_a_workbench_database"),
    "one byte": (_bytes(b"S"), "not_a_workbench_database"),
    "only the magic": (_bytes(b"SQLite format 3\0"), "not_a_workbench_database"),
    "zeros": (_bytes(bytes(8192)), "not_a_workbench_database"),
    "newer": (_of_version(schema.SCHEMA_VERSION + 1), "schema_ahead_of_code"),
    "much newer, crashed": (_crashed(_of_version(2**31 - 1)), "schema_ahead_of_code"),
    "of no release": (_of_version(0), "db_damaged"),
    "negative": (_of_version(-1), "db_damaged"),
    "cut inside the first page": (_cut(1000), "db_damaged"),
    "broken schema": (_overwritten(100, 3900), "db_damaged"),
    "our mark alone": (_marked(journal="delete"), "db_damaged"),
    "our mark alone, WAL": (_marked(journal="wal"), "db_damaged"),
    "our mark alone, crashed": (_crashed(_marked(journal="delete")), "db_damaged"),
    "our mark on another's tables": (_marked("CREATE TABLE t(x)", journal="delete"), "db_damaged"),
    "no events": (_without("events", "delete"), "db_damaged"),
    "no events, WAL": (_without("events", "wal"), "db_damaged"),
    "no table of a fold": (_without("event_actors", "delete"), "db_damaged"),
    "no record of folds": (_without("folds", "wal"), "db_damaged"),
}


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_does_not_fit_is_refused_and_stays_as_it_is(
    tmp_path: Path, name: str, read_only: bool
) -> None:
    make, code = FOREIGN[name]
    path = tmp_path / "file.db"
    make(path)
    wal = path.with_name("file.db-wal")
    before = path.read_bytes(), wal.read_bytes() if wal.exists() else b""
    with pytest.raises(SchemaError) as caught:
        new_log(path, read_only=read_only)
    assert caught.value.code == code
    assert caught.value.exit_code == 3
    assert str(path) in caught.value.message
    assert caught.value.hint
    assert (path.read_bytes(), wal.read_bytes() if wal.exists() else b"") == before


@pytest.mark.parametrize("read_only", [False, True])
def test_damage_in_the_middle_is_named_and_exits_3(tmp_path: Path, read_only: bool) -> None:
    path = tmp_path / "file.db"
    _ours(path, events=50)
    connection = apsw.Connection(str(path))
    root = fetch.value(connection, "SELECT rootpage FROM sqlite_schema WHERE name = 'events'")
    connection.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    with new_log(path, read_only=read_only) as log, pytest.raises(DatabaseDamaged) as caught:
        log.last_position()
    assert caught.value.exit_code == 3
    assert path.read_bytes() == content


def test_damage_found_while_writing_keeps_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    _ours(path, events=50)
    connection = apsw.Connection(str(path))
    root = fetch.value(connection, "SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_id'")
    connection.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    with new_log(path) as log:
        with pytest.raises(DatabaseDamaged):
            log.append(stream("a"), [said("more")])
        assert log.last_position() == 50


def test_an_empty_file_is_laid_out(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    path.touch()
    with new_log(path) as log:
        log.append(stream("a"), [said("x")])
    with new_log(path) as log:
        assert texts(log.read()) == ["x"]


def test_a_started_but_empty_database_is_laid_out(tmp_path: Path) -> None:
    # What another process has made of the file between opening it and laying it out.
    path = tmp_path / "file.db"
    _sql(journal="wal")(path)
    assert path.stat().st_size > 0
    with new_log(path) as log:
        log.append(stream("a"), [said("x")])


@pytest.mark.parametrize("content", [None, b""], ids=["missing", "empty"])
def test_reading_never_creates(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "file.db"
    if content is None:
        with pytest.raises(DatabaseMissing) as missing:
            new_log(path, read_only=True)
        assert missing.value.exit_code == 2
    else:
        path.write_bytes(content)
        with pytest.raises(SchemaError):
            new_log(path, read_only=True)
        assert path.read_bytes() == b""
    assert not (path.exists() and content is None)


def test_places_that_are_no_file(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "file.db"):
        with pytest.raises(StorageError) as caught:
            new_log(place)
        assert str(place) in caught.value.message
    assert not (tmp_path / "missing").exists()


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    with new_log(path) as log:
        log.append(stream("a"), [said("x")])
        files = sorted(tmp_path.iterdir())
        assert [file.name for file in files] == ["file.db", "file.db-shm", "file.db-wal"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert [file.name for file in tmp_path.iterdir()] == ["file.db"]


def test_our_mark_and_settings_are_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    _ours(path)
    header = path.read_bytes()[:100]
    assert header[68:72] == b"CWBK"
    assert header[18:20] == b"\x02\x02"  # write-ahead log
    with EventLog.open(path, FOLDS, EventTypeRegistry(TYPES)) as log, log.transaction() as transaction:
        assert fetch.value(transaction.connection, "PRAGMA synchronous") == 2
        assert fetch.value(transaction.connection, "PRAGMA foreign_keys") == 1
        assert fetch.value(transaction.connection, "PRAGMA journal_mode") == "wal"
        assert fetch.row(transaction.connection, "SELECT version, name FROM schema_migrations") == (
            1,
            "first",
        )
        strict = fetch.rows(
            transaction.connection,
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict "
            "AND name NOT LIKE 'sqlite_%'",
        )
    assert strict == []


def test_a_log_open_for_reading_refuses_every_write(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    _ours(path)
    before = path.read_bytes()
    with new_log(path, read_only=True) as log:
        assert log.read_only
        with pytest.raises(DatabaseReadOnly):
            log.append(stream("a"), [said("x")])
        with pytest.raises(DatabaseReadOnly):
            log.append(stream("a"), [])
        with pytest.raises(DatabaseReadOnly), log.transaction():
            pass
        with pytest.raises(DatabaseReadOnly), log.reader() as connection:
            connection.execute("DELETE FROM events")
        assert log.last_position() == 3
    assert path.read_bytes() == before


def test_a_reader_sees_what_a_writer_beside_it_commits(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    _ours(path)
    with new_log(path) as writer, new_log(path, read_only=True) as reader:
        assert reader.stale_reason == ""
        with reader.data_version_poller() as poller:
            first = poller.poll()
            assert poller.poll() == first
            writer.append(stream("a"), [said("more")])
            assert poller.poll() != first
        assert reader.last_position() == 4

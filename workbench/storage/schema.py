"""Which file is ours, and of which schema (contract workspace, "Schema").

Nothing here changes a file that is not empty: what does not fit is refused, untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from workbench.storage import fetch, log_chain
from workbench.storage.connection import open_read_only
from workbench.storage.errors import (
    DatabaseDamaged,
    NotAWorkbenchDatabase,
    SchemaAheadOfCode,
    SchemaMigrationRequired,
    opening,
    translated,
)
from workbench.storage.history import FIRST, History
from workbench.storage.old_journal import refuse_old_journal
from workbench.storage.stale_log import read_header

APPLICATION_ID = 0x4357424B
"""`CWBK`, in the header of every database of ours."""

SCHEMA_VERSION = FIRST.version
"""The schema of a log on its own; that of a workspace grows with its migrations."""

_MAX_CHRONICLE_ID = 0x4348524E

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 108
"""The file's header and that of its first page."""
_LEAF_TABLE_PAGE = 13
_WRITE_VERSION = 18
"""Where the header says how the file is written."""
_ROLLBACK_JOURNAL, _WRITE_AHEAD = 1, 2

_CREATED = re.compile(r"CREATE (?:VIRTUAL )?TABLE (\w+)")
_OWN = "schema_migrations"


def is_empty(connection: apsw.Connection) -> bool:
    """Whether nothing at all was written to this file yet."""
    row = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return (
        row == (0,)
        and _pragma(connection, "user_version") == 0
        and _pragma(connection, "application_id") == 0
    )


def refuse_foreign(path: Path, check: Callable[[apsw.Connection], None], history: History = FIRST) -> None:
    """Refuse, before anything opens it for writing, a file that is not ours or not of this schema.

    Opening for writing alone changes a file: it turns write-ahead logging on, and folds what a
    crashed program left in its log into the file. A missing or empty file passes, and so does one
    that only opening it can tell more of, which then changes nothing. `check` looks at a file that
    holds something and raises what `check` of this module raises; `StorageError` for a file that
    cannot be read.
    """
    with opening(path):
        if not path.exists():
            return
        if not path.is_file():
            raise NotAWorkbenchDatabase(f"{path} is no file", hint="name another workspace with --root")
        header = _header(path)
        if not header:
            return
        if not header.startswith(_MAGIC):
            raise NotAWorkbenchDatabase(
                f"{path} is not a database", hint="name another workspace with --root"
            )
        wal = path.with_name(path.name + "-wal")
        if wal.exists() and wal.stat().st_size > 0:
            # The header may still be the one from before; only SQLite can read through the log.
            _look(path, check)
            return
    application_id = int.from_bytes(header[68:72], "big", signed=True)
    version = int.from_bytes(header[60:64], "big", signed=True)
    # Another process may be laying it out right now: then there is a page, but nothing in it.
    laid_out = header[100:101] != bytes((_LEAF_TABLE_PAGE,)) or header[103:105] != b"\0\0"
    if laid_out or application_id or version:
        _check(application_id, version, path, history)
        if header[_WRITE_VERSION] == _ROLLBACK_JOURNAL:
            with opening(path):
                _look(path, check)


def _look(path: Path, check: Callable[[apsw.Connection], None]) -> None:
    with looking(path) as connection:
        if not is_empty(connection):
            check(connection)


@contextmanager
def looking(path: Path) -> Iterator[apsw.Connection]:
    """Lend a connection that reads a file as it is now and leaves nothing behind.

    SQLite puts an index and an empty log beside a file that is written ahead, even to read it; where
    no program has it open, that is avoided. Raises `DatabaseMissing` and what `translated` makes.
    """
    connection = _undisturbed(path)
    copy = None
    if connection is None:
        connection, _, copy = open_read_only(path)
    try:
        with translated(path):
            yield connection
    finally:
        connection.close()
        if copy is not None:
            copy.cleanup()


def _undisturbed(path: Path) -> apsw.Connection | None:
    """A connection that takes no locks, to a file that nobody writes to; None where that cannot be told."""
    if not path.is_file():
        return None
    with opening(path):
        refuse_old_journal(path)
        header = _header(path)
    if not header.startswith(_MAGIC) or header[_WRITE_VERSION : _WRITE_VERSION + 1] != bytes((_WRITE_AHEAD,)):
        return None
    if path.with_name(path.name + "-wal").exists():
        return None
    uri = path.absolute().as_uri() + "?immutable=1"
    with translated(path):
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        connection.execute("PRAGMA temp_store=MEMORY").fetchall()
    return connection


def _header(path: Path) -> bytes:
    return read_header(path, _HEADER_BYTES)


def create(
    connection: apsw.Connection, statements: tuple[str, ...], *, at: str, history: History = FIRST
) -> None:
    """Lay out an empty file at the newest schema; `at` (ISO 8601, UTC) is noted beside each step to it.

    Runs inside the caller's transaction, so a file is either whole or still empty.
    """
    connection.execute(
        f"CREATE TABLE {_OWN}("
        "version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
    )
    for statement in (log_chain.TABLE, log_chain.BEGIN, *statements):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    note(connection, history, 0, at=at)


def note(connection: apsw.Connection, history: History, since: int, *, at: str) -> None:
    """Note the steps after the schema `since` as taken, and the newest schema as the file's."""
    connection.executemany(
        f"INSERT INTO {_OWN} VALUES(?, ?, ?)",
        [(migration.version, migration.name, at) for migration in history.after(since)],
    )
    connection.execute(f"PRAGMA user_version={history.version}")


def check_current(connection: apsw.Connection, path: object, history: History = FIRST) -> None:
    """Refuse a file that is foreign, newer or older by what its header says: cheap, for each connection.

    Another file may have been put in the place of one that was checked as a whole. Raises
    `NotAWorkbenchDatabase`, `SchemaAheadOfCode`, `SchemaMigrationRequired`, and `DatabaseDamaged` for
    a schema that never was.
    """
    _check(_pragma(connection, "application_id"), _pragma(connection, "user_version"), path, history)


def check(
    connection: apsw.Connection, path: object, statements: Iterable[str] = (), history: History = FIRST
) -> None:
    """Refuse a file that is foreign, newer or older, or lacks a table that `statements` create.

    `path` is for the message only. Raises `NotAWorkbenchDatabase`, `SchemaAheadOfCode`,
    `SchemaMigrationRequired` or `DatabaseDamaged` (exit 3).
    """
    application_id, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
    _check_known(application_id, version, path, history)
    if version < history.version and _has_notes(connection):
        # Where the two disagree no migration would help.
        _check_noted(connection, path, history)
    check_current(connection, path, history)
    _check_tables(connection, path, statements)
    _check_noted(connection, path, history)


def _has_notes(connection: apsw.Connection) -> bool:
    return fetch.value(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?", (_OWN,)) is not None


def stage(
    connection: apsw.Connection, path: object, statements: Iterable[str] = (), history: History = FIRST
) -> int:
    """The schema of a file that may be older; `statements` create the tables that each schema has.

    Raises what `check` raises, but `SchemaMigrationRequired`.
    """
    application_id, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
    _check_known(application_id, version, path, history)
    _check_tables(connection, path, statements)
    _check_noted(connection, path, history)
    return version


def unknown_to(connection: apsw.Connection, history: History) -> list[int]:
    """The steps that a file has taken and this release does not know."""
    version = _pragma(connection, "user_version")
    try:
        noted = {taken for (taken,) in fetch.rows(connection, f"SELECT version FROM {_OWN}")}
    except apsw.SQLError:
        noted = set()
    # A header may hold any number; what is listed of it is for people.
    beyond = range(history.version + 1, min(version, history.version + 1000) + 1)
    return sorted({taken for taken in noted if not 1 <= taken <= history.version} | set(beyond))


def _check_noted(connection: apsw.Connection, path: object, history: History) -> None:
    """Whether the steps that a file has taken lead to the schema that its header names."""
    version = _pragma(connection, "user_version")
    noted = [taken for (taken,) in fetch.rows(connection, f"SELECT version FROM {_OWN} ORDER BY version")]
    if noted and noted[-1] > history.version:
        raise _ahead(path, noted[-1], history)
    if noted != list(range(1, version + 1)):
        raise DatabaseDamaged(
            f"{path} is damaged: it has schema {version}, but its list of migrations says "
            f"{', '.join(map(str, noted[-20:])) or 'nothing'}",
            hint="restore it from a backup; this file was not touched",
        )


def _check_tables(connection: apsw.Connection, path: object, statements: Iterable[str]) -> None:
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    needed = {found[1] for statement in statements if (found := _CREATED.match(statement))}
    missing = sorted((needed | {_OWN}) - there)
    if missing:
        raise DatabaseDamaged(
            f"{path} is damaged: it has no table {', '.join(missing)}",
            hint="restore it from a backup; this file was not touched",
        )


def _check(application_id: int, version: int, path: object, history: History) -> None:
    _check_known(application_id, version, path, history)
    if version < history.version:
        raise SchemaMigrationRequired(
            f"{path} has schema {version}; this program needs {history.version}",
            hint="run: workbench migrate",
        )


def _check_known(application_id: int, version: int, path: object, history: History) -> None:
    if application_id == _MAX_CHRONICLE_ID:
        raise NotAWorkbenchDatabase(
            f"{path} is a max-chronicle database, not a workbench one",
            hint="make a workspace beside it with: workbench init",
        )
    if application_id != APPLICATION_ID:
        raise NotAWorkbenchDatabase(
            f"{path} is not a Chronicle Workbench database",
            hint="name another workspace with --root; this file was not touched",
        )
    if version > history.version:
        raise _ahead(path, version, history)
    if version < 1:
        raise DatabaseDamaged(
            f"{path} is damaged: no release ever wrote schema {version}",
            hint="restore it from a backup; this file was not touched",
        )


def _ahead(path: object, version: int, history: History) -> SchemaAheadOfCode:
    return SchemaAheadOfCode(
        f"{path} has schema {version}; this program knows up to {history.version}",
        hint="install a newer chronicle-workbench; this file was not touched",
    )


def _pragma(connection: apsw.Connection, name: str) -> int:
    row = connection.execute(f"PRAGMA {name}").fetchone()
    assert row is not None
    return int(row[0])

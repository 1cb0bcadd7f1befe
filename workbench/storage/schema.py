"""Which file is ours, and of which schema (contract workspace, "Schema").

Nothing here changes a file that is not empty: what does not fit is refused, untouched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

import apsw

from workbench.storage.errors import (
    DatabaseDamaged,
    NotAWorkbenchDatabase,
    SchemaAheadOfCode,
    SchemaMigrationRequired,
    opening,
)
from workbench.storage.turns import BUSY_TIMEOUT_MS

APPLICATION_ID = 0x4357424B
"""`CWBK`, in the header of every database of ours."""

SCHEMA_VERSION = 1

_MAX_CHRONICLE_ID = 0x4348524E

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 108
"""The file's header and that of its first page."""
_LEAF_TABLE_PAGE = 13
_WRITE_VERSION = 18
"""Where the header says how the file is written."""
_ROLLBACK_JOURNAL = 1

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


def refuse_foreign(path: Path, check: Callable[[apsw.Connection], None]) -> None:
    """Refuse, before anything opens it for writing, a file that is not ours or not of this schema.

    Opening for writing alone changes a file: it turns write-ahead logging on, and folds what a
    crashed program left in its log into the file. A missing or empty file passes, and so does one
    that only opening it can tell more of, which then changes nothing. `check` looks at a file that
    holds something and raises what `check` of this module raises; `StorageError` for a file that
    cannot be read.
    """
    with opening(path):
        try:
            with path.open("rb") as file:
                header = file.read(_HEADER_BYTES)
        except FileNotFoundError:
            return
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
        _check(application_id, version, path)
        if header[_WRITE_VERSION] == _ROLLBACK_JOURNAL:
            with opening(path):
                _look(path, check)


def _look(path: Path, check: Callable[[apsw.Connection], None]) -> None:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        if not is_empty(connection):
            check(connection)
    finally:
        connection.close()


def create(connection: apsw.Connection, statements: tuple[str, ...], *, at: str) -> None:
    """Lay out an empty file at today's schema; `at` (ISO 8601, UTC) is noted beside the version.

    Runs inside the caller's transaction, so a file is either whole or still empty.
    """
    connection.execute(
        f"CREATE TABLE {_OWN}("
        "version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
    )
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"INSERT INTO {_OWN} VALUES(?, 'first', ?)", (SCHEMA_VERSION, at))
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def check(connection: apsw.Connection, path: object, statements: Iterable[str] = ()) -> None:
    """Refuse a file that is foreign, newer or older, or lacks a table that `statements` create.

    `path` is for the message only. Raises `NotAWorkbenchDatabase`, `SchemaAheadOfCode`,
    `SchemaMigrationRequired` or `DatabaseDamaged` (exit 3).
    """
    _check(_pragma(connection, "application_id"), _pragma(connection, "user_version"), path)
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    needed = {found[1] for statement in statements if (found := _CREATED.match(statement))}
    missing = sorted((needed | {_OWN}) - there)
    if missing:
        raise DatabaseDamaged(
            f"{path} is damaged: it has no table {', '.join(missing)}",
            hint="restore it from a backup; this file was not touched",
        )


def _check(application_id: int, version: int, path: object) -> None:
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
    if version > SCHEMA_VERSION:
        raise SchemaAheadOfCode(
            f"{path} has schema {version}; this program knows up to {SCHEMA_VERSION}",
            hint="install a newer chronicle-workbench; this file was not touched",
        )
    if version < SCHEMA_VERSION:
        raise SchemaMigrationRequired(
            f"{path} has schema {version}; this program needs {SCHEMA_VERSION}",
            hint="run: workbench migrate",
        )


def _pragma(connection: apsw.Connection, name: str) -> int:
    row = connection.execute(f"PRAGMA {name}").fetchone()
    assert row is not None
    return int(row[0])

"""Which file is ours, and of which schema (contract workspace, "Schema").

Nothing here changes a file that is not empty: what does not fit is refused, untouched.
"""

from __future__ import annotations

import apsw

from workbench.storage.errors import NotAWorkbenchDatabase, SchemaAheadOfCode, SchemaMigrationRequired

APPLICATION_ID = 0x4357424B
"""`CWBK`, in the header of every database of ours."""

SCHEMA_VERSION = 1

_MAX_CHRONICLE_ID = 0x4348524E


def is_empty(connection: apsw.Connection) -> bool:
    """Whether nothing at all was written to this file yet."""
    row = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return row == (0,) and _pragma(connection, "user_version") == 0


def create(connection: apsw.Connection, statements: tuple[str, ...], *, at: str) -> None:
    """Lay out an empty file at today's schema; `at` (ISO 8601, UTC) is noted beside the version.

    Runs inside the caller's transaction, so a file is either whole or still empty.
    """
    connection.execute(
        "CREATE TABLE schema_migrations("
        "version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
    )
    for statement in statements:
        connection.execute(statement)
    connection.execute("INSERT INTO schema_migrations VALUES(?, 'first', ?)", (SCHEMA_VERSION, at))
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def check(connection: apsw.Connection, path: object) -> None:
    """Refuse a file that is foreign, newer or older; `path` is for the message only.

    Raises `NotAWorkbenchDatabase`, `SchemaAheadOfCode` or `SchemaMigrationRequired` (exit 3).
    """
    application_id = _pragma(connection, "application_id")
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
    version = _pragma(connection, "user_version")
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

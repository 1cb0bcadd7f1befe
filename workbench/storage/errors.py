"""What can go wrong between the program and its file, said so that a person can act on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from workbench.errors import WorkbenchError


class StorageError(WorkbenchError):
    """Any failure of the file below the log."""

    code = "storage"


class DatabaseLocked(StorageError):
    """Another program held the write lock for longer than the busy timeout."""

    code = "db_locked"
    retryable = True


class DatabaseReadOnly(StorageError):
    """A write was asked of a database that is open for reading only, or lies on a read-only medium."""

    code = "read_only"


class DatabaseMissing(StorageError):
    """There is no file where the database should be."""

    code = "db_missing"
    exit_code = 2


class DiskFull(StorageError):
    """The medium has no room; nothing of the transaction was kept."""

    code = "disk_full"
    retryable = True


class SchemaError(StorageError):
    """The file cannot be used as it is; it was left untouched (contract workspace, "Schema")."""

    code = "schema"
    exit_code = 3


class NotAWorkbenchDatabase(SchemaError):
    """The file is no database, or another program's."""

    code = "not_a_workbench_database"


class SchemaAheadOfCode(SchemaError):
    """A newer release wrote this file."""

    code = "schema_ahead_of_code"


class SchemaMigrationRequired(SchemaError):
    """An older release wrote this file."""

    code = "schema_migration_required"


class DatabaseDamaged(SchemaError):
    """SQLite finds the file's structure broken."""

    code = "db_damaged"


class WrongThread(StorageError):
    """An open transaction or an iterator was used from a thread that did not open it."""

    code = "wrong_thread"


@contextmanager
def opening(path: Path | str) -> Iterator[None]:
    """As `translated`, and for the system's own errors too: around what touches files directly."""
    try:
        with translated(path):
            yield
    except OSError as error:
        raise StorageError(
            f"{path} cannot be opened: {error.strerror or error}",
            hint="check that its folder exists and may be written",
        ) from error


@contextmanager
def translated(path: Path | str) -> Iterator[None]:
    """Turn SQLite's errors into ours, naming `path`; constraint and logic errors pass unchanged.

    Those two are bugs or rules of the caller, who knows what they mean.
    """
    try:
        yield
    except apsw.BusyError as error:
        raise DatabaseLocked(
            f"{path} is being written by another program", hint="try again in a moment"
        ) from error
    except apsw.FullError as error:
        raise DiskFull(f"no room left to write {path}", hint="free some space and try again") from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise DatabaseReadOnly(
            f"{path} cannot be written", hint="check the file's permissions, or open it read-only"
        ) from error
    except apsw.NotADBError as error:
        raise NotAWorkbenchDatabase(
            f"{path} is not a database", hint="name another workspace with --root"
        ) from error
    except apsw.CorruptError as error:
        raise DatabaseDamaged(f"{path} is damaged: {error}", hint="restore it from a backup") from error
    except apsw.CantOpenError as error:
        raise StorageError(
            f"{path} cannot be opened", hint="check that its folder exists and may be written"
        ) from error
    except apsw.IOError as error:
        raise StorageError(f"{path} could not be read or written: {error}", hint="check the disk") from error

"""What can go wrong between the program and its file, said so that a person can act on it."""

from __future__ import annotations

import errno
import os
import re
import stat
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


class DatabaseReplaced(StorageError):
    """Under the running program the file was deleted, or another one put in its place."""

    code = "db_replaced"


class WrongThread(StorageError):
    """An open transaction or an iterator was used from a thread that did not open it."""

    code = "wrong_thread"


_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
_LEAST_ROOM = 64 * 1024
"""What SQLite needs beside a file before it can so much as read it: the index of its write-ahead log."""


def is_full(error: BaseException | None) -> bool:
    """Whether the system refused a write because the medium, or the user's share of it, is full."""
    return isinstance(error, OSError) and error.errno in _FULL


def has_no_room(path: Path | str) -> bool:
    """Whether hardly anything can be written beside `path`, as far as the system tells."""
    try:
        medium = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120
    except OSError:
        return False
    # A medium without a fixed number of files says that it has none at all.
    return medium.f_bavail * medium.f_frsize < _LEAST_ROOM or (medium.f_files > 0 and medium.f_favail == 0)


def no_room(path: Path | str) -> DiskFull:
    """The error of a full medium, naming what was being written."""
    return DiskFull(f"no room left to write {path}", hint="free some space and try again")


def damaged(path: Path | str, reason: object) -> DatabaseDamaged:
    """The error of a file that holds what nobody wrote, and why that is thought."""
    return DatabaseDamaged(
        f"{path} is damaged: {reason}",
        hint="workbench doctor says what is broken; restore the file from a backup",
    )


def not_writable(path: Path | str) -> DatabaseReadOnly:
    """The error of a file that this user, or nobody, can write."""
    odd = _odd_file(path)
    if odd is None and os.path.exists(f"{path}-journal"):  # noqa: PTH110
        odd = old_journal(path)
    if odd is not None:
        # So SQLite also calls a database whose companions it cannot make or read.
        return DatabaseReadOnly(odd.message, hint=odd.hint)
    return DatabaseReadOnly(
        f"{path} cannot be written",
        hint="check the permissions of the file and its folder, or only look at it: "
        "workbench --read-only opens it without writing",
    )


_BROKEN = re.compile(
    r"no such column|no such table|malformed database schema|malformed JSON|table \S+ has \d+ columns but"
)
"""How SQLite refuses our own statements once a layout or a payload was damaged; a person's name no tables."""


@contextmanager
def opening(path: Path | str) -> Iterator[None]:
    """As `translated`, and for the system's own errors too: around what touches files directly."""
    try:
        with translated(path):
            yield
    except OSError as error:
        if is_full(error):
            raise no_room(error.filename or path) from error
        if error.errno == errno.EROFS:
            raise not_writable(path) from error
        raise _unopenable(path, f": {error.strerror or error}") from error
    except UnicodeEncodeError as error:
        if error.object != str(path):
            raise
        raise unnameable(path) from None


_BESIDE = (("-wal", "the newest writes are in it"), ("-shm", "it is the index of the newest writes"))
"""The endings of the files that SQLite keeps beside a database, and what each of them is."""


def _unopenable(path: Path | str, reason: str = "") -> StorageError:
    odd = _odd_file(path)
    if odd is not None:
        return odd
    return StorageError(
        f"{path} cannot be opened{reason}", hint="check that its folder exists and may be written"
    )


def _odd_file(path: Path | str) -> StorageError | None:
    """The error of the very file, of a database and those beside it, that cannot be opened; None if none is
    seen to be at fault."""
    try:
        real = os.path.realpath(path)
        found = os.stat(real)  # noqa: PTH116
        if stat.S_ISREG(found.st_mode) and not _is_readable(real):
            return StorageError(
                f"{path} may not be read by this user", hint="check the permissions of that file"
            )
        for ending, meaning in _BESIDE:
            beside = real + ending
            try:
                kind = os.lstat(beside).st_mode
            except FileNotFoundError:
                continue
            if not stat.S_ISREG(kind):
                what = "a folder" if stat.S_ISDIR(kind) else "a link" if stat.S_ISLNK(kind) else "no file"
                return StorageError(
                    f"{beside} is {what}, in the place of a file that SQLite keeps beside the database",
                    hint="move it away while no program has the workspace open, and try again",
                )
            if not _is_readable(beside):
                return StorageError(
                    f"{beside} may not be read by this user",
                    hint=f"check the permissions of that file, and leave it there: {meaning}",
                )
    except (OSError, ValueError):
        # Nothing can be looked at there: what was said of the database itself has to do.
        return None
    return None


def old_journal(path: Path | str) -> StorageError:
    """The error of a rollback journal beside a database, which this program never leaves behind."""
    journal = f"{path}-journal"
    return StorageError(
        f"{path} cannot be opened, for a rollback journal lies beside it, {journal}, which this program does "
        "not write: another program was killed while it changed the database, or put it there; nothing was "
        "changed",
        hint="move that file away while no program has the workspace open, look with: workbench doctor, and "
        "if something is damaged restore a copy",
    )


def _is_readable(name: str) -> bool:
    return os.access(name, os.R_OK, effective_ids=os.access in os.supports_effective_ids)


def unnameable(path: Path | str) -> StorageError:
    """The error of a name that SQLite cannot be given: bytes that are no text."""
    shown = str(path).encode("utf-8", "backslashreplace").decode()
    return StorageError(
        f"the name of {shown} is not valid UTF-8", hint="rename it, or name another with --root"
    )


@contextmanager
def translated(path: Path | str) -> Iterator[None]:
    """Turn SQLite's errors into ours, naming `path`; constraint and logic errors pass unchanged.

    Those two are bugs or rules of the caller, who knows what they mean.
    """
    try:
        yield
    except apsw.BusyError as error:
        raise DatabaseLocked(
            f"{path} is being written by another program",
            hint="try again in a moment, or end the program that holds it",
        ) from error
    except apsw.FullError as error:
        raise no_room(path) from error
    except (apsw.ReadOnlyError, apsw.PermissionsError) as error:
        raise not_writable(path) from error
    except apsw.NotADBError as error:
        raise NotAWorkbenchDatabase(
            f"{path} is not a database", hint="name another workspace with --root"
        ) from error
    except apsw.CorruptError as error:
        raise damaged(path, error) from error
    except apsw.SQLError as error:
        if not _BROKEN.match(str(error)):
            raise
        raise damaged(path, error) from error
    except apsw.CantOpenError as error:
        if has_no_room(path):
            raise no_room(path) from error
        raise _unopenable(path) from error
    except apsw.IOError as error:
        # The index of the write-ahead log does not say why it could not grow.
        if has_no_room(path):
            raise no_room(path) from error
        odd = _odd_file(path)
        if odd is not None:
            raise odd from error
        raise StorageError(f"{path} could not be read or written: {error}", hint="check the disk") from error

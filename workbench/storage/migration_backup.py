"""The copy of a database that is made before it is migrated (contract workspace, "Schema")."""

from __future__ import annotations

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import apsw

from workbench.storage.errors import DatabaseDamaged, StorageError, is_full, no_room, translated
from workbench.storage.migration_steps import Steps

PAGES = 256
"""Copied between two looks at whether to go on."""
SECONDS = 120.0
"""How long the copying may take: nobody else can write meanwhile."""

_PART = ".part"
"""Ends the name of a copy that is not whole yet."""


class BackupFailed(StorageError):
    """The copy that must come before a migration could not be made; nothing was migrated."""

    code = "migration_backup"
    retryable = True


class BackupRefused(BackupFailed):
    """The folder for the copy is none, or lies somewhere else than it says; nothing was migrated."""

    retryable = False


def name_of(database: Path, since: int, to: int, at: str, mark: str) -> str:
    """A copy's name: which file, which schemas it stands between, when it was made, and a random mark."""
    return f"{database.name}.bak-premigrate-v{since}-v{to}-{at}-{mark}"


def make_backup(path: Path, folder: Path, since: int, to: int, moment: datetime, steps: Steps) -> Path:
    """Copy a database into `folder`, checked and on the disk; the caller holds its write lock.

    Readers go on meanwhile. The file is its owner's alone (0600), as is the folder (0700). What a
    program that was killed left half-copied in the folder goes. Neither the folder nor the one above it
    may be a link: a copy holds all that the database does, and whoever made the workspace could have it
    put where others read it. Raises `DiskFull`, `DatabaseDamaged` where the copy shows that the database
    is, `BackupFailed`, and what `steps` raise; then no copy is left.
    """
    stamp = moment.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    name = name_of(path, since, to, stamp, secrets.token_hex(4))
    whole, part = folder / name, folder / (name + _PART)
    with _in_words(whole):
        existed = is_there(folder)
        for each in (folder.parent, folder):
            _refuse_odd(each)
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        _remove_parts(path, folder)
        try:
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            _copy(path, part, steps)
            _check(path, part, steps)
            _to_disk(part)
            part.rename(whole)
            _to_disk(folder)
        except BaseException:
            part.unlink(missing_ok=True)
            remove(whole, folder_too=not existed)
            raise
    return whole


def is_there(folder: Path) -> bool:
    """Whether a folder exists, as far as the system lets us look."""
    # Unlike a path's own method it never raises.
    return os.path.isdir(folder)  # noqa: PTH112


def _refuse_odd(folder: Path) -> None:
    """Refuse what stands in a folder's place and is none of its own. Raises `BackupRefused`, `OSError`."""
    try:
        mode = folder.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise BackupRefused(
            f"{folder} is a symbolic link to {folder.readlink()}, and no copy is put elsewhere; "
            "nothing was migrated",
            hint="remove the link, or put a folder in its place",
        )
    if not stat.S_ISDIR(mode):
        raise BackupRefused(
            f"{folder} is no folder, so that no copy can be put there; nothing was migrated",
            hint="move it away: the folder is made anew",
        )


def remove(backup: Path, *, folder_too: bool) -> None:
    """Take a copy away again, and its folder if nothing else is in it and `folder_too` is given."""
    backup.unlink(missing_ok=True)
    if folder_too:
        try:
            backup.parent.rmdir()
        except OSError:
            # Something else lies in it by now.
            return


def _copy(path: Path, part: Path, steps: Steps) -> None:
    """Copy page by page through a connection that sees what was last committed."""
    deadline = time.monotonic() + SECONDS
    source = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    target = apsw.Connection(str(part))
    try:
        # A copy that is not finished is thrown away, so nothing needs to be undone in it.
        target.execute("PRAGMA journal_mode=OFF").fetchall()
        target.execute("PRAGMA synchronous=OFF")
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                steps.refuse_cancelled()
                if time.monotonic() > deadline:
                    raise BackupFailed(
                        f"copying {path} takes longer than {SECONDS:.0f} s; nothing was migrated",
                        hint="put the workspace on a faster disk, or try again when less is going on",
                    )
                try:
                    backup.step(PAGES)
                except (apsw.BusyError, apsw.LockedError):
                    time.sleep(0.01)
                steps.step(backup.page_count - backup.remaining, backup.page_count, "backup")
    finally:
        target.close()
        source.close()


def _check(path: Path, part: Path, steps: Steps) -> None:
    # Unchangeable, so that looking at it leaves nothing beside it.
    uri = part.absolute().as_uri() + "?immutable=1"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        with steps.interrupting(connection):
            found = connection.execute("PRAGMA quick_check(1)").fetchall()
    except (apsw.CorruptError, apsw.NotADBError) as error:
        found = [(str(error),)]
    finally:
        connection.close()
    if found != [("ok",)]:
        said = " ".join(str(found[0][0]).split()) if found else "nothing"
        raise DatabaseDamaged(
            f"{path} is damaged and was not migrated: {said}",
            hint="see: workbench doctor; or restore it from a backup",
        )


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_parts(path: Path, folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.name.startswith(f"{path.name}.bak-premigrate-") and entry.name.endswith(_PART):
            # A folder of that name is not ours, and what cannot be removed is in nobody's way.
            with suppress(OSError):
                entry.unlink()


@contextmanager
def _in_words(whole: Path) -> Iterator[None]:
    try:
        with translated(whole):
            yield
    except OSError as error:
        if is_full(error):
            raise no_room(whole) from error
        raise BackupFailed(
            f"{error.filename or whole} cannot be made: {error.strerror or error}; nothing was migrated",
            hint="check that the workspace's backups folder may be written",
        ) from error

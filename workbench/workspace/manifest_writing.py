"""Writing a person's manifest: whole or not at all, never over somebody else's change, the old one kept."""

from __future__ import annotations

import errno
import glob
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.storage.errors import is_full, no_room
from workbench.workspace.errors import ConfigurationError

KEPT = Path("backups", "manifest")
"""Where previous files are kept, below the manifest's folder. New ones are written there, and then moved."""

_LONG_AGO = 3600.0
"""Seconds after which no program is still on its way, where there are no locks to tell."""


class ManifestChanged(WorkbenchError):
    """Somebody else changed the manifest between the reading and the writing."""

    code = "manifest_changed"
    retryable = True


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """For as long as this is open, no other program of ours edits the manifest.

    An editor is not kept from it: see `replace`. Where the system has no such locks, this does nothing.
    What programs that were killed left on its way into the manifest's place is removed first.
    """
    try:
        import fcntl
    except ImportError:
        _sweep(path, _LONG_AGO)
        yield
        return
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            # Reading the manifest says what is wrong with it.
            yield
            return
        try:
            older = _LONG_AGO
            # Some network file systems have no locks.
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                # Nobody else is on the way.
                older = float("-inf")
            if not _is_still(path, descriptor):
                continue
            _sweep(path, older)
            yield
            return
        finally:
            os.close(descriptor)


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether the file at `path` is this one. Whoever had the lock before may have put another there."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def replace(path: Path, previous: bytes, edited: bytes) -> Path:
    """Put `edited` in the place of `previous`, which must still be there; the copy of it that is kept.

    A link stays a link, permissions stay as they are. Raises `ManifestChanged`, `DiskFull`, and
    `ConfigurationError` where it cannot be written; nothing is changed then.
    """
    try:
        return _replace(path, previous, edited)
    except OSError as error:
        if is_full(error):
            raise no_room(path) from error
        raise ConfigurationError(
            f"{path} cannot be written: {error.strerror or error}",
            hint="nothing was changed; check the permissions of the file and its folder, and of backups/",
        ) from error


def _replace(path: Path, previous: bytes, edited: bytes) -> Path:
    target = Path(os.path.realpath(path))
    if not os.access(target, os.W_OK):
        # Its folder would let it be replaced, but somebody closed this file.
        raise PermissionError(13, "the file is read-only", str(target))
    folder = path.parent / KEPT
    kept = _keep(folder, previous)
    try:
        try:
            _write_over(target, previous, edited, folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # The manifest is a link to elsewhere, or one of the two folders is mounted.
            _write_over(target, previous, edited, target.parent)
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
    return kept


def _sweep(path: Path, older: float) -> None:
    """Remove new manifests that never got to their place, of at least this age in seconds."""
    target = Path(os.path.realpath(path))
    now = time.time()
    for folder in {path.parent / KEPT, target.parent}:
        # Whatever cannot be looked at or removed stays; writing there says why.
        with suppress(OSError):
            for left in folder.glob(f"{glob.escape(_prefix(target))}*"):
                status = left.lstat()
                if stat.S_ISREG(status.st_mode) and now - status.st_mtime >= older:
                    left.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    """How the names of its new files begin; other manifests may lie in the same folder."""
    return f".new-{target.name}-"


def _write_over(target: Path, previous: bytes, edited: bytes, folder: Path) -> None:
    """Write a new file in this folder, and move it to the target's place."""
    descriptor, name = tempfile.mkstemp(prefix=_prefix(target), dir=folder)
    beside = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            status = target.stat()
            if os.fstat(file.fileno()).st_gid != status.st_gid:
                # In its own folder it might have got the group of that.
                with suppress(OSError):
                    os.fchown(file.fileno(), -1, status.st_gid)
            os.fchmod(file.fileno(), status.st_mode & 0o7777)
            file.write(edited)
            file.flush()
            os.fsync(file.fileno())
        if target.read_bytes() != previous:
            raise ManifestChanged(
                f"{target} was changed by another program meanwhile", hint="nothing was changed; try again"
            )
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _keep(folder: Path, previous: bytes) -> Path:
    """A new file with these bytes, for the person's eyes only, named after the time."""
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    number = 0
    while True:
        kept = folder / (f"{stamp}.toml" if not number else f"{stamp}-{number}.toml")
        try:
            descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            break
        except FileExistsError:
            number += 1
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(previous)
            file.flush()
            os.fsync(descriptor)
        _sync_folder(folder)
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
    return kept


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # What is in its place already stays there where a file system cannot sync a folder.
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Private folders for files that have not got their place yet.

Each is held by a lock that ends with the process that made it: that tells what was left behind, after a
restart and from within a container too, where process numbers say nothing.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

STAGING = ".staging"
"""The folder of the private ones, within that of the evidence."""

UNLOCKED_SECONDS = 24 * 3600
"""After so long without a change a folder counts as left, where the file system knows no locks."""

ORPHAN_SECONDS = 3600
"""An artifact that nothing names, and that was kept or asked for no longer ago than this, may be about to
be named by another program."""

_TRIES = 100
_BLOCK = 1 << 20


class PrivateFolder:
    """A new folder for this process alone, made when it is first asked for; `close` removes it."""

    def __init__(self, evidence: Path) -> None:
        self._staging = evidence / STAGING
        self._path: Path | None = None
        self._descriptor = -1
        self._number = 0

    def new_file(self) -> tuple[int, Path]:
        """A new empty file that only its owner can read: its descriptor, for writing, and its path.

        Raises `OSError`.
        """
        folder = self._path or self._made()
        self._number += 1
        path = folder / str(self._number)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), path

    def taken(self, path: Path) -> Path:
        """Move a file of the same file system into the folder; where it is now. Raises `OSError`."""
        folder = self._path or self._made()
        self._number += 1
        return path.replace(folder / str(self._number))

    def close(self) -> None:
        """Remove the folder and all that is still in it; what cannot be removed is left to a sweep."""
        if self._path is None:
            return
        path, self._path = self._path, None
        with suppress(OSError):
            _remove(path)
        os.close(self._descriptor)
        with suppress(OSError):
            self._staging.rmdir()

    def _made(self) -> Path:
        for tried in range(_TRIES):
            # Out of step with whoever sweeps again and again.
            time.sleep(secrets.randbelow(tried + 1) / 10_000)
            self._staging.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with suppress(FileExistsError):
                self._staging.mkdir(mode=0o700)
            path = self._staging / secrets.token_hex(8)
            try:
                path.mkdir(mode=0o700)
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:
                # Whoever was here last took the folder along.
                continue
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # A sweep may have come between, and found it held by nobody.
            if os.fstat(descriptor).st_nlink and path.is_dir():
                self._path, self._descriptor = path, descriptor
                return path
            os.close(descriptor)
        raise OSError(errno.EAGAIN, "its staging folder goes as fast as it is made", str(self._staging))


def leftovers(evidence: Path) -> list[Path]:
    """What processes that are gone left below the staging folder, in the order of names; changes nothing."""
    return [path for path, descriptor in _left(evidence) if _closed(descriptor)]


def sweep(evidence: Path) -> list[Path]:
    """Remove what processes that are gone left there; what was removed. Raises `OSError`."""
    removed = []
    for path, descriptor in _left(evidence):
        try:
            _remove(path)
            removed.append(path)
        finally:
            _closed(descriptor)
    with suppress(OSError):
        (evidence / STAGING).rmdir()
    return removed


def held(evidence: Path) -> Callable[[], object]:
    """Hold the folder of the evidence together with others; the function lets it go. Raises `OSError`."""
    descriptor = os.open(evidence, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    return partial(os.close, descriptor)


@contextmanager
def alone(evidence: Path) -> Iterator[bool]:
    """Whether nobody holds the folder of the evidence; nobody can while the block runs. Raises `OSError`."""
    descriptor = os.open(evidence, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def wiped(path: Path) -> None:
    """Remove a file, and leave no bytes of it in the blocks that it gives back. Raises `OSError`."""
    found = path.stat()
    if found.st_nlink == 1:
        # Under another name it would be somebody's copy.
        path.chmod(0o600)
        with path.open("r+b") as file:
            for place in range(0, found.st_size, _BLOCK):
                file.write(bytes(min(_BLOCK, found.st_size - place)))
            file.flush()
            os.fsync(file.fileno())
    path.unlink()


def _left(evidence: Path) -> Iterator[tuple[Path, int]]:
    """Each place that nobody holds, with the descriptor by which it is held now (-1: no folder)."""
    try:
        with os.scandir(evidence / STAGING) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        # It is not there, or closed to this user.
        return
    for entry in entries:
        path = Path(entry.path)
        if not entry.is_dir(follow_symlinks=False):
            # Nothing is put here but folders.
            yield path, -1
            continue
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        if _is_left(descriptor):
            yield path, descriptor
        else:
            os.close(descriptor)


def _is_left(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return time.time() - os.fstat(descriptor).st_mtime > UNLOCKED_SECONDS
    # Its owner may have removed it since it was listed.
    return os.fstat(descriptor).st_nlink > 0


def _closed(descriptor: int) -> bool:
    if descriptor >= 0:
        os.close(descriptor)
    return True


def _remove(path: Path) -> None:
    """A file, or a folder with all that is in it; links are not followed."""
    if not stat.S_ISDIR(path.lstat().st_mode):
        path.unlink()
        return
    with os.scandir(path) as found:
        entries = [Path(entry.path) for entry in found]
    for entry in entries:
        with suppress(FileNotFoundError):
            _remove(entry)
    path.rmdir()

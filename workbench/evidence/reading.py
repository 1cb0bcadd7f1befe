"""Opening what an agent named, and reading it once: never a pipe, never more than was agreed."""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

_ABSENT = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ESTALE))


class Unfit(Exception):
    """The file cannot or may not be copied: why, and how large it is where that is known."""

    def __init__(self, reason: str, size: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.size = size


class Opened(NamedTuple):
    """A regular file, open for reading."""

    descriptor: int
    size: int


def open_source(path: str, *, allowed: bool, limit: int, follow: bool) -> Opened:
    """Open a regular file of at most `limit` bytes; `allowed` says whether its kind is copied.

    Raises `Unfit`: `absent`, `symlink_rejected`, `extension_not_allowed`, `size_limit_exceeded`,
    `not_a_file`, `unreadable`, `invalid_path`. A file that is refused by its kind or size is not opened.
    """
    try:
        look = os.stat if follow else os.lstat
        _refuse_unfit(look(path), allowed, limit)
        # Another file may stand there by now; it neither leads elsewhere nor makes anybody wait.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except OSError as error:
        raise _unfit(error) from None
    except ValueError:
        raise Unfit("invalid_path") from None
    try:
        found = os.fstat(descriptor)
        _refuse_unfit(found, allowed, limit)
    except BaseException:
        os.close(descriptor)
        raise
    return Opened(descriptor, found.st_size)


def _refuse_unfit(found: os.stat_result, allowed: bool, limit: int) -> None:
    mode = found.st_mode
    if stat.S_ISLNK(mode):
        raise Unfit("symlink_rejected")
    if not stat.S_ISREG(mode):
        raise Unfit("not_a_file")
    if not allowed:
        raise Unfit("extension_not_allowed", found.st_size)
    if found.st_size > limit:
        raise Unfit("size_limit_exceeded", found.st_size)


def _unfit(error: OSError) -> Unfit:
    if error.errno in _ABSENT:
        return Unfit("absent")
    # A link that took the file's place, or one on the way that leads in a circle.
    return Unfit("symlink_rejected" if error.errno == errno.ELOOP else "unreadable")


class BoundedSource:
    """The bytes of an open file from its beginning, `limit` at most.

    Reading raises `Unfit`: `size_limit_exceeded` for a file that grew, `unreadable` for one that cannot be
    read to its end.
    """

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self.taken = 0
        """Bytes that were read."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        data = self.read_at(self.taken, min(size, self._limit + 1 - self.taken))
        self.taken += len(data)
        if self.taken > self._limit:
            raise Unfit("size_limit_exceeded", self.taken)
        return data

    def read_at(self, place: int, size: int) -> bytes:
        """At most `size` bytes from a place."""
        try:
            return os.pread(self._descriptor, size, place)
        except OSError:
            # A pipe with nobody at its other end would also come here, if it could be opened at all.
            raise Unfit("unreadable") from None

    def seek(self, place: int, /) -> int:
        """Go on from a place, as a file does; what was read before counts no more."""
        self.taken = place
        return place

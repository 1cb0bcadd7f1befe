"""What became of the database file that the program has open: there, gone, another, cut, or closed to it.

An open file outlives its name, so reading and even writing go on working on a file that nobody can find
any more; only looking at the name tells. The file is looked at, and opened by SQLite alone: closing it
again would otherwise drop the locks that SQLite holds on it for this process.
"""

from __future__ import annotations

import os
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.storage.stale_log import HEADER_BYTES, Marks, marks_of, read_header


class WorkspaceLost(WorkbenchError):
    """The database that is shown is no longer the file of that name; `reason` says so in a few words."""

    code = "workspace_lost"
    retryable = True

    def __init__(self, reason: str, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class FileFate:
    """Remembers the file that has the name now; `refuse_lost` tells whether it still has. One thread only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        found = path.stat()
        self._file = found.st_dev, found.st_ino
        self._size = found.st_size
        self._marks = self._read_marks()

    def refuse_lost(self) -> None:
        """Raise `WorkspaceLost` where the file is gone, another one, cut off, or may not be read."""
        path = self.path
        try:
            now = path.stat()
        except FileNotFoundError:
            reason = "file gone" if path.parent.is_dir() else "folder gone"
            raise _lost(reason, f"{path} is not there any more: it was deleted or moved away") from None
        except OSError as error:
            raise _lost("unreadable", f"{path} cannot be looked at: {error.strerror or error}") from None
        if (now.st_dev, now.st_ino) != self._file:
            raise _lost("replaced", f"{path} was replaced by another file while it was open", "R opens it")
        if now.st_size == 0:
            raise _lost("cut off", f"{path} is empty now: it was cut off while it was open")
        if not os.access(path, os.R_OK):
            raise _lost("unreadable", f"{path} may not be read any more")
        if now.st_size < self._size:
            # Only a vacuum makes the file smaller, whoever runs it: it writes all of it, as a new layout.
            marks = self._read_marks()
            if marks.layouts <= self._marks.layouts or marks.octets > now.st_size:
                raise _lost(
                    "cut off", f"{path} was cut off: {now.st_size:,} of {self._size:,} bytes are left"
                )
            self._marks = marks
        self._size = now.st_size

    def _read_marks(self) -> Marks:
        return marks_of(read_header(self.path.resolve(), HEADER_BYTES))


def _lost(reason: str, message: str, hint: str = "R opens it again once it is back") -> WorkspaceLost:
    return WorkspaceLost(reason, message, hint=f"nothing is written meanwhile; {hint}")


def came_back(said: str) -> WorkspaceLost:
    """The file stands in its place, and what is open does not answer any more: `said` is why."""
    return _lost("file was away", f"{said}; it is there now", "R opens it again")

"""Taking turns at the write lock with other processes.

SQLite lets whoever asks at the right instant have the lock: a process that waits sleeps between
its tries, and one that writes in a loop is back before the sleeper wakes. So a writer first takes
its place in a queue and leaves it once it has the lock. While one writer waits at the head, the
others cannot even ask, the one that just finished included: two writers alternate.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import apsw

BUSY_TIMEOUT_MS = 5000
"""How long a statement waits for another program's lock before it gives up."""

_FIRST_NAP = 0.0001
_LONGEST_NAP = 0.005
_LAST_TRY = 0.1


class WriteTurns:
    """The queue of one database, and the patience of its writer connection.

    The queue is an advisory lock on the database's folder, which leaves no file behind and which
    the system releases when a process dies. It only orders the writers: where it cannot be had
    (a network file system, a stranger's lock), SQLite's own lock still keeps them apart.
    """

    def __init__(self, path: Path) -> None:
        self._deadline = 0.0
        self._asking = False
        try:
            self._folder: int | None = os.open(path.resolve().parent, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._folder = None

    def begin(self, connection: apsw.Connection) -> None:
        """Start a write transaction; `apsw.BusyError` when the busy timeout has passed in vain."""
        self._deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
        queued = self._enter()
        if not queued:
            self._deadline = max(self._deadline, time.monotonic() + _LAST_TRY)
        self._asking = True
        try:
            connection.execute("BEGIN IMMEDIATE")
        finally:
            self._asking = False
            if queued:
                self._leave()

    def busy(self, tries: int) -> bool:
        """The writer's busy handler: whether to try again, after a short sleep.

        Short naps are fair: nobody but the head of the queue is asking.
        """
        if tries == 0 and not self._asking:
            self._deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
        if time.monotonic() >= self._deadline:
            return False
        time.sleep(min(_FIRST_NAP * (tries + 1), _LONGEST_NAP))
        return True

    def _enter(self) -> bool:
        if self._folder is None:
            return False
        nap = _FIRST_NAP
        while True:
            try:
                fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() >= self._deadline:
                    return False
            except OSError:
                return False
            time.sleep(nap)
            nap = min(nap * 2, _LONGEST_NAP)

    def _leave(self) -> None:
        assert self._folder is not None
        fcntl.flock(self._folder, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave for good."""
        if self._folder is not None:
            os.close(self._folder)
            self._folder = None

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
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path

import apsw

BUSY_TIMEOUT_MS = 5000
"""How long a statement waits for another program's lock before it gives up."""

QUEUE_PATIENCE_MS = 2000
"""How long a writer stays in the queue: one that hangs there must not keep the others from writing."""

TOLD_AFTER_SECONDS = 1.0
"""How long a writer waits before it says so, and how often it says it again."""

_FIRST_NAP = 0.0001
_LONGEST_NAP = 0.005
_LAST_TRY = 0.1


told_of_waits: ContextVar[Callable[[float], object] | None] = ContextVar("told_of_waits", default=None)
"""Told, while it is set, the seconds that opening a database waits for another program's lock."""


class OpeningPatience:
    """The busy handler of a connection that is opened where somebody wants to hear of the wait."""

    def __init__(self, told: Callable[[float], object]) -> None:
        self._tell = told
        self._began = self._told = 0.0

    def busy(self, tries: int) -> bool:
        """Whether to try again, after a short sleep."""
        now = time.monotonic()
        if tries == 0:
            self._began = self._told = now
        if now - self._began >= BUSY_TIMEOUT_MS / 1000:
            return False
        if now - self._told >= TOLD_AFTER_SECONDS:
            self._told = now
            self._tell(now - self._began)
        time.sleep(_LONGEST_NAP)
        return True


class WriteTurns:
    """The queue of one database, and the patience of its writer connection.

    The queue is an advisory lock on the database's folder, which leaves no file behind and which
    the system releases when a process dies. It only orders the writers: where it cannot be had
    (a network file system, a stranger's lock), SQLite's own lock still keeps them apart.
    """

    def __init__(self, path: Path) -> None:
        self.on_wait: Callable[[float], object] | None = None
        """Told the seconds waited so far, first after `TOLD_AFTER_SECONDS` and then as often again."""
        self._began = 0.0
        self._deadline = 0.0
        self._told = 0.0
        self._asking = False
        self._stuck = False
        """Whether the queue did not move last time; then it is not waited for again until it does."""
        try:
            self._folder: int | None = os.open(path.resolve().parent, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._folder = None

    def begin(self, connection: apsw.Connection) -> None:
        """Start a write transaction; `apsw.BusyError` when the busy timeout has passed in vain."""
        self._start_waiting()
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
            self._start_waiting()
        now = time.monotonic()
        if now >= self._deadline:
            return False
        self._tell(now)
        time.sleep(min(_FIRST_NAP * (tries + 1), _LONGEST_NAP))
        return True

    def _start_waiting(self) -> None:
        self._began = time.monotonic()
        self._deadline = self._began + BUSY_TIMEOUT_MS / 1000
        self._told = self._began

    def _tell(self, now: float) -> None:
        if self.on_wait is not None and now - self._told >= TOLD_AFTER_SECONDS:
            self._told = now
            self.on_wait(now - self._began)

    def _enter(self) -> bool:
        if self._folder is None:
            return False
        patience = 0.0 if self._stuck else min(QUEUE_PATIENCE_MS, BUSY_TIMEOUT_MS) / 1000
        nap = _FIRST_NAP
        while True:
            try:
                fcntl.flock(self._folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._stuck = False
                return True
            except BlockingIOError:
                now = time.monotonic()
                if now >= self._began + patience:
                    self._stuck = True
                    return False
            except OSError:
                return False
            self._tell(now)
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

"""How far a migration is, and whether it should stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from workbench.storage.errors import StorageError

Progress = Callable[[int, int | None, str], object]
"""Told what is done, how much there is to do, and of what: `waiting` (for another program that writes:
seconds, of which nobody knows how many there will be), `backup` (pages), `schema` (statements),
`projections` (events)."""

WAITING = "waiting"
"""The phase before the first one, once it has lasted a second; told again every second."""

_INSTRUCTIONS = 200_000
"""Of SQLite's machine between two looks, a few milliseconds."""


class MigrationCancelled(StorageError):
    """Whoever asked for the migration took it back; the file is as it was."""

    code = "cancelled"
    retryable = True


class Steps:
    """Tells somebody how far it is, and asks them whether to go on."""

    def __init__(self, progress: Progress | None = None, cancelled: Callable[[], bool] | None = None) -> None:
        self._progress = progress
        self._cancelled = cancelled

    def step(self, done: int, total: int, phase: str) -> None:
        """Something more is done."""
        if self._progress is not None:
            self._progress(done, total, phase)

    def wait(self, seconds: float) -> None:
        """The write lock was waited for so long already."""
        if self._progress is not None:
            self._progress(int(seconds), None, WAITING)

    @property
    def is_cancelled(self) -> bool:
        """Whether it should stop."""
        return self._cancelled is not None and self._cancelled()

    def refuse_cancelled(self) -> None:
        """Raise `MigrationCancelled` if it should stop."""
        if self.is_cancelled:
            raise MigrationCancelled("the migration was stopped; the database is as it was")

    @contextmanager
    def interrupting(self, connection: apsw.Connection) -> Iterator[None]:
        """Let a long statement of the block be stopped as well, by `MigrationCancelled`."""
        if self._cancelled is None:
            yield
            return
        connection.set_progress_handler(self._cancelled, _INSTRUCTIONS)
        try:
            yield
        except apsw.InterruptError as error:
            raise MigrationCancelled("the migration was stopped; the database is as it was") from error
        finally:
            connection.set_progress_handler(None)

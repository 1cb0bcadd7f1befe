"""One running job as the work itself holds it: it says how far it is and asks whether to go on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING

import apsw
import msgspec

from workbench.storage import fetch, log_chain
from workbench.storage.connection import open_reader
from workbench.storage.errors import StorageError
from workbench.workspace.jobs import table
from workbench.workspace.jobs.rows import JobRow, Status
from workbench.workspace.jobs.texts import line, stored

if TYPE_CHECKING:
    from workbench.log.event_log import EventLog

WRITE_SECONDS = 1.0
"""Between two notes of a job's progress in the workspace."""
TELL_SECONDS = 0.1
"""Between two words to whoever watches in this program."""
ASK_SECONDS = 0.3
"""Between two looks at whether another program asked it to stop."""

_ALIVE_SECONDS = 10.0
"""Between two signs of life that say nothing new."""
_PATIENCE_MS = 20
_AGAIN_SECONDS = 0.25
"""After a note that found the database busy."""

Progress = Callable[[int, int | None, str], None]
"""Takes (done, total or None, what is being worked on)."""


class Notes:
    """Writes down how far a job is, and never holds it up: what cannot be written at once is left out.

    It has a connection of its own, so that neither the patience nor the durability of the writer is spent
    on a note that is out of date in a second.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._connection: apsw.Connection | None = None

    def write(self, *values: int | str | None) -> bool:
        """Whether the note was written; `values` are those of `table.MOVE`."""
        if self._log.in_transaction:
            # It would be seen with the commit only, and waits for a lock that its own thread holds.
            return False
        try:
            with self._opened() as connection:
                connection.execute(table.MOVE, values)
                log_chain.advance(connection)
        except (apsw.Error, StorageError, OSError):
            return False
        return True

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            with suppress(apsw.Error):
                self._connection.close()
            self._connection = None

    def _opened(self) -> apsw.Connection:
        if self._connection is None:
            # As a reader's: a writer's would make the file anew where it has gone.
            connection = open_reader(self._log.path)
            connection.set_busy_timeout(_PATIENCE_MS)
            for pragma in ("query_only=OFF", "synchronous=NORMAL", "wal_autocheckpoint=0", "cache_size=-256"):
                connection.execute(f"PRAGMA {pragma}").fetchall()
            self._connection = connection
        return self._connection


class Job:
    """What `Jobs.run` hands to the work. The work calls it from one thread; others may look and stop it."""

    def __init__(
        self,
        row: JobRow,
        log: EventLog,
        micros: Callable[[], int],
        *,
        progress: Progress | None,
        cancelled: Callable[[], bool] | None,
        moved: Callable[[], None],
    ) -> None:
        self._row = row
        self._log = log
        self._micros = micros
        self._face_progress = progress
        self._face_cancelled = cancelled
        self._moved = moved
        self._notes = Notes(log) if row.recorded else None
        self._place: tuple[int, int | None, str] = (0, None, "")
        self._stop = threading.Event()
        self._told = self._write_at = self._ask_at = 0.0
        self.remark = ""
        """What a person should know of how the job was recorded; mostly empty."""
        self.outcome = ""
        self.status: Status = "running"
        """What it will be called once the block ends well: `done` unless `finish` says `stopped`."""
        self.ended = threading.Event()
        """Set when it runs no more and this is written down, if it could be."""

    @property
    def id(self) -> int:
        """Its number; negative where it is not recorded."""
        return self._row.id

    @property
    def recorded(self) -> bool:
        """Whether the workspace knows of it."""
        return self._row.recorded

    @property
    def place(self) -> tuple[int, int | None, str]:
        """Done, total and what it is working on."""
        return self._place

    @property
    def started_at(self) -> datetime:
        """When it began."""
        return self._row.started_at

    def row(self) -> JobRow:
        """How it stands now."""
        done, total, note = self._place
        return msgspec.structs.replace(
            self._row, done=done, total=total, note=line(note), stop_asked=self._stop.is_set()
        )

    def progress(self, done: int, total: int | None, note: str) -> None:
        """Say how far it is. Cheap, and never fails the work for what becomes of the note."""
        self._place = (done, total, note)
        if self._face_progress is not None:
            self._face_progress(done, total, note)
        now = monotonic()
        if now - self._told >= TELL_SECONDS or done == total:
            self._told = now
            self._moved()
        if self._notes is not None and now >= self._write_at:
            wrote = self._notes.write(
                self._micros(), done, total, self._filtered(note), self.id, self._row.process
            )
            self._write_at = monotonic() + (WRITE_SECONDS if wrote else _AGAIN_SECONDS)

    def alive(self) -> None:
        """Note that it goes on, for what is long at one thing; cheap."""
        now = monotonic()
        if self._notes is not None and now >= self._write_at + _ALIVE_SECONDS:
            done, total, note = self._place
            self._notes.write(self._micros(), done, total, self._filtered(note), self.id, self._row.process)
            self._write_at = now

    def cancelled(self) -> bool:
        """Whether it should stop: asked by the face that runs it, by this program or by another one."""
        if self._stop.is_set():
            return True
        if self._face_cancelled is not None and self._face_cancelled():
            self.stop()
            return True
        now = monotonic()
        if self.recorded and now >= self._ask_at:
            self._ask_at = now + ASK_SECONDS
            if self._asked_elsewhere():
                self.stop()
        return self._stop.is_set()

    def stop(self) -> None:
        """Ask it to stop; it does so after the transaction that it is in."""
        self._stop.set()
        self._moved()

    def finish(self, outcome: str, *, stopped: bool = False) -> None:
        """Say what it did: one sentence, then a line for each thing worth naming.

        `stopped` where it ended early in an orderly way because it was asked to.
        """
        self.outcome = outcome
        self.status = "stopped" if stopped else "done"

    def close(self) -> None:
        """Write no more notes."""
        if self._notes is not None:
            self._notes.close()
            self._notes = None

    def _filtered(self, note: str) -> str:
        return stored(line(note), self._log.redactor)

    def _asked_elsewhere(self) -> bool:
        if self._log.in_transaction:
            return False
        try:
            with self._log.reader() as connection:
                return bool(fetch.value(connection, table.STOP_ASKED, (self.id,)))
        except (apsw.Error, StorageError):
            return False

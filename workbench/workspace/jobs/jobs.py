"""The jobs of a workspace: running them, listing them, stopping them (contract workspace, "Jobs")."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from workbench.errors import WorkbenchError
from workbench.log.times import from_micros, now_micros, to_micros
from workbench.storage import fetch
from workbench.storage.errors import DatabaseLocked, StorageError
from workbench.workspace.errors import Cancelled
from workbench.workspace.jobs import table
from workbench.workspace.jobs.errors import JobEnded, JobNotFound, JobRunning
from workbench.workspace.jobs.exclusive import SCRUB_LEASE, beside_scrub, refuse_while_scrubbed, running_scrub
from workbench.workspace.jobs.job import Job, Progress
from workbench.workspace.jobs.processes import (
    SILENT_MICROS,
    Process,
    is_gone,
    is_visible,
    last_heard,
    this_process,
)
from workbench.workspace.jobs.rows import ENDED_SILENTLY, JobRow, Status, job_row, kind_of
from workbench.workspace.jobs.texts import OUTCOME_CHARS, line, stored

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.log.event_log import EventLog
    from workbench.log.times import Clock

KEPT = 500
"""Ended jobs that are remembered."""
_UNRECORDED_KEPT = 20
_LAST = 2**62

Key = tuple[int, int]


class Jobs:
    """The jobs of every program on one workspace. Threads may share it."""

    def __init__(self, log: EventLog, *, clock: Clock | None = None) -> None:
        self._log = log
        self._micros: Callable[[], int] = now_micros if clock is None else lambda: to_micros(clock())
        self._lock = threading.Lock()
        self._live: dict[int, Job] = {}
        self._ended: dict[int, JobRow] = {}
        """What ended here and the workspace does not know of: unrecorded jobs, and outcomes that could not
        be written yet."""
        self._unrecorded = 0
        self.latest: int | None = None
        """The job that this program began last."""
        self.turns = 0
        """How many beginnings and ends there were: a short job's may be heard of as one."""
        self._listener: Callable[[], object] | None = None

    # -- running ---------------------------------------------------------------------------

    @contextmanager
    def run(
        self,
        kind: str,
        title: str,
        *,
        lease: str | None = None,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Iterator[Job]:
        """Run the block as a job, which hands `job.progress` and `job.cancelled` to the work.

        Both also reach the caller's own `progress` and `cancelled`. `kind` is one of `rows.KINDS`; of a
        `lease` only one job runs at a time, whatever the program: `JobRunning` for a second one,
        `DatabaseLocked` where nobody can tell. The block's error passes on and is noted: `Cancelled` and
        Ctrl-C as stopped, any other as failed. Where nothing can be written (a read-only workspace, a full
        disk, a lock that never ends) the work runs all the same, unrecorded.
        """
        job = self._begin(kind, title, lease, progress, cancelled)
        self._tell()
        try:
            yield job
        except (Cancelled, KeyboardInterrupt, SystemExit) as error:
            said = error.message if isinstance(error, Cancelled) else ""
            self._end(job, "stopped", job.outcome or said)
            raise
        except WorkbenchError as error:
            self._end(job, "failed", job.outcome, error.message or "that did not work", error.hint)
            raise
        except BaseException as error:
            sentence = f"an unforeseen {type(error).__name__} stopped it"
            self._end(job, "failed", job.outcome, sentence, "the log file has the details")
            raise
        else:
            self._end(job, "done" if job.status == "running" else job.status, job.outcome)

    def _begin(
        self,
        kind: str,
        title: str,
        lease: str | None,
        progress: Progress | None,
        cancelled: Callable[[], bool] | None,
    ) -> Job:
        redactor = self._log.redactor
        now, process = self._micros(), this_process().as_text()
        title = line(title)
        number, remark = 0, ""
        if not self._log.read_only:
            title = stored(title, redactor)
            try:
                number = self._insert(kind, title, lease, process, now)
            except StorageError as error:
                if isinstance(error, DatabaseLocked):
                    if lease is not None:
                        raise
                    refuse_while_scrubbed(self._log, now)
                remark = f"this job is not in the list of jobs: {error.message}"
        with self._lock:
            if not number:
                self._unrecorded -= 1
                number = self._unrecorded
            row = JobRow(
                id=number,
                kind=kind,
                title=title,
                status="running",
                lease=lease,
                process=process,
                started_at=from_micros(now),
                heartbeat_at=from_micros(now),
            )
            job = self._live[number] = Job(
                row, self._log, self._micros, progress=progress, cancelled=cancelled, moved=self._tell
            )
            job.remark = remark
            self.latest = number
            self.turns += 1
        return job

    def _insert(self, kind: str, title: str, lease: str | None, process: str, now: int) -> int:
        with self._log.database.transaction() as connection:
            settled = self._settle(connection)
            self._bury(connection, now)
            self._refuse_beside(connection, lease, now)
            number = fetch.value(connection, table.INSERT, (kind, title, lease, process, now, now))
            connection.execute(table.PRUNE, (KEPT,))
        self._forget(settled)
        return int(number)

    def _bury(self, connection: apsw.Connection, now: int) -> None:
        """Mark as failed what ended without a word; its lease is free then."""
        for row in fetch.rows(connection, table.RUNNING):
            if row[0] not in self._live and is_gone(row[5], row[7], now):
                heard = last_heard(row[6], row[7], now)
                connection.execute(table.BURY, (heard, ENDED_SILENTLY, kind_of(row[1]).again, row[0]))

    def _refuse_beside(self, connection: apsw.Connection, lease: str | None, now: int) -> None:
        for row in fetch.rows(connection, table.RUNNING):
            if row[4] == lease and lease is not None:
                raise _runs_already(job_row(row, now))
            if SCRUB_LEASE in (row[4], lease):
                raise beside_scrub(job_row(row, now))

    def _end(self, job: Job, status: Status, outcome: str, error: str = "", hint: str = "") -> None:
        job.close()
        redactor = self._log.redactor if job.recorded else None

        def text(said: str, most: int = 2000) -> str:
            return said if redactor is None else stored(said, redactor, most)

        now = from_micros(self._micros())
        row = msgspec.structs.replace(
            job.row(),
            status=status,
            heartbeat_at=now,
            finished_at=now,
            note=text(job.place[2], 500) if status != "done" else "",
            outcome=text(outcome, OUTCOME_CHARS),
            error=text(error),
            hint=text(hint),
        )
        if row.recorded:
            try:
                with self._log.database.transaction() as connection:
                    connection.execute(table.END, _values(row))
            except (StorageError, apsw.Error) as problem:
                why = problem.message if isinstance(problem, StorageError) else str(problem)
                job.remark = f"the end of this job could not be noted in the list of jobs: {why}"
                self._keep(row)
        else:
            self._keep(row)
        with self._lock:
            self._live.pop(job.id, None)
            self.turns += 1
        job.ended.set()
        self._tell()

    def _keep(self, row: JobRow) -> None:
        with self._lock:
            self._ended[row.id] = row
            unrecorded = [number for number in self._ended if number < 0]
            for number in unrecorded[:-_UNRECORDED_KEPT]:
                del self._ended[number]

    def _settle(self, connection: apsw.Connection) -> list[int]:
        """Write down the outcomes that could not be written before; they are kept until that is committed."""
        unwritten = [row for row in list(self._ended.values()) if row.recorded]
        for row in unwritten:
            connection.execute(table.END, _values(row))
        return [row.id for row in unwritten]

    def _forget(self, written: list[int]) -> None:
        with self._lock:
            for number in written:
                self._ended.pop(number, None)

    def note_ended(self, kind: str, title: str, *, began: datetime, outcome: str) -> bool:
        """Note what ended well before it could be a job: a migration makes the list of jobs itself.

        Whether it was noted; nothing is raised, as the work is done.
        """
        redactor = self._log.redactor
        now, process = self._micros(), this_process().as_text()
        started = min(to_micros(began), now)
        title, outcome = stored(line(title), redactor), stored(outcome, redactor, OUTCOME_CHARS)
        try:
            with self._log.database.transaction() as connection:
                number = fetch.value(connection, table.INSERT, (kind, title, None, process, started, now))
                connection.execute(table.END, ("done", now, now, 0, None, "", outcome, "", "", number))
        except StorageError:
            return False
        return True

    def being_scrubbed(self) -> bool:
        """Whether some program takes secrets out of the workspace: nothing else can be written then."""
        return running_scrub(self._log, self._micros()) is not None

    # -- stopping --------------------------------------------------------------------------

    def stop(self, number: int) -> JobRow:
        """Ask a job of any program to stop; it does so after the transaction that it is in.

        Asking twice is fine. Raises `JobNotFound`, `JobEnded`, `DatabaseReadOnly`, `DatabaseLocked`.
        """
        job = self._live.get(number)
        if job is not None:
            job.stop()
            if job.recorded:
                # The others see that it is stopping; it is, whether or not they do.
                with suppress(StorageError), self._log.database.transaction() as connection:
                    connection.execute(table.ASK_TO_STOP, (number,))
            return job.row()
        row = self.get(number)
        if row is None:
            raise JobNotFound(f"there is no job {number}", hint="list them with: workbench jobs")
        if not row.running:
            raise JobEnded(f"job {number} runs no more: {row.status}", hint="list them with: workbench jobs")
        with self._log.database.transaction() as connection:
            connection.execute(table.ASK_TO_STOP, (number,))
        return msgspec.structs.replace(row, stop_asked=True)

    def leave(self, seconds: float) -> None:
        """The program ends: ask its jobs to stop, and wait for them for at most so long."""
        jobs = list(self._live.values())
        for job in jobs:
            job.stop()
        until = monotonic() + seconds
        for job in jobs:
            job.ended.wait(max(0.0, until - monotonic()))
        if any(row.recorded for row in list(self._ended.values())):
            with suppress(StorageError):
                with self._log.database.transaction() as connection:
                    settled = self._settle(connection)
                self._forget(settled)

    # -- watching --------------------------------------------------------------------------

    def listen(self, listener: Callable[[], object] | None) -> None:
        """Call `listener`, from any thread, when a job of this program begins, moves (at most ten times a
        second) or ends."""
        self._listener = listener

    def _tell(self) -> None:
        listener = self._listener
        if listener is not None:
            listener()

    def live(self) -> tuple[JobRow, ...]:
        """The jobs that this program runs, the oldest first; from memory."""
        with self._lock:
            jobs = list(self._live.values())
        return tuple(job.row() for job in jobs)

    def fresh(self, row: JobRow) -> JobRow:
        """The row as this program knows it, from memory; another program's as it is."""
        return self._known(row.id) or row

    def _known(self, number: int) -> JobRow | None:
        # In this order: what is no longer among the ones that run has been kept before.
        job, ended = self._live.get(number), self._ended.get(number)
        return ended or (None if job is None else job.row())

    # -- reading ---------------------------------------------------------------------------

    def page(self, limit: int, *, after: JobRow | None = None, before: JobRow | None = None) -> list[JobRow]:
        """Up to `limit` jobs that follow `after` in the list, or that stand just before `before`.

        Running jobs first, then the others, each newest first. With neither, the first ones.
        """
        with self._log.reader() as connection:
            top, dead = self._top(connection)
            if before is not None:
                return self._before(connection, top, dead, _key(before), limit)
            key = (-1, -_LAST) if after is None else _key(after)
            rows = [row for row in top if _key(row) > key][:limit]
            bound = -key[1] if key[0] == 2 else _LAST
            room = limit - len(rows)
            ended = self._rows(fetch.rows(connection, table.ENDED_BEFORE, (bound, room))) if room else []
        ended += [row for row in dead if row.id < bound]
        ended.sort(key=_key)
        return rows + ended[:room]

    def _before(
        self, connection: apsw.Connection, top: list[JobRow], dead: list[JobRow], key: Key, limit: int
    ) -> list[JobRow]:
        ended: list[JobRow] = []
        if key[0] == 2:
            number = -key[1]
            ended = self._rows(fetch.rows(connection, table.ENDED_AFTER, (number, limit)))
            ended += [row for row in dead if row.id > number]
            ended.sort(key=_key)
        above = [row for row in top if _key(row) < key]
        return [*above, *ended][-limit:]

    def get(self, number: int) -> JobRow | None:
        """One job, or None."""
        known = self._known(number)
        if known is not None:
            return known
        with self._log.reader() as connection:
            row = fetch.row(connection, table.ONE, (number,))
        return None if row is None else job_row(row, self._micros())

    def count(self) -> int:
        """How many jobs the list has."""
        with self._log.reader() as connection:
            stored_jobs = int(fetch.value(connection, table.COUNT))
        return stored_jobs + len(self._unrecorded_rows())

    def rank(self, row: JobRow) -> int:
        """How many jobs stand before this one in the list."""
        return len(self.page(_LAST_RANK, before=row))

    def _top(self, connection: apsw.Connection) -> tuple[list[JobRow], list[JobRow]]:
        """What stands above the ended jobs, in order, and what only seems to run."""
        stored_rows = self._rows(fetch.rows(connection, table.RUNNING))
        running = [row for row in stored_rows if row.running]
        top = sorted([*self._unrecorded_rows(), *running], key=_key)
        return top, [row for row in stored_rows if not row.running]

    def _unrecorded_rows(self) -> list[JobRow]:
        with self._lock:
            # Between its last word and its end a job is in both.
            rows = {number: job.row() for number, job in self._live.items() if number < 0}
            return list((rows | {n: row for n, row in self._ended.items() if n < 0}).values())

    def _rows(self, found: list[Any]) -> list[JobRow]:
        now = self._micros()
        return [self.fresh(job_row(row, now)) for row in found]


_LAST_RANK = 2 * KEPT
"""More than there are: the table is pruned."""


def _key(row: JobRow) -> Key:
    """A job's place in the list, ascending."""
    if row.id < 0:
        return 0, row.id
    return (1 if row.running else 2), -row.id


def _values(row: JobRow) -> tuple[Any, ...]:
    finished = None if row.finished_at is None else to_micros(row.finished_at)
    beat = to_micros(row.heartbeat_at)
    texts = (row.note, row.outcome, row.error, row.hint)
    return (row.status, beat, finished, row.done, row.total, *texts, row.id)


def _runs_already(row: JobRow) -> JobRunning:
    process = Process.from_text(row.process)
    where = "" if process is None else f" in process {process.pid} on {process.host}"
    since = row.started_at.strftime(_MOMENT)
    hint = f"wait for it, or stop it with: workbench jobs stop {row.id}"
    if not is_visible(process):
        there = "its machine" if process is None else process.host
        until = row.heartbeat_at + timedelta(microseconds=SILENT_MICROS)
        hint += (
            f"; where nothing on {there} runs it any more, try again after {until.strftime(_MOMENT)}: "
            "by then its place is free"
        )
    return JobRunning(f"“{row.title}” runs already, since {since}{where}", hint=hint, job=row)


_MOMENT = "%Y-%m-%d %H:%M:%S UTC"

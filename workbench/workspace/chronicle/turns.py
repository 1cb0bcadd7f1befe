"""Taking turns at a chronicle by way of the list of jobs (contract log-and-chronicle, "Ours").

Whoever draws is a job with the lease `chronicle/<stream>`: other programs see it, wait for it, can stop it,
and its place is free once its program is gone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from workbench.chronicle.leases import AlreadyConsolidating
from workbench.chronicle.sections import Anchor
from workbench.chronicle.summarizers.command import DRAWING
from workbench.chronicle.summarizers.errors import SummarizerCancelled, SummarizerError
from workbench.errors import WorkbenchError
from workbench.log.times import from_micros
from workbench.workspace.errors import Cancelled
from workbench.workspace.jobs.errors import JobRunning
from workbench.workspace.jobs.processes import Process, ancestors, is_visible

if TYPE_CHECKING:
    from workbench.workspace.jobs.job import Job
    from workbench.workspace.jobs.jobs import Jobs

KIND = "chronicle"
WAITING = "waiting for "
"""How the note begins that `progress` gets while another one has the turn; who that is follows."""
LOOK_SECONDS = 0.2
"""Between two looks at whether the other one is done."""

Progress = Callable[[int, int | None, str], None]
"""Takes (events done, events in reach or None, what is being written)."""


class Again(NamedTuple):
    """When what failed is tried again."""

    at: int
    """In microseconds since 1970."""
    failures: int
    """So often it has failed, without a success in between."""


class Failure(NamedTuple):
    """What kept a stream's chronicle from being written on."""

    stream: str
    at: tuple[int, int] | None
    """The range, both ends inside, that was being written; None where nothing was begun."""
    error: WorkbenchError
    """Its message says why, its hint what to do."""


class Turn:
    """One call's turn at one chronicle: hand `lease`, `progress` and `cancelled` to what does the work."""

    def __init__(
        self,
        jobs: Jobs,
        title: str,
        *,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._jobs = jobs
        self.title = title
        self.patient = True
        """Whether it waits for another one that does the same, instead of raising `JobRunning`."""
        self.told: Callable[[], Again] | None = None
        """Asked when what failed is tried again."""
        self.command = ""
        """What a person runs to try at once what failed; empty where that is another call."""
        self._progress = progress
        self._cancelled = cancelled
        self._job: Job | None = None
        self.stopped = False
        """Whether somebody wanted it to stop."""
        self.anchors: list[Anchor] = []
        """Of the sections that were stored."""
        self.outcome = ""
        """What the list of jobs says of it, if not how many sections were written."""
        self.began = False
        """Whether its turn came."""

    @contextmanager
    def lease(self, name: str) -> Iterator[None]:
        """Run the block as the job that has the name; raises `Cancelled` while it waits for another one."""
        with ExitStack() as held:
            job = self._job = self._begin(name, held)
            self.began = True
            try:
                yield
            except SummarizerCancelled as error:
                self.stopped = True
                raise Cancelled(error.message, hint=error.hint) from error
            except WorkbenchError as error:
                if not self.stopped:
                    error.hint = "; ".join(filter(None, (error.hint, *self._what_next(error))))
                raise
            finally:
                self._job = None
                job.finish(self.outcome or counted(len(self.anchors), "written"))
                if self.stopped:
                    job.status = "stopped"

    def _what_next(self, error: WorkbenchError) -> Iterator[str]:
        """What comes of a failure, and what can be done about it."""
        if self.command and isinstance(error, SummarizerError):
            yield f"try it at once with: {self.command}"
            yield "what failed before is in: workbench jobs"
        if self.told is not None:
            again = self.told()
            at = from_micros(again.at).strftime("%Y-%m-%d %H:%M:%S UTC")
            yield f"it has failed {again.failures} times in a row" if again.failures > 1 else ""
            yield f"it is tried again at {at}"

    def _begin(self, name: str, held: ExitStack) -> Job:
        while True:
            run = self._jobs.run(
                KIND, self.title, lease=name, progress=self._progress, cancelled=self._cancelled
            )
            try:
                return held.enter_context(run)
            except JobRunning as error:
                _refuse_own_waiter(name, error)
                if not self.patient:
                    raise
                self._wait(error)

    def _wait(self, error: JobRunning) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled("it was stopped while it waited for another one that writes the same") from error
        if self._progress is not None:
            self._progress(0, None, f"{WAITING}{_who(error)}")
        Event().wait(LOOK_SECONDS)

    def progress(self, done: int, total: int | None, note: str) -> None:
        """Say how far it is, to the list of jobs and the caller."""
        if self._job is not None:
            self._job.progress(done, total, note)

    def cancelled(self) -> bool:
        """Whether the caller or somebody at the list of jobs wants it to stop.

        It is asked while a program or a model is waited for, and so it says that the job is alive.
        """
        job = self._job
        if job is None:
            return self.stopped
        job.alive()
        self.stopped = self.stopped or job.cancelled()
        return self.stopped


def _who(error: JobRunning) -> str:
    job = error.job
    if job is None:
        return error.message
    process = Process.from_text(job.process)
    where = "" if process is None else f", process {process.pid}"
    elsewhere = "" if process is None or is_visible(process) else f" on {process.host}"
    return f"“{job.title}” (job {job.id}{where}{elsewhere})"


def _refuse_own_waiter(name: str, error: JobRunning) -> None:
    """Raise `AlreadyConsolidating` where the job that holds the lease waits for this very process."""
    process = Process.from_text(error.job.process) if error.job is not None else None
    if process is None or not is_visible(process):
        return
    waiting = os.environ.get(DRAWING, "").split()
    if str(process.pid) in waiting or process.pid in ancestors():
        raise AlreadyConsolidating(
            f"{name} is being written by process {process.pid}, which waits for the program that asks for it",
            hint="a summarizer reads the events that it is given, and consolidates nothing itself",
        ) from error


def counted(sections: int, done: str) -> str:
    """So many sections, and what became of them."""
    return f"1 section {done}" if sections == 1 else f"{sections} sections {done}"


@contextmanager
def suppress_stop(turn: Turn) -> Iterator[None]:
    """A draw that was stopped half-way ends the block, as being asked between two draws does."""
    try:
        yield
    except Cancelled:
        if not turn.began:
            raise

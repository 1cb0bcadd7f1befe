"""A rescan, a scrub or a look into the backups, as a job: it goes on while its dialog is closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypeAlias

from workbench.workspace.redactions import LEASE

if TYPE_CHECKING:
    from workbench.tui.shell import Shell
    from workbench.workspace import Workspace
    from workbench.workspace.jobs.job import Job
    from workbench.workspace.redactions.backups import BackupState
    from workbench.workspace.redactions.report import Rescan

LookKind: TypeAlias = Literal["rescan", "scrub", "look into backups"]

TITLES: dict[LookKind, str] = {
    "rescan": "look through what is stored",
    "scrub": "take secrets out of what is stored",
    "look into backups": "look into the backups",
}
_TELL_SECONDS = 0.1
_NAMED = 20
"""Backups that an outcome names; more are counted."""


class LookJob:
    """Runs once. All but the work itself happens on the UI thread; `changed` and `ended` are called there."""

    def __init__(
        self,
        app: Shell,
        workspace: Workspace,
        kind: LookKind,
        ended: Callable[[LookJob], Awaitable[None]],
    ) -> None:
        self._app = app
        self._workspace = workspace
        self._stop = threading.Event()
        self._ended = ended
        self.kind = kind
        self.done = 0
        self.total: int | None = None
        """Thousandths, mostly."""
        self.note = ""
        """What it is looking at."""
        self.running = False
        self.report: Rescan | None = None
        """Of a rescan or, as `Scrubbed`, of a scrub."""
        self.backups: list[BackupState] | None = None
        """What is known of the copies of the database."""
        self.error: Exception | None = None
        self.changed: Callable[[], None] | None = None
        """Who wants to know how far it is."""
        self.watched = False
        """A dialog shows it, or is about to."""

    @property
    def stopping(self) -> bool:
        """It was asked to stop."""
        return self._stop.is_set()

    def start(self) -> None:
        """Begin; the footer shows the progress, and leaving the program asks first."""
        self.running = True
        self._app.run_worker(
            self._run(),
            name=self.kind,
            group=f"redactions-{self.kind}",
            description=TITLES[self.kind],
            exit_on_error=False,
        )

    def stop(self) -> None:
        """Ask it to stop. A scrub that has begun to write goes on."""
        self._stop.set()
        self._tell()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            await asyncio.to_thread(self._work, loop)
        except Exception as error:
            self.error = error
        finally:
            self.running = False
        await self._ended(self)
        self._tell()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        from workbench.workspace.redactions.outcomes import rescan_outcome, scrub_outcome

        told = 0.0

        def show(done: int, total: int | None, note: str) -> None:
            self.done, self.total, self.note = done, total, note
            if self.running:
                self._tell()

        def progress(done: int, total: int | None, note: str) -> None:
            nonlocal told
            if monotonic() - told >= _TELL_SECONDS or done == total:
                told = monotonic()
                loop.call_soon_threadsafe(show, done, total, note)

        workspace = self._workspace
        # A rescan does not stand in the way of other work; nothing may run beside a scrub.
        lease = LEASE if self.kind == "scrub" else None
        with workspace.jobs.run(
            self.kind, TITLES[self.kind], lease=lease, progress=progress, cancelled=self._stop.is_set
        ) as job:
            if self.kind == "rescan":
                self.report = workspace.rescan(progress=job.progress, cancelled=job.cancelled)
                job.finish(rescan_outcome(self.report, workspace.root))
            elif self.kind == "scrub":
                scrubbed = workspace.scrub(progress=job.progress, cancelled=job.cancelled)
                self.report = scrubbed
                job.finish(scrub_outcome(scrubbed, workspace.root))
            else:
                self.backups = look_into_backups(workspace, job)
                job.finish(backups_outcome(self.backups, workspace.root))
        if self.report is not None:
            self.backups = self.report.backups

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()


def backups_outcome(states: Sequence[BackupState], root: Path) -> str:
    """What a look into the backups of the workspace at `root` found, a line for each that needs a person."""
    from workbench.tui.present import counted
    from workbench.workspace.redactions.outcomes import backups_words, path_in, state_words

    if not states:
        return "there are no backups"
    lines = [f"of the backups, {backups_words(states)}"]
    holding = [state for state in states if state.holds is not False]
    lines += [f"warning: {path_in(root, each.path)} {state_words(each)}" for each in holding[:_NAMED]]
    if len(holding) > _NAMED:
        lines.append(f"and {counted(len(holding) - _NAMED, 'more copy', 'more copies')}")
    return "\n".join(lines)


def look_into_backups(workspace: Workspace, job: Job) -> list[BackupState]:
    """Whether each copy of the database holds what today's filter takes out.

    Raises `Cancelled` where the job is stopped.
    """
    from workbench.redaction import default_filter
    from workbench.workspace.errors import Cancelled
    from workbench.workspace.redactions.backups import backup_state, backups

    log = workspace.log
    there = backups(workspace.layout)
    states: list[BackupState] = []
    for at, path in enumerate(there):

        def looked(position: int, upto: int, at: int = at, name: str = path.name) -> None:
            if job.cancelled():
                raise Cancelled("the look into the backups was stopped; nothing was changed")
            job.progress(1000 * at + 1000 * position // max(1, upto), 1000 * len(there), name)

        looked(0, 1)
        states.append(backup_state(path, default_filter(), log.registry, looked))
    return states

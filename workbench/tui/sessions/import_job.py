"""One import of transcripts, run as a job of the program: it goes on while its dialog is closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from workbench.tui.present import counted, one_line, size

if TYPE_CHECKING:
    from workbench.imports.report import ImportReport
    from workbench.tui.shell import Shell
    from workbench.workspace import Workspace

_TELL_SECONDS = 0.1


class ImportJob:
    """Runs until it ends; `again` runs it anew after an error.

    Everything but the work itself happens on the UI thread; `changed` is called there.
    """

    def __init__(self, app: Shell, workspace: Workspace, paths: Sequence[Path]) -> None:
        self._app = app
        self._workspace = workspace
        self._paths = list(paths)
        self._stop = threading.Event()
        self.done = 0
        """Bytes read."""
        self.total: int | None = None
        self.acta = 0
        """Acta added so far."""
        self.note = ""
        """The file that is being read."""
        self.running = False
        self.report: ImportReport | None = None
        self.error: Exception | None = None
        self.changed: Callable[[], None] | None = None
        """Who wants to know; None while nobody looks."""

    @property
    def files(self) -> int:
        """Transcripts that were chosen."""
        return len(self._paths)

    @property
    def stopping(self) -> bool:
        """It was asked to stop, and does so after the transaction that it is in."""
        return self._stop.is_set()

    def start(self) -> None:
        """Begin; the program's footer shows the progress, and leaving the program asks first."""
        self.running = True
        self._app.run_worker(
            self._run(),
            name="import",
            group="import",
            description="Importing transcripts",
            exit_on_error=False,
        )

    def again(self) -> None:
        """Begin anew; what was added before is found to be there already."""
        if self.running:
            return
        # It may have been opened anew meanwhile.
        self._workspace = self._app.workspace or self._workspace
        self._stop = threading.Event()
        self.done, self.total, self.acta, self.note = 0, None, 0, ""
        self.report = self.error = None
        self.start()
        self._tell()

    def stop(self) -> None:
        """Ask it to stop; what was committed stays."""
        self._stop.set()
        self._tell()

    async def _run(self) -> None:
        loop, stop = asyncio.get_running_loop(), self._stop
        try:
            self.report = await asyncio.to_thread(self._work, loop)
        except Exception as error:
            self.error = error
        finally:
            stop.set()
            self.running = False
        if self.changed is not None:
            self.changed()
        elif self.error is not None:
            self._app.show_failure(self.error, "The import ended early", retry=self.again)
        elif self.report is not None:
            self._app.notify(summary(self.report), title="Import")

    def _work(self, loop: asyncio.AbstractEventLoop) -> ImportReport:
        from workbench.workspace.jobs.outcomes import import_outcome

        told = 0.0
        acta = 0

        def show(done: int, total: int | None, acta: int, note: str) -> None:
            self.done, self.total, self.acta, self.note = done, total, acta, note
            if self.running:
                self._tell()

        def progress(done: int, total: int | None, note: str) -> None:
            nonlocal told
            if monotonic() - told >= _TELL_SECONDS or done == total:
                told = monotonic()
                loop.call_soon_threadsafe(show, done, total, acta, note)

        def added(so_far: int) -> None:
            nonlocal acta
            acta = so_far

        title = f"import {counted(self.files, 'transcript')}"
        with self._workspace.jobs.run("import", title, progress=progress, cancelled=self._stop.is_set) as job:

            def cancelled() -> bool:
                # Another program may have asked, too.
                if job.cancelled():
                    self._stop.set()
                return self._stop.is_set()

            report = self._workspace.import_transcripts(
                None, self._paths, progress=job.progress, added=added, cancelled=cancelled
            )
            job.finish(import_outcome(report), stopped=report.cancelled)
        return report

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()


def summary(report: ImportReport) -> str:
    """One sentence: what was added, what was there already, what could not be read."""
    totals = report.totals
    parts = [
        f"{counted(totals['acta_added'], 'actum', 'acta')} added to {counted(report.sessions_fed, 'session')}"
    ]
    if totals["duplicates"]:
        parts.append(counted(totals["duplicates"], "duplicate"))
    if totals["problems"]:
        parts.append(counted(totals["problems"], "problem"))
    removed = sum(sum(each.redactions.values()) for each in report.sessions)
    if removed:
        parts.append(f"{counted(removed, 'secret')} removed before storing")
    return ("Stopped early: " if report.cancelled else "") + ", ".join(parts) + "."


def progress_text(job: ImportJob, width: int) -> str:
    """A bar, the bytes and the acta that were added, in at most `width` cells."""
    whole = job.total or 0
    share = min(1.0, job.done / whole) if whole else 0.0
    numbers = f" {size(job.done)} of {size(whole)}" if whole else ""
    numbers += f" · {counted(job.acta, 'actum', 'acta')} added"
    room = max(8, min(40, width - len(numbers) - 8))
    filled = round(share * room)
    bar = "█" * filled + "░" * (room - filled)
    return one_line(f"{bar} {round(share * 100):>3} %{numbers}", width)

"""Running long calls of a workspace beside the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.workspace.errors import Cancelled

if TYPE_CHECKING:
    from workbench.tui.shell import Shell
    from workbench.workspace import Workspace
    from workbench.workspace.jobs.job import Job


def run_beside(
    app: Shell,
    workspace: Workspace,
    kind: str,
    title: str,
    work: Callable[[Job], str],
    tell: Callable[[str], object],
    *,
    lease: str | None = None,
) -> None:
    """Run `work` as a job on a thread of its own; its answer is the job's outcome.

    `tell` gets, on that thread, the first line of what became of it. Errors reach the person as every
    worker's do.
    """

    def run() -> None:
        job: Job | None = None
        try:
            with workspace.jobs.run(kind, title, lease=lease) as job:
                job.finish(work(job))
        except Cancelled as error:
            tell(error.message)
            return
        tell(job.outcome.partition("\n")[0])
        if job.remark:
            tell(job.remark)

    app.run_worker(run, name=kind, group=f"job-{kind}", description=title, exit_on_error=False, thread=True)


def examine(workspace: Workspace, job: Job) -> str:
    """The whole examination; its findings are the outcome."""
    from workbench.workspace.jobs.outcomes import doctor_outcome

    return doctor_outcome(workspace.doctor(progress=job.progress, cancelled=job.cancelled))


def export(workspace: Workspace, path: Path, job: Job) -> str:
    """Every event into a file."""
    from workbench.tui.present import counted
    from workbench.workspace.copies import copies_kept
    from workbench.workspace.transfer import export_file

    events = export_file(
        workspace.log, path, layout=workspace.layout, progress=job.progress, cancelled=job.cancelled
    )
    copies = copies_kept(workspace.layout.artifacts)
    beside = f"; {counted(copies, 'copy', 'copies')} of evidence in artifacts not with them" if copies else ""
    return f"{counted(events, 'event')} written to {path}{beside}"

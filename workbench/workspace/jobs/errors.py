"""What can be wrong with asking for a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.workspace.jobs.rows import JobRow


class JobRunning(WorkbenchError):
    """Another job holds the lease; nothing was begun."""

    code = "job_running"
    retryable = True

    def __init__(self, message: str = "", *, hint: str = "", job: JobRow | None = None) -> None:
        super().__init__(message, hint=hint)
        self.job = job
        """The one that runs."""


class JobNotFound(WorkbenchError):
    """There is no job of this number; old ones are forgotten."""

    code = "job_not_found"


class JobEnded(WorkbenchError):
    """The job runs no more, so it cannot be stopped."""

    code = "job_ended"

"""What can be wrong with asking for a job."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class JobRunning(WorkbenchError):
    """Another job holds the lease; nothing was begun."""

    code = "job_running"
    retryable = True


class JobNotFound(WorkbenchError):
    """There is no job of this number; old ones are forgotten."""

    code = "job_not_found"


class JobEnded(WorkbenchError):
    """The job runs no more, so it cannot be stopped."""

    code = "job_ended"

"""The one job beside which nothing else runs: while a workspace is scrubbed, everything else waits for it.

(contract redaction, "Rescan and scrub")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.storage import fetch
from workbench.workspace.jobs import table
from workbench.workspace.jobs.errors import JobRunning
from workbench.workspace.jobs.rows import JobRow, job_row
from workbench.workspace.redactions import LEASE as SCRUB_LEASE

if TYPE_CHECKING:
    from workbench.log.event_log import EventLog


def beside_scrub(row: JobRow) -> JobRunning:
    """Why a job cannot begin beside the running one, of which either this or that is a scrub."""
    since = row.started_at.strftime("%Y-%m-%d %H:%M:%S UTC")
    hint = f"wait for it, or stop it with: workbench jobs stop {row.id}"
    if row.lease == SCRUB_LEASE:
        return JobRunning(f"the workspace is being scrubbed, since {since}", hint=hint, job=row)
    return JobRunning(
        f"“{row.title}” runs, since {since}, and a scrub needs the workspace for itself", hint=hint, job=row
    )


def running_scrub(log: EventLog, now: int) -> JobRow | None:
    """The scrub that some program runs, as far as the list of jobs says; `now` in microseconds."""
    with log.reader() as connection:
        rows = [job_row(row, now) for row in fetch.rows(connection, table.RUNNING)]
    return next((row for row in rows if row.lease == SCRUB_LEASE and row.running), None)


def refuse_while_scrubbed(log: EventLog, now: int) -> None:
    """Raise `JobRunning` if a scrub holds the database: what would begin now would read what goes."""
    row = running_scrub(log, now)
    if row is not None:
        raise beside_scrub(row)


__all__ = ["SCRUB_LEASE", "beside_scrub", "refuse_while_scrubbed", "running_scrub"]

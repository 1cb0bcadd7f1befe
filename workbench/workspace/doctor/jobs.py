"""Whether every row of the list of jobs can be read (contract workspace, "Jobs")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import apsw

from workbench.log.event_log import EventLog
from workbench.workspace.doctor.objects import objects
from workbench.workspace.doctor.order import EARLIEST, LATEST
from workbench.workspace.doctor.report import Commands, Finding, Noted
from workbench.workspace.jobs.rows import Status

_IN_TIME = f"BETWEEN {EARLIEST} AND {LATEST}"
_TEXTS = ("kind", "title", "status", "process", "note", "outcome", "error", "hint")
_ENDED = ", ".join(f"'{status}'" for status in get_args(Status) if status != "running")

# In a damaged file a column may hold anything, whatever its table was declared to hold.
_RIGHT = " AND ".join(
    (
        "job_id > 0",
        *(f"typeof({name}) = 'text'" for name in _TEXTS),
        "typeof(lease) IN ('text', 'null')",
        *(f"typeof({name}) = 'integer' AND {name} {_IN_TIME}" for name in ("started_at", "heartbeat_at")),
        f"(finished_at IS NULL OR typeof(finished_at) = 'integer' AND finished_at {_IN_TIME})",
        "typeof(done) = 'integer' AND done >= 0",
        "(total IS NULL OR typeof(total) = 'integer' AND total >= 0)",
        "typeof(stop_asked) = 'integer'",
        # One that has ended without an end would keep its lease for ever.
        f"(status = 'running' AND finished_at IS NULL OR status IN ({_ENDED}) AND finished_at IS NOT NULL)",
    )
)
_ROWS = (
    f"SELECT job_id, {_RIGHT}, "
    + ", ".join(f"CAST({name} AS BLOB)" for name in (*_TEXTS, "lease"))
    + " FROM jobs NOT INDEXED ORDER BY job_id"
)


def unreadable(connection: apsw.Connection) -> Iterator[int]:
    """The numbers of jobs whose rows hold what no program wrote."""
    for number, is_right, *texts in connection.execute(_ROWS):
        if not is_right or not all(map(_is_text, texts)):
            yield number


def jobs(connection: apsw.Connection, command: Commands) -> Iterator[Finding]:
    """Rows of the list of jobs that cannot be read."""
    noted = Noted()
    for number in unreadable(connection):
        noted.add(number)
    if noted:
        yield Finding(
            "critical",
            "job_unreadable",
            "The list of jobs holds rows that cannot be read, which can only be removed; "
            f"no event is touched by this: job {noted}.",
            command.fix,
        )


def remove_unreadable(connection: apsw.Connection) -> None:
    """Take those rows out of the list."""
    connection.executemany("DELETE FROM jobs WHERE job_id = ?", [(each,) for each in unreadable(connection)])


def can_run_jobs(log: EventLog, command: Commands) -> bool:
    """Whether the list of jobs is whole, so that an examination can be one of them."""
    with log.reader() as connection:
        try:
            # What has to be mended in the layout may well hang on the list of jobs.
            if objects(connection, command).steps:
                return False
            return next(unreadable(connection), None) is None
        except (apsw.SQLError, UnicodeDecodeError):
            return False


def _is_text(value: bytes | None) -> bool:
    try:
        (value or b"").decode()
    except UnicodeDecodeError:
        return False
    return True

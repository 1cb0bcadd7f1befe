"""A workspace whose database lacks something that can be laid out again, opened to be mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.log.readable import readable
from workbench.log.times import Clock
from workbench.redaction import default_filter
from workbench.storage import schema
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseDamaged
from workbench.workspace.doctor.mending import doctor
from workbench.workspace.doctor.report import DoctorReport, unopened
from workbench.workspace.doctor.stages import Progress
from workbench.workspace.folds import FOLDS, event_types
from workbench.workspace.layout import Layout
from workbench.workspace.migrations import HISTORY
from workbench.workspace.opening import refuse_missing


def doctor_of_refused(
    layout: Layout,
    error: DatabaseDamaged,
    *,
    fix: bool = False,
    clock: Clock | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> DoctorReport:
    """Examine, and with `fix` mend, a workspace that was refused for the reason in `error`.

    As long as the log's own tables are there, it can be read; projections and the list of jobs are made
    anew. Where they are not, the report says `error` alone. No job is noted. Raises what `doctor` raises.
    """
    try:
        with _log_alone(layout, read_only=not fix, clock=clock) as log:
            report = doctor(layout, log, fix=fix, clock=clock, progress=progress, cancelled=cancelled)
    except DatabaseDamaged as damage:
        return unopened(layout, damage)
    if report.ok and not report.mended:
        # Whatever kept it from being opened is nothing that was looked at.
        return unopened(layout, error)
    return report


@contextmanager
def _log_alone(layout: Layout, *, read_only: bool, clock: Clock | None) -> Iterator[EventLog]:
    """The log of a file that may lack any table but the log's own."""
    refuse_missing(layout)
    path = layout.database

    def check(connection: apsw.Connection) -> None:
        schema.check(connection, path, sqlite.SCHEMA, HISTORY)

    with readable(path):
        schema.refuse_foreign(path, check, HISTORY)
        database = Database(path, read_only=read_only)
    try:
        with readable(path), database.reader() as connection:
            check(connection)
        yield EventLog(
            database, FOLDS, event_types(), redactor=default_filter(), clock=clock, history=HISTORY
        )
    finally:
        database.close()

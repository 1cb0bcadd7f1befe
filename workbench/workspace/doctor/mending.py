"""An examination, and what is mended after it."""

from __future__ import annotations

import logging
from collections.abc import Callable

import apsw
import msgspec

from workbench.chronicle.fulltext import read_in
from workbench.chronicle.tables import SEARCH
from workbench.log import leftovers
from workbench.log.event_log import EventLog
from workbench.log.inline_rebuild import rebuild
from workbench.log.replay import ReplayCancelled
from workbench.log.times import Clock, now_micros, to_micros
from workbench.storage.errors import DatabaseReadOnly
from workbench.workspace.doctor.artifact_mending import ARTIFACT_CODES, mend_artifacts
from workbench.workspace.doctor.examination import Examination
from workbench.workspace.doctor.jobs import remove_unreadable
from workbench.workspace.doctor.laying import run_steps
from workbench.workspace.doctor.objects import CODES
from workbench.workspace.doctor.order import BY_STREAM, mend_last_seq
from workbench.workspace.doctor.permissions import mend_permissions
from workbench.workspace.doctor.report import DoctorReport, Finding, report
from workbench.workspace.doctor.stages import Progress, Watch
from workbench.workspace.errors import Cancelled
from workbench.workspace.layout import Layout

logger = logging.getLogger(__name__)


def doctor(
    layout: Layout,
    log: EventLog,
    *,
    fix: bool = False,
    clock: Clock | None = None,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> DoctorReport:
    """Look at everything; with `fix`, mend what can be mended without loss, and look at that again.

    The log may be in use, here and in other programs. Memory does not grow with the workspace: a replay
    goes to a temporary file, up to as large as the projections, where SQLite puts those
    (`$SQLITE_TMPDIR`, `$TMPDIR`, else /var/tmp).

    Mended are permissions, artifacts that nothing names or that were purged, what killed programs left on
    its way to them, indexes, tables of what can be had again, triggers that are none of ours, rows
    of jobs that cannot be read, what rebuilds left behind, where streams are said to end, and projections,
    which are built again beside the log in use. Events and what they name never are, and nothing in the
    database where its structure is damaged.

    Raises `DatabaseReadOnly` for a fix of what is open for reading, `Cancelled`, `DiskFull`, and the
    storage errors of reads and writes.
    """
    if fix and log.read_only:
        raise DatabaseReadOnly(f"{log.path} is open read-only", hint="look without --fix")
    now = now_micros if clock is None else lambda: to_micros(clock())
    watch = Watch(progress, cancelled)
    with Examination(layout, log, now, watch) as examination:
        examination.run()
        before, laid = examination.findings, examination.laid
        if not fix:
            return report(before)
        _mend(layout, log, examination, watch)
        left, refused = examination.findings, examination.refused
        still = {finding.code for finding in left}
        mended: list[Finding] = []
        for each in before:
            about = laid.about.get(each)
            if each.code in still and (each.code not in _ONE_BY_ONE or each in left):
                continue
            if about is None:
                mended.append(each)
            elif about.name not in refused:
                mended.append(msgspec.structs.replace(each, meaning=about.done))
        return report(left, mended)


_ONE_BY_ONE = CODES | {"fold_differs", "permissions_open"}
"""Of findings of which some may be mended and others left."""


def _mend(layout: Layout, log: EventLog, examination: Examination, watch: Watch) -> None:
    codes = {finding.code for finding in examination.findings}
    if codes & {"permissions_open", "permissions_locked"}:
        mend_permissions(layout)
        examination.permissions()
        if "permissions_locked" in codes:
            examination.artifacts()
    if not examination.sound or "fold_set_differs" in codes:
        return
    if examination.laid.steps:
        missing = examination.laid.missing
        examination.refused = run_steps(log.path, examination.laid.steps, watch)
        unordered = BY_STREAM in missing
        if SEARCH in missing and SEARCH not in examination.refused:
            with log.database.transaction() as connection:
                read_in(connection)
        examination.objects()
        if unordered:
            examination.streams()
        examination.jobs()
    if "job_unreadable" in codes:
        with log.database.transaction() as connection:
            remove_unreadable(connection)
        examination.jobs()
    codes = {finding.code for finding in examination.findings}
    # Where the end of the log is gone, what is said of it elsewhere is all that is left to tell.
    if "log_truncated" in codes:
        return
    if codes & ARTIFACT_CODES and examination.evidence is not None:
        mend_artifacts(layout, log, examination.evidence)
        examination.artifacts()
    if "last_seq_differs" in codes:
        with log.database.transaction() as connection:
            mend_last_seq(connection)
        examination.streams()
    if "rebuild_leftovers" in codes:
        leftovers.discard(log.database)
        examination.leftovers()
    if examination.rebuilds:
        watch.stage("replaying events")
        try:
            rebuild(
                log.database,
                examination.rebuilds,
                log.decoder,
                progress=watch.step,
                cancelled=watch.is_cancelled,
            )
        except ReplayCancelled as error:
            raise Cancelled("stopped before the projections were built again") from error
        except (apsw.SQLError, apsw.ConstraintError) as error:
            # What stands in the way is still found below.
            logger.info("the projections of %s were not built again: %s", log.path, error)
        if "fold_damaged" in codes:
            examination.structure()
        examination.objects()
        examination.folds()

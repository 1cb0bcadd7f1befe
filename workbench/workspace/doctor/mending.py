"""An examination, and what is mended after it."""

from __future__ import annotations

from collections.abc import Callable

from workbench.log import leftovers
from workbench.log.event_log import EventLog
from workbench.log.inline_rebuild import rebuild
from workbench.log.replay import ReplayCancelled
from workbench.log.times import Clock, now_micros, to_micros
from workbench.storage.errors import DatabaseReadOnly
from workbench.workspace.doctor.examination import Examination
from workbench.workspace.doctor.order import mend_last_seq
from workbench.workspace.doctor.permissions import mend_permissions
from workbench.workspace.doctor.report import DoctorReport, report
from workbench.workspace.doctor.stages import Progress, Watch
from workbench.workspace.errors import Cancelled
from workbench.workspace.layout import Layout


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

    Mended are permissions, what rebuilds left behind, where streams are said to end, and projections,
    which are built again beside the log in use. Events and artifacts never are, and nothing in the
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
        before = examination.findings
        if not fix:
            return report(before)
        _mend(layout, log, examination, watch)
        left = examination.findings
        still = {finding.code for finding in left}
        return report(left, [finding for finding in before if finding.code not in still])


def _mend(layout: Layout, log: EventLog, examination: Examination, watch: Watch) -> None:
    codes = {finding.code for finding in examination.findings}
    if codes & {"permissions_open", "permissions_locked"}:
        mend_permissions(layout)
        examination.permissions()
        if "permissions_locked" in codes:
            examination.artifacts()
    # Where the end of the log is gone, what is said of it elsewhere is all that is left to tell.
    if not examination.sound or codes & {"fold_set_differs", "log_truncated"}:
        return
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
        if "fold_damaged" in codes:
            examination.structure()
        examination.folds()

"""Looking through all that is stored with today's filter; nothing is changed (contract redaction)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from workbench.log.event_log import EventLog
from workbench.log.times import now_micros
from workbench.redaction import SecretFilter
from workbench.workspace.errors import Cancelled
from workbench.workspace.layout import Layout
from workbench.workspace.redactions import files
from workbench.workspace.redactions.backups import backup_state, backups
from workbench.workspace.redactions.report import Rescan
from workbench.workspace.redactions.scan import EventScanner, other_texts
from workbench.workspace.redactions.versions import note_rescan

Progress = Callable[[int, int | None, str], object]
"""`progress(done, total, note)`: in thousandths of the whole, and what is being looked at."""

_SHARES = {"artifacts": 150, "events": 550, "old text": 100, "files": 50, "backups": 150}


class Steps:
    """Tells how far a rescan or a scrub is, and asks whether to go on."""

    def __init__(self, progress: Progress | None, cancelled: Callable[[], bool] | None, stopped: str) -> None:
        self._progress = progress
        self._cancelled = cancelled
        self._stopped = stopped
        self._base = 0
        self._share = 0
        self._note = ""

    def stage(self, name: str) -> None:
        """The next stage begins."""
        names = list(_SHARES)
        self._base = sum(_SHARES[before] for before in names[: names.index(name)])
        self._share, self._note = _SHARES[name], name
        self.step(0, 1)

    def step(self, done: int, total: int) -> None:
        """So far into the stage. Raises `Cancelled` if it should not go on."""
        if self._cancelled is not None and self._cancelled():
            raise Cancelled(self._stopped)

        if self._progress is not None:
            share = self._share * min(done, total) // max(total, 1)
            self._progress(self._base + share, sum(_SHARES.values()), self._note)

    def end(self) -> None:
        """Everything is done."""
        if self._progress is not None:
            self._progress(sum(_SHARES.values()), sum(_SHARES.values()), "")

    @contextmanager
    def gone_through(self) -> Iterator[None]:
        """What happens in the block cannot be stopped."""
        asked, self._cancelled = self._cancelled, None
        try:
            yield
        finally:
            self._cancelled = asked


def rescan(
    layout: Layout,
    log: EventLog,
    secrets: SecretFilter,
    *,
    micros: Callable[[], int] = now_micros,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Rescan:
    """What today's filter would take out of events, jobs, import states, artifacts, exports and backups.

    That it was looked for is noted, unless the workspace is open for reading. Raises `Cancelled` and the
    storage errors of a read; a file that cannot be read is named in the report.
    """
    steps = Steps(progress, cancelled, "the rescan was stopped; nothing was changed")
    report = Rescan(filter_version=log.redactor.version)
    steps.stage("artifacts")
    look_at_artifacts(layout, secrets, steps, report)
    steps.stage("events")
    upto = log.last_position()
    scanner = EventScanner(secrets, log.registry)
    for look in scanner.batches(log.reader, 0, upto):
        for event in look.dirty:
            report.add(event.hits)
        report.unreadable += look.unreadable
        report.events = look.position
        steps.step(look.position, upto)
    with log.reader() as connection:
        for row in other_texts(connection, secrets):
            report.add(row.hits)
    steps.stage("files")
    for path in files.loose_files(layout):
        place = str(path.relative_to(layout.root))
        try:
            report.add(files.loose_hits(path, place, scanner, secrets))
        except OSError:
            report.closed.append(place)
        steps.step(0, 1)
    steps.stage("backups")
    look_at_backups(layout, log, secrets, steps, report)
    if not log.read_only:
        note_rescan(log, upto, report.found, micros())
    steps.end()
    return report


def look_at_artifacts(
    layout: Layout, secrets: SecretFilter, steps: Steps, report: Rescan
) -> list[files.DirtyArtifact]:
    """Add to a report, and return, the artifacts that the filter would change."""
    dirty: list[files.DirtyArtifact] = []
    there = list(files.artifacts(layout.artifacts))
    for number, (digest, path) in enumerate(there):
        steps.step(number, len(there))
        try:
            found = files.dirty_artifact(digest, path, secrets)
        except OSError:
            report.closed.append(str(path.relative_to(layout.root)))
            continue
        if found is not None:
            dirty.append(found)
            report.add(found.hits)
    return dirty


def look_at_backups(
    layout: Layout, log: EventLog, secrets: SecretFilter, steps: Steps, report: Rescan
) -> None:
    """Add to a report which copies hold what the filter takes out."""
    there = backups(layout)
    for number, path in enumerate(there):

        def looked(position: int, upto: int, number: int = number) -> None:
            steps.step(1000 * number + 1000 * position // max(upto, 1), 1000 * len(there))

        report.backups.append(backup_state(path, secrets, log.registry, looked))

"""Looking through all that is stored with today's filter; nothing is changed (contract redaction)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.log.event_log import EventLog
from workbench.log.times import now_micros
from workbench.redaction import SecretFilter
from workbench.workspace.errors import Cancelled
from workbench.workspace.layout import Layout
from workbench.workspace.redactions import files, packed, places
from workbench.workspace.redactions.backups import backup_state, backups
from workbench.workspace.redactions.report import OtherFile, Rescan
from workbench.workspace.redactions.scan import EventScanner, Hit, other_texts
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
    look_at_files(layout, scanner, secrets, steps, report)
    steps.stage("backups")
    look_at_backups(layout, log, secrets, steps, report)
    if not log.read_only and not report.closed:
        note_rescan(log, upto, report.found + report.kept, micros())
    steps.end()
    return report


def look_at_artifacts(
    layout: Layout, secrets: SecretFilter, steps: Steps, report: Rescan
) -> list[files.DirtyArtifact]:
    """Add to a report, and return, the artifacts that the filter would change.

    What is no text, or damaged, is named and left alone: it is not among them.
    """
    dirty: list[files.DirtyArtifact] = []
    walk = places.Walk()
    there = list(walk.artifacts(layout.artifacts))
    _note_closed(layout, walk, secrets, report)
    for number, (digest, path) in enumerate(there):
        steps.step(number, len(there))
        try:
            found = files.dirty_artifact(digest, path, secrets)
        except OSError:
            report.close(_shown(layout, path, secrets))
            continue
        if found is None:
            continue
        if found.kept or found.damaged:
            place = _shown(layout, path, secrets)
            report.others.append(OtherFile(place, _counts(found.hits), damaged=found.damaged))
            continue
        dirty.append(found)
        report.add(found.hits)
    return dirty


def look_at_files(
    layout: Layout,
    scanner: EventScanner,
    secrets: SecretFilter,
    steps: Steps,
    report: Rescan,
    clean: Callable[[Path], object] | None = None,
) -> None:
    """Add to a report what the files beside the database hold, but for artifacts and backups.

    `clean` is called with each file that the filter would change; where it raises `OSError`, the file counts
    as closed.
    """
    walk = places.Walk()
    own = set(places.own_texts(layout, walk))
    copies = set(backups(layout, walk))
    for path in (*sorted(own), *places.others(layout, walk)):
        steps.step(0, 1)
        if path in copies or path.name.startswith(places.MARK):
            continue
        place = _shown(layout, path, secrets)
        try:
            chained = files.is_chained(path)
            cleaned = not chained and (path in own or files.is_export(path))
            if not cleaned and not chained and not places.is_programs(layout, path):
                continue
            _look_at_file(path, place, cleaned, scanner, secrets, report, clean)
        except OSError:
            report.close(place)
    _note_closed(layout, walk, secrets, report)


def _look_at_file(
    path: Path,
    place: str,
    cleaned: bool,
    scanner: EventScanner,
    secrets: SecretFilter,
    report: Rescan,
    clean: Callable[[Path], object] | None,
) -> None:
    in_name = secrets.redact_text(path.name)[1]
    if in_name:
        report.others.append(OtherFile(place, in_name, by_name=True))
    hits, is_text = files.loose_hits(path, place, scanner, secrets)
    if cleaned and is_text:
        if hits:
            if clean is not None:
                clean(path)
            report.add(hits)
        return
    if not is_text and not hits and not files.is_chained(path):
        inside = packed.secrets_inside(path, secrets)
        if inside is None or inside:
            report.others.append(OtherFile(place, inside or {}))
    elif hits:
        report.others.append(OtherFile(place, _counts(hits)))


def look_at_backups(
    layout: Layout, log: EventLog, secrets: SecretFilter, steps: Steps, report: Rescan
) -> None:
    """Add to a report which copies hold what the filter takes out."""
    walk = places.Walk()
    there = backups(layout, walk)
    _note_closed(layout, walk, secrets, report)
    for number, path in enumerate(there):

        def looked(position: int, upto: int, number: int = number) -> None:
            steps.step(1000 * number + 1000 * position // max(upto, 1), 1000 * len(there))

        report.backups.append(backup_state(path, secrets, log.registry, looked))


def _counts(hits: Iterable[Hit]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for hit in hits:
        counts[hit.kind] = counts.get(hit.kind, 0) + hit.secrets
    return counts


def _shown(layout: Layout, path: Path, secrets: SecretFilter) -> str:
    """A path in the workspace as it may be shown and kept."""
    text = str(path.relative_to(layout.root)) if path.is_relative_to(layout.root) else str(path)
    return secrets.redact_text(text)[0]


def _note_closed(layout: Layout, walk: places.Walk, secrets: SecretFilter, report: Rescan) -> None:
    for path in walk.closed:
        report.close(_shown(layout, path, secrets))

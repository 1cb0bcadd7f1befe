"""The one façade over a workspace: it composes the parts and owns no rules (DESIGN §8)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from workbench.errors import WorkbenchError
from workbench.log.errors import SecretInIdentifier
from workbench.log.event_log import EventLog
from workbench.log.times import Clock, now_micros, to_micros
from workbench.redaction import default_filter
from workbench.sessions.chronicarius import Chronicarius
from workbench.sessions.stores.sqlite import SQLiteStore
from workbench.sessions.units import close_unit
from workbench.storage.database import DataVersionPoller
from workbench.storage.errors import DatabaseMissing, StorageError
from workbench.workspace.errors import ConfigurationError, ManifestError, WorkspaceMissing
from workbench.workspace.folds import FOLDS, TABLES, event_types
from workbench.workspace.layout import Layout, Scaffolded, place_of, scaffold
from workbench.workspace.manifest import (
    Manifest,
    ManifestFile,
    Problem,
    is_timezone,
    local_timezone,
    read_manifest,
    user_name,
)
from workbench.workspace.migrations import HISTORY, SCHEMA_VERSION
from workbench.workspace.opening import may_upgrade, refuse_missing, refuse_orphaned_log

if TYPE_CHECKING:
    from workbench.evidence import EvidenceStore
    from workbench.identity import Registry
    from workbench.imports.report import ImportReport
    from workbench.imports.transcript.candidates import Refused
    from workbench.memory.events import ReviewItem
    from workbench.memory.memory import Memory
    from workbench.memory.reviews_written import ReviewReceipt
    from workbench.workspace.chronicle.chronicles import Chronicles
    from workbench.workspace.chronicle.stream import StreamChronicle
    from workbench.workspace.doctor import DoctorReport
    from workbench.workspace.jobs.jobs import Jobs
    from workbench.workspace.migration import Migrated, MigrationPlan
    from workbench.workspace.readers import Readers
    from workbench.workspace.redactions.report import Rescan, Scrubbed
    from workbench.workspace.transcripts import FoundTranscript, FoundTranscripts


class ClosedUnit(NamedTuple):
    """Where the event that closed a unit stands."""

    position: int
    seq: int


class Workspace:
    """An open workspace; a context manager. Threads may share it."""

    def __init__(
        self, layout: Layout, manifest: Manifest, log: EventLog, *, clock: Clock | None = None
    ) -> None:
        self.layout = layout
        self._manifest_file = ManifestFile(layout.manifest, manifest)
        self.log = log
        self._clock = clock
        self.scaffolded = Scaffolded((), ())
        """What `create` laid out; empty after `open`."""

    @classmethod
    def create(
        cls,
        root: str | Path,
        *,
        title: str | None = None,
        timezone: str | None = None,
        owner: str | None = None,
        force: bool = False,
        clock: Clock | None = None,
    ) -> Self:
        """Lay out what is missing of a workspace at `root` and open it.

        Nothing that exists is overwritten, unless `force` is given, which renews the starter files
        but never the database; one of an older release is upgraded if `$CHRONICLE_AUTO_MIGRATE` says so.
        A secret in the title is taken out. Raises `ConfigurationError` for an unknown time zone or a root
        that cannot be written, `SecretInIdentifier` for an owner that holds one, and everything that
        `open` raises.
        """
        layout = Layout(place_of(root))
        if timezone is not None and not is_timezone(timezone):
            raise ConfigurationError(
                f"there is no time zone {timezone!r}", hint="name one like Europe/Berlin, or UTC"
            )
        refuse_orphaned_log(layout)
        owner = owner or user_name()
        secrets = default_filter()
        if secrets.redact_text(owner)[1]:
            raise SecretInIdentifier(
                "the owner's name holds what looks like a secret", hint="name another; nothing was stored"
            )
        try:
            done = scaffold(
                layout,
                title=secrets.redact_text(title or layout.root.name or "Workspace")[0],
                timezone=timezone or local_timezone(),
                owner=owner,
                force=force,
            )
        except OSError as error:
            raise ConfigurationError(
                f"{layout.root} cannot be written: {error.strerror or error}", hint="name another --root"
            ) from error
        is_new = not layout.database.exists()
        if not is_new and layout.database.stat().st_size > 0:
            _upgrade_if_asked(layout, None, clock)
        workspace = cls(layout, read_manifest(layout.manifest), _open_log(layout, clock=clock), clock=clock)
        workspace._note_filter()
        name = layout.database.name
        workspace.scaffolded = Scaffolded(
            done.created + ((name,) if is_new else ()), done.skipped + (() if is_new else (name,))
        )
        return workspace

    @classmethod
    def open(
        cls,
        root: str | Path,
        *,
        read_only: bool = False,
        migrate: bool | None = None,
        examine: bool = False,
        clock: Clock | None = None,
    ) -> Self:
        """Open the workspace at `root`.

        With `migrate`, a database of an older release is upgraded first, as `Workspace.migrate` does it;
        with None, if `$CHRONICLE_AUTO_MIGRATE` says so; never with False, which is what a server passes
        that was not told to, and never when it is opened for reading. With `examine` a manifest that cannot
        be used is no obstacle: what it would say has its defaults, and `doctor` names what is wrong.

        Raises `WorkspaceMissing`, `ManifestError`, and `SchemaError`s (exit 3) for a database that
        is foreign, newer, older or damaged; the file is then as it was.
        """
        layout = Layout(place_of(root))
        try:
            manifest = read_manifest(layout.manifest)
        except ManifestError:
            # Where it may not be read, nor may the rest.
            if not examine or not os.access(layout.manifest, os.R_OK):
                raise
            manifest = Manifest(path=layout.manifest, title=layout.root.name, timezone="UTC", owner="")
        refuse_missing(layout)
        if not read_only:
            _upgrade_if_asked(layout, migrate, clock)
        workspace = cls(layout, manifest, _open_log(layout, read_only=read_only, clock=clock), clock=clock)
        workspace._note_filter()
        return workspace

    @classmethod
    def plan_migration(cls, root: str | Path) -> MigrationPlan:
        """What `migrate` would do with the workspace at `root`; changes nothing at all.

        Raises `WorkspaceMissing`, `ManifestError`, `SchemaError`s for a database that is foreign, newer
        or damaged, and the storage errors of a read.
        """
        from workbench.workspace.migration import plan_migration

        return plan_migration(_layout_of(root))

    @classmethod
    def migrate(
        cls,
        root: str | Path,
        *,
        progress: Callable[[int, int | None, str], object] | None = None,
        cancelled: Callable[[], bool] | None = None,
        clock: Clock | None = None,
    ) -> Migrated:
        """Bring the database of the workspace at `root` to this release's schema, after a copy of it.

        It happens in one transaction: whatever goes wrong, the database is as it was. Other programs read
        meanwhile and cannot write. `progress(done, total, note)` is told of the phases `waiting` (seconds,
        for another program), `backup`, `schema` and `projections`; `cancelled()` is asked all along. Where
        the database is current, nothing is done.

        Raises what `plan_migration` raises, `Cancelled`, `DatabaseLocked`, `DatabaseReadOnly`, `DiskFull`,
        `BackupFailed`, `MigrationError`.
        """
        from workbench.workspace.migration import migrate, now

        began = now(clock)
        done = migrate(_layout_of(root), progress=progress, cancelled=cancelled, clock=clock)
        if done.backup_path is not None:
            # It is done, whether or not the list of jobs can say so.
            with suppress(WorkbenchError), cls.open(root, migrate=False, clock=clock) as workspace:
                workspace.jobs.note_ended("migrate", "Migration", began=began, outcome=done.summary)
        return done

    # -- parts -----------------------------------------------------------------------------

    @property
    def root(self) -> Path:
        """The workspace's folder."""
        return self.layout.root

    @property
    def manifest(self) -> Manifest:
        """What the manifest says now; while the file cannot be used, what it said last."""
        return self._manifest_file.current

    @property
    def manifest_problems(self) -> tuple[Problem, ...]:
        """What is wrong or odd in the manifest as the file is now, in the order of its lines."""
        return self._manifest_file.problems

    @property
    def registry(self) -> Registry:
        """Which names mean the same, as the manifest says now; see `manifest`."""
        return self.manifest.registry

    @property
    def title(self) -> str:
        """What the manifest calls it."""
        return self.manifest.title

    @property
    def timezone(self) -> str:
        """The IANA time zone that times are shown in."""
        return self.manifest.timezone

    @property
    def owner(self) -> str:
        """Whose sessions it holds."""
        return self.manifest.owner

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self.log.read_only

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be written, in words; empty if writing works."""
        if not self.read_only:
            return ""
        return self.log.stale_reason or "opened read-only"

    @property
    def schema_version(self) -> int:
        """The schema of the open database."""
        return SCHEMA_VERSION

    @cached_property
    def sessions(self) -> Chronicarius:
        """Chronica on the workspace's log."""
        return Chronicarius(SQLiteStore(self.log))

    @cached_property
    def evidence(self) -> EvidenceStore:
        """Content-addressed files."""
        from workbench.evidence import EvidenceStore

        return EvidenceStore(self.layout.artifacts)

    @cached_property
    def memory(self) -> Memory:
        """Observations, facts, checkpoints, tasks and reviews that agents share.

        Source files are kept as the manifest's `[artifacts]` says; relative ones are the current folder's.
        """
        from zoneinfo import ZoneInfo

        from workbench.memory.memory import Memory
        from workbench.workspace.chronicle.for_agents import for_startup
        from workbench.workspace.evidence import stager

        return Memory(
            self.log,
            lambda: self.registry,
            staging=lambda: stager(self.log, self.evidence, self.manifest.artifacts),
            clock=self._clock,
            label=self._label_of,
            zone=ZoneInfo(self.timezone),
            chronicle=lambda streams, upto: for_startup(self.log, streams, upto),
        )

    @cached_property
    def readers(self) -> Readers:
        """Lists and pages for the faces."""
        from workbench.workspace.readers import Readers

        return Readers(self.log, lambda: self.registry, lambda: self.manifest.chronicle.close)

    @cached_property
    def chronicles(self) -> Chronicles:
        """The chronicles of all streams, and what writes them."""
        from workbench.workspace.chronicle.chronicles import Chronicles

        return Chronicles(self)

    def chronicle(self, stream: str) -> StreamChronicle:
        """The chronicle of one stream: its name, one that means the same, or a session's id.

        Raises `UnknownStream`.
        """
        return self.chronicles.of(stream)

    @cached_property
    def jobs(self) -> Jobs:
        """Long calls of every program: run, listed, stopped."""
        from workbench.workspace.jobs.jobs import Jobs

        return Jobs(self.log, clock=self._clock)

    def data_version_poller(self) -> DataVersionPoller:
        """Notices the commits of other programs: a context manager with `poll()`."""
        return self.log.data_version_poller()

    # -- commands --------------------------------------------------------------------------

    def review(
        self,
        target_kind: str,
        target_id: str,
        verdict: str,
        comment: str = "",
        *,
        item: ReviewItem | Mapping[str, Any] | None = None,
    ) -> ReviewReceipt:
        """The owner's verdict on a checkpoint, a fact or an observation: see `Memory.record_review`.

        Raises `InvalidArgument` where there is no such target.
        """
        return self.memory.record_review(
            target_kind, target_id, verdict, comment, item=item, reviewer=self.owner
        )

    def _label_of(self, domain: str) -> str:
        labels = (each.label for each in self.manifest.domains if each.id == domain)
        return next(labels, "") or domain

    def close_unit(
        self,
        owner_id: str,
        chronicum_id: str,
        unit: str,
        *,
        note: str | None = None,
        idempotency_key: str | None = None,
    ) -> ClosedUnit:
        """Close a stretch of a session; it is no actum and no activity.

        With a key that already closed a unit of this session, nothing is written and the first
        event's place is returned. Raises `EmptyOwnerID`, `ChronicumNotFound` (missing or another
        owner's), `InvalidActum` for an empty unit.
        """
        self.sessions.get_chronicum(owner_id, chronicum_id)
        return ClosedUnit(*close_unit(self.log, chronicum_id, unit, note=note, key=idempotency_key))

    def find_transcripts(
        self,
        kind: str | None = None,
        paths: Sequence[str | Path] = (),
        *,
        heard: Callable[[FoundTranscript | Refused], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> FoundTranscripts:
        """The transcripts of a kind (`claude-code`, `codex`; None: of each) at `paths`: files, or folders
        that are searched. Without paths, where its program keeps them.

        Reads only the beginning and the end of each file; never raises for a bad one. `heard` is told of each
        as soon as it was looked at, and `cancelled` is asked between two; both on the calling thread. Raises
        `UnknownFormat`.
        """
        from workbench.workspace.transcripts import find_transcripts

        return find_transcripts(self.log, kind, paths, heard=heard, cancelled=cancelled)

    def import_transcripts(
        self,
        kind: str | None = None,
        paths: Sequence[str | Path] = (),
        *,
        owner: str | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int | None, str], None] | None = None,
        added: Callable[[int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> ImportReport:
        """Import what is new in those transcripts for `owner` (default: the manifest's).

        `progress(done, total, note)` counts bytes, `added(acta)` what was added so far; `cancelled()` is
        asked between transactions. Bad files and lines are named in the report and the others go on; raises
        `UnknownFormat`, `EmptyOwnerID`, and `DatabaseReadOnly`, `DatabaseLocked` and the like where nothing
        can go on.
        """
        from workbench.workspace.transcripts import import_transcripts

        return import_transcripts(
            self.log,
            self.evidence,
            kind,
            paths,
            owner=self.owner if owner is None else owner,
            dry_run=dry_run,
            progress=progress,
            added=added,
            cancelled=cancelled,
        )

    def find_claude_code(self, paths: Sequence[str | Path] = ()) -> FoundTranscripts:
        """Claude Code's transcripts (default: those of `$CLAUDE_CONFIG_DIR` or `~/.claude`)."""
        return self.find_transcripts("claude-code", paths)

    def import_claude_code(
        self,
        paths: Sequence[str | Path] = (),
        *,
        owner: str | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> ImportReport:
        """Import those: see `import_transcripts`."""
        return self.import_transcripts(
            "claude-code", paths, owner=owner, dry_run=dry_run, progress=progress, cancelled=cancelled
        )

    def find_codex(self, paths: Sequence[str | Path] = ()) -> FoundTranscripts:
        """Codex's rollouts (default: those of `$CODEX_HOME` or `~/.codex`)."""
        return self.find_transcripts("codex", paths)

    def import_codex(
        self,
        paths: Sequence[str | Path] = (),
        *,
        owner: str | None = None,
        dry_run: bool = False,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> ImportReport:
        """Import those: see `import_transcripts`."""
        return self.import_transcripts(
            "codex", paths, owner=owner, dry_run=dry_run, progress=progress, cancelled=cancelled
        )

    def doctor(
        self,
        *,
        fix: bool = False,
        progress: Callable[[int, int | None, str], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> DoctorReport:
        """Examine the workspace; with `fix`, mend what can be mended without losing anything.

        The report names each thing that is wrong, with its severity and the command that mends it. Events
        and what they name are never changed. `progress(done, total, note)` counts thousandths. Works on a
        workspace opened for reading, but for `fix` (`DatabaseReadOnly`); raises `Cancelled`, `DiskFull`
        where the temporary file of a replay finds no room, and other storage errors.
        """
        from workbench.workspace.doctor import doctor

        return doctor(
            self.layout, self.log, fix=fix, clock=self._clock, progress=progress, cancelled=cancelled
        )

    def rescan(
        self,
        *,
        progress: Callable[[int, int | None, str], object] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Rescan:
        """Look through all that is stored with today's filter; nothing is changed but the note that it was.

        The report says what kind of secret stands where, never the secret. `progress(done, total, note)`
        counts thousandths. Raises `Cancelled` and the storage errors of a read.
        """
        from workbench.workspace.redactions.rescan import rescan

        return rescan(
            self.layout,
            self.log,
            default_filter(),
            micros=self._micros(),
            progress=progress,
            cancelled=cancelled,
        )

    def scrub(
        self,
        *,
        progress: Callable[[int, int | None, str], object] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Scrubbed:
        """Take out of all that is stored what today's filter finds; a scrub that was cut short is completed.

        Events keep position, ids and times; each thing that is taken out leaves an event. The backups
        that still hold it are named and stay as they are. Run it as a job with the lease
        `redactions.LEASE`: nothing else should be going on. Raises `Cancelled` (nothing was changed),
        `DatabaseReadOnly`, `DatabaseLocked`, `DiskFull` and the other storage errors of a write.
        """
        from workbench.workspace.redactions.scrub import scrub

        return scrub(
            self.layout,
            self.log,
            self.evidence,
            default_filter(),
            micros=self._micros(),
            progress=progress,
            cancelled=cancelled,
        )

    def _note_filter(self) -> None:
        """Note that today's filter stands at the door from here on.

        Where that cannot be written now, the next program notes it: more counts as not looked through then.
        """
        if not self.read_only:
            from workbench.workspace.redactions.versions import note_version

            with suppress(StorageError):
                note_version(self.log, self._micros()())

    def _micros(self) -> Callable[[], int]:
        clock = self._clock
        return now_micros if clock is None else lambda: to_micros(clock())

    def status(self) -> dict[str, Any]:
        """What a person asks first: where it is, its schema, how much is in it."""
        from workbench.workspace.chronicle.closing import overview
        from workbench.workspace.summary import summary

        found = summary(self.layout, self.manifest, self.readers.totals(), read_only=self.read_only)
        found["summary"] |= overview(self)
        return found

    # -- end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the files."""
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _layout_of(root: str | Path) -> Layout:
    """The layout of a root that has a manifest which can be read."""
    layout = Layout(place_of(root))
    read_manifest(layout.manifest)
    return layout


def _upgrade_if_asked(layout: Layout, migrate: bool | None, clock: Clock | None) -> None:
    if may_upgrade(migrate):
        from workbench.workspace import migration

        migration.migrate(layout, clock=clock)


def _open_log(layout: Layout, *, read_only: bool = False, clock: Clock | None = None) -> EventLog:
    try:
        return EventLog.open(
            layout.database,
            FOLDS,
            event_types(),
            redactor=default_filter(),
            clock=clock,
            read_only=read_only,
            tables=TABLES,
            history=HISTORY,
        )
    except DatabaseMissing as error:
        raise WorkspaceMissing(error.message, hint=error.hint) from error

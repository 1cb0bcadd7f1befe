"""The parts of an examination, each over a state of the file that does not move meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import apsw
import msgspec

from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.log.folds import InlineFold
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseDamaged, DiskFull
from workbench.workspace.doctor import (
    artifacts,
    folds,
    jobs,
    manifest,
    objects,
    order,
    permissions,
    redactions,
    structure,
)
from workbench.workspace.doctor.artifacts import NamedEvidence
from workbench.workspace.doctor.report import Commands, Finding
from workbench.workspace.doctor.stages import Watch
from workbench.workspace.folds import FOLDS
from workbench.workspace.layout import Layout

_SCRATCH_KIB = 32768
"""What a replay keeps in memory; the rest of it lies in a file that goes with the connection."""

_WITHOUT_THE_DATABASE = ("permissions_open", "permissions_locked", "artifact_unreadable")
"""Findings that are mended whatever state the database is in."""

_LOOKS = 0.005
"""About how often SQLite's own checks are looked at for each event of a large log."""


class Examination:
    """A context manager: `run` looks at everything, the single parts may be looked at again.

    Nothing is changed, and the log may be in use. The file is read through a connection of its own,
    which cannot write; no state of it is held for longer than a part needs, so that a long replay does
    not keep the write-ahead log from being carried into the file.
    """

    def __init__(self, layout: Layout, log: EventLog, now: Callable[[], int], watch: Watch) -> None:
        self._layout = layout
        self._log = log
        self._now = now
        self._watch = watch
        self._commands = Commands(layout)
        self._database = Database(log.path, read_only=True)
        self._names = apsw.Connection("")
        self._evidence: NamedEvidence | None = NamedEvidence(self._names)
        self.found: dict[str, list[Finding]] = {}
        """By part what is wrong."""
        self.sound = True
        """Whether the database can be written to at all."""
        self.rebuilds: list[InlineFold] = []
        """Folds that should be built again."""
        self._damaged: list[InlineFold] = []
        self.laid = objects.Objects([], frozenset(), [], [], {}, True)
        """How the layout differs from this release's."""
        self.refused: dict[str, str] = {}
        """By name what could not be mended of it, and why."""

    def run(self) -> None:
        """Every part."""
        for part in (
            self.structure,
            self.objects,
            self.events,
            self.streams,
            self.leftovers,
            self.folds,
            self.jobs,
            self.artifacts,
            self.permissions,
            self.redactions,
            self.manifest,
        ):
            part()

    @property
    def findings(self) -> list[Finding]:
        """What is wrong, in the order of the parts; of a damaged file the first word only."""
        all_of_them = [finding for part in self.found.values() for finding in part]
        damage = [finding for finding in all_of_them if finding.code == "db_damaged"]
        truncated = any(finding.code == "log_truncated" for finding in all_of_them)
        # Two parts may have said it in the same words, so they are told apart by which they are.
        return [
            self._left_alone(each, truncated)
            for each in all_of_them
            if each.code != "db_damaged" or each is damage[0]
        ]

    def _left_alone(self, finding: Finding, truncated: bool) -> Finding:
        """The finding, without the advice to mend what will be left as it is."""
        if finding.command != self._commands.fix or finding.code in _WITHOUT_THE_DATABASE:
            return finding
        if truncated and finding.code == "last_seq_differs":
            said = f"and that is left as it is, for events are missing: {self._commands.only_a_copy('them')}"
        elif not self.sound:
            said = "and that is left as it is until the database is whole again"
        else:
            return finding
        meaning = f"{finding.meaning.removesuffix('.')}; {said}."
        return msgspec.structs.replace(finding, meaning=meaning, command=self._commands.copies)

    # -- parts -----------------------------------------------------------------------------

    def structure(self) -> None:
        """SQLite's own checks."""
        self._watch.stage("the database's structure")
        with self._part("structure") as found, self._snapshot() as connection:
            with self._watch.interrupting(connection, looks=_expected_looks(connection)):
                seen = structure.integrity(connection, FOLDS, self._commands)
            found.extend(seen.findings)
            self.sound = seen.sound and self.laid.whole
            self._damaged = [fold for fold in FOLDS if fold.name in seen.folds]
            with self._watch.interrupting(connection):
                found.extend(structure.foreign_keys(connection, self._commands))

    def objects(self) -> None:
        """The layout beside the one that this release lays out."""
        with self._part("objects") as found, self._snapshot() as connection:
            self.laid = objects.objects(connection, self._commands, self.refused)
            found.extend(self.laid.findings)
            self.sound = self.sound and self.laid.whole

    def events(self) -> None:
        """The whole log in order of position."""
        self._watch.stage("the order of events")
        evidence, self._evidence = self._evidence, None
        with self._part("events") as found, self._snapshot() as connection:
            assert evidence is not None
            with self._names:
                found.extend(
                    order.events_in_order(connection, evidence, self._now, self._commands, self._watch)
                )
            found.extend(order.types_known(connection, self._log.registry, self._commands))
            found.extend(order.causes_held(connection, self._commands))
            # Only now: evidence is not orphaned because the events could not be read to their end.
            self._evidence = evidence

    def streams(self) -> None:
        """The log in order of each stream."""
        self._watch.stage("the order of each session")
        with self._part("streams") as found, self._snapshot() as connection:
            if order.BY_STREAM in self.laid.missing:
                # Without it each look costs the whole log; it is looked at once that is mended.
                return
            found.extend(order.streams_in_order(connection, self._commands, self._watch))

    def leftovers(self) -> None:
        """What rebuilds left behind."""
        with self._part("leftovers") as found, self._snapshot() as connection:
            found.extend(folds.left_over(connection, self._commands))

    def folds(self) -> None:
        """The fold set, and each fold against a replay."""
        self._watch.stage("replaying events")
        self.rebuilds = []
        if objects.FOLD_POSITIONS in self.laid.missing:
            # Nothing says what the tables hold, so there is nothing to compare.
            self.found["folds"] = []
            self.rebuilds = list(FOLDS)
            return
        with self._part("folds") as found:
            with self._snapshot() as connection:
                findings, known, astray = folds.fold_set(connection, FOLDS, self._commands)
            found.extend(findings)
            if not self.sound:
                return
            broken = [*self._damaged, *self.laid.rebuilds]
            differing = self._compare(found, [fold for fold in known if fold not in broken])
            if differing is None:
                # Nothing can be built from events that cannot be read.
                return
            wrong = [*astray, *differing, *broken]
            self.rebuilds = [fold for fold in FOLDS if fold in wrong]

    def jobs(self) -> None:
        """The list of jobs."""
        with self._part("jobs") as found, self._snapshot() as connection:
            if objects.JOBS not in self.laid.missing:
                found.extend(jobs.jobs(connection, self._commands))

    def artifacts(self) -> None:
        """Evidence against its digests and against the events."""
        self._watch.stage("artifacts")
        with self._part("artifacts") as found:
            found.extend(
                artifacts.artifacts(self._layout.artifacts, self._evidence, self._commands, self._watch)
            )

    @property
    def evidence(self) -> NamedEvidence | None:
        """What events name, where every one of them could be read and is of a type that is known."""
        doubtful = any(
            each.severity == "critical" or each.code == "event_type_unknown"
            for part in ("structure", "objects", "events", "streams", "folds")
            for each in self.found.get(part, ())
        )
        return None if doubtful or not self.sound else self._evidence

    def permissions(self) -> None:
        """Who may read what."""
        self._watch.stage("permissions")
        with self._part("permissions") as found:
            found.extend(permissions.permissions(self._layout, self._commands, self._watch))
            self._watch.step(1, 1)

    def redactions(self) -> None:
        """What today's secret filter has not seen."""
        with self._part("redactions") as found, self._snapshot() as connection:
            found.extend(redactions.redactions(connection, self._log.redactor.version, self._layout))

    def manifest(self) -> None:
        """The names and settings that a person wrote."""
        self.found["manifest"] = list(manifest.manifest(self._layout))

    # -- how -------------------------------------------------------------------------------

    def _compare(self, found: list[Finding], known: list[InlineFold]) -> list[InlineFold] | None:
        """The folds that differ; None if the events cannot be folded."""
        scratch = apsw.Connection("")
        try:
            for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{_SCRATCH_KIB}"):
                scratch.execute(f"PRAGMA {pragma}").fetchall()
            position = folds.replayed(self._database, self._log, known, scratch, self._watch)
            with self._snapshot() as connection:
                folds.catch_up(connection, self._log, known, scratch, position, self._watch)
                self._watch.stage("comparing projections")
                unreadable = any(each.code == "event_unreadable" for each in self.found.get("events", ()))
                impossible = order.impossible_times(connection) if unreadable else frozenset()
                findings, differing = folds.compared(
                    connection, scratch, known, self._commands, self._watch, impossible
                )
        except apsw.FullError as error:
            raise _no_room() from error
        except folds.Unreplayable as error:
            with self._snapshot() as connection:
                position = folds.to_blame(connection, self._log, known, error.since)
            found.append(folds.unreplayable(error.reason, position, self._commands))
            return None
        finally:
            scratch.close()
        found.extend(findings)
        return differing

    @contextmanager
    def _part(self, name: str) -> Iterator[list[Finding]]:
        found = self.found[name] = []
        try:
            yield found
        except (DatabaseDamaged, UnicodeDecodeError, apsw.SQLError) as error:
            # A statement of ours that makes no sense to SQLite: the layout is not what was laid out.
            self.sound = False
            found.append(folds.damaged_while_read(error, self._commands))

    @contextmanager
    def _snapshot(self) -> Iterator[apsw.Connection]:
        """A connection on which nothing changes until the block ends; it may have temporary tables."""
        with self._database.reader() as connection:
            # The file is open for reading only, or a private copy: this opens nothing but `temp`.
            connection.execute("PRAGMA query_only=OFF")
            connection.execute("BEGIN")
            try:
                with self._watch.interrupting(connection):
                    yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._names.close()
        self._database.close()


def _expected_looks(connection: apsw.Connection) -> float:
    try:
        return _LOOKS * sqlite.last_position(connection)
    except apsw.CorruptError:
        # What is damaged the check itself will say.
        return 0


def _no_room() -> DiskFull:
    return DiskFull(
        "no room left for the temporary file of a replay",
        hint="free some space, or name another folder with SQLITE_TMPDIR",
    )

"""Taking secrets out of what is already stored: the one exception to "events are never rewritten".

What happens, in this order, so that a kill at any moment leaves a workspace that is untouched or that the
next scrub completes:

1. artifacts are written under their new digests; the old ones stay, and nothing names the new ones yet;
2. in one transaction payloads, names and other texts are replaced, projections folded anew, events
   appended that say what was taken out, and the steps noted that are still open;
3. the old artifacts go, exports and logs are written anew, the file is compacted and its write-ahead log
   emptied, so that no page of before is left; each step is struck off the list when it is done.

(contract redaction, "Rescan and scrub")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import apsw
from msgspec import UNSET

from workbench.chronicle.fulltext import read_in
from workbench.chronicle.tables import SECTIONS
from workbench.evidence import EvidenceStore
from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.log.refold import refold
from workbench.log.streams import domain_stream
from workbench.log.times import now_micros
from workbench.redaction import SecretFilter
from workbench.redaction.events import RedactionApplied
from workbench.storage import fetch
from workbench.storage.errors import DatabaseReadOnly, StorageError
from workbench.workspace.folds import FOLDS
from workbench.workspace.layout import Layout
from workbench.workspace.redactions import files, table_rows
from workbench.workspace.redactions.names import Names
from workbench.workspace.redactions.report import Scrubbed
from workbench.workspace.redactions.rescan import (
    Progress,
    Steps,
    look_at_artifacts,
    look_at_backups,
    look_at_files,
)
from workbench.workspace.redactions.scan import EventScanner, Hit, other_texts
from workbench.workspace.redactions.versions import note_rescan

DOMAIN = "global"
"""In whose stream a scrub says what it did."""

_STOPPED = "the scrub was stopped; nothing was changed"
_STOPPED_LATER = "the scrub was stopped; an earlier one was completed, nothing else was changed"
_FILES = ("files", "", "")
"""The step of the files beside the database."""
_APPENDED = 500
_LOOKED_AT = 200


def unfinished(log: EventLog) -> int:
    """How many steps of a scrub that was cut short are still open."""
    with log.reader() as connection:
        return int(fetch.value(connection, table_rows.COUNT_STEPS))


def scrub(
    layout: Layout,
    log: EventLog,
    evidence: EvidenceStore,
    secrets: SecretFilter,
    *,
    micros: Callable[[], int] = now_micros,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Scrubbed:
    """Take out of the workspace what today's filter finds, to the last byte of every file but the backups.

    A scrub that was cut short is completed first. Until the transaction has been committed it can be
    stopped and nothing has changed (`Cancelled`); what follows is gone through with. Other programs wait
    with their writes for the length of the transaction. Raises `DatabaseReadOnly`, `DatabaseLocked`,
    `DiskFull` and the other storage errors of a write; `OSError` where an artifact cannot be replaced.
    """
    if log.read_only:
        raise DatabaseReadOnly(
            f"{log.path} is open read-only", hint="a scrub rewrites: open the workspace for writing"
        )
    return _Scrub(layout, log, evidence, secrets, micros, progress, cancelled).run()


class _Scrub:
    def __init__(
        self,
        layout: Layout,
        log: EventLog,
        evidence: EvidenceStore,
        secrets: SecretFilter,
        micros: Callable[[], int],
        progress: Progress | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self._layout = layout
        self._log = log
        self._evidence = evidence
        self._secrets = secrets
        self._micros = micros
        self._report = Scrubbed(filter_version=log.redactor.version, resumed=unfinished(log) > 0)
        self._steps = Steps(progress, cancelled, _STOPPED_LATER if self._report.resumed else _STOPPED)
        self._made: list[str] = []
        """Digests of the artifacts that were written and that no event names yet."""
        self._noted = False
        """Whether the step of the files is among those that are noted."""

    def run(self) -> Scrubbed:
        if self._report.resumed:
            with self._steps.gone_through():
                self._complete()
        files.remove_leftovers(self._layout)
        try:
            self._steps.stage("artifacts")
            renamed = self._write_artifacts()
            self._steps.stage("events")
            upto = self._rewrite(renamed)
        except BaseException:
            self._withdraw_artifacts()
            raise
        with self._steps.gone_through():
            self._complete()
            self._steps.stage("files")
            self._clean_files()
            self._steps.stage("backups")
            look_at_backups(self._layout, self._log, self._secrets, self._steps, self._report)
            self._end(upto)
        self._steps.end()
        return self._report

    # -- before anything changes -----------------------------------------------------------

    def _write_artifacts(self) -> dict[str, str]:
        """New digests by old ones, with the files of both in place."""
        renamed: dict[str, str] = {}
        self._artifact_hits: list[Hit] = []
        for dirty in look_at_artifacts(self._layout, self._secrets, self._steps, self._report):
            path = self._evidence.path(dirty.digest)
            new, made = files.cleaned_artifact(path, self._evidence, self._secrets)
            if made:
                self._made.append(new)
            renamed[dirty.digest] = new
            self._artifact_hits += [
                hit._replace(place=f"artifacts/{new}", field=f"artifacts/{new}") for hit in dirty.hits
            ]
        return renamed

    def _withdraw_artifacts(self) -> None:
        """Remove what was written and no event names, unless the commit came through in spite of an error."""
        with suppress(StorageError, OSError):
            named = {new for _, _, new in self._open_steps()}
            for digest in self._made:
                if digest not in named:
                    self._evidence.path(digest).unlink(missing_ok=True)

    # -- the transaction -------------------------------------------------------------------

    def _rewrite(self, renamed: dict[str, str]) -> int:
        """Replace what must be; returns the position up to which the log was looked through."""
        log, report = self._log, self._report
        scanner = EventScanner(self._secrets, log.registry, renamed)
        # Most of the look needs no lock.
        upto = log.last_position()
        positions: list[int] = []
        for look in scanner.batches(log.reader, 0, upto):
            positions += (event.position for event in look.dirty)
            report.unreadable += look.unreadable
            self._steps.step(look.position, max(2 * upto, 1))
        with log.reader() as connection:
            rows_wait = next(other_texts(connection, self._secrets), None) is not None
        report.events = upto
        if not (positions or renamed or rows_wait) and log.last_position() == upto:
            return upto
        with log.transaction() as transaction:
            connection = transaction.connection
            end = sqlite.last_position(connection)
            hits = self._replace_events(connection, scanner, positions, upto, end)
            hits += self._replace_rows(connection)
            hits += self._artifact_hits
            if report.rewritten:
                refold(connection, FOLDS, log.decoder, path=log.path, between=self._between)
            self._note_steps(connection, renamed, bool(hits or report.rewritten))
            self._say(hits)
        return end

    def _between(self, position: int, end: int) -> None:
        self._steps.step(end + position, 2 * end)

    def _replace_events(
        self,
        connection: apsw.Connection,
        scanner: EventScanner,
        positions: Sequence[int],
        upto: int,
        end: int,
    ) -> list[Hit]:
        names = Names(connection)
        hits: list[Hit] = []
        looks = chain(
            (scanner.look(rows)[0] for rows in _rows_at(connection, positions)),
            (look.dirty for look in scanner.batches(lambda: nullcontext(connection), upto, end)),
        )
        for dirty in looks:
            self._steps.step(end, 2 * end)
            for event in dirty:
                names.replace(event)
                hits += event.hits
                self._report.rewritten += 1
        self._report.events = end
        self._report.add(hits)
        return hits

    def _replace_rows(self, connection: apsw.Connection) -> list[Hit]:
        hits: list[Hit] = []
        rows = list(other_texts(connection, self._secrets))
        for row in rows:
            table_rows.replace(connection, row)
            hits += row.hits
        if any(row.table == SECTIONS for row in rows):
            # Taken out one by one, the old words would stay in the index for a while.
            read_in(connection)
        self._report.add(hits)
        return hits

    def _note_steps(self, connection: apsw.Connection, renamed: dict[str, str], changed: bool) -> None:
        steps = [("artifact", old, new) for old, new in renamed.items()]
        if changed or steps:
            # What was found in the database may stand in the files beside it as well.
            steps += [("compact", "", ""), _FILES]
            self._noted = True
        connection.executemany(table_rows.NOTE_STEP, steps)

    def _say(self, hits: Sequence[Hit]) -> None:
        version = self._log.redactor.version
        said = [
            RedactionApplied(
                domain=DOMAIN,
                position=hit.position or UNSET,
                field=hit.field if hit.position or not hit.place else _at(hit),
                kind=hit.kind,
                count=hit.secrets,
                filter_version=version,
            )
            for hit in hits
        ]
        for first in range(0, len(said), _APPENDED):
            self._log.append(domain_stream(DOMAIN), said[first : first + _APPENDED])

    # -- after the commit ------------------------------------------------------------------

    def _complete(self) -> None:
        """Do the steps that are still open, whoever noted them."""
        self._steps.stage("old text")
        steps = self._open_steps()
        for number, (step, old, new) in enumerate(steps):
            self._steps.step(number, len(steps))
            if step == "artifact":
                self._drop_artifact(old, new)
                self._report.artifacts += 1
                self._strike(step, old)
        if any(step == "compact" for step, _, _ in steps):
            self._report.emptied = self._log.database.compact()
            if self._report.emptied:
                self._strike("compact", "")
            else:
                from workbench.workspace.redactions.programs import programs_with

                self._report.readers = programs_with(self._log.path)

    def _open_steps(self) -> list[tuple[str, str, str]]:
        with self._log.reader() as connection:
            return list(fetch.rows(connection, table_rows.STEPS))

    def _drop_artifact(self, old: str, new: str) -> None:
        path = self._evidence.path(old)
        if not path.is_file():
            return
        if not self._evidence.path(new).is_file():
            # It was there when the events were written; whoever removed it must not cost us both.
            files.cleaned_artifact(path, self._evidence, self._secrets)
        files.remove(path)

    def _strike(self, step: str, old: str) -> None:
        with self._log.database.transaction() as connection:
            connection.execute(table_rows.STRIKE, (step, old))

    def _clean_files(self) -> None:
        scanner = EventScanner(self._secrets, self._log.registry)

        def clean(path: Path) -> None:
            self._note_files()
            files.clean_loose(path, scanner, self._secrets)
            self._report.files += 1

        look_at_files(self._layout, scanner, self._secrets, self._steps, self._report, clean)

    def _note_files(self) -> None:
        """Whoever is killed from here on leaves word that something is still to be done."""
        if not self._noted:
            with self._log.database.transaction() as connection:
                connection.execute(table_rows.NOTE_STEP, _FILES)
            self._noted = True

    def _end(self, upto: int) -> None:
        """Note what was done; what could not be read stays to be done."""
        if self._report.closed:
            self._note_files()
            return
        if self._noted or self._report.resumed:
            self._strike("files", "")
        note_rescan(self._log, upto, self._report.kept, self._micros())


def _rows_at(connection: apsw.Connection, positions: Sequence[int]) -> Iterator[list[Any]]:
    """The events at these positions, some at a time."""
    for first in range(0, len(positions), _LOOKED_AT):
        some = positions[first : first + _LOOKED_AT]
        yield fetch.rows(connection, table_rows.EVENTS_AT, (f"[{','.join(map(str, some))}]",))


def _at(hit: Hit) -> str:
    return hit.place if hit.place == hit.field else f"{hit.place}.{hit.field}"

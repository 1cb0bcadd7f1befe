"""Importing transcripts of any format into a log (contract transcripts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from workbench.evidence import EvidenceStore
from workbench.imports.plain_text import redact_bytes
from workbench.imports.recorder import Entry, Outcome, Recorder, actum_event
from workbench.imports.report import MOST_PROBLEMS, ImportProblem, ImportReport, SessionReport, add_counts
from workbench.imports.sources import UNFINISHED, Source, known_source, save_source, stored_path
from workbench.imports.transcript.candidates import Candidate
from workbench.imports.transcript.format import TranscriptFormat
from workbench.imports.transcript.items import (
    ActumItem,
    Checkpoint,
    DescribeItem,
    EvidenceBytes,
    Ignored,
    Problem,
    Repaired,
    Restarted,
    Underway,
    UnitClosedItem,
)
from workbench.imports.transcript.placed import FileItem, FileUnreadable, Placed
from workbench.imports.transcript.reading import CONTENT
from workbench.imports.transcript.state import STATE_VERSION, FileState, copy_state
from workbench.imports.unread import Unread
from workbench.log.event_log import EventLog, Transaction
from workbench.log.ports import Redactor
from workbench.log.times import now_micros
from workbench.sessions.events import ActumRecorded, UnitClosed
from workbench.storage import fetch
from workbench.storage.errors import DatabaseLocked, DatabaseReadOnly, DiskFull

Progress = Callable[[int, int | None, str], None]

_BATCH_ITEMS = 2000
_BATCH_BYTES = 4 * 1024 * 1024
_IDLE_CHECKPOINTS = 20
"""So many checkpoints with nothing new before them are noted as one: each costs a transaction."""


class _Stat(NamedTuple):
    size: int
    mtime_ns: int


def import_transcripts(
    log: EventLog,
    evidence: EvidenceStore,
    transcripts: Sequence[tuple[TranscriptFormat, Candidate]],
    *,
    owner: str,
    dry_run: bool = False,
    progress: Progress | None = None,
    added: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> ImportReport:
    """Read each transcript's new lines and store what is new of them.

    `owner` owns new sessions and is the human in them; a session of another owner is refused and the
    others go on. `progress(done, total, note)` counts bytes, `added(acta)` the acta that were added so far.
    `cancelled()` is asked between transactions. With `dry_run` nothing is written. Raises only what makes
    going on senseless: `DatabaseReadOnly` and other storage errors, evidence errors, an owner that cannot be
    stored.
    """
    if log.read_only and not dry_run:
        # Before anything is read: evidence would be kept ahead of the transaction that is refused.
        raise DatabaseReadOnly(
            "nothing can be imported into a workspace that is open read-only",
            hint="open it without --read-only",
        )
    report = ImportReport(dry_run=dry_run)
    recorder = Recorder(log, owner)
    # Files may grow or go while they are read; progress keeps to what they were.
    sizes = [sum(_size(path) for path in candidate.paths) for _, candidate in transcripts]
    total = sum(sizes)
    done = acta = 0
    for (kind, candidate), size in zip(transcripts, sizes, strict=True):
        if cancelled is not None and cancelled():
            report.cancelled = True
            break
        run = _Run(log, evidence, kind, candidate, owner, recorder, dry_run)
        try:
            for place in run.read(cancelled):
                if added is not None:
                    added(acta + run.acta)
                if progress is not None:
                    progress(done + min(place, size), total, candidate.path.name)
        except (DatabaseLocked, DiskFull) as error:
            error.hint += f"; {_stays(acta + run.acta)}"
            raise
        report.sessions.extend(run.reports())
        acta += run.acta
        if added is not None:
            added(acta)
        if run.cancelled:
            report.cancelled = True
            break
        done += size
        if progress is not None:
            progress(done, total, candidate.path.name)
    report.sum_up()
    return report


def _stays(acta: int) -> str:
    if not acta:
        return "nothing was stored so far"
    stored = "1 actum is stored and stays" if acta == 1 else f"{acta:,} acta are stored and stay"
    return f"{stored}, and the next import goes on from there"


def is_unchanged(log: EventLog, kind: TranscriptFormat, candidate: Candidate) -> bool:
    """Whether every file of a candidate is just as it was at its last import."""
    with log.reader() as connection:
        for path in candidate.paths:
            known = known_source(connection, kind.name, path, log.redactor)
            if known is None or _Stat(known.size, known.mtime_ns) != _stat(path):
                return False
    return True


class _Run:
    """One candidate: a trunk with its sub-agents, or an orphan."""

    def __init__(
        self,
        log: EventLog,
        evidence: EvidenceStore,
        kind: TranscriptFormat,
        candidate: Candidate,
        owner: str,
        recorder: Recorder,
        dry_run: bool,
    ) -> None:
        self._log = log
        self._evidence = evidence
        self._format = kind
        self._candidate = candidate
        self._owner = owner
        self._dry_run = dry_run
        self._recorder = recorder
        self._by_session: dict[str, SessionReport] = {}
        self._refused: set[str] = set()
        self._main = SessionReport(id="", source=self._told(candidate.path))
        self._entries: list[Entry] = []
        self._descriptions: dict[str, dict[str, tuple[Any, bool]]] = {}
        """What is to be told of each session: by field the value and whether it replaces a known one."""
        self._checkpoints: dict[Path, Checkpoint] = {}
        self._unsettled: dict[Path, Checkpoint] = {}
        """Checkpoints that were saved with descriptions still to be told."""
        self._bytes = 0
        self._stats: dict[Path, _Stat | None] = {}
        self._places: dict[Path, int] = {}
        self._unread = Unread()
        self.acta = 0
        """Acta added so far."""
        self.cancelled = False

    # -- reading ---------------------------------------------------------------------------

    def read(self, cancelled: Callable[[], bool] | None) -> Iterator[int]:
        """Read and store, yielding how many bytes of the candidate's files are done."""
        if is_unchanged(self._log, self._format, self._candidate):
            self._main.unchanged = True
            self._states()
            self._is_refused(self._candidate.path, self._chronicum(self._candidate.session_id))
            return
        # Taken before reading: what is written meanwhile belongs to the next import.
        self._stats = {path: _stat(path) for path in self._candidate.paths}
        place: tuple[Path, int] | None = None
        idle = 0
        for item in self._items():
            if isinstance(item, FileUnreadable):
                self._problem(item.path, 0, item.reason)
                continue
            if isinstance(item.item, CONTENT):
                # All blocks of a record go into one transaction (see `Recorder.store`).
                if (item.path, item.item.line) != place and self._is_full():
                    self._flush()
                    yield sum(self._places.values())
                    if self._stops(cancelled):
                        return
                place = (item.path, item.item.line)
            if isinstance(item.item, Underway):
                self._places[item.path] = item.item.place
                yield sum(self._places.values())
                if self._stops(cancelled):
                    return
                continue
            self._take(item.path, item)
            if isinstance(item.item, Checkpoint):
                idle = 0 if self._entries else idle + 1
                if idle % _IDLE_CHECKPOINTS == 0:
                    self._flush()
                yield sum(self._places.values())
                if self._stops(cancelled):
                    return
        self._flush(at_end=True)

    def _is_full(self) -> bool:
        return len(self._entries) >= _BATCH_ITEMS or self._bytes >= _BATCH_BYTES

    def _stops(self, cancelled: Callable[[], bool] | None) -> bool:
        self.cancelled = cancelled is not None and cancelled()
        return self.cancelled

    def _items(self) -> Iterator[Placed]:
        candidate, agents = self._candidate, self._candidate.agents
        states = self._states()
        for state in states.values():
            self._format.restore(state, candidate, self._recorder.safe_name)
        # Half-written lines are looked at again.
        self._main.waiting = 0
        if not candidate.orphan:
            self._main.sub_agents_linked = sum(1 for agent in agents if agent.call_id)
        self._main.sub_agents_orphaned = len(agents) - self._main.sub_agents_linked
        return self._format.read(candidate, owner=self._owner, states=states)

    def _states(self) -> dict[Path, FileState]:
        """What is remembered of the files; what earlier imports could not read of them is reported."""
        states: dict[Path, FileState] = {}
        with self._log.reader() as connection:
            for path in self._candidate.paths:
                known = known_source(connection, self._format.name, path, self._log.redactor)
                state = None if known is None else _state(known, self._format)
                if state is not None:
                    states[path] = state
                    self._unread.known(path, state.unread)
                    self._main.unread_before += state.unread
                    self._main.waiting += state.partial
        return states

    def _chronicum(self, session_id: str) -> str:
        return self._recorder.safe_name(f"{self._format.name}/{session_id}")

    def _take(self, path: Path, placed: FileItem) -> None:
        item = placed.item
        if isinstance(item, CONTENT):
            if self._is_refused(path, self._recorder.safe_name(item.chronicum_id)):
                return
            self._entries.append(self._entry(path, item))
            if isinstance(item, ActumItem):
                self._bytes += len(item.content)
        elif isinstance(item, DescribeItem):
            chronicum_id = self._recorder.safe_name(item.chronicum_id)
            if chronicum_id not in self._refused:
                known = self._descriptions.setdefault(chronicum_id, {})
                for field, value in item.fields.items():
                    name = value
                    if field == "forked_from":
                        name = self._recorder.safe_name(value)
                        add_counts(self._main.redactions, self._log.redactor.redact_text(value)[1])
                    known[field] = (name, item.own)
        elif isinstance(item, Ignored):
            # Its kind is a word of the file.
            add_counts(self._main.ignored, {self._log.redactor.redact_text(item.kind)[0]: 1})
        elif isinstance(item, Problem):
            self._unread.add(path, item.line)
            self._problem(path, item.line, item.reason)
        elif isinstance(item, Restarted):
            self._main.unread_before -= self._unread.restarted(path)
        elif isinstance(item, Repaired):
            add_counts(self._main.repaired, {item.kind: item.count})
        elif isinstance(item, Checkpoint):
            item.state.unread = self._unread.upto(path, item.state.line)
            item.state.partial = item.partial
            self._checkpoints[path] = item
            self._places[path] = item.place
            self._main.waiting += item.partial
            self._main.waiting_messages += item.waiting

    # -- storing ---------------------------------------------------------------------------

    def _flush(self, *, at_end: bool = False) -> None:
        entries = self._recorder.without_secrets(self._entries)
        self._entries, self._bytes = [], 0
        checkpoints, self._checkpoints = self._checkpoints, {}
        if self._dry_run:
            outcome = self._recorder.look(entries)
            told = self._describe(None, outcome, at_end=at_end)
            for chronicum_id in told:
                del self._descriptions[chronicum_id]
            self._keep(outcome)
            return
        if at_end:
            checkpoints = self._unsettled | checkpoints
        if not entries and not checkpoints and not (at_end and self._descriptions):
            return
        with self._log.transaction() as transaction:
            outcome = self._recorder.store(transaction, entries)
            for chronicum_id, first in outcome.forked_from.items():
                self._descriptions.setdefault(chronicum_id, {}).setdefault("forked_from", (first, False))
            told = self._describe(transaction, outcome, at_end=at_end)
            untold = {each: fields for each, fields in self._descriptions.items() if each not in told}
            if not self._refused and not outcome.foreign:
                # Whoever owns a refused session must still find its records unread.
                for path, checkpoint in checkpoints.items():
                    self._save(transaction, path, checkpoint, untold, at_end=at_end)
        # Only what is committed is reported.
        self._descriptions = untold
        for path, checkpoint in checkpoints.items():
            self._unsettled.pop(path, None)
            if untold:
                self._unsettled[path] = checkpoint
        self._keep(outcome)

    def _describe(self, transaction: Transaction | None, outcome: Outcome, *, at_end: bool) -> set[str]:
        """Tell what is known of sessions that got something new; at the end of all; which were told.
        Without a transaction it is counted only.

        A file that is read again repeats all its old titles, branches and versions: only where they end
        may they count.
        """
        fed = {entry.chronicum_id for entry in outcome.stored}
        told = set()
        for chronicum_id, fields in self._descriptions.items():
            if not at_end and chronicum_id not in fed:
                continue
            for replaces in (True, False):
                some = {name: value for name, (value, own) in fields.items() if own is replaces}
                if transaction is None:
                    removed = self._recorder.look_at_description(chronicum_id, some, replaces=replaces)
                else:
                    removed = self._recorder.describe(transaction, chronicum_id, some, replaces=replaces)
                if removed is not None:
                    told.add(chronicum_id)
                    add_counts(outcome.redactions, removed)
        return told

    def _save(
        self,
        transaction: Transaction,
        path: Path,
        checkpoint: Checkpoint,
        untold: dict[str, dict[str, tuple[Any, bool]]],
        *,
        at_end: bool,
    ) -> None:
        stat = self._stats.get(path)
        if stat is None:
            return
        state = checkpoint.state
        is_whole = checkpoint.at_end and not checkpoint.waiting and (at_end or not untold)
        if untold:
            # The reader thinks it told these; the next one has to tell them again.
            state = copy_state(state)
            for session_id, session in state.sessions.items():
                fields = untold.get(self._chronicum(session_id), {})
                session.known.update((name, value) for name, (value, _) in fields.items())
                session.changed = sorted({*session.changed, *fields})
        if not is_whole:
            stat = _Stat(stat.size, UNFINISHED)
        text = _stored_state(state, self._recorder, self._log.redactor)
        source = Source(*stat, offset=state.offset, state=text)
        save_source(transaction.connection, path, self._format.name, source, now_micros(), self._log.redactor)

    def _keep(self, outcome: Outcome) -> None:
        for entry in outcome.stored:
            report = self._report(entry.chronicum_id)
            kind = entry.kind
            report.added[kind] = report.added.get(kind, 0) + 1
            if kind != "unit_closed":
                report.acta_added += 1
                self.acta += 1
        for entry in outcome.duplicates:
            self._report(entry.chronicum_id).duplicates += 1
        for entry, reason in outcome.refused:
            self._problem(Path(entry.occurrence[0]), entry.occurrence[1], reason)
        for chronicum_id in outcome.foreign - self._refused:
            self._refuse(self._candidate.path, chronicum_id)
        add_counts(self._main.redactions, outcome.redactions)

    def _is_refused(self, path: Path, chronicum_id: str) -> bool:
        if chronicum_id in self._refused:
            return True
        if chronicum_id in self._by_session:
            return False
        if self._recorder.refuses(chronicum_id):
            self._refuse(path, chronicum_id)
            return True
        self._report(chronicum_id)
        return False

    def _refuse(self, path: Path, chronicum_id: str) -> None:
        self._refused.add(chronicum_id)
        report = self._report(chronicum_id)
        report.refused = True
        reason = f"the session {chronicum_id} belongs to another owner"
        report.note(ImportProblem(self._told(path), 0, reason))

    # -- reporting -------------------------------------------------------------------------

    def _report(self, chronicum_id: str) -> SessionReport:
        found = self._by_session.get(chronicum_id)
        if found is None:
            if self._main.id:
                found = SessionReport(id=chronicum_id, source=self._main.source)
            else:
                # What concerns the file as a whole stands at its first session.
                found = self._main
                found.id = chronicum_id
            self._by_session[chronicum_id] = found
        return found

    def _problem(self, path: Path, line: int, reason: str) -> None:
        main = self._main
        if line and len(main.problems) >= MOST_PROBLEMS:
            # A file may have millions of bad lines: naming one costs more than reading it.
            main.problems_more += 1
            return
        main.note(ImportProblem(self._told(path), line, self._log.redactor.redact_text(reason)[0]))

    def _told(self, path: Path) -> str:
        """A path as a report may name it: folders and files may be called after a key."""
        return self._log.redactor.redact_text(stored_path(path))[0]

    def reports(self) -> list[SessionReport]:
        """One report for each session of the candidate; one without an id if it fed none."""
        reports = [self._main, *(r for r in self._by_session.values() if r is not self._main)]
        with self._log.reader() as connection:
            for report in reports:
                if report.refused:
                    # How much another owner's session holds is not told.
                    continue
                total = fetch.value(
                    connection,
                    "SELECT a.acta FROM chronica c JOIN session_activity a USING(stream_id) "
                    "WHERE c.chronicum_id = ?",
                    (report.id,),
                )
                report.acta_total = (total or 0) + self._recorder.rehearsed.get(report.id, 0)
        return reports

    def _entry(self, path: Path, item: ActumItem | UnitClosedItem) -> Entry:
        event = _unit(item) if isinstance(item, UnitClosedItem) else self._actum(path, item)
        return Entry(
            chronicum_id=item.chronicum_id,
            record_key=item.record_key,
            source_key=item.source_key,
            occurrence=(str(path), item.line),
            event=event,
            occurred_at=item.occurred_at,
        )

    def _filtered(self, path: Path, line: int, evidence: EvidenceBytes) -> bytes:
        """The bytes to keep: of text, whatever it claims to be, without its secrets, of anything else as they
        are, with a word of what was found in it."""
        clean, found, is_text = redact_bytes(evidence.data, self._log.redactor)
        if is_text:
            add_counts(self._main.redactions, found)
        elif found:
            kinds = ", ".join(sorted(found))
            self._problem(
                path, line, f"an image or document seems to hold secrets ({kinds}) and was kept as it is"
            )
        return clean

    def _actum(self, path: Path, item: ActumItem) -> ActumRecorded:
        metadata = item.metadata
        contents = [self._filtered(path, item.line, evidence) for evidence in item.evidence]
        if contents and not self._dry_run:
            metadata = {**metadata, "evidence": [self._evidence.put(content) for content in contents]}
        return actum_event(
            chronicum_id=item.chronicum_id,
            kind=item.kind,
            actor_kind=item.actor_kind,
            actor=item.actor,
            content=item.content,
            metadata=metadata,
            source_key=item.source_key,
        )


def _unit(item: UnitClosedItem) -> UnitClosed:
    return UnitClosed(
        chronicum_id=item.chronicum_id,
        unit=item.unit,
        note=item.note or msgspec.UNSET,
        source_key=item.source_key,
    )


def _state(known: Source, kind: TranscriptFormat) -> FileState | None:
    """The reader's state, or None if another release wrote it: the file is then read again."""
    try:
        state = msgspec.json.decode(known.state, type=kind.state_type)
    except msgspec.MsgspecError:
        return None
    return state if state.version == STATE_VERSION else None


def _stored_state(state: FileState, recorder: Recorder, redactor: Redactor) -> str:
    """The state as JSON without secrets: what the reader remembers are pieces of the file."""
    encoded = msgspec.json.encode(state)
    if redactor.may_change(encoded):
        fields = msgspec.to_builtins(state)
        digest, first_session, sessions = fields["digest"], state.first_session, fields["sessions"]
        fields["first_session"] = recorder.safe_name(first_session)
        fields["sessions"] = {recorder.safe_name(name): session for name, session in sessions.items()}
        clean, _ = redactor.redact_value(fields)
        encoded = msgspec.json.encode({**clean, "digest": digest})
    return encoded.decode()


def _stat(path: Path) -> _Stat | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Stat(found.st_size, found.st_mtime_ns)


def _size(path: Path) -> int:
    found = _stat(path)
    return found.size if found else 0

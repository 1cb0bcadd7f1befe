"""Importing Claude Code transcripts into a log (contract transcripts)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from workbench.evidence import EvidenceStore
from workbench.imports.claude_code.discover import Candidate
from workbench.imports.claude_code.items import (
    ActumItem,
    Checkpoint,
    DescribeItem,
    Ignored,
    Problem,
    Repaired,
    UnitClosedItem,
)
from workbench.imports.claude_code.session import FileItem, FileUnreadable, read_orphan, read_session
from workbench.imports.claude_code.state import STATE_VERSION, ReaderState
from workbench.imports.recorder import Entry, Outcome, Recorder, actum_event
from workbench.imports.report import ImportProblem, ImportReport, SessionReport, add_counts
from workbench.imports.sources import Source, known_source, save_source, stored_path
from workbench.log.event_log import EventLog
from workbench.log.times import now_micros
from workbench.sessions.events import ActumRecorded, UnitClosed
from workbench.storage import fetch

KIND = "claude-code"
Progress = Callable[[int, int | None, str], None]

_BATCH_ITEMS = 2000
_BATCH_BYTES = 4 * 1024 * 1024


class _Stat(NamedTuple):
    size: int
    mtime_ns: int


def import_transcripts(
    log: EventLog,
    evidence: EvidenceStore,
    candidates: Sequence[Candidate],
    *,
    owner: str,
    dry_run: bool = False,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> ImportReport:
    """Read each candidate's new lines and store what is new of them.

    `owner` owns new sessions and is the human in them; a session of another owner is refused and the
    others go on. `progress(done, total, note)` counts bytes. `cancelled()` is asked between
    transactions. With `dry_run` nothing is written. Raises only what makes going on senseless: storage
    and evidence errors.
    """
    report = ImportReport(dry_run=dry_run)
    total = sum(_size(path) for candidate in candidates for path in _paths(candidate))
    done = 0
    for candidate in candidates:
        if cancelled is not None and cancelled():
            report.cancelled = True
            break
        run = _Run(log, evidence, candidate, owner, dry_run)
        for place in run.read(cancelled):
            if progress is not None:
                progress(min(done + place, total), total, candidate.path.name)
        done += sum(_size(path) for path in _paths(candidate))
        if progress is not None:
            progress(min(done, total), total, candidate.path.name)
        report.sessions.extend(run.reports())
        if run.cancelled:
            report.cancelled = True
            break
    report.sum_up()
    return report


def is_unchanged(log: EventLog, candidate: Candidate) -> bool:
    """Whether every file of a candidate is just as it was at its last import."""
    with log.reader() as connection:
        for path in _paths(candidate):
            known = known_source(connection, path)
            if known is None or _Stat(known.size, known.mtime_ns) != _stat(path):
                return False
            if known.offset < known.size:
                return False
    return True


class _Run:
    """One candidate: a trunk with its sub-agents, or an orphan."""

    def __init__(
        self, log: EventLog, evidence: EvidenceStore, candidate: Candidate, owner: str, dry_run: bool
    ) -> None:
        self._log = log
        self._evidence = evidence
        self._candidate = candidate
        self._owner = owner
        self._dry_run = dry_run
        self._recorder = Recorder(log, owner)
        self._by_session: dict[str, SessionReport] = {}
        self._refused: set[str] = set()
        self._main = SessionReport(id="", source=stored_path(candidate.path))
        self._entries: list[Entry] = []
        self._descriptions: list[DescribeItem] = []
        self._states: dict[Path, ReaderState] = {}
        self._bytes = 0
        self._stats: dict[Path, _Stat | None] = {}
        self._places: dict[Path, int] = {}
        self.cancelled = False

    # -- reading ---------------------------------------------------------------------------

    def read(self, cancelled: Callable[[], bool] | None) -> Iterator[int]:
        """Read and store, yielding how many bytes of the candidate's files are done."""
        if is_unchanged(self._log, self._candidate):
            self._main.unchanged = True
            return
        # Taken before reading: what is written meanwhile belongs to the next import.
        self._stats = {path: _stat(path) for path in _paths(self._candidate)}
        for item in self._items():
            if isinstance(item, FileUnreadable):
                self._problem(item.path, 0, item.reason)
                continue
            self._take(item.path, item)
            at_checkpoint = isinstance(item.item, Checkpoint)
            if at_checkpoint or len(self._entries) >= _BATCH_ITEMS or self._bytes >= _BATCH_BYTES:
                self._flush()
                yield sum(self._places.values())
                if cancelled is not None and cancelled():
                    self.cancelled = True
                    return
        self._flush()

    def _items(self) -> Iterator[FileItem | FileUnreadable]:
        candidate = self._candidate
        states: dict[Path, ReaderState] = {}
        with self._log.reader() as connection:
            for path in _paths(candidate):
                known = known_source(connection, path)
                state = None if known is None else _state(known)
                if state is not None:
                    states[path] = state
        if candidate.orphan:
            self._main.sub_agents_orphaned = 1
            [agent] = candidate.agents
            return read_orphan(agent, owner=self._owner, state=states.get(agent.path))
        self._main.sub_agents_linked = sum(1 for agent in candidate.agents if agent.call_id)
        self._main.sub_agents_orphaned = len(candidate.agents) - self._main.sub_agents_linked
        return read_session(candidate.path, owner=self._owner, agents=candidate.agents, states=states)

    def _take(self, path: Path, placed: FileItem) -> None:
        item = placed.item
        if isinstance(item, ActumItem | UnitClosedItem):
            if self._is_refused(path, item.chronicum_id):
                return
            self._entries.append(self._entry(path, item))
            if isinstance(item, ActumItem):
                self._bytes += len(item.content)
        elif isinstance(item, DescribeItem):
            if item.chronicum_id not in self._refused:
                self._descriptions.append(item)
        elif isinstance(item, Ignored):
            add_counts(self._main.ignored, {item.kind: 1})
        elif isinstance(item, Problem):
            self._problem(path, item.line, item.reason)
        elif isinstance(item, Repaired):
            add_counts(self._main.repaired, {item.kind: item.count})
        elif isinstance(item, Checkpoint):
            self._states[path] = item.state
            self._places[path] = item.state.offset
            self._main.waiting = max(self._main.waiting, item.partial)

    # -- storing ---------------------------------------------------------------------------

    def _flush(self) -> None:
        entries, self._entries, self._bytes = self._entries, [], 0
        descriptions, self._descriptions = self._descriptions, []
        states, self._states = self._states, {}
        if self._dry_run:
            self._keep(self._recorder.look(entries))
            return
        if not entries and not descriptions and not states:
            return
        with self._log.transaction() as transaction:
            outcome = self._recorder.store(transaction, entries)
            for item in descriptions:
                self._recorder.describe(transaction, item.chronicum_id, item.fields, replaces=item.own)
            for chronicum_id, first in outcome.forked_from.items():
                fields = {"forked_from": first}
                self._recorder.describe(transaction, chronicum_id, fields, replaces=False)
            for path, state in states.items():
                stat = self._stats.get(path)
                if stat is not None:
                    text = msgspec.json.encode(state).decode()
                    source = Source(*stat, offset=state.offset, state=text)
                    save_source(transaction.connection, path, KIND, source, now_micros())
        # Only what is committed is reported.
        self._keep(outcome)

    def _keep(self, outcome: Outcome) -> None:
        for entry in outcome.stored:
            report = self._report(entry.chronicum_id)
            kind = entry.kind
            report.added[kind] = report.added.get(kind, 0) + 1
            report.acta_added += kind != "unit_closed"
        for entry in outcome.duplicates:
            self._report(entry.chronicum_id).duplicates += 1
        for entry, reason in outcome.refused:
            self._problem(Path(entry.occurrence[0]), entry.occurrence[1], reason)
        add_counts(self._main.redactions, outcome.redactions)

    def _is_refused(self, path: Path, chronicum_id: str) -> bool:
        if chronicum_id in self._by_session:
            return False
        if chronicum_id in self._refused:
            return True
        if self._recorder.refuses(chronicum_id):
            self._refused.add(chronicum_id)
            self._problem(path, 0, "the session belongs to another owner")
            return True
        self._report(chronicum_id)
        return False

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
        self._main.problems.append(ImportProblem(stored_path(path), line, reason))

    def reports(self) -> list[SessionReport]:
        """One report for each session of the candidate; one without an id if it fed none."""
        if not self._main.id and self._main.unchanged:
            self._main.id = f"{KIND}/{self._candidate.session_id}"
        reports = [self._main, *(r for r in self._by_session.values() if r is not self._main)]
        with self._log.reader() as connection:
            for report in reports:
                total = fetch.value(
                    connection,
                    "SELECT a.acta FROM chronica c JOIN session_activity a USING(stream_id) "
                    "WHERE c.chronicum_id = ?",
                    (report.id,),
                )
                report.acta_total = (total or 0) + (report.acta_added if self._dry_run else 0)
        return reports

    def _entry(self, path: Path, item: ActumItem | UnitClosedItem) -> Entry:
        event = _unit(item) if isinstance(item, UnitClosedItem) else self._actum(item)
        return Entry(
            chronicum_id=item.chronicum_id,
            record_key=item.record_key,
            source_key=item.source_key,
            occurrence=(str(path), item.line),
            event=event,
            occurred_at=item.occurred_at,
        )

    def _actum(self, item: ActumItem) -> ActumRecorded:
        metadata = item.metadata
        if item.evidence and not self._dry_run:
            digests = [self._evidence.put(evidence.data) for evidence in item.evidence]
            metadata = {**metadata, "evidence": digests}
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


def _state(known: Source) -> ReaderState | None:
    """The reader's state, or None if another release wrote it: the file is then read again."""
    try:
        state = msgspec.json.decode(known.state, type=ReaderState)
    except msgspec.MsgspecError:
        return None
    return state if state.version == STATE_VERSION else None


def _paths(candidate: Candidate) -> list[Path]:
    return list(dict.fromkeys((candidate.path, *(agent.path for agent in candidate.agents))))


def _stat(path: Path) -> _Stat | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Stat(found.st_size, found.st_mtime_ns)


def _size(path: Path) -> int:
    found = _stat(path)
    return found.size if found else 0

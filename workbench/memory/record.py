"""`record_event` from a checked input to its receipt (contract memory, "Order of work")."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import apsw
import msgspec
from msgspec import UNSET

from workbench.identity.registry import Registry
from workbench.identity.scopes import Scope
from workbench.log.event_log import EventLog
from workbench.log.streams import scope_stream
from workbench.log.times import Clock, from_micros, now_micros, to_micros
from workbench.memory.closed_tasks import closed_by
from workbench.memory.draft import Draft, Names, named
from workbench.memory.entry import Entry
from workbench.memory.events import Evidence, GuardVerdict
from workbench.memory.fact_check import FactDecision, checked
from workbench.memory.filtering import Filtered, filtered, refuse_secrets
from workbench.memory.folds import RAW_ONLY, STATUS_SLOT
from workbench.memory.hashing import content_hash, request_hash
from workbench.memory.ports import EvidenceStaging, StagedEvidence, StagedItem
from workbench.memory.receipts import (
    EXISTING,
    SAME_CONTENT,
    SAME_REQUEST,
    STORED,
    CategoryFallback,
    Receipt,
    TaskClosed,
)
from workbench.memory.recent import recent_texts
from workbench.memory.requests import repeated_content, repeated_request
from workbench.memory.stored import StoredCall, known
from workbench.storage import fetch
from workbench.storage.errors import DatabaseReadOnly

SAME_QUARANTINED = "the same text was quarantined"
"""Why a repeat is withheld from the start."""


class Recorder:
    """Records checked inputs; threads may share it.

    `registry` gives the names of now, `staging` the evidence's way in (None: source files are noted as
    `skipped`), `clock` the time by which "the last 24 hours" is meant: the log's own one.
    """

    def __init__(
        self,
        log: EventLog,
        registry: Callable[[], Registry],
        staging: Callable[[], EvidenceStaging] | None,
        clock: Clock | None,
    ) -> None:
        self._log = log
        self._registry = registry
        self._staging = staging
        self._micros: Callable[[], int] = now_micros if clock is None else lambda: to_micros(clock())

    def record(self, entry: Entry, *, guarded: bool = False) -> Receipt:
        """Record an entry; with `guarded` the memory guard judges what is neither checkpoint nor fact.

        Raises `InvalidArgument`, `RequestConflict`, `StaleFact`, the evidence's errors, and those of a write.
        A refusal leaves the log and the evidence as they were.
        """
        log = self._log
        if log.read_only:
            # Before anything is staged beside it.
            raise DatabaseReadOnly(f"{log.path} is open read-only", hint="open it without --read-only")
        names = named(self._registry(), entry)
        scope = names.scope
        refuse_secrets(log.redactor, {"domain": scope.domain, "project": scope.project, "agent": names.agent})
        clean = filtered(entry, log.redactor)
        verdict = self._judged(clean.entry, scope) if guarded else None
        if not entry.source_files:
            return self._write(clean, names, verdict, (), None)
        if self._staging is None:
            skipped = [Evidence(path=path, status="skipped") for path in clean.entry.source_files]
            return self._write(clean, names, verdict, skipped, None)
        # As given: what the filter makes of a path is no path.
        staged = self._staging().stage(entry.source_files)
        try:
            return self._write(clean, names, verdict, [_evidence(each) for each in staged.evidence], staged)
        finally:
            staged.discard()

    def _judged(self, entry: Entry, scope: Scope) -> GuardVerdict | None:
        if entry.checkpoint is not None or entry.fact is not None:
            return None
        # Its expressions are compiled only for whom it judges.
        from workbench.memory import guard

        return guard.judged(
            entry.text,
            why=entry.why,
            category=entry.category,
            project=entry.project,
            has_files=bool(entry.source_files),
            recent=recent_texts(self._log, scope.domain_forms, count=guard.RECENT, now=self._micros()),
        )

    def _write(
        self,
        clean: Filtered,
        names: Names,
        verdict: GuardVerdict | None,
        evidence: Sequence[Evidence],
        staged: StagedEvidence | None,
    ) -> Receipt:
        log, entry, scope = self._log, clean.entry, names.scope
        asked, content = request_hash(entry), content_hash(entry)
        with log.transaction() as transaction:
            connection = transaction.connection
            if entry.request_id is not None:
                call = repeated_request(connection, log.decoder, log.redactor, entry, asked)
                if call is not None:
                    return _of_stored(call, clean, self._closed(connection, entry, scope))
            now = self._now(connection)
            repeated = repeated_content(connection, scope, content, private=entry.private, now=now)
            first = repeated.memory_event
            if repeated.quarantined and entry.fact is None:
                verdict = _withheld_again(verdict)
            decision = FactDecision()
            if entry.fact is not None:
                decision = checked(
                    connection,
                    log.decoder,
                    log.redactor,
                    scope,
                    entry.fact,
                    private=entry.private,
                    hands_off=entry.checkpoint is not None,
                )
            draft = Draft(
                clean, names, verdict, evidence, asked, content, log.redactor.version, first, decision
            )
            batch = draft.events()
            if staged is not None:
                staged.keep()
            stored = transaction.append(scope_stream(*scope.key), batch)
            closed = self._closed(connection, entry, scope)
        ids = [str(event.event_id) for event in batch]
        confirmed = decision.confirms
        return _receipt(
            draft,
            event_id=first or ids[0],
            observation_id=ids[0],
            checkpoint_id=ids[1] if entry.checkpoint is not None else None,
            fact_id=(ids[-1] if confirmed is UNSET else confirmed) if entry.fact is not None else None,
            position=stored.first_position,
            recorded_at=stored.recorded_at,
            closed=closed,
        )

    def _closed(self, connection: apsw.Connection, entry: Entry, scope: Scope) -> TaskClosed | None:
        """What closes the task of an entry's checkpoint, unless the entry itself says how the task stands."""
        if entry.checkpoint is None or (entry.fact is not None and entry.fact.slot == STATUS_SLOT):
            return None
        return closed_by(connection, self._log.decoder, scope, private=entry.private)

    def _now(self, connection: apsw.Connection) -> int:
        """The time that the append is going to have: the log's never falls."""
        last = fetch.value(connection, "SELECT recorded_at FROM events ORDER BY position DESC LIMIT 1")
        return max(self._micros(), last or 0)


def _withheld_again(verdict: GuardVerdict | None) -> GuardVerdict:
    """The verdict on what repeats a quarantined text: it stays withheld until a person releases it."""
    told = GuardVerdict(visibility=RAW_ONLY, risk=0, score=0, reasons=[SAME_QUARANTINED])
    if verdict is None:
        return told
    return msgspec.structs.replace(verdict, visibility=RAW_ONLY, reasons=[SAME_QUARANTINED, *verdict.reasons])


def _receipt(
    draft: Draft,
    *,
    event_id: str,
    observation_id: str,
    checkpoint_id: str | None,
    fact_id: str | None,
    position: int,
    recorded_at: int,
    closed: TaskClosed | None,
) -> Receipt:
    names, entry = draft.names, draft.clean.entry
    return Receipt(
        event_id=event_id,
        observation_id=observation_id,
        fact_id=fact_id,
        checkpoint_id=checkpoint_id,
        position=position,
        recorded_at=from_micros(recorded_at),
        occurred_at=entry.occurred_at,
        chronicle_status=STORED if draft.memory_event is None else EXISTING,
        dedupe_status=None if draft.memory_event is None else SAME_CONTENT,
        domain=names.scope.domain,
        project=names.scope.project,
        task_id=names.scope.task_id,
        agent=names.agent,
        domain_raw=names.domain_raw,
        project_raw=names.project_raw,
        agent_raw=names.agent_raw,
        agent_source=entry.agent_source,
        session_id=entry.session_id,
        request_id=entry.request_id,
        external_id=entry.external_id,
        entity_id=entry.entity_id,
        entity_type=entry.entity_type,
        visibility=entry.visibility,
        category=entry.category,
        category_fallback=_fallback(entry),
        text=entry.text,
        why=entry.why,
        source_files=entry.source_files,
        evidence=tuple(draft.evidence),
        artifacts_written=len({each.sha256 for each in draft.evidence} - {UNSET}),
        redactions=draft.clean.counts,
        memory_guard=draft.verdict,
        warnings=_warnings(entry),
        task_closed=closed,
    )


def _of_stored(call: StoredCall, clean: Filtered, closed: TaskClosed | None) -> Receipt:
    """The receipt of a call that was made before: what is said is what the first one stored."""
    said = call.observation
    return Receipt(
        event_id=known(said.memory_event) or call.observation_id,
        observation_id=call.observation_id,
        fact_id=call.fact_id,
        checkpoint_id=call.checkpoint_id,
        position=call.position,
        recorded_at=from_micros(call.recorded_at),
        occurred_at=None if call.occurred_at is None else from_micros(call.occurred_at),
        chronicle_status=EXISTING,
        dedupe_status=SAME_REQUEST,
        domain=said.domain,
        project=known(said.project),
        task_id=known(said.task_id),
        agent=said.agent,
        domain_raw=known(said.domain_raw),
        project_raw=known(said.project_raw),
        agent_raw=known(said.agent_raw),
        agent_source=said.agent_source,
        session_id=known(said.session_id),
        request_id=known(said.request_id),
        external_id=known(said.external_id),
        entity_id=known(said.entity_id),
        entity_type=known(said.entity_type),
        visibility="private" if call.private else "public",
        category=said.category,
        category_fallback=_fallback(clean.entry),
        text=said.text,
        why=known(said.why),
        source_files=tuple(known(said.source_files) or ()),
        evidence=tuple(known(said.evidence) or ()),
        redactions=clean.counts,
        memory_guard=known(said.memory_guard),
        warnings=_warnings(clean.entry),
        task_closed=closed,
    )


def _warnings(entry: Entry) -> tuple[str, ...]:
    if entry.fact is not None and entry.fact.slot == STATUS_SLOT and entry.task_id is None:
        # A fact needs no task, so it is no error; but no list of tasks will ever heed this one.
        return (f"{STATUS_SLOT} without a task closes none: this names no task; add --task-id",)
    return ()


def _fallback(entry: Entry) -> CategoryFallback | None:
    asked = entry.category_fallback
    return None if asked is None else CategoryFallback(asked, entry.category)


def _evidence(item: StagedItem) -> Evidence:
    fields = {
        "sha256": item.sha256,
        "size": item.size,
        "reason": item.reason,
        "removed": dict(item.removed) if item.removed else None,
    }
    return Evidence(
        path=item.path, status=item.status, **{key: v for key, v in fields.items() if v is not None}
    )

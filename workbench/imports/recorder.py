"""Writing imported acta into the log: each record once, whoever imports it and however often.

The write lock is what makes it once: whether a record is known is asked inside the transaction that
would store it (contract transcripts, "Transactions").
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw
import msgspec
from msgspec import UNSET

from workbench.log.errors import InvalidIdentifier, InvalidPayload
from workbench.log.event_log import EventLog, Receipt, Transaction
from workbench.log.registry import Payload, PendingEvent
from workbench.log.streams import session_stream
from workbench.sessions.chronicarius import random_id
from workbench.sessions.events import ActumRecorded, ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.storage import fetch


class Entry(msgspec.Struct, kw_only=True, frozen=True):
    """An actum or a closed unit that is ready to be stored."""

    chronicum_id: str
    record_key: str
    """Names the record that it came from; every block of one record has the same."""
    source_key: str
    occurrence: tuple[str, int]
    """File and line: a second occurrence of a record is a duplicate, further blocks of one are not."""
    event: ActumRecorded | UnitClosed
    occurred_at: datetime | None

    @property
    def kind(self) -> str:
        """The actum's kind, or `unit_closed`."""
        return self.event.kind if isinstance(self.event, ActumRecorded) else "unit_closed"


def actum_event(
    *,
    chronicum_id: str,
    kind: str,
    actor_kind: str,
    actor: str,
    content: str,
    metadata: dict[str, Any],
    source_key: str,
) -> ActumRecorded:
    """The payload of an imported actum, with an id of its own."""
    return ActumRecorded(
        id=random_id(),
        chronicum_id=chronicum_id,
        kind=kind,
        actor_kind=actor_kind,
        actor=actor,
        content=content,
        metadata=metadata,
        idempotency_key=source_key,
    )


class Outcome(msgspec.Struct, kw_only=True):
    """What one call of `Recorder.store` did."""

    stored: list[Entry] = msgspec.field(default_factory=list)
    duplicates: list[Entry] = msgspec.field(default_factory=list)
    """One entry for each record that was known."""
    refused: list[tuple[Entry, str]] = msgspec.field(default_factory=list)
    redactions: dict[str, int] = msgspec.field(default_factory=dict)
    forked_from: dict[str, str] = msgspec.field(default_factory=dict)
    """For a session that repeats another one's records: the session that had them first."""


class Recorder:
    """Stores entries and descriptions for one owner; used from one thread."""

    def __init__(self, log: EventLog, owner: str) -> None:
        self._log = log
        self._owner = owner
        self._decided: dict[tuple[str, int, str], bool] = {}

    def refuses(self, chronicum_id: str) -> bool:
        """Whether the session belongs to another owner."""
        with self._log.reader() as connection:
            owner = fetch.value(
                connection, "SELECT owner_id FROM chronica WHERE chronicum_id = ?", (chronicum_id,)
            )
        return owner is not None and owner != self._owner

    def look(self, entries: Sequence[Entry]) -> Outcome:
        """What `store` would do, without writing: for dry runs."""
        outcome = Outcome()
        with self._log.reader() as connection:
            outcome.stored = self._fresh(connection, entries, outcome)
        return outcome

    def store(self, transaction: Transaction, entries: Sequence[Entry]) -> Outcome:
        """Append what is new of `entries`, in order, inside an open transaction."""
        outcome = Outcome()
        fresh = self._fresh(transaction.connection, entries, outcome)
        start = 0
        for end in range(1, len(fresh) + 1):
            if end == len(fresh) or fresh[end].chronicum_id != fresh[start].chronicum_id:
                self._append_run(transaction, fresh[start:end], outcome)
                start = end
        return outcome

    def describe(
        self, transaction: Transaction, chronicum_id: str, fields: dict[str, Any], *, replaces: bool
    ) -> None:
        """Append what of a description is new; with `replaces` false only what was unknown so far.

        A session that was never created (all its records are elsewhere) is not described.
        """
        rows = fetch.rows(
            transaction.connection,
            "SELECT d.field, d.value FROM chronica c LEFT JOIN session_descriptions d "
            "ON d.stream_id = c.stream_id AND d.to_position IS NULL WHERE c.chronicum_id = ?",
            (chronicum_id,),
        )
        if not rows:
            return
        known = {field: msgspec.json.decode(value) for field, value in rows if field is not None}
        changed = {
            field: value
            for field, value in fields.items()
            if known.get(field) != value and (replaces or field not in known)
        }
        if changed:
            transaction.append(session_stream(chronicum_id), [ChronicumDescribed(**changed)])

    # -- inside ----------------------------------------------------------------------------

    def _fresh(self, connection: apsw.Connection, entries: Sequence[Entry], outcome: Outcome) -> list[Entry]:
        fresh: list[Entry] = []
        pending: dict[str, tuple[str, int]] = {}
        for entry in entries:
            occurrence = (*entry.occurrence, entry.record_key)
            known = self._decided.get(occurrence)
            if known is None:
                earlier = pending.get(entry.record_key)
                position = None
                if earlier is None:
                    position = _position_of(connection, entry.record_key)
                known = position is not None or (earlier is not None and earlier != entry.occurrence)
                self._decided = {occurrence: known}
                if known:
                    outcome.duplicates.append(entry)
                    if position is not None:
                        self._note_fork(connection, entry, position, outcome)
            if not known:
                pending[entry.record_key] = entry.occurrence
                fresh.append(entry)
        return fresh

    def _note_fork(self, connection: apsw.Connection, entry: Entry, position: int, outcome: Outcome) -> None:
        if entry.chronicum_id in outcome.forked_from:
            return
        first = fetch.value(
            connection,
            "SELECT c.chronicum_id FROM events e JOIN chronica c USING(stream_id) WHERE e.position = ?",
            (position,),
        )
        if first is not None and first != entry.chronicum_id:
            outcome.forked_from[entry.chronicum_id] = first

    def _append_run(self, transaction: Transaction, run: list[Entry], outcome: Outcome) -> None:
        chronicum_id = run[0].chronicum_id
        stream = session_stream(chronicum_id)
        events = [PendingEvent(payload=entry.event, occurred_at=entry.occurred_at) for entry in run]
        exists = fetch.value(
            transaction.connection, "SELECT 1 FROM chronica WHERE chronicum_id = ?", (chronicum_id,)
        )
        if not exists:
            events.insert(
                0,
                PendingEvent(payload=ChronicumCreated(chronicum_id=chronicum_id, owner_id=self._owner)),
            )
        try:
            self._count(transaction.append(stream, events), outcome)
            outcome.stored.extend(run)
            return
        except (InvalidIdentifier, InvalidPayload):
            # One of them is the culprit: find it by going one at a time.
            pass
        if not exists:
            transaction.append(stream, events[:1])
        for entry in run:
            try:
                event = PendingEvent(payload=self._named(entry.event), occurred_at=entry.occurred_at)
                self._count(transaction.append(stream, [event]), outcome)
                outcome.stored.append(entry)
            except (InvalidIdentifier, InvalidPayload) as error:
                outcome.refused.append((entry, error.message))

    def _named(self, event: Payload) -> Payload:
        """The event with the filter's marker where a name held a secret: never a reason to refuse it."""
        changed: dict[str, str] = {}
        for field in ("actor", "idempotency_key", "source_key"):
            value = getattr(event, field, UNSET)
            if isinstance(value, str):
                clean, found = self._log.redactor.redact_text(value)
                if found:
                    changed[field] = clean
        return msgspec.structs.replace(event, **changed) if changed else event

    def _count(self, receipt: Receipt, outcome: Outcome) -> None:
        for removal in receipt.removals:
            outcome.redactions[removal.kind] = outcome.redactions.get(removal.kind, 0) + removal.count


def _position_of(connection: apsw.Connection, record_key: str) -> int | None:
    """Where the first stored block of a record stands, or None."""
    position: int | None = fetch.value(
        connection,
        "SELECT position FROM imported_records WHERE source_key >= ? AND source_key < ? LIMIT 1",
        # Block keys are `<record key>:<index>`, and ";" is the character after ":".
        (f"{record_key}:", f"{record_key};"),
    )
    return position

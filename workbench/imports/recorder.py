"""Writing imported acta into the log: each record once, whoever imports it and however often.

The write lock is what makes it once: whether a record is known is asked inside the transaction that
would store it (contract transcripts, "Transactions").
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw
import msgspec

from workbench.imports.report import add_counts
from workbench.log.errors import InvalidIdentifier, InvalidPayload
from workbench.log.event_log import EventLog, Receipt, Transaction
from workbench.log.registry import PendingEvent, Removed
from workbench.log.streams import session_stream
from workbench.sessions.chronicarius import random_id
from workbench.sessions.events import ActumRecorded, ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.storage import fetch

_UUID = re.compile(r"(?:[a-z][a-z-]*:)?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
"""Names that most records have; with a prefix of ours, or without."""


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
    removed: dict[str, int] = {}
    """Secrets that `Recorder.without_secrets` took out, by kind."""

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
    foreign: set[str] = msgspec.field(default_factory=set)
    """Sessions of another owner: nothing was stored in them."""


class Recorder:
    """Stores entries and descriptions for one owner; used from one thread.

    One recorder serves a whole import, so that a rehearsal knows what it has seen in other files.
    """

    def __init__(self, log: EventLog, owner: str) -> None:
        self._log = log
        self._owner = owner
        self._named = ("", "")
        """The last name that was asked for and its safe form: records of one session come in a row."""
        self._stood_in: tuple[tuple[str, int], str] = (("", 0), "")
        self._seen: apsw.Connection | None = None
        self.rehearsed: dict[str, int] = {}
        """Acta by session that would have been stored so far, had `look` been `store`."""
        self._foretold: dict[str, dict[str, Any]] = {}

    # -- names -----------------------------------------------------------------------------

    def safe_name(self, name: str) -> str:
        """`name`, with the filter's marker in the place of a secret.

        Two names that differ in their secret only become one: nothing that could tell them apart may be kept.
        """
        if name != self._named[0]:
            self._named = (name, self._log.redactor.redact_text(name)[0])
        return self._named[1]

    def without_secrets(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries with markers where their names, or the text inside a call's JSON, held secrets.

        A secret in a name is never a reason to refuse a record (contract transcripts). The text of a call
        is JSON, where the letter of an escape stands before a token that begins a line: it is filtered by
        value. Everything else is filtered where every event is, at the log's door.
        """
        clean = list(entries)
        # One look over all names: hardly any holds a secret, and no UUID is one.
        given = {name for e in clean for name in (e.chronicum_id, e.record_key, _actor(e))}
        names = "\n".join(name for name in given if _UUID.fullmatch(name) is None)
        if self._log.redactor.may_change(names.encode("utf-8", "replace")):
            clean = [self._renamed(entry) for entry in clean]
        for index, entry in enumerate(clean):
            event = entry.event
            if (
                isinstance(event, ActumRecorded)
                and event.kind == "tool_request"
                and "\\" in event.content
                and self._log.redactor.may_change(event.content.encode("utf-8", "replace"))
            ):
                clean[index] = self._refilled(entry, event)
        return clean

    # -- looking ---------------------------------------------------------------------------

    def refuses(self, chronicum_id: str) -> bool:
        """Whether the session belongs to another owner."""
        with self._log.reader() as connection:
            return self._is_foreign(connection, chronicum_id)

    def look(self, entries: Sequence[Entry]) -> Outcome:
        """What `store` would do, without writing to the log: for dry runs.

        What it has seen is remembered in a temporary database, for a record may stand in several files.
        """
        outcome = Outcome()
        if self._seen is None:
            self._seen = apsw.Connection("")
            self._seen.execute("CREATE TABLE seen(record_key TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
        with self._log.reader() as connection:
            outcome.stored = self._fresh(connection, entries, outcome)
        with self._seen:
            self._seen.executemany(
                "INSERT OR IGNORE INTO seen VALUES(?)", [(entry.record_key,) for entry in outcome.stored]
            )
        for entry in outcome.stored:
            acta = self.rehearsed.get(entry.chronicum_id, 0) + (entry.kind != "unit_closed")
            self.rehearsed[entry.chronicum_id] = acta
            add_counts(outcome.redactions, entry.removed)
            self._foresee(entry, outcome)
        return outcome

    # -- storing ---------------------------------------------------------------------------

    def store(self, transaction: Transaction, entries: Sequence[Entry]) -> Outcome:
        """Append what is new of `entries`, in order, inside an open transaction.

        All blocks of one occurrence of a record come in one call: a record is known as soon as one of its
        blocks is stored, and what an interrupted import left out of it would never enter.
        """
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
    ) -> dict[str, int] | None:
        """Append what of a description is new; with `replaces` false only what was unknown so far.

        The secrets taken out of it, by kind; None, and nothing is appended, if the session is another
        owner's or was not created so far (all its records are elsewhere).
        """
        changed = self._changes(transaction.connection, chronicum_id, fields, replaces=replaces)
        if changed is None:
            return None
        removed: dict[str, int] = {}
        if changed:
            receipt = transaction.append(session_stream(chronicum_id), [ChronicumDescribed(**changed)])
            _count(receipt, removed)
        return removed

    def look_at_description(
        self, chronicum_id: str, fields: dict[str, Any], *, replaces: bool
    ) -> dict[str, int] | None:
        """What `describe` would return, without writing to the log: for dry runs."""
        with self._log.reader() as connection:
            changed = self._changes(connection, chronicum_id, fields, replaces=replaces)
        if changed is None:
            return None
        clean, found = self._log.redactor.redact_value(changed)
        self._foretold.setdefault(chronicum_id, {}).update(clean)
        removed: dict[str, int] = {}
        for removal in found:
            add_counts(removed, {removal.kind: removal.count})
        return removed

    # -- inside ----------------------------------------------------------------------------

    def _is_foreign(self, connection: apsw.Connection, chronicum_id: str) -> bool:
        owner = fetch.value(
            connection, "SELECT owner_id FROM chronica WHERE chronicum_id = ?", (chronicum_id,)
        )
        return owner is not None and owner != self._owner

    def _changes(
        self, connection: apsw.Connection, chronicum_id: str, fields: dict[str, Any], *, replaces: bool
    ) -> dict[str, Any] | None:
        """What of a description is not known so far; None if the session cannot be described."""
        if self._is_foreign(connection, chronicum_id):
            return None
        rows = fetch.rows(
            connection,
            "SELECT d.field, d.value FROM chronica c LEFT JOIN session_descriptions d "
            "ON d.stream_id = c.stream_id AND d.to_position IS NULL WHERE c.chronicum_id = ?",
            (chronicum_id,),
        )
        if not rows and chronicum_id not in self.rehearsed:
            return None
        known = {field: msgspec.json.decode(value) for field, value in rows if field is not None}
        known.update(self._foretold.get(chronicum_id, {}))
        return {
            field: value
            for field, value in fields.items()
            # What is known went through the filter.
            if known.get(field) != self._log.redactor.redact_value(value)[0]
            and (replaces or field not in known)
        }

    def _fresh(self, connection: apsw.Connection, entries: Sequence[Entry], outcome: Outcome) -> list[Entry]:
        fresh: list[Entry] = []
        positions = _positions_of(connection, entries)
        taken: dict[str, tuple[str, int]] = {}
        """Where the records of this call that are fresh stand."""
        last: tuple[str, tuple[str, int]] | None = None
        known = False
        for entry in entries:
            if (entry.record_key, entry.occurrence) != last:
                last = (entry.record_key, entry.occurrence)
                position = None
                if entry.record_key in taken:
                    known = taken[entry.record_key] != entry.occurrence
                else:
                    position = positions.get(entry.record_key)
                    known = position is not None or self._was_seen(entry.record_key)
                if known:
                    outcome.duplicates.append(entry)
                    if position is not None:
                        self._note_fork(connection, entry, position, outcome)
                else:
                    taken[entry.record_key] = entry.occurrence
            if not known:
                fresh.append(entry)
        return fresh

    def _was_seen(self, record_key: str) -> bool:
        if self._seen is None:
            return False
        return fetch.value(self._seen, "SELECT 1 FROM seen WHERE record_key = ?", (record_key,)) is not None

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
        owner = fetch.value(
            transaction.connection, "SELECT owner_id FROM chronica WHERE chronicum_id = ?", (chronicum_id,)
        )
        if owner is not None and owner != self._owner:
            # Asked once more: the other owner's import may have begun the session since it was looked at.
            outcome.foreign.add(chronicum_id)
            return
        if owner is None:
            events.insert(
                0,
                PendingEvent(payload=ChronicumCreated(chronicum_id=chronicum_id, owner_id=self._owner)),
            )
        try:
            self._stored(transaction.append(stream, events), run, outcome)
            return
        except (InvalidIdentifier, InvalidPayload):
            # One of them is the culprit: find it by going one at a time.
            pass
        if owner is None:
            transaction.append(stream, events[:1])
        for entry in run:
            try:
                event = PendingEvent(payload=entry.event, occurred_at=entry.occurred_at)
                self._stored(transaction.append(stream, [event]), [entry], outcome)
            except (InvalidIdentifier, InvalidPayload) as error:
                outcome.refused.append((entry, error.message))

    def _stored(self, receipt: Receipt, run: list[Entry], outcome: Outcome) -> None:
        outcome.stored.extend(run)
        _count(receipt, outcome.redactions)
        for entry in run:
            if entry.removed:
                add_counts(outcome.redactions, entry.removed)

    def _renamed(self, entry: Entry) -> Entry:
        redact = self._log.redactor.redact_text
        removed: dict[str, int] = {}
        chronicum_id = self.safe_name(entry.chronicum_id)
        record_key = self.safe_name(entry.record_key)
        if record_key != entry.record_key:
            record_key = f"{record_key}@{self._stand_in(entry)}"
        source_key = record_key + entry.source_key.removeprefix(entry.record_key)
        for name in (entry.chronicum_id, entry.record_key, _actor(entry)):
            add_counts(removed, redact(name)[1])
        if not removed:
            return entry
        event: ActumRecorded | UnitClosed
        if isinstance(entry.event, ActumRecorded):
            actor, _ = redact(entry.event.actor)
            event = msgspec.structs.replace(
                entry.event, chronicum_id=chronicum_id, idempotency_key=source_key, actor=actor
            )
        else:
            event = msgspec.structs.replace(entry.event, chronicum_id=chronicum_id, source_key=source_key)
        return msgspec.structs.replace(
            entry,
            chronicum_id=chronicum_id,
            record_key=record_key,
            source_key=source_key,
            event=event,
            removed=removed,
        )

    def _stand_in(self, entry: Entry) -> str:
        """What names a record whose own name may not be kept: when it happened and what it says, filtered.

        All its blocks get the name of the first.
        """
        if self._stood_in[0] != entry.occurrence:
            event = entry.event
            said = event.content if isinstance(event, ActumRecorded) else event.unit
            words = f"{entry.occurred_at} {self._log.redactor.redact_text(said)[0]}"
            digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:16]
            self._stood_in = (entry.occurrence, digest)
        return self._stood_in[1]

    def _refilled(self, entry: Entry, event: ActumRecorded) -> Entry:
        redactor = self._log.redactor
        try:
            clean, found = redactor.redact_value(msgspec.json.decode(event.content))
            if not found:
                return entry
            content = msgspec.json.encode(clean, order="sorted").decode()
        except (msgspec.MsgspecError, RecursionError, ValueError):
            return entry
        removed = dict(entry.removed)
        receipts = []
        for removal in found:
            add_counts(removed, {removal.kind: removal.count})
            field = f"content.{removal.field}" if removal.field else "content"
            receipts.append(Removed(removal.kind, removal.count, field, redactor.version))
        filled = msgspec.structs.replace(event, content=content, redactions=receipts)
        return msgspec.structs.replace(entry, event=filled, removed=removed)

    def _foresee(self, entry: Entry, outcome: Outcome) -> None:
        """Count what the door would take out of an entry."""
        event = entry.event
        free: list[Any]
        if isinstance(event, ActumRecorded):
            free = [event.content, event.metadata]
        else:
            free = [event.note if isinstance(event.note, str) else ""]
        for removal in self._log.redactor.redact_value(free)[1]:
            add_counts(outcome.redactions, {removal.kind: removal.count})


def _actor(entry: Entry) -> str:
    return entry.event.actor if isinstance(entry.event, ActumRecorded) else ""


def _count(receipt: Receipt, into: dict[str, int]) -> None:
    for removal in receipt.removals:
        add_counts(into, {removal.kind: removal.count})


def _positions_of(connection: apsw.Connection, entries: Sequence[Entry]) -> dict[str, int]:
    """By record key where the first stored block of a record stands; records that are new are left out."""
    # Block keys are `<record key>:<index>`, and ";" is the character after ":". A record whose key goes on
    # behind a colon has its keys in between.
    ranges = [(f"{key}:", f"{key};") for key in dict.fromkeys([entry.record_key for entry in entries])]
    found = connection.executemany(
        "SELECT source_key, position FROM imported_records WHERE source_key >= ? AND source_key < ?", ranges
    )
    positions: dict[str, int] = {}
    for source_key, position in found:
        record_key, _, index = source_key.rpartition(":")
        if index.isdigit():
            positions.setdefault(record_key, position)
    return positions

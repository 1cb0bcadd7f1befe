"""Sessions on the event log: the acta are its events, with no second copy (contract sessions, "Ours")."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from msgspec import UNSET

from workbench.log import FOLDS as LOG_FOLDS
from workbench.log.event_log import EventLog
from workbench.log.ports import Redactor
from workbench.log.registry import EventTypeRegistry, PendingEvent
from workbench.log.streams import session_stream
from workbench.log.times import from_micros
from workbench.sessions import queries
from workbench.sessions.errors import ChronicumExists, ChronicumNotFound
from workbench.sessions.events import ACTUM, EVENT_TYPES, ActumRecorded, ChronicumCreated
from workbench.sessions.facets import facets
from workbench.sessions.folds import FOLDS
from workbench.sessions.model import ActaQuery, Actum, Chronicum
from workbench.storage import fetch


class SQLiteStore:
    """A store of sessions (`IdempotentStore`) on an event log; threads may share it."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    @classmethod
    def open(cls, path: Path, *, redactor: Redactor | None = None) -> Self:
        """A store in a file of its own, without a workspace around it."""
        registry = EventTypeRegistry(EVENT_TYPES)
        return cls(EventLog.open(path, (*LOG_FOLDS, *FOLDS), registry, redactor=redactor))

    def close(self) -> None:
        """Close the file."""
        self._log.close()

    def create(self, chronicum: Chronicum) -> None:
        """Begin a session; `ChronicumExists` if the id is taken, by whomever.

        Raises `InvalidIdentifier` for an id or an owner that no name may be.
        """
        stream = session_stream(chronicum.id)
        with self._log.transaction() as transaction:
            if queries.stream_of(transaction.connection, chronicum.id) is not None:
                raise ChronicumExists
            created = ChronicumCreated(chronicum_id=chronicum.id, owner_id=chronicum.owner_id)
            transaction.append(stream, [created])

    def get(self, chronicum_id: str) -> Chronicum:
        """The session with its times; `ChronicumNotFound` if there is none."""
        with self._log.reader() as connection:
            row = fetch.row(
                connection,
                "SELECT c.owner_id, c.started_at, c.stream_id, a.last_activity_at FROM chronica c "
                "LEFT JOIN session_activity a USING(stream_id) WHERE c.chronicum_id = ?",
                (queries.known_as(chronicum_id),),
            )
            if row is None:
                raise ChronicumNotFound
            owner_id, started_at, stream_id, last_activity_at = row
            if self._log.in_transaction:
                # Counters follow at commit; until then the last actum itself says when it was.
                last_activity_at = fetch.value(
                    connection,
                    "SELECT e.recorded_at FROM events e CROSS JOIN event_types t USING(type_id) "
                    "WHERE e.stream_id = ? AND t.type = ? ORDER BY e.seq DESC LIMIT 1",
                    (stream_id, ACTUM.type),
                )
        return Chronicum(
            id=chronicum_id,
            owner_id=owner_id,
            started_at=from_micros(started_at),
            last_activity_at=from_micros(started_at if last_activity_at is None else last_activity_at),
        )

    def record(self, actum: Actum) -> Actum:
        """Append an actum and give it back as stored; `ChronicumNotFound` without its session.

        Raises `InvalidIdentifier` for a name in it that no name may be.
        """
        return self._record(actum, None)

    def record_idempotent(self, actum: Actum, key: str) -> Actum:
        """As `record`, unless the key was used in this session: then the actum stored first."""
        return self._record(actum, key)

    def _record(self, actum: Actum, key: str | None) -> Actum:
        stream = session_stream(actum.chronicum_id)
        with self._log.transaction() as transaction:
            connection = transaction.connection
            stream_id = queries.stream_of(connection, actum.chronicum_id)
            if stream_id is None:
                raise ChronicumNotFound
            if key is not None:
                row = queries.keyed_actum(connection, stream_id, key)
                if row is not None:
                    return queries.actum(row)
            payload = ActumRecorded(
                id=actum.id,
                chronicum_id=actum.chronicum_id,
                kind=str(actum.kind),
                actor_kind=str(actum.actor_kind),
                actor=actum.actor,
                content=actum.content,
                metadata=actum.metadata,
                idempotency_key=UNSET if key is None else key,
            )
            event = PendingEvent(payload=payload, visibility=actum.visibility, occurred_at=actum.occurred_at)
            receipt = transaction.append(stream, [event])
        stored = receipt.payloads[0]
        assert isinstance(stored, ActumRecorded)
        return Actum(
            id=stored.id,
            chronicum_id=stored.chronicum_id,
            kind=stored.kind,
            actor_kind=stored.actor_kind,
            actor=stored.actor,
            content=stored.content,
            at=from_micros(receipt.recorded_at),
            metadata=stored.metadata,
            occurred_at=actum.occurred_at,
            visibility=actum.visibility,
        )

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        """Acta of the wanted kinds, then the last N, oldest first."""
        with self._log.reader() as connection:
            stream_id = queries.stream_of(connection, chronicum_id)
            if stream_id is None:
                raise ChronicumNotFound
            wanted = facets(query.kinds, query.actor_kinds)
            return queries.last_acta(connection, stream_id, wanted, query.last_n)

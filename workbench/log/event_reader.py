"""Reading the log, or one stream of it, in today's shapes (contract log, §3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from workbench.log.decoding import converted
from workbench.log.errors import UnknownEventType
from workbench.log.event_log import EventLog, Stream
from workbench.log.registry import Envelope, EventTypeRegistry, Payload, StoredEvent
from workbench.log.upcasts import EventKey, UpcastRegistry

Where = Callable[[Envelope], bool]
"""Whether an event is wanted, judged by its envelope as it is stored."""


class EventReader:
    """One numbered sequence of events: a stream by `seq`, or the whole log by `position`.

    Events of an older version are brought forward; the rows in the file stay as they are.
    """

    def __init__(self, store: EventLog | Stream, upcasts: UpcastRegistry, types: EventTypeRegistry) -> None:
        self._store = store
        self._upcasts = upcasts
        self._types = types

    @property
    def log(self) -> EventLog:
        """The log that it reads, or whose stream it reads."""
        return self._store.log if isinstance(self._store, Stream) else self._store

    @property
    def scope(self) -> str:
        """The stream's name; empty for the whole log."""
        return self._store.ref.name if isinstance(self._store, Stream) else ""

    def number(self, event: StoredEvent) -> int:
        """What `since` and `upto` count of an event: its seq in a stream, its position in the log."""
        return event.seq if isinstance(self._store, Stream) else event.position

    def last(self) -> int:
        """The highest number; 0 if there is nothing."""
        if isinstance(self._store, Stream):
            return self._store.last_seq()
        return self._store.last_position()

    def knows(self, envelope: Envelope) -> bool:
        """A `where` that passes over every event whose type is not registered."""
        return self.registered(envelope.namespace, envelope.type)

    def registered(self, namespace: str, type_name: str) -> bool:
        """Whether this program knows the type."""
        return self._types.get(namespace, type_name) is not None

    def read_raw(
        self,
        since: int = 0,
        limit: int | None = None,
        *,
        upto: int | None = None,
        where: Where | None = None,
        types: frozenset[tuple[str, str]] | None = None,
    ) -> Iterator[StoredEvent]:
        """Events numbered above `since` and up to `upto`, ascending, payloads as JSON objects.

        With `types` only events of these (namespace, type) pairs, at hardly any cost for the others;
        `limit` counts the events that also passed `where`; None or a negative number is no limit. A
        version that is newer than the registry's is yielded as stored. The iterator raises
        `UnknownEventType` at an event whose type is not registered, `UpcastGap` where a step is
        missing, `WrongThread` in another thread than the one that made it.
        """
        if limit is not None and limit < 0:
            limit = None
        stored = self._stored(since, limit if where is None else None, upto, types)
        if where is not None:
            stored = islice((event for event in stored if where(event.envelope)), limit)
        return map(self._forward, stored)

    def read(
        self, since: int = 0, limit: int | None = None, *, upto: int | None = None, where: Where | None = None
    ) -> Iterator[tuple[StoredEvent, Payload]]:
        """As `read_raw`, each event with its payload as its class.

        Raises what `read_raw` raises, `UnknownEventType` also for a version that is newer than the
        registry's, and `InvalidPayload` for a payload that does not fit.
        """
        return (
            (event, self._decoded(event)) for event in self.read_raw(since, limit, upto=upto, where=where)
        )

    def _stored(
        self, since: int, limit: int | None, upto: int | None, types: frozenset[tuple[str, str]] | None
    ) -> Iterator[StoredEvent]:
        if isinstance(self._store, Stream):
            return self._store.read(since, limit, upto_seq=upto, types=types)
        return self._store.read(since, limit, upto_position=upto, types=types)

    def _forward(self, event: StoredEvent) -> StoredEvent:
        envelope = event.envelope
        newest = self._types.get(envelope.namespace, envelope.type)
        if newest is None:
            raise UnknownEventType(
                f"position {event.position} holds {envelope.namespace}:{envelope.type}, "
                "which this release does not know"
            )
        if envelope.schema_version >= newest.version:
            return event
        version, payload = self._upcasts.apply(
            EventKey(envelope.namespace, envelope.type, envelope.schema_version),
            event.payload,
            target_version=newest.version,
        )
        return msgspec.structs.replace(
            event, payload=payload, envelope=msgspec.structs.replace(envelope, schema_version=version)
        )

    def _decoded(self, event: StoredEvent) -> Payload:
        envelope = event.envelope
        event_type = self._types.get(envelope.namespace, envelope.type, envelope.schema_version)
        if event_type is None:
            raise UnknownEventType(
                f"position {event.position} holds version {envelope.schema_version} of "
                f"{envelope.namespace}:{envelope.type}, which this release does not know"
            )
        return converted(event_type, event.payload)

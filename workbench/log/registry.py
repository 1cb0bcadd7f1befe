"""Which event types exist, and what the log must know of each (contract log, §3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Annotated, Any, NamedTuple
from uuid import UUID

import msgspec

from workbench.log.errors import DuplicateEventType, UnknownEventType

RESERVED_NAMESPACE = "anagrapheus"
NAMESPACE = "workbench"
PINS_NAMESPACE = "pins"
"""Holds what the pin ledger writes about itself, and nothing else."""
BOOKKEEPING = frozenset({"pin.promoted", "pin.abandoned", "pin.diverged"})
"""The types of that namespace."""


class Removed(msgspec.Struct, frozen=True):
    """A receipt that stands in the payload for secrets the filter took out of one field."""

    kind: str
    count: int
    field: str
    filter_version: str


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every payload; optional fields default to `msgspec.UNSET` and are then not written."""

    redactions: list[Removed] | msgspec.UnsetType = msgspec.UNSET


PayloadClass = type[Payload]


def one_of(*words: str) -> msgspec.Meta:
    """What a text field may hold: one of these words, whoever wrote the event."""
    return msgspec.Meta(pattern=rf"\A(?:{'|'.join(map(re.escape, words))})\Z")


SHA256 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
"""A digest, in small letters."""
COUNT = Annotated[int, msgspec.Meta(ge=0)]
"""A size, a number of things, or an index from 0."""


class EventType(NamedTuple):
    """One registered event type at one version of its payload."""

    namespace: str
    type: str
    version: int
    model: PayloadClass
    identifiers: frozenset[str] = frozenset()
    """Payload fields that name something: checked at the door, never rewritten."""
    searchable: Callable[[Any], tuple[str, str]] | None = None
    """From a payload the (title, body) that full text holds; None if nothing is searchable."""
    actor: str = ""
    """The payload field that names who did it; empty if there is none."""
    times: frozenset[str] = frozenset()
    """Payload fields that are ISO 8601 times, shifted together with the event's own."""


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What every event carries besides its payload."""

    event_id: UUID
    namespace: str
    type: str
    schema_version: int
    causation_id: UUID | None = None
    correlation_id: UUID | None = None
    visibility: str = "public"
    recorded_at: datetime
    occurred_at: datetime | None = None


class PendingEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event before it is appended; the log adds position, seq and `recorded_at`."""

    payload: Payload
    event_id: UUID | None = None
    """Drawn as a UUIDv7 if it is None."""
    causation_id: UUID | None = None
    correlation_id: UUID | None = None
    visibility: str = "public"
    """`public`, or `private`: reaches no agent, no summarizer and no brief."""
    occurred_at: datetime | None = None
    """When it happened, as claimed; zone-aware."""


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event as read: `position` over the whole log, `seq` in its stream, the raw payload."""

    position: int
    stream: str
    seq: int
    envelope: Envelope
    payload: dict[str, Any]


class EventTypeRegistry:
    """Event types by (namespace, type, version) and by payload class."""

    def __init__(self, types: Iterable[EventType] = ()) -> None:
        self._by_key: dict[tuple[str, str, int], EventType] = {}
        self._by_model: dict[type[Payload], EventType] = {}
        self._latest: dict[tuple[str, str], EventType] = {}
        for event_type in types:
            self.register(event_type)

    def register(self, event_type: EventType) -> None:
        """Add one type.

        Raises `DuplicateEventType` for a key or a class that is taken, `ValueError` for a
        reserved namespace or a version below 1.
        """
        key = (event_type.namespace, event_type.type, event_type.version)
        namespace, name = key[:2]
        if namespace == RESERVED_NAMESPACE or (namespace == PINS_NAMESPACE and name not in BOOKKEEPING):
            raise ValueError(f"the namespace {namespace!r} is reserved")
        if event_type.version < 1:
            raise ValueError(f"{event_type.type}: versions count from 1")
        if key in self._by_key or event_type.model in self._by_model:
            raise DuplicateEventType(
                f"{event_type.namespace}:{event_type.type} v{event_type.version} is registered"
            )
        self._by_key[key] = event_type
        self._by_model[event_type.model] = event_type
        newest = self._latest.get(key[:2])
        if newest is None or newest.version < event_type.version:
            self._latest[key[:2]] = event_type

    def of(self, payload: Payload) -> EventType:
        """The type of a payload object; `UnknownEventType` if its class is not registered."""
        found = self._by_model.get(type(payload))
        if found is None:
            raise UnknownEventType(f"{type(payload).__name__} is not a registered payload")
        return found

    def get(self, namespace: str, type_name: str, version: int | None = None) -> EventType | None:
        """The type at a version (default: the newest), or None."""
        if version is None:
            return self._latest.get((namespace, type_name))
        return self._by_key.get((namespace, type_name, version))

    def all(self) -> list[EventType]:
        """Every registered type, oldest registration first."""
        return list(self._by_key.values())

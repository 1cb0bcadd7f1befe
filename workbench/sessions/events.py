"""The event types of a session's stream (contract sessions, "Payloads")."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from workbench.log.registry import NAMESPACE, EventType, Payload, one_of
from workbench.sessions.model import ActorKind, ActumKind


class ChronicumCreated(Payload, frozen=True, kw_only=True):
    """A session began and belongs to `owner_id` from now on."""

    chronicum_id: str
    owner_id: str


class ChronicumDescribed(Payload, frozen=True, kw_only=True):
    """What an importer learned about a session; per field the latest event counts."""

    title: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    """The file that it was imported from."""
    cwd: str | UnsetType = UNSET
    git_branch: str | UnsetType = UNSET
    models: list[str] | UnsetType = UNSET
    client_version: str | UnsetType = UNSET
    forked_from: str | UnsetType = UNSET


class ActumRecorded(Payload, frozen=True, kw_only=True):
    """One act; `at` is the event's `recorded_at`."""

    id: str
    chronicum_id: str
    kind: Annotated[str, one_of(*ActumKind)]
    actor_kind: Annotated[str, one_of(*ActorKind)]
    actor: str
    content: str
    metadata: dict[str, Any]
    idempotency_key: str | UnsetType = UNSET


class UnitClosed(Payload, frozen=True, kw_only=True):
    """A stretch of the session is over; no act, and no activity."""

    chronicum_id: str
    unit: str
    note: str | UnsetType = UNSET
    source_key: str | UnsetType = UNSET


def _actum_text(payload: ActumRecorded) -> tuple[str, str]:
    return payload.actor, payload.content


def _unit_text(payload: UnitClosed) -> tuple[str, str]:
    return payload.unit, "" if payload.note is UNSET else str(payload.note)


def _described_text(payload: ChronicumDescribed) -> tuple[str, str]:
    title = "" if payload.title is UNSET else str(payload.title)
    return title, "" if payload.cwd is UNSET else str(payload.cwd)


CREATED = EventType(
    NAMESPACE, "chronicum.created", 1, ChronicumCreated, identifiers=frozenset({"chronicum_id", "owner_id"})
)
DESCRIBED = EventType(NAMESPACE, "chronicum.described", 1, ChronicumDescribed, searchable=_described_text)
ACTUM = EventType(
    NAMESPACE,
    "actum.recorded",
    1,
    ActumRecorded,
    identifiers=frozenset({"id", "chronicum_id", "kind", "actor_kind", "actor", "idempotency_key"}),
    searchable=_actum_text,
    actor="actor",
)
UNIT_CLOSED = EventType(
    NAMESPACE,
    "unit.closed",
    1,
    UnitClosed,
    identifiers=frozenset({"chronicum_id", "unit", "source_key"}),
    searchable=_unit_text,
)
EVENT_TYPES = (CREATED, DESCRIBED, ACTUM, UNIT_CLOSED)

DESCRIPTION_FIELDS = tuple(f for f in ChronicumDescribed.__struct_fields__ if f != "redactions")

decode_actum = msgspec.json.Decoder(ActumRecorded).decode

"""One call of `record_event` read back from the log: the observation and what it caused."""

from __future__ import annotations

from typing import NamedTuple, TypeVar
from uuid import UUID

import apsw
from msgspec import UNSET, UnsetType

from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.errors import InvalidPayload
from workbench.log.times import from_micros
from workbench.memory.entry import Checkpoint, Entry, Fact
from workbench.memory.events import CheckpointRecorded, FactAsserted, ObservationRecorded
from workbench.storage import fetch

_T = TypeVar("_T")
_CAUSED = 2
"""A call stores at most a checkpoint and a fact behind its observation."""


class StoredCall(NamedTuple):
    """The events of one call, in today's shape."""

    position: int
    observation_id: str
    private: bool
    recorded_at: int
    """Microseconds since 1970."""
    occurred_at: int | None
    observation: ObservationRecorded
    checkpoint_id: str | None
    checkpoint: CheckpointRecorded | None
    fact_id: str | None
    """Of the fact asserted, or of the one that it confirms."""
    fact: FactAsserted | None

    def entry(self) -> Entry:
        """The input that this call was given, as far as it is stored: filtered, names as given."""
        said = self.observation
        return Entry(
            text=said.text,
            why=known(said.why),
            domain=known(said.domain_raw) or said.domain,
            project=known(said.project_raw) or known(said.project),
            task_id=known(said.task_id),
            category=said.category,
            category_raw=known(said.category_raw),
            category_fallback=None,
            agent=known(said.agent_raw) or said.agent,
            agent_source=said.agent_source,
            session_id=known(said.session_id),
            fact=_fact(self.fact),
            checkpoint=_checkpoint(self.checkpoint),
            source_files=tuple(known(said.source_files) or ()),
            request_id=known(said.request_id),
            external_id=known(said.external_id),
            occurred_at=None if self.occurred_at is None else from_micros(self.occurred_at),
            entity_id=known(said.entity_id),
            entity_type=known(said.entity_type),
            visibility="private" if self.private else "public",
        )


def known(value: _T | UnsetType) -> _T | None:
    """A field of a payload, None where it was not written."""
    return None if value is UNSET else value


def stored_call(connection: apsw.Connection, decoder: FoldDecoder, position: int) -> StoredCall:
    """The call whose observation stands at a position. `InvalidPayload` if none does: the file is damaged."""
    rows = fetch.rows(connection, sqlite.TO_FOLD, (position - 1, 1 + _CAUSED))
    first = decoder.event(rows[0]) if rows else None
    if first is None or first.position != position or not isinstance(first.payload, ObservationRecorded):
        raise InvalidPayload(f"there is no observation at position {position:,}")
    checkpoint: tuple[str, CheckpointRecorded] | None = None
    fact: tuple[str, FactAsserted] | None = None
    for row in rows[1:]:
        event = decoder.event(row)
        if event is None or event.causation_id != first.event_id:
            break
        own = str(UUID(bytes=event.event_id))
        if isinstance(event.payload, CheckpointRecorded):
            checkpoint = own, event.payload
        elif isinstance(event.payload, FactAsserted):
            fact = known(event.payload.confirms) or own, event.payload
    return StoredCall(
        position,
        str(UUID(bytes=first.event_id)),
        first.private,
        first.recorded_at,
        first.occurred_at,
        first.payload,
        *(checkpoint or (None, None)),
        *(fact or (None, None)),
    )


def _checkpoint(said: CheckpointRecorded | None) -> Checkpoint | None:
    if said is None:
        return None
    return Checkpoint(
        goal=said.goal,
        completed=tuple(said.completed),
        verification=tuple(said.verification),
        open_questions=tuple(said.open_questions),
        next_steps=tuple(said.next_steps),
    )


def _fact(said: FactAsserted | None) -> Fact | None:
    if said is None:
        return None
    return Fact(slot=said.slot, value=said.value, kind=said.kind, supersedes=known(said.supersedes))

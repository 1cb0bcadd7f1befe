"""Observations as readers show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from workbench.memory.entry import FALLBACK
from workbench.memory.events import CheckpointRecorded, Evidence, ObservationRecorded
from workbench.memory.purges import is_purged
from workbench.memory.snapshot import Snapshot, id_text, instant
from workbench.memory.spans import Span, newest
from workbench.memory.views import Checkpoint, Observation
from workbench.storage import fetch

T = TypeVar("T")

PURGED = "purged"
"""The status of evidence whose copy was kept once and is gone."""
MOST_COUNTED = 1_000
"""Observations of one memory event that are counted."""
_SPEAKERS = 20
"""Further observations that are asked who made them."""

_ROW = (
    "SELECT o.fact_position, o.checkpoint_position, a.fact_id FROM observations o "
    "LEFT JOIN facts a ON a.position = o.fact_position AND {asserted} WHERE o.position = :position"
)
_FIRST = (
    "SELECT f.event_id FROM observations o CROSS JOIN observations f ON f.position = o.first_position "
    "WHERE o.position = ?"
)
_OF_EVENT = (
    "FROM observations o WHERE o.first_position = "
    "(SELECT first_position FROM observations WHERE position = :position) AND {seen}"
)
_OBSERVED = f"SELECT count(*) FROM (SELECT 1 {_OF_EVENT} LIMIT {MOST_COUNTED})"
_FURTHER = f"SELECT o.position {_OF_EVENT} AND o.position <> :position ORDER BY o.position LIMIT {_SPEAKERS}"
# What confirms a fact stands right behind its observation.
_SAID_BY = (
    "SELECT 1 FROM facts WHERE position = :fact AND observation = :position AND position <= :upto "
    "UNION ALL SELECT 1 FROM fact_confirmations WHERE fact_position = :fact AND observation = :position "
    "AND position > :position AND position <= :upto LIMIT 1"
)


def given(value: T | UnsetType) -> T | None:
    """A field of a payload, None where it is not set."""
    return None if value is UNSET else value


def observation(snapshot: Snapshot, position: int, *, with_checkpoint: bool = False) -> Observation:
    """The observation at a position."""
    row = snapshot.row(_ROW.format(asserted=snapshot.asserted("a")), position=position)
    assert row is not None
    event = snapshot.event(position)
    fact_position, checkpoint_position, fact_id = row
    said: ObservationRecorded = event.payload
    checkpoint: Checkpoint | UnsetType | None = UNSET
    if with_checkpoint:
        known = checkpoint_position is not None and checkpoint_position <= snapshot.last
        checkpoint = checkpoint_at(snapshot, checkpoint_position) if known else None
    if fact_id is not None and snapshot.past and not _said(snapshot, position, fact_position):
        fact_id = None
    marked = snapshot.raw
    return Observation(
        observation_id=id_text(event.event_id),
        event_id=memory_event_of(snapshot, position),
        position=position,
        agent=said.agent,
        session_id=given(said.session_id),
        domain=said.domain,
        project=given(said.project),
        task_id=given(said.task_id),
        category=said.category,
        recorded_at_utc=instant(event.recorded_at),
        occurred_at_utc=None if event.occurred_at is None else instant(event.occurred_at),
        text=said.text,
        why=given(said.why),
        evidence=evidence(snapshot, said),
        fact_id=None if fact_id is None else id_text(fact_id),
        checkpoint=checkpoint,
        private=True if marked and event.private else UNSET,
        quarantined=True if marked and is_withheld(snapshot, position) else UNSET,
    )


def carrier(snapshot: Snapshot, checkpoint: int) -> Observation:
    """The observation that carries the checkpoint at a position, with it.

    Of a checkpoint whose observation this log does not hold, its own event stands for that.
    """
    observed = snapshot.value("SELECT observation FROM checkpoints WHERE position = :at", at=checkpoint)
    if observed != checkpoint:
        return observation(snapshot, observed, with_checkpoint=True)
    event = snapshot.event(checkpoint)
    said: CheckpointRecorded = event.payload
    own = id_text(event.event_id)
    return Observation(
        observation_id=own,
        event_id=own,
        position=checkpoint,
        agent=said.agent,
        session_id=None,
        domain=said.domain,
        project=given(said.project),
        task_id=given(said.task_id),
        category=FALLBACK,
        recorded_at_utc=instant(event.recorded_at),
        occurred_at_utc=None if event.occurred_at is None else instant(event.occurred_at),
        text="",
        why=None,
        evidence=[],
        fact_id=None,
        checkpoint=checkpoint_at(snapshot, checkpoint),
        private=True if snapshot.raw and event.private else UNSET,
    )


def observations(snapshot: Snapshot, positions: Iterable[int]) -> list[Observation]:
    """The observations at positions, in their order."""
    positions = list(positions)
    snapshot.read_ahead(positions)
    return [observation(snapshot, position) for position in positions]


def memory_events(snapshot: Snapshot, positions: Iterable[int]) -> list[Observation]:
    """The observations at positions, each with how often what it says was observed, and by whom else."""
    positions = list(positions)
    snapshot.read_ahead(positions)
    return [
        msgspec.structs.replace(
            observation(snapshot, position),
            observed=snapshot.value(_OBSERVED.format(seen=snapshot.observed("o")), position=position),
            observed_by=_speakers(snapshot, position),
        )
        for position in positions
    ]


def _speakers(snapshot: Snapshot, position: int) -> list[str]:
    """Who made the further observations of the memory event of one, each named once."""
    rows = snapshot.rows(_FURTHER.format(seen=snapshot.observed("o")), position=position)
    return list(dict.fromkeys(snapshot.event(found).payload.agent for (found,) in rows))


def evidence(snapshot: Snapshot, said: ObservationRecorded) -> list[Evidence]:
    """What became of an observation's source files; `purged` where a person had the copy removed since."""
    if said.evidence is UNSET:
        return []
    return [
        msgspec.structs.replace(item, status=PURGED)
        if item.sha256 is not UNSET and is_purged(snapshot, item.sha256)
        else item
        for item in said.evidence
    ]


def checkpoint_at(snapshot: Snapshot, position: int) -> Checkpoint:
    """The checkpoint whose event stands at a position."""
    event = snapshot.event(position)
    said: CheckpointRecorded = event.payload
    return Checkpoint(
        id=id_text(event.event_id),
        goal=said.goal,
        completed=said.completed,
        verification=said.verification,
        open_questions=said.open_questions,
        next_steps=said.next_steps,
    )


def is_withheld(snapshot: Snapshot, position: int) -> bool:
    """Whether an observation is quarantined."""
    return bool(snapshot.value(f"SELECT {snapshot.withheld(':position')}", position=position))


def memory_event_of(snapshot: Snapshot, position: int) -> str:
    """The id of the memory event that the observation at a position belongs to."""
    event = snapshot.event(position)
    said = event.payload
    if isinstance(said, ObservationRecorded) and said.memory_event is not UNSET:
        # What it repeats may be missing in this log: then it is the first one here.
        found = fetch.value(snapshot.connection, _FIRST, (position,))
        if found is not None:
            return id_text(found)
    return id_text(event.event_id)


def _said(snapshot: Snapshot, position: int, fact: int) -> bool:
    """Whether an observation had asserted or confirmed a fact by then."""
    return snapshot.row(_SAID_BY, position=position, fact=fact) is not None


def first_seen(snapshot: Snapshot, alias: str = "observations") -> str:
    """Whether a row of observations may be seen and is the first of its memory event that may."""
    return (
        f"{snapshot.observed(alias)} AND ({alias}.first_position = {alias}.position OR NOT EXISTS ("
        f"SELECT 1 FROM observations earlier WHERE earlier.first_position = {alias}.first_position "
        f"AND earlier.position < {alias}.position AND {snapshot.observed('earlier')}))"
    )


def recent(snapshot: Snapshot, span: Span, limit: int, below: int | None = None) -> list[int]:
    """Positions of the newest memory events of a span, each at its first observation that may be seen."""
    return newest(snapshot, span, "observations", first_seen(snapshot), limit, below=below)

"""A person withholds a memory event from agents, or releases it (contract memory, "Quarantine").

What was said more than once is one memory event with several observations, and they go together: a text that
one of them still showed would not be withheld.
"""

from __future__ import annotations

from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

import apsw

from workbench.log.event_log import EventLog
from workbench.log.registry import PendingEvent
from workbench.log.streams import scope_stream
from workbench.log.times import from_micros, to_text
from workbench.memory.entry import free_text, required_name
from workbench.memory.errors import InvalidArgument
from workbench.memory.events import VisibilityChanged
from workbench.memory.filtering import refuse_secrets
from workbench.memory.targets import CHECKPOINT, OBSERVATION, target
from workbench.storage import fetch

MAX_REASON = 1000


class VisibilityReceipt(NamedTuple):
    """What became of a quarantine or a release."""

    observation_id: str
    """The one that was asked for."""
    quarantined: bool
    """How it is now, and every other observation of the same memory event."""
    changed: bool
    """Whether anything was written: False if all were so already."""
    reason: str
    """After the filter."""
    by: str
    position: int | None
    """Of the first event written."""
    recorded_at: datetime | None
    observations: int = 0
    """How many observations became so: one event was written for each."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the time in ISO 8601, UTC."""
        at = self.recorded_at
        return {**self._asdict(), "recorded_at": None if at is None else to_text(at)}


def set_quarantine(
    log: EventLog, observation_id: object, *, quarantined: bool, reason: object, by: object
) -> VisibilityReceipt:
    """Append `visibility.changed` for each observation of a memory event; say so where all are like that.

    Any observation's id names its memory event, and a checkpoint's that of its observation. Raises
    `InvalidArgument` for an id that is none, a reason outside 1 to 1000 characters, a blank name, and for
    quarantining what asserts or confirms a fact.
    """
    why = free_text("reason", reason, MAX_REASON)
    person = required_name("by", by)
    refuse_secrets(log.redactor, {"by": person})
    if type(observation_id) is not str:
        raise InvalidArgument(f"observation_id must be text, not {type(observation_id).__name__}")
    with log.transaction() as transaction:
        found = target(log, OBSERVATION, observation_id) or target(log, CHECKPOINT, observation_id)
        if found is None:
            raise InvalidArgument(
                "there is no observation of this id", hint="take the id from: workbench recent"
            )
        connection = transaction.connection
        own = fetch.value(
            connection, "SELECT event_id FROM observations WHERE position = ?", (found.observation,)
        )
        if own is None:
            raise InvalidArgument("this log does not hold the observation that carries the checkpoint")
        name = str(UUID(bytes=own))
        told = _told(connection, found.observation)
        if quarantined and any(each.fact for each in told):
            raise InvalidArgument(
                "an observation that asserts or confirms a fact cannot be quarantined",
                hint="reject or supersede the fact",
            )
        others = [each for each in told if each.withheld != quarantined]
        if not others:
            clean = log.redactor.redact_text(why)[0]
            return VisibilityReceipt(name, quarantined, False, clean, person, None, None)
        # The same text may stand under several spellings of its scope, each of which is a stream.
        stored = [
            transaction.append(scope_stream(*keys), [_change(each, quarantined, why, person) for each in run])
            for keys, run in groupby(sorted(others, key=_keys), _keys)
        ]
    first = stored[0]
    said = first.payloads[0]
    assert isinstance(said, VisibilityChanged)
    return VisibilityReceipt(
        name,
        quarantined,
        True,
        said.reason,
        person,
        first.first_position,
        from_micros(first.recorded_at),
        len(others),
    )


class _Told(NamedTuple):
    """One observation of a memory event."""

    position: int
    event_id: bytes
    domain_key: str
    project_key: str
    task_key: str
    private: int
    fact: int
    """Whether it asserts or confirms one."""
    withheld: int


_TOLD = (
    "SELECT o.position, o.event_id, o.domain_key, o.project_key, o.task_key, o.private, "
    "o.fact_position IS NOT NULL, EXISTS ("
    "SELECT 1 FROM quarantines q WHERE q.target = o.position AND q.to_position IS NULL) "
    "FROM observations o INDEXED BY observations_by_first WHERE o.first_position = "
    "(SELECT first_position FROM observations WHERE position = ?) ORDER BY o.position"
)


def _told(connection: apsw.Connection, observation: int) -> list[_Told]:
    """Every observation of the memory event of one, the oldest first."""
    return [_Told(*row) for row in fetch.rows(connection, _TOLD, (observation,))]


def _keys(told: _Told) -> tuple[str, str, str]:
    return told.domain_key, told.project_key, told.task_key


def _change(told: _Told, quarantined: bool, reason: str, by: str) -> PendingEvent:
    change = VisibilityChanged(
        scope_domain=told.domain_key,
        scope_project=told.project_key,
        scope_task=told.task_key,
        target_id=str(UUID(bytes=told.event_id)),
        quarantined=quarantined,
        reason=reason,
        by=by,
    )
    # What is said about something private is as private.
    return PendingEvent(payload=change, visibility="private" if told.private else "public")

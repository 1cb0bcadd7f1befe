"""A person withholds an observation from agents, or releases it (contract memory, "Quarantine")."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from workbench.log.event_log import EventLog
from workbench.log.registry import PendingEvent
from workbench.log.times import from_micros, to_text
from workbench.memory.entry import free_text, required_name
from workbench.memory.errors import InvalidArgument
from workbench.memory.events import VisibilityChanged
from workbench.memory.filtering import refuse_secrets
from workbench.memory.targets import CHECKPOINT, OBSERVATION, is_quarantined, target
from workbench.storage import fetch

MAX_REASON = 1000


class VisibilityReceipt(NamedTuple):
    """What became of a quarantine or a release."""

    observation_id: str
    quarantined: bool
    """How it is now."""
    changed: bool
    """Whether anything was written: False if it was so already."""
    reason: str
    """After the filter."""
    by: str
    position: int | None
    """Of the event written."""
    recorded_at: datetime | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON; the time in ISO 8601, UTC."""
        at = self.recorded_at
        return {**self._asdict(), "recorded_at": None if at is None else to_text(at)}


def set_quarantine(
    log: EventLog, observation_id: object, *, quarantined: bool, reason: object, by: object
) -> VisibilityReceipt:
    """Append `visibility.changed` to the observation's stream; say so where it is like that already.

    A checkpoint's id stands for its observation. Raises `InvalidArgument` for an id that is none, a reason
    outside 1 to 1000 characters, a blank name, and for quarantining what asserts or confirms a fact.
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
        row = fetch.row(
            connection,
            "SELECT event_id, fact_position, private FROM observations WHERE position = ?",
            (found.observation,),
        )
        if row is None:
            raise InvalidArgument("this log does not hold the observation that carries the checkpoint")
        own, fact, private = str(UUID(bytes=row[0])), row[1], bool(row[2])
        if quarantined and fact is not None:
            raise InvalidArgument(
                "an observation that asserts or confirms a fact cannot be quarantined",
                hint="reject or supersede the fact",
            )
        if is_quarantined(connection, found.observation) == quarantined:
            clean = log.redactor.redact_text(why)[0]
            return VisibilityReceipt(own, quarantined, False, clean, person, None, None)
        domain_key, project_key, task_key = found.stream[2:]
        change = VisibilityChanged(
            scope_domain=domain_key,
            scope_project=project_key,
            scope_task=task_key,
            target_id=own,
            quarantined=quarantined,
            reason=why,
            by=person,
        )
        # What is said about something private is as private.
        event = PendingEvent(payload=change, visibility="private" if private else "public")
        stored = transaction.append(found.stream, [event])
    said = stored.payloads[0]
    assert isinstance(said, VisibilityChanged)
    return VisibilityReceipt(
        own, quarantined, True, said.reason, person, stored.first_position, from_micros(stored.recorded_at)
    )

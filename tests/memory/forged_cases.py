"""Logs that no writer of ours would give: events whose cause is missing, or is more private than they are."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from tests.memory.written_cases import Kept
from workbench.log import PendingEvent
from workbench.log.streams import scope_stream
from workbench.memory.events import CheckpointRecorded, FactAsserted

NAMES: dict[str, Any] = {
    "scope_domain": "global",
    "scope_project": "atlas",
    "scope_task": "ship",
    "domain": "global",
    "project": "atlas",
    "task_id": "ship",
    "agent": "forger",
}
CAUSES = ("none", "unknown", "itself", "of another kind")


def forged_checkpoint(goal: str = "forged goal") -> CheckpointRecorded:
    """A checkpoint of the task."""
    return CheckpointRecorded(
        **NAMES, goal=goal, completed=[], verification=[], open_questions=["why?"], next_steps=["look"]
    )


def forged_fact(value: str = "forged value", slot: str = "s", **more: Any) -> FactAsserted:
    """A fact of the task."""
    return FactAsserted(**NAMES, slot=slot, value=value, kind="observed", **more)


def forge(kept: Kept, payload: Any, cause: UUID | None, *, own: UUID | None = None, **more: Any) -> str:
    """Append an event as it is, and its id."""
    event = PendingEvent(payload=payload, event_id=own or uuid4(), causation_id=cause, **more)
    kept.log.append(scope_stream("global", "atlas", "ship"), [event])
    return str(event.event_id)


def causeless(kept: Kept, cause: str) -> tuple[str, str]:
    """The ids of a checkpoint and a fact that lack their cause, each in one of several ways."""
    ids = []
    last: UUID | None = None
    for payload in (forged_checkpoint(), forged_fact()):
        own = uuid4()
        # Of the checkpoint, the fact: it comes only later.
        other = last or uuid4()
        given = {"none": None, "unknown": uuid4(), "itself": own, "of another kind": other}[cause]
        ids.append(forge(kept, payload, given, own=own))
        last = own
    return ids[0], ids[1]

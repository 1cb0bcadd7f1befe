"""The events that one call becomes: an observation and, caused by it, a checkpoint and a fact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from msgspec import UNSET, UnsetType

from workbench.identity.registry import Registry
from workbench.identity.scopes import Scope, resolve
from workbench.log.identifiers import new_event_id
from workbench.log.registry import PendingEvent, Removed
from workbench.memory.entry import Checkpoint, Entry, Fact
from workbench.memory.events import (
    CheckpointRecorded,
    Evidence,
    FactAsserted,
    GuardVerdict,
    ObservationRecorded,
)
from workbench.memory.fact_check import FactDecision
from workbench.memory.filtering import Filtered
from workbench.memory.stored import known

_T = TypeVar("_T")


class Names(NamedTuple):
    """Who speaks about what: canonical names, and the spelling given where that is another one."""

    scope: Scope
    agent: str
    domain_raw: str | None
    project_raw: str | None
    agent_raw: str | None


def named(registry: Registry, entry: Entry) -> Names:
    """The names of an entry as the registry resolves them now."""
    scope = resolve(registry, entry.domain, entry.project, entry.task_id)
    agent = registry.agent(entry.agent)
    return Names(
        scope,
        agent,
        entry.domain if entry.domain != scope.domain else None,
        entry.project if entry.project != scope.project else None,
        entry.agent if entry.agent != agent else None,
    )


class Draft(NamedTuple):
    """A filtered entry with everything that its payloads say besides it."""

    clean: Filtered
    names: Names
    verdict: GuardVerdict | None
    evidence: Sequence[Evidence]
    request_hash: str
    content_hash: str
    hash_filter: str
    memory_event: str | None
    """The id of the observation that recorded the same first."""
    decision: FactDecision
    """What the fact does to its slot, where there is one."""

    def events(self) -> list[PendingEvent]:
        """The batch for the scope's stream: the observation first, the others caused by it."""
        entry, own = self.clean.entry, _new_id()
        batch = [self._pending(self._observation(entry), own, None)]
        if entry.checkpoint is not None:
            batch.append(self._pending(self._checkpoint(entry.checkpoint), _new_id(), own))
        if entry.fact is not None:
            batch.append(self._pending(self._fact(entry.fact), _new_id(), own))
        return batch

    def _pending(
        self, payload: ObservationRecorded | CheckpointRecorded | FactAsserted, own: UUID, cause: UUID | None
    ) -> PendingEvent:
        return PendingEvent(
            payload=payload,
            event_id=own,
            causation_id=cause,
            visibility=self.clean.entry.visibility,
            occurred_at=self.clean.entry.occurred_at,
        )

    def _whose(self) -> dict[str, Any]:
        """The scope and the agent, which every event of the call has."""
        scope = self.names.scope
        domain_key, project_key, task_key = scope.key
        return {
            "scope_domain": domain_key,
            "scope_project": project_key,
            "scope_task": task_key,
            "domain": scope.domain,
            "project": _written(scope.project),
            "task_id": _written(scope.task_id),
            "agent": self.names.agent,
        }

    def _observation(self, entry: Entry) -> ObservationRecorded:
        names = self.names
        return ObservationRecorded(
            **self._whose(),
            agent_source=entry.agent_source,
            session_id=_written(entry.session_id),
            domain_raw=_written(names.domain_raw),
            project_raw=_written(names.project_raw),
            agent_raw=_written(names.agent_raw),
            category=entry.category,
            category_raw=_written(entry.category_raw),
            text=entry.text,
            why=_written(entry.why),
            source_files=list(entry.source_files) or UNSET,
            evidence=list(self.evidence) or UNSET,
            entity_id=_written(entry.entity_id),
            entity_type=_written(entry.entity_type),
            external_id=_written(entry.external_id),
            request_id=_written(entry.request_id),
            request_hash=self.request_hash,
            content_hash=self.content_hash,
            hash_filter=self.hash_filter,
            memory_event=_written(self.memory_event),
            memory_guard=_written(self.verdict),
            redactions=_receipts((*self.clean.observation, *self._of_copies())),
        )

    def _of_copies(self) -> Iterator[Removed]:
        """Receipts for what the filter took out of the kept copies: the door never sees those."""
        for number, item in enumerate(self.evidence):
            for kind, count in sorted((known(item.removed) or {}).items()):
                yield Removed(kind, count, f"evidence.{number}", self.hash_filter)

    def _checkpoint(self, checkpoint: Checkpoint) -> CheckpointRecorded:
        return CheckpointRecorded(
            **self._whose(),
            goal=checkpoint.goal,
            completed=list(checkpoint.completed),
            verification=list(checkpoint.verification),
            open_questions=list(checkpoint.open_questions),
            next_steps=list(checkpoint.next_steps),
            redactions=_receipts(self.clean.checkpoint),
        )

    def _fact(self, fact: Fact) -> FactAsserted:
        return FactAsserted(
            **self._whose(),
            slot=fact.slot,
            value=fact.value,
            kind=fact.kind,
            confirms=self.decision.confirms,
            supersedes=self.decision.supersedes,
            retires=self.decision.retires,
            redactions=_receipts(self.clean.fact),
        )


def _new_id() -> UUID:
    return UUID(bytes=new_event_id())


def _written(value: _T | None) -> _T | UnsetType:
    return UNSET if value is None else value


def _receipts(removed: tuple[Removed, ...]) -> list[Removed] | UnsetType:
    return list(removed) or UNSET

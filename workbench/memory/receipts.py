"""What `record_event` answers (contract memory, "Receipt")."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET

from workbench.log.times import to_text
from workbench.memory.events import Evidence, GuardVerdict

STORED = "stored"
EXISTING = "existing"
SAME_REQUEST = "request_id_match"
SAME_CONTENT = "content_hash_match"
WINDOW_HOURS = 24
"""So long after it was recorded, the same words are the same memory event."""


class CategoryFallback(msgspec.Struct, frozen=True):
    """A category that is not one of ours: what was asked for, and what is stored instead."""

    requested: str
    stored: str


class TaskClosed(msgspec.Struct, frozen=True, kw_only=True):
    """The fact `task.status` that closes the task of a checkpoint; a fact that supersedes it reopens it."""

    id: str
    value: str
    kind: str
    domain: str
    """In which it is recorded, and has to be superseded."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What is stored, after the filter. Acknowledged only once it is durable.

    `event_id` is the id of the observation that recorded the same first (its own, unless
    `dedupe_status` is set); `chronicle_status` is `stored`, or `existing` where the memory event was there.
    """

    event_id: str
    observation_id: str
    fact_id: str | None = None
    """The fact asserted, or the current one that is confirmed."""
    checkpoint_id: str | None = None
    position: int
    """Of the observation in the log."""
    recorded_at: datetime
    occurred_at: datetime | None = None
    chronicle_status: str = STORED
    dedupe_status: str | None = None
    """`request_id_match` (nothing was written) or `content_hash_match` (a further observation was)."""
    domain: str
    project: str | None = None
    task_id: str | None = None
    agent: str
    domain_raw: str | None = None
    project_raw: str | None = None
    agent_raw: str | None = None
    """As given, where that differs from the canonical name."""
    agent_source: str
    session_id: str | None = None
    request_id: str | None = None
    external_id: str | None = None
    entity_id: str | None = None
    entity_type: str | None = None
    visibility: str = "public"
    category: str
    category_fallback: CategoryFallback | None = None
    text: str
    why: str | None = None
    source_files: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    artifacts_written: int = 0
    """Different copies that this call put into the archive, or found there already."""
    redactions: dict[str, int] = {}
    """By kind, how many secrets the filter took out of what was given."""
    memory_guard: GuardVerdict | None = None
    warnings: tuple[str, ...] = ()
    """What was recorded as it was asked for, and probably not meant so."""
    task_closed: TaskClosed | None = None
    """What closes the task that a checkpoint was recorded for, if something does; the checkpoint is kept."""

    def to_dict(self) -> dict[str, Any]:
        """The receipt under the reference's keys, ready for JSON; times are ISO 8601 in UTC."""
        answer: dict[str, Any] = {
            "event_id": self.event_id,
            "observation_id": self.observation_id,
            "fact_id": self.fact_id,
            "checkpoint_id": self.checkpoint_id,
            "position": self.position,
            "recorded_at": to_text(self.recorded_at),
            "occurred_at": None if self.occurred_at is None else to_text(self.occurred_at),
            "chronicle_status": self.chronicle_status,
            "chronicle_error": None,
            "domain": self.domain,
            "project": self.project,
            "task_id": self.task_id,
            "actor": self.agent,
            "agent": self.agent,
            "agent_source": self.agent_source,
            "session_id": self.session_id,
            "request_id": self.request_id,
            "external_id": self.external_id,
            "entity_id": self.entity_id,
            "entity_type": self.entity_type,
            "visibility": self.visibility,
            "category": self.category,
            "text": self.text,
            "why": self.why,
            "source_files": list(self.source_files),
            "evidence": [evidence_item(each) for each in self.evidence],
            "artifacts_written": self.artifacts_written,
        }
        raw = {
            "domain_raw": self.domain_raw,
            "project_raw": self.project_raw,
            "actor_raw": self.agent_raw,
        }
        answer |= {key: value for key, value in raw.items() if value is not None}
        if self.dedupe_status is not None:
            answer["dedupe_status"] = self.dedupe_status
        if self.dedupe_status == SAME_CONTENT:
            answer["dedupe_window_hours"] = WINDOW_HOURS
        if self.category_fallback is not None:
            answer["category_fallback"] = msgspec.to_builtins(self.category_fallback)
        if self.redactions:
            answer["redactions"] = dict(self.redactions)
        if self.memory_guard is not None:
            answer["memory_guard"] = msgspec.to_builtins(self.memory_guard)
        if self.warnings:
            answer["warnings"] = list(self.warnings)
        if self.task_closed is not None:
            answer["task_closed"] = msgspec.to_builtins(self.task_closed)
        return answer


def evidence_item(evidence: Evidence) -> dict[str, Any]:
    """One source file under the reference's keys: path, status; sha256, size, reason, redactions if known."""
    known = {
        "sha256": evidence.sha256,
        "size": evidence.size,
        "reason": evidence.reason,
        "redactions": evidence.removed,
    }
    return {
        "path": evidence.path,
        "status": evidence.status,
        **{key: value for key, value in known.items() if value is not UNSET},
    }

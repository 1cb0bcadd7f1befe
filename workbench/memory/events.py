"""The events of shared memory (DESIGN §2 "Event types"; contract memory, "Ours").

Every one carries the folded keys of its scope as names were resolved when it was written: a stream's name
is never parsed back, and a later alias changes no event. The name as given stands beside the canonical one
only where the two differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from workbench.log.registry import COUNT, NAMESPACE, SHA256, EventType, Payload, one_of
from workbench.log.streams import StreamRef, scope_stream


class Evidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of one source file of an observation."""

    path: str
    """As given."""
    status: Annotated[str, one_of("archived", "pointer_only", "missing", "skipped")]
    """`archived`, `pointer_only`, `missing` or `skipped`."""
    sha256: SHA256 | UnsetType = UNSET
    """Of the bytes that are kept, 64 hex digits."""
    size: COUNT | UnsetType = UNSET
    """Of the file as it was, in bytes."""
    reason: str | UnsetType = UNSET
    """Why it was not archived."""
    removed: dict[str, int] | UnsetType = UNSET
    """By kind, how many secrets the filter took out of the kept copy."""


class GuardVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory guard thought of an agent's prose."""

    visibility: Annotated[str, one_of("raw_only", "public")]
    """`raw_only`: quarantined from the start; `public` otherwise."""
    risk: int
    score: int
    reasons: list[str]


class ReviewItem(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a checkpoint."""

    list: Annotated[str, one_of("completed", "verification", "open_questions", "next_steps")]
    """`completed`, `verification`, `open_questions` or `next_steps`."""
    index: COUNT
    """From 0."""


class ScopedPayload(Payload, frozen=True, kw_only=True):
    """What every event of a scope carries."""

    scope_domain: str
    scope_project: str = ""
    scope_task: str = ""
    """Folded canonical names; empty where the scope is wider."""

    @property
    def stream(self) -> StreamRef:
        """The stream it belongs to."""
        return scope_stream(self.scope_domain, self.scope_project, self.scope_task)


class NamedPayload(ScopedPayload, frozen=True, kw_only=True):
    """A scope with its canonical names, and who speaks."""

    domain: str
    project: str | UnsetType = UNSET
    task_id: str | UnsetType = UNSET
    """As given."""
    agent: str
    """Canonical."""


class ObservationRecorded(NamedPayload, frozen=True, kw_only=True):
    """One call of `record_event`: what was seen, done or decided, and on what evidence."""

    agent_source: Annotated[str, one_of("explicit", "session", "client", "default")]
    """`explicit`, `session`, `client` or `default`."""
    session_id: str | UnsetType = UNSET
    domain_raw: str | UnsetType = UNSET
    project_raw: str | UnsetType = UNSET
    agent_raw: str | UnsetType = UNSET
    category: str
    category_raw: str | UnsetType = UNSET
    text: str
    why: str | UnsetType = UNSET
    source_files: list[str] | UnsetType = UNSET
    """As given."""
    evidence: list[Evidence] | UnsetType = UNSET
    entity_id: str | UnsetType = UNSET
    entity_type: str | UnsetType = UNSET
    external_id: str | UnsetType = UNSET
    """The caller's own id for it."""
    request_id: str | UnsetType = UNSET
    request_hash: SHA256
    content_hash: SHA256
    """SHA-256 of the filtered input, as 64 hex digits; see `memory.hashing`."""
    hash_filter: str
    """The version of the filter behind both."""
    memory_event: str | UnsetType = UNSET
    """The id of the observation that recorded the same first; unset in that one."""
    memory_guard: GuardVerdict | UnsetType = UNSET


class FactAsserted(NamedPayload, frozen=True, kw_only=True):
    """An observation's explicit fact; its event's id is the fact's id, unless it confirms another."""

    slot: str
    value: str
    kind: Annotated[str, one_of("observed", "decision", "assumption")]
    """`observed`, `decision` or `assumption`."""
    confirms: str | UnsetType = UNSET
    """The id of the current fact, which says the same already."""
    supersedes: str | UnsetType = UNSET
    """The id of the fact that this one replaces."""
    retires: list[str] | UnsetType = UNSET
    """Ids of all facts that it ends: that one, and the same slot's under other spellings of the names."""


class CheckpointRecorded(NamedPayload, frozen=True, kw_only=True):
    """The state of a task at a hand-off."""

    goal: str
    completed: list[str]
    verification: list[str]
    open_questions: list[str]
    next_steps: list[str]


class ReviewRecorded(ScopedPayload, frozen=True, kw_only=True):
    """A person's verdict. The reference to its target is stored unchecked."""

    target_kind: Annotated[str, one_of("checkpoint", "fact", "observation", "section")]
    """`checkpoint`, `fact`, `observation` or `section`."""
    target_id: str
    target_stream: str
    verdict: Annotated[str, one_of("accepted", "questioned", "rejected")]
    """`accepted`, `questioned` or `rejected`."""
    comment: str
    item: ReviewItem | UnsetType = UNSET
    reviewer: str
    prose_sha256: SHA256 | UnsetType = UNSET


class VisibilityChanged(ScopedPayload, frozen=True, kw_only=True):
    """A person quarantined an observation, or released it."""

    target_id: str
    """The id of the `observation.recorded`."""
    quarantined: bool
    reason: str
    by: str


SCOPE_FIELDS = frozenset({"scope_domain", "scope_project", "scope_task"})
_NAMES = SCOPE_FIELDS | {"domain", "project", "task_id", "agent"}


def _joined(texts: Iterable[str | UnsetType]) -> str:
    return "\n".join(text for text in texts if text is not UNSET)


def _observation_text(payload: ObservationRecorded) -> tuple[str, str]:
    return payload.agent, _joined((payload.text, payload.why))


def _fact_text(payload: FactAsserted) -> tuple[str, str]:
    return payload.slot, payload.value


def _checkpoint_text(payload: CheckpointRecorded) -> tuple[str, str]:
    lists = (payload.completed, payload.verification, payload.open_questions, payload.next_steps)
    return payload.goal, _joined(line for lines in lists for line in lines)


def _review_text(payload: ReviewRecorded) -> tuple[str, str]:
    return payload.verdict, payload.comment


def _reason_text(payload: VisibilityChanged) -> tuple[str, str]:
    return payload.by, payload.reason


OBSERVATION = EventType(
    NAMESPACE,
    "observation.recorded",
    1,
    ObservationRecorded,
    identifiers=_NAMES
    | {
        "agent_source",
        "session_id",
        "domain_raw",
        "project_raw",
        "agent_raw",
        "category",
        "category_raw",
        "entity_id",
        "entity_type",
        "external_id",
        "request_id",
        "request_hash",
        "content_hash",
        "hash_filter",
        "memory_event",
    },
    searchable=_observation_text,
    actor="agent",
)
FACT = EventType(
    NAMESPACE,
    "fact.asserted",
    1,
    FactAsserted,
    identifiers=_NAMES | {"slot", "kind", "confirms", "supersedes"},
    searchable=_fact_text,
    actor="agent",
)
CHECKPOINT = EventType(
    NAMESPACE,
    "checkpoint.recorded",
    1,
    CheckpointRecorded,
    identifiers=_NAMES,
    searchable=_checkpoint_text,
    actor="agent",
)
REVIEW = EventType(
    NAMESPACE,
    "review.recorded",
    1,
    ReviewRecorded,
    identifiers=SCOPE_FIELDS
    | {"target_kind", "target_id", "target_stream", "verdict", "reviewer", "prose_sha256"},
    searchable=_review_text,
    actor="reviewer",
)
VISIBILITY = EventType(
    NAMESPACE,
    "visibility.changed",
    1,
    VisibilityChanged,
    identifiers=SCOPE_FIELDS | {"target_id", "by"},
    searchable=_reason_text,
    actor="by",
)
EVENT_TYPES = (OBSERVATION, FACT, CHECKPOINT, REVIEW, VISIBILITY)

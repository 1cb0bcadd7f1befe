"""What readers of shared memory answer: structures that also read like dictionaries.

Their names and meanings are the contract's ("Reference: task_context", "startup_bundle", "Brief"). A field
that is `UNSET` does not belong to this answer and is left out of its JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from workbench.log.registry import Removed
from workbench.memory.events import Evidence, ReviewItem


class View(msgspec.Struct, frozen=True, kw_only=True):
    """Base of every answer: `answer.key` and `answer["key"]` are the same."""

    def __getitem__(self, key: str) -> Any:
        value = getattr(self, key, UNSET) if key in self.__struct_fields__ else UNSET
        if value is UNSET:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return key in self.__struct_fields__ and getattr(self, str(key)) is not UNSET

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> list[str]:
        """The keys of this answer, in order."""
        return [name for name in self.__struct_fields__ if getattr(self, name) is not UNSET]

    def items(self) -> list[tuple[str, Any]]:
        """Keys with their values."""
        return [(name, getattr(self, name)) for name in self.keys()]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or `default`."""
        value = getattr(self, key, UNSET) if key in self.__struct_fields__ else UNSET
        return default if value is UNSET else value

    def to_dict(self) -> dict[str, Any]:
        """Dictionaries, lists and plain values all the way down."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found


class Checkpoint(View, frozen=True, kw_only=True):
    """What a checkpoint says."""

    id: str
    goal: str
    completed: list[str]
    verification: list[str]
    open_questions: list[str]
    next_steps: list[str]


class Observation(View, frozen=True, kw_only=True):
    """One call of `record_event`."""

    observation_id: str
    event_id: str
    """Of the memory event: the id of the observation that recorded the same first."""
    position: int
    agent: str
    session_id: str | None
    domain: str
    project: str | None
    task_id: str | None
    category: str
    recorded_at_utc: str
    occurred_at_utc: str | None
    text: str
    why: str | None
    evidence: list[Evidence]
    """Its status is `purged` where a copy was kept and a person had it removed since."""
    fact_id: str | None
    """The fact that it asserts or confirms."""
    checkpoint: Checkpoint | UnsetType | None = UNSET
    private: bool | UnsetType = UNSET
    """For a person's eyes only; set where it is so."""
    quarantined: bool | UnsetType = UNSET
    observed: int | UnsetType = UNSET
    """How often the memory event was observed, as far as one may see, up to 1000; in lists of them."""
    observed_by: list[str] | UnsetType = UNSET
    """Who observed it besides this one, the first of them; in lists of memory events."""


class Review(View, frozen=True, kw_only=True):
    """A person's verdict."""

    id: str
    position: int
    target_kind: str
    target_id: str
    item: ReviewItem | None
    line: str | None
    """The line of the checkpoint that `item` names."""
    verdict: str
    comment: str
    reviewer: str
    recorded_at: str
    current: bool
    """No later review of the same target or line exists."""
    prose_sha256: str | None


class Fact(View, frozen=True, kw_only=True):
    """A current assertion."""

    id: str
    slot: str
    value: str
    kind: str
    """`observed`, `decision` or `assumption`."""
    text: str
    """Of the observation that asserted it."""
    agent: str
    domain: str
    project: str | None
    task_id: str | None
    recorded_at: str
    event_id: str
    observation_id: str
    position: int
    disputed: bool
    """Its latest review rejects it."""
    review: Review | UnsetType = UNSET
    """That review; set where it is disputed."""
    private: bool | UnsetType = UNSET


class Confirmation(View, frozen=True, kw_only=True):
    """An observation that said what a fact said already."""

    agent: str
    recorded_at: str
    event_id: str
    observation_id: str
    text: str
    why: str | None
    evidence: list[Evidence]
    position: int
    private: bool | UnsetType = UNSET


class Replacement(View, frozen=True, kw_only=True):
    """What took a fact's place, and when."""

    id: str
    agent: str
    recorded_at: str


class ChainLink(View, frozen=True, kw_only=True):
    """One fact of a supersession chain."""

    id: str
    position: int
    slot: str
    value: str
    kind: str
    agent: str
    domain: str
    project: str | None
    task_id: str | None
    text: str
    why: str | None
    evidence: list[Evidence]
    recorded_at: str
    event_id: str
    """The memory event that asserted it."""
    observation_id: str
    confirmations: list[Confirmation]
    """Oldest first."""
    disputed: bool
    """Its latest review rejects it."""
    current: bool
    replaced_by: Replacement | None
    review: Review | UnsetType = UNSET
    """The review that rejects it; set where it is disputed."""
    private: bool | UnsetType = UNSET


class FactConflict(View, frozen=True, kw_only=True):
    """A slot that several spellings of its names give several current values."""

    domain: str
    project: str | None
    task_id: str | None
    slot: str
    facts: list[Fact]
    """Newest first; the next replacement of the newest retires them all."""


class FactPage(View, frozen=True, kw_only=True):
    """Facts, newest first."""

    facts: list[Fact]
    next: int | None
    """Give it as `after` for the facts that follow; None at the end."""


class ReviewPage(View, frozen=True, kw_only=True):
    """Reviews, newest first."""

    reviews: list[Review]
    next: int | None


class OpenTask(View, frozen=True, kw_only=True):
    """The latest checkpoint of a task that is not closed."""

    project: str
    task_id: str
    domain: str
    agent: str
    recorded_at_utc: str
    event_id: str
    goal: str
    next_steps: list[str]
    """The first three."""


class Task(View, frozen=True, kw_only=True):
    """A task as a list shows it; what stands in a checkpoint is None where there is none."""

    project: str
    task_id: str
    domain: str
    agent: str
    recorded_at: str
    """Of the checkpoint, else of the latest that is known of the task."""
    checkpoint_id: str | None
    event_id: str
    goal: str | None
    next_steps: list[str]
    review: Review | None
    """The latest of the checkpoint or a line of it."""
    status: str | None
    """The newest `task.status`, trimmed and in lower case."""
    open: bool
    position: int


class TaskPage(View, frozen=True, kw_only=True):
    """Tasks, the latest first."""

    tasks: list[Task]
    next: int | None


class TaskContext(View, frozen=True, kw_only=True):
    """Where a task, a project or a domain stands."""

    domain: str
    project: str | None
    task_id: str | None
    checkpoint: Observation | None
    """The observation that carries the task's current checkpoint."""
    review: Review | UnsetType | None = UNSET
    """The latest review of that checkpoint; with a task only."""
    unresolved_reviews: list[Review] | UnsetType = UNSET
    """Questioned or rejected, and no checkpoint came after; with a task only."""
    changes: list[Observation]
    """Oldest first."""
    has_more: bool
    """There are newer ones behind this page; give `cursor` as `since`."""
    cursor: str
    has_older: bool
    before: str | None
    """Give it as `before` for what lies before this page."""
    facts_has_more: bool
    current_facts: list[Fact]
    """Newest first."""
    open_tasks: list[OpenTask] | UnsetType = UNSET
    """Without a task only."""


class RecallStatus(View, frozen=True, kw_only=True):
    """How what stands under `recent_events` was found."""

    degraded: bool
    channel_errors: list[str]
    vector_coverage: float | None
    relaxed: bool
    """Nothing held every word; these hold some of them."""
    no_confident_match: bool
    hint: str | None


class SourceHealth(View, frozen=True, kw_only=True):
    """The state of the sources a manifest names."""

    status: str
    issue_count: int
    issues: list[str]


class DatabaseSummary(View, frozen=True, kw_only=True):
    """How far the log has come."""

    position: int
    last_recorded_at: str | None


class ContractName(View, frozen=True, kw_only=True):
    """Whose answer it is."""

    name: str
    version: str


class DomainName(View, frozen=True, kw_only=True):
    """A domain as its manifest names it."""

    id: str
    label: str


class StartupBundle(View, frozen=True, kw_only=True):
    """All that an agent needs to continue."""

    generated_at: str
    focus: str | None
    domain: DomainName
    project: str | None
    task_context: TaskContext
    recall_status: RecallStatus | None
    """None where there is no focus."""
    sources: list[dict[str, Any]]
    source_health: SourceHealth
    recent_events: list[Observation]
    db_summary: DatabaseSummary
    session_id: str | None
    agent: str
    contract: ContractName
    chronicle: dict[str, Any] | UnsetType = UNSET
    """With a task, where there are sections of it."""
    elsewhere: list[str] | UnsetType = UNSET
    """Domains in which the project or task is known, the latest first: set where none was asked for and
    `global` knows nothing of it."""


class BriefBundle(View, frozen=True, kw_only=True):
    """A startup in the form of a brief."""

    brief: str
    project: str | None
    counts: dict[str, int]
    session_id: str | None
    agent: str


class Brief(View, frozen=True, kw_only=True):
    """A page of text that a new session reads first."""

    project: str | None
    project_source: str
    """`given`, `root`, `directory` or `none`."""
    text: str
    counts: dict[str, int]
    """Lines of open_tasks, facts, decisions and warnings in the text."""
    reviews: int
    """Lines under "Review"."""
    omitted: int
    """Lines left out for want of room."""
    cut: bool
    """Even the fixed lines were too long and were cut."""
    redactions: int
    """Secrets that an older filter had let through, taken out now."""


class Quarantined(View, frozen=True, kw_only=True):
    """An observation that agents do not see."""

    observation: Observation
    since: int
    """The position of what quarantined it: its own where the guard did."""
    by: str | None
    """Who quarantined it; None for the guard."""
    reason: str | None


class AsOf(View, frozen=True, kw_only=True):
    """What was known at a position of the log."""

    position: int
    recorded_at: str | None
    """When that position was recorded."""
    domain: str | None
    project: str | None
    task_id: str | None
    facts: list[Fact]
    facts_has_more: bool
    tasks: list[Task]
    """Open ones; of a named task only itself."""
    checkpoint: Observation | None
    """Of the named task."""
    reviews: list[Review]
    unresolved_reviews: list[Review] | UnsetType = UNSET
    """Of the named task."""
    quarantine: list[Quarantined]
    """Empty for agents."""
    recent_events: list[Observation]
    names: str
    """`today`: spellings were matched as the manifest has them now."""


class TimelineEvent(Observation, frozen=True, kw_only=True):
    """An observation near a moment."""

    at_utc: str
    """When it happened: `occurred_at`, else `recorded_at`."""
    delta_seconds: float


class PastFact(View, frozen=True, kw_only=True):
    """A fact that was current at a moment."""

    id: str
    domain: str
    project: str | None
    task_id: str | None
    slot: str
    value: str
    kind: str
    agent: str
    recorded_at_utc: str
    retired_at_utc: str | None
    """None: what replaced a fact of then came later and was not known."""


class Timeline(View, frozen=True, kw_only=True):
    """What happened around a moment, or what was known at it."""

    target_utc: str
    target_local: str
    domain: str | None
    mode: str
    """`around` or `as_of`."""
    nearest_snapshots: list[dict[str, Any]]
    events: list[TimelineEvent]
    """In order of when they happened."""
    events_has_more: bool
    facts: list[PastFact] | UnsetType = UNSET
    """With `as_of` only."""
    contract: ContractName


class Kept(View, frozen=True, kw_only=True):
    """A line that both checkpoints have."""

    older: str
    newer: str
    reworded: bool


class ListChange(View, frozen=True, kw_only=True):
    """How one list of a checkpoint changed."""

    kept: list[Kept]
    added: list[str]
    gone: list[str]


class OpenQuestion(View, frozen=True, kw_only=True):
    """A question that still stands."""

    text: str
    age: int
    """How many checkpoints in a row it has stood in, this one included."""


class Comparison(View, frozen=True, kw_only=True):
    """What changed from one checkpoint to a later one."""

    older: str
    newer: str
    """Ids of the checkpoints."""
    older_goal: str
    newer_goal: str
    goal_changed: bool
    completed: ListChange
    verification: ListChange
    open_questions: ListChange
    next_steps: ListChange
    dropped: list[str]
    """Next steps of the older one that the newer one has neither done nor ahead."""
    questions: list[OpenQuestion]


class FactChange(View, frozen=True, kw_only=True):
    """A fact that was asserted in a stretch of the log."""

    fact: Fact
    replaced: list[str]
    """Ids of the facts that it ended."""
    current: bool


class EvidenceOf(View, frozen=True, kw_only=True):
    """Evidence and the observation that brought it."""

    observation_id: str
    evidence: Evidence


class RemovedFrom(View, frozen=True, kw_only=True):
    """Secrets taken out of an event."""

    position: int
    type: str
    removed: Removed


class SinceReview(View, frozen=True, kw_only=True):
    """What came into a task after its last review."""

    project: str
    task_id: str
    review: Review | None
    from_position: int
    """Everything here lies behind it; 0 if nothing was ever reviewed.

    The review's position, or that of the checkpoint it judged where a newer one stood by then unjudged.
    """
    to_position: int
    observations: list[Observation]
    """Oldest first."""
    has_more: bool
    facts: list[FactChange]
    redactions: list[RemovedFrom]
    evidence: list[EvidenceOf]

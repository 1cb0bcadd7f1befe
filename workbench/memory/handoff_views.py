"""What is answered about hand-offs: one row for each task, and what a person looks at before a verdict."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from workbench.memory.events import Evidence
from workbench.memory.views import Comparison, FactChange, Observation, Review, View


class Alarms(NamedTuple):
    """What about a task's current checkpoint may need a person; each is a number of things."""

    claims: int = 0
    """Lines of `verification` without evidence."""
    missing: int = 0
    """Files that were named since the previous checkpoint and could not be found, or are gone."""
    standing: int = 0
    """Open questions that the previous checkpoint had already."""
    dropped: int = 0
    """Next steps of the previous checkpoint that are neither done nor still ahead."""
    disputed: int = 0
    """Current facts that a person rejected."""
    quarantined: int = 0
    """Entries that are withheld from agents and came after the last review."""

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


class Handoff(NamedTuple):
    """A task and the checkpoint that it stands at."""

    project_key: str
    task_key: str
    """With the project's: which task it is, under any spelling."""
    position: int
    """Of the checkpoint."""
    project: str
    task_id: str
    domain: str
    agent: str
    goal: str
    """Its first characters."""
    recorded_at: datetime
    checkpoint_id: str
    observation_id: str
    observation: int
    """The position of the observation that carries it."""
    session_id: str | None
    status: str | None
    closed: bool
    questions: int
    review: Review | None
    """The latest of the checkpoint or of a line of it."""
    alarms: Alarms
    private: bool
    quarantined: bool
    unreadable: str = ""
    """Why the checkpoint, or what it is compared with, cannot be read; "" where it can."""

    @property
    def key(self) -> tuple[str, str]:
        """Which task it is."""
        return self.project_key, self.task_key

    @property
    def waits(self) -> bool:
        """Whether it waits for a person: it is open and was not reviewed, or something was withheld since."""
        return not self.closed and (self.review is None or self.alarms.quarantined > 0)


class Claim(NamedTuple):
    """A line of `verification`."""

    text: str
    backed: bool
    """Whether any evidence came with it."""
    files: tuple[Evidence, ...]
    """The first of that evidence; what the line names by name comes first."""


class LineReview(NamedTuple):
    """The latest verdict on a line of a checkpoint."""

    where: str
    """The list of the line: `completed`, `verification`, `open_questions` or `next_steps`."""
    line: int
    """Its index there."""
    review: Review


class CheckpointDetail(View, frozen=True, kw_only=True):
    """A checkpoint as a person judges it."""

    carrier: Observation
    """The observation that carries it, with it."""
    number: int
    """Which of the task's checkpoints it is, from 1; counted up to `MOST_NUMBERED`."""
    of: int
    """How many the task has, counted as far."""
    previous: Comparison | None
    """What changed since the checkpoint before; None for the first one."""
    new: dict[str, frozenset[int]]
    """By list: indexes of the lines that the previous one did not have; all are new in a first one."""
    claims: list[Claim]
    missing: list[Evidence]
    """Files named since the previous checkpoint that could not be found, or are gone."""
    questions: list[int]
    """How many checkpoints in a row each open question has stood."""
    facts: list[FactChange]
    """Asserted in the task since the previous checkpoint, the oldest first."""
    replaced: dict[str, str]
    """By the id of a fact that one of those ended: its value."""
    disputed: list[str]
    """Slots of current facts that a person rejected."""
    withheld: int
    """Entries withheld from agents since the last review."""
    review: Review | None
    """The latest verdict on the whole."""
    lines: list[LineReview]


class TaskFile(NamedTuple):
    """A source file that an observation of a task named."""

    evidence: Evidence
    position: int
    """Of that observation."""
    agent: str
    recorded_at: datetime
    current: bool
    """It was named since the previous checkpoint."""
    kept: int | None = None
    """Bytes of the copy; None where there is none, or where it was not looked at."""


class PastCheckpoint(NamedTuple):
    """One checkpoint of a task's history."""

    id: str
    position: int
    agent: str
    recorded_at: datetime
    goal: str
    lines: tuple[int, int, int, int]
    """How many completed, verification, open questions and next steps it has."""
    review: Review | None
    private: bool
    quarantined: bool

"""Hand-offs for a person: the current checkpoint of each task, and what about it may need a look.

What a claim without evidence is: each line of a checkpoint's `verification` claims that something was
checked. It has evidence if a source file was archived or pointed at by any observation of the task since the
checkpoint before, up to the one that carries this checkpoint. A line that the checkpoint before had already
may rest on any earlier file of the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import NamedTuple

from msgspec import UNSET

from workbench.log.times import from_micros
from workbench.memory import reviews, tasks
from workbench.memory.comparison import dropped_steps, matched
from workbench.memory.events import CheckpointRecorded, Evidence, ObservationRecorded
from workbench.memory.folds import CLOSING, STATUS_SLOT
from workbench.memory.handoff_views import Alarms, Handoff
from workbench.memory.observations import checkpoint_at, evidence, given, is_withheld
from workbench.memory.snapshot import Snapshot, id_bytes, id_text
from workbench.memory.views import Review
from workbench.storage import fetch

KEPT = frozenset({"archived", "pointer_only"})
"""What may have become of a source file that counts as evidence."""
GONE = frozenset({"missing", "purged"})
"""What may have become of one that is not there."""
GOAL_CHARACTERS = 400
MOST_FILES = 500
"""Source files that are looked at for one task."""


class Head(NamedTuple):
    """A task and where its current checkpoint stands."""

    position: int
    project: str
    """The key of its canonical name."""
    task: str
    closed: bool
    status: str | None
    event_id: bytes
    """Of the checkpoint."""
    judged: bool
    """There is a verdict on the checkpoint, or on a line of it."""

    @property
    def checkpoint_id(self) -> str:
        """The id of its checkpoint."""
        return id_text(self.event_id)

    @property
    def key(self) -> tuple[str, str]:
        """Which task it is."""
        return self.project, self.task


class Said(NamedTuple):
    """What a checkpoint says about itself: never changes."""

    project: str | None
    task_id: str | None
    domain: str
    agent: str
    goal: str
    recorded_at: int
    observation: int
    observation_id: str
    session_id: str | None
    questions: int
    private: bool


class Scope(NamedTuple):
    """The keys of a task in the domain of a checkpoint, under every spelling."""

    domains: tuple[str, ...]
    projects: tuple[str, ...]
    task: str

    def runs(self) -> Iterable[dict[str, str]]:
        """Bindings for each spelling."""
        return [
            {"domain": domain, "project": project, "task": self.task}
            for domain in self.domains
            for project in self.projects
        ]


_KEYS = "domain_key = :domain AND project_key = :project AND task_key = :task"


def heads(snapshot: Snapshot) -> list[Head]:
    """Every task that has a checkpoint, at its latest one; the latest first. For a person: none is hidden."""
    newest: dict[tuple[str, str], fetch.Row] = {}
    spelled: dict[tuple[str, str], set[str | None]] = {}
    canonical: dict[str, str] = {}
    judged = _judged(snapshot)
    carrier = ("o.event_id", _CARRIER) if judged else ("NULL", "")
    for row in snapshot.rows((_PAST if snapshot.past else _NOW).format(*carrier)):
        name = canonical.get(row[1])
        if name is None:
            name = canonical[row[1]] = (snapshot.registry.project_forms(row[1]) or (row[1],))[0]
        key = (name, row[2])
        known = newest.get(key)
        if known is None:
            newest[key] = row
        else:
            spelled.setdefault(key, {known[3]}).add(row[3])
            if known[0] < row[0]:
                newest[key] = row
    statuses = _statuses(snapshot) if snapshot.past else {}
    found: list[Head] = []
    for key, (position, _, _, status, event_id, observation_id) in newest.items():
        if snapshot.past:
            status = statuses.get(key)
        elif len(spelled.get(key, ())) > 1:
            # Its spellings say different things: the newest of what they say counts.
            status = tasks.status(snapshot, snapshot.registry.project_forms(key[0]) or (key[0],), key[1])
        has_verdict = event_id in judged or observation_id in judged
        found.append(Head(position, *key, status in CLOSING, status, event_id, has_verdict))
    found.sort(key=itemgetter(0), reverse=True)
    return found


_NOW = (
    "SELECT c.position, t.project_key, t.task_key, t.status_raw, c.event_id, {} "
    "FROM tasks t CROSS JOIN checkpoints c ON c.position = t.latest {}"
)
_PAST = (
    "SELECT c.position, c.project_key, c.task_key, NULL, c.event_id, {} FROM checkpoints c {} "
    "WHERE c.position <= :upto AND (c.to_position IS NULL OR c.to_position > :upto)"
)
_CARRIER = "LEFT JOIN observations o ON o.position = c.observation"


def _judged(snapshot: Snapshot) -> frozenset[bytes | None]:
    """The ids of everything that has a verdict."""
    if not snapshot.reviewed:
        return frozenset()
    found = snapshot.rows("SELECT DISTINCT target_id FROM reviews WHERE position <= :upto")
    return frozenset(id_bytes(target) for (target,) in found) - {None}


def _statuses(snapshot: Snapshot) -> dict[tuple[str, str], str | None]:
    """By task what its newest `task.status` said by then, in any domain and spelling."""
    found: dict[tuple[str, str], str | None] = {}
    sql = (
        "SELECT f.project_key, f.task_key, json_extract(e.payload, '$.value') "
        "FROM facts f CROSS JOIN events e ON e.position = f.position "
        "WHERE f.slot = :slot AND f.position <= :upto ORDER BY f.position"
    )
    for project, task, value in snapshot.rows(sql, slot=STATUS_SLOT):
        forms = snapshot.registry.project_forms(project) or (project,)
        found[forms[0], task] = str(value).strip().lower()
    return found


def said(snapshot: Snapshot, position: int) -> Said:
    """What the checkpoint at a position says about itself."""
    event = snapshot.event(position)
    payload: CheckpointRecorded = event.payload
    observation = snapshot.value("SELECT observation FROM checkpoints WHERE position = :at", at=position)
    carrier = snapshot.event(observation)
    session = carrier.payload.session_id if isinstance(carrier.payload, ObservationRecorded) else UNSET
    return Said(
        project=given(payload.project),
        task_id=given(payload.task_id),
        domain=payload.domain,
        agent=payload.agent,
        goal=payload.goal[:GOAL_CHARACTERS],
        recorded_at=event.recorded_at,
        observation=observation,
        observation_id=id_text(carrier.event_id),
        session_id=given(session),
        questions=len(payload.open_questions),
        private=event.private or carrier.private,
    )


def handoff(snapshot: Snapshot, head: Head, known: Said) -> Handoff:
    """The row of a task."""
    review = reviews.of_targets(snapshot, (head.checkpoint_id, known.observation_id))
    return Handoff(
        project_key=head.project,
        task_key=head.task,
        position=head.position,
        project=snapshot.registry.project(known.project) or head.project,
        task_id=known.task_id or head.task,
        domain=known.domain,
        agent=snapshot.registry.agent(known.agent),
        goal=known.goal,
        recorded_at=from_micros(known.recorded_at),
        checkpoint_id=head.checkpoint_id,
        observation_id=known.observation_id,
        observation=known.observation,
        session_id=known.session_id,
        status=head.status,
        closed=head.closed,
        questions=known.questions,
        review=review,
        alarms=alarms(snapshot, head.position),
        private=known.private,
        quarantined=is_withheld(snapshot, known.observation),
    )


def unreadable(snapshot: Snapshot, head: Head, why: str) -> Handoff:
    """The row of a task whose stored checkpoint is damaged: one such row must not hide the others."""
    return Handoff(
        project_key=head.project,
        task_key=head.task,
        position=head.position,
        project=head.project,
        task_id=head.task,
        domain="",
        agent="",
        goal="",
        recorded_at=from_micros(snapshot.recorded_at(head.position) or 0),
        checkpoint_id=head.checkpoint_id,
        observation_id="",
        observation=head.position,
        session_id=None,
        status=head.status,
        closed=head.closed,
        questions=0,
        review=None,
        alarms=Alarms(),
        private=False,
        quarantined=False,
        unreadable=why,
    )


# -- alarms --------------------------------------------------------------------------------


def alarms(snapshot: Snapshot, position: int) -> Alarms:
    """What about the checkpoint at a position, a task's current one, may need a person."""
    scope = scope_of(snapshot, position)
    before = previous(snapshot, scope, position)
    now = checkpoint_at(snapshot, position)
    dropped = standing = 0
    carried: frozenset[int] = frozenset()
    if before is not None:
        earlier = checkpoint_at(snapshot, before)
        dropped = len(dropped_steps(earlier, now))
        standing = len(matched(earlier.open_questions, now.open_questions))
        carried = frozenset(match.line for match in matched(earlier.verification, now.verification).values())
    files = evidence_between(snapshot, scope, before or 0, position)
    return Alarms(
        claims=len(unbacked(snapshot, scope, before, files, len(now.verification), carried)),
        missing=sum(item.status in GONE for item in files),
        standing=standing,
        dropped=dropped,
        disputed=len(disputed(snapshot, scope)),
        quarantined=withheld(snapshot, scope, last_review(snapshot, scope)),
    )


def unbacked(
    snapshot: Snapshot,
    scope: Scope,
    before: int | None,
    files: Sequence[Evidence],
    lines: int,
    carried: frozenset[int],
) -> list[int]:
    """Indexes of the claims without evidence: `files` came since `before`, which had the `carried` ones."""
    if not lines or any(item.status in KEPT for item in files):
        return []
    fresh = [index for index in range(lines) if index not in carried]
    if len(fresh) == lines or before is None:
        return fresh
    earlier = evidence_between(snapshot, scope, 0, before)
    return fresh if any(item.status in KEPT for item in earlier) else list(range(lines))


def scope_of(snapshot: Snapshot, position: int) -> Scope:
    """The keys of the task that a checkpoint belongs to."""
    row = snapshot.row(
        "SELECT domain_key, project_key, task_key FROM checkpoints WHERE position = :at", at=position
    )
    assert row is not None
    domain, project, task = row
    registry = snapshot.registry
    return Scope(
        registry.domain_forms(domain) or (domain,), registry.project_forms(project) or (project,), task
    )


def previous(snapshot: Snapshot, scope: Scope, position: int) -> int | None:
    """The position of the checkpoint before one, or None."""
    sql = (
        f"SELECT position FROM checkpoints WHERE {_KEYS} AND position < :at AND {snapshot.handed_off()} "
        "ORDER BY position DESC LIMIT 1"
    )
    found = [snapshot.value(sql, at=position, **keys) for keys in scope.runs()]
    return max((each for each in found if each is not None), default=None)


def files_at(snapshot: Snapshot, scope: Scope, after: int, upto: int) -> list[int]:
    """Positions of the observations that named source files, behind one position and up to another."""
    # Along the task's observations: there are few, and few of them name files.
    sql = (
        "SELECT o.position FROM observations o WHERE o.domain_key = :domain AND o.project_key = :project "
        "AND o.task_key = :task AND o.position > :after AND o.position <= :end "
        f"AND {snapshot.observed('o')} "
        "AND EXISTS (SELECT 1 FROM evidence_links l WHERE l.position = o.position) "
        "ORDER BY o.position DESC LIMIT :limit"
    )
    found = [
        position
        for keys in scope.runs()
        for (position,) in snapshot.rows(sql, after=after, end=upto, limit=MOST_FILES, **keys)
    ]
    return sorted(found, reverse=True)[:MOST_FILES]


def evidence_between(snapshot: Snapshot, scope: Scope, after: int, upto: int) -> list[Evidence]:
    """The source files that a task's observations named, behind one position up to another, newest first."""
    return [
        item
        for position in files_at(snapshot, scope, after, upto)
        for item in evidence(snapshot, snapshot.event(position).payload)
    ]


def disputed(snapshot: Snapshot, scope: Scope) -> list[int]:
    """Positions of the task's current facts whose latest review rejects them."""
    if not snapshot.reviewed:
        return []
    sql = (
        "SELECT r.target_id FROM reviews r WHERE r.domain_key = :domain AND r.project_key = :project "
        "AND r.task_key = :task AND r.target_kind = 'fact' AND r.item = '' AND r.verdict = 'rejected' "
        f"AND r.position <= :upto AND {snapshot.stands('r')}"
    )
    current = (
        "SELECT position FROM facts WHERE fact_id = :id "
        f"AND {snapshot.asserted()} AND {snapshot.stands('facts')}"
    )
    found: set[int] = set()
    for keys in scope.runs():
        for (target,) in snapshot.rows(sql, **keys):
            stored = id_bytes(target)
            at = None if stored is None else snapshot.value(current, id=stored)
            if at is not None:
                found.add(at)
    return sorted(found)


def last_review(snapshot: Snapshot, scope: Scope) -> int:
    """The position of the latest review of anything in a task; 0 without one."""
    if not snapshot.reviewed:
        return 0
    sql = f"SELECT max(position) FROM reviews WHERE {_KEYS} AND position <= :upto"
    return max((snapshot.value(sql, **keys) or 0 for keys in scope.runs()), default=0)


def withheld(snapshot: Snapshot, scope: Scope, after: int) -> int:
    """How many of a task's observations behind a position are withheld from agents."""
    # What is shown now is not withheld now; of the past only the rows of quarantines tell.
    hidden = "1" if snapshot.past else "o.shown = 0"
    sql = (
        "SELECT count(*) FROM observations o WHERE o.domain_key = :domain AND o.project_key = :project "
        f"AND o.task_key = :task AND o.position > :after AND {snapshot.observed('o')} AND {hidden} "
        f"AND {snapshot.withheld('o.position')}"
    )
    return sum(snapshot.value(sql, after=after, **keys) for keys in scope.runs())


def line_reviews(snapshot: Snapshot, targets: Sequence[str]) -> list[Review]:
    """The latest review of the whole and of each line that has one, of a checkpoint under its ids."""
    if not snapshot.reviewed:
        return []
    sql = (
        "SELECT position FROM reviews WHERE target_id = :target AND position <= :upto "
        f"AND {snapshot.stands('reviews')} ORDER BY position"
    )
    found = [
        position for target in dict.fromkeys(targets) for (position,) in snapshot.rows(sql, target=target)
    ]
    return [reviews.review(snapshot, position) for position in sorted(found)]

"""One task's hand-off in full: its checkpoint, its source files, its history (contract memory)."""

from __future__ import annotations

from workbench.log.times import from_micros
from workbench.memory import reviews
from workbench.memory.comparison import compare, matched
from workbench.memory.events import CheckpointRecorded, Evidence, FactAsserted
from workbench.memory.handoff_views import CheckpointDetail, Claim, LineReview, PastCheckpoint, TaskFile
from workbench.memory.handoffs import (
    GOAL_CHARACTERS,
    GONE,
    KEPT,
    MOST_FILES,
    Scope,
    disputed,
    evidence_between,
    files_at,
    last_review,
    line_reviews,
    previous,
    scope_of,
    unbacked,
    withheld,
)
from workbench.memory.observations import carrier, evidence, is_withheld
from workbench.memory.since_review import fact_change
from workbench.memory.snapshot import Snapshot, id_bytes, id_text
from workbench.memory.spans import Span, newest
from workbench.memory.views import Checkpoint, Comparison, FactChange

LISTS = ("completed", "verification", "open_questions", "next_steps")
MOST_NUMBERED = 1000
"""Checkpoints of one task that are counted."""
_FACTS = 100
_FILES_OF_A_CLAIM = 3


def checkpoint_detail(snapshot: Snapshot, position: int) -> CheckpointDetail:
    """The checkpoint at a position as a person judges it."""
    scope = scope_of(snapshot, position)
    before = previous(snapshot, scope, position)
    found = carrier(snapshot, position)
    now = found.checkpoint
    assert isinstance(now, Checkpoint)
    change = None if before is None else compare(snapshot, before, position)
    files = evidence_between(snapshot, scope, before or 0, position)
    new = _new_lines(now, change)
    carried = frozenset(range(len(now.verification))) - new["verification"]
    bare = unbacked(snapshot, scope, before, files, len(now.verification), carried)
    judged = line_reviews(snapshot, (now.id, found.observation_id))
    whole = [each for each in judged if each.item is None]
    facts = _facts(snapshot, scope, before or 0, position)
    number, of = _number(snapshot, scope, position)
    return CheckpointDetail(
        carrier=found,
        number=number,
        of=of,
        previous=change,
        new=new,
        claims=_claims(snapshot, scope, now, files, carried, frozenset(bare)),
        missing=[item for item in files if item.status in GONE],
        questions=[1] * len(now.open_questions) if change is None else [q.age for q in change.questions],
        facts=facts,
        replaced={each: _value(snapshot, each) for change in facts for each in change.replaced},
        disputed=[_slot(snapshot, at) for at in disputed(snapshot, scope)],
        withheld=withheld(snapshot, scope, last_review(snapshot, scope)),
        review=whole[-1] if whole else None,
        lines=[LineReview(each.item.list, each.item.index, each) for each in judged if each.item is not None],
    )


def _new_lines(now: Checkpoint, change: Comparison | None) -> dict[str, frozenset[int]]:
    found: dict[str, frozenset[int]] = {}
    for name in LISTS:
        lines = getattr(now, name)
        if change is None:
            found[name] = frozenset(range(len(lines)))
            continue
        kept = [each.newer for each in getattr(change, name).kept]
        old = {match.line for match in matched(kept, lines).values()}
        found[name] = frozenset(range(len(lines))) - old
    return found


def _claims(
    snapshot: Snapshot,
    scope: Scope,
    now: Checkpoint,
    files: list[Evidence],
    carried: frozenset[int],
    bare: frozenset[int],
) -> list[Claim]:
    kept = [item for item in files if item.status in KEPT]
    if not kept and carried and len(bare) < len(now.verification):
        earlier = evidence_between(snapshot, scope, 0, snapshot.last)
        kept = [item for item in earlier if item.status in KEPT]
    return [
        Claim(line, index not in bare, () if index in bare else _named_first(line, kept))
        for index, line in enumerate(now.verification)
    ]


def _named_first(line: str, files: list[Evidence]) -> tuple[Evidence, ...]:
    """The files for a line: those whose name stands in it, else all of them, the first few."""
    named = [item for item in files if (name := item.path.rpartition("/")[2]) and name in line]
    return tuple((named or files)[:_FILES_OF_A_CLAIM])


def _number(snapshot: Snapshot, scope: Scope, position: int) -> tuple[int, int]:
    sql = (
        "SELECT position FROM checkpoints WHERE domain_key = :domain AND project_key = :project "
        f"AND task_key = :task AND {snapshot.handed_off()} ORDER BY position LIMIT {MOST_NUMBERED}"
    )
    found = [at for keys in scope.runs() for (at,) in snapshot.rows(sql, **keys)]
    return sum(at <= position for at in found), len(found)


def _facts(snapshot: Snapshot, scope: Scope, after: int, upto: int) -> list[FactChange]:
    span = Span(scope.domains, scope.projects, (scope.task,))
    found = newest(
        snapshot,
        span,
        "facts INDEXED BY facts_in_time",
        snapshot.asserted(),
        _FACTS,
        above=after,
        # An observation may assert a fact right behind its checkpoint.
        below=upto + 2,
        ascending=True,
    )
    return [fact_change(snapshot, position) for position in found]


def _value(snapshot: Snapshot, fact_id: str) -> str:
    position = snapshot.value("SELECT position FROM facts WHERE fact_id = :id", id=id_bytes(fact_id))
    said: FactAsserted = snapshot.event(position).payload
    return said.value


def _slot(snapshot: Snapshot, position: int) -> str:
    said: FactAsserted = snapshot.event(position).payload
    return said.slot


# -- source files --------------------------------------------------------------------------


def task_files(snapshot: Snapshot, position: int) -> list[TaskFile]:
    """The source files of a task, the newest first, given the position of its current checkpoint."""
    scope = scope_of(snapshot, position)
    before = previous(snapshot, scope, position) or 0
    found: list[TaskFile] = []
    for at in files_at(snapshot, scope, 0, snapshot.last):
        event = snapshot.event(at)
        for item in evidence(snapshot, event.payload):
            found.append(TaskFile(item, at, event.payload.agent, from_micros(event.recorded_at), at > before))
            if len(found) >= MOST_FILES:
                return found
    return found


# -- history -------------------------------------------------------------------------------


def history(snapshot: Snapshot, position: int, limit: int) -> list[PastCheckpoint]:
    """The checkpoints of a task, the newest first, given the position of any of them."""
    scope = scope_of(snapshot, position)
    span = Span(scope.domains, scope.projects, (scope.task,))
    found = newest(snapshot, span, "checkpoints", snapshot.handed_off(), limit)
    return [_past(snapshot, at) for at in found]


def newer_checkpoint(snapshot: Snapshot, checkpoint_id: str) -> int:
    """The position of the newest checkpoint of the same task, where that is a newer one; else 0."""
    at = snapshot.value("SELECT position FROM checkpoints WHERE event_id = :id", id=id_bytes(checkpoint_id))
    if at is None:
        return 0
    scope = scope_of(snapshot, at)
    span = Span(scope.domains, scope.projects, (scope.task,))
    return next(iter(newest(snapshot, span, "checkpoints", snapshot.handed_off(), 1, above=at)), 0)


def _past(snapshot: Snapshot, position: int) -> PastCheckpoint:
    event = snapshot.event(position)
    said: CheckpointRecorded = event.payload
    observation = snapshot.value("SELECT observation FROM checkpoints WHERE position = :at", at=position)
    ids = (id_text(event.event_id), id_text(snapshot.event(observation).event_id))
    return PastCheckpoint(
        id=ids[0],
        position=position,
        agent=snapshot.registry.agent(said.agent),
        recorded_at=from_micros(event.recorded_at),
        goal=said.goal[:GOAL_CHARACTERS],
        lines=(len(said.completed), len(said.verification), len(said.open_questions), len(said.next_steps)),
        review=reviews.of_targets(snapshot, ids),
        private=event.private,
        quarantined=is_withheld(snapshot, observation),
    )

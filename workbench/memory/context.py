"""Where a task stands: its checkpoint, what changed, current facts (contract memory, "task_context")."""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from msgspec import UNSET

from workbench.identity.scopes import Scope
from workbench.memory import asked, cursors, facts, reviews, tasks
from workbench.memory.observations import carrier, observations
from workbench.memory.snapshot import Snapshot
from workbench.memory.spans import newest, span_of
from workbench.memory.views import TaskContext


class Page(NamedTuple):
    """Some observations of a scope and what lies around them."""

    positions: list[int]
    """Ascending."""
    has_more: bool
    has_older: bool
    cursor: int


def task_context(
    snapshot: Snapshot, scope: Scope, *, since: int | None, before: int | None, limit: int
) -> TaskContext:
    """The context of a scope; `since` and `before` are positions that cursors held."""
    page = changes(snapshot, scope, since=since, before=before, limit=limit)
    found = facts.current(snapshot, facts.facts_span(scope), limit + 1)
    before_page = page.positions[0] if page.positions else page.cursor + 1
    at = tasks.current_checkpoint(snapshot, scope) if scope.task_key else None
    checkpoint = None if at is None else carrier(snapshot, at)
    review, unresolved = None, []
    if scope.task_key:
        unresolved = reviews.unresolved(snapshot, scope, at or 0)
        if checkpoint is not None and checkpoint.checkpoint:
            review = reviews.of_targets(snapshot, (checkpoint.checkpoint.id, checkpoint.observation_id))
    return TaskContext(
        domain=scope.domain,
        project=scope.project,
        task_id=scope.task_id,
        checkpoint=checkpoint,
        review=review if scope.task_key else UNSET,
        unresolved_reviews=unresolved if scope.task_key else UNSET,
        changes=observations(snapshot, page.positions),
        has_more=page.has_more,
        cursor=cursors.encode(scope, page.cursor),
        has_older=page.has_older,
        before=cursors.encode(scope, before_page) if page.has_older else None,
        facts_has_more=len(found) > limit,
        current_facts=facts.facts(snapshot, found[:limit]),
        open_tasks=UNSET
        if scope.task_key
        else [
            tasks.open_task(snapshot, each)
            for each in islice(tasks.open_tasks(snapshot, span_of(scope)), asked.OPEN_TASKS)
        ],
    )


def changes(snapshot: Snapshot, scope: Scope, *, since: int | None, before: int | None, limit: int) -> Page:
    """A page of the observations of a scope, oldest first: the newest, or those beside a position."""
    span, seen = span_of(scope), snapshot.observed()
    if since is not None:
        found = newest(snapshot, span, "observations", seen, limit + 1, above=since, ascending=True)
        positions = found[:limit]
        first = positions[0] if positions else since + 1
        older = bool(newest(snapshot, span, "observations", seen, 1, below=first))
        return Page(positions, len(found) > limit, older, positions[-1] if positions else since)
    found = newest(snapshot, span, "observations", seen, limit + 1, below=before)
    positions = found[:limit][::-1]
    at = positions[-1] if positions else before or 0
    return Page(positions, False, len(found) > limit, at)

"""Tasks: their current checkpoint, and which of them are open (contract memory, "open tasks")."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from workbench.identity.scopes import Scope
from workbench.memory import reviews
from workbench.memory.events import CheckpointRecorded, FactAsserted
from workbench.memory.folds import CLOSING, STATUS_SLOT
from workbench.memory.observations import given, is_withheld, memory_event_of
from workbench.memory.snapshot import Snapshot, id_text, instant
from workbench.memory.spans import Span, descending
from workbench.memory.views import OpenTask, Task
from workbench.storage import fetch

_NEXT_STEPS = 3


class TaskKey(NamedTuple):
    """A task whatever the spelling of its project."""

    project: str
    task: str


class Found(NamedTuple):
    """A task and the checkpoint that it stands at."""

    key: TaskKey
    checkpoint: int


def current_checkpoint(snapshot: Snapshot, scope: Scope) -> int | None:
    """The position of the latest checkpoint of a task that may be seen, or None."""
    sql = (
        "SELECT position FROM checkpoints WHERE project_key = :project AND task_key = :task "
        f"AND domain_key = :domain AND {snapshot.handed_off()} ORDER BY position DESC LIMIT 1"
    )
    found = [
        snapshot.value(sql, project=project, task=scope.task_key, domain=domain)
        for domain in scope.domain_forms
        for project in scope.project_forms
    ]
    return max((position for position in found if position is not None), default=None)


def status(snapshot: Snapshot, projects: Sequence[str], task_key: str) -> str | None:
    """The newest `task.status` of a task in any domain, under any of these spellings; trimmed, lower case."""
    asked_for = (tuple(projects), task_key)
    if asked_for not in snapshot.statuses:
        snapshot.statuses[asked_for] = _status(snapshot, projects, task_key)
    return snapshot.statuses[asked_for]


def _status(snapshot: Snapshot, projects: Sequence[str], task_key: str) -> str | None:
    if not snapshot.past and len(projects) == 1:
        column = "status_raw" if snapshot.raw else "status"
        sql = f"SELECT {column} FROM tasks WHERE project_key = :project AND task_key = :task LIMIT 1"
        now: str | None = snapshot.value(sql, project=projects[0], task=task_key)
        return now
    keys = {f"project{number}": project for number, project in enumerate(projects)}
    sql = (
        "SELECT max(position) FROM facts INDEXED BY facts_by_slot "
        f"WHERE slot = :slot AND project_key IN ({', '.join(f':{key}' for key in keys)}) "
        f"AND task_key = :task AND position <= :upto AND {snapshot.asserted()}"
    )
    newest = snapshot.value(sql, slot=STATUS_SLOT, task=task_key, **keys)
    if newest is None:
        return None
    said: FactAsserted = snapshot.event(newest).payload
    return said.value.strip().lower()


def open_tasks(snapshot: Snapshot, span: Span) -> Iterator[Found]:
    """The tasks of a span that are not closed, each at its latest checkpoint there, the newest first."""
    registry = snapshot.registry
    seen: set[TaskKey] = set()
    # Of rows that follow one another as they were read: one spelling may hold what another one closed.
    for position, project, task in _with_checkpoint(snapshot, span):
        forms = registry.project_forms(project)
        key = TaskKey(forms[0] if forms else project, task)
        if key in seen:
            continue
        seen.add(key)
        certain = not snapshot.past and not snapshot.raw and len(forms) == 1
        if certain or status(snapshot, forms or (project,), task) not in CLOSING:
            yield Found(key, position)


def named_task(snapshot: Snapshot, scope: Scope) -> Iterator[Found]:
    """The task of a scope, if it is not closed."""
    checkpoint = current_checkpoint(snapshot, scope)
    if checkpoint is not None and status(snapshot, scope.project_forms, scope.task_key) not in CLOSING:
        yield Found(TaskKey(scope.project_forms[0], scope.task_key), checkpoint)


def _with_checkpoint(snapshot: Snapshot, span: Span) -> Iterator[fetch.Row]:
    """(checkpoint, project, task) from the newest back: at least the latest of each task that may be open."""
    if snapshot.past or snapshot.raw:
        return _visible(snapshot, _latest(snapshot, span))
    index = "tasks_open" if span.projects is None else "tasks_open_of_project"
    return _walked(
        snapshot,
        span,
        f"SELECT checkpoint, project_key, task_key FROM tasks INDEXED BY {index} WHERE {{where}} "
        "AND checkpoint < :below AND open = 1 ORDER BY checkpoint DESC LIMIT :limit",
    )


def _latest(snapshot: Snapshot, span: Span) -> Iterator[fetch.Row]:
    """(position, project, task, domain, observation) of the last checkpoint of each task, newest first."""
    index = "checkpoints_by_domain" if span.projects is None else "checkpoints_by_project"
    return _walked(
        snapshot,
        span,
        "SELECT position, project_key, task_key, domain_key, observation "
        f"FROM checkpoints INDEXED BY {index} WHERE {{where}} AND position < :below "
        f"AND {snapshot.stands('checkpoints')} "
        "ORDER BY position DESC LIMIT :limit",
    )


def _walked(snapshot: Snapshot, span: Span, sql: str) -> Iterator[fetch.Row]:
    runs: list[Callable[[int, int], list[fetch.Row]]] = []
    for where, keys in span.runs():

        def rows(
            below: int, limit: int, sql: str = sql.format(where=where), keys: dict[str, str] = keys
        ) -> list[fetch.Row]:
            return snapshot.rows(sql, below=below, limit=limit, **keys)

        runs.append(rows)
    return descending(runs, snapshot.last + 1)


def _visible(snapshot: Snapshot, rows: Iterator[fetch.Row]) -> Iterator[fetch.Row]:
    """The same with the latest checkpoint that may be seen in place of one that may not, in order again."""
    sql = (
        "SELECT position FROM checkpoints WHERE project_key = :project AND task_key = :task "
        f"AND domain_key = :domain AND position < :at AND {snapshot.handed_off()} "
        "ORDER BY position DESC LIMIT 1"
    )
    earlier: list[tuple[int, str, str]] = []
    for at, project, task, domain, observed in rows:
        while earlier and -earlier[0][0] > at:
            position, *keys = heapq.heappop(earlier)
            yield (-position, *keys)
        # The observation is read anyway for what is shown of it.
        if snapshot.raw or not (snapshot.event(observed).private or is_withheld(snapshot, observed)):
            yield (at, project, task)
            continue
        seen = snapshot.value(sql, project=project, task=task, domain=domain, at=at)
        if seen is not None:
            heapq.heappush(earlier, (-seen, project, task))
    while earlier:
        position, *keys = heapq.heappop(earlier)
        yield (-position, *keys)


def open_task(snapshot: Snapshot, found: Found) -> OpenTask:
    """An open task as a context shows it."""
    event = snapshot.event(found.checkpoint)
    said: CheckpointRecorded = event.payload
    return OpenTask(
        project=snapshot.registry.project(given(said.project)) or "",
        task_id=given(said.task_id) or "",
        domain=said.domain,
        agent=said.agent,
        recorded_at_utc=instant(event.recorded_at),
        event_id=_ids(snapshot, found.checkpoint)[1],
        goal=said.goal,
        next_steps=said.next_steps[:_NEXT_STEPS],
    )


def _ids(snapshot: Snapshot, checkpoint: int) -> tuple[str, str]:
    """The ids of the observation that carries a checkpoint, and of its memory event."""
    observed = snapshot.value(
        "SELECT observation FROM checkpoints WHERE position = :position", position=checkpoint
    )
    return id_text(snapshot.event(observed).event_id), memory_event_of(snapshot, observed)


def listed(snapshot: Snapshot, found: Found) -> Task:
    """An open task as a list shows it."""
    return _task(snapshot, found.key, found.checkpoint, found.checkpoint)


def every(snapshot: Snapshot, span: Span) -> Iterator[tuple[TaskKey, int]]:
    """All tasks of a span with the position of the latest that is known of each, the newest first.

    A task shows through what of it may be seen: one whose every observation is hidden is not there.
    """
    latest: dict[TaskKey, int] = {}
    for where, keys in span.runs():
        for project, task, domain in snapshot.rows(
            f"SELECT project_key, task_key, domain_key FROM tasks WHERE {where} AND first_position <= :upto",
            **keys,
        ):
            position = _latest_of(snapshot, domain, project, task)
            if position is None:
                continue
            forms = snapshot.registry.project_forms(project)
            key = TaskKey(forms[0] if forms else project, task)
            latest[key] = max(position, latest.get(key, 0))
    yield from sorted(latest.items(), key=lambda each: -each[1])


def _latest_of(snapshot: Snapshot, domain: str, project: str, task: str) -> int | None:
    found: int | None = snapshot.value(
        "SELECT position FROM observations WHERE domain_key = :domain AND project_key = :project "
        f"AND task_key = :task AND {snapshot.observed()} ORDER BY position DESC LIMIT 1",
        domain=domain,
        project=project,
        task=task,
    )
    return found


def of_key(snapshot: Snapshot, key: TaskKey, span: Span, position: int) -> Task:
    """A task by its key as a list shows it; `position` is the latest observation of it."""
    forms = snapshot.registry.project_forms(key.project) or (key.project,)
    sql = (
        "SELECT position FROM checkpoints WHERE project_key = :project AND task_key = :task "
        f"AND domain_key = :domain AND {snapshot.handed_off()} ORDER BY position DESC LIMIT 1"
    )
    found = [
        snapshot.value(sql, project=form, task=key.task, domain=domain)
        for domain in span.domains
        for form in forms
    ]
    checkpoint = max((each for each in found if each is not None), default=None)
    return _task(snapshot, key, checkpoint, position)


def _task(snapshot: Snapshot, key: TaskKey, checkpoint: int | None, position: int) -> Task:
    forms = snapshot.registry.project_forms(key.project) or (key.project,)
    state = status(snapshot, forms, key.task)
    event = snapshot.event(position if checkpoint is None else checkpoint)
    said = event.payload
    goal, steps, checkpoint_id, review = None, [], None, None
    if checkpoint is None:
        event_id = memory_event_of(snapshot, position)
    else:
        observation_id, event_id = _ids(snapshot, checkpoint)
        goal, steps, checkpoint_id = said.goal, said.next_steps, id_text(event.event_id)
        review = reviews.of_targets(snapshot, (checkpoint_id, observation_id))
    return Task(
        project=snapshot.registry.project(given(said.project)) or key.project,
        task_id=given(said.task_id) or key.task,
        domain=said.domain,
        agent=said.agent,
        recorded_at=instant(event.recorded_at),
        checkpoint_id=checkpoint_id,
        event_id=event_id,
        goal=goal,
        next_steps=steps,
        review=review,
        status=state,
        open=checkpoint is not None and state not in CLOSING,
        position=position,
    )

"""Names like one under which nothing was recorded: most likely a slip of a finger (rapidfuzz)."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.identity.scopes import Scope
from workbench.memory.observations import given
from workbench.memory.snapshot import Snapshot
from workbench.memory.spans import domains_seen

COMPARED = 500
"""Names that are looked at."""
_NAMED = 3
_ALIKE = 75
"""From 0 to 100, how like a name must be."""


def near(snapshot: Snapshot, scope: Scope) -> list[str]:
    """Tasks of the scope's project that are called like its task; projects where the project is unknown.

    Only names under which something may be seen, as they were written; the likeliest first, at most three.
    """
    if scope.project is None:
        return []
    projects = dict(_projects(snapshot))
    if not any(form in projects for form in scope.project_forms):
        return _alike(scope.project_forms[0], projects)
    return _alike(scope.task_key, dict(_tasks(snapshot, scope))) if scope.task_key else []


def _alike(key: str, names: dict[str, str]) -> list[str]:
    """The names whose keys are like a key."""
    from rapidfuzz.fuzz import ratio
    from rapidfuzz.process import extract

    found = extract(key, names.keys(), scorer=ratio, processor=None, score_cutoff=_ALIKE, limit=_NAMED + 1)
    alike = (names[other] for other, _, _ in found if other != key)
    return list(dict.fromkeys(alike))[:_NAMED]


def _projects(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Key and name of the projects that may be seen."""
    following = (
        "SELECT project_key FROM observations WHERE domain_key = :domain AND project_key > :after "
        "ORDER BY project_key LIMIT 1"
    )
    seen = (
        "SELECT position FROM observations WHERE domain_key = :domain AND project_key = :key "
        f"AND {snapshot.observed()} ORDER BY position DESC LIMIT 1"
    )
    looked = 0
    for domain in domains_seen(snapshot):
        key = snapshot.value(following, domain=domain, after="")
        while key is not None and looked < COMPARED:
            looked += 1
            position = snapshot.value(seen, domain=domain, key=key)
            if position is not None:
                name = given(snapshot.event(position).payload.project)
                yield key, snapshot.registry.project(name) or key
            key = snapshot.value(following, domain=domain, after=key)


def _tasks(snapshot: Snapshot, scope: Scope) -> Iterator[tuple[str, str]]:
    """Key and name of the tasks of a project that may be seen."""
    seen = (
        "SELECT position FROM observations WHERE domain_key = :domain AND project_key = :project "
        f"AND task_key = :task AND {snapshot.observed()} ORDER BY position DESC LIMIT 1"
    )
    known = "SELECT task_key, domain_key FROM tasks WHERE project_key = :project LIMIT :most"
    for project in scope.project_forms:
        for task, domain in snapshot.rows(known, project=project, most=COMPARED):
            position = snapshot.value(seen, domain=domain, project=project, task=task)
            if position is not None:
                yield task, given(snapshot.event(position).payload.task_id) or task

"""What something was recorded for: a domain, a project in it, a task in that (contract memory)."""

from __future__ import annotations

from typing import NamedTuple

from workbench.identity.folding import fold
from workbench.identity.registry import Registry


class Scope(NamedTuple):
    """A resolved scope. Canonical names, and the folded keys of every spelling that means the same today."""

    domain: str
    project: str | None
    task_id: str | None
    """As given."""
    domain_forms: tuple[str, ...]
    """The canonical key first."""
    project_forms: tuple[str, ...]
    """The canonical key first; empty without a project."""
    task_key: str
    """Empty without a task."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Domain, project and task as one key each; the same for all spellings. A missing one is empty."""
        return self.domain_forms[0], self.project_forms[0] if self.project_forms else "", self.task_key


def resolve(registry: Registry, domain: str | None, project: str | None, task_id: str | None) -> Scope:
    """The scope that these names mean now.

    A blank name is none. Raises `ValueError` for a task without a project.
    """
    named = registry.project(project)
    task = task_id if task_id and fold(task_id) else None
    if task is not None and named is None:
        raise ValueError("a task belongs to a project")
    return Scope(
        registry.domain(domain),
        named,
        task,
        registry.domain_forms(domain),
        registry.project_forms(project),
        fold(task) if task is not None else "",
    )

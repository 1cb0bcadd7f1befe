"""Which rows belong to a scope, under every spelling of its names.

Each spelling is a run of an index, read in order of position as far as needed; the runs are merged here. One
query over all of them would be sorted whole by SQLite before its first row.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from workbench.identity.scopes import Scope
from workbench.memory.snapshot import Snapshot
from workbench.storage import fetch


class Span(NamedTuple):
    """Folded keys; a part that is None is not asked for."""

    domains: tuple[str, ...]
    projects: tuple[str, ...] | None = None
    tasks: tuple[str, ...] | None = None
    """The empty key is what belongs to a project, and to no task."""

    def runs(self) -> Iterator[tuple[str, dict[str, str]]]:
        """A condition and its bindings for each spelling."""
        for domain in self.domains:
            if self.projects is None:
                yield "domain_key = :domain", {"domain": domain}
                continue
            for project in self.projects:
                keys = {"domain": domain, "project": project}
                if self.tasks is None:
                    yield "domain_key = :domain AND project_key = :project", keys
                    continue
                for task in self.tasks:
                    yield (
                        "domain_key = :domain AND project_key = :project AND task_key = :task",
                        {**keys, "task": task},
                    )


def span_of(scope: Scope) -> Span:
    """What was recorded in a scope and in every narrower one."""
    return Span(
        scope.domain_forms,
        scope.project_forms if scope.project is not None else None,
        (scope.task_key,) if scope.task_key else None,
    )


def domains_seen(snapshot: Snapshot) -> tuple[str, ...]:
    """The keys of all domains that anything was recorded in."""
    found: set[str] = set()
    # What a log lacks the observations of is there all the same.
    for table in ("observations", "facts", "checkpoints"):
        after: str | None = ""
        while after is not None:
            # Jumps from one key to the next along the index.
            after = fetch.value(
                snapshot.connection,
                f"SELECT domain_key FROM {table} WHERE domain_key > ? ORDER BY domain_key LIMIT 1",
                (after,),
            )
            if after is not None:
                found.add(after)
    return tuple(sorted(found))


def newest(
    snapshot: Snapshot,
    span: Span,
    table: str,
    condition: str,
    limit: int,
    *,
    above: int = 0,
    below: int | None = None,
    ascending: bool = False,
    **values: Any,
) -> list[int]:
    """Up to `limit` positions between two others, from the newest back, or from the oldest on."""
    order = "ASC" if ascending else "DESC"
    below = snapshot.last + 1 if below is None else below
    runs: list[list[int]] = []
    for where, keys in span.runs():
        sql = (
            f"SELECT position FROM {table} WHERE {where} AND position > :above AND position < :below "
            f"AND {condition} ORDER BY position {order} LIMIT :limit"
        )
        found = snapshot.rows(sql, above=above, below=below, limit=limit, **keys, **values)
        runs.append([position for (position,) in found])
    if len(runs) == 1:
        return runs[0]
    return sorted((position for run in runs for position in run), reverse=not ascending)[:limit]


_BATCH = 10
"""Rows of the first read of a run; each further read doubles it."""


def descending(
    fetch_below: Sequence[Callable[[int, int], list[fetch.Row]]], below: int
) -> Iterator[fetch.Row]:
    """Rows of several runs from the newest back, read as they are asked for.

    Each function gives up to so many rows (second argument) whose first column lies below the first argument,
    descending.
    """

    def run(rows_below: Callable[[int, int], list[fetch.Row]]) -> Iterator[fetch.Row]:
        end, size = below, _BATCH
        while batch := rows_below(end, size):
            yield from batch
            if len(batch) < size:
                return
            end, size = batch[-1][0], min(size * 2, 1024)

    return heapq.merge(*(run(each) for each in fetch_below), key=lambda row: -row[0])

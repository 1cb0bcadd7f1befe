"""What the names in a filter mean today: each spelling of a project, domain or agent finds them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import apsw

from workbench.identity import Registry, fold
from workbench.identity.registry import EMPTY
from workbench.memory.entry import ALIASES
from workbench.storage import fetch

TASKS_OFFERED = 300


class Named(NamedTuple):
    """A name that events can be narrowed to."""

    name: str
    """The canonical one."""
    events: int
    """In how many observations it was given; 0 where nobody counts."""


class Offered(NamedTuple):
    """The names that stand in the log, most used first."""

    projects: tuple[Named, ...] = ()
    tasks: tuple[Named, ...] = ()
    """Those that anything was recorded for last, at most `TASKS_OFFERED`."""
    domains: tuple[Named, ...] = ()
    agents: tuple[Named, ...] = ()
    categories: tuple[Named, ...] = ()


class FilterNames:
    """Resolves names by the registry of the moment; threads may share it."""

    def __init__(self, registry: Callable[[], Registry] = lambda: EMPTY) -> None:
        self._registry = registry
        self._agents: tuple[Registry, dict[str, str]] = (EMPTY, {})
        """Canonical names of actors, as a registry had them: what thousands of actors mean is asked once."""

    def streams(
        self,
        connection: apsw.Connection,
        domains: Sequence[str],
        projects: Sequence[str],
        tasks: Sequence[str],
    ) -> list[int]:
        """The numbers of the streams of scopes that are named so; what is empty narrows nothing."""
        registry = self._registry()
        wanted = {
            "domain_key": {form for name in domains for form in registry.domain_forms(name)},
            "project_key": {form for name in projects for form in registry.project_forms(name)},
            "task_key": {key for name in tasks if (key := fold(name))},
        }
        asked = {"domain_key": domains, "project_key": projects, "task_key": tasks}
        conditions, values = [], []
        for column, keys in wanted.items():
            if asked[column]:
                known = sorted(key for key in keys if _is_text(key))
                conditions.append(f"{column} IN ({','.join('?' * len(known))})")
                values += known
        sql = f"SELECT stream_id FROM streams WHERE domain_key <> '' AND {' AND '.join(conditions)}"
        return [number for (number,) in connection.execute(sql, values)]

    def actors(self, connection: apsw.Connection, agents: Sequence[str]) -> list[int]:
        """The numbers of the actors that are one of these agents, whatever they called themselves."""
        registry = self._registry()
        wanted = {fold(registry.agent(name)) for name in agents}
        known = self._agents
        if known[0] is not registry:
            known = self._agents = (registry, {})
        found = []
        for number, name in connection.execute("SELECT actor_id, name FROM actors"):
            meant = known[1].get(name)
            if meant is None:
                meant = known[1][name] = fold(registry.agent(name))
            if meant in wanted:
                found.append(number)
        return found

    @staticmethod
    def categories(names: Sequence[str]) -> list[str]:
        """Categories as they are stored."""
        return list(dict.fromkeys(ALIASES.get(key, key) for name in names if (key := name.strip().lower())))

    def offered(self, connection: apsw.Connection, upto: int | None = None) -> Offered:
        """The names that stand in the log, or that stood in it at a position."""
        registry = self._registry()
        counts: dict[str, dict[str, int]] = {"project": {}, "domain": {}, "agent": {}}
        meant: dict[tuple[str, str], str] = {}
        first = "" if upto is None else " WHERE first_position <= ?"
        values = () if upto is None else (upto,)
        for kind, spelling, observed in connection.execute(
            f"SELECT kind, spelling, observed FROM names{first}", values
        ):
            name = registry.canonical(kind, spelling)
            # Two spellings that fold alike are one name, declared or not.
            name = meant.setdefault((kind, fold(name)), name)
            counts[kind][name] = counts[kind].get(name, 0) + observed
        most = None if upto is None else 0
        return Offered(
            projects=_ordered(counts["project"], most),
            domains=_ordered(counts["domain"], most),
            agents=_ordered(counts["agent"], most),
            tasks=tuple(
                Named(task, 0)
                for task in dict.fromkeys(
                    task
                    for (task,) in connection.execute(
                        f"SELECT task_key FROM tasks{first} ORDER BY last_position DESC LIMIT ?",
                        (*values, TASKS_OFFERED),
                    )
                )
            ),
            categories=tuple(Named(name, 0) for name in _categories(connection, upto)),
        )


def _ordered(counts: dict[str, int], known: int | None) -> tuple[Named, ...]:
    """Most used first; how often is said only of now."""
    names = sorted(counts, key=lambda name: (-counts[name], fold(name)))
    return tuple(Named(name, counts[name] if known is None else known) for name in names)


def _categories(connection: apsw.Connection, upto: int | None) -> Iterable[str]:
    """Each category that stands in the log, found by jumps along the index."""
    after = ""
    while True:
        found = fetch.row(
            connection,
            "SELECT category, position FROM observations WHERE category > ? "
            "ORDER BY category, position LIMIT 1",
            (after,),
        )
        if found is None:
            return
        after, first = found
        if upto is None or first <= upto:
            yield after


def _is_text(name: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in name)

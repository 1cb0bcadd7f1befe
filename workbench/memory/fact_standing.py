"""How a fact stands: what a person said of it, who confirmed it, and which other values its slot has."""

from __future__ import annotations

from workbench.memory.reviews import REJECTED
from workbench.memory.snapshot import Snapshot, id_bytes
from workbench.memory.views import ChainLink

COUNTED = 1000
"""Scopes with the same slot up to which they are counted."""
_LOOKED = 8000


def verdict(snapshot: Snapshot, fact_id: str) -> str:
    """The latest verdict on a fact; empty where there is none. For a person: private ones count."""
    if not snapshot.reviewed:
        return ""
    found: str | None = snapshot.value(
        "SELECT verdict FROM reviews WHERE target_id = :target AND item = '' AND target_kind = 'fact' "
        "AND position <= :upto ORDER BY position DESC LIMIT 1",
        target=fact_id,
    )
    return found or ""


def disputed(snapshot: Snapshot) -> frozenset[int]:
    """The positions of the current facts that a person's latest verdict rejects."""
    found: set[int] = set()
    rejected = snapshot.rows(
        "SELECT target_id FROM reviews WHERE verdict <> 'accepted' AND verdict = :verdict "
        f"AND target_kind = 'fact' AND item = '' AND position <= :upto AND {snapshot.stands('reviews')}",
        verdict=REJECTED,
    )
    sql = (
        f"SELECT position FROM facts WHERE fact_id = :id AND {snapshot.asserted()} "
        f"AND {snapshot.stands('facts')}"
    )
    for (target,) in rejected:
        stored = id_bytes(target)
        position = None if stored is None else snapshot.value(sql, id=stored)
        if position is not None:
            found.add(position)
    return frozenset(found)


def independent(fact: ChainLink) -> tuple[str, ...]:
    """Who confirmed a fact independently: the agents other than its author that said the same, once each."""
    return tuple(dict.fromkeys(each.agent for each in fact.confirmations if each.agent != fact.agent))


def rivals(
    snapshot: Snapshot, position: int, *, domain: str, project: str, task: str, slot: str, private: bool
) -> list[int]:
    """The other current values that a slot has under other spellings of its scope's names, newest first.

    `domain`, `project` and `task` are folded keys, `position` is that of the fact itself.
    """
    registry = snapshot.registry
    projects = registry.project_forms(project) if project else ("",)
    domains = registry.domain_forms(domain)
    if len(projects) * len(domains) == 1:
        return []
    sql = (
        "SELECT position FROM facts WHERE slot = :slot AND project_key = :project AND task_key = :task "
        f"AND domain_key = :domain AND private = :private AND {snapshot.asserted()} "
        f"AND {snapshot.stands('facts')}"
    )
    found = [
        other
        for project_key in projects
        for domain_key in domains
        for (other,) in snapshot.rows(
            sql, slot=slot, task=task, project=project_key, domain=domain_key, private=private
        )
        if other != position
    ]
    return sorted(found, reverse=True)


def same_slot(
    snapshot: Snapshot, slot: str, project: str, own: frozenset[int], most: int
) -> tuple[list[int], int]:
    """Current facts of a slot in other scopes, those of the same project first, and how many more there are.

    `own` are the positions of the values that count as the same scope's; at most `most` are given. More are
    counted up to `COUNTED`. Of the past only so many facts of the slot are looked through as is quick.
    """
    registry = snapshot.registry
    # No index says what a slot held then: whatever it ever held is looked at.
    table = (
        f"(SELECT * FROM facts INDEXED BY facts_by_slot WHERE slot = :slot LIMIT {_LOOKED}) facts"
        if snapshot.past
        else "facts INDEXED BY facts_held"
    )
    held = f"FROM {table} WHERE slot = :slot AND {snapshot.asserted()} AND {snapshot.stands('facts')}"
    found: list[int] = []
    for key in registry.project_forms(project) if project else ("",):
        near = snapshot.rows(
            f"SELECT position {held} AND project_key = :project LIMIT :most",
            slot=slot,
            project=key,
            most=most + len(own),
        )
        found += [position for (position,) in near if position not in own]
    found.sort(reverse=True)
    if len(found) < most:
        anywhere = snapshot.rows(
            f"SELECT position {held} LIMIT :most", slot=slot, most=most + len(own) + len(found)
        )
        known = own | set(found)
        found += sorted((each for (each,) in anywhere if each not in known), reverse=True)
    whole: int = snapshot.value(
        f"SELECT count(*) FROM (SELECT 1 {held} LIMIT :most)",
        slot=slot,
        most=COUNTED + len(own) + most,
    )
    found = found[:most]
    return found, max(0, whole - len(own) - len(found))

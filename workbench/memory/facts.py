"""Facts: current ones, their chains, and slots with several values (contract memory, "Facts")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from workbench.identity.registry import Registry
from workbench.identity.scopes import Scope
from workbench.memory.errors import InvalidArgument
from workbench.memory.events import FactAsserted, ObservationRecorded
from workbench.memory.observations import evidence, given, memory_event_of
from workbench.memory.reviews import dispute
from workbench.memory.snapshot import Snapshot, id_bytes, id_text, instant
from workbench.memory.spans import Span, newest
from workbench.memory.views import ChainLink, Confirmation, Fact, FactConflict, Replacement
from workbench.storage import fetch

_BEGINNING = re.compile(r"[0-9a-f]{4,31}")


def facts_span(scope: Scope) -> Span:
    """Where the facts of a scope stand: with a task also those of its project that belong to no task."""
    return Span(
        scope.domain_forms,
        scope.project_forms if scope.project is not None else None,
        ("", scope.task_key) if scope.task_key else None,
    )


def current(
    snapshot: Snapshot, span: Span, limit: int, *, slot: str | None = None, below: int | None = None
) -> list[int]:
    """Positions of the current facts of a span, newest first."""
    condition = f"{snapshot.asserted()} AND {snapshot.stands('facts')}"
    if slot is None:
        return newest(
            snapshot, span, f"facts INDEXED BY {_index(snapshot, span)}", condition, limit, below=below
        )
    condition = f"slot = :slot AND {condition}"
    table = f"facts INDEXED BY {'facts_by_slot' if snapshot.past else 'facts_held'}"
    return newest(snapshot, span, table, condition, limit, below=below, slot=slot)


def _index(snapshot: Snapshot, span: Span) -> str:
    """The index whose order is that of positions in a span."""
    part = "" if span.tasks is not None else "_of_domain" if span.projects is None else "_of_project"
    return f"facts{part}_in_time" if snapshot.past else f"facts_current{part}"


_OBSERVED = (
    "SELECT f.observation FROM json_each(:positions) asked CROSS JOIN facts f ON f.position = asked.value"
)
_ROW = "SELECT f.observation, f.to_position, f.replaced_by FROM facts f WHERE f.position = :position"


def fact(snapshot: Snapshot, position: int) -> Fact:
    """The fact asserted at a position."""
    row = snapshot.row(_ROW, position=position)
    assert row is not None
    event = snapshot.event(position)
    observed = row[0]
    said: FactAsserted = event.payload
    first = snapshot.event(observed)
    observation = first.payload
    fact_id = id_text(event.event_id)
    rejected = dispute(snapshot, fact_id)
    return Fact(
        id=fact_id,
        slot=said.slot,
        value=said.value,
        kind=said.kind,
        text=observation.text if isinstance(observation, ObservationRecorded) else "",
        agent=said.agent,
        domain=said.domain,
        project=given(said.project),
        task_id=given(said.task_id),
        recorded_at=instant(event.recorded_at),
        event_id=memory_event_of(snapshot, observed),
        observation_id=id_text(first.event_id),
        position=position,
        disputed=rejected is not None,
        review=UNSET if rejected is None else rejected,
        private=True if snapshot.raw and event.private else UNSET,
    )


def facts(snapshot: Snapshot, positions: Iterable[int]) -> list[Fact]:
    """The facts at positions, in their order."""
    positions = list(positions)
    observed = snapshot.rows(_OBSERVED, positions=f"[{','.join(map(str, positions))}]")
    snapshot.read_ahead([*positions, *(position for (position,) in observed)])
    return [fact(snapshot, position) for position in positions]


# -- chains --------------------------------------------------------------------------------


def chain(snapshot: Snapshot, fact_id: str) -> list[ChainLink]:
    """The supersession chain that a fact belongs to, oldest first; also facts that the same ones ended.

    `fact_id` is as `named` takes it; raises as that does.
    """
    return [link(snapshot, each) for each in sorted(links_of(snapshot, named(snapshot, fact_id)))]


def named(snapshot: Snapshot, given: str) -> int:
    """Where the fact was asserted that is meant by its id, by a beginning of it that no other has, or by the
    id of the observation that asserted or confirmed it.

    Raises `InvalidArgument` for what means no fact that may be seen, or several.
    """
    stored = id_bytes(given)
    if stored is not None:
        observed = snapshot.value(
            f"SELECT fact_position FROM observations WHERE event_id = :id AND {snapshot.observed()}",
            id=stored,
        )
        if observed is None:
            return position_of(snapshot, given)
        confirmed = "SELECT fact_position FROM fact_confirmations WHERE position = :position"
        at = snapshot.value(confirmed, position=observed) or observed
        seen = f"SELECT position FROM facts WHERE position = :position AND {snapshot.asserted()}"
        return snapshot.value(seen, position=at) or position_of(snapshot, given)
    digits = given.strip().lower().replace("-", "")
    if not _BEGINNING.fullmatch(digits):
        return position_of(snapshot, given)
    found = snapshot.rows(
        "SELECT position FROM facts WHERE fact_id >= :least AND fact_id <= :most "
        f"AND {snapshot.asserted()} LIMIT 2",
        least=bytes.fromhex(digits.ljust(32, "0")),
        most=bytes.fromhex(digits.ljust(32, "f")),
    )
    if len(found) > 1:
        raise InvalidArgument("several facts have an id that begins so", hint="give more of it")
    return found[0][0] if found else position_of(snapshot, given)


def position_of(snapshot: Snapshot, fact_id: str) -> int:
    """Where a fact was asserted. Raises `InvalidArgument` for an id that no fact has, or none to be seen."""
    stored = id_bytes(fact_id)
    position: int | None = None
    if stored is not None:
        seen = snapshot.asserted()
        position = snapshot.value(f"SELECT position FROM facts WHERE fact_id = :id AND {seen}", id=stored)
    if position is None:
        raise InvalidArgument("no fact has this id", hint="list the current ones with: workbench facts")
    return position


def links_of(snapshot: Snapshot, position: int) -> set[int]:
    """The positions of all facts of the chain that the fact at a position belongs to."""
    seen = snapshot.asserted()
    links = {last := last_of(snapshot, position)}
    waiting = [last]
    earlier = f"SELECT position FROM facts WHERE replaced_by = :by AND {seen}"
    while waiting:
        for (found,) in snapshot.rows(earlier, by=waiting.pop()):
            if found not in links:
                links.add(found)
                waiting.append(found)
    return links


def last_of(snapshot: Snapshot, position: int) -> int:
    """The end of the chain that goes on from a fact."""
    later = f"SELECT replaced_by FROM facts WHERE position = :position AND {snapshot.asserted()}"
    seen = f"SELECT 1 FROM facts WHERE position = :position AND {snapshot.asserted()}"
    while True:
        following = snapshot.value(later, position=position)
        if following is None or following > snapshot.last:
            return position
        if snapshot.value(seen, position=following) is None:
            return position
        position = following


def link(snapshot: Snapshot, position: int) -> ChainLink:
    """One fact of a chain."""
    row = snapshot.row(_ROW, position=position)
    assert row is not None
    event = snapshot.event(position)
    observed, ended, replaced_by = row
    said: FactAsserted = event.payload
    first = snapshot.event(observed)
    observation = first.payload if isinstance(first.payload, ObservationRecorded) else None
    fact_id = id_text(event.event_id)
    rejected = dispute(snapshot, fact_id)
    return ChainLink(
        id=fact_id,
        position=position,
        slot=said.slot,
        value=said.value,
        kind=said.kind,
        agent=said.agent,
        domain=said.domain,
        project=given(said.project),
        task_id=given(said.task_id),
        text="" if observation is None else observation.text,
        why=None if observation is None else given(observation.why),
        evidence=[] if observation is None else evidence(snapshot, observation),
        recorded_at=instant(event.recorded_at),
        event_id=memory_event_of(snapshot, observed),
        observation_id=id_text(first.event_id),
        confirmations=confirmations(snapshot, position),
        disputed=rejected is not None,
        review=UNSET if rejected is None else rejected,
        current=not snapshot.ended(ended),
        replaced_by=_replacement(snapshot, replaced_by) if snapshot.ended(ended) else None,
        private=True if snapshot.raw and event.private else UNSET,
    )


def _replacement(snapshot: Snapshot, position: int) -> Replacement:
    event = snapshot.event(position)
    said: FactAsserted = event.payload
    return Replacement(id=id_text(event.event_id), agent=said.agent, recorded_at=instant(event.recorded_at))


def confirmations(snapshot: Snapshot, position: int) -> list[Confirmation]:
    """The observations that said again what a fact says, oldest first."""
    seen = "" if snapshot.raw else "AND private = 0"
    sql = (
        "SELECT position, observation, private FROM fact_confirmations "
        f"WHERE fact_position = :fact AND position <= :upto {seen} ORDER BY position"
    )
    return [_confirmation(snapshot, row) for row in snapshot.rows(sql, fact=position)]


def _confirmation(snapshot: Snapshot, row: fetch.Row) -> Confirmation:
    position, observed, private = row
    event = snapshot.event(observed)
    payload = event.payload
    observation = payload if isinstance(payload, ObservationRecorded) else None
    return Confirmation(
        agent=payload.agent,
        recorded_at=instant(event.recorded_at),
        event_id=memory_event_of(snapshot, observed),
        observation_id=id_text(event.event_id),
        text="" if observation is None else observation.text,
        why=None if observation is None else given(observation.why),
        evidence=[] if observation is None else evidence(snapshot, observation),
        position=position,
        private=True if snapshot.raw and private else UNSET,
    )


# -- several spellings ---------------------------------------------------------------------


def conflicts(snapshot: Snapshot, domains: Sequence[str]) -> list[FactConflict]:
    """Slots that have several current values because their scope was written under several spellings.

    `domains` are the keys to look in. The cost grows with the scopes of several spellings, not with the log.
    """
    found = [_conflict(snapshot, positions) for positions in conflicting(snapshot, domains)]
    return sorted(found, key=lambda conflict: -conflict.facts[0].position)


def conflicting(snapshot: Snapshot, domains: Sequence[str]) -> Iterator[list[int]]:
    """The positions of the facts of each such slot, newest first; the slots in no order."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for domain in domains:
        for project in _projects_with_facts(snapshot, domain):
            groups.setdefault(_canonical(snapshot.registry, domain, project), []).append((domain, project))
    for spellings in groups.values():
        if len(spellings) > 1:
            yield from _conflicts_among(snapshot, spellings)


def _projects_with_facts(snapshot: Snapshot, domain: str) -> list[str]:
    """The keys of the projects of a domain that ever had a fact, the empty one for none."""
    sql = (
        "SELECT project_key FROM facts WHERE domain_key = :domain AND project_key {} :after "
        "ORDER BY project_key LIMIT 1"
    )
    found: list[str] = []
    key = snapshot.value(sql.format(">="), domain=domain, after="")
    while key is not None:
        found.append(key)
        key = snapshot.value(sql.format(">"), domain=domain, after=key)
    return found


def _canonical(registry: Registry, domain: str, project: str) -> tuple[str, str]:
    return registry.domain_forms(domain)[0], registry.project_forms(project)[0] if project else ""


def _conflicts_among(snapshot: Snapshot, spellings: list[tuple[str, str]]) -> Iterator[list[int]]:
    sql = (
        "SELECT position, task_key, slot, private FROM facts "
        "WHERE domain_key = :domain AND project_key = :project "
        f"AND {snapshot.asserted()} AND {snapshot.stands('facts')}"
    )
    # A private value and a public one are two slots.
    slots: dict[tuple[str, str, bool], list[int]] = {}
    for domain, project in spellings:
        for position, task, slot, private in snapshot.rows(sql, domain=domain, project=project):
            slots.setdefault((task, slot, bool(private)), []).append(position)
    for positions in slots.values():
        if len(positions) > 1:
            yield sorted(positions, reverse=True)


def _conflict(snapshot: Snapshot, positions: list[int]) -> FactConflict:
    said = facts(snapshot, positions)
    registry = snapshot.registry
    return FactConflict(
        domain=registry.domain(said[0].domain),
        project=registry.project(said[0].project),
        task_id=said[0].task_id,
        slot=said[0].slot,
        facts=said,
    )

"""Current facts of all scopes in an order, read from a place on: what a list of facts is made of.

Each order has an index that gives it; a filter is applied to batches of it, so that the first rows of a list
never wait for its last ones.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from workbench.identity.folding import fold
from workbench.log.errors import InvalidPayload
from workbench.memory.events import FactAsserted
from workbench.memory.snapshot import EVENT_COLUMNS, Snapshot, UnreadableEvent
from workbench.memory.spans import Span, domains_seen, newest

FactOrder: TypeAlias = Literal["newest", "scope", "replaced"]
"""Newest first; by scope and slot; those whose slot was replaced most often first."""
ORDERS: tuple[FactOrder, ...] = ("newest", "scope", "replaced")

_FIRST_BATCH, _MOST_BATCH = 256, 4096
_MOST_WORDS = 16
_KEYS = ("project_key", "task_key", "domain_key")


class FactPlace(NamedTuple):
    """Where a current fact stands in each of the orders."""

    position: int
    domain: str = ""
    project: str = ""
    task: str = ""
    """Folded keys."""
    slot: str = ""
    links: int = 1
    """Facts in its chain."""


class FactFilter(NamedTuple):
    """Which current facts are wanted; what is empty narrows nothing."""

    text: str = ""
    """Words; each stands in slot, value, project, task, domain or author, in any case.

    Names are found by any spelling that folds alike, and a project by any that is declared to be it.
    """
    kinds: tuple[str, ...] = ()
    only: Literal["", "disputed", "conflicts"] = ""


def in_order(
    snapshot: Snapshot,
    order: FactOrder,
    place: FactPlace | None = None,
    *,
    backwards: bool = False,
) -> Iterator[list[int]]:
    """Positions of the current facts behind a place (or before it, the nearest first), in growing batches."""
    size = _FIRST_BATCH
    domains = domains_seen(snapshot) if order == "newest" else ()
    while True:
        if order == "newest":
            found = _newest(snapshot, domains, place, size, backwards)
            following = FactPlace(found[-1]) if found else None
        else:
            rows = (_by_scope if order == "scope" else _by_links)(snapshot, place, size, backwards)
            found = [row.position for row in rows]
            following = rows[-1] if rows else None
        if found:
            yield found
        if len(found) < size:
            return
        place, size = following, min(2 * size, _MOST_BATCH)


def _newest(
    snapshot: Snapshot, domains: tuple[str, ...], place: FactPlace | None, size: int, backwards: bool
) -> list[int]:
    index = "facts_of_domain_in_time" if snapshot.past else "facts_current_of_domain"
    return newest(
        snapshot,
        Span(domains),
        f"facts INDEXED BY {index}",
        f"{snapshot.asserted()} AND {snapshot.stands('facts')}",
        size,
        above=place.position if backwards and place is not None else 0,
        below=place.position if not backwards and place is not None else None,
        ascending=backwards,
    )


def _by_scope(snapshot: Snapshot, place: FactPlace | None, size: int, backwards: bool) -> list[FactPlace]:
    index = "facts_in_time" if snapshot.past else "facts_current"
    way, than = ("DESC", "<") if backwards else ("ASC", ">")
    columns = ("domain_key", "project_key", "task_key", "slot", "position")
    beyond, values = "1", {}
    if place is not None:
        # The index has the scopes in order; the slots of one scope are sorted when it is reached.
        beyond = (
            f"(domain_key, project_key, task_key) {than}= (:domain, :project, :task) AND "
            f"({', '.join(columns)}) {than} (:domain, :project, :task, :slot, :position)"
        )
        values = place._asdict()
        del values["links"]
    found = snapshot.rows(
        f"SELECT position, domain_key, project_key, task_key, slot FROM facts INDEXED BY {index} "
        f"WHERE {snapshot.asserted()} AND {snapshot.stands('facts')} AND {beyond} "
        f"ORDER BY {', '.join(f'{column} {way}' for column in columns)} LIMIT :size",
        size=size,
        **values,
    )
    return [FactPlace(*row) for row in found]


def _by_links(snapshot: Snapshot, place: FactPlace | None, size: int, backwards: bool) -> list[FactPlace]:
    way, than = ("ASC", ">") if backwards else ("DESC", "<")
    beyond, values = "1", {}
    if place is not None:
        beyond = f"(links, position) {than} (:links, :position)"
        values = {"links": place.links, "position": place.position}
    found = snapshot.rows(
        f"SELECT position, links FROM facts INDEXED BY {_index_of_links(snapshot)} "
        f"WHERE {snapshot.asserted()} AND {snapshot.stands('facts')} AND {beyond} "
        f"ORDER BY links {way}, position {way} LIMIT :size",
        size=size,
        **values,
    )
    return [FactPlace(position, links=links) for position, links in found]


def _index_of_links(snapshot: Snapshot) -> str:
    # What was current then is sorted, from an index alone: none can have it in this order for every moment.
    return "facts_of_domain_in_time" if snapshot.past else "facts_current_by_links"


def ordered(snapshot: Snapshot, order: FactOrder, positions: Collection[int]) -> list[FactPlace]:
    """The places of these facts in an order."""
    return sorted(places(snapshot, positions), key=lambda each: key_of(order, each))


def key_of(order: FactOrder, place: FactPlace) -> tuple[int | str, ...]:
    """What a list in this order is sorted by."""
    if order == "newest":
        return (-place.position,)
    if order == "replaced":
        return (-place.links, -place.position)
    return (place.domain, place.project, place.task, place.slot, place.position)


def places(snapshot: Snapshot, positions: Collection[int]) -> list[FactPlace]:
    """The places of facts, in no order."""
    rows = snapshot.rows(
        "SELECT f.position, f.domain_key, f.project_key, f.task_key, f.slot, f.links "
        "FROM json_each(:these) j CROSS JOIN facts f ON f.position = j.value",
        these=_json(positions),
    )
    return [FactPlace(*row) for row in rows]


def passing(snapshot: Snapshot, wanted: FactFilter, positions: Sequence[int]) -> list[int]:
    """Those of these facts that kind and words of a filter let through, in their order."""
    words = [word.casefold() for word in wanted.text.split()[:_MOST_WORDS]]
    if not words and not wanted.kinds:
        return list(positions)
    conditions = ["1"]
    values: dict[str, str] = {}
    projects = {word: frozenset(snapshot.registry.project_forms(word)) for word in words}
    if wanted.kinds:
        conditions.append("f.kind IN (SELECT value FROM json_each(:kinds))")
        values["kinds"] = msgspec.json.encode(wanted.kinds).decode()
    for number, word in enumerate(words):
        if word.isascii() and word.isprintable() and '"' not in word and "\\" not in word:
            # What is stored holds all that is looked in: a look at the text spares most of the decoding.
            # Other spellings have other separators, or only the key of a name tells that they are it.
            ways = [f"e.payload LIKE :word{number} ESCAPE '!'"]
            values[f"word{number}"] = "%" + "%".join(map(_literal, re.split("[-_]", word))) + "%"
            ways += [f"f.{column} LIKE :key{number} ESCAPE '!'" for column in _KEYS]
            ways.append(f"f.project_key IN (SELECT value FROM json_each(:forms{number}))")
            values[f"key{number}"] = "%" + _literal(fold(word)) + "%"
            values[f"forms{number}"] = msgspec.json.encode(sorted(projects[word])).decode()
            conditions.append(f"({' OR '.join(ways)})")
    columns = f"{EVENT_COLUMNS}" if words else "f.position"
    rows = snapshot.rows(
        f"SELECT {columns} FROM json_each(:these) j CROSS JOIN facts f ON f.position = j.value "
        f"CROSS JOIN events e ON e.position = f.position WHERE {' AND '.join(conditions)} ORDER BY j.key",
        these=_json(positions),
        **values,
    )
    if not words:
        return [row[0] for row in rows]
    found: list[int] = []
    for row in rows:
        try:
            said: FactAsserted = snapshot.decoded(row).payload
        except (InvalidPayload, UnreadableEvent):
            # Nobody can say which words it holds; a list without words shows that it is there.
            continue
        text = _text(said)
        if all(word in text or _names(said, fold(word), projects[word]) for word in words):
            found.append(row[0])
    return found


def _names(said: FactAsserted, key: str, projects: frozenset[str]) -> bool:
    """Whether a word can stand for a name of a fact; `projects` are the keys of the project it names."""
    names = (said.project, said.task_id, said.domain, said.agent)
    folded = [fold(name) for name in names if isinstance(name, str)]
    return any(key in name for name in folded) or (
        isinstance(said.project, str) and fold(said.project) in projects
    )


def _text(said: FactAsserted) -> str:
    names = (said.slot, said.value, said.domain, said.project, said.task_id, said.agent)
    return "\n".join(name for name in names if isinstance(name, str)).casefold()


def _literal(word: str) -> str:
    for sign in "!%_":
        word = word.replace(sign, "!" + sign)
    return word


def _json(positions: Collection[int]) -> str:
    return msgspec.json.encode(list(positions)).decode()


def total(snapshot: Snapshot) -> int:
    """How many current facts there are."""
    return _counted(snapshot, "1")


def rank(snapshot: Snapshot, order: FactOrder, place: FactPlace) -> int:
    """How many current facts stand before a place."""
    if order == "replaced":
        before = "(links, position) > (:links, :position)"
        index = _index_of_links(snapshot)
        return _counted(snapshot, before, index, links=place.links, position=place.position)
    if order == "newest":
        return _counted(snapshot, "position > :position", position=place.position)
    values = place._asdict()
    del values["links"]
    return _counted(
        snapshot,
        "(domain_key, project_key, task_key, slot, position) < (:domain, :project, :task, :slot, :position)",
        **values,
    )


def _counted(snapshot: Snapshot, condition: str, index: str = "", **values: int | str) -> int:
    index = index or ("" if snapshot.past else "facts_held")
    table = f"facts INDEXED BY {index}" if index else "facts"
    return int(
        snapshot.value(
            f"SELECT count(*) FROM {table} "
            f"WHERE {snapshot.asserted()} AND {snapshot.stands('facts')} AND {condition}",
            **values,
        )
    )

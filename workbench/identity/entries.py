"""What a manifest declares about names, as the registry takes it (contract memory, "Identity folding")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from workbench.identity.folding import fold

KINDS = ("project", "domain", "agent")
"""What has names."""


class Names(NamedTuple):
    """One entry: an id and what else it is called. Entries of one id add up."""

    id: str
    aliases: Sequence[str] = ()
    roots: Sequence[Path] = ()
    """Of a project: absolute folders."""
    prefixes: Sequence[str] = ()
    """Of an agent: how a name of it begins."""
    contains: Sequence[str] = ()
    """Of an agent: what a name of it holds."""


class Clash(NamedTuple):
    """A spelling that two ids of one kind claim."""

    kind: str
    spelling: str
    """As the second one writes it."""
    owner: str
    other: str
    entry: int
    """Which of the entries is the second one, from 0."""
    alias: int | None
    """Which of its aliases it is, from 0; None for its id."""

    @property
    def sentence(self) -> str:
        """What is wrong, in words."""
        return f"the {self.kind} name {self.spelling!r} belongs to both {self.owner!r} and {self.other!r}"


def clashes(kind: str, entries: Sequence[Names], taken: Iterable[Names] = ()) -> Iterator[Clash]:
    """Each spelling in `entries` that an earlier entry of another id has, or one of `taken`."""
    ids = {fold(entry.id) for entry in entries}
    owners: dict[str, str] = {}
    for entry in taken:
        if fold(entry.id) not in ids:
            for spelling in (entry.id, *entry.aliases):
                owners.setdefault(fold(spelling), entry.id.strip())
    # Ids first: an alias that takes another entry's id is what is wrong, wherever the two stand.
    for entry in entries:
        owners.setdefault(fold(entry.id), entry.id.strip())
    for number, entry in enumerate(entries):
        given = entry.id.strip()
        for place, spelling in enumerate((entry.id, *entry.aliases)):
            owner = owners.setdefault(fold(spelling), given)
            if fold(owner) != fold(given):
                yield Clash(kind, spelling, owner, given, number, place - 1 if place else None)


def added_up(entries: Iterable[Names]) -> tuple[Names, ...]:
    """One entry for each id, in the order in which ids first appear; the first spelling of an id stands."""
    found: dict[str, Names] = {}
    for entry in entries:
        key = fold(entry.id)
        known = found.get(key)
        if known is None:
            # Another way to write the id is a spelling that folds to it: nothing to add.
            found[key] = entry._replace(id=entry.id.strip())
            continue
        found[key] = Names(
            known.id,
            (*known.aliases, *entry.aliases),
            (*known.roots, *entry.roots),
            (*known.prefixes, *entry.prefixes),
            (*known.contains, *entry.contains),
        )
    return tuple(found.values())

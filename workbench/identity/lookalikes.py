"""Names that look alike and are not declared to be one: probably slips, perhaps not."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from workbench.identity.folding import fold
from workbench.identity.registry import Registry

COMPARED = 5000
"""How many names of one kind are compared, the most used ones."""

_SUFFIXES = frozenset("api app cli code db dev docs js main new old project py repo rs src ts ui web".split())
"""Last words that say little about what a name means."""

_LENGTHS = ((8, 2), (4, 1))
"""From how many characters on how many slips still look alike; shorter names have none."""


class Alike(NamedTuple):
    """Two names of one kind that mean different things today."""

    kind: str
    spelling: str
    """The one that would become an alias."""
    observed: int
    """In how many observations."""
    like: str
    """The canonical name that it resembles."""
    like_observed: int
    reason: str
    """What they share, in words."""


class _Name(NamedTuple):
    key: str
    spelling: str
    observed: int
    declared: bool


def look_alikes(registry: Registry, kind: str, used: Mapping[str, int]) -> list[Alike]:
    """Pairs of names that look alike, the most used first.

    `used` says for every spelling in the log in how many observations it is. Spellings that mean the same
    today count together, and two names that are both declared are two names.
    """
    names = _names(registry, kind, used)
    found: dict[tuple[str, str], Alike] = {}
    for reason, one, other in _pairs(names):
        # What is declared or used more often is the name, and the other one the slip.
        like, slip = sorted((one, other), key=lambda each: (not each.declared, -each.observed, each.key))
        pair = (like.key, slip.key)
        if pair not in found and not (like.declared and slip.declared):
            found[pair] = Alike(kind, slip.spelling, slip.observed, like.spelling, like.observed, reason)
    return sorted(
        found.values(), key=lambda each: (-each.like_observed - each.observed, each.like, each.spelling)
    )


def _names(registry: Registry, kind: str, used: Mapping[str, int]) -> list[_Name]:
    counts: dict[str, int] = defaultdict(int)
    spellings: dict[str, str] = {}
    for spelling, count in used.items():
        canonical = registry.canonical(kind, spelling)
        counts[fold(canonical)] += count
        spellings.setdefault(fold(canonical), canonical)
    declared = {fold(entry.id) for entry in registry.declared(kind)}
    for entry in registry.declared(kind):
        counts.setdefault(fold(entry.id), 0)
        spellings[fold(entry.id)] = entry.id
    most = sorted(counts, key=lambda key: (key not in declared, -counts[key], key))[:COMPARED]
    return [_Name(key, spellings[key], counts[key], key in declared) for key in most]


def _pairs(names: list[_Name]) -> Iterator[tuple[str, _Name, _Name]]:
    """What looks alike, the surest reasons first."""
    yield from _same("the same letters", names, _letters)
    yield from _same("the same letters, with marks or hidden characters", names, _bare)
    by_key = {name.key: name for name in names}
    for name in names:
        stem, _, last = name.key.rpartition("-")
        if stem in by_key and last in _SUFFIXES:
            yield f"the same but for “-{last}” at its end", by_key[stem], name
    yield from _slips(names)


def _same(reason: str, names: list[_Name], form: Callable[[str], str]) -> Iterator[tuple[str, _Name, _Name]]:
    groups: dict[str, list[_Name]] = defaultdict(list)
    for name in names:
        groups[form(name.key)].append(name)
    for shared, group in groups.items():
        first = min(group, key=lambda each: (not each.declared, -each.observed, each.key))
        if shared:
            yield from ((reason, first, other) for other in group if other is not first)


def _letters(key: str) -> str:
    return "".join(character for character in key if character.isalnum())


def _bare(key: str) -> str:
    """Without accents, and without what cannot be seen."""
    return _letters("".join(c for c in unicodedata.normalize("NFKD", key) if not unicodedata.combining(c)))


def _slips(names: list[_Name]) -> Iterator[tuple[str, _Name, _Name]]:
    """Names that one or two slips of a finger tell apart. Numbers are no slips."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    by_length: dict[int, list[_Name]] = defaultdict(list)
    for name in names:
        by_length[len(name.key)].append(name)
    for length, group in by_length.items():
        allowed = next((slips for least, slips in _LENGTHS if length >= least), 0)
        if not allowed:
            continue
        # Each pair once: with those of the same length, and with the longer ones.
        near = [name for extra in range(allowed + 1) for name in by_length.get(length + extra, ())]
        keys = [name.key for name in near]
        for place, name in enumerate(group):
            for _, slips, number in extract(
                name.key, keys, scorer=OSA.distance, processor=None, score_cutoff=allowed, limit=None
            ):
                other = near[number]
                if number > place and _words(name.key) != _words(other.key):
                    yield f"{slips} letter{'s' if slips > 1 else ''} apart", name, other


def _words(key: str) -> str:
    """A name without its digits."""
    return "".join(character for character in key if not character.isdigit())

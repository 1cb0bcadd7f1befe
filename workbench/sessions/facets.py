"""The facet of an entry: its kind, its actor's kind and whether it is private, as one small number.

Every filter over a session's entries is a set of facets, so one index, (stream, facet, seq),
answers all of them by merging a handful of runs, however long the session is.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.sessions.model import ActorKind, ActumKind

_KINDS = {kind.value: index for index, kind in enumerate(ActumKind)}
_ACTOR_KINDS = {kind.value: index for index, kind in enumerate(ActorKind)}
_PUBLIC_FACETS = len(_KINDS) * len(_ACTOR_KINDS)

UNIT_CLOSED = 2 * _PUBLIC_FACETS
"""The facet of a closed unit, which is an entry of the session but no actum."""

UNIT_KIND = "unit_closed"
"""What a closed unit is called beside the kinds of acta."""

ACTA = tuple(range(2 * _PUBLIC_FACETS))


def facet(kind: str, actor_kind: str, private: bool) -> int:
    """The number of one combination; `KeyError` for a kind that does not exist."""
    return _PUBLIC_FACETS * private + len(_ACTOR_KINDS) * _KINDS[kind] + _ACTOR_KINDS[actor_kind]


def kind_of(number: int) -> str:
    """The actum kind of a facet."""
    return tuple(_KINDS)[number % _PUBLIC_FACETS // len(_ACTOR_KINDS)]


def facets(
    kinds: Iterable[str] = (), actor_kinds: Iterable[str] = (), *, private: bool = True
) -> tuple[int, ...]:
    """The facets that pass both filters; an empty filter passes all, an unknown kind none."""
    wanted_kinds = set(kinds)
    wanted_actors = set(actor_kinds)
    return tuple(
        facet(kind, actor_kind, secret)
        for secret in ((False, True) if private else (False,))
        for kind in _KINDS
        if not wanted_kinds or kind in wanted_kinds
        for actor_kind in _ACTOR_KINDS
        if not wanted_actors or actor_kind in wanted_actors
    )


def entry_facets(
    kinds: Iterable[str] = (), actor_kinds: Iterable[str] = (), *, private: bool = True
) -> tuple[int, ...]:
    """The same for every entry: `unit_closed` is a kind too, and passes where nothing is asked for."""
    kinds, actor_kinds = tuple(kinds), tuple(actor_kinds)
    of_acta = tuple(kind for kind in kinds if kind != UNIT_KIND)
    numbers = facets(of_acta, actor_kinds, private=private) if of_acta or not kinds else ()
    units = UNIT_KIND in kinds or (not kinds and not actor_kinds)
    return (*numbers, UNIT_CLOSED) if units else numbers

"""Acta and questions that the sub-tests share."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from typing import Final

import msgspec

from workbench.sessions.conformance.harness import Violation, require, require_equal
from workbench.sessions.model import ActaQuery, ActorKind, Actum, ActumKind, Chronicum
from workbench.sessions.store import Store

SESSION: Final = "session"
OWNER: Final = "owner1"
MISSING: Final = "does-not-exist"
EVERYTHING: Final = ActaQuery()

LONG_AGO: Final = datetime(1990, 5, 17, 3, 4, 5, 678901, tzinfo=UTC)
FAR_AHEAD: Final = datetime(2189, 11, 2, 21, 22, 23, 123456, tzinfo=UTC)

_CLOCK_PATIENCE_SECONDS: Final = 1.0
_CLOCK_NUMBERS: Final = count(1)


def started(store: Store, *ids: str) -> None:
    """Create a session of `OWNER` for each id, `SESSION` if none is given."""
    for chronicum_id in ids or (SESSION,):
        store.create(Chronicum(id=chronicum_id, owner_id=OWNER))


def message(content: str, *, into: str = SESSION, actum_id: str | None = None) -> Actum:
    """A human's message; its id is its content unless another is given."""
    return Actum(
        id=content if actum_id is None else actum_id,
        chronicum_id=into,
        kind=ActumKind.MESSAGE,
        actor_kind=ActorKind.HUMAN,
        actor="test-user",
        content=content,
    )


def act(content: str, kind: ActumKind, actor_kind: ActorKind, *, into: str = SESSION) -> Actum:
    """An act of any kind by any kind of actor."""
    return msgspec.structs.replace(message(content, into=into), kind=kind, actor_kind=actor_kind)


def contents(acta: Iterable[Actum]) -> list[str]:
    return [actum.content for actum in acta]


def require_contents(store: Store, query: ActaQuery, expected: list[str], *, of: str = SESSION) -> None:
    """The session answers `query` with exactly the acta of these contents, in this order."""
    require_equal(contents(store.acta(of, query)), expected, f"acta of {of!r} for {_said(query)}")


def require_same_but(found: Actum, given: Actum, *, at: datetime | None) -> None:
    """`found` is `given` with `at` as its time, field by field."""
    for field in Actum.__struct_fields__:
        expected = at if field == "at" else getattr(given, field)
        require_equal(getattr(found, field), expected, f"{field} of the stored actum")


def at_of(actum: Actum) -> datetime:
    """The time at which the store says it stored the actum."""
    if not isinstance(actum.at, datetime) or actum.at.utcoffset() is None:
        raise Violation(f"`at` is {actum.at!r}, not a time-zone-aware datetime")
    return actum.at


def pass_time(store: Store) -> None:
    """Return once the store's own clock has moved on, seen through a session of its own."""
    clock = f"clock-{next(_CLOCK_NUMBERS)}"
    started(store, clock)
    tick = message("tick", into=clock)
    first = at_of(store.record(tick))
    give_up = time.monotonic() + _CLOCK_PATIENCE_SECONDS
    while at_of(store.record(tick)) <= first:
        require(
            time.monotonic() < give_up,
            f"the store's clock, as seen in `at`, did not move for {_CLOCK_PATIENCE_SECONDS:g} s",
        )


def _said(query: ActaQuery) -> str:
    parts = [f"last_n={query.last_n}"] if query.last_n else []
    parts += [f"kinds={list(map(str, query.kinds))}"] if query.kinds else []
    parts += [f"actor_kinds={list(map(str, query.actor_kinds))}"] if query.actor_kinds else []
    return ", ".join(parts) or "no filter and no limit"

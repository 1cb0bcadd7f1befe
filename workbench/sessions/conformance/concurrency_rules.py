"""Rules that show only when many threads call at once."""

from __future__ import annotations

from collections import Counter
from functools import partial

from workbench.sessions.conformance.harness import (
    CALLERS,
    Outcome,
    Suite,
    at_once,
    require,
    require_equal,
    timed,
    values_of,
)
from workbench.sessions.conformance.material import EVERYTHING, SESSION, at_of, contents, message, started
from workbench.sessions.errors import ChronicumExists
from workbench.sessions.model import Actum, Chronicum
from workbench.sessions.store import Store

suite: Suite[Store] = Suite()

_EACH = 5


@suite.rule("ConcurrentAppend", "Concurrent appends to one session all land, each once, under their own ids.")
def concurrent_append(store: Store) -> None:
    started(store)
    names = [f"c-{number}" for number in range(CALLERS)]
    stored = values_of(at_once([partial(store.record, message(name)) for name in names]))
    require_equal(sorted(actum.id for actum in stored), sorted(names), "ids returned")
    counted = Counter(actum.id for actum in store.acta(SESSION, EVERYTHING))
    require_equal(dict(sorted(counted.items())), dict.fromkeys(sorted(names), 1), "acta stored, by id")


@suite.rule(
    "OrderUnderConcurrency",
    "A call that returned before another began stands before it in the history, also among concurrent calls.",
)
def order_under_concurrency(store: Store) -> None:
    started(store)

    def record_several(caller: int) -> list[Outcome[Actum]]:
        return [timed(partial(store.record, message(f"{caller}-{number}"))) for number in range(_EACH)]

    calls = [partial(record_several, caller) for caller in range(CALLERS)]
    recorded = [outcome for outcomes in values_of(at_once(calls)) for outcome in outcomes]
    spans = dict(zip(contents(values_of(recorded)), recorded, strict=True))
    history = contents(store.acta(SESSION, EVERYTHING))
    require_equal(sorted(history), sorted(spans), "acta stored")
    latest_began, latest = 0, ""
    for content in history:
        require(
            spans[content].ended >= latest_began,
            f"{content!r} was recorded before {latest!r} began, and stands behind it",
        )
        if spans[content].began > latest_began:
            latest_began, latest = spans[content].began, content


@suite.rule(
    "LastActivityAtUnderConcurrency",
    "After concurrent appends last_activity_at is the `at` of the last actum in the history.",
)
def last_activity_at_under_concurrency(store: Store) -> None:
    started(store)
    values_of(at_once([partial(store.record, message(f"{number}")) for number in range(CALLERS)]))
    last = at_of(store.acta(SESSION, EVERYTHING)[-1])
    require_equal(store.get(SESSION).last_activity_at, last, "last_activity_at")


@suite.rule(
    "ConcurrentCreate",
    "Of concurrent creations of one id exactly one succeeds; all others are ChronicumExists.",
)
def concurrent_create(store: Store) -> None:
    owners = [f"owner-{number}" for number in range(CALLERS)]
    outcomes = at_once([partial(store.create, Chronicum(id=SESSION, owner_id=owner)) for owner in owners])
    winners = [owner for owner, outcome in zip(owners, outcomes, strict=True) if outcome.error is None]
    others = [outcome.error for outcome in outcomes if outcome.error is not None]
    wrong = [error for error in others if not isinstance(error, ChronicumExists)]
    require(not wrong, f"a concurrent create raised {wrong[:1]!r}")
    require_equal(len(winners), 1, "creations that succeeded")
    require_equal(store.get(SESSION).owner_id, winners[0], "owner of the session")


@suite.rule("ConcurrentSessions", "Concurrent appends to different sessions stay apart and all land.")
def concurrent_sessions(store: Store) -> None:
    ids = [f"s-{number}" for number in range(CALLERS // 4)]
    started(store, *ids)
    calls = [
        partial(store.record, message(f"{chronicum_id}/{number}", into=chronicum_id))
        for number in range(4)
        for chronicum_id in ids
    ]
    values_of(at_once(calls))
    for chronicum_id in ids:
        found = sorted(contents(store.acta(chronicum_id, EVERYTHING)))
        require_equal(found, [f"{chronicum_id}/{number}" for number in range(4)], f"acta of {chronicum_id!r}")

"""Rules about reading a session: order, filters, the limit."""

from __future__ import annotations

from datetime import timedelta

import msgspec

from workbench.sessions.conformance.harness import Suite, require_equal
from workbench.sessions.conformance.material import (
    EVERYTHING,
    FAR_AHEAD,
    SESSION,
    act,
    message,
    require_contents,
    started,
)
from workbench.sessions.model import ActaQuery, ActorKind, ActumKind
from workbench.sessions.store import Store

suite: Suite[Store] = Suite()

_LONG_HISTORY = 1000


def _alternating(store: Store) -> None:
    """Five messages m-0…m-4, a thought t-0…t-4 behind each."""
    started(store)
    for number in range(5):
        store.record(act(f"m-{number}", ActumKind.MESSAGE, ActorKind.HUMAN))
        store.record(act(f"t-{number}", ActumKind.THOUGHT, ActorKind.AGENT))


def _three_parties(store: Store) -> None:
    """Three rounds of a human h-, the system s- and an agent a-, all messages."""
    started(store)
    for number in range(3):
        store.record(act(f"h-{number}", ActumKind.MESSAGE, ActorKind.HUMAN))
        store.record(act(f"s-{number}", ActumKind.MESSAGE, ActorKind.SYSTEM))
        store.record(act(f"a-{number}", ActumKind.MESSAGE, ActorKind.AGENT))


@suite.rule("InsertionOrder", "Acta come back whole and in the order in which they were recorded.")
def insertion_order(store: Store) -> None:
    started(store)
    # Ids that sort unlike the order of recording.
    recorded = [
        message(f"content-{number}", actum_id=f"{number * 7919 % _LONG_HISTORY:x}")
        for number in range(_LONG_HISTORY)
    ]
    for actum in recorded:
        store.record(actum)
    found = [actum.id for actum in store.acta(SESSION, EVERYTHING)]
    require_equal(found, [actum.id for actum in recorded], f"ids of {_LONG_HISTORY} acta")


@suite.rule("OrderIgnoresTimes", "Order is the order of recording, never that of a time an actum carries.")
def order_ignores_times(store: Store) -> None:
    started(store)
    for number in range(6):
        backwards = FAR_AHEAD - timedelta(days=number)
        store.record(msgspec.structs.replace(message(f"{number}"), at=backwards, occurred_at=backwards))
    require_contents(store, EVERYTHING, ["0", "1", "2", "3", "4", "5"])
    require_contents(store, ActaQuery(last_n=2), ["4", "5"])


@suite.rule(
    "FilterThenLimit", "Filters come first; the limit takes the last of what they leave, oldest first."
)
def filter_then_limit(store: Store) -> None:
    _alternating(store)
    require_contents(store, ActaQuery(kinds=(ActumKind.MESSAGE,), last_n=3), ["m-2", "m-3", "m-4"])


@suite.rule("FilterActorKinds", "A filter of actor kinds lets pass the acta of any actor kind it names.")
def filter_actor_kinds(store: Store) -> None:
    _three_parties(store)
    require_contents(store, ActaQuery(actor_kinds=(ActorKind.HUMAN,)), ["h-0", "h-1", "h-2"])
    both = (ActorKind.HUMAN, ActorKind.AGENT)
    require_contents(store, ActaQuery(actor_kinds=both, last_n=3), ["a-1", "h-2", "a-2"])


@suite.rule(
    "FilterKinds", "A filter of kinds lets pass the acta of any kind it names; naming one twice is harmless."
)
def filter_kinds(store: Store) -> None:
    started(store)
    for kind in ActumKind:
        store.record(act(kind.value, kind, ActorKind.AGENT))
    for kind in ActumKind:
        require_contents(store, ActaQuery(kinds=(kind,)), [kind.value])
    query = ActaQuery(kinds=(ActumKind.TOOL_RESPONSE, ActumKind.MESSAGE, ActumKind.TOOL_RESPONSE))
    require_contents(store, query, ["message", "tool_response"])


@suite.rule("BothFilters", "Both filters together let pass what passes each of them; then comes the limit.")
def both_filters(store: Store) -> None:
    started(store)
    for number in range(4):
        store.record(act(f"hm-{number}", ActumKind.MESSAGE, ActorKind.HUMAN))
        store.record(act(f"am-{number}", ActumKind.MESSAGE, ActorKind.AGENT))
        store.record(act(f"at-{number}", ActumKind.THOUGHT, ActorKind.AGENT))
        store.record(act(f"sm-{number}", ActumKind.MESSAGE, ActorKind.SYSTEM))
    kinds, actor_kinds = (ActumKind.MESSAGE,), (ActorKind.AGENT, ActorKind.SYSTEM)
    expected = [f"{who}-{number}" for number in range(4) for who in ("am", "sm")]
    require_contents(store, ActaQuery(kinds=kinds, actor_kinds=actor_kinds), expected)
    require_contents(store, ActaQuery(kinds=kinds, actor_kinds=actor_kinds, last_n=3), expected[-3:])
    disjoint = ActaQuery(kinds=(ActumKind.THOUGHT,), actor_kinds=(ActorKind.HUMAN,))
    require_contents(store, disjoint, [])


@suite.rule("UnknownKindMatchesNothing", "A kind that does not exist matches nothing and is no error.")
def unknown_kind_matches_nothing(store: Store) -> None:
    _alternating(store)
    for name in ("telepathy", "MESSAGE", "", "mess%", "message' OR '1'='1"):
        require_contents(store, ActaQuery(kinds=(name,)), [])
        require_contents(store, ActaQuery(actor_kinds=(name,), last_n=2), [])
    mixed = ActaQuery(kinds=("telepathy", ActumKind.THOUGHT), last_n=2)
    require_contents(store, mixed, ["t-3", "t-4"])


@suite.rule("LastN", "The limit takes exactly the last N acta, oldest first; zero is no limit.")
def last_n(store: Store) -> None:
    _three_parties(store)
    everything = [f"{who}-{number}" for number in range(3) for who in ("h", "s", "a")]
    require_contents(store, ActaQuery(last_n=0), everything)
    for limit in range(1, len(everything) + 1):
        require_contents(store, ActaQuery(last_n=limit), everything[-limit:])


@suite.rule("NegativeLastN", "A negative limit is no limit.")
def negative_last_n(store: Store) -> None:
    _alternating(store)
    everything = [f"{what}-{number}" for number in range(5) for what in ("m", "t")]
    for limit in (-1, -3, -len(everything), -(2**62)):
        require_contents(store, ActaQuery(last_n=limit), everything)
    require_contents(store, ActaQuery(last_n=-1, kinds=(ActumKind.THOUGHT,)), everything[1::2])


@suite.rule("LastNBeyondHistory", "A limit larger than the history gives the whole history.")
def last_n_beyond_history(store: Store) -> None:
    _alternating(store)
    everything = [f"{what}-{number}" for number in range(5) for what in ("m", "t")]
    for limit in (11, 1000, 2**62):
        require_contents(store, ActaQuery(last_n=limit), everything)
    require_contents(store, ActaQuery(last_n=6, kinds=(ActumKind.MESSAGE,)), everything[::2])


@suite.rule("EmptyChronicum", "A session without acta gives an empty list, whatever is asked of it.")
def empty_chronicum(store: Store) -> None:
    started(store)
    for query in (
        EVERYTHING,
        ActaQuery(last_n=3),
        ActaQuery(last_n=-1),
        ActaQuery(kinds=(ActumKind.MESSAGE,), actor_kinds=(ActorKind.HUMAN,), last_n=1),
    ):
        require_equal(store.acta(SESSION, query), [], "acta of an empty session")

"""Filters and limit against their definition, on histories and questions that nobody chose."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.sessions import ActaQuery, ActorKind, Actum, ActumKind, Chronicum, IdempotentStore

KINDS = [kind.value for kind in ActumKind]
ACTOR_KINDS = [kind.value for kind in ActorKind]

histories = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(ACTOR_KINDS)), max_size=30)
filters = st.tuples(
    st.lists(st.sampled_from([*KINDS, "unknown"]), max_size=5),
    st.lists(st.sampled_from([*ACTOR_KINDS, "unknown"]), max_size=4),
    st.integers(min_value=-3, max_value=40),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=histories, questions=st.lists(filters, min_size=1, max_size=6))
def test_acta_are_filtered_then_limited(
    new_store: Callable[[], IdempotentStore],
    history: list[tuple[str, str]],
    questions: list[tuple[list[str], list[str], int]],
) -> None:
    store = new_store()
    store.create(Chronicum(id="s", owner_id="o"))
    stored = [
        store.record(
            Actum(id=f"{number}", chronicum_id="s", kind=kind, actor_kind=who, actor="a", content="c")
        )
        for number, (kind, who) in enumerate(history)
    ]
    for kinds, actor_kinds, last_n in questions:
        expected = [
            actum
            for actum in stored
            if (actum.kind in kinds or not kinds) and (actum.actor_kind in actor_kinds or not actor_kinds)
        ]
        if last_n > 0:
            expected = expected[-last_n:]
        query = ActaQuery(last_n=last_n, kinds=tuple(kinds), actor_kinds=tuple(actor_kinds))
        assert store.acta("s", query) == expected

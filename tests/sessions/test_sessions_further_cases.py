"""The further cases of contract sessions §11, one test or more for each, numbered as there."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from workbench.sessions import (
    ActaQuery,
    ActorKind,
    Actum,
    ActumKind,
    Chronicarius,
    Chronicum,
    ChronicumExists,
    ChronicumNotFound,
    EmptyOwnerID,
    IdempotencyUnsupported,
    IdempotentStore,
    InvalidActum,
    MemoryStore,
    Store,
)

SESSION = "s-1"
ANN, BEN = "ann", "ben"


def message(content: str, *, into: str = SESSION, kind: str = "message", actor_kind: str = "human") -> Actum:
    return Actum(chronicum_id=into, kind=kind, actor_kind=actor_kind, actor="someone", content=content)


def contents(acta: list[Actum]) -> list[str]:
    return [actum.content for actum in acta]


class Calls:
    """A store with the four basic methods, over another one; writes down every call, and fails where told to."""

    def __init__(self, inner: Store, failures: dict[str, list[Exception | None]] | None = None) -> None:
        self.inner = inner
        self.failures = failures or {}
        self.names: list[str] = []

    def _call(self, name: str) -> None:
        self.names.append(name)
        planned = self.failures.get(name)
        failure = planned.pop(0) if planned else None
        if failure is not None:
            raise failure

    def create(self, chronicum: Chronicum) -> None:
        self._call("create")
        self.inner.create(chronicum)

    def record(self, actum: Actum) -> Actum:
        self._call("record")
        return self.inner.record(actum)

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        self._call("acta")
        return self.inner.acta(chronicum_id, query)

    def get(self, chronicum_id: str) -> Chronicum:
        self._call("get")
        return self.inner.get(chronicum_id)


class DiskFailed(Exception):
    """A store's own failure."""


@pytest.fixture
def chronicarius(store: IdempotentStore) -> Chronicarius:
    return Chronicarius(store)


@pytest.fixture
def four_messages(chronicarius: Chronicarius) -> Chronicarius:
    """Messages 0 and 2 of a human, 1 and 3 of an agent."""
    for number in range(4):
        chronicarius.record_actum(ANN, message(f"{number}", actor_kind=["human", "agent"][number % 2]))
    return chronicarius


def test_case_01_empty_owner_comes_before_an_invalid_actum(chronicarius: Chronicarius) -> None:
    with pytest.raises(EmptyOwnerID):
        chronicarius.record_actum("", message(""))


def test_case_02_invalid_actum_comes_before_an_unsupported_key(store: IdempotentStore) -> None:
    with pytest.raises(InvalidActum):
        Chronicarius(Calls(store)).record_actum(ANN, message(""), idempotency_key="k")


def test_case_03_an_unsupported_key_is_refused_before_ownership_is_looked_at(store: IdempotentStore) -> None:
    Chronicarius(store).record_actum(BEN, message("ben's"))
    calls = Calls(store)
    with pytest.raises(IdempotencyUnsupported):
        Chronicarius(calls).record_actum(ANN, message("hello"), idempotency_key="k")
    assert calls.names == []


@pytest.mark.parametrize("key", ["", None])
def test_case_04_an_empty_key_is_no_key(store: IdempotentStore, key: str | None) -> None:
    chronicarius = Chronicarius(Calls(store))
    chronicarius.record_actum(ANN, message("one"), idempotency_key=key)
    chronicarius.record_actum(ANN, message("two"), idempotency_key=key)
    assert contents(chronicarius.get_acta(ANN, SESSION)) == ["one", "two"]


def test_case_04_an_empty_key_never_repeats_on_a_store_that_has_keys(chronicarius: Chronicarius) -> None:
    chronicarius.record_actum(ANN, message("one"), idempotency_key="")
    chronicarius.record_actum(ANN, message("two"), idempotency_key="")
    assert contents(chronicarius.get_acta(ANN, SESSION)) == ["one", "two"]


def test_case_05_the_callers_id_and_at_are_replaced(chronicarius: Chronicarius) -> None:
    then = datetime(1999, 1, 1, tzinfo=UTC)
    given = Actum(
        id="mine",
        at=then,
        chronicum_id=SESSION,
        kind=ActumKind.MESSAGE,
        actor_kind=ActorKind.HUMAN,
        actor="someone",
        content="hello",
    )
    stored = chronicarius.record_actum(ANN, given)
    assert stored.id not in ("", "mine")
    assert stored.at is not None and stored.at > then
    assert chronicarius.get_acta(ANN, SESSION) == [stored]


def test_case_06_the_callers_times_of_a_session_are_replaced(store: IdempotentStore) -> None:
    then = datetime(1999, 1, 1, tzinfo=UTC)
    store.create(
        Chronicum(id=SESSION, owner_id=ANN, started_at=then, last_activity_at=then + timedelta(days=1))
    )
    chronicum = Chronicarius(store).get_chronicum(ANN, SESSION)
    assert chronicum.started_at is not None and chronicum.started_at > then + timedelta(days=1)
    assert chronicum.last_activity_at == chronicum.started_at


def test_case_07_a_failing_get_is_passed_on_and_nothing_is_created(store: IdempotentStore) -> None:
    failure = DiskFailed()
    calls = Calls(store, {"get": [failure, failure, failure]})
    chronicarius = Chronicarius(calls)
    for call in (
        lambda: chronicarius.record_actum(ANN, message("hello")),
        lambda: chronicarius.get_acta(ANN, SESSION),
        lambda: chronicarius.get_chronicum(ANN, SESSION),
    ):
        with pytest.raises(DiskFailed) as caught:
            call()
        assert caught.value is failure
    assert calls.names == ["get", "get", "get"]


def test_case_08_a_failing_create_is_passed_on_and_nothing_is_recorded(store: IdempotentStore) -> None:
    failure = DiskFailed()
    calls = Calls(store, {"create": [failure]})
    with pytest.raises(DiskFailed) as caught:
        Chronicarius(calls).record_actum(ANN, message("hello"))
    assert caught.value is failure
    assert calls.names == ["get", "create"]


def test_case_09_losing_the_race_to_another_owner_is_not_found(store: IdempotentStore) -> None:
    store.create(Chronicum(id=SESSION, owner_id=BEN))
    calls = Calls(store, {"get": [ChronicumNotFound()]})
    with pytest.raises(ChronicumNotFound):
        Chronicarius(calls).record_actum(ANN, message("hello"))
    assert calls.names == ["get", "create", "get"]
    assert store.acta(SESSION, ActaQuery()) == []


def test_case_09_losing_the_race_to_oneself_goes_on(store: IdempotentStore) -> None:
    store.create(Chronicum(id=SESSION, owner_id=ANN))
    calls = Calls(store, {"get": [ChronicumNotFound()]})
    assert Chronicarius(calls).record_actum(ANN, message("hello")).content == "hello"
    assert calls.names == ["get", "create", "get", "record"]


def test_case_09_a_foreign_write_costs_get_create_get(store: IdempotentStore) -> None:
    store.create(Chronicum(id=SESSION, owner_id=BEN))
    calls = Calls(store)
    with pytest.raises(ChronicumNotFound):
        Chronicarius(calls).record_actum(ANN, message("hello"))
    assert calls.names == ["get", "create", "get"]


def test_case_09_an_error_of_the_second_get_is_passed_on(store: IdempotentStore) -> None:
    calls = Calls(store, {"get": [None, DiskFailed()]})
    store.create(Chronicum(id=SESSION, owner_id=BEN))
    with pytest.raises(DiskFailed):
        Chronicarius(calls).record_actum(ANN, message("hello"))


def test_case_10_of_two_owners_racing_for_a_session_one_wins(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    barrier = Barrier(20)

    def record(number: int) -> str:
        barrier.wait()
        owner = (ANN, BEN)[number % 2]
        try:
            chronicarius.record_actum(owner, message(owner))
        except ChronicumNotFound:
            return f"{owner} refused"
        return f"{owner} recorded"

    with ThreadPoolExecutor(20) as callers:
        answers = sorted(callers.map(record, range(20)))
    winner = store.get(SESSION).owner_id
    loser = BEN if winner == ANN else ANN
    assert answers == sorted([f"{winner} recorded"] * 10 + [f"{loser} refused"] * 10)
    assert contents(chronicarius.get_acta(winner, SESSION)) == [winner] * 10


def test_case_11_a_failed_record_leaves_an_empty_session_and_a_retry_works(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(Calls(store, {"record": [DiskFailed()]}))
    with pytest.raises(DiskFailed):
        chronicarius.record_actum(ANN, message("hello"))
    assert chronicarius.get_chronicum(ANN, SESSION).owner_id == ANN
    assert chronicarius.get_acta(ANN, SESSION) == []
    chronicarius.record_actum(ANN, message("hello"))
    assert contents(chronicarius.get_acta(ANN, SESSION)) == ["hello"]


@pytest.mark.parametrize(
    "last_n",
    [
        pytest.param(0, id="case_12_zero"),
        pytest.param(-3, id="case_13_negative"),
        pytest.param(5, id="case_14_more_than_there_are"),
    ],
)
def test_cases_12_to_14_limits_that_limit_nothing(four_messages: Chronicarius, last_n: int) -> None:
    assert contents(four_messages.get_acta(ANN, SESSION, last_n=last_n)) == ["0", "1", "2", "3"]


def test_case_15_filters_that_name_nothing_are_no_filters(four_messages: Chronicarius) -> None:
    acta = four_messages.get_acta(ANN, SESSION, actum_kinds=(), actor_kinds=[])
    assert contents(acta) == ["0", "1", "2", "3"]


def test_case_16_an_unknown_kind_matches_nothing(four_messages: Chronicarius) -> None:
    assert four_messages.get_acta(ANN, SESSION, actum_kinds=["telepathy"]) == []
    assert four_messages.get_acta(ANN, SESSION, actor_kinds=["ghost"]) == []


def test_case_17_both_filters_intersect_and_then_the_limit_counts(four_messages: Chronicarius) -> None:
    four_messages.record_actum(ANN, message("hm", kind="thought", actor_kind="agent"))
    acta = four_messages.get_acta(ANN, SESSION, last_n=1, actum_kinds=["message"], actor_kinds=["agent"])
    assert contents(acta) == ["3"]


def test_case_17_filters_may_be_any_iterable(four_messages: Chronicarius) -> None:
    acta = four_messages.get_acta(ANN, SESSION, actor_kinds=(kind for kind in ["agent", "agent"]))
    assert contents(acta) == ["1", "3"]


def test_case_18_a_retry_with_the_key_by_another_owner_is_not_found(chronicarius: Chronicarius) -> None:
    chronicarius.record_actum(ANN, message("hello"), idempotency_key="k")
    with pytest.raises(ChronicumNotFound):
        chronicarius.record_actum(BEN, message("hello"), idempotency_key="k")


def test_case_19_the_same_key_in_another_session_is_stored(chronicarius: Chronicarius) -> None:
    first = chronicarius.record_actum(ANN, message("one"), idempotency_key="k")
    second = chronicarius.record_actum(ANN, message("two", into="s-2"), idempotency_key="k")
    assert second.id != first.id
    assert contents(chronicarius.get_acta(ANN, "s-2")) == ["two"]


def test_case_20_the_same_key_with_another_kind_and_actor_gives_the_first(chronicarius: Chronicarius) -> None:
    first = chronicarius.record_actum(ANN, message("one"), idempotency_key="k")
    other = message("two", kind="tool_response", actor_kind="system")
    assert chronicarius.record_actum(ANN, other, idempotency_key="k") == first


def test_case_21_a_repeat_does_not_move_last_activity(chronicarius: Chronicarius) -> None:
    chronicarius.record_actum(ANN, message("one"), idempotency_key="k")
    chronicarius.record_actum(ANN, message("two"))
    before = chronicarius.get_chronicum(ANN, SESSION)
    chronicarius.record_actum(ANN, message("one"), idempotency_key="k")
    assert chronicarius.get_chronicum(ANN, SESSION) == before


def test_case_22_keyed_and_unkeyed_recordings_share_one_order(chronicarius: Chronicarius) -> None:
    for number, key in enumerate([None, "a", None, "b", "a", None]):
        chronicarius.record_actum(ANN, message(f"{number}"), idempotency_key=key)
    assert contents(chronicarius.get_acta(ANN, SESSION)) == ["0", "1", "2", "3", "5"]


def test_case_23_the_returned_list_is_the_callers_own(four_messages: Chronicarius) -> None:
    four_messages.get_acta(ANN, SESSION).clear()
    assert contents(four_messages.get_acta(ANN, SESSION)) == ["0", "1", "2", "3"]


def test_case_24_equal_ids_are_two_records(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store, id_gen=lambda: "same")
    chronicarius.record_actum(ANN, message("one"))
    chronicarius.record_actum(ANN, message("two"))
    found = [(actum.id, actum.content) for actum in chronicarius.get_acta(ANN, SESSION)]
    assert found == [("same", "one"), ("same", "two")]


@pytest.mark.parametrize("step", [timedelta(0), timedelta(days=-1)], ids=["equal", "backwards"])
def test_case_25_order_is_call_order_whatever_the_clock_says(step: timedelta) -> None:
    now = datetime(2024, 1, 1, tzinfo=UTC)

    def clock() -> datetime:
        nonlocal now
        now += step
        return now

    chronicarius = Chronicarius(MemoryStore(clock=clock))
    for number in range(5):
        chronicarius.record_actum(ANN, message(f"{number}"))
    acta = chronicarius.get_acta(ANN, SESSION)
    assert contents(acta) == ["0", "1", "2", "3", "4"]
    assert contents(chronicarius.get_acta(ANN, SESSION, last_n=2)) == ["3", "4"]
    assert chronicarius.get_chronicum(ANN, SESSION).last_activity_at == acta[-1].at


def test_case_26_a_blank_is_content_actor_and_id(chronicarius: Chronicarius) -> None:
    blank = Actum(chronicum_id=" ", kind="message", actor_kind="human", actor=" ", content=" ")
    assert chronicarius.record_actum(" ", blank).content == " "
    assert chronicarius.get_chronicum(" ", " ").owner_id == " "


def test_case_27_a_human_may_answer_for_a_tool(chronicarius: Chronicarius) -> None:
    stored = chronicarius.record_actum(ANN, message("", kind="tool_response", actor_kind="human"))
    assert (stored.kind, stored.actor_kind) == (ActumKind.TOOL_RESPONSE, ActorKind.HUMAN)


def refusal(call: Callable[[], object]) -> ChronicumNotFound:
    with pytest.raises(ChronicumNotFound) as caught:
        call()
    return caught.value


def test_case_28_missing_and_foreign_are_one_answer(store: IdempotentStore) -> None:
    class Talkative(Calls):
        def get(self, chronicum_id: str) -> Chronicum:
            try:
                return super().get(chronicum_id)
            except ChronicumNotFound as error:
                raise ChronicumNotFound(f"no row {chronicum_id!r} in table chronica", hint="look") from error

        def create(self, chronicum: Chronicum) -> None:
            try:
                super().create(chronicum)
            except ChronicumExists as error:
                raise ChronicumExists(f"{chronicum.id!r} is taken") from error

    chronicarius = Chronicarius(Talkative(store))
    chronicarius.record_actum(BEN, message("ben's"))
    answers = [
        refusal(lambda: chronicarius.get_chronicum(ANN, SESSION)),
        refusal(lambda: chronicarius.get_chronicum(ANN, "missing")),
        refusal(lambda: chronicarius.get_acta(ANN, SESSION)),
        refusal(lambda: chronicarius.get_acta(ANN, "missing")),
        refusal(lambda: chronicarius.record_actum(ANN, message("ann's"))),
    ]
    for answer in answers:
        assert type(answer) is ChronicumNotFound
        assert (str(answer), answer.hint) == ("chronica: chronicum not found", ChronicumNotFound().hint)
        assert answer.__cause__ is None and answer.__context__ is None
        said = "".join(traceback.format_exception_only(answer))
        assert SESSION not in said and "missing" not in said and "table" not in said

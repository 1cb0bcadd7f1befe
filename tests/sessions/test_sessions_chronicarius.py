"""Recording and reading through `Chronicarius`, the reference's own cases (contract sessions §10)."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest

from workbench.sessions import (
    ActaQuery,
    ActorKind,
    Actum,
    ActumKind,
    Chronicarius,
    Chronicum,
    ChronicumNotFound,
    EmptyOwnerID,
    IdempotencyUnsupported,
    IdempotentStore,
    InvalidActum,
    Store,
)


def actum(
    content: str,
    kind: ActumKind = ActumKind.MESSAGE,
    actor_kind: ActorKind = ActorKind.HUMAN,
    *,
    into: str = "session-1",
) -> Actum:
    return Actum(chronicum_id=into, kind=kind, actor_kind=actor_kind, actor="someone", content=content)


class BaseOnly:
    """A store that owes the four basic methods and has no more."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner

    def create(self, chronicum: Chronicum) -> None:
        self._inner.create(chronicum)

    def record(self, actum: Actum) -> Actum:
        return self._inner.record(actum)

    def acta(self, chronicum_id: str, query: ActaQuery) -> list[Actum]:
        return self._inner.acta(chronicum_id, query)

    def get(self, chronicum_id: str) -> Chronicum:
        return self._inner.get(chronicum_id)


def test_record_actum_validation(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    with pytest.raises(EmptyOwnerID):
        chronicarius.record_actum("", actum("hello"))
    nobody = Actum(chronicum_id="session-1", kind="message", actor_kind="human", content="hello")
    with pytest.raises(InvalidActum):
        chronicarius.record_actum("owner-1", nobody)
    with pytest.raises(ChronicumNotFound):
        chronicarius.get_chronicum("owner-1", "session-1")


@pytest.mark.parametrize("kind", [ActumKind.MESSAGE, ActumKind.THOUGHT])
def test_actum_validate_content_needed(kind: ActumKind) -> None:
    with pytest.raises(InvalidActum):
        actum("", kind).validate()
    actum("x", kind).validate()


@pytest.mark.parametrize("kind", [ActumKind.TOOL_REQUEST, ActumKind.TOOL_RESPONSE])
def test_actum_validate_content_optional(kind: ActumKind) -> None:
    actum("", kind).validate()
    actum("x", kind).validate()


def test_auto_create_and_ownership(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    stored = chronicarius.record_actum("owner-1", actum("hello"))
    assert re.fullmatch("[0-9a-f]{32}", stored.id)
    assert chronicarius.get_chronicum("owner-1", "session-1").owner_id == "owner-1"
    with pytest.raises(ChronicumNotFound):
        chronicarius.record_actum("owner-2", actum("intruding"))
    assert chronicarius.get_acta("owner-1", "session-1") == [stored]


def test_get_acta_ownership_and_filters(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    chronicarius.record_actum("owner-1", actum("msg-1"))
    chronicarius.record_actum("owner-1", actum("hm", ActumKind.THOUGHT, ActorKind.AGENT))
    chronicarius.record_actum("owner-1", actum("sys-1", ActumKind.MESSAGE, ActorKind.SYSTEM))

    def contents(acta: list[Actum]) -> list[str]:
        return [found.content for found in acta]

    get_acta = partial(chronicarius.get_acta, "owner-1", "session-1")
    assert contents(get_acta()) == ["msg-1", "hm", "sys-1"]
    with pytest.raises(ChronicumNotFound):
        chronicarius.get_acta("owner-2", "session-1")
    assert contents(get_acta(actum_kinds=[ActumKind.MESSAGE])) == ["msg-1", "sys-1"]
    assert contents(get_acta(actor_kinds=[ActorKind.HUMAN, ActorKind.AGENT])) == ["msg-1", "hm"]
    assert contents(get_acta(last_n=1)) == ["sys-1"]


def test_with_id_gen(store: IdempotentStore) -> None:
    assert (
        Chronicarius(store, id_gen=lambda: "constant").record_actum("owner-1", actum("hello")).id
        == "constant"
    )


def test_default_ids_are_32_hex_digits_and_differ(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    ids = [chronicarius.record_actum("owner-1", actum("hello")).id for _ in range(50)]
    assert len(set(ids)) == 50
    assert all(re.fullmatch("[0-9a-f]{32}", actum_id) for actum_id in ids)


def test_get_chronicum_validation(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    chronicarius.record_actum("owner-1", actum("hello"))
    with pytest.raises(EmptyOwnerID):
        chronicarius.get_chronicum("", "session-1")
    with pytest.raises(ChronicumNotFound):
        chronicarius.get_chronicum("owner-1", "missing")
    with pytest.raises(ChronicumNotFound):
        chronicarius.get_chronicum("owner-2", "session-1")
    assert chronicarius.get_chronicum("owner-1", "session-1").owner_id == "owner-1"


def test_get_acta_validation(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    with pytest.raises(EmptyOwnerID):
        chronicarius.get_acta("", "session-1")
    for missing in ("missing", ""):
        with pytest.raises(ChronicumNotFound):
            chronicarius.get_acta("owner-1", missing)


def test_idempotency(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    first = chronicarius.record_actum("owner-1", actum("hello"), idempotency_key="idem-key-1")
    second = chronicarius.record_actum("owner-1", actum("other"), idempotency_key="idem-key-1")
    assert (second.id, second.content) == (first.id, "hello")
    assert chronicarius.get_acta("owner-1", "session-1") == [first]


def test_idempotency_unsupported(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(BaseOnly(store))
    with pytest.raises(IdempotencyUnsupported):
        chronicarius.record_actum("owner-1", actum("hello"), idempotency_key="idem-key-1")
    with pytest.raises(ChronicumNotFound):
        chronicarius.get_chronicum("owner-1", "session-1")


def test_auto_create_race_condition(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    barrier = Barrier(20)

    def record(number: int) -> Actum:
        barrier.wait()
        return chronicarius.record_actum("owner-1", actum(f"{number}"))

    with ThreadPoolExecutor(20) as callers:
        stored = list(callers.map(record, range(20)))
    assert len({one.id for one in stored}) == 20
    found = chronicarius.get_acta("owner-1", "session-1")
    assert sorted(one.id for one in found) == sorted(one.id for one in stored)


def test_private_acta_are_returned_to_the_owner(store: IdempotentStore) -> None:
    chronicarius = Chronicarius(store)
    for number, visibility in enumerate(["public", "private", "public", "private"]):
        whisper = Actum(
            chronicum_id="session-1",
            kind=ActumKind.MESSAGE,
            actor_kind=ActorKind.AGENT,
            actor="someone",
            content=f"{number}",
            visibility=visibility,
        )
        chronicarius.record_actum("owner-1", whisper)
    seen = [(one.content, one.visibility) for one in chronicarius.get_acta("owner-1", "session-1", last_n=3)]
    assert seen == [("1", "private"), ("2", "public"), ("3", "private")]

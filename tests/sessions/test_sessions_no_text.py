"""What callers without a type checker hand over: refused in words, or taken as what it plainly means."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.sessions import (
    Actum,
    Chronicarius,
    ChronicumNotFound,
    EmptyOwnerID,
    InvalidActum,
    MemoryStore,
    NotText,
)

ODD: list[Any] = [b"s", 7, 0, ["s"], ("s",), {}, object()]


def actum(kind: str = "message") -> Actum:
    return Actum(chronicum_id="s", kind=kind, actor_kind="human", actor="ann", content="hello")


@pytest.fixture
def sessions() -> Chronicarius:
    found = Chronicarius(MemoryStore())
    found.record_actum("ann", actum())
    found.record_actum("ann", actum("thought"))
    return found


def test_a_plain_string_names_one_kind(sessions: Chronicarius) -> None:
    assert [found.kind for found in sessions.get_acta("ann", "s", actum_kinds="message")] == ["message"]
    assert len(sessions.get_acta("ann", "s", actor_kinds="human")) == 2
    assert sessions.get_acta("ann", "s", actum_kinds="mess") == []
    assert sessions.get_acta("ann", "s", actum_kinds="", actor_kinds="agent") == []
    assert len(sessions.get_acta("ann", "s", actum_kinds=iter(["message", "nonsense"]))) == 1


@pytest.mark.parametrize("odd", [b"message", [b"message"], [None], 7, None])
def test_kinds_that_are_no_text_are_refused(sessions: Chronicarius, odd: Any) -> None:
    with pytest.raises(NotText, match="actum_kinds"):
        sessions.get_acta("ann", "s", actum_kinds=odd)
    with pytest.raises(NotText, match="actor_kinds"):
        sessions.get_acta("ann", "s", actor_kinds=odd)


@pytest.mark.parametrize("odd", ODD)
def test_an_owner_and_an_id_that_are_no_text_are_refused(sessions: Chronicarius, odd: Any) -> None:
    with pytest.raises(NotText, match="owner_id is a value of type"):
        sessions.record_actum(odd, actum())
    for ask in (sessions.get_acta, sessions.get_chronicum):
        with pytest.raises(NotText, match="owner_id"):
            ask(odd, "s")
        with pytest.raises(NotText, match="chronicum_id"):
            ask("ann", odd)
    assert len(sessions.get_acta("ann", "s")) == 2


def test_nobody_is_no_owner(sessions: Chronicarius) -> None:
    nobody: Any = None
    with pytest.raises(EmptyOwnerID):
        sessions.get_chronicum(nobody, "s")
    with pytest.raises(NotText):
        sessions.get_chronicum("ann", nobody)
    with pytest.raises(EmptyOwnerID):
        sessions.record_actum("", actum("nonsense"))


@pytest.mark.parametrize("odd", ODD)
def test_a_key_that_is_no_text_is_refused_and_nothing_stored(odd: Any) -> None:
    sessions = Chronicarius(MemoryStore())
    with pytest.raises(NotText, match="idempotency_key"):
        sessions.record_actum("ann", actum(), idempotency_key=odd)
    with pytest.raises(ChronicumNotFound):
        sessions.get_chronicum("ann", "s")
    with pytest.raises(InvalidActum):
        sessions.record_actum("ann", actum("nonsense"), idempotency_key=odd)

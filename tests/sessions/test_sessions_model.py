"""What an actum accepts and refuses, in which order and with which words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import WorkbenchError
from workbench.sessions import (
    ActorKind,
    Actum,
    ActumKind,
    ChronicaError,
    ChronicumExists,
    ChronicumNotFound,
    EmptyOwnerID,
    IdempotencyUnsupported,
    InvalidActum,
)
from workbench.sessions.model import METADATA_MAX_DEPTH

PREFIX = "chronica: invalid actum: "


def actum(**fields: Any) -> Actum:
    """A valid message with some fields changed."""
    valid = {"chronicum_id": "s", "kind": "message", "actor_kind": "human", "actor": "ann", "content": "hi"}
    return Actum(**{**valid, **fields})


def refusal(**fields: Any) -> str:
    """Why such an actum is refused."""
    with pytest.raises(InvalidActum) as caught:
        actum(**fields).validate()
    message = str(caught.value)
    assert message.startswith(PREFIX)
    return message.removeprefix(PREFIX)


def nested(depth: int) -> dict[str, Any]:
    """An object with `depth` containers inside one another, objects and arrays in turn."""
    inner: Any = {}
    for level in range(depth - 1):
        inner = [inner] if level % 2 else {"in": inner}
    return {"in": inner} if isinstance(inner, list) else inner


def test_the_values_of_both_kinds() -> None:
    assert [*ActorKind] == ["human", "agent", "system"]
    assert [*ActumKind] == ["message", "thought", "tool_request", "tool_response"]


def test_rules_are_checked_in_their_order() -> None:
    broken: dict[str, Any] = {
        "chronicum_id": "",
        "actor": "",
        "kind": "telepathy",
        "actor_kind": "ghost",
        "content": "",
        "visibility": "hidden",
        "occurred_at": datetime(2024, 1, 1),
        "metadata": [],
    }
    cures: list[tuple[str, str, Any]] = [
        ("it names no session", "chronicum_id", "s"),
        ("it names no actor", "actor", "ann"),
        ("kind is unknown", "kind", "thought"),
        ("actor_kind is unknown", "actor_kind", "agent"),
        ("a thought needs content", "content", "hm"),
        ("visibility is unknown", "visibility", "private"),
        ("occurred_at has no time zone", "occurred_at", None),
        ("metadata is not a JSON object", "metadata", {}),
    ]
    for sentence, field, cure in cures:
        assert refusal(**broken).startswith(sentence)
        broken[field] = cure
    actum(**broken).validate()


@pytest.mark.parametrize("kind", ActumKind)
@pytest.mark.parametrize("actor_kind", ActorKind)
def test_every_kind_of_actor_may_do_every_kind_of_act(kind: ActumKind, actor_kind: ActorKind) -> None:
    actum(kind=kind, actor_kind=actor_kind).validate()


def test_plain_strings_become_the_kinds_they_name() -> None:
    plain = actum(kind="tool_request", actor_kind="system")
    assert plain.kind is ActumKind.TOOL_REQUEST
    assert plain.actor_kind is ActorKind.SYSTEM
    assert msgspec.structs.replace(plain, kind="thought").kind is ActumKind.THOUGHT


@pytest.mark.parametrize("kind", ["", "Message", " message", "human", None, 3, [], {}])
def test_unknown_kinds(kind: Any) -> None:
    assert refusal(kind=kind).endswith("it is one of message, thought, tool_request, tool_response")


@pytest.mark.parametrize("kind", ["", "Human", "human ", "message", None, 3, [], {}])
def test_unknown_actor_kinds(kind: Any) -> None:
    assert refusal(actor_kind=kind).endswith("it is one of human, agent, system")


def test_a_refusal_shows_hostile_text_harmlessly_and_short() -> None:
    reason = refusal(kind="\x1b]52;c;aGk=\x07[bold]\u202e" + "x" * 10_000)
    assert reason.isascii() and reason.isprintable()
    assert len(reason) < 200


@pytest.mark.parametrize("field", ["chronicum_id", "actor", "content"])
@pytest.mark.parametrize("value", [None, 7, b"bytes", ["text"]])
def test_text_that_is_not_text(field: str, value: Any) -> None:
    assert refusal(**{field: value}) == f"{field} is not text"


@pytest.mark.parametrize("value", ["", "Public", "secret", None, True, []])
def test_unknown_visibility(value: Any) -> None:
    assert refusal(visibility=value).endswith("it is one of public, private")


def test_visibility_is_public_unless_said() -> None:
    assert actum().visibility == "public"
    actum(visibility="private").validate()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("2024-01-01T00:00:00Z", "occurred_at is not a datetime"),
        (1_700_000_000, "occurred_at is not a datetime"),
        (datetime(2024, 1, 1), "occurred_at has no time zone, so it names no instant"),
        (
            datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
            "occurred_at lies outside the years 1 to 9999 in UTC",
        ),
    ],
)
def test_occurred_at_that_names_no_instant(value: Any, reason: str) -> None:
    assert refusal(occurred_at=value) == reason


@pytest.mark.parametrize("year", [1, 1969, 1970, 2100, 9999])
def test_occurred_at_of_any_year(year: int) -> None:
    actum(occurred_at=datetime(year, 6, 1, tzinfo=UTC)).validate()


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (None, "metadata is not a JSON object but a value of type NoneType"),
        ([], "metadata is not a JSON object but a value of type list"),
        ("{}", "metadata is not a JSON object but a value of type str"),
        ({1: "x"}, "metadata is not a JSON object: it has a key that is a value of type int, not text"),
        (
            {"in": [{None: 1}]},
            "metadata is not a JSON object: it has a key that is a value of type NoneType, not text",
        ),
        ({"in": {"x": b"b"}}, "metadata is not a JSON object: it holds a value of type bytes"),
        ({"in": [(1, 2)]}, "metadata is not a JSON object: it holds a value of type tuple"),
        (
            {"in": datetime(2024, 1, 1, tzinfo=UTC)},
            "metadata is not a JSON object: it holds a value of type datetime",
        ),
    ],
)
def test_metadata_that_is_no_json_object(metadata: Any, reason: str) -> None:
    assert refusal(metadata=metadata) == reason


def test_metadata_may_be_nested_to_its_limit_and_no_deeper() -> None:
    actum(metadata=nested(METADATA_MAX_DEPTH)).validate()
    reason = f"metadata is nested deeper than {METADATA_MAX_DEPTH} levels or contains itself"
    assert refusal(metadata=nested(METADATA_MAX_DEPTH + 1)) == reason
    assert refusal(metadata=nested(50_000)) == reason


def test_metadata_that_contains_itself_is_refused_at_once() -> None:
    itself: dict[str, Any] = {}
    itself.update(one=[itself, itself], two=[itself, itself])
    assert refusal(metadata=itself).endswith("or contains itself")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


@given(st.dictionaries(st.text(), json_values, max_size=5))
def test_any_json_object_is_metadata(metadata: dict[str, Any]) -> None:
    actum(metadata=metadata).validate()


@given(json_values.filter(lambda value: not isinstance(value, dict)))
def test_no_other_json_value_is_metadata(value: Any) -> None:
    assert refusal(metadata=value).startswith("metadata is not a JSON object but")


@given(st.text(min_size=1))
def test_any_text_is_content_as_it_stands(text: str) -> None:
    accepted = actum(content=text, actor=text, chronicum_id=text)
    accepted.validate()
    assert (accepted.content, accepted.actor, accepted.chronicum_id) == (text, text, text)


def test_values_are_immutable_and_do_not_share_their_defaults() -> None:
    first, second = actum(), actum()
    first.metadata["x"] = 1
    assert second.metadata == {}
    with pytest.raises(AttributeError):
        first.content = "changed"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("error", "text", "code"),
    [
        (ChronicumNotFound, "chronica: chronicum not found", "chronicum_not_found"),
        (ChronicumExists, "chronica: chronicum already exists", "chronicum_exists"),
        (InvalidActum, "chronica: invalid actum", "invalid_actum"),
        (EmptyOwnerID, "chronica: empty owner id", "empty_owner_id"),
        (IdempotencyUnsupported, "chronica: store does not support idempotency", "idempotency_unsupported"),
    ],
)
def test_errors_carry_text_code_and_hint(error: type[ChronicaError], text: str, code: str) -> None:
    raised = error()
    assert (str(raised), raised.message, raised.code) == (text, text, code)
    assert raised.hint
    assert isinstance(raised, ChronicaError) and isinstance(raised, WorkbenchError)
    assert str(error("longer", hint="advice")) == "longer"

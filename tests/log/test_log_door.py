"""The door: what is repaired, what is taken out, what is refused."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.log.log_cases import MEASURED, SAID, Measured, Said, found, new_log, said, stream
from tests.thorough import examples
from workbench.log import EventType, Payload
from workbench.log.door import MAX_DEPTH, PROBED_BYTES, Door
from workbench.log.errors import InvalidIdentifier, InvalidPayload, SecretInIdentifier
from workbench.log.ports import JsonValue, PassThrough, Redactor, Removal
from workbench.storage import fetch

DOOR = Door(PassThrough())
SECRET = "hush-7F3K"


class Hush(Redactor):
    """Takes `hush-…` words out, in values and in keys' values, however deep."""

    @property
    def version(self) -> str:
        return "hush-1"

    def may_change(self, encoded: bytes) -> bool:
        return b"hush-" in encoded

    def redact_text(self, text: str) -> tuple[str, dict[str, int]]:
        clean, count = re.subn(r"hush-\w+", "[REDACTED:hush]", text)
        return clean, {"hush": count} if count else {}

    def redact_value(self, value: JsonValue) -> tuple[JsonValue, list[Removal]]:
        found: list[Removal] = []

        def walk(node: JsonValue, path: tuple[str, ...]) -> JsonValue:
            if isinstance(node, str):
                clean, kinds = self.redact_text(node)
                found.extend(Removal(".".join(path), kind, count) for kind, count in kinds.items())
                return clean
            if isinstance(node, dict):
                return {key: walk(item, (*path, key)) for key, item in node.items()}
            if isinstance(node, list):
                return [walk(item, (*path, str(n))) for n, item in enumerate(node)]
            return node

        clean = walk(value, ())
        return (clean, found) if found else (value, [])


HUSH = Door(Hush())


def row(payload: Payload, event_type: EventType = MEASURED, door: Door = DOOR) -> Any:
    return json.loads(door.admit(event_type, payload).encoded)


# -- encoding -------------------------------------------------------------------------------------


def test_a_row_has_sorted_keys_no_blanks_and_the_text_as_given() -> None:
    admitted = DOOR.admit(
        SAID,
        Said(
            who="z",
            text='é e\u0301 \u2028 " \\ \n',
            extra={"b": {"z": 1, "Z": 2, "é": 3}, "a": [1.0, 1, -0.0]},
        ),
    )
    assert admitted.encoded == (
        '{"extra":{"a":[1.0,1,-0.0],"b":{"Z":2,"z":1,"é":3}},"text":"é e\u0301 \u2028 \\" \\\\ \\n","who":"z"}'
    )
    assert (admitted.repaired, admitted.removals) == (0, ())


def test_what_is_not_set_is_not_written() -> None:
    assert DOOR.admit(MEASURED, Measured(label="m")).encoded == '{"label":"m"}'


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abéŻ\0", max_size=3), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=examples(300), deadline=None)
@given(value=_json)
def test_every_json_value_comes_back_as_it_was(value: Any) -> None:
    admitted = DOOR.admit(MEASURED, Measured(label="m", value=value))
    decoded = json.loads(admitted.encoded)["value"]
    assert decoded == value
    assert admitted.repaired == 0
    assert admitted.payload == Measured(label="m", value=value)
    assert admitted.encoded == json.dumps(
        {"label": "m", "value": value}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ) or isinstance(value, float | list | dict)


@settings(max_examples=examples(300), deadline=None)
@given(
    value=st.recursive(
        st.floats() | st.text(st.characters()) | st.integers(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(st.characters(), max_size=3), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_whatever_comes_what_is_stored_is_plain_json(value: Any) -> None:
    admitted = DOOR.admit(MEASURED, Measured(label="m", value=value))
    admitted.encoded.encode()  # no lone surrogate is left

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    decoded = json.loads(admitted.encoded, parse_constant=refuse)
    again = DOOR.admit(MEASURED, Measured(label="m", value=decoded["value"]))
    assert (again.encoded, again.repaired) == (admitted.encoded, 0)


# -- repairs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "stored", "count"),
    [
        ("a\ud800b", "a\ufffdb", 1),
        ("\udfff\ud800", "\ufffd\ufffd", 2),
        ("\U0001f600", "\U0001f600", 0),
        ({"k\udc80": "v"}, {"k\ufffd": "v"}, 1),
        (
            dict(zip(("\ud800", "\ud801", "\ufffd"), (1, 2, 3), strict=True)),
            {"\ufffd" * 2: 1, "\ufffd" * 3: 2, "\ufffd": 3},
            2,
        ),
        ([["x", {"y": "\udead"}]], [["x", {"y": "\ufffd"}]], 1),
        (math.nan, "NaN", 1),
        ([math.inf, -math.inf, 1.5], ["Infinity", "-Infinity", 1.5], 2),
        ((math.nan, "\ud800"), ["NaN", "\ufffd"], 2),
        ({"deep": [{"er": (math.inf,)}]}, {"deep": [{"er": ["Infinity"]}]}, 1),
        (10**400, "1" + "0" * 400, 1),
        ({"n": -(10**400)}, {"n": "-1" + "0" * 400}, 1),
        (10**5000, hex(10**5000), 1),
        (10**308, 10**308, 0),
        (2**64, 2**64, 0),
        (-(2**63) - 1, -(2**63) - 1, 0),
        (True, True, 0),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_json_cannot_hold_becomes_text_and_is_counted(value: Any, stored: Any, count: int) -> None:
    admitted = DOOR.admit(MEASURED, Measured(label="m", value=value))
    assert json.loads(admitted.encoded)["value"] == stored
    assert admitted.repaired == count
    assert msgspec.json.decode(admitted.encoded)["value"] == stored


def test_a_receipt_counts_repairs_over_the_batch(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db") as log:
        receipt = log.append(
            stream("a"),
            [said("a\ud800"), said("fine"), Measured(label="m", value=[math.nan, "\ud801\ud802"])],
        )
        assert receipt.repaired == 4
        assert receipt.payloads[0] == said("a\ufffd")
        assert [event.payload.get("text") for event in log.read()] == ["a\ufffd", "fine", None]


def test_an_identifier_is_refused_not_repaired() -> None:
    with pytest.raises(InvalidIdentifier) as caught:
        DOOR.admit(SAID, Said(who="a\ud800", text="x"))
    assert "who" in caught.value.message
    caught.value.message.encode()
    with pytest.raises(InvalidIdentifier):
        DOOR.admit(MEASURED, Measured(label="\udfff", value=math.nan))


# -- depth and size -------------------------------------------------------------------------------


def nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    value: Any = wrap(1)
    for _ in range(depth - 1):
        value = wrap(value)
    return value


@pytest.mark.parametrize(
    "wrap", [lambda v: [v], lambda v: {"k": v}, lambda v: (v,)], ids=["list", "object", "tuple"]
)
def test_depth_is_limited(wrap: Callable[[Any], Any]) -> None:
    DOOR.admit(MEASURED, Measured(label="m", value=nested(MAX_DEPTH, wrap)))
    for depth in (MAX_DEPTH + 1, 5_000):
        with pytest.raises(InvalidPayload, match="nested"):
            DOOR.admit(MEASURED, Measured(label="m", value=nested(depth, wrap)))


def test_a_value_that_contains_itself_is_refused_at_once() -> None:
    loop: list[Any] = []
    loop.extend([loop, loop, loop])
    ring: dict[str, Any] = {}
    ring["a"] = {"b": [ring, ring]}
    for value in (loop, ring):
        with pytest.raises(InvalidPayload, match="nested"):
            DOOR.admit(MEASURED, Measured(label="m", value=value))


def test_a_depth_that_is_stored_can_be_read_and_shown(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db") as log:
        log.append(stream("a"), [Measured(label="m", value=nested(MAX_DEPTH, lambda v: [v]))])
        (event,) = log.read()
        assert event.payload["value"] == nested(MAX_DEPTH, lambda v: [v])
        with log.reader() as connection:
            # SQLite's own JSON functions read it too.
            assert fetch.value(connection, "SELECT json_extract(payload, '$.label') FROM events") == "m"


@pytest.mark.parametrize(
    "value",
    [object(), {"a": object()}, [len], {1: 2, (1, 2): 3}, 1j],
    ids=["object", "object inside", "function", "key", "complex"],
)
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidPayload):
        DOOR.admit(MEASURED, Measured(label="m", value=value))


def test_what_is_admitted_is_a_copy() -> None:
    value = {"a": [1]}
    admitted = DOOR.admit(MEASURED, Measured(label="m", value=value))
    value["a"].append(2)
    assert admitted.payload == Measured(label="m", value={"a": [1]})


def test_what_folds_see_is_what_readers_will_decode() -> None:
    admitted = DOOR.admit(MEASURED, Measured(label="m", value={"1": (2, 3)}))
    assert admitted.payload == Measured(label="m", value={"1": [2, 3]})


# -- secrets --------------------------------------------------------------------------------------


def test_secrets_leave_receipts_in_the_payload() -> None:
    admitted = HUSH.admit(
        SAID, Said(who="ann", text=f"use {SECRET} or {SECRET}", extra={"env": ["x", {"KEY": SECRET}]})
    )
    assert SECRET not in admitted.encoded
    assert json.loads(admitted.encoded) == {
        "who": "ann",
        "text": "use [REDACTED:hush] or [REDACTED:hush]",
        "extra": {"env": ["x", {"KEY": "[REDACTED:hush]"}]},
        "redactions": [
            {"kind": "hush", "count": 1, "field": "extra.env.1.KEY", "filter_version": "hush-1"},
            {"kind": "hush", "count": 2, "field": "text", "filter_version": "hush-1"},
        ],
    } or [r.field for r in admitted.removals] == ["text", "extra.env.1.KEY"]
    assert sum(r.count for r in admitted.removals) == 3
    payload = admitted.payload
    assert isinstance(payload, Said)
    assert payload.redactions == list(admitted.removals)


def test_a_filtered_payload_keeps_its_receipts_when_it_passes_again() -> None:
    once = HUSH.admit(SAID, Said(who="ann", text=SECRET))
    twice = HUSH.admit(SAID, once.payload)
    assert twice.encoded == once.encoded
    assert twice.removals == ()
    more = HUSH.admit(SAID, msgspec.structs.replace(once.payload, text="hush-again"))
    assert len(json.loads(more.encoded)["redactions"]) == 2
    assert len(more.removals) == 1


def test_a_secret_in_an_identifier_is_refused_and_not_repeated(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db", redactor=Hush()) as log:
        with pytest.raises(SecretInIdentifier) as caught:
            log.append(stream("a"), [said("first"), said("x", who=SECRET)])
        error: BaseException | None = caught.value
        while error is not None:
            assert SECRET not in str(error) + repr(error)
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        assert "who" in caught.value.message
        assert log.last_position() == 0


def test_a_secret_reaches_neither_the_file_nor_full_text(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with new_log(path, redactor=Hush()) as log:
        receipt = log.append(stream("a"), [said(f"token {SECRET} here")])
        assert [r.kind for r in receipt.removals] == ["hush"]
        assert found(log, "token") == [1]
        assert found(log, "7F3K") == []
        for file in tmp_path.iterdir():
            assert SECRET.encode() not in file.read_bytes()
            assert b"7f3k" not in file.read_bytes()


def test_a_repaired_secret_is_still_a_secret() -> None:
    admitted = HUSH.admit(SAID, Said(who="ann", text=f"\ud800{SECRET}"))
    assert SECRET not in admitted.encoded
    assert admitted.repaired == 1


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    sizes=st.lists(st.sampled_from([1, 100, PROBED_BYTES // 3, PROBED_BYTES + 1]), max_size=9),
    secrets=st.sets(st.integers(0, 8)),
)
def test_a_batch_is_admitted_as_each_of_it_would_be(sizes: list[int], secrets: set[int]) -> None:
    batch: list[tuple[EventType, Payload]] = [
        (SAID, Said(who="ann", text="x" * size + (f" {SECRET}" if number in secrets else "")))
        for number, size in enumerate(sizes)
    ]
    together = HUSH.admit_all(batch)
    assert together == [HUSH.admit(event_type, payload) for event_type, payload in batch]
    taken = {number for number, admitted in enumerate(together) if admitted.removals}
    assert taken == {number for number in secrets if number < len(sizes)}


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(max_size=30), value=_json)
def test_clean_payloads_pass_the_filter_unchanged(text: str, value: Any) -> None:
    payload = Measured(label="m", value=[text, value])
    assert HUSH.admit(MEASURED, payload) == DOOR.admit(MEASURED, payload)

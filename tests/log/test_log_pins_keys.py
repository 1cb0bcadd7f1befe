"""Canonical JSON and the keys that are made of it, against vectors and against what must never come out."""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from enum import IntEnum, StrEnum
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.log.door import MAX_DEPTH
from workbench.log.pins.canonical import canonical_json, concrete_json, sha256_hex
from workbench.log.pins.errors import NotCanonical, NotJson
from workbench.log.pins.keys import pin_key

VECTORS = json.loads((Path(__file__).parent / "pin_vectors.json").read_text("utf-8"))

COMPOSED, DECOMPOSED = "\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"


class Colour(StrEnum):
    RED = "red"


class Count(IntEnum):
    TWO = 2


@pytest.mark.parametrize("case", VECTORS["canonical_json"])
def test_a_value_has_the_text_and_the_hash_of_the_vectors(case: dict[str, Any]) -> None:
    assert canonical_json(case["input"]) == case["text"]
    assert sha256_hex(case["input"]) == case["sha256"]


@pytest.mark.parametrize("case", VECTORS["pin_key"])
def test_a_key_is_that_of_the_vectors(case: dict[str, Any]) -> None:
    assert pin_key(case["kind"], case["material"], scheme=case["scheme"]) == case["key"]


REFUSED: dict[str, object] = {
    "nan": math.nan,
    "inf": math.inf,
    "bytes": b"x",
    "set": {1},
    "int key": {1: 2},
    "two keys equal after NFC": {COMPOSED: 1, DECOMPOSED: 2},
}


@pytest.mark.parametrize("case", VECTORS["canonical_json_refused"], ids=lambda case: case[0])
def test_what_the_vectors_say_is_refused_is_refused_as_they_say(case: tuple[str, str]) -> None:
    what, error = case
    with pytest.raises({"TypeError": TypeError, "ValueError": ValueError}[error]):
        canonical_json(REFUSED[what])


def test_all_vectors_are_here() -> None:
    assert {name: len(cases) for name, cases in VECTORS.items()} == {
        "canonical_json": 22,
        "canonical_json_refused": 6,
        "pin_key": 6,
    }


def test_invariant_1_keys_are_sorted_by_code_point() -> None:
    assert canonical_json({"b": 1, "a": 2}) == '{"a":2,"b":1}'
    assert canonical_json({COMPOSED: 1, "z": 1, "a": 1, "B": 1}) == f'{{"B":1,"a":1,"z":1,"{COMPOSED}":1}}'


def test_invariant_2_the_composition_of_letters_changes_no_key() -> None:
    assert canonical_json({DECOMPOSED: [DECOMPOSED]}) == canonical_json({COMPOSED: [COMPOSED]})
    assert pin_key("k", {"a": DECOMPOSED}) == pin_key("k", {"a": COMPOSED})


def test_invariant_3_two_keys_that_are_one_in_nfc_are_refused() -> None:
    with pytest.raises(ValueError, match="one after normalisation"):
        canonical_json({COMPOSED: 1, DECOMPOSED: 2})


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_invariant_4_numbers_that_are_not_finite_are_refused(number: float) -> None:
    for write in (canonical_json, concrete_json):
        with pytest.raises(ValueError, match="not finite"):
            write({"deep": [number]})


@pytest.mark.parametrize(
    "value",
    [{1: 2}, b"x", bytearray(b"x"), memoryview(b"x"), {1}, frozenset(), datetime(2031, 1, 1), object(), 1j],
)
def test_invariant_5_what_json_has_no_form_for_is_refused(value: object) -> None:
    for write in (canonical_json, concrete_json):
        with pytest.raises(TypeError) as caught:
            write([value])
        assert isinstance(caught.value, NotJson)
        assert caught.value.code == "not_json"


def test_invariant_6_numbers_of_another_type_make_another_key_and_true_is_no_number() -> None:
    assert pin_key("k", {"a": 1}) != pin_key("k", {"a": 1.0})
    assert canonical_json([True, False, None, 1, 0]) == "[true,false,null,1,0]"


def test_invariant_7_a_tuple_is_a_list() -> None:
    assert canonical_json((1, 2)) == "[1,2]"
    assert canonical_json(range(3)) == "[0,1,2]"
    assert concrete_json({"a": (1, (2,))}) == {"a": [1, [2]]}


def test_invariant_8_the_hash_of_an_empty_object() -> None:
    assert sha256_hex({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_invariant_9_another_scheme_is_another_key_of_the_same_hash() -> None:
    first, second = pin_key("k", {"a": 1}), pin_key("k", {"a": 1}, scheme=2)
    assert first.startswith("p1:k:")
    assert second == f"p2:{first.removeprefix('p1:')}"


def test_invariant_10_another_kind_is_another_key_of_the_same_hash() -> None:
    model, tool = pin_key("model_call", {"a": 1}), pin_key("tool_call", {"a": 1})
    assert model != tool
    assert model.rpartition(":")[2] == tool.rpartition(":")[2]


def test_subclasses_count_as_what_they_are_underneath() -> None:
    value = OrderedDict({"b": Colour.RED, Colour.RED: Count.TWO})
    assert canonical_json(value) == '{"b":"red","red":2}'
    concrete = concrete_json(value)
    assert concrete == {"b": "red", "red": 2}
    assert [type(item) for item in (concrete, *concrete, *concrete.values())] == [dict, str, str, str, int]
    assert canonical_json(MappingProxyType({"a": 1})) == '{"a":1}'
    with pytest.raises(NotJson):
        concrete_json(MappingProxyType({"a": 1}))


def test_a_lone_surrogate_fails_when_it_is_hashed() -> None:
    assert canonical_json("\ud800") == '"\ud800"'
    with pytest.raises(UnicodeEncodeError):
        sha256_hex("\ud800")


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("write", [canonical_json, concrete_json])
def test_endless_nesting_ends(write: Callable[[object], object]) -> None:
    itself: list[object] = []
    itself.append(itself)
    for value in (itself, nested(MAX_DEPTH + 1), {"a": nested(MAX_DEPTH)}, nested(100_000)):
        with pytest.raises(NotCanonical, match="levels deep"):
            write(value)
    write(nested(MAX_DEPTH))


def test_whole_numbers_that_nothing_reads_back_are_refused() -> None:
    with pytest.raises(NotCanonical):
        canonical_json({"n": 10**5000})
    with pytest.raises(NotCanonical):
        concrete_json([-(10**309)])
    assert concrete_json([10**308, 2**70]) == [10**308, 2**70]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


def nfc(value: Any) -> Any:
    if isinstance(value, str):
        return normalize("NFC", value)
    if isinstance(value, list):
        return [nfc(item) for item in value]
    if isinstance(value, dict):
        return {nfc(key): nfc(item) for key, item in value.items()}
    return value


@settings(max_examples=examples(200))
@given(JSON)
def test_the_text_is_read_back_as_the_value_in_nfc_and_written_again_the_same(value: Any) -> None:
    try:
        written = canonical_json(value)
    except NotCanonical:
        return
    read = json.loads(written)
    assert read == nfc(value)
    assert repr(nfc(value)).count("-0.0") == repr(read).count("-0.0")
    assert canonical_json(read) == written
    assert written == normalize("NFC", written)
    assert sha256_hex(value) == sha256(written.encode()).hexdigest()


@settings(max_examples=examples(100))
@given(st.dictionaries(TEXT, JSON, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_no_key(material: dict[str, Any], random: Any) -> None:
    items = list(material.items())
    random.shuffle(items)
    try:
        key = pin_key("k", dict(items))
    except NotCanonical:
        with pytest.raises(NotCanonical):
            pin_key("k", material)
        return
    assert pin_key("k", material) == key


@settings(max_examples=examples(100))
@given(JSON)
def test_a_concrete_value_is_the_value(value: Any) -> None:
    try:
        assert concrete_json(value) == value
    except NotCanonical:
        assert any(abs(number) > 1e308 for number in _whole(value))


def _whole(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [n for item in value.values() for n in _whole(item)]
    if isinstance(value, list):
        return [n for item in value for n in _whole(item)]
    return [value] if isinstance(value, int) else []

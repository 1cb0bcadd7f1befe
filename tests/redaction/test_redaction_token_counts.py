"""Counts of tokens make no look at a record a long one, and hide nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.redaction import default_filter
from workbench.redaction.token_counts import without_token_counts


def encoded(value: Any) -> bytes:
    """`value` as the log writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


USAGE = {"input_tokens": 12, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 907, "speed": "x"}


def test_a_record_with_its_usage_is_nothing_to_look_at() -> None:
    assert not default_filter().may_change(encoded({"content": "All done.", "metadata": {"usage": USAGE}}))


def test_only_the_names_of_numbers_go() -> None:
    assert without_token_counts(encoded({"usage": USAGE})) == (b'{"usage":{"":12,"":0,"":907,"speed":"x"}}')


@pytest.mark.parametrize(
    "value",
    [
        {"input_tokens": "12"},
        {"input_tokens": [1]},
        {"input_tokens": 1.5},
        {"input_tokens": 1234567890123456},
        {"my_input_tokens": 12},
        {"tokens": 12},
        {"access_token": 12},
        {"text": '{"input_tokens":12}'},
        {'{"input_tokens': 12},
        {"a": ',"input_tokens', "b": ":12,"},
        "_tokens",
        ["_token", "input_tokens", 12],
    ],
)
def test_anything_else_stays(value: Any) -> None:
    assert without_token_counts(encoded(value)) == encoded(value)


@pytest.mark.parametrize(
    "text", [b"", b'"input_tokens":1', b'{"input_tokens":', b'{"input_tokens":1', b'{"input_tokens":12x']
)
def test_what_is_no_whole_member_stays(text: bytes) -> None:
    assert without_token_counts(text) == text


words = st.sampled_from(
    ["input_tokens", "output_tokens", "token", "password", "text", 'a","input_tokens', '{"total_tokens":', ""]
)
secrets = st.sampled_from(
    [
        "Zk4-9qLx" * 3,
        "password=" + "q7Rt2" * 4,
        '{"token":"' + "Vb8xP3" * 4 + '","input_tokens":4}',
        "AKIA" + "Q7ZT3MNP" * 2,
        "nothing",
    ]
)
trees = st.recursive(
    st.one_of(st.integers(0, 10**17), secrets, words),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(words, inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=examples(400), deadline=None)
@given(trees)
@example({"input_tokens": 12, "token": "Zk4-9qLx" * 3})
def test_whatever_changes_is_looked_at(value: Any) -> None:
    if default_filter().redact_value(value)[1]:
        assert default_filter().may_change(encoded(value))


def test_it_reads_in_one_pass() -> None:
    hostile = b'{"input_tokens":1,"' * 400_000
    assert without_token_counts(hostile).count(b"tokens") == 0

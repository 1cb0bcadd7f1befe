"""The filter over texts and JSON values: what goes, what stays, and that twice is once."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.log.ports import Redactor, Removal
from workbench.redaction import SecretFilter, default_filter, redact
from workbench.redaction.rules import load_rules
from workbench.redaction.shapes import fill
from workbench.redaction.tree import DEEPEST_FIELD

KEY = fill("sk-proj-{alnum:48}", 1)
TOKEN = fill("ghp_{alnum:36}", 2)

SHAPES = [shape for rule in load_rules() for shape in rule.positive if len(fill(shape)) < 800]
NEGATIVES = [text for rule in load_rules() for text in rule.negative]

secrets = st.builds(fill, st.sampled_from(SHAPES), st.integers(0, 5))
glue = st.one_of(
    st.sampled_from(
        [
            "",
            " ",
            "\n",
            "\r\n",
            "\t",
            '"',
            "\\",
            "\\n",
            "_",
            "-",
            ".",
            "=",
            "/",
            "é",
            "ключ",
            "密",
            "😀",
            "a",
            "7",
        ]
    ),
    st.text(max_size=12),
)
cuts = st.builds(
    lambda text, start, end: text[start : len(text) - end], secrets, st.integers(0, 12), st.integers(0, 12)
)
texts = st.lists(st.one_of(secrets, cuts, glue, st.sampled_from(NEGATIVES)), max_size=8).map("".join)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)

UNCHANGED = [
    "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
    "sha256:" + "0123456789abcdef" * 4,
    "id 3f2b8c1e-1111-4222-8333-abcdefabcdef",
    "sk-learn-something",
    "pip install sk-learn-contrib-extra-trees-2024",
    "risk-assessment-for-the-third-quarter",
    "disk-usage-report-2024-01-31.csv",
    "src/workbench/redaction/hf_hub_download_with_retries.py",
    "SHA256:" + fill("{base64:43}", 3),
    "data:image/png;base64," + fill("{base64:4000}", 4),
    "<img src='data:image/webp;base64," + fill("{url:4000}", 5) + "'>",
    '"integrity": "sha512-' + fill("{base64:86}", 6) + '=="',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + fill("{base64:42}", 7) + " me@host",
    "max_tokens=4000 token_count: 12345678",
    "[REDACTED:openai_key] and [REDACTED:jwt]",
    "2024-01-31T12:00:00.000Z 12345678:90",
]


@pytest.mark.parametrize("text", UNCHANGED, ids=lambda text: text[:24])
def test_look_alikes_stay(text: str) -> None:
    assert redact(text) == (text, {})
    assert not default_filter().redact_value({"content": [text]})[1]


def test_it_is_a_redactor() -> None:
    door: Redactor = default_filter()
    assert default_filter() is default_filter()
    assert door.version == SecretFilter().version


def test_clean_text_is_returned_itself() -> None:
    text = "nothing of note, sk-learn aside"
    assert redact(text).text is text


def test_two_kinds_in_one_text() -> None:
    result = redact(f"{KEY} then {TOKEN}, {TOKEN}")
    assert result.text == "[REDACTED:openai_key] then [REDACTED:github_token], [REDACTED:github_token]"
    assert result.counts == {"openai_key": 1, "github_token": 2}


def test_text_outside_latin_is_kept_to_the_byte() -> None:
    before, after = "Ключ «\u0301e\u2028😀", "»\x00 конец 密钥\ud800"
    assert redact(before + KEY + after).text == before + "[REDACTED:openai_key]" + after


def test_a_token_longer_than_its_kind_is_cut_and_the_rest_judged_as_after_a_marker() -> None:
    text = "hf_" + fill("{alnum:512}", 1) + TOKEN
    result = redact(text)
    assert result.text == "[REDACTED:huggingface_token][REDACTED:github_token]"
    assert redact(result.text) == (result.text, {})


def test_a_bot_address_loses_its_token_only() -> None:
    text = f"https://api.telegram.org/bot{fill('{digit:9}:AA{alnum:33}', 3)}/getMe"
    assert redact(text).text == "https://api.telegram.org/bot[REDACTED:telegram_bot_token]/getMe"


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        ("{digit:9}:AA{alnum:33}", "telegram_bot_token"),
        ("hf_{alnum:34}", "huggingface_token"),
        ("xai-{alnum:48}", "xai_key"),
    ],
)
@pytest.mark.parametrize("words", [5, 200])
def test_a_token_at_the_end_of_a_slug_is_found(shape: str, kind: str, words: int) -> None:
    slug = "sk-learn-" + "words-" * words
    result = redact(f"{slug}{fill(shape, 1)} {slug}")
    # A key of the family that the slug looks like may begin anywhere in the words before it.
    assert result.text.endswith(f"[REDACTED:{kind}] {slug}") or result.counts == {"openai_key": 1}
    assert fill(shape, 1)[-20:] not in result.text


def test_a_token_that_ends_at_another_is_judged_the_same_twice() -> None:
    text = fill("AKIA{updigit:16}") + fill("{digit:9}:AA{alnum:33}")
    first = redact(text)
    assert redact(first.text) == (first.text, {})


def test_parts_above_the_limit_are_no_token_but_hide_none_behind_them() -> None:
    long = fill("eyJ{alnum:70000}", 1)
    token = fill("eyJ{alnum:20}.eyJ{alnum:40}.{alnum:43}", 2)
    assert redact(f"{long}.{long}.{long}").counts == {}
    assert redact(f"{long}.{token}").text == f"{long}.[REDACTED:jwt]"
    glued = f"{long}-{token}"
    assert redact(glued).text == f"{long}-[REDACTED:jwt]"


def test_a_private_key_keeps_the_number_of_lines_and_what_stands_around() -> None:
    body = "\n".join(fill("{base64:64}", seed) for seed in range(5))
    text = f"before\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nafter the key"
    result = redact(text)
    assert result.text == "before\n[REDACTED:private_key]" + "\n" * 6 + "\nafter the key"
    assert result.text.count("\n") == text.count("\n")


def test_what_follows_a_cut_private_key_stays() -> None:
    text = f"-----BEGIN PRIVATE KEY-----\n{fill('{base64:64}')}\npassword is what the next paragraph is about"
    assert redact(text).text == "[REDACTED:private_key]\n\npassword is what the next paragraph is about"


@settings(max_examples=examples(400), deadline=None)
@given(texts)
def test_twice_is_once_and_lines_stay(text: str) -> None:
    first = redact(text)
    assert redact(first.text) == (first.text, {})
    assert first.text.count("\n") == text.count("\n")
    if not first.counts:
        assert first.text == text
    for kind, count in first.counts.items():
        assert first.text.count(f"[REDACTED:{kind}]") >= count


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=40), secrets, st.text(max_size=40))
def test_a_secret_between_any_two_texts_is_gone(before: str, secret: str, after: str) -> None:
    result = redact(f"{before} {secret} {after}").text
    assert secret not in result
    assert result.startswith(f"{before} [") and result.endswith(f" {after}")


@settings(max_examples=examples(300), deadline=None)
@given(values)
def test_the_quick_test_never_misses_and_structure_stays(value: Any) -> None:
    door = default_filter()
    before = json.dumps(value)
    result, removals = door.redact_value(value)
    assert json.dumps(value) == before
    if removals:
        for ascii_only in (True, False):
            encoded = json.dumps(value, ensure_ascii=ascii_only, sort_keys=True, separators=(",", ":"))
            assert door.may_change(encoded.encode("utf-8", "surrogatepass"))
        fields = [(removal.field, removal.kind) for removal in removals]
        assert fields == sorted(set(fields))
        assert _outline(result) == _outline(value)
    else:
        assert result is value
    again, more = door.redact_value(result)
    assert more == [] and again is result


def _outline(value: Any) -> Any:
    if isinstance(value, dict):
        return ["mapping", *map(_outline, value.values())]
    if isinstance(value, list):
        return ["list", *map(_outline, value)]
    return "text" if isinstance(value, str) else value


def test_fields_are_named_by_their_path() -> None:
    value = {
        "content": f"use {KEY}",
        "metadata": {"input": [f"{TOKEN} {TOKEN} {KEY}", 3, None, {"deep": TOKEN}]},
        "kind": "message",
    }
    result, removals = default_filter().redact_value(value)
    assert result == {
        "content": "use [REDACTED:openai_key]",
        "metadata": {
            "input": [
                "[REDACTED:github_token] [REDACTED:github_token] [REDACTED:openai_key]",
                3,
                None,
                {"deep": "[REDACTED:github_token]"},
            ]
        },
        "kind": "message",
    }
    assert list(result) == list(value)
    assert removals == [
        Removal("content", "openai_key", 1),
        Removal("metadata.input.0", "github_token", 2),
        Removal("metadata.input.0", "openai_key", 1),
        Removal("metadata.input.3.deep", "github_token", 1),
    ]


def test_keys_are_filtered_and_none_is_lost() -> None:
    other = fill("sk-{alnum:48}", 9)
    result, removals = default_filter().redact_value(
        {"env": {KEY: 1, other: 2, "[REDACTED:openai_key] (2)": 3}}
    )
    assert result == {
        "env": {"[REDACTED:openai_key]": 1, "[REDACTED:openai_key] (3)": 2, "[REDACTED:openai_key] (2)": 3}
    }
    assert removals == [Removal("env.(key)", "openai_key", 2)]


def test_a_removed_key_does_not_name_the_field_below_it() -> None:
    _, removals = default_filter().redact_value({KEY: {"x": TOKEN}})
    assert removals == [
        Removal("(key)", "openai_key", 1),
        Removal("[REDACTED:openai_key].x", "github_token", 1),
    ]


def test_a_bare_text_and_a_bare_number() -> None:
    assert default_filter().redact_value(KEY) == (
        "[REDACTED:openai_key]",
        [Removal("", "openai_key", 1)],
    )
    assert default_filter().redact_value(3.5) == (3.5, [])


def test_a_tuple_counts_as_a_list() -> None:
    assert default_filter().redact_value({"a": (KEY, 1)})[0] == {"a": ["[REDACTED:openai_key]", 1]}


def test_nesting_of_any_depth_is_walked() -> None:
    value: Any = KEY
    for _ in range(50_000):
        value = [value]
    result, removals = default_filter().redact_value(value)
    for _ in range(50_000):
        (result,) = result
    assert result == "[REDACTED:openai_key]"
    assert removals == [Removal(".".join(["0"] * DEEPEST_FIELD) + ".…", "openai_key", 1)]


def test_secrets_at_every_depth_are_counted_without_writing_every_path() -> None:
    value: Any = []
    for _ in range(2_000):
        value = [TOKEN, value]
    _, removals = default_filter().redact_value(value)
    assert sum(removal.count for removal in removals) == 2_000
    assert len(removals) == DEEPEST_FIELD + 1


def test_json_in_a_text_stays_json() -> None:
    inner = json.dumps({"key": KEY, "note": "line\n" + TOKEN})
    result, _ = default_filter().redact_value({"raw": inner})
    assert json.loads(result["raw"])["key"] == "[REDACTED:openai_key]"


def test_threads_share_one_filter() -> None:
    door = SecretFilter()
    texts_of = [f"{index} {fill('ghp_{alnum:36}', index)} x" for index in range(200)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(door.redact_text, texts_of))
    assert results == [(f"{index} [REDACTED:github_token] x", {"github_token": 1}) for index in range(200)]


def test_importing_loads_neither_the_engine_nor_the_rules() -> None:
    code = (
        "import sys, workbench.redaction as r\n"
        "early = {'re2', 'tomllib', 'importlib.resources'} & set(sys.modules)\n"
        "r.default_filter()\n"
        "assert not early and 're2' not in sys.modules, early\n"
        "r.redact('x')\n"
        "assert 're2' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

"""Tokens with something unseen inside them, written in escapes, or wrapped: what a person reads is removed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.redaction.pace import fastest
from workbench.redaction import default_filter, redact
from workbench.redaction.interrupted import view
from workbench.redaction.shapes import fill

TOKENS = [
    fill(shape, 7)
    for shape in ("ghp_{alnum:36}", "sk-ant-api03-{alnum:93}", "AKIA{updigit:16}", "hf_{alnum:34}")
]
INSIDE = [
    "\x1b[01;31m\x1b[K",
    "\x1b[m\x1b[K",
    "\x1b]8;;\x07",
    "[01;31m[K",
    "\\u001b[0m",
    "\\x1b[31m",
    "\u200b",
    "\u00ad",
    "\ufeff",
    "\u2060",
    "\x00",
    "\u2028",
    "\x85",
    "&#8203;",
    "\n",
    "\r\n",
]


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: str(token)[:4])
@pytest.mark.parametrize("inside", INSIDE, ids=repr)
def test_what_stands_inside_a_token_hides_nothing(token: str, inside: str) -> None:
    middle = len(token) // 2
    text = f"see {token[:middle]}{inside}{token[middle:]} end"
    clean, counts = redact(text)
    assert clean.startswith("see [REDACTED:")
    assert clean.endswith(" end")
    assert token[middle:] not in clean
    assert token[:middle] not in clean
    assert sum(counts.values()) == 1
    assert clean.count("\n") == text.count("\n")
    assert redact(clean) == (clean, {})
    for ascii_only in (True, False):
        assert default_filter().may_change(json.dumps(text, ensure_ascii=ascii_only).encode())
    assert default_filter().redact_value({"a": [text]})[0] == {"a": [clean]}


WRITTEN = {
    "full width": lambda code: chr(code + 0xFEE0),
    "percent": lambda code: f"%{code:02X}",
    "hexadecimal": lambda code: f"\\x{code:02x}",
    "unit": lambda code: f"\\u{code:04x}",
    "entity": lambda code: f"&#{code};",
    "entity in base 16": lambda code: f"&#x{code:x};",
}


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: str(token)[:4])
@pytest.mark.parametrize("form", WRITTEN)
def test_a_token_written_letter_by_letter_in_escapes_is_removed(token: str, form: str) -> None:
    text = f"a {''.join(WRITTEN[form](ord(character)) for character in token)} b"
    clean, counts = redact(text)
    assert clean.startswith("a [REDACTED:")
    assert clean.endswith("] b")
    assert sum(counts.values()) == 1
    assert redact(clean) == (clean, {})
    assert default_filter().may_change(json.dumps(text).encode())


def test_the_rest_of_a_wrapped_token_goes_too() -> None:
    token = fill("sk-ant-api03-{alnum:93}", 3)
    row = "x" * 30 + " " + token
    text = f"{row[:80]}\n{row[80:]}\n"
    clean, counts = redact(text)
    assert clean == "x" * 30 + " [REDACTED:anthropic_key]\n\n"
    assert counts == {"anthropic_key": 1}


def test_one_token_to_a_line_is_one_each_and_the_next_line_stays() -> None:
    tokens = [fill("ghp_{alnum:36}", number) for number in range(5)]
    clean, counts = redact("\n".join(tokens) + "\nnext_line_of_words = 1\n")
    assert counts == {"github_token": 5}
    assert clean == "[REDACTED:github_token]\n" * 5 + "next_line_of_words = 1\n"
    single = fill("sk-{alnum:48}", 2)
    assert redact(f"OPENAI={single}\nNEXT_VARIABLE=value").text.endswith("]\nNEXT_VARIABLE=value")


@pytest.mark.parametrize(
    "text",
    [
        "the model hf_\nsome_long_model_name_that_goes_on_and_on",
        "sk-learn-\npipelines-for-the-third-quarter-of-the-year",
        "soft\u00adhyphen and \x1b[32mgreen\x1b[0m words, 100%41 and %D0%BF%D1%80",
        "x = '\\x41\\x42\\x43\\x44\\x45'",
    ],
)
def test_harmless_texts_stay(text: str) -> None:
    assert redact(text) == (text, {})


def test_what_is_glued_to_a_word_by_a_colour_is_found_as_it_stands() -> None:
    token = fill("sk-ant-api03-{alnum:93}", 5)
    assert (
        redact(f"word\x1b[31m{token}\x1b[0m rest").text == "word\x1b[31m[REDACTED:anthropic_key]\x1b[0m rest"
    )


@given(
    st.lists(st.sampled_from(["a", "Z9", "_", " ", "%41%42%43%44", "\\x41" * 5, "\u200b", "\x1b[1m", "é"]))
)
def test_a_view_tells_where_its_bytes_stand(parts: list[str]) -> None:
    data = "".join(parts).encode()
    seen = view(data)
    if seen is None:
        return
    assert len(seen.places) == len(seen.there) == len(seen.widths)
    assert list(seen.there) == sorted(seen.there)
    assert len(seen.data) <= len(data)
    assert seen.places[-1] + (len(data) - seen.there[-1]) == len(seen.data)


@pytest.mark.parametrize("unit", ["a\u200b", "a\x1b[1m", "%41", "\\u0041", "ghp_a\n", "sk-\x00"])
def test_much_that_is_unseen_takes_little_time(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    redact("warm")
    assert fastest(lambda: redact(text), 0.8) <= 0.8

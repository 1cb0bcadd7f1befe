"""Cutting before filtering: no place of a cut leaves a piece of a secret behind."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples, some
from workbench.imports.transcript.cutting import REACH, cut
from workbench.imports.transcript.titles import one_line
from workbench.redaction import redact
from workbench.redaction.rules import Rule, load_rules
from workbench.redaction.shapes import fill

EXAMPLES = [(rule, shape) for rule in load_rules() for shape in rule.positive]
SHORT = [fill(shape, seed) for _, shape in EXAMPLES if len(fill(shape)) < 800 for seed in range(2)]
ENDS_AT_A_BORDER = {rule.kind for rule in load_rules() if rule.pattern.endswith(r"\b")}
NEGATIVES = [text for rule in load_rules() for text in rule.negative]

LONG_LINE = "/srv/" + "folder-with-a-name/" * 30
SURROUNDINGS = [
    ("", ""),
    ("The value is ", ", as agreed, and so on and on."),
    (LONG_LINE, "/more"),
    ('{"a":[' + "1,2," * 100 + '],"key":"', '","b":' + "[3]," * 60 + "0}"),
    ("printed\\n", "\\n" + "and more\\n" * 40),
    ("ключ 😀 ", " конец"),
]


def _remnant(secret: str, text: str) -> bool:
    """Whether 8 characters of the secret in a row are in `text`; armour and headers are no secret."""
    for part in re.sub(
        r"-*(?i:BEGIN|END)[A-Za-z ]*-*|Proc-Type: 4,ENCRYPTED|DEK-Info: AES-128-CBC,", "\0", secret
    ).split("\0"):
        if any(part[at : at + 8] in text for at in range(len(part) - 7)):
            return True
    return False


def _named(pair: tuple[Rule, str]) -> str:
    return f"{pair[0].kind}:{pair[1][:30]!r}"


@pytest.mark.parametrize("pair", EXAMPLES, ids=_named)
def test_no_place_of_a_cut_leaves_a_piece_of_a_secret(pair: tuple[Rule, str]) -> None:
    secret = fill(pair[1], 5)
    for before, after in SURROUNDINGS:
        text = before + secret + after
        whole = redact(text).text
        step = 1 if len(secret) < 1000 else len(secret) // 40
        for inside in some(range(0, len(secret) + 1, step), 12):
            limit = len(before) + inside
            kept = cut(text, limit)
            assert text.startswith(kept) and len(kept) <= limit
            filtered = redact(kept).text
            assert whole.startswith(filtered)
            assert not _remnant(secret, filtered)
            # A key block takes what looks like its lines right before and behind it, and a token whose
            # alphabet has the slash takes the path glued behind it.
            if pair[0].kind != "private_key":
                ends_there = whole.endswith(after)
                assert kept == (before + secret if inside == len(secret) and ends_there else before)


@pytest.mark.parametrize("pair", EXAMPLES, ids=_named)
def test_no_title_shows_a_piece_of_a_secret(pair: tuple[Rule, str]) -> None:
    secret = fill(pair[1], 6)
    for length in some(range(0, 205, 1 if len(secret) < 1000 else 40), 40):
        title = one_line(("word " * 50)[:length] + " " + secret + "\n and more" * 30)
        assert len(title) <= 200
        assert not _remnant(secret, redact(title).text)


pieces = st.lists(
    st.one_of(
        st.sampled_from(
            [*SHORT, *NEGATIVES, " ", "\n", "-", "_", "a", "=", "é", "😀", "\\n", "[31m", "sk-", "bot"]
        ),
        st.builds(lambda text, end: text[:end], st.sampled_from(SHORT), st.integers(0, 60)),
        st.text(max_size=8),
    ),
    max_size=7,
).map("".join)


@settings(max_examples=examples(400), deadline=None)
@given(pieces, st.data())
def test_cut_then_filtered_is_the_beginning_of_the_whole_filtered(text: str, data: st.DataObject) -> None:
    limit = data.draw(st.integers(0, len(text)))
    kept = cut(text, limit)
    assert text.startswith(kept) and len(kept) <= limit
    whole, filtered = redact(text), redact(kept)
    if not whole.counts:
        assert kept == text[:limit]
    if all(filtered.counts.get(kind, 0) <= whole.counts.get(kind, 0) for kind in ENDS_AT_A_BORDER):
        # Rules that look behind their token find more, never less, where a longer word was cut.
        assert whole.text.startswith(filtered.text)


def test_a_text_that_fits_is_returned_itself() -> None:
    text = "a word " + fill("sk-{alnum:48}")
    assert cut(text, len(text)) is text
    assert cut("", 0) == ""


def test_a_text_without_secrets_is_cut_at_the_limit() -> None:
    assert cut("x" * 5000, 1000) == "x" * 1000
    assert cut("word " * 500, 13) == "word word wor"
    assert cut("é😀" * 40_000, 7) == "é😀é😀é😀é"


def test_two_secrets_and_a_cut_in_the_second() -> None:
    first, second = fill("ghp_{alnum:36}", 1), fill("eyJ{alnum:20}.eyJ{alnum:40}.{alnum:43}", 1)
    text = f"a {first} b\n{second} c"
    assert cut(text, len(text) - 5) == f"a {first} b\n"
    block = "-----BEGIN PRIVATE KEY-----\n" + fill("{base64:64}\n") * 3 + "-----END PRIVATE KEY-----\n"
    assert cut(block + text, len(block + text) - 5) == f"{block}a {first} b\n"
    assert cut(block + text, len(block + text) - 2) == f"{block}a {first} b\n{second}"


def test_a_key_that_its_last_line_gives_away_far_behind_the_cut() -> None:
    lines = [fill("{base64:64}", seed) for seed in range(200)]
    text = "the key:\n" + "\n".join(lines) + "\n-----END PRIVATE KEY-----\n" + "x" * REACH
    assert cut(text, 700) == "the key:\n"


def test_a_megabyte_behind_the_cut_is_not_read() -> None:
    token = fill("ghp_{alnum:36}", 1)
    assert cut("a" * 990 + " " + token + " word" * 2_000_000, 1000) == "a" * 990 + " "

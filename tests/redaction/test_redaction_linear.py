"""Hostile texts take time in proportion to their length."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.redaction.pace import fastest, growth
from workbench.redaction import default_filter, redact
from workbench.redaction.rules import load_rules
from workbench.redaction.shapes import fill

RUN = fill("{alnum:600}", 1)
HOSTILE = [
    "sk-",
    "ask-",
    "_sk-",
    "-sk-" + RUN,
    "glpat-",
    "sk-learn-words-",
    "xoxb-xoxb_",
    ("sk-" * 170) + "R4nd0mTa1l9xQz ",
    "AKIA",
    "AIza",
    "1",
    "123456789:AA-",
    "eyJ",
    "-eyJaaaaaaaa",
    "eyJaaaaaaaaa.",
    "eyJ" + "a" * 70_000 + ".",
    "ghp_" + RUN[:36] + " ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n" + RUN[:20] + "\n",
    "BEGIN PRIVATE KEY\nVersion: x\n",
    "BEGIN PRIVATE KEY\n" + RUN[:20] + " " * 3000,
    RUN[:20] + " ",
    "\\",
    "END PRIVATE KEY ",
]


def _sized(unit: str, size: int) -> str:
    # The last words make the quick test say yes, so that every pass runs.
    return (unit * (size // len(unit) + 1))[:size] + " PRIVATE KEY eyJaaaaaaaaa.eyJaaaaaaaaa.aaaaaaaaa"


@pytest.mark.parametrize("unit", HOSTILE, ids=lambda unit: repr(unit[:16]))
def test_twice_the_text_takes_about_twice_the_time(unit: str) -> None:
    half, whole = _sized(unit, 300_000), _sized(unit, 600_000)
    redact("warm")
    assert growth(lambda: redact(half), lambda: redact(whole)) <= 3


SHAPES = [shape for rule in load_rules() for shape in rule.positive if len(fill(shape)) < 200]
units = st.lists(
    st.one_of(
        st.sampled_from(
            [*SHAPES, "sk-", "_", "-", ".", "eyJ", "a", "\n", "PRIVATE KEY", "BEGIN ", "word-"]
        ).map(fill),
        st.text("abzAZ09-_.:= \n", max_size=6),
    ),
    min_size=1,
    max_size=5,
).map("".join)


@settings(max_examples=25, deadline=None)
@given(units.filter(bool))
def test_any_repeated_text_is_never_far_below_a_megabyte_a_second(unit: str) -> None:
    text = _sized(unit, 400_000)
    assert fastest(lambda: default_filter().redact_text(text), 4.0) <= 4.0

"""Names that look alike."""

from __future__ import annotations

import time

import pytest

from workbench.identity import EMPTY, Names, Registry
from workbench.identity.lookalikes import look_alikes


def _pairs(used: dict[str, int], registry: Registry = EMPTY, kind: str = "project") -> list[tuple[str, str]]:
    return [(pair.spelling, pair.like) for pair in look_alikes(registry, kind, used)]


@pytest.mark.parametrize(
    ("slip", "reason"),
    [
        ("at-las", "the same letters"),
        ("atlsa", "1 letter apart"),
        ("atlass", "1 letter apart"),
        ("alas", "1 letter apart"),
        ("atlas-app", "the same but for “-app” at its end"),
        ("Atlas Repo", "the same but for “-repo” at its end"),
        ("átlas", "the same letters, with marks or hidden characters"),
        ("at\u200blas", "the same letters"),
    ],
)
def test_a_slip_looks_like_the_name_that_is_used_more(slip: str, reason: str) -> None:
    (pair,) = look_alikes(EMPTY, "project", {slip: 1, "atlas": 9})
    assert (pair.spelling, pair.observed, pair.like, pair.like_observed) == (slip, 1, "atlas", 9)
    assert pair.reason == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("report-2024", "report-2025"),
        ("v1", "v2"),
        ("web", "wen"),
        ("atlas", "beacon"),
        ("atlas", "atlas-pricing"),
        ("ATLAS", "a_t-l"),
    ],
)
def test_names_that_differ_in_more_are_two_names(one: str, other: str) -> None:
    assert _pairs({one: 1, other: 2}) == []


def test_spellings_that_mean_the_same_are_no_pair_and_count_together() -> None:
    (pair,) = look_alikes(EMPTY, "project", {"Atlas": 2, "ATLAS": 3, "atlsa": 4})
    assert (pair.like_observed, pair.observed) == (5, 4)
    registry = Registry(projects=[Names("atlas", ["atlsa"])])
    assert _pairs({"atlas": 1, "atlsa": 9}, registry) == []


def test_two_declared_names_are_two_names() -> None:
    registry = Registry(projects=[Names("atlas"), Names("atlas-app")])
    assert _pairs({"atlas": 1, "atlas-app": 1}, registry) == []
    # What is declared is the name, however rarely it is used.
    assert _pairs({"atlas": 1, "atlsa": 90}, Registry(projects=[Names("atlas")])) == [("atlsa", "atlas")]


def test_a_declared_name_that_was_never_used_counts() -> None:
    assert _pairs({"gemeni": 3}, kind="agent") == [("gemeni", "gemini")]
    assert _pairs({"Gemini CLI": 3}, kind="agent") == []


def test_thousands_of_names_are_compared_in_a_moment() -> None:
    used = {f"{number:x}-project-{number * 7919 % 100003:x}": number for number in range(6000)}
    began = time.perf_counter()
    look_alikes(EMPTY, "project", used)
    # Some of them are compared with thousands of others: seconds are fine, minutes are not.
    assert time.perf_counter() - began < 60

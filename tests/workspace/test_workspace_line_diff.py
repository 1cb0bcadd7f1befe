"""Differences of two texts line by line: complete, shortest where few, and bounded in time where many."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.workspace import line_diff
from workbench.workspace.line_diff import Hunk, hunks

LINES = st.lists(st.sampled_from("abcd"), max_size=30)


def applied(first: Sequence[str], found: Sequence[Hunk]) -> list[str]:
    """The second text, made of the first and its differences; checks what every hunk says of itself."""
    made: list[str] = []
    at = 0
    for hunk in found:
        low = hunk.first - (hunk.first_lines > 0)
        made += first[at:low]
        assert [line.text for line in hunk.lines if line.sign != "+"] == first[low : low + hunk.first_lines]
        assert len(made) == hunk.second - (hunk.second_lines > 0)
        made += [line.text for line in hunk.lines if line.sign != "-"]
        at = low + hunk.first_lines
    return made + list(first[at:])


@given(LINES, LINES)
def test_the_first_text_and_the_differences_make_the_second(first: list[str], second: list[str]) -> None:
    assert applied(first, hunks(first, second)) == second


@given(LINES, st.data())
def test_what_was_taken_away_is_all_that_differs(first: list[str], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(first), max_size=len(first)))
    second = [line for line, keep in zip(first, kept, strict=True) if keep]
    signs = [line.sign for hunk in hunks(first, second) for line in hunk.lines if line.sign != " "]
    assert signs == ["-"] * (len(first) - len(second))


def test_the_same_text_has_no_difference() -> None:
    assert hunks(["a", "b"], ["a", "b"]) == []
    assert hunks([], []) == []


def test_a_hunk_reads_as_in_a_unified_diff() -> None:
    first = [str(number) for number in range(1, 31)]
    second = [*first[:9], "ten", *first[10:25], *first[26:]]
    found = hunks(first, second)
    assert [hunk.head for hunk in found] == ["@@ -7,7 +7,7 @@", "@@ -23,7 +23,6 @@"]
    assert [f"{sign}{text}" for sign, text in found[0].lines] == [
        " 7",
        " 8",
        " 9",
        "-10",
        "+ten",
        " 11",
        " 12",
        " 13",
    ]
    assert hunks([], ["x"])[0].head == "@@ -0,0 +1 @@"


@pytest.mark.parametrize("longer", [False, True])
def test_what_differs_in_too_many_lines_is_replaced_as_a_whole(longer: bool) -> None:
    many = line_diff.MOST_DIFFERENCES
    first = ["head", *(f"a{number}" for number in range(many)), "tail"]
    second = ["head", *(f"b{number}" for number in range(many * (3 if longer else 1))), "tail"]
    (only,) = hunks(first, second)
    signs = "".join(line.sign for line in only.lines)
    assert signs == " " + "-" * many + "+" * (many * (3 if longer else 1)) + " "
    assert applied(first, [only]) == second

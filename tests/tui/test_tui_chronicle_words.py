"""Prose in one line: without the marks of Markdown, and with what was searched for in sight."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.drawing import plain_prose
from workbench.tui.chronicle.words import words_around
from workbench.tui.present import line_width


@pytest.mark.parametrize(
    ("prose", "plain"),
    [
        ("### The table is laid\n\n**Oda** wants *it* now.", "The table is laid Oda wants it now."),
        ("Done. ### What happened - planner", "Done. What happened - planner"),
        ("- one\n- two\n1. three\n> four", "one two three four"),
        ("at the end: > Stands: 4.64", "at the end: Stands: 4.64"),
        ("[a link](http://x) and `code_*x*`, __bold__", "a link and code_*x*, bold"),
        (r"called cost\_model \(once\) \*not\*", "called cost_model (once) *not*"),
        ("cut in **the middle", "cut in the middle"),
        ("**very *nested* words**", "very nested words"),
        # No marks.
        ("2 + 3 - 1 and 4 * 5 * 6", "2 + 3 - 1 and 4 * 5 * 6"),
        ("5.20 for the No. 8. Then a_b_c and #8", "5.20 for the No. 8. Then a_b_c and #8"),
    ],
)
def test_marks_of_markdown_are_left_out_of_one_line(prose: str, plain: str) -> None:
    assert plain_prose(prose) == plain


@settings(max_examples=examples(100))
@given(st.text(alphabet="ab *_`#\\\\[]()!>-\n1.é漢", max_size=200))
def test_any_text_becomes_one_line_with_its_letters(text: str) -> None:
    plain = plain_prose(text)
    assert "\n" not in plain
    assert len(plain) <= len(text)


PROSE = (
    "… Asked by Oda, Quill took its price apart: gas and power 1.62, hands 1.34, batch 0.71, packing and "
    "freight 0.56, and **moulds** and upkeep 0.38"
)


@pytest.mark.parametrize("width", [12, 20, 36, 60, 200])
@pytest.mark.parametrize("wanted", ["oda", "freig", "Moulds", "upkeep gone"])
def test_what_was_searched_for_is_in_sight_and_marked(wanted: str, width: int) -> None:
    line = words_around(PROSE, wanted, width)
    assert line_width(line) <= width
    (found,) = [span.text for span in line if span.role == "accent"]
    assert found.casefold() == wanted.split()[0].casefold()


def test_wide_and_accented_words_are_found_by_cells() -> None:
    line = words_around("長い名前の会話の一覧" * 4 + " Ärger und Café", "cafe\u0301", 24)
    assert line_width(line) <= 24
    assert [span.text for span in line if span.role == "accent"] == ["Café"]
    line = words_around("nothing of it", "else", 8)
    assert line_width(line) <= 8 and not any(span.role == "accent" for span in line)

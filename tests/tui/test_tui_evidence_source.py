"""Source texts as documents: colours that change no character, numbers, lines that wrap or run on."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.evidence_probe import PYTHON, WIDE
from workbench.drawing.hex_dump import hex_lines
from workbench.tui.document import Document, DocumentLine, Verbatim
from workbench.tui.evidence_viewer import colours
from workbench.tui.evidence_viewer.colours import LONGEST_LINE, STRIDE, Colours, language_of, load_lexer
from workbench.tui.evidence_viewer.source_document import LineIndex, SourceDocument

LANGUAGES = sorted({*colours._LEXERS.values(), *colours._FILES.values()})


def document(text: str, language: str = "", **looks: bool | int) -> SourceDocument:
    load_lexer(language)
    return SourceDocument(text, LineIndex(text), Colours(text, language), **looks)  # type: ignore[arg-type]


def lines_of(made: Document, width: int) -> list[DocumentLine]:
    place = made.first() if made else None
    lines: list[DocumentLine] = []
    while place is not None:
        lines += made.lines(place, width)
        place = made.next(place)
    return lines


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.PY", "python"),
        ("Dockerfile", "docker"),
        ("src/Makefile", "make"),
        ("x.tar.gz", ""),
        ("notes.md", ""),
        ("", ""),
        (".json", ""),
        ("a.jsonl", "json"),
    ],
)
def test_the_name_alone_says_the_language(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_known_to_the_library(language: str) -> None:
    load_lexer(language)
    assert "".join(span.text for span in Colours("a = 1", language).line(0, 5)) == "a = 1"


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400), st.sampled_from(["python", "json", "bash", "html", "yaml"]), st.integers(4, 60))
def test_colours_change_no_character(text: str, language: str, width: int) -> None:
    text = text.removesuffix("\n")
    coloured = lines_of(document(text, language, numbered=False), width)
    plain = lines_of(Document([Verbatim(text)]), width)
    assert [line.text for line in coloured] == [line.text for line in plain]
    assert [line.joint for line in coloured] == [line.joint for line in plain]


def test_words_of_a_language_have_their_roles() -> None:
    made = document(PYTHON, "python", numbered=False)
    roles = {span.text: span.role for line in lines_of(made, 80) for span in line.line}
    assert (roles["def"], roles["rows"], roles["40"]) == ("accent", "strong", "ink")
    assert (roles["# rows of a page"], roles['"""The ledger\'s rows."""']) == ("dim", "dim")


def test_until_the_lexer_is_loaded_all_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colours, "_loaded", {})
    made = Colours(PYTHON, "python")
    assert [span.role for span in made.line(0, 10)] == ["code"]
    assert load_lexer("python") and not load_lexer("python")
    assert [span.role for span in made.line(0, 10)] == ["dim"]


def test_far_behind_what_was_read_reading_begins_near_by() -> None:
    text = "x = 'a'\n" * (STRIDE // 2)
    load_lexer("python")
    made = Colours(text, "python")
    at = len(text) - 8
    assert ("a", "success") in made.line(at, at + 7)
    assert made._stretch is not None and made._stretch.start > at - STRIDE
    assert ("a", "success") in made.line(0, 7)


def test_a_long_line_is_plain_and_its_neighbours_are_not() -> None:
    long = "x = [" + "1, " * LONGEST_LINE + "]"
    text = f"def a(): pass\n{long}\ndef b(): pass"
    load_lexer("python")
    made = Colours(text, "python")
    assert [span.role for span in made.line(14, 40)] == ["code"]
    assert made.line(0, 13)[0] == ("def", "accent")
    start = len(text) - 13
    assert made.line(start, len(text))[0] == ("def", "accent")


def test_a_text_that_is_slow_to_colour_is_plain_from_then_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colours, "SLOW_SECONDS", -1.0)
    load_lexer("python")
    made = Colours(PYTHON, "python")
    made.line(0, 10)
    assert made.too_slow
    assert [span.role for span in made.line(0, 10)] == ["code"]


# -- layout ----------------------------------------------------------------------------------


def test_lines_are_numbered_once_and_numbers_are_not_copied() -> None:
    lines = lines_of(document("one two three four\n\nfive", numbered=True), 15)
    assert [line.text for line in lines] == ["1  one two", "   three four", "2  ", "3  five"]
    assert [line.text[line.lead :] + line.joint for line in lines] == [
        "one two ",
        "three four\n",
        "\n",
        "five\n",
    ]


def test_a_narrow_pane_keeps_its_cells_for_the_text() -> None:
    assert [line.text for line in lines_of(document("one\ntwo", numbered=True), 12)] == ["one", "two"]


@pytest.mark.parametrize("width", [20, 57, 200])
@pytest.mark.parametrize("shift", [0, 16, 48, 4000])
def test_lines_that_run_on_are_cut_with_a_mark_on_either_side(width: int, shift: int) -> None:
    lines = lines_of(document(WIDE, wraps=False, numbered=False, shift=shift), width)
    assert len(lines) == WIDE.count("\n") + 1
    for line, whole in zip(lines, lines_of(document(WIDE, wraps=False, numbered=False), 4000), strict=True):
        assert cell_len(line.text) <= width
        reaches = cell_len(whole.text) > width + shift
        # What the cut leaves free of a wide character is a blank.
        assert line.text.rstrip(" ").endswith("…") == (reaches or line.text == "…")
        assert line.text.startswith("…") == bool(shift and whole.text)


def test_an_index_numbers_every_character() -> None:
    text = "a\n\nbc\n"
    index = LineIndex(text)
    assert [index.number(at) for at in range(len(text) + 1)] == [1, 1, 2, 3, 3, 3, 4]
    assert len(index) == 4 and index.start(3) == 3


@given(st.binary(max_size=300), st.sampled_from([8, 16]))
def test_a_hex_dump_holds_every_byte(data: bytes, per_line: int) -> None:
    lines = list(hex_lines(data, per_line))
    assert bytes.fromhex("".join(line.digits for line in lines)) == data
    assert len({len(line.digits) for line in lines}) <= 1
    assert all(re.fullmatch(r"[ -~]*", line.text) for line in lines)
    assert [int(line.offset, 16) for line in lines] == list(range(0, len(data), per_line))

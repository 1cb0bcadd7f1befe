"""Matches in shown text: the ones that full text finds, wherever the pieces of a line are cut."""

from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style

from workbench.log.fulltext import FullTextFold, match_expression, normalised
from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, Verbatim
from workbench.tui.present import Span
from workbench.tui.sessions.found_words import HitPlace, hit_places, with_hits, words_of

HIT = Style(underline=True)
WORDS = st.sampled_from(
    [
        "fig",
        "FIGS",
        "fi",
        "figment",
        "foo-bar",
        "foo",
        "bar",
        "Ёлка",
        "елка",
        "élan",
        "ELAN",
        "it's",
        "7",
        "日本",
    ]
)
TEXTS = st.lists(st.one_of(WORDS, st.sampled_from(["-", "…", "\n", "_"])), max_size=6).map(" ".join)


def found(query: str, text: str) -> list[str]:
    words = words_of(query)
    return [] if words is None else [each.group() for each in words.finditer(text)]


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("fig", "a fig, two Figs, a config", ["fig", "Figs"]),
        ("fig tree", "figs and a fig in trees", ["fig", "trees"]),
        ("foo-bar", "foo bar, foo_bars, food bar", ["foo bar", "foo_bars"]),
        ("elan", "Élan e\u0301lan élanced", ["Élan", "e\u0301lan", "élanced"]),
        ("ёж", "еж ЁЖИК ёж", ["еж", "ЁЖИК", "ёж"]),
        ("й", "и\u0306 и й", ["и\u0306", "й"]),
        ("a.b*c(", "a.b c a b c", ["a.b c", "a b c"]),
        ("--", "--", []),
        ("", "anything", []),
    ],
)
def test_words_are_found_as_full_text_finds_them(query: str, text: str, expected: list[str]) -> None:
    assert found(query, text) == expected


@given(TEXTS, TEXTS)
def test_where_full_text_finds_something_stands_out(query: str, text: str) -> None:
    match = match_expression(query)
    words = words_of(query)
    assert bool(match) == (words is not None)
    if words is None:
        return
    connection = apsw.Connection(":memory:")
    for statement in FullTextFold().schema:
        connection.execute(statement)
    connection.execute("INSERT INTO fulltext(rowid, title, body) VALUES(1, '', ?)", (normalised(text),))
    if connection.execute("SELECT 1 FROM fulltext WHERE fulltext MATCH ?", (match,)).fetchall():
        assert words.search(text)


@given(st.lists(st.text("fig a", max_size=5), max_size=6), st.sampled_from(["fig", "f", "a fig"]))
def test_marking_changes_no_character_and_marks_what_matches(pieces: list[str], query: str) -> None:
    text = "".join(pieces)
    drawn = with_hits([Segment(piece, Style(bold=True)) for piece in pieces], words_of(query), HIT)
    assert "".join(segment.text for segment in drawn) == text
    lit = "".join(
        "x" * len(segment.text)
        if segment.style is not None and segment.style.underline
        else " " * len(segment.text)
        for segment in drawn
    )
    expected = [" "] * len(text)
    words = words_of(query)
    assert words is not None
    for each in words.finditer(text):
        for at in range(*each.span()):
            expected[at] = "x"
    assert lit == "".join(expected)
    assert all(segment.style is not None and segment.style.bold for segment in drawn if segment.text)


def test_places_are_found_in_every_kind_of_block() -> None:
    blocks: list[Block] = [
        Heading("a fig"),
        Blank(),
        Fields([("fig", "plum"), ("name", "two figs"), ("styled", (Span("fi"), Span("g")))]),
        Paragraph("plum fig fig"),
        Verbatim("plum\nfig"),
    ]
    assert hit_places(blocks, words_of("fig")) == [
        HitPlace(0, 0, 2),
        HitPlace(2, 1, 4),
        HitPlace(2, 2, 0),
        HitPlace(3, 0, 5),
        HitPlace(3, 0, 9),
        HitPlace(4, 0, 5),
    ]
    assert hit_places(blocks, None) == []

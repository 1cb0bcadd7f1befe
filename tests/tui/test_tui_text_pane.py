"""A document of any length opens at once, is drawn literally and can be selected."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import SELECT_ALL, Selection

from tests.tui.drawing import OneWidget, drawn_lines, settled
from tests.tui.hostile_text import HOSTILE, unseen
from workbench.tui.document import (
    SEGMENT,
    Blank,
    Block,
    Document,
    DocumentLine,
    Fields,
    Heading,
    Paragraph,
    Place,
    Verbatim,
    note,
)
from workbench.tui.present import Span, split_lines, visible
from workbench.tui.widgets.text_pane import TextPane


@asynccontextmanager
async def shown(
    blocks: Iterable[Block], size: tuple[int, int] = (40, 10)
) -> AsyncIterator[tuple[TextPane, Pilot[None], OneWidget]]:
    pane = TextPane(blocks)
    app = OneWidget(pane)
    async with app.run_test(size=size) as pilot:
        pane.focus()
        await settled(pilot)
        yield pane, pilot, app


def bodies(pane: TextPane) -> list[str]:
    return [line[:-1].rstrip() for line in drawn_lines(pane)]


def forward(document: Document, width: int) -> list[tuple[Place, DocumentLine]]:
    lines: list[tuple[Place, DocumentLine]] = []
    place: Place | None = document.first()
    while place is not None:
        lines += [(place, line) for line in document.lines(place, width)]
        place = document.next(place)
    return lines


def backward(document: Document, width: int) -> list[tuple[Place, DocumentLine]]:
    lines: list[tuple[Place, DocumentLine]] = []
    place: Place | None = document.last()
    while place is not None:
        lines[:0] = [(place, line) for line in document.lines(place, width)]
        place = document.previous(place)
    return lines


async def test_what_a_document_looks_like() -> None:
    blocks: list[Block] = [
        Heading("Completed", "3, 2 new"),
        Paragraph(
            (Span("Streaming parser with a bounded buffer", "ink"), Span("  new", "accent")),
            Span("✓", "success"),
            1,
        ),
        note("evidence 3f9c", 4),
        Blank(),
        Fields([("id", "0190"), ("created", "2026-03-04 12:00:00 UTC and some more words")], 1),
        Verbatim('{\n  "a": [1]\n}', json=True),
    ]
    async with shown(blocks, (40, 12)) as (pane, _, _app):
        assert bodies(pane) == [
            "Completed  3, 2 new",
            " ✓ Streaming parser with a bounded",
            "   buffer  new",
            "    evidence 3f9c",
            "",
            " id       0190",
            " created  2026-03-04 12:00:00 UTC and",
            "          some more words",
            "{",
            '  "a": [1]',
            "}",
            "",
        ]
        assert "▐" not in "".join(drawn_lines(pane))


long_texts = st.one_of(
    st.text(),
    st.lists(
        st.sampled_from([*HOSTILE, "\n", "\r\n", "word ", "x" * 3000, "日本 " * 1500, "👩\u200d🔬" * 2000]),
        max_size=8,
    ).map("".join),
)


@given(long_texts, st.integers(8, 90))
def test_a_text_is_laid_out_whole_in_both_directions(text: str, width: int) -> None:
    document = Document([Verbatim(text)])
    lines = forward(document, width)
    assert backward(document, width) == lines
    assert all(cell_len(line.text) <= width and not unseen(line.text) for _, line in lines)
    starts = list(dict.fromkeys(place for place, _ in lines))
    whole = "".join(line.text + line.joint for _, line in lines)
    if len(starts) == len(list(split_lines(text))):  # No line was so long that it was cut in segments.
        assert whole == "\n".join(visible(line) for line in split_lines(text)) + "\n"
    for place in starts:
        assert document.nearest(place.run, place.start) == place
        assert 0 <= document.fraction(place) <= 1


def test_a_long_line_is_cut_at_spaces_that_its_width_does_not_change() -> None:
    text = "word " * 10_000
    narrow, wide = Document([Verbatim(text)]), Document([Verbatim(text)])
    starts = list(dict.fromkeys(place for place, _ in forward(narrow, 30)))
    assert starts == list(dict.fromkeys(place for place, _ in forward(wide, 77)))
    assert len(starts) == -(-len(text) // SEGMENT)
    assert "".join(line.text + line.joint for _, line in forward(wide, 77)) == text + "\n"


blocks_of_any_kind = st.lists(
    st.one_of(
        st.builds(Heading, st.text(), st.text()),
        st.builds(Fields, st.lists(st.tuples(st.text(), st.text()), max_size=4), st.integers(0, 3)),
        st.builds(
            Paragraph,
            st.sampled_from(HOSTILE),
            st.builds(Span, st.text(min_size=1, max_size=3), st.just("accent")),
            st.integers(0, 6),
        ),
        st.builds(
            Paragraph,
            st.lists(st.builds(Span, st.sampled_from(HOSTILE), st.just("dim")), min_size=1).map(tuple),
        ),
        st.builds(Verbatim, st.sampled_from(HOSTILE), st.just("code"), st.integers(0, 4), json=st.booleans()),
        st.just(Blank()),
    ),
    max_size=8,
)


@given(blocks_of_any_kind, st.integers(4, 60))
def test_blocks_fit_every_width(blocks: list[Block], width: int) -> None:
    document = Document(blocks)
    if not document:
        return
    lines = forward(document, width)
    assert backward(document, width) == lines
    for _, line in lines:
        assert cell_len(line.text) <= max(width, 4)
        assert unseen(line.text) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.booleans())
def test_any_json_value_is_drawn(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, indent=2, ensure_ascii=ascii_only)
    lines = forward(Document([Verbatim(text, json=True)]), 60)
    whole = "".join(line.text + line.joint for _, line in lines)
    assert whole == "\n".join(visible(line) for line in split_lines(text)) + "\n"


async def test_hostile_text_is_literal() -> None:
    async with shown(
        [Paragraph(text, Span("·")) for text in HOSTILE] + [Heading(text, text) for text in HOSTILE], (60, 20)
    ) as (pane, _, _app):
        seen = ""
        while True:
            for line in drawn_lines(pane):
                assert cell_len(line) == 59 and unseen(line) == []
                seen += line
            if pane.at_bottom:
                break
            pane.action_page_down()
        for text in (
            "[bold]not bold[/bold]",
            "[@click=app.quit]quit[/]",
            "␛]52;c;aGVsbG8=␇",
            "user⟦U+202E⟧txt.exe",
        ):
            assert text in seen


async def test_scrolling_and_its_ends() -> None:
    async with shown([Verbatim("\n".join(f"line {number}" for number in range(100)))]) as (pane, _, _app):
        assert bodies(pane)[0] == "line 0" and pane.at_top and not pane.at_bottom
        pane.action_scroll_up()
        assert bodies(pane)[0] == "line 0"
        pane.action_scroll_down()
        assert bodies(pane)[0] == "line 1"
        pane.action_page_down()
        assert bodies(pane)[0] == "line 10"
        pane.action_scroll_end()
        assert bodies(pane)[-1] == "line 99" and pane.at_bottom
        assert drawn_lines(pane)[-1].endswith("▐")
        pane.action_scroll_down()
        assert bodies(pane)[-1] == "line 99"
        pane.action_page_up()
        assert bodies(pane)[-1] == "line 90"
        pane.action_scroll_home()
        assert bodies(pane)[0] == "line 0" and drawn_lines(pane)[0].endswith("▐")
        pane.go_to_fraction(0.5)
        assert bodies(pane)[0] == "line 50"


async def test_a_resize_keeps_the_first_line_and_new_blocks_the_place() -> None:
    text = " ".join(f"word{number}" for number in range(5000))
    async with shown([Heading("Title"), Verbatim(text)]) as (pane, pilot, _):
        pane.go_to_fraction(0.5)
        pane.move(7)
        first = bodies(pane)[0].split()[0]
        await pilot.resize_terminal(23, 12)
        await settled(pilot)
        assert first in " ".join(bodies(pane)[:2])
        now = bodies(pane)
        pane.set_blocks([Heading("Title"), Verbatim(text + " end")], keep_place=True)
        assert bodies(pane) == now
        pane.set_blocks([Heading("Other")])
        assert bodies(pane)[0] == "Other"
        pane.set_blocks([])
        assert set(bodies(pane)) == {""}
        for act in (
            pane.action_scroll_down,
            pane.action_page_up,
            pane.action_scroll_end,
            pane.action_scroll_home,
        ):
            act()


async def test_blocks_can_be_gone_to() -> None:
    blocks: list[Block] = [Heading("One"), Verbatim("x\n" * 50), Heading("Two"), Verbatim("y\n" * 50)]
    async with shown(blocks) as (pane, _, _app):
        pane.go_to_block(2)
        assert bodies(pane)[:2] == ["Two", "y"]


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("The quick brown fox jumps over the lazy dog.\n" * 23_000, 0.15),
        ("x" * 1_000_000, 0.15),
        ("日本語のテキスト " * 120_000, 0.15),
        ("\x1b[31m\t" * 200_000, 0.15),
        (json.dumps({"text": "word " * 10_000_000}), 0.15),
        ("a line of text\n" * 3_500_000, 0.15),
    ],
    ids=["1 MB", "1 MB one word", "1 MB wide", "1 MB hostile", "50 MB one line", "50 MB lines"],
)
async def test_long_texts_open_at_once(text: str, budget: float) -> None:
    async with shown([note("empty")], (120, 40)) as (pane, _, _app):
        started = perf_counter()
        pane.set_blocks([Heading("Payload"), Verbatim(text)])
        drawn_lines(pane)
        opened = perf_counter() - started
        assert opened < budget
        for act in (
            pane.action_page_down,
            pane.action_scroll_end,
            pane.action_page_up,
            pane.action_scroll_home,
        ):
            started = perf_counter()
            act()
            drawn_lines(pane)
            assert perf_counter() - started < budget


async def test_text_is_selected_with_the_mouse_and_copied_as_it_was() -> None:
    text = "first words that are wrapped over lines\nsecond line"
    async with shown([Paragraph(text, Span("•")), Verbatim("third")], (24, 8)) as (pane, pilot, app):
        assert bodies(pane)[:6] == [
            "• first words that",
            "  are wrapped over",
            "  lines",
            "  second line",
            "third",
            "",
        ]
        # The pane's left padding is one cell, the mark two.
        await pilot.mouse_down(pane, offset=(9, 0))
        await pilot.hover(pane, offset=(3, 3))
        await pilot.pause()
        assert app.screen.get_selected_text() is not None
        await pilot.mouse_up(pane, offset=(8, 3))
        await pilot.pause()
        assert app.screen.get_selected_text() == "words that are wrapped over lines\nsecond"
        highlight = app.screen.get_component_rich_style("screen--selection").bgcolor
        marked = "".join(
            segment.text
            for segment in pane.render_line(0)
            if segment.style and segment.style.bgcolor == highlight
        )
        assert marked == "words that"


async def test_a_selection_reaches_beyond_the_screen() -> None:
    async with shown([Verbatim("\n".join(f"line {number}" for number in range(1000)))]) as (pane, _, _app):
        pane.move(500)
        assert bodies(pane)[0] == "line 500"
        far = pane.get_selection(Selection(Offset(5, 100), Offset(8, 600)))
        assert far is not None
        lines = far[0].split("\n")
        assert (lines[0], lines[1], lines[-1], len(lines)) == ("100", "line 101", "line 600", 501)
        assert bodies(pane)[0] == "line 500"
        to_end = pane.get_selection(Selection(Offset(0, 998), None))
        assert to_end is not None and to_end[0] == "line 998\nline 999"
        from_start = pane.get_selection(Selection(None, Offset(6, 1)))
        assert from_start is not None and from_start[0] == "line 0\nline 1"
        everything = pane.get_selection(SELECT_ALL)
        assert everything is not None and everything[0].count("\n") == 999


async def test_selecting_a_giant_says_where_it_was_cut() -> None:
    async with shown([Verbatim("word " * 2_000_000)]) as (pane, _, _app):
        everything = pane.get_selection(SELECT_ALL)
        assert everything is not None
        assert everything[0].endswith("\n[cut after 4000000 characters]")

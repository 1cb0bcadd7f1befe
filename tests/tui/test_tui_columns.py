"""Table rows fill their width exactly, whatever is in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.tui.hostile_text import HOSTILE
from workbench.tui.present import Line, Span, line_width
from workbench.tui.widgets.columns import Column, place, table_header, table_row

SCOPE = Column("scope", 7, drop=2)
SLOT = Column("slot", minimum=8)
VALUE = Column("value", share=2, minimum=8)
AGE = Column("age", 5, align="right", drop=1)
COLUMNS = (SCOPE, SLOT, VALUE, AGE)


def text(line: Line) -> str:
    return "".join(span.text for span in line)


def widths(width: int) -> dict[str, int]:
    return {COLUMNS[placed.index].title: placed.width for placed in place(COLUMNS, width)}


def test_room_is_shared_and_the_last_cell_is_used() -> None:
    assert widths(48) == {"scope": 7, "slot": 11, "value": 22, "age": 5}
    assert widths(49) == {"scope": 7, "slot": 11, "value": 23, "age": 5}


def test_a_minimum_is_kept_before_shares() -> None:
    assert widths(35) == {"scope": 7, "slot": 8, "value": 12, "age": 5}


def test_unimportant_columns_go_first() -> None:
    assert widths(30) == {"slot": 8, "value": 15, "age": 5}
    assert widths(20) == {"slot": 8, "value": 11}


def test_what_cannot_be_dropped_is_cut() -> None:
    assert place((Column("a", 10), Column("b", 10)), 14) == place((Column("a", 10), Column("b", 3)), 14)
    assert (
        text(table_row((Column("a", 10), Column("b", 10)), ["0123456789", "abcdef"], 14)) == "0123456789 ab…"
    )


def test_a_row() -> None:
    line = table_row(
        COLUMNS, [Span("atlas", "dim"), "deploy.target", (Span("blue/"), Span("green", "accent")), "3 h"], 48
    )
    assert text(line) == "atlas   deploy.tar… blue/green               3 h"
    assert Span("green", "accent") in line


def test_wide_characters_keep_the_columns() -> None:
    line = text(table_row(COLUMNS, ["日本語の", "日本語日本語日本語", "한국어", "1 d"], 48))
    assert line == "日本語… 日本語日本… 한국어                   1 d"
    assert cell_len(line) == 48


def test_the_header_says_where_columns_are_missing() -> None:
    assert text(table_header(COLUMNS, 48)) == "scope   slot        value                    age"
    assert text(table_header(COLUMNS, 30)) == "…slot    value             age"
    assert text(table_header(COLUMNS, 20)) == "…slot    value…     "


def test_what_remains_of_a_silent_column_needs_no_mark() -> None:
    columns = (
        Column("event", 5),
        Column("", 1),
        Column("type", 6, drop=2, silent=True),
        Column("actor", 5),
        Column("text", minimum=4),
    )
    assert text(table_header(columns, 30)).split() == ["event", "type", "actor", "text"]
    assert text(table_header(columns, 20)).split() == ["event", "actor", "text"]


def test_a_column_without_a_title_gets_no_mark() -> None:
    columns = (Column("event", 5), Column("age", 3, drop=1), Column("", 1), Column("text", minimum=4))
    assert text(table_header(columns, 12)).split() == ["event", "text"]
    assert text(table_header((Column("", 1), Column("age", 3, drop=1)), 2)) == "  "


def test_a_column_goes_early_where_others_need_the_room() -> None:
    columns = (Column("type", 6, drop=1, spare=5), Column("text", minimum=4))
    assert [placed.index for placed in place(columns, 16)] == [0, 1]
    assert [placed.index for placed in place(columns, 15)] == [1]


cells = st.one_of(
    st.text(),
    st.sampled_from(HOSTILE),
    st.builds(Span, st.text(), st.just("dim")),
    st.lists(st.builds(Span, st.sampled_from(HOSTILE), st.just("dim")), max_size=4).map(tuple),
)
some_columns = st.lists(
    st.builds(
        Column,
        st.text(max_size=8),
        st.integers(0, 12),
        share=st.integers(1, 5),
        minimum=st.integers(1, 12),
        align=st.sampled_from(["left", "right"]),
        drop=st.integers(0, 3),
    ),
    min_size=1,
    max_size=6,
).map(tuple)


@given(some_columns, st.data(), st.integers(1, 100))
def test_every_row_and_header_has_the_width(
    columns: tuple[Column, ...], data: st.DataObject, width: int
) -> None:
    row = data.draw(st.lists(cells, min_size=len(columns), max_size=len(columns)))
    assert line_width(table_row(columns, row, width)) == width
    assert line_width(table_header(columns, width)) == width


@given(some_columns, st.integers(1, 100))
def test_a_flexible_column_uses_all_room(columns: tuple[Column, ...], width: int) -> None:
    placed = place(columns, width)
    used = sum(each.width for each in placed) + len(placed) - 1
    assert used <= width
    if any(not columns[each.index].width for each in placed):
        assert used == width or width <= 2

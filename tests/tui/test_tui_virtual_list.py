"""A list of a million rows: any depth costs the same, and what a person looks at stays where it is."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.pilot import Pilot

from tests.tui.drawing import NumberSource, OneWidget, drawn_lines, settled
from tests.tui.hostile_text import HOSTILE, unseen
from tests.tui.shell_probe import work_done
from workbench.errors import WorkbenchError
from workbench.tui.present import Line, Span
from workbench.tui.widgets.columns import Cell, Column
from workbench.tui.widgets.list_messages import ListStatus
from workbench.tui.widgets.page_source import MemorySource, Page
from workbench.tui.widgets.row_renderer import ROW_LINES, PlainRows, RowRenderer, RowState, TableRows
from workbench.tui.widgets.row_window import WINDOW_ROWS
from workbench.tui.widgets.thumb import THUMB, thumb_lines
from workbench.tui.widgets.viewport import Viewport
from workbench.tui.widgets.virtual_list import VirtualList

MILLION = 1_000_000


def number_line(row: int, width: int, state: RowState) -> Sequence[Line]:
    return ((Span(f"row {row}"),),)


def uneven(row: int, width: int, state: RowState) -> Sequence[Line]:
    return tuple((Span(f"row {row}.{line}"),) for line in range(row % 5 + 1))


def table(row: int, state: RowState) -> Sequence[Cell]:
    return (
        str(row),
        Span(f"event {row} [bold]x[/] 日本語", "strong" if state.cursor else "text"),
        Span("3 h", "dim"),
    )


TABLE: TableRows[int] = TableRows(
    (Column("no", 9, align="right"), Column("what"), Column("age", 6, align="right")), table
)


@asynccontextmanager
async def shown(
    source: NumberSource,
    renderer: RowRenderer[int] | None = None,
    *,
    size: tuple[int, int] = (40, 10),
    newest: Literal["first", "last"] = "first",
) -> AsyncIterator[tuple[VirtualList[int], Pilot[None], OneWidget]]:
    rows = VirtualList(renderer or PlainRows(number_line), source, newest=newest)
    app = OneWidget(rows)
    async with app.run_test(size=size) as pilot:
        rows.focus()
        await settled(pilot)
        yield rows, pilot, app


def bodies(rows: VirtualList[int]) -> list[str]:
    return [line[1:-1].rstrip() for line in drawn_lines(rows)]


async def test_opening_reads_one_page_and_says_where_it_stands() -> None:
    source = NumberSource(MILLION)
    async with shown(source) as (rows, _, app):
        assert bodies(rows) == [f"row {row}" for row in range(10)]
        assert rows.cursor_row == 0
        assert rows.status.text() == "1–10 of 1\u00a0000\u00a0000"
        assert source.calls == ["first"]  # The newest row of the page is the mark for what is new.
        assert [message.row for message in app.told_of(VirtualList.Highlighted)] == [0]


@pytest.mark.parametrize("place", [0, 1, 199, 200, 500_000, MILLION - 1])
async def test_any_depth_is_one_jump(place: int) -> None:
    source = NumberSource(MILLION)
    async with shown(source) as (rows, pilot, _):
        rows.go_to(place)
        await settled(pilot)
        assert rows.cursor_row == place
        assert f"row {place}" in bodies(rows)
        assert len([line for line in bodies(rows) if line.startswith("row ")]) == 10
        assert rows.loaded <= 600


async def test_ends_and_pages() -> None:
    async with shown(NumberSource(MILLION)) as (rows, pilot, _):
        rows.action_last()
        await settled(pilot)
        assert rows.cursor_row == MILLION - 1
        assert bodies(rows)[-1] == f"row {MILLION - 1}"
        rows.action_page_up()
        await settled(pilot)
        assert bodies(rows)[0] == f"row {MILLION - 19}"
        assert rows.cursor_row == MILLION - 10
        rows.action_page_down()
        rows.action_page_down()
        await settled(pilot)
        assert rows.cursor_row == MILLION - 1
        rows.action_first()
        await settled(pilot)
        assert (rows.cursor_row, bodies(rows)[0]) == (0, "row 0")
        rows.action_page_up()
        assert rows.cursor_row == 0


async def test_a_move_past_the_held_rows_is_finished_when_they_arrive() -> None:
    async with shown(NumberSource(MILLION)) as (rows, pilot, _):
        for _ in range(260):  # No page can arrive between these.
            rows.action_cursor_down()
        assert rows.cursor_row == 199
        await settled(pilot)
        assert rows.cursor_row == 200
        for _ in range(5):
            rows.action_cursor_up()
        assert rows.cursor_row == 195


async def test_memory_is_bounded_however_far_one_scrolls() -> None:
    source = NumberSource(MILLION)
    async with shown(source, size=(40, 102)) as (rows, pilot, _):
        rows.go_to(500_000)
        await settled(pilot)
        for _ in range(WINDOW_ROWS // 100 + 40):
            rows.action_page_down()
            await work_done(pilot)
            await pilot.pause(0)
        await settled(pilot)
        assert rows.loaded <= WINDOW_ROWS
        there = rows.cursor_row
        assert there is not None and there > 500_000 + WINDOW_ROWS
        assert f"row {there}" in bodies(rows)
        for _ in range(20):
            rows.action_page_up()
            await work_done(pilot)
            await pilot.pause(0)
        assert rows.cursor_row == there - 20 * 101
        assert rows.loaded <= WINDOW_ROWS


async def test_rows_of_any_height() -> None:
    async with shown(NumberSource(MILLION), PlainRows(uneven)) as (rows, pilot, _):
        rows.go_to(MILLION // 2)
        await settled(pilot)
        lines = bodies(rows)
        assert len(lines) == 10 and all(line.startswith("row ") for line in lines)
        for _ in range(30):
            rows.action_cursor_down()
            await settled(pilot)
            at = rows.cursor_row
            assert at is not None
            own = [f"row {at}.{line}" for line in range(at % 5 + 1)]
            drawn = bodies(rows)
            assert drawn[drawn.index(own[0]) :][: len(own)] == own
        assert rows.cursor_row == MILLION // 2 + 30


async def test_a_row_taller_than_the_screen_is_scrolled_through() -> None:
    def tall(row: int, width: int, state: RowState) -> Sequence[Line]:
        return tuple((Span(f"row {row}.{line}"),) for line in range(25 if row == 1 else 1))

    async with shown(NumberSource(3), PlainRows(tall)) as (rows, _, _app):
        seen: list[str] = []
        rows.action_cursor_down()
        while rows.cursor_row == 1:
            seen += bodies(rows)
            rows.action_cursor_down()
        assert {f"row 1.{line}" for line in range(25)} <= set(seen)
        rows.action_cursor_up()
        assert bodies(rows)[-1] == "row 1.24"


@pytest.mark.parametrize("place", range(40, 60))
async def test_a_screen_that_is_opened_somewhere_begins_with_a_whole_row(place: int) -> None:
    def two(row: int, width: int, state: RowState) -> Sequence[Line]:
        return tuple((Span(f"row {row}.{line}"),) for line in range(2 + row % 2))

    source = NumberSource(200)
    async with shown(source, PlainRows(two), size=(40, 11)) as (rows, pilot, _):
        # As for a change of order: other rows, the cursor where it was by identity.
        rows.set_source(NumberSource(200), place)
        await settled(pilot)
        assert rows.cursor_row == place
        assert bodies(rows)[0].endswith(".0")
        assert f"row {place}.{1 + place % 2}" in bodies(rows)


async def test_a_row_is_capped() -> None:
    def endless(row: int, width: int, state: RowState) -> Sequence[Line]:
        return ((Span("x"),),) * 5000

    async with shown(NumberSource(1), PlainRows(endless)) as (rows, _, _app):
        rows.move_screen(10_000)
        assert bodies(rows)[-1] == "…"
        rows.move_screen(-(ROW_LINES - 10))
        assert set(bodies(rows)) == {"x"}


async def test_new_rows_move_nothing_and_are_offered() -> None:
    source = NumberSource(MILLION)
    async with shown(source) as (rows, pilot, app):
        rows.move_screen(30)
        await settled(pilot)
        before, cursor = bodies(rows), rows.cursor_key
        source.low = -12
        rows.refresh_live()
        await settled(pilot)
        assert (bodies(rows), rows.cursor_key) == (before, cursor)
        assert [(each.count, each.more) for each in app.told_of(VirtualList.NewRows)] == [(12, False)]
        assert rows.status.text() == "43–52 of 1\u00a0000\u00a0012"
        source.low = -500
        rows.refresh_live()
        await settled(pilot)
        assert (app.told_of(VirtualList.NewRows)[-1].count, app.told_of(VirtualList.NewRows)[-1].more) == (
            200,
            True,
        )
        rows.go_to_newest()
        await settled(pilot)
        assert rows.cursor_row == -500
        assert app.told_of(VirtualList.NewRows)[-1].count == 0


async def test_at_the_top_new_rows_stay_above_unless_the_list_follows() -> None:
    source = NumberSource(MILLION)
    async with shown(source) as (rows, pilot, app):
        source.low = -3
        rows.refresh_live()
        await settled(pilot)
        assert (rows.cursor_row, bodies(rows)[0]) == (0, "row 0")
        assert app.told_of(VirtualList.NewRows)[-1].count == 3
        rows.go_to_newest()
        rows.follow = True
        source.low = -5
        rows.refresh_live()
        await settled(pilot)
        assert (rows.cursor_row, bodies(rows)[0]) == (-5, "row -5")


async def test_a_list_with_its_news_at_the_end_follows_like_a_log() -> None:
    source = NumberSource(50)
    async with shown(source, newest="last") as (rows, pilot, app):
        rows.action_last()
        rows.follow = True
        source.high = 55
        rows.refresh_live()
        await settled(pilot)
        assert rows.cursor_row == 54 and bodies(rows)[-1] == "row 54"
        rows.action_page_up()
        source.high = 57
        rows.refresh_live()
        await settled(pilot)
        assert rows.cursor_row is not None and rows.cursor_row < 54
        assert app.told_of(VirtualList.NewRows)[-1].count == 2


async def test_a_short_list_shows_what_arrives() -> None:
    source = NumberSource(3)
    async with shown(source) as (rows, pilot, _):
        source.low = -2
        rows.refresh_live()
        await settled(pilot)
        assert [line for line in bodies(rows) if line] == [f"row {row}" for row in range(-2, 3)]
        assert rows.cursor_row == 0
        assert rows.status.text() == "1–5 of 5"


async def test_a_row_that_goes_hands_the_cursor_on() -> None:
    source = NumberSource(100)
    async with shown(source) as (rows, pilot, _):
        rows.go_to(50)
        source.gone = {50}
        rows.refresh_live()
        await settled(pilot)
        assert rows.cursor_row == 51
        source.gone = set(range(50, 100))
        rows.refresh_live()
        await settled(pilot)
        assert rows.cursor_row == 49


async def test_an_empty_list_says_so_and_fills() -> None:
    source = NumberSource(0)
    async with shown(source) as (rows, pilot, _):
        rows.empty_lines = ((Span("Nothing yet."),), (Span("workbench import …"),))
        assert bodies(rows)[:3] == ["Nothing yet.", "workbench import …", ""]
        assert rows.cursor_row is None and rows.status == ListStatus(total=0)
        rows.action_cursor_down()
        rows.action_page_up()
        rows.action_open()
        rows.toggle_select()
        source.high = 2
        rows.refresh_live()
        await settled(pilot)
        assert bodies(rows)[:2] == ["row 0", "row 1"]
        assert rows.cursor_row == 0


async def test_selection() -> None:
    async with shown(NumberSource(MILLION)) as (rows, pilot, _):
        assert rows.target_rows == [0]
        rows.toggle_select()
        rows.go_to(5)
        rows.toggle_range()
        for _ in range(3):
            rows.action_cursor_down()
        assert rows.selected_rows == [0, 5, 6, 7, 8]
        assert rows.status.text() == "5 selected · 1–10 of 1\u00a0000\u00a0000"
        assert [line[0] for line in drawn_lines(rows)] == ["┃", " ", " ", " ", " ", "┃", "┃", "┃", "█", " "]
        rows.action_cursor_up()
        assert rows.selected_rows == [0, 5, 6, 7]
        rows.toggle_range()
        rows.action_last()
        await settled(pilot)
        assert rows.selected_rows == [0, 5, 6, 7]
        rows.toggle_range()
        rows.action_page_up()
        assert rows.cancel_selection() and rows.selected_rows == [0, 5, 6, 7]
        assert rows.cancel_selection() and rows.selected_rows == []
        assert not rows.cancel_selection()


def test_a_selection_is_counted_without_a_second_bare_number() -> None:
    assert ListStatus(total=2, selected=2).text() == "2 of 2 selected"
    assert ListStatus(1, 9, 14, selected=2).text() == "2 selected · 1–9 of 14"
    assert ListStatus(total=14).text() == "14"


async def test_a_range_outlives_the_rows_that_are_forgotten() -> None:
    async with shown(NumberSource(MILLION), size=(40, 202)) as (rows, pilot, _):
        rows.toggle_range()
        while rows.cursor_row is not None and rows.cursor_row < WINDOW_ROWS + 1000:
            rows.action_page_down()
            await work_done(pilot)
            await pilot.pause(0)
        assert rows.selected_rows == list(range(rows.cursor_row + 1 if rows.cursor_row else 0))


async def test_what_another_source_answers_is_ignored() -> None:
    slow = NumberSource(10)
    release = threading.Event()
    real = slow.first

    def first(limit: int) -> Page[int]:
        release.wait(10)
        return real(limit)

    slow.first = first  # type: ignore[method-assign]
    rows = VirtualList(PlainRows(number_line), slow)
    app = OneWidget(rows)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert bodies(rows) == ["…"] * 10
        assert rows.status.text() == "…"
        rows.set_source(NumberSource(MILLION), at=500)
        release.set()
        await settled(pilot)
        assert rows.cursor_row == 500


async def test_an_error_is_told_and_shown_and_can_be_retried() -> None:
    source = NumberSource(MILLION)
    source.fail = WorkbenchError("The workspace is [b +locked.", hint="Close the other program.")
    async with shown(source) as (rows, pilot, app):
        assert bodies(rows)[:2] == ["The workspace is [b +locked.", "Close the other program."]
        assert app.told_of(VirtualList.Failed)[0].error is source.fail
        source.fail = None
        rows.reload()
        await settled(pilot)
        assert bodies(rows)[0] == "row 0"
        source.fail = ValueError("later")
        rows.move_screen(150)
        await settled(pilot)
        assert bodies(rows)[0] == "row 150"
        assert str(app.told_of(VirtualList.Failed)[-1].error) == "later"


async def test_the_hint_of_an_error_names_the_key_that_helps_here() -> None:
    source = NumberSource(MILLION)
    source.fail = WorkbenchError("It was moved.", hint="put it back and open it again; x")
    async with shown(source) as (rows, _, _):
        assert "put it back and open it again with R; x" in " ".join(bodies(rows)[1:4])


async def test_an_unknown_length_is_at_least_what_was_read_until_it_is_counted() -> None:
    source = NumberSource(MILLION, counts=False)
    go_on = threading.Event()
    told = threading.Event()
    real = source.count

    def count(cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        told.set()
        go_on.wait(10)
        return real(cancelled, progress)

    source.count = count  # type: ignore[method-assign]
    rows = VirtualList(TABLE, source)
    app = OneWidget(rows)
    async with app.run_test(size=(60, 10)) as pilot:
        while not rows.loaded or not told.is_set():
            await pilot.pause()
        assert rows.status.text() == "1–9 of ≥ 200"
        go_on.set()
        await settled(pilot)
        assert rows.status.text() == "1–9 of 1\u00a0000\u00a0000"


async def test_mouse_and_opening() -> None:
    source = NumberSource(MILLION)
    async with shown(source) as (rows, pilot, app):
        await pilot.click(rows, offset=(5, 3))
        assert rows.cursor_row == 3
        await pilot.click(rows, offset=(5, 4), times=2)
        assert [message.row for message in app.told_of(VirtualList.Opened)] == [4]
        await pilot.mouse_down(rows, offset=(39, 5))
        await settled(pilot)
        assert rows.cursor_row is not None and abs(rows.cursor_row - 555_555) < 2
        await pilot.mouse_up(rows, offset=(39, 9))
        rows.action_open()
        await pilot.pause()
        assert len(app.told_of(VirtualList.Opened)) == 2


async def test_the_terminal_cursor_stands_on_the_row() -> None:
    async with shown(NumberSource(MILLION), TABLE) as (rows, _, app):
        rows.action_cursor_down()
        assert tuple(app.cursor_position) == (0, 2)


async def test_a_resize_keeps_the_place() -> None:
    async with shown(NumberSource(MILLION), PlainRows(uneven)) as (rows, pilot, _):
        rows.go_to(777)
        await settled(pilot)
        await pilot.resize_terminal(80, 30)
        await settled(pilot)
        assert rows.cursor_row == 777
        assert any("row 777.0" in line for line in bodies(rows))
        await pilot.resize_terminal(20, 3)
        await settled(pilot)
        assert any("row 777." in line for line in bodies(rows))


async def test_every_line_has_the_width_and_hostile_text_is_literal() -> None:
    source = MemorySource(list(enumerate(HOSTILE)))

    def cells(row: tuple[int, str], state: RowState) -> Sequence[Cell]:
        return (row[1], Span(row[1], "dim"), (Span(row[1]), Span(row[1], "error")))

    renderer: TableRows[tuple[int, str]] = TableRows(
        (Column("[/x]", 12), Column("b", 12, align="right"), Column("c")), cells
    )
    rows: VirtualList[tuple[int, str]] = VirtualList(renderer, source)
    async with OneWidget(rows).run_test(size=(70, len(HOSTILE) + 3)) as pilot:
        await settled(pilot)
        for line in drawn_lines(rows):
            assert cell_len(line) == 70 and unseen(line) == []
        assert any("[bold]not b…" in line for line in drawn_lines(rows))
        raw: VirtualList[tuple[int, str]] = VirtualList(
            PlainRows(lambda row, width, state: ((Span(row[1]),),)), source
        )
        await rows.remove()
        await pilot.app.mount(raw)
        await settled(pilot)
        for line in drawn_lines(raw):
            assert cell_len(line) == 70 and unseen(line) == []


async def test_moving_and_drawing_are_cheap_at_any_depth() -> None:
    async with shown(NumberSource(MILLION), TABLE, size=(120, 40)) as (rows, pilot, _):
        rows.go_to(MILLION // 2)
        await settled(pilot)

        def cost(act: Callable[[], object]) -> float:
            started = perf_counter()
            act()
            drawn_lines(rows)
            return perf_counter() - started

        # Budgets are 50 ms for a key and 10 ms for a repaint; a busy machine gets three tries.
        assert min(cost(rows.action_cursor_down) for _ in range(3)) < 0.05
        assert min(cost(rows.action_page_down) for _ in range(2)) < 0.05
        assert min(cost(lambda: None) for _ in range(3)) < 0.01


def test_the_thumb_keeps_the_ends_of_its_track_for_the_ends() -> None:
    assert thumb_lines(10, at_top=True, at_bottom=True, fraction=0, share=1) == range(0)
    assert thumb_lines(10, at_top=True, at_bottom=False, fraction=0, share=0.001) == range(1)
    assert thumb_lines(10, at_top=False, at_bottom=False, fraction=0.001, share=0.001) == range(1, 2)
    assert thumb_lines(10, at_top=False, at_bottom=False, fraction=0.999, share=0.001) == range(8, 9)
    assert thumb_lines(10, at_top=False, at_bottom=True, fraction=0.9, share=0.5) == range(5, 10)
    assert cell_len(THUMB) == 1


heights = st.lists(st.integers(1, 12), min_size=1, max_size=40)


@given(
    heights,
    st.integers(1, 15),
    st.lists(st.tuples(st.sampled_from(["scroll", "cursor", "place"]), st.integers(-60, 60)), max_size=20),
)
def test_a_viewport_is_always_full_and_shows_the_cursor(
    rows: list[int], lines: int, moves: list[tuple[str, int]]
) -> None:
    view = Viewport(lambda: len(rows), lambda at: rows[at])
    view.lines = lines
    view.settle()
    everything = [(at, line) for at, height in enumerate(rows) for line in range(height)]
    for kind, amount in moves:
        if kind == "scroll":
            start = everything.index((view.top, view.offset))
            moved = view.scroll(amount)
            expected = max(0, min(start + amount, len(everything) - lines)) if len(everything) > lines else 0
            assert moved == expected - start
            view.pull_cursor()
        elif kind == "cursor":
            view.place(view.cursor + amount)
            view.reveal()
        else:
            view.place(abs(amount), abs(amount))
            view.settle()
            view.reveal()
        view.settle()
        start = everything.index((view.top, view.offset))
        assert view.shown() == everything[start : start + lines]
        assert len(view.shown()) == min(lines, len(everything))
        assert view.line_of_cursor() is not None


def test_a_memory_source_is_one_list() -> None:
    source = MemorySource(["a", "b", "c", "d", "e"])
    assert (
        list(source.first(2).rows) == ["a", "b"] and source.first(2).at_start and not source.first(2).at_end
    )
    assert list(source.last(2).rows) == ["d", "e"] and source.last(2).at_end
    assert list(source.after("b", 9).rows) == ["c", "d", "e"]
    assert list(source.before("c", 1).rows) == ["b"]
    middle = source.around("d", 3)
    assert middle.focus is not None and middle.rows[middle.focus] == "d"
    assert source.position("e") == 5 and source.fraction("e") == 1.0 and source.total() == 5
    keyed = MemorySource([("x", 1), ("y", 2)], identify=lambda row: row[0])
    by_key, by_row = keyed.around("y", 5), keyed.around(("y", 2), 5)
    assert by_key == by_row and by_key.focus == 1
    empty: MemorySource[str] = MemorySource([])
    assert empty.around("a", 5) == Page([], True, True) and empty.seek(0.5, 5).rows == []

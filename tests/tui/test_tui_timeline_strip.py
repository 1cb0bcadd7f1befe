"""The activity strip: how it is drawn, and how a person moves over it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult

from tests.tui.shell_probe import screen_lines, until, whole_screen
from tests.tui.timeline_probe import (
    TALK,
    TimelineApp,
    app_on,
    append_elsewhere,
    entry,
    make_spread,
    make_workspace,
    rows_shown,
)
from workbench.log.activity import HOUR
from workbench.log.times import to_micros
from workbench.tui.dialogs.prompt import PromptDialog
from workbench.tui.screens.timeline import TimelinePage
from workbench.tui.themes import load_themes
from workbench.tui.timeline.strip import (
    BARS,
    MARGIN,
    ActivityStrip,
    bar,
    bar_texts,
    day_text,
    end_text,
    levels,
)
from workbench.workspace.readers.timeline_activity import Scale
from workbench.workspace.rows import TimelineFilter

DAY = 24 * HOUR
MARCH = to_micros(datetime(2026, 3, 1, tzinfo=UTC))


@given(st.lists(st.integers(0, 10**9), max_size=80), st.integers(1, 3))
def test_what_is_there_has_a_bar_and_more_has_no_lower_one(counts: list[int], lines: int) -> None:
    heights = levels(counts, lines)
    assert [height > 0 for height in heights] == [count > 0 for count in counts]
    assert max(heights, default=0) in (0, len(BARS) * lines)
    ranked = sorted(zip(counts, heights, strict=True))
    assert [height for _, height in ranked] == sorted(height for _, height in ranked)


def test_a_bar_fills_its_lines_from_below() -> None:
    assert [bar(level, 0) for level in (0, 1, 8, 9, 16)] == [" ", "▁", "█", "█", "█"]
    assert [bar(level, 1) for level in (0, 8, 9, 16)] == [" ", " ", "▁", "█"]


@pytest.mark.parametrize(
    ("span", "text"), [(30 * DAY, "2026-03-29"), (DAY, "03-29 03:30"), (60_000_000, "03:30:00")]
)
def test_labels_are_of_the_zone(span: int, text: str) -> None:
    # Half past one in UTC is half past three in Berlin: the clocks have just gone forward.
    micros = to_micros(datetime(2026, 3, 29, 1, 30, tzinfo=UTC))
    assert day_text(micros, ZoneInfo("Europe/Berlin"), span) == text


@pytest.mark.parametrize(
    ("end", "width", "span", "text"),
    [
        # The last bar reaches beyond now: it ends today, or now.
        (10 * DAY, 5 * DAY, 40 * DAY, "today"),
        (8 * DAY + DAY // 4, DAY // 2, 2 * DAY, "now"),
        # All of it has happened.
        (8 * DAY, DAY, 30 * DAY, "2026-03-08"),
        (8 * DAY, DAY // 24, DAY, "03-08 23:59"),
        # It ended earlier today.
        (8 * DAY + DAY // 24, DAY // 24, 30 * DAY, "today"),
        # A clock was wrong, and says so.
        (100 * DAY, 5 * DAY, 100 * DAY, "2026-06-08"),
    ],
)
def test_the_end_is_never_later_than_what_has_happened(end: int, width: int, span: int, text: str) -> None:
    now = MARCH + 8 * DAY + DAY // 8
    assert end_text(MARCH + end, width, now, UTC, span) == text


@pytest.mark.parametrize(
    ("low", "width", "texts"),
    [
        (0, 31 * DAY, ("2026-03-01 – 03-31", "2026-03-01")),
        (0, 400 * DAY, ("2026-03-01 – 2027-04-04", "2026-03-01")),
        (0, DAY, ("2026-03-01",)),
        (DAY // 2, 2 * DAY, ("2026-03-01 – 03-03", "2026-03-01")),
        (DAY // 2, DAY // 24, ("2026-03-01 12:00–13:00", "03-01 12:00–13:00", "2026-03-01")),
        (0, 1_000_000, ("2026-03-01",)),
        # The bar in which now is ends there.
        (590 * DAY, 20 * DAY, ("2027-10-12 – today", "2027-10-12")),
        (600 * DAY, DAY // 2, ("2027-10-22 00:00–now", "10-22 00:00–now", "2027-10-22")),
    ],
)
def test_a_bar_says_from_when_until_when_it_is(low: int, width: int, texts: tuple[str, ...]) -> None:
    now = MARCH + 600 * DAY + DAY // 4
    assert bar_texts(MARCH + low, MARCH + low + width, now, UTC, 700 * DAY) == texts


@given(st.integers(-(2**62), 2**62), st.integers(1, 2**60), st.integers(-(2**62), 2**62))
def test_any_bar_and_any_end_have_labels(low: int, width: int, now: int) -> None:
    zone = ZoneInfo("Pacific/Kiritimati")
    assert all(bar_texts(low, low + width, now, zone, width * 40))
    assert end_text(low, width, now, zone, width * 40)


@given(st.integers(-(2**62), 2**62), st.integers(1, 2**62))
def test_any_moment_has_a_label(micros: int, span: int) -> None:
    assert day_text(micros, ZoneInfo("Pacific/Kiritimati"), span)


class StripApp(App[None]):
    """A strip alone."""

    def compose(self) -> ComposeResult:
        strip = ActivityStrip(css_id="strip")
        strip.add_class("-shown")
        yield strip

    def on_load(self) -> None:
        themes, _ = load_themes([Path(__file__).parents[2] / "themes"])
        for theme in themes.values():
            self.register_theme(theme.theme)
        self.theme = "dark"


def strip_text(strip: ActivityStrip) -> list[str]:
    return [strip.render_line(y).text for y in range(strip.size.height)]


async def test_counts_labels_and_the_place_of_the_cursor() -> None:
    app = StripApp()
    async with app.run_test(size=(60, 5)) as pilot:
        strip = app.query_one(ActivityStrip)
        strip.show(Scale(MARCH, DAY, 40), [4, 0, 1, *([0] * 36), 9], None)
        await pilot.pause()
        bars, words = strip_text(strip)
        assert bars[MARGIN : MARGIN + 40] == "▅ ▃" + " " * 36 + "█"
        assert words.split() == ["2026-03-01", "2026-04-09"]
        strip.point(datetime(2026, 3, 3, 12, tzinfo=UTC))
        _, words = strip_text(strip)
        assert words.index("▲") == MARGIN + 2
        assert "▲ 2026-03-03 · 1 event" in words
        assert strip.cursor_cell == 2
        assert (strip.busy(-1), strip.busy(1)) == (0, 39)
        strip.point(datetime(2026, 4, 9, 12, tzinfo=UTC))
        _, words = strip_text(strip)
        assert "2026-04-09 · 9 events ▲" in words
        assert words.index("▲") == MARGIN + 39
        assert strip.busy(1) is None


async def test_a_filter_leaves_a_faint_ground_that_is_not_only_a_colour() -> None:
    app = StripApp()
    async with app.run_test(size=(60, 5)) as pilot:
        strip = app.query_one(ActivityStrip)
        strip.show(Scale(MARCH, DAY, 5), [4, 0, 1, 1, 9], [0, 0, 0, 1, 0], counting=True)
        strip.point(datetime(2026, 3, 4, tzinfo=UTC))
        await pilot.pause()
        bars, words = strip_text(strip)
        assert bars[MARGIN : MARGIN + 5] == "· ·█·"
        assert "1… of 1" in words
        assert strip.busy(-1) is None
        strip.show(Scale(MARCH, DAY, 5), [4, 0, 1, 1, 9], [0, 0, 0, 1, 0])
        assert "1 of 1" in strip_text(strip)[1]


async def test_what_lies_astray_is_marked_at_the_ends() -> None:
    app = StripApp()
    async with app.run_test(size=(60, 5)) as pilot:
        strip = app.query_one(ActivityStrip)
        strip.show(Scale(MARCH, DAY, 5, earlier=1, later=2), [2, 1, 1, 1, 3], None)
        strip.point(datetime(1, 1, 2, tzinfo=UTC))
        await pilot.pause()
        bars, words = strip_text(strip)
        assert bars.startswith(" ‹")
        assert bars.rstrip().endswith("›")
        assert "before 2026-03-01" in words
        strip.point(datetime(9999, 12, 30, tzinfo=UTC))
        assert "after 2026-03-05" in strip_text(strip)[1]


@given(st.integers(1, 60), st.integers(0, 59), st.integers(20, 70))
def test_no_label_runs_into_another(cells: int, at: int, width: int) -> None:
    strip = ActivityStrip(css_id="strip")
    strip.scale = Scale(MARCH, DAY, cells)
    strip.whole = [1] * cells
    strip.cursor = MARCH + at * DAY
    line = strip.words(width, min(cells, width - 2 * MARGIN))
    text = "".join(span.text for span in line)
    assert "▲" in text
    assert len(text) <= width
    for piece in text.replace("▲", " ").split("  "):
        assert piece.strip().count("2026") <= 1


# On the page


async def counted(pilot: object, page: TimelinePage) -> None:
    await until(pilot, lambda: page.strip.scale is not None and not page.strip.counting)  # type: ignore[arg-type]


async def test_keys_go_from_bar_to_bar(tmp_path: Path) -> None:
    """Sixty days with an event each on every tenth: the last recorded are not the last that happened."""
    app = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await counted(pilot, page)
        assert sum(page.strip.whole) == 13
        start = page.cursor_event
        assert start is not None
        await pilot.press("less_than_sign")
        await until(pilot, lambda: page.cursor_event is not None and page.cursor_event != start)
        seen = page.cursor_event
        assert seen is not None
        assert seen.happened_at < start.happened_at
        await pilot.press("greater_than_sign")
        await until(pilot, lambda: page.cursor_event == start)
        while app.reason_of("timeline.earlier") == "":
            before = page.cursor_event
            await app.action_perform("timeline.earlier")
            await until(pilot, lambda before=before: page.cursor_event != before)  # type: ignore[misc]
        assert page.strip.cursor_cell == 0
        assert app.reason_of("timeline.earlier") == "nothing happened before that"


async def test_a_click_goes_there_and_a_drag_narrows(tmp_path: Path) -> None:
    app = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await counted(pilot, page)
        strip = page.strip
        assert strip.scale is not None
        busy = next(cell for cell, number in enumerate(strip.whole) if number)
        await pilot.click(strip, offset=(MARGIN + busy, 0))
        await until(pilot, lambda: strip.cursor_cell == busy)
        whole = strip.scale
        middle = whole.cells // 2
        await pilot.mouse_down(strip, offset=(MARGIN, 0))
        await pilot.hover(strip, offset=(MARGIN + middle, 0))
        await pilot.mouse_up(strip, offset=(MARGIN + middle, 0))
        await until(pilot, lambda: page.wanted.until is not None)
        await until(pilot, lambda: page.events.status.total is not None and strip.scale != whole)
        assert to_micros(page.wanted.until or datetime.now(UTC)) == whole.bounds(middle)[1]
        assert 0 < sum(strip.shown) < 13
        assert page.events.status.total == sum(strip.shown)
        await app.action_perform("timeline.clear")
        await until(pilot, lambda: not page.wanted and sum(strip.shown) == 13)


async def test_the_strip_follows_the_filter(tmp_path: Path) -> None:
    app = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await counted(pilot, page)
        for wanted, number in (
            (TimelineFilter(text="comet"), 4),
            (TimelineFilter(types=("actum.recorded",)), 12),
            (TimelineFilter(actors=("maya",), text="comet"), 2),
            (TimelineFilter(text="nothing"), 0),
        ):
            page.apply(wanted)
            await until(
                pilot,
                lambda number=number: (
                    not page.strip.counting  # type: ignore[misc]
                    and page.strip.matching is not None
                    and sum(page.strip.matching) == number
                ),
            )
            assert sum(page.strip.whole) == 13


async def test_new_events_are_counted_too(tmp_path: Path) -> None:
    root = make_spread(tmp_path / "w")
    app = app_on(root)
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await counted(pilot, page)
        append_elsewhere(root, entry("one more"), entry("and more"))
        await until(pilot, lambda: sum(page.strip.whole) == 15, seconds=5)


async def test_narrowing_to_a_time_that_is_typed(tmp_path: Path) -> None:
    app = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await counted(pilot, page)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, PromptDialog))
        assert "2026" in whole_screen(app)
        app.screen.dismiss("2026-01-05 .. 2026-01-15")
        await until(pilot, lambda: page.wanted.since is not None)
        await until(pilot, lambda: "happened 2026-01-05 .. 2026-01-15" in whole_screen(app))
        await until(pilot, lambda: page.events.status.total == 2)
        await app.action_perform("timeline.range")
        await until(pilot, lambda: "2026-01-05 .. 2026-01-15" in whole_screen(app))
        app.screen.dismiss("")
        await until(pilot, lambda: not page.wanted)


@pytest.mark.parametrize(("size", "lines"), [((60, 15), 0), ((80, 24), 2), ((120, 40), 3), ((90, 20), 0)])
async def test_the_strip_is_there_where_there_is_room(
    tmp_path: Path, size: tuple[int, int], lines: int
) -> None:
    app = app_on(make_workspace(tmp_path / "w", TALK))
    async with app.run_test(size=size) as pilot:
        page = await rows_shown(pilot, app)
        assert page.strip.display == (lines > 0)
        if lines:
            await counted(pilot, page)
            assert page.strip.size.height == lines
            assert page.strip.scale is not None
            assert page.strip.scale.cells == page.strip.size.width - 2 * MARGIN
        assert any("event" in line for line in screen_lines(app))


async def test_another_size_has_other_bars(tmp_path: Path) -> None:
    app: TimelineApp = app_on(make_spread(tmp_path / "w"))
    async with app.run_test(size=(120, 40)) as pilot:
        page = await rows_shown(pilot, app)
        await counted(pilot, page)
        await pilot.resize_terminal(200, 60)
        await until(
            pilot,
            lambda: (
                page.strip.scale is not None
                and abs(page.strip.scale.cells - (page.strip.size.width - 2 * MARGIN)) < 30
                and page.strip.scale.cells > 60
            ),
        )
        assert sum(page.strip.whole) == 13

"""Header, navigation and footer: whole words at every width, and always a way to help."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.shell_probe import HOSTILE
from workbench.tui.sizes import FORMS, form_of
from workbench.tui.widgets.frame import (
    LIVE_WORDS,
    FooterItem,
    HeaderState,
    NavigationEntry,
    column_line,
    footer_content,
    header_content,
    tabs_content,
)
from workbench.tui.widgets.list_bar import bar_content

HELP = FooterItem("app.help", "?", "help")
ITEMS = [
    FooterItem("list.open", "enter", "open"),
    FooterItem("page.filter", "/", "filter"),
    FooterItem("page.goto", ":", "go to"),
    FooterItem("page.next_tab", "]", "next tab"),
    FooterItem("rows.add", "i", "import", "the workspace is open read-only"),
    FooterItem("page.copy", "y", "copy"),
    FooterItem("page.sort", "s", "sort"),
    FooterItem("app.palette", "ctrl-p", "palette"),
    HELP,
]


def test_the_footer_as_it_looks_at_80_columns() -> None:
    line = footer_content(ITEMS, "", 80).plain
    assert line == " enter open   / filter   : go to   ] next tab   y copy   s sort   ? help        "


def test_what_cannot_be_done_has_the_room_that_is_left_in_a_narrow_footer_only() -> None:
    few = [ITEMS[4], ITEMS[0], HELP]
    assert footer_content(few, "", 80).plain.rstrip() == " i import ⊘   enter open   ? help"
    assert footer_content(few, "", 32).plain.rstrip() == " enter open   ? help"
    assert "i import ⊘" in footer_content(ITEMS, "", 120).plain


def test_the_footer_as_it_looks_with_a_status() -> None:
    line = footer_content(ITEMS, "importing 3 of 12 transcripts of today", 80).plain
    assert line == " enter open   / filter   : go to   ? help            importing 3 of 12 transcr… "


@given(
    st.lists(st.sampled_from(ITEMS[:-1]), max_size=10, unique=True),
    st.text(max_size=60),
    st.integers(60, 220),
)
def test_the_footer_holds_only_whole_keys_and_help(items: list[FooterItem], status: str, width: int) -> None:
    content = footer_content([*items, HELP], status, width)
    assert content.cell_length == width
    assert "? help" in content.plain
    keys = content.plain if not status else content.plain[: width - width // 3]
    words = {word for item in [*items, HELP] for word in item.text.split()}
    room = width - 1 - (width // 3 + 2 if status else 0)
    shown = [item for item in [*items, HELP] if f" {item.text} " in f" {keys} "]
    assert len(shown) <= (7 if width < 120 else 9)
    if not status:
        assert set(keys.split()) <= words
        assert sum(len(item.text) + 3 for item in shown) <= room + 3


@pytest.mark.parametrize("width", [60, 80, 119, 120, 200])
@pytest.mark.parametrize("live", sorted(LIVE_WORDS))
@pytest.mark.parametrize(
    "path", ["~/w", "~/notes/chronicle/of/a/very/long/name/that/does/not/fit", *HOSTILE, "日本語" * 30]
)
def test_the_header_is_exactly_as_wide_as_the_terminal(width: int, live: str, path: str) -> None:
    state = HeaderState(path, 12, live, "now", read_only=True)
    content = header_content(state, width)
    assert content.cell_length == width
    assert LIVE_WORDS[live][0] in content.plain
    # What is lost can be neither read nor written, whatever it was before.
    assert content.plain.endswith("read-only ") == (live in ("live", "still"))
    if len(path) < 24 and path.isascii():
        assert path in content.plain


def test_the_header_as_it_looks() -> None:
    state = HeaderState("~/chronicle", 3, "live")
    assert header_content(state, 100).plain == (
        " ◆ Chronicle Workbench   ~/chronicle   schema 3   ● live   now" + " " * 27 + "read-write "
    )
    assert header_content(state, 60).plain == " ◆ Workbench   ~/chronicle   ● live   now        read-write "


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize(
    ("live", "said"),
    [
        ("live", "○ past"),
        ("still", "○ not live"),
        ("lost", "○ lost"),
        ("outdated", "▲ to be migrated"),
        ("failed", "✕ not open"),
    ],
)
def test_the_past_is_not_live_and_hides_no_trouble(width: int, live: str, said: str) -> None:
    state = HeaderState("~/chronicle", 3, live, past=("as of 2026-03-01 09:14 · position 4", "as of 4"))
    drawn = header_content(state, width).plain
    assert said in drawn
    assert "● live" not in drawn
    assert ("as of" in drawn) == (live in ("live", "still"))


ENTRIES = [
    NavigationEntry(name.lower(), name, number, str(number), waiting)
    for name, number, waiting in [
        ("Handoffs", 1, 3),
        ("Sessions", 2, 0),
        ("Timeline", 3, 0),
        ("Facts", 4, 1),
        ("Chronicle", 5, 0),
        ("Notes", 6, 0),
        ("Redactions", 7, 2),
        ("Manifest", 8, 0),
        ("Backups", 9, 0),
        ("Jobs", 0, 1),
    ]
]


def test_the_navigation_column_as_it_looks() -> None:
    assert column_line(ENTRIES[0], True, 18).plain == " 1 Handoffs     3 "
    assert column_line(ENTRIES[6], False, 18).plain == " 7 Redactions   2 "
    assert column_line(ENTRIES[1], False, 18).plain == " 2 Sessions       "


def test_tabs_that_do_not_fit_keep_their_numbers() -> None:
    assert tabs_content(ENTRIES[:3], "sessions", 80)[0].plain == " 1 Handoffs 3   2 Sessions   3 Timeline   "
    line, ends = tabs_content(ENTRIES, "sessions", 80)
    # A count behind a key alone must not be read as another key.
    assert line.plain == " 1(3)   2 Sessions   3   4(1)   5   6   7(2)   8   9   0(1)   "
    assert line.plain[: ends[1]].endswith("2 Sessions   ")


@pytest.mark.parametrize(
    ("columns", "rows", "form"),
    [
        (59, 40, "-too-small"),
        (200, 14, "-too-small"),
        (60, 15, "-narrow"),
        (79, 40, "-narrow"),
        (200, 23, "-narrow"),
        (80, 24, "-middle"),
        (119, 24, "-middle"),
        (120, 24, "-wide"),
    ],
)
def test_the_three_forms(columns: int, rows: int, form: str) -> None:
    assert form in FORMS
    assert form_of(columns, rows) == form


@given(st.text(max_size=40), st.text(max_size=40), st.integers(20, 120))
def test_the_line_above_a_list_fits(filter_text: str, count: str, width: int) -> None:
    assert bar_content(filter_text, "/", count, width).cell_length <= width


def test_the_line_above_a_list_as_it_looks() -> None:
    assert bar_content("", "/", "1–9 of 214", 30).plain == " / filter          1–9 of 214 "
    assert bar_content("[bold]x", "/", "3", 30).plain == " / [bold]x                  3 "
    assert bar_content("", "", "3", 10).plain == "        3 "


@pytest.mark.parametrize("width", range(12, 40))
def test_the_key_of_the_filter_stays_beside_any_count(width: int) -> None:
    drawn = bar_content("", "/", "1–18 of 1 204 · most replaced first", width).plain
    assert drawn.startswith(" / ")
    assert len(drawn) <= width

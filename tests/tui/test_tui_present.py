"""Untrusted text comes out visible, literal and of the width it claims."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from tests.thorough import examples
from tests.tui.hostile_text import HOSTILE, unseen
from workbench.tui import present
from workbench.tui.present import Span

anything = st.one_of(
    st.text(),
    st.text(st.characters()),
    st.text(st.characters(categories=["Cs", "Cc", "Cf", "Mn", "Me", "Mc", "So", "Lo", "Zl", "Zs"])),
    st.lists(
        st.sampled_from(
            [
                *HOSTILE,
                "👩",
                "\u200d",
                "🔬",
                "\ufe0f",
                "🏽",
                "🇺",
                "🇦",
                "\u0301",
                "\t",
                "日",
                " ",
                "a",
                "1",
                "\u20e3",
                "\u1161",
                "\u1100",
            ]
        )
    ).map("".join),
)


@given(anything)
def test_nothing_unseen_survives(text: str) -> None:
    drawn = present.visible(text)
    assert unseen(drawn) == []
    drawn.encode("utf-8")
    assert "\n" not in drawn and "\t" not in drawn


@given(anything)
def test_drawing_twice_changes_nothing(text: str) -> None:
    drawn = present.visible(text)
    assert present.visible(drawn) == drawn


@given(anything)
def test_visible_text_is_made_of_clusters_of_one_or_two_cells(text: str) -> None:
    drawn = present.visible(text)
    parts = list(present.clusters(drawn))
    assert "".join(cluster for cluster, _ in parts) == drawn
    assert sum(width for _, width in parts) == cell_len(drawn)
    assert all(1 <= width <= 2 and len(cluster) <= 48 for cluster, width in parts)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_plain_text_is_kept_verbatim(text: str) -> None:
    assert present.visible(text) == text


def test_every_code_point_is_drawn_with_some_width() -> None:
    # The planes between hold nothing, or nothing but ideographs and private characters.
    for code in (
        *range(0x20000),
        *range(0x20000, 0xE0000, 251),
        *range(0xE0000, 0xE1100),
        *range(0xF0000, 0x110000, 251),
    ):
        drawn = present.visible(chr(code))
        assert cell_len(drawn) > 0 and not unseen(drawn), hex(code)
        if drawn == chr(code):
            assert get_character_cell_size(drawn) > 0, hex(code)


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("\x1b[1m", "␛[1m"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b", "⟦U+009B⟧"),
        ("user\u202etxt", "user⟦U+202E⟧txt"),
        ("a\u200bb", "a⟦U+200B⟧b"),
        ("\ud83d", "⟦U+D83D⟧"),
        ("a\tb", "a   b"),
        ("日\tb", "日  b"),
        ("a\tb\tc", "a   b   c"),
        ("one\ntwo", "one␊two"),
        ("\u0301x", "◌\u0301x"),
        ("e\u0301", "e\u0301"),
        ("a\u200db", "a⟦U+200D⟧b"),
        ("x\ufe0f", "x⟦U+FE0F⟧"),
        ("🇺", "⟦U+1F1FA⟧"),
        ("[bold]x[/bold]", "[bold]x[/bold]"),
    ],
)
def test_what_is_drawn(text: str, drawn: str) -> None:
    assert present.visible(text) == drawn


@pytest.mark.parametrize(
    "emoji",
    [
        "👩\u200d🔬",
        "👨\u200d👩\u200d👧\u200d👦",
        "⚠\ufe0f",
        "1\ufe0f\u20e3",
        "👍🏽",
        "🇺🇦",
        "🏴\u200d☠\ufe0f",
        "❤\ufe0f\u200d🔥",
        "🏃🏽\u200d♀\ufe0f",
    ],
)
def test_an_emoji_stays_whole_and_takes_two_cells(emoji: str) -> None:
    assert present.visible(f"a{emoji}b") == f"a{emoji}b"
    assert list(present.clusters(emoji)) == [(emoji, 2)]
    assert present.fit(emoji + "bc", 3) == emoji + "…"
    assert present.fit(emoji + "bc", 2) == "… "


@given(anything, st.integers(0, 60), st.sampled_from(["left", "right"]), st.sampled_from(["start", "end"]))
def test_fit_is_exact(text: str, cells: int, align: present.Align, keep: str) -> None:
    drawn = present.fit(text, cells, align, keep="start" if keep == "start" else "end")
    assert cell_len(drawn) == cells
    whole = present.visible(text)
    if cell_len(whole) <= cells:
        assert drawn.strip(" ") == whole.strip(" ")
    elif cells:
        assert "…" in drawn


@given(
    st.lists(st.builds(Span, anything, st.sampled_from(["text", "dim"]))),
    st.integers(0, 40),
    st.sampled_from(["left", "right"]),
)
def test_fit_line_is_exact(spans: list[Span], cells: int, align: present.Align) -> None:
    line = present.fit_line(spans, cells, align)
    assert present.line_width(line) == cells
    if cells and sum(cell_len(present.visible(span.text)) for span in spans) > cells:
        assert any(span.text.endswith("…") for span in line)


def test_fit_keeps_the_side_that_was_asked_for() -> None:
    assert present.fit("a/long/path/to/file.py", 10) == "a/long/pa…"
    assert present.fit("a/long/path/to/file.py", 10, keep="end") == "…o/file.py"
    assert present.fit("7", 4, "right") == "   7"


@given(anything, st.integers(1, 60))
def test_one_line_is_one_short_line(text: str, limit: int) -> None:
    drawn = present.one_line(text, limit)
    assert cell_len(drawn) <= limit
    assert unseen(drawn) == [] and "␊" not in drawn


def test_one_line_folds_blanks_and_marks_the_cut() -> None:
    assert present.one_line("  first\r\n\n\tsecond  ", 40) == "first second"
    assert present.one_line("first\nsecond", 9) == "first se…"
    assert present.one_line("x" * 10_000_000, 5) == "xxxx…"


@settings(max_examples=examples(300))
@given(anything, st.integers(2, 40))
def test_wrap_loses_nothing(text: str, width: int) -> None:
    lines = list(present.wrapped(text, width))
    assert all(cell_len(line.text) <= width for line in lines)
    drawn = "".join(line.text + line.joint for line in lines)
    assert drawn == "\n".join(present.visible(line) for line in present.split_lines(text))
    assert all(unseen(line.text) == [] for line in lines)


def test_wrap_breaks_at_spaces_and_inside_long_words() -> None:
    assert list(present.wrap("the quick brown fox", 10)) == ["the quick", "brown fox"]
    assert list(present.wrap("abcdefghij klm", 4)) == ["abcd", "efgh", "ij", "klm"]
    assert list(present.wrap("日本語日本語", 5)) == ["日本", "語日", "本語"]
    assert list(present.wrap("    indented-and-long", 8)) == ["    inde", "nted-and", "-long"]
    assert list(present.wrap("a\n\nb", 8)) == ["a", "", "b"]
    assert list(present.wrap("", 8)) == [""]


def test_the_first_lines_of_an_endless_line_are_made_alone() -> None:
    lines = present.wrap("word " * 10_000_000, 80)
    assert [len(next(lines)) for _ in range(3)] == [79, 79, 79]


@pytest.mark.parametrize("text", HOSTILE)
def test_titles_and_notifications_are_literal(text: str) -> None:
    assert present.literal(text).plain == present.visible(text)
    assert present.literal(text).spans == []
    lines = present.literal_lines(text)
    assert lines.spans == [] and unseen(lines.plain.replace("\n", "")) == []
    assert present.plain_lines(text) == lines.plain


def test_a_long_notification_is_cut_with_a_mark() -> None:
    assert present.plain_lines("abcdef", 3) == "abc…"
    assert present.plain_lines("abc", 3) == "abc"


NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("delta", "drawn", "sentence"),
    [
        (timedelta(0), "now", "just now"),
        (timedelta(seconds=12), "12 s", "12 s ago"),
        (timedelta(minutes=4, seconds=50), "4 min", "4 min ago"),
        (timedelta(hours=3), "3 h", "3 h ago"),
        (timedelta(days=2), "2 d", "2 d ago"),
        (timedelta(days=99), "99 d", "99 d ago"),
        (timedelta(days=200), "6 mo", "6 mo ago"),
        (timedelta(hours=-2), "in 2 h", "in 2 h"),
        (timedelta(days=-1, minutes=-1), "in 1 d", "in 1 d"),
    ],
)
def test_ages(delta: timedelta, drawn: str, sentence: str) -> None:
    assert present.age(NOW - delta, NOW) == drawn
    assert present.ago(NOW - delta, NOW) == sentence


def test_times_far_away_and_without_a_zone() -> None:
    assert present.age(datetime(1970, 1, 1), NOW) == "56 y"
    assert present.age(datetime(2100, 1, 1, tzinfo=UTC), NOW) == "in 73 y"
    assert present.exact(datetime(1970, 1, 1), UTC) == "1970-01-01 00:00:00 UTC"
    assert present.exact_utc(datetime(2100, 12, 31, 23, 59, 59, tzinfo=UTC)) == "2100-12-31 23:59:59 UTC"
    cet = timezone(timedelta(hours=1))
    assert present.exact(NOW, cet) == "2026-03-04 13:00:00 +01:00"
    assert present.exact(NOW, timezone(-timedelta(hours=3, minutes=30))) == "2026-03-04 08:30:00 -03:30"
    assert present.exact(datetime.max.replace(tzinfo=UTC), cet) == "9999-12-31 23:59:59 UTC"
    assert present.exact(datetime.min.replace(tzinfo=cet), timezone(timedelta(hours=-5))).startswith(
        "0001-01-01 00:00:00"
    )


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_any_two_times_have_an_age(then: datetime, now: datetime) -> None:
    assert 3 <= len(present.age(then, now)) <= 9
    present.exact(then)


def test_figures() -> None:
    assert present.number(12418) == "12\u00a0418"
    assert present.number(-1234567) == "-1\u00a0234\u00a0567"
    assert present.counted(1, "file") == "1 file"
    assert present.counted(2000, "entry", "entries") == "2\u00a0000 entries"
    assert [present.size(n) for n in (0, 812, 1000, 9949, 41_234, 999_499, 999_500, 1_234_567, 10**12)] == [
        "0 B", "812 B", "1.0 KB", "9.9 KB", "41 KB", "999 KB", "1.0 MB", "1.2 MB", "1.0 TB",
    ]  # fmt: skip
    assert [present.tokens(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_the_module_does_without_the_screen_library() -> None:
    code = "import sys, workbench.tui.present; sys.exit('textual' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Bars over time, the filter in words and as it is kept, markers, hints: without a screen."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from workbench.tui.document import Document
from workbench.tui.present import line_width
from workbench.tui.redactions.detail import kinds_blocks, redaction_blocks
from workbench.tui.redactions.filters import filter_from, filter_parts, filter_values, filter_words, without
from workbench.tui.redactions.hints import StoredState, empty_lines, hint_text
from workbench.tui.redactions.kinds_strip import KindsStrip
from workbench.tui.redactions.markers import marked, marked_lines
from workbench.tui.redactions.over_time import day_number, day_text, over_time, zone_offset
from workbench.tui.redactions.report_blocks import report_text
from workbench.tui.redactions.scratch_pad import MOST_TYPED, editable
from workbench.workspace.readers.redaction_queries import Context, DayCount
from workbench.workspace.redactions.backups import BackupState
from workbench.workspace.redactions.report import KEPT, Rescan, Scrubbed
from workbench.workspace.redactions.scan import Hit
from workbench.workspace.rows import RedactionFilter, RedactionRow

DAYS = st.lists(
    st.builds(
        DayCount,
        day=st.integers(-800_000, 3_000_000),
        kind=st.sampled_from(["a_key", "b_token", "c"]),
        secrets=st.integers(1, 10**9),
    ),
    min_size=1,
    max_size=30,
).map(lambda days: sorted(days))
WANTED = st.builds(
    RedactionFilter,
    kinds=st.lists(st.text(min_size=1, max_size=20), max_size=3).map(tuple),
    since=st.none() | st.integers(0, 2 * 10**17),
    until=st.none() | st.integers(0, 2 * 10**17),
    stream=st.text(max_size=30),
    actor=st.text(max_size=30),
    text=st.text(max_size=30),
)


@given(DAYS, st.integers(1, 250), st.integers(-800_000, 3_000_000))
def test_every_secret_stands_in_the_bar_of_its_day(days: list[DayCount], room: int, today: int) -> None:
    over = over_time(days, room, today)
    assert over is not None
    assert 1 <= len(over.total) <= room
    assert over.secrets == sum(day.secrets for day in days)
    assert [sum(bars) for bars in zip(*over.kinds.values(), strict=True)] == list(over.total)
    for day in days:
        bar = over.bar_of(day.day)
        assert bar is not None and over.kinds[day.kind][bar] >= day.secrets
        low, high = over.bounds(bar)
        assert low <= day.day <= high
    assert over.bounds(len(over.total) - 1)[1] == over.last >= days[-1].day


def test_no_redactions_make_no_bars() -> None:
    assert over_time([], 40, 20_000) is None
    assert over_time([DayCount(20_000, "a", 1)], 0, 20_000) is None


@given(DAYS, st.integers(20, 200), st.integers(5, 200))
def test_bars_are_drawn_in_any_width(days: list[DayCount], room: int, width: int) -> None:
    over = over_time(days, room, days[-1].day + 3)
    assert over is not None
    strip = KindsStrip(css_id="strip")
    strip.over, strip.day = over, days[0].day
    assert line_width(strip.words(width)) >= 0
    blocks = kinds_blocks(over, "", width)
    text = Document(blocks).plain(100_000)[0]
    assert all(kind[:3] in text for kind in over.kinds)


def test_days_are_those_of_the_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    assert day_text(day_number(late, UTC)) == "2026-03-01"
    assert day_text(day_number(late, berlin)) == "2026-03-02"
    assert zone_offset(berlin, late) == 3_600_000_000
    assert day_text(10**9) == "9999-12-31" and day_text(-(10**9)) == "0001-01-01"


@given(WANTED)
def test_a_filter_is_kept_and_taken_up_again(wanted: RedactionFilter) -> None:
    values = filter_values(wanted)
    assert all(isinstance(value, str) for value in values.values())
    assert filter_from(values) == wanted


@given(st.dictionaries(st.sampled_from(["kinds", "since", "until", "text", "actor", "stream"]), st.text()))
def test_a_kept_filter_that_makes_no_sense_is_not_set(values: dict[str, str]) -> None:
    wanted = filter_from(values)
    assert wanted.text == values.get("text", "")
    assert isinstance(wanted.kinds, tuple)
    filter_words(wanted)


@given(WANTED)
def test_each_part_of_a_filter_can_be_taken_away(wanted: RedactionFilter) -> None:
    parts = filter_parts(wanted)
    for part in parts:
        assert [each.name for each in filter_parts(without(wanted, part.name))] == [
            each.name for each in parts if each.name != part.name
        ]
    for part in parts:
        wanted = without(wanted, part.name)
    assert wanted == RedactionFilter()


def test_a_filter_in_words() -> None:
    wanted = RedactionFilter(
        kinds=("aws_access_key",), since=1_772_323_200_000_000, stream="session/a\x1bb", actor="coder"
    )
    words = "".join(span.text for span in filter_words(wanted, UTC))
    assert words.startswith("aws_access_key · by coder · in session a") and "\x1b" not in words
    assert words.endswith("noted 2026-03-01 ..")


@given(st.text(alphabet="ab[]:REDACT_\n ", max_size=200))
def test_marking_changes_no_text(text: str) -> None:
    assert "".join(span.text for span in marked(text)) == text
    lines = list(marked_lines(text))
    assert ["".join(span.text for span in line) for line in lines] == text.split("\n")


def test_markers_stand_out() -> None:
    line = marked("key=[REDACTED:aws_access_key]; [REDACTED:], [REDACTED:a b]")
    assert [span.text for span in line if span.role == "warning"] == ["[REDACTED:aws_access_key]"]


def row(**changes: object) -> RedactionRow:
    values: dict[str, object] = {
        "noted": 5,
        "ordinal": 0,
        "position": 5,
        "noted_at": datetime(2026, 3, 1, tzinfo=UTC),
        "kind": "k",
        "field": "content",
        "count": 3,
        "filter_version": "2-x",
        "stream": "session/s",
        "type": "actum.recorded",
        "occurred_at": None,
        "actor": "coder",
        "chronicum_id": "s",
    }
    return RedactionRow(**(values | changes))  # type: ignore[arg-type]


def text_of(each: RedactionRow, contexts: list[Context] | None, width: int = 60) -> str:
    blocks = redaction_blocks(each, contexts, now=datetime(2026, 3, 2, tzinfo=UTC), zone=UTC, width=width)
    return Document(blocks).plain(100_000)[0]


def test_one_stretch_of_text_is_shown_once() -> None:
    marker = "[REDACTED:k]"
    contexts = [
        Context("a ", marker, " b ", False, True),
        Context("", marker, " c\nd", True, True, True),
        Context("far ", marker, "", True, False),
    ]
    shown = text_of(row(), contexts)
    assert f"a {marker} b {marker} c" in shown and f"…far {marker}" in shown
    assert "d…" in shown
    assert "more in this field" not in shown


def test_what_cannot_be_shown_is_said() -> None:
    assert "The field does not hold this marker any more." in text_of(row(), [])
    gone = text_of(row(position=0, field="exports/a.jsonl", stream="", chronicum_id=""), [])
    assert "It stood in no event" in gone and "exports/a.jsonl" in gone
    assert "and 2 more in this field" in text_of(row(), [Context("", "[REDACTED:k]", "", False, False)])
    assert "S found later; event 9 says so" in text_of(row(noted=9), [])


def said_of(report: Rescan) -> str:
    return report_text(report, Path("/w"))


def test_a_report_says_what_still_holds_old_text() -> None:
    done = Scrubbed(
        filter_version="2-x",
        events=9,
        rewritten=2,
        artifacts=1,
        emptied=False,
        readers=["viewer (4711)"],
        closed=["exports/a.jsonl"],
        unreadable=1,
        resumed=True,
        backups=[
            BackupState(Path("/w/backups/a.db"), 1204, True),
            BackupState(Path("/w/backups/b.db"), 0, None),
            BackupState(Path("/elsewhere/c.db"), 3, False),
        ],
    )
    done.add([Hit("event 3", 3, "content", "jwt", 2)])
    said = said_of(done)
    assert said.startswith("✓ 2 secrets removed from 1 place.\n")
    assert "Written anew: 2 events, 1 artifact." in said
    assert "A scrub that had been cut short was completed first." in said
    assert "The write-ahead log could not be emptied" in said and "viewer (4711)" in said
    assert "Backups  1 of 3 holds some, 1 cannot be read" in said
    assert said.index("backups/a.db") < said.index("backups/b.db") < said.index("/elsewhere/c.db")
    assert "still holds some · up to event 1\u00a0204" in said
    assert "exports/a.jsonl" in said and "1 event whose payload is broken" in said
    assert "   2  jwt  event 3  content" in said


def test_a_report_without_findings() -> None:
    assert said_of(Rescan(filter_version="2-x", events=1)).startswith(
        "✓ Today's filter would remove nothing."
    )
    assert said_of(Scrubbed(filter_version="2-x")).startswith("✓ There was nothing to remove.")
    resumed = said_of(Scrubbed(filter_version="2-x", resumed=True))
    assert resumed.startswith("✓ A scrub that had been cut short was completed.")


def test_a_report_names_so_many_places_and_counts_all() -> None:
    report = Rescan(filter_version="2-x")
    report.add(Hit(f"event {at}", at, "content", "jwt", 1) for at in range(1, KEPT + 501))
    said = said_of(report)
    assert "2\u00a0500 secrets would be removed from 2\u00a0500 places." in said
    assert "Places  2\u00a0000 of 2\u00a0500" in said and said.count("event ") >= KEPT
    assert "The first 2\u00a0000 places are named" in said


def test_hints_name_the_most_urgent_thing() -> None:
    assert hint_text(None, "d", "X") == ""
    assert hint_text(StoredState(0, 0, 0), "d", "X") == ""
    due = hint_text(StoredState(1204, 3, 0), "d", "X")
    assert (
        due.startswith("The filter's rules changed: 1\u00a0204 events were stored before.") and " d " in due
    )
    assert "1 event was stored" in hint_text(StoredState(1, 0, 0), "d", "X")
    assert hint_text(StoredState(0, 1, 0), "d", "X").endswith("in what is stored. X takes them out.")
    assert hint_text(StoredState(5, 1, 2), "d", "X") == "A scrub was cut short. X completes it."
    # Who cannot write is not told of a key that would not work.
    assert hint_text(StoredState(0, 1, 0), "d", "").endswith("in what is stored.")


def test_an_empty_list_says_why() -> None:
    def said(wanted: RedactionFilter) -> str:
        return "\n".join(
            "".join(span.text for span in line) for line in empty_lines(wanted, "c", "p", Path("/w"))
        )

    assert "Nothing was removed yet" in said(RedactionFilter())
    assert "c shows every redaction again" in said(RedactionFilter(actor="x"))
    assert "field, actor and stream" in said(RedactionFilter(text="x"))


def test_what_can_be_edited() -> None:
    assert editable("plain\ttext\r\nwith 日本語 and\u00a0spaces\u3000")
    assert editable("")
    assert not editable("a" * (MOST_TYPED + 1))
    for char in ("\x1b", "\x00", "\x9b", "\u202e", "\u200b", "\ud800", "\x85", "\u2028"):
        assert not editable(f"a{char}b")

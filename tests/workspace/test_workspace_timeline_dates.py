"""Dates as people type them, in the zone of the workspace."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.workspace.readers.timeline_dates import parse_moment, parse_range, range_text

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 31, 12, 30, 15, tzinfo=UTC)
"""14:30:15 in Berlin, two days after the clocks went forward there."""


def utc(*when: int) -> datetime:
    return datetime(*when, tzinfo=UTC)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-03", utc(2026, 11, 2, 23)),
        ("2026-11-03 14:00", utc(2026, 11, 3, 13)),
        ("2026-07-03T14:00", utc(2026, 7, 3, 12)),
        ("2026-07-03T14:00Z", utc(2026, 7, 3, 14)),
        ("2026-07-03 14:00:30+05:00", utc(2026, 7, 3, 9, 0, 30)),
        ("2026-11", utc(2026, 10, 31, 23)),
        ("today", utc(2026, 3, 30, 22)),
        ("Yesterday", utc(2026, 3, 29, 22)),
        ("yesterday 9:05", utc(2026, 3, 30, 7, 5)),
        ("tomorrow", utc(2026, 3, 31, 22)),
        ("14:30", utc(2026, 3, 31, 12, 30)),
        ("09:00:05", utc(2026, 3, 31, 7, 0, 5)),
        ("now", NOW),
        ("  3   days ago ", utc(2026, 3, 28, 13, 30, 15)),
        ("a week ago", utc(2026, 3, 24, 13, 30, 15)),
        ("1 month ago", utc(2026, 2, 28, 13, 30, 15)),
        ("a year ago", utc(2025, 3, 31, 12, 30, 15)),
        ("72 hours ago", utc(2026, 3, 28, 12, 30, 15)),
        ("20 min ago", utc(2026, 3, 31, 12, 10, 15)),
        # The hour that the clocks left out counts from before it; the one that came twice is the first.
        ("2026-03-29 02:30", utc(2026, 3, 29, 1, 30)),
        ("2026-10-25 02:30", utc(2026, 10, 25, 0, 30)),
    ],
)
def test_moments(text: str, moment: datetime) -> None:
    assert parse_moment(text, BERLIN, NOW) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12400",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "25:00",
        "soon",
        "9999999 days ago",
        "3 days",
        "14h",
        "x",
    ],
)
def test_what_names_no_moment(text: str) -> None:
    assert parse_moment(text, BERLIN, NOW) is None


@given(st.text())
def test_any_text_is_a_moment_or_none(text: str) -> None:
    for said in (text, f"{text} ago", f"yesterday {text}", f"2026-03-02 {text}"):
        parse_moment(said, BERLIN, NOW)
        parse_range(said, BERLIN, NOW)
        parse_range(f"{said} .. {text}", BERLIN, NOW)


@given(st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)), st.sampled_from([UTC, BERLIN]))
def test_any_time_on_the_wall_is_read(when: datetime, zone: ZoneInfo) -> None:
    read = parse_moment(when.isoformat(" "), zone, NOW)
    assert read is not None
    back = read.astimezone(zone).replace(tzinfo=None)
    # A time that the clocks left out is read as it would have been; nothing else moves.
    assert abs(back - when) in (timedelta(0), timedelta(hours=1)) or when.year < 1900


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("2026-03-01 .. 2026-03-04", utc(2026, 2, 28, 23), utc(2026, 3, 4, 23)),
        ("2026-03-29", utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
        ("yesterday", utc(2026, 3, 29, 22), utc(2026, 3, 30, 22)),
        ("2026-03", utc(2026, 2, 28, 23), utc(2026, 3, 31, 22)),
        ("2026-12", utc(2026, 11, 30, 23), utc(2026, 12, 31, 23)),
        ("2026-03-02 14:00 .. 2026-03-02 15:30", utc(2026, 3, 2, 13), utc(2026, 3, 2, 14, 31)),
        ("14:30", utc(2026, 3, 31, 12, 30), utc(2026, 3, 31, 12, 31)),
        ("2026-03-01 ..", utc(2026, 2, 28, 23), None),
        ("… 2026-03-01", None, utc(2026, 3, 1, 23)),
        ("3 days ago .. now", utc(2026, 3, 28, 13, 30, 15), NOW),
        ("2026-03-01 to today", utc(2026, 2, 28, 23), utc(2026, 3, 31, 22)),
    ],
)
def test_ranges(text: str, since: datetime | None, until: datetime | None) -> None:
    assert parse_range(text, BERLIN, NOW) == (since, until)


@pytest.mark.parametrize(
    "text", ["", "..", "a .. b", "2026-03-04 .. 2026-03-01", "2026-03-01 .. x", "1 .. 2 .. 3"]
)
def test_what_is_no_range(text: str) -> None:
    assert parse_range(text, BERLIN, NOW) is None


seconds = st.datetimes(datetime(1950, 1, 1), datetime(2080, 1, 1)).map(
    lambda when: when.replace(microsecond=0, tzinfo=UTC)
)


@given(
    seconds, st.timedeltas(timedelta(minutes=1), timedelta(days=3000)), st.sampled_from(["", "day", "minute"])
)
def test_a_range_is_written_as_it_is_read(since: datetime, length: timedelta, step: str) -> None:
    # In a zone an hour may come twice, and a text names only one of the two.
    zone = UTC
    until = (since + length).replace(microsecond=0)
    if step == "day":
        since = since.replace(hour=0, minute=0, second=0)
        until = until.replace(hour=0, minute=0, second=0) + timedelta(days=1)
    elif step == "minute":
        since, until = since.replace(second=0), until.replace(second=0) + timedelta(minutes=1)
    for ends in ((since, until), (since, None), (None, until)):
        assert parse_range(range_text(ends[0], ends[1], zone), zone, NOW) == ends


def test_a_day_is_one_word() -> None:
    day = parse_range("2026-03-29", BERLIN, NOW)
    assert day is not None
    assert range_text(*day, BERLIN) == "2026-03-29"
    assert (
        range_text(utc(2026, 3, 1, 13), utc(2026, 3, 4, 9, 30), BERLIN)
        == "2026-03-01 14:00 .. 2026-03-04 10:29"
    )

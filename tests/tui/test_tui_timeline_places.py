"""What is typed to go somewhere, and where it leads."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.timeline_probe import NOW, TALK, entry, make_workspace
from workbench.log import PendingEvent
from workbench.log.streams import session_stream
from workbench.tui.present import exact
from workbench.tui.timeline.places import (
    IdPrefix,
    Moment,
    NoSuchPlace,
    Where,
    beyond_all,
    find_place,
    parse_place,
)
from workbench.workspace import Workspace
from workbench.workspace.rows import TimelineFilter

BERLIN = ZoneInfo("Europe/Berlin")


def moment(*when: int) -> Moment:
    return Moment(round(datetime(*when, tzinfo=UTC).timestamp()) * 1_000_000)  # type: ignore[misc, arg-type]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("12400", 12400),
        (" 12 400 ", 12400),
        ("12\u00a0400", 12400),
        ("1,000,000", 1_000_000),
        ("#7", 7),
        ("20260302", 20260302),
        ("1.000.000", 1_000_000),
        ("019cad9a-b896-7196-b326-7160dd768aca", IdPrefix("019cad9ab8967196b3267160dd768aca")),
        ("019CAD9AB8967196B3267160DD768ACA", IdPrefix("019cad9ab8967196b3267160dd768aca")),
        ("2026-03-02", moment(2026, 3, 1, 23)),
        ("2026-03-02 14:00", moment(2026, 3, 2, 13)),
        ("2026-07-02T14:00", moment(2026, 7, 2, 12)),
        ("2026-03-02T14:00Z", moment(2026, 3, 2, 14)),
        ("2026-03-02 14:00:30+05:00", moment(2026, 3, 2, 9, 0, 30)),
        ("1969-12-31T23:59:00Z", Moment(-60_000_000)),
        ("019cad9a", IdPrefix("019cad9a")),
        ("01920345", IdPrefix("01920345")),
        ("abcd", IdPrefix("abcd")),
        ("019cad9a-b896-71", IdPrefix("019cad9ab89671")),
        ("yesterday", moment(2026, 3, 2, 23)),
        ("14:30", moment(2026, 3, 4, 13, 30)),
        ("3 days ago", moment(2026, 3, 1, 12)),
    ],
)
def test_places(text: str, place: Where) -> None:
    assert parse_place(text, BERLIN, NOW) == place


@pytest.mark.parametrize(
    "text",
    [
        *("", "-1", "12a", "2026-13-40", "someday", "[b]", "9999-99", "٣٤", "abc", "f" * 33),
        *("1.5", "12,5", "1 2", "1..000", "9" * 20, "9" * 4_500),
    ],
)
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(NoSuchPlace) as raised:
        parse_place(text, BERLIN, NOW)
    assert "2026-03-02 14:00" in raised.value.hint


@given(st.text())
def test_any_text_is_a_place_or_refused(text: str) -> None:
    with suppress(NoSuchPlace):
        parse_place(text, BERLIN, NOW)


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)))
def test_any_time_is_a_moment(when: datetime) -> None:
    place = parse_place(when.isoformat(" "), UTC, NOW)
    assert isinstance(place, Moment)


def test_places_lead_to_events(tmp_path: Path) -> None:
    with Workspace.open(make_workspace(tmp_path / "w", TALK), read_only=True) as workspace:
        reader = workspace.readers.timeline
        events = reader.page(TimelineFilter(), 100)
        assert find_place(reader, 3) == 3
        assert find_place(reader, IdPrefix(events[4].event_id.replace("-", ""))) == 5
        for event in events:
            at = Moment(round(event.recorded_at.timestamp() * 1_000_000))
            assert find_place(reader, at) == event.position
            assert find_place(reader, Moment(at.micros + 1)) == min(event.position + 1, len(events))
        assert find_place(reader, parse_place("1970-01-01", BERLIN, NOW)) == 1
        assert find_place(reader, parse_place("2100-01-01", BERLIN, NOW)) == len(events)
        assert find_place(reader, parse_place("2026-03-01", BERLIN, NOW)) == 1
        for nowhere in (0, len(events) + 1, IdPrefix("f" * 32), IdPrefix("0000")):
            with pytest.raises(NoSuchPlace):
                find_place(reader, nowhere)


def test_a_date_beyond_all_events_is_said_to_be(tmp_path: Path) -> None:
    with Workspace.open(make_workspace(tmp_path / "w", TALK), read_only=True) as workspace:
        reader = workspace.readers.timeline
        events = reader.page(TimelineFilter(), 100)

        def said(text: str) -> str:
            place = parse_place(text, BERLIN, NOW)
            assert isinstance(place, Moment)
            return beyond_all(reader, place, BERLIN)

        first, last = (exact(each.happened_at, BERLIN) for each in (events[0], events[-1]))
        for early in ("1970-01-01", "0001-01-03"):
            assert said(early) == f"Nothing happened before {first}: this is the first event."
        for late in ("2100-01-01", "9999-12-30"):
            assert said(late) == f"Nothing happened after {last}: this is the last event."
        # The first event of the day that was asked for is what was asked for.
        assert said(first[:10]) == ""
        assert said(exact(events[1].happened_at, BERLIN)) == ""


def test_typed_dates_mean_when_things_happened(tmp_path: Path) -> None:
    root = make_workspace(tmp_path / "w")
    with Workspace.open(root) as workspace:
        workspace.log.append(
            session_stream("s1"),
            [
                PendingEvent(payload=entry(f"entry {day}"), occurred_at=datetime(2025, 5, day, tzinfo=UTC))
                for day in (9, 3, 6)
            ],
        )
        reader = workspace.readers.timeline

        def leads(text: str) -> int:
            return find_place(reader, parse_place(text, UTC, NOW))

        assert [leads(f"2025-05-0{day}") for day in (1, 4, 7)] == [2, 3, 1]
        # Beyond the last one stands the last one that happened, not the last one recorded.
        assert leads("2025-06-01") == 1
        prefix = reader.page(TimelineFilter(), 1)[0].event_id
        assert leads(prefix) == 3
        with pytest.raises(NoSuchPlace, match="several events have ids that begin with"):
            leads(prefix[:4])


def test_an_empty_timeline_has_no_places(tmp_path: Path) -> None:
    with (
        Workspace.open(make_workspace(tmp_path / "w"), read_only=True) as workspace,
        pytest.raises(NoSuchPlace, match="no events yet"),
    ):
        find_place(workspace.readers.timeline, 1)

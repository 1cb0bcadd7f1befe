"""The timeline in both orders against a list sorted in Python, with every part of a filter."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from tests.workspace.workspace_cases import actum, begin, open_log, unit
from workbench.log import EventLog, PendingEvent
from workbench.log.streams import session_stream
from workbench.log.times import from_micros, to_micros
from workbench.workspace.readers import Readers, timeline_parts, timeline_walks, timeline_words
from workbench.workspace.readers.timeline_queries import FIRST_PLACE, LAST_PLACE, TimelineReader, place_of
from workbench.workspace.rows import EventRow, Place, TimelineFilter

SIZE = 300
BASE = datetime(2026, 3, 28, 22, tzinfo=UTC)
MOMENTS = [
    BASE + timedelta(hours=hours, microseconds=micros) for hours in (0, 1, 2, 26, 500) for micros in (0, 1)
] + [datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)]
ACTORS = ("ann", "bob")
WORDS = ("fig", "plum", "figment")


class Event(NamedTuple):
    place: Place
    type: str
    actor: str
    word: str
    stream: str
    private: bool


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventLog, list[Event]]]:
    """Few moments for many events, some of them without a claimed time, far apart and all in disorder."""
    chance = random.Random(5)
    written: list[tuple[str, str, str, str, bool]] = []
    with open_log(tmp_path_factory.mktemp("orders") / "log.db") as log:
        for name in ("s0", "s1"):
            begin(log, name)
            written.append(("chronicum.created", "", "", f"session/{name}", False))
        while len(written) < SIZE:
            name = f"s{chance.randrange(2)}"
            hidden = chance.random() < 0.1
            moment = None if chance.random() < 0.2 else chance.choice(MOMENTS)
            word, actor = chance.choice(WORDS), chance.choices(ACTORS, [30, 1])[0]
            if chance.random() < 0.1:
                log.append(
                    session_stream(name),
                    [
                        PendingEvent(
                            payload=unit(name, word),
                            occurred_at=moment,
                            visibility="private" if hidden else "public",
                        )
                    ],
                )
                written.append(("unit.closed", "", word, f"session/{name}", hidden))
            else:
                log.append(
                    session_stream(name),
                    [actum(name, private=hidden, content=word, actor=actor, occurred_at=moment)],
                )
                written.append(("actum.recorded", actor, word, f"session/{name}", hidden))
        rows = Readers(log).timeline.page(TimelineFilter(), SIZE)
        yield log, [Event(place_of(row), *known) for row, known in zip(rows, written, strict=True)]


@pytest.fixture(params=["few at once", "in steps", "in steps, some read"], autouse=True)
def pace(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a small log, and as on one of millions."""
    if request.param == "in steps, some read":
        monkeypatch.setattr(timeline_words, "_LONG_LOG", 0)
        monkeypatch.setattr(timeline_words, "_READS", (3, 5))
        monkeypatch.setattr(timeline_words, "READ", 8)
        monkeypatch.setattr(timeline_walks, "READ", 8)
    if request.param != "few at once":
        monkeypatch.setattr(timeline_parts, "FEW", 1)
        monkeypatch.setattr(timeline_walks, "FEW", 1)
        monkeypatch.setattr(timeline_walks, "_STRETCH", 3)
        monkeypatch.setattr(timeline_walks, "_LONGEST_STRETCH", 11)
        monkeypatch.setattr(timeline_walks, "_WINDOW", 7)
        monkeypatch.setattr(timeline_walks, "_WIDEST_WINDOW", 13)


def passes(event: Event, wanted: TimelineFilter) -> bool:
    happened = from_micros(event.place.happened)
    return (
        (not wanted.types or event.type in wanted.types)
        and (not wanted.actors or event.actor in wanted.actors)
        and event.word.startswith(wanted.text)
        and (not wanted.text or event.word != "")
        and (not wanted.streams or event.stream in wanted.streams)
        and (not wanted.visibility or event.private == (wanted.visibility == "private"))
        and (wanted.since is None or happened >= wanted.since)
        and (wanted.until is None or happened < wanted.until)
    )


ends = st.none() | st.sampled_from([*MOMENTS, BASE + timedelta(hours=1, microseconds=2)])
filters = st.builds(
    TimelineFilter,
    types=st.lists(st.sampled_from(["actum.recorded", "unit.closed", "no.such"]), max_size=2).map(tuple),
    actors=st.lists(st.sampled_from([*ACTORS, "nobody"]), max_size=2).map(tuple),
    text=st.sampled_from(["", "", "fig", "plum", "absent"]),
    streams=st.lists(st.sampled_from(["session/s0", "session/s1", "x"]), max_size=2).map(tuple),
    visibility=st.sampled_from(["", "", "private", "public"]),
    since=ends,
    until=ends,
)
quiet = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def positions(rows: list[EventRow]) -> list[int]:
    return [row.position for row in rows]


@quiet
@given(wanted=filters, limit=st.integers(1, 60), at=st.integers(0, SIZE - 1))
def test_any_page_as_it_happened(
    history: tuple[EventLog, list[Event]], wanted: TimelineFilter, limit: int, at: int
) -> None:
    log, events = history
    reader = Readers(log).timeline
    place = events[at].place
    expected = [event.place for event in sorted(events) if passes(event, wanted)]
    above = [p.position for p in expected if p > place]
    below = [p.position for p in expected if p < place]
    assert positions(reader.search_happened(wanted, limit, after=place).rows) == above[:limit]
    assert positions(reader.search_happened(wanted, limit, before=place).rows) == below[-limit:]
    every = [p.position for p in expected]
    assert positions(reader.search_happened(wanted, limit).rows) == every[-limit:]
    assert positions(reader.search_happened(wanted, limit, after=FIRST_PLACE).rows) == every[:limit]
    assert positions(reader.search_happened(wanted, limit, before=LAST_PLACE).rows) == every[-limit:]


@quiet
@given(wanted=filters, limit=st.integers(1, 60), at=st.integers(0, SIZE + 1))
def test_any_page_as_recorded(
    history: tuple[EventLog, list[Event]], wanted: TimelineFilter, limit: int, at: int
) -> None:
    log, events = history
    reader = Readers(log).timeline
    expected = [event.place.position for event in events if passes(event, wanted)]
    assert positions(reader.page(wanted, limit, after=at)) == [p for p in expected if p > at][:limit]
    assert positions(reader.page(wanted, limit, before=at)) == [p for p in expected if p < at][-limit:]
    assert reader.count(wanted) == len(expected)
    assert reader.passes(wanted, at) == (at in expected)


@quiet
@given(wanted=filters, limit=st.integers(1, 90))
def test_pages_meet_in_both_directions(
    history: tuple[EventLog, list[Event]], wanted: TimelineFilter, limit: int
) -> None:
    log, events = history
    reader = Readers(log).timeline

    def forward() -> list[int]:
        seen: list[int] = []
        place = FIRST_PLACE
        while rows := reader.search_happened(wanted, limit, after=place).rows:
            seen += positions(rows)
            place = place_of(rows[-1])
        return seen

    def backward() -> list[int]:
        seen: list[int] = []
        place = LAST_PLACE
        while rows := reader.search_happened(wanted, limit, before=place).rows:
            seen[:0] = positions(rows)
            place = place_of(rows[0])
        return seen

    expected = [event.place.position for event in sorted(events) if passes(event, wanted)]
    assert forward() == backward() == expected


def test_a_long_search_says_where_it_has_come_to_and_is_stopped(
    history: tuple[EventLog, list[Event]], request: pytest.FixtureRequest
) -> None:
    log, events = history
    wanted = TimelineFilter(actors=("bob",), types=("actum.recorded",), visibility="public")
    told: list[Place] = []

    def go_on(looked: Place, found: int) -> bool:
        told.append(looked)
        return len(told) < 4

    found = Readers(log).timeline.search_happened(wanted, 1000, go_on=go_on)
    expected = [e.place.position for e in sorted(events) if passes(e, wanted)]
    if "in steps" in request.node.name:
        assert not found.complete
        assert told == sorted(told, reverse=True)
        assert positions(found.rows) == [
            e.place.position for e in sorted(events) if passes(e, wanted) and e.place >= told[-1]
        ]
    else:
        assert (positions(found.rows), found.complete, told) == (expected, True, [])


def test_ranks_and_places(history: tuple[EventLog, list[Event]]) -> None:
    log, events = history
    reader: TimelineReader = Readers(log).timeline
    for rank, event in enumerate(sorted(events)):
        assert reader.happened_before(event.place) == rank
        assert reader.place_of_rank(rank) == event.place
        assert reader.place_at(event.place.position) == event.place
    assert reader.place_of_rank(SIZE + 5) == sorted(events)[-1].place
    assert reader.place_at(SIZE + 1) is None
    for moment in MOMENTS:
        micros = to_micros(moment)
        expected = [event.place for event in sorted(events) if event.place.happened >= micros]
        assert reader.happened_at(micros) == (expected or [sorted(events)[-1].place])[0]
    assert reader.happened_at(2**62) == sorted(events)[-1].place


def test_ids_are_found_by_their_beginning(history: tuple[EventLog, list[Event]]) -> None:
    log, _ = history
    reader = Readers(log).timeline
    row = reader.event(77)
    assert row is not None
    digits = row.event_id.replace("-", "")
    assert reader.positions_by_id(digits) == [77]
    assert len(reader.positions_by_id(digits[:1])) == 2
    assert reader.positions_by_id("f" * 32) == []
    assert reader.positions_by_id("0" * 31) == []

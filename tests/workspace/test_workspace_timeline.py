"""The timeline against a loop over every event."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from tests.workspace.workspace_cases import START, actum, begin, counted_steps, open_log, opened, unit
from workbench.log import EventLog, PendingEvent
from workbench.log.streams import session_stream
from workbench.sessions.events import ChronicumDescribed
from workbench.workspace.readers import Readers
from workbench.workspace.rows import Bounds, EventRow, TimelineFilter

WORDS = ("plum", "pear", "fig", "figment", "Ёлка")
TYPES = ("chronicum.created", "chronicum.described", "actum.recorded", "unit.closed")
ACTORS = ("ann", "bob", "cyd")


class Event(NamedTuple):
    position: int
    type: str
    actor: str
    words: frozenset[str]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EventLog, list[Event]]]:
    chance = random.Random(11)
    events: list[Event] = []

    def note(type_name: str, actor: str, text: str) -> None:
        words = frozenset(word.casefold().replace("ё", "е") for word in text.split())
        events.append(Event(len(events) + 1, type_name, actor, words))

    with open_log(tmp_path_factory.mktemp("timeline") / "log.db") as log:
        for number in range(3):
            begin(log, f"s{number}")
            note("chronicum.created", "", "")
        for _ in range(700):
            session = f"s{chance.randrange(3)}"
            what = chance.random()
            text = " ".join(chance.sample(WORDS, chance.randrange(1, 4)))
            if what < 0.05:
                log.append(session_stream(session), [unit(session, "u", text)])
                note("unit.closed", "", f"u {text}")
            elif what < 0.08:
                log.append(session_stream(session), [ChronicumDescribed(title=text)])
                note("chronicum.described", "", text)
            else:
                actor = chance.choices(ACTORS, [60, 10, 1])[0]
                log.append(session_stream(session), [actum(session, content=text, actor=actor)])
                note("actum.recorded", actor, f"{actor} {text}")
        yield log, events


def passes(event: Event, wanted: TimelineFilter) -> bool:
    """The filter as its definition says: all words, the last one as a beginning."""
    words = [word.casefold().replace("ё", "е") for word in wanted.text.split()]
    return (
        (not wanted.types or event.type in wanted.types)
        and (not wanted.actors or event.actor in wanted.actors)
        and all(word in event.words for word in words[:-1])
        and (not words or any(word.startswith(words[-1]) for word in event.words))
    )


filters = st.builds(
    TimelineFilter,
    types=st.lists(st.sampled_from([*TYPES, "no.such"]), max_size=3).map(tuple),
    actors=st.lists(st.sampled_from([*ACTORS, "nobody"]), max_size=3).map(tuple),
    text=st.lists(st.sampled_from([*WORDS, "fi", "p", "елк", "absent"]), max_size=2).map(" ".join),
)


@settings(
    max_examples=examples(400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(wanted=filters, start=st.integers(-1, 720), limit=st.integers(0, 60))
def test_any_filter_gives_what_a_loop_gives(
    history: tuple[EventLog, list[Event]], wanted: TimelineFilter, start: int, limit: int
) -> None:
    log, events = history
    reader = Readers(log).timeline
    expected = [event.position for event in events if passes(event, wanted)]

    def positions(rows: list[EventRow]) -> list[int]:
        return [row.position for row in rows]

    assert positions(reader.page(wanted, limit, after=start)) == [p for p in expected if p > start][:limit]
    below = [p for p in expected if p < start]
    assert positions(reader.page(wanted, limit, before=start)) == below[len(below) - min(limit, len(below)) :]
    assert positions(reader.page(wanted, limit)) == expected[len(expected) - min(limit, len(expected)) :]
    assert positions(reader.first(wanted, limit)) == expected[:limit]
    assert reader.count(wanted) == len(expected)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=filters, limit=st.integers(5, 90))
def test_pages_in_both_directions_meet(
    history: tuple[EventLog, list[Event]], wanted: TimelineFilter, limit: int
) -> None:
    log, events = history
    reader = Readers(log).timeline
    up: list[int] = []
    while page := reader.page(wanted, limit, after=up[-1] if up else 0):
        up += [row.position for row in page]
    down: list[int] = []
    while page := reader.page(wanted, limit, before=down[0] if down else None):
        down[:0] = [row.position for row in page]
    assert up == down == [event.position for event in events if passes(event, wanted)]


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    text=st.text(st.characters(), max_size=30) | st.text('"*^:(){}-+ aАNEARODT', max_size=20),
    name=st.text(st.characters(), max_size=5),
)
def test_no_question_breaks_the_timeline(history: tuple[EventLog, list[Event]], text: str, name: str) -> None:
    log, _ = history
    reader = Readers(log).timeline
    for wanted in (
        TimelineFilter(text=text),
        TimelineFilter(types=(name,), actors=(name,), text=text),
        TimelineFilter(actors=("ann",), text=text),
    ):
        assert len(reader.page(wanted, 10)) <= 10
        reader.count(wanted)


def test_long_lists_of_names_are_no_trouble(history: tuple[EventLog, list[Event]]) -> None:
    log, events = history
    wanted = TimelineFilter(actors=(*(f"n{n}" for n in range(3000)), "ann"), types=TYPES * 50)
    assert Readers(log).timeline.count(wanted) == sum(event.actor == "ann" for event in events)


def test_many_real_actors_in_one_filter(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        names = [f"agent {n}" for n in range(700)]
        log.append(session_stream("s"), [actum("s", actor=name) for name in names])
        assert readers.timeline.count(TimelineFilter(actors=tuple(names))) == 700
        wanted = TimelineFilter(actors=tuple(names), text="hello")
        assert len(readers.timeline.page(wanted, 1000)) == 700


def test_counting_can_be_stopped_and_reports_progress(history: tuple[EventLog, list[Event]]) -> None:
    log, events = history
    reader = Readers(log).timeline
    seen: list[int] = []
    wanted = TimelineFilter(actors=("ann",))
    total = reader.count(wanted, progress=seen.append)
    assert seen[-1] == total == sum(event.actor == "ann" for event in events)
    assert reader.count(wanted, cancelled=lambda: True) == 0


def test_names_for_the_filter(history: tuple[EventLog, list[Event]]) -> None:
    log, events = history
    reader = Readers(log).timeline
    assert list(reader.types()) == sorted(TYPES)
    counts = {name: sum(event.actor == name for event in events) for name in ACTORS}
    assert reader.actors() == sorted(counts.items(), key=lambda item: -item[1])
    assert reader.actors(1) == [("ann", counts["ann"])]


def test_an_empty_log(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (_, readers):
        reader = readers.timeline
        assert reader.bounds() == Bounds(0, 0)
        for wanted in (TimelineFilter(), TimelineFilter(text="x", types=("a",), actors=("b",))):
            assert reader.page(wanted, 10) == reader.first(wanted, 10) == []
            assert reader.count(wanted) == 0
        assert reader.event(1) is None
        assert reader.at_time(2**60) == 0
        assert reader.types() == []
        assert reader.actors() == []
        assert readers.totals() == (0, 0, 0, None)


def test_time_and_id_lead_to_positions(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        wanted_id = uuid4()
        log.append(session_stream("s"), [actum("s"), actum("s")])
        log.append(session_stream("s"), [PendingEvent(payload=actum("s").payload, event_id=wanted_id)])
        reader = readers.timeline
        assert reader.bounds() == Bounds(1, 4)
        assert reader.position_of(wanted_id) == 4
        assert reader.position_of(uuid4()) is None
        times = [row.recorded_at for row in reader.page(TimelineFilter(), 9)]
        assert times[1] == times[2]

        def at(offset: timedelta, index: int) -> int:
            return reader.at_time(int((times[index] + offset).timestamp() * 1_000_000))

        tick = timedelta(microseconds=1)
        assert [at(timedelta(0), n) for n in range(4)] == [1, 3, 3, 4]
        assert [at(-tick, n) for n in range(4)] == [0, 1, 1, 3]
        assert reader.at_time(-(2**60)) == 0


def test_rows_are_whole_small_and_clipped_large(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        long = "ж" * 60_000
        log.append(
            session_stream("s"),
            [
                actum("s", "tool_response", "agent", True, content="short", actor="bot", occurred_at=START),
                actum("s", content=long, number=2, small=[1], flag=True, none=None),
                actum("s", content="short", big={"k": "v" * 50_000}),
                actum("s", content=f"ab\0cd{long}", number=4),
            ],
        )
        reader = readers.timeline
        _, small, large, meta, nul = reader.page(TimelineFilter(), 10)
        assert (small.whole, small.private, small.actor, small.occurred_at) == (True, True, "bot", START)
        assert small.payload["content"] == "short"
        assert (large.whole, large.payload_bytes > 120_000) == (False, True)
        assert large.payload["content"] == "ж" * 4000
        assert large.payload["metadata"] == {"small": [1], "flag": True, "none": None}
        assert (large.payload["id"], large.actor) == ("id-2", "ann")
        assert (meta.whole, meta.payload["content"], meta.payload["metadata"]) == (False, "short", {})
        assert nul.payload["content"] == "ab\0cd" + "ж" * 3995
        for row, content in ((large, long), (nul, f"ab\0cd{long}")):
            whole = reader.event(row.position)
            assert whole is not None
            assert (whole.whole, whole.payload["content"]) == (True, content)
            assert whole.payload_bytes == row.payload_bytes
        assert readers.totals()[:3] == (5, 1, 4)


def test_a_rare_part_leads_whatever_its_place(tmp_path: Path) -> None:
    """One event of an actor among many: the common type is not walked."""

    def steps(length: int) -> int:
        with open_log(tmp_path / f"{length}.db") as log:
            begin(log, "s")
            log.append(session_stream("s"), [actum("s", actor="rare", content="common")])
            for _ in range(length // 1000):
                log.append(session_stream("s"), [actum("s", content="common") for _ in range(1000)])
            with counted_steps(log) as counted:
                wanted = TimelineFilter(types=("actum.recorded",), actors=("rare",))
                assert [row.position for row in Readers(log).timeline.page(wanted, 50)] == [2]
                return sum(counted)

    assert steps(30_000) <= 1.2 * steps(3_000)


def test_private_events_are_shown_and_marked(tmp_path: Path) -> None:
    with opened(tmp_path / "log.db") as (log, readers):
        begin(log, "s")
        log.append(session_stream("s"), [actum("s", private=True), actum("s")])
        assert [row.private for row in readers.timeline.page(TimelineFilter(), 10)] == [False, True, False]

"""Replaying what was recorded: strictly, or going on from where it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.log.log_cases import TYPES, Said, said
from tests.log.pin_cases import KIND, A, Broken, Effect, books, ledger, open_log, replay, same, units
from tests.log.projection_cases import NOTED, NOTED_TWICE, Noted, NotedTwice, split_line
from workbench.log import EventLog, EventType, EventTypeRegistry, Payload, PendingEvent, StoredEvent
from workbench.log.errors import InvalidPayload, UnknownEventType
from workbench.log.pins.errors import Divergence, NotCanonical, PinMiss
from workbench.log.pins.events import EVENT_TYPES, PinPromoted
from workbench.log.pins.keys import pin_key
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.replay import ReplayPins
from workbench.log.pins.resolver import Pin, PinResolver
from workbench.log.pins.sqlite import ScratchRow
from workbench.log.upcasts import UpcastGap, UpcastRegistry

ONE, TWO, THREE, FOUR = (pin_key(KIND, {"n": number}) for number in (1, 2, 3, 4))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


def drawn(pins: PinResolver, effect: Effect, key: str = ONE, kind: str = KIND) -> Any:
    """The result of a key as it is."""
    return pins.resolve(key, kind=kind, effect=effect, interpret=same)


def recorded(log: EventLog, results: dict[str, Any], unit_id: str = "recorded") -> None:
    """Commit a unit with these results."""
    pins = ledger(log, unit_id)
    for key, result in results.items():
        drawn(pins, Effect(result), key)
    pins.commit()


def test_what_was_committed_is_replayed_without_an_effect(log: EventLog) -> None:
    recorded(log, {ONE: {"a": [1]}, TWO: "two"})
    again, effect = replay(log), Effect()
    first = drawn(again, effect)
    assert first == {"a": [1]}
    first["a"].append(2)
    assert drawn(again, effect) == {"a": [1]}
    assert drawn(again, effect, TWO) == "two"
    assert (effect.calls, again.divergence, again.ledger) == (0, None, None)
    assert units(log) == []


def test_none_is_replayed(log: EventLog) -> None:
    pins = ledger(log)
    pins.resolve(ONE, kind=KIND, effect=lambda: None, interpret=same)
    pins.commit()
    assert replay(log).resolve(ONE, kind=KIND, effect=Effect(), interpret=same) is None


def test_invariant_52_a_strict_replay_draws_nothing_and_tells_its_first_miss(log: EventLog) -> None:
    recorded(log, {ONE: 1, TWO: 2})
    again, effect = replay(log), Effect()
    drawn(again, effect)
    drawn(again, effect, TWO)
    for key in (THREE, FOUR):
        with pytest.raises(PinMiss, match=key) as caught:
            drawn(again, effect, key)
        assert caught.value.code == "pin_miss"
        assert caught.value.divergence == again.divergence == Divergence(THREE, KIND, 2)
        # What is recorded is still answered.
        assert drawn(again, effect) == 1
    assert effect.calls == 0


async def test_invariant_52_a_strict_replay_misses_by_every_way_of_asking(log: EventLog) -> None:
    again, effect = replay(log), Effect()
    with pytest.raises(PinMiss):
        await again.resolve_async(ONE, kind=KIND, effect=effect.awaited, interpret=same)

    @asynccontextmanager
    async def opened() -> AsyncIterator[list[str]]:
        effect()
        yield []

    stream = again.resolve_stream(ONE, kind=KIND, effect=opened, capture=same, interpret=same)
    with pytest.raises(PinMiss):
        async with stream:
            raise AssertionError("the block was entered")
    assert effect.calls == 0


async def test_every_way_of_asking_gets_what_was_recorded_by_any(log: EventLog) -> None:
    recorded(log, {ONE: ["a", "b"]})
    again, effect = replay(log), Effect()
    assert await again.resolve_async(ONE, kind=KIND, effect=effect.awaited, interpret=same) == ["a", "b"]

    @asynccontextmanager
    async def opened() -> AsyncIterator[list[str]]:
        effect()
        yield []

    async with again.resolve_stream(ONE, kind=KIND, effect=opened, capture=same, interpret=same) as stream:
        assert stream == ["a", "b"]
    assert effect.calls == 0


def test_invariant_53_a_replay_that_records_notes_where_it_went_on_and_replays_strictly(
    log: EventLog, tmp_path: Path
) -> None:
    recorded(log, {ONE: 1, TWO: 2})
    with open_log(tmp_path / "second.db") as second:
        into = ledger(second, "went on")
        again, effect = replay(log, on_miss="record", into=into), Effect()
        assert again.ledger is into
        assert drawn(again, effect) == 1
        assert drawn(again, effect, THREE) == {"call": 1}
        assert drawn(again, effect, FOUR) == {"call": 2}
        assert drawn(again, effect, THREE) == {"call": 1}
        assert drawn(again, effect, TWO) == 2
        assert again.divergence == Divergence(THREE, KIND, 1)
        assert effect.calls == 2
        into.commit()
        first, *rest = books(second)
        assert first.envelope.type == "pin.diverged"
        assert first.payload == {"drawn_for": A.name, "kind": KIND, "missed_key": THREE, "unit_id": "went on"}
        assert [event.payload["key"] for event in rest] == [ONE, THREE, FOUR, TWO]

        strict, untouched = replay(second), Effect()
        assert [drawn(strict, untouched, key) for key in (ONE, TWO, THREE, FOUR)] == [
            1,
            2,
            {"call": 1},
            {"call": 2},
        ]
        assert untouched.calls == 0


def test_a_replay_that_records_and_misses_nothing_has_not_diverged(log: EventLog, tmp_path: Path) -> None:
    recorded(log, {ONE: 1})
    with open_log(tmp_path / "second.db") as second:
        into = ledger(second)
        drawn(replay(log, on_miss="record", into=into), Effect())
        into.commit()
        assert [event.envelope.type for event in books(second)] == ["pin.promoted"]


def test_a_failed_draw_of_a_replay_that_records_is_drawn_again(log: EventLog) -> None:
    again = ReplayPins({}, on_miss="record", into=ledger(log))
    effect = Effect(fails=1)
    with pytest.raises(Broken):
        drawn(again, effect)
    assert again.pins == {}

    def refuse(result: Any) -> None:
        raise ValueError(result)

    with pytest.raises(ValueError, match="call"):
        again.resolve(ONE, kind=KIND, effect=effect, interpret=refuse)
    assert again.pins == {ONE: Pin(KIND, {"call": 2})}
    assert drawn(again, effect) == {"call": 2}


async def test_a_replay_that_records_draws_for_tasks_and_streams_as_a_ledger_does(log: EventLog) -> None:
    again, effect = ReplayPins({}, on_miss="record", into=ledger(log)), Effect()
    results = await asyncio.gather(
        *(again.resolve_async(ONE, kind=KIND, effect=effect.awaited, interpret=same) for _ in range(3))
    )
    assert results == [{"call": 1}] * 3

    @asynccontextmanager
    async def opened() -> AsyncIterator[list[str]]:
        yield []

    for _ in range(2):
        stream = again.resolve_stream(TWO, kind=KIND, effect=opened, capture=same, interpret=same)
        async with stream as words:
            words.append("w")
    assert again.pins == {ONE: Pin(KIND, {"call": 1}), TWO: Pin(KIND, ["w"])}


def test_a_replay_that_records_goes_on_after_a_crash(tmp_path: Path) -> None:
    effect = Effect()
    for _ in range(2):
        with open_log(tmp_path / "log.db") as log:
            again = ReplayPins({ONE: Pin(KIND, 1)}, on_miss="record", into=ledger(log))
            assert drawn(again, effect) == 1
            assert drawn(again, effect, TWO) == {"call": 1}
    with open_log(tmp_path / "log.db") as log:
        ledger(log).commit()
        assert [event.envelope.type for event in books(log)] == [
            "pin.diverged",
            "pin.promoted",
            "pin.promoted",
        ]
        assert books(log)[0].payload["missed_key"] == TWO


def test_a_recorded_result_that_is_no_json_reaches_no_ledger(log: EventLog) -> None:
    again = ReplayPins({ONE: Pin(KIND, float("nan"))}, on_miss="record", into=ledger(log))
    with pytest.raises(NotCanonical):
        drawn(again, Effect())
    assert units(log) == []


@pytest.mark.parametrize(
    ("on_miss", "with_ledger"), [("lenient", False), ("lenient", True), ("record", False), ("strict", True)]
)
def test_invariant_54_what_a_replay_cannot_be_is_refused(
    log: EventLog, on_miss: Any, with_ledger: bool
) -> None:
    with pytest.raises(ValueError, match="replay"):
        ReplayPins({}, on_miss=on_miss, into=ledger(log) if with_ledger else None)


def test_invariant_55_of_two_pins_of_one_key_the_later_one_counts(log: EventLog) -> None:
    recorded(log, {ONE: "first"}, "first")
    recorded(log, {ONE: "second", TWO: 2}, "second")
    assert drawn(replay(log), Effect()) == "second"
    of_one = replay(log, unit_id="first")
    assert of_one.pins == {ONE: Pin(KIND, "first")}
    assert replay(log, unit_id="third").pins == {}


def test_a_pin_of_another_kind_is_a_miss(log: EventLog) -> None:
    recorded(log, {ONE: 1})
    effect = Effect()
    with pytest.raises(PinMiss) as caught:
        drawn(replay(log), effect, ONE, "other")
    assert caught.value.divergence == Divergence(ONE, "other", 0)
    assert effect.calls == 0
    into = ledger(log)
    again = replay(log, on_miss="record", into=into)
    assert drawn(again, effect, ONE, "other") == {"call": 1}
    assert into.pins() == [ScratchRow("unit", ONE, "other", {"call": 1}, 1)]


def test_only_promoted_pins_are_read_and_nobody_elses_events(log: EventLog) -> None:
    log.append(A, [said("1")])
    recorded(log, {ONE: 1})
    ledger(log).abandon()
    types = EventTypeRegistry(EVENT_TYPES)
    assert ReplayPins.from_events(log.read(), types).pins == {ONE: Pin(KIND, 1)}
    with pytest.raises(UnknownEventType):
        ReplayPins.from_events(log.read(), EventTypeRegistry(TYPES))


def from_said(event: StoredEvent, payload: Payload) -> tuple[str, Pin] | None:
    """A pin of what was said, by the event's number in its stream."""
    return (f"key {event.seq}", Pin(KIND, payload.text)) if isinstance(payload, Said) else None


def test_pins_are_read_out_of_events_of_ones_own(log: EventLog) -> None:
    pins = PinLedger(
        log.stream(A),
        promote_as=lambda row: PendingEvent(payload=Said(who=row.pin_key, text=str(row.result))),
    )
    drawn(pins, Effect("x"))
    drawn(pins, Effect("y"), TWO)
    pins.commit()
    # The unregistered type in between is nobody's pin.
    types = EventTypeRegistry([each for each in TYPES if each.type == "said"])
    again = ReplayPins.from_events(log.read(), types, extract=from_said)
    assert again.pins == {"key 1": Pin(KIND, "x"), "key 2": Pin(KIND, "y")}
    with pytest.raises(ValueError, match="extract"):
        ReplayPins.from_events(books(log), types, extract=from_said, unit_id="unit")


def test_events_of_an_older_version_are_brought_forward_or_refused(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", types=[NOTED]) as log:
        log.append(A, [Noted(line="title and rest")])
        events = list(log.read())

    def title(event: StoredEvent, payload: Payload) -> tuple[str, Pin] | None:
        assert isinstance(payload, NotedTwice)
        return "key", Pin(KIND, payload.title)

    newer = EventTypeRegistry([NOTED, NOTED_TWICE])
    with pytest.raises(UpcastGap):
        ReplayPins.from_events(events, newer, extract=title)
    upcasts = UpcastRegistry()
    upcasts.register("test", "noted", 1, split_line)
    again = ReplayPins.from_events(events, newer, extract=title, upcasts=upcasts)
    assert again.pins == {"key": Pin(KIND, "title")}


class PinPromotedTwice(PinPromoted, frozen=True, kw_only=True):
    """A later shape of a promoted pin, as a release to come may have it."""

    why: str


def test_pins_of_an_older_version_are_brought_forward_or_refused(log: EventLog) -> None:
    recorded(log, {ONE: 1})
    newer = EventTypeRegistry([*EVENT_TYPES, EventType("pins", "pin.promoted", 2, PinPromotedTwice)])
    with pytest.raises(UpcastGap):
        ReplayPins.from_events(books(log), newer)
    upcasts = UpcastRegistry()
    upcasts.register("pins", "pin.promoted", 1, lambda payload: {**payload, "why": "", "result": 2})
    assert ReplayPins.from_events(books(log), newer, upcasts=upcasts).pins == {ONE: Pin(KIND, 2)}


def test_a_pin_that_is_newer_than_the_program_or_broken_is_refused(log: EventLog) -> None:
    recorded(log, {ONE: 1})
    [event] = books(log)
    newer = msgspec.structs.replace(event, envelope=msgspec.structs.replace(event.envelope, schema_version=2))
    with pytest.raises(UnknownEventType, match="newer"):
        ReplayPins.from_events([newer], log.registry)
    broken = msgspec.structs.replace(event, payload={**event.payload, "key": 1})
    with pytest.raises(InvalidPayload):
        ReplayPins.from_events([broken], log.registry)


def test_the_programs_log_tells_each_miss_and_no_result(
    log: EventLog, caplog: pytest.LogCaptureFixture
) -> None:
    again = ReplayPins({TWO: Pin(KIND, "sunflower")})
    drawn(again, Effect(), TWO)
    for _ in range(2):
        with pytest.raises(PinMiss):
            drawn(again, Effect())
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert ONE in caplog.text
    assert "sunflower" not in caplog.text

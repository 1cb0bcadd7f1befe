"""Drawing by awaiting: tasks that want one key at once, and answers that are read while they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.log.pin_cases import KIND, Broken, Effect, books, ledger, open_log, same, units
from workbench.log import EventLog
from workbench.log.pins.keys import pin_key
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.sqlite import ScratchRow

KEY, OTHER = pin_key(KIND, {"n": 1}), pin_key(KIND, {"n": 2})


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


class Slow(Effect):
    """Does not end before everybody else who can run has run."""

    async def awaited(self) -> Any:
        for _ in range(10):
            await asyncio.sleep(0)
        return self()


def asked(pins: PinLedger, effect: Effect, key: str = KEY) -> asyncio.Task[Any]:
    """A task that wants a key."""
    return asyncio.ensure_future(pins.resolve_async(key, kind=KIND, effect=effect.awaited, interpret=same))


async def test_invariant_50_tasks_that_want_one_key_draw_it_once(log: EventLog) -> None:
    pins, effect = ledger(log), Slow()
    results = await asyncio.gather(*(asked(pins, effect) for _ in range(5)))
    assert results == [{"call": 1}] * 5
    assert effect.calls == 1
    assert pins.pins() == [ScratchRow("unit", KEY, KIND, {"call": 1}, 5)]


async def test_invariant_50_if_the_one_that_draws_fails_one_more_draws(log: EventLog) -> None:
    pins, effect = ledger(log), Slow(fails=1)
    results = await asyncio.gather(*(asked(pins, effect) for _ in range(5)), return_exceptions=True)
    assert isinstance(results[0], Broken)
    assert results[1:] == [{"call": 2}] * 4
    assert effect.calls == 2
    assert pins.pins()[0].attempts == 4


async def test_a_task_that_is_cancelled_hands_its_turn_on(log: EventLog) -> None:
    pins, effect = ledger(log), Slow()
    first, second, third = (asked(pins, effect) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    second.cancel()
    assert await third == {"call": 1}
    assert first.cancelled()
    assert second.cancelled()
    assert pins.pins()[0].attempts == 1
    assert pins._in_flight._turns == {}


async def test_tasks_that_want_other_keys_do_not_wait(log: EventLog) -> None:
    pins, there = ledger(log), asyncio.Event()

    async def waits() -> str:
        await there.wait()
        return "waited"

    slow = asyncio.ensure_future(pins.resolve_async(KEY, kind=KIND, effect=waits, interpret=same))
    assert await asked(pins, Effect("quick"), OTHER) == "quick"
    there.set()
    assert await slow == "waited"


async def test_the_same_key_in_units_of_their_own_is_drawn_for_each(log: EventLog) -> None:
    effect = Slow()
    await asyncio.gather(asked(ledger(log, "a"), effect), asked(ledger(log, "b"), effect))
    assert effect.calls == 2


def test_one_ledger_serves_loops_one_after_another(log: EventLog) -> None:
    pins, effect = ledger(log), Slow()

    async def both() -> list[Any]:
        return list(await asyncio.gather(asked(pins, effect), asked(pins, effect)))

    assert asyncio.run(both()) == asyncio.run(both()) == [{"call": 1}] * 2
    assert pins.pins()[0].attempts == 4


class Words:
    """A stream of words that keeps what was read of it."""

    def __init__(self, words: list[str]) -> None:
        self.left = words
        self.read: list[str] = []
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[str]:
        while self.left:
            await asyncio.sleep(0)
            self.read.append(self.left.pop(0))
            yield self.read[-1]


class Opened:
    """Opens streams and counts them."""

    def __init__(self) -> None:
        self.streams: list[Words] = []

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Words]:
        stream = Words(["one", "two", "three"])
        self.streams.append(stream)
        try:
            yield stream
        finally:
            stream.closed = True


def read_of(stream: Words) -> list[str]:
    """What a stream's result is."""
    return stream.read


async def words(pins: PinLedger, opened: Opened, upto: int = 3, fails: bool = False) -> list[str]:
    """Read a stream of words up to a number of them."""
    got: list[str] = []
    stream = pins.resolve_stream(
        KEY, kind=KIND, effect=opened, capture=read_of, interpret=lambda r: Words(list(r))
    )
    async with stream as coming:
        async for word in coming:
            got.append(word)
            if len(got) == upto:
                if fails:
                    raise Broken
                break
    return got


async def test_a_stream_is_pinned_whole_and_read_again_from_its_pin(log: EventLog) -> None:
    pins, opened = ledger(log), Opened()
    for _ in range(2):
        assert await words(pins, opened) == ["one", "two", "three"]
    assert len(opened.streams) == 1
    assert opened.streams[0].closed
    assert pins.pins() == [ScratchRow("unit", KEY, KIND, ["one", "two", "three"], 2)]


@pytest.mark.parametrize("fails", [False, True])
async def test_invariant_51_of_a_stream_that_breaks_off_is_pinned_what_had_come(
    log: EventLog, fails: bool
) -> None:
    pins, opened = ledger(log), Opened()
    try:
        await words(pins, opened, 2, fails)
    except Broken:
        assert fails
    assert opened.streams[0].closed
    assert [row.result for row in pins.pins()] == [["one", "two"]]
    assert await words(pins, opened) == ["one", "two"]
    assert len(opened.streams) == 1
    pins.commit()
    assert books(log)[0].payload["result"] == ["one", "two"]


async def test_a_stream_that_does_not_open_or_has_no_json_leaves_nothing(log: EventLog) -> None:
    pins = ledger(log)

    @asynccontextmanager
    async def broken() -> AsyncIterator[Words]:
        raise Broken
        yield

    async def read(effect: Any, capture: Callable[[Words], object]) -> None:
        stream = pins.resolve_stream(KEY, kind=KIND, effect=effect, capture=capture, interpret=same)
        async with stream:
            pass

    with pytest.raises(Broken):
        await read(broken, read_of)
    with pytest.raises(TypeError):
        await read(Opened(), lambda stream: stream)
    assert units(log) == []


async def test_invariant_50_streams_and_plain_draws_of_one_key_wait_for_each_other(log: EventLog) -> None:
    pins, opened, effect = ledger(log), Opened(), Slow()
    plain = asked(pins, effect)
    await asyncio.sleep(0)
    stream = asyncio.ensure_future(words(pins, opened))
    await plain
    assert await stream == ["call"]
    assert opened.streams == []
    pins.commit()

    streams = [asyncio.ensure_future(words(pins, opened)) for _ in range(2)]
    await asyncio.sleep(0)
    after = asked(pins, effect)
    assert await asyncio.gather(*streams) == [["one", "two", "three"]] * 2
    assert await after == ["one", "two", "three"]
    assert (len(opened.streams), effect.calls) == (1, 1)
    assert pins.pins()[0].attempts == 3

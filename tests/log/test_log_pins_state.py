"""Units of work against a model in memory, over any sequence of draws, crashes, commits and replays."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.log.log_cases import assert_whole, said
from tests.log.pin_cases import A, Broken, books, open_log, replay, same, units
from tests.thorough import examples
from workbench.log import EventLog
from workbench.log.pins.errors import Divergence, PinMiss, PinOfAnotherKind
from workbench.log.pins.keys import pin_key
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.replay import ReplayPins
from workbench.log.pins.resolver import Pin

UNITS = st.sampled_from(["first", "second"])
NUMBERS = st.integers(0, 3)
KINDS = st.sampled_from(["draw", "draw", "draw", "other"])
WAYS = st.sampled_from(["plain", "awaited", "at once"])


def key_of(number: int) -> str:
    return pin_key("draw", {"n": number})


class Undo(Exception):
    pass


class Unit:
    """What a unit holds, in the order of drawing: by key the kind, the result and how often it was used."""

    def __init__(self) -> None:
        self.pins: dict[str, tuple[str, Any, int]] = {}
        self.missed: tuple[str, str] | None = None


class PinMachine(RuleBasedStateMachine):
    """Two units that draw for one stream, some of it on top of a replay of what was committed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="pins-model-"))
        self.units = {"first": Unit(), "second": Unit()}
        self.promoted: list[tuple[str, str, str, Any, int]] = []
        """(unit, key, kind, result, attempts) as committed."""
        self.kinds: list[str] = []
        """The types of the ledger's events."""
        self.said = 0
        self.draws = 0
        self._open()

    def _open(self) -> None:
        self.log: EventLog = open_log(self.folder / "log.db")
        self.ledgers = {name: PinLedger(self.log.stream(A), unit_id=name) for name in self.units}
        self.replays: dict[str, ReplayPins] = {}

    def _effect(self) -> dict[str, int]:
        self.draws += 1
        return {"draw": self.draws}

    async def _awaited(self) -> dict[str, int]:
        await asyncio.sleep(0)
        return self._effect()

    def _ask(self, resolver: PinLedger | ReplayPins, key: str, kind: str, way: str) -> list[Any]:
        if way == "plain":
            return [resolver.resolve(key, kind=kind, effect=self._effect, interpret=same)]

        async def ask() -> list[Any]:
            asked = [
                resolver.resolve_async(key, kind=kind, effect=self._awaited, interpret=same)
                for _ in range(1 if way == "awaited" else 3)
            ]
            return list(await asyncio.gather(*asked))

        return asyncio.run(ask())

    # -- rules -----------------------------------------------------------------------------

    @rule(name=UNITS, number=NUMBERS, kind=KINDS, way=WAYS)
    def draw(self, name: str, number: int, kind: str, way: str) -> None:
        key, unit, before = key_of(number), self.units[name], self.draws
        held = unit.pins.get(key)
        if held is not None and held[0] != kind:
            with pytest.raises(PinOfAnotherKind):
                self._ask(self.ledgers[name], key, kind, way)
            assert self.draws == before
            return
        results = self._ask(self.ledgers[name], key, kind, way)
        if held is None:
            assert self.draws == before + 1
            unit.pins[key] = kind, {"draw": self.draws}, len(results)
        else:
            assert self.draws == before
            unit.pins[key] = kind, held[1], held[2] + len(results)
        assert results == [unit.pins[key][1]] * len(results)

    @rule(name=UNITS, number=NUMBERS)
    def fail(self, name: str, number: int) -> None:
        """An effect that raises leaves no pin; one that is pinned does not happen."""

        def effect() -> None:
            raise Broken

        key, unit = key_of(number), self.units[name]
        held = unit.pins.get(key)
        ledger = self.ledgers[name]
        if held is None:
            with pytest.raises(Broken):
                ledger.resolve(key, kind="draw", effect=effect, interpret=same)
        elif held[0] == "draw":
            assert ledger.resolve(key, kind="draw", effect=effect, interpret=same) == held[1]
            unit.pins[key] = held[0], held[1], held[2] + 1

    @rule()
    def crash(self) -> None:
        """All that was in memory is gone."""
        self.log.close()
        self._open()

    @rule(name=UNITS, undone=st.booleans())
    def commit(self, name: str, undone: bool) -> None:
        self._end(name, "commit", undone)

    @rule(name=UNITS, undone=st.booleans())
    def abandon(self, name: str, undone: bool) -> None:
        self._end(name, "abandon", undone)

    def _end(self, name: str, end: str, undone: bool) -> None:
        unit, ledger = self.units[name], self.ledgers[name]
        try:
            with self.log.transaction():
                self.log.append(A, [said("a word")])
                last = getattr(ledger, end)()
                if undone:
                    raise Undo
        except Undo:
            return
        self.said += 1
        if end == "abandon":
            self.kinds.append("pin.abandoned")
        elif unit.pins:
            self.kinds += ["pin.diverged"] * (unit.missed is not None)
            self.kinds += ["pin.promoted"] * len(unit.pins)
            self.promoted += [(name, key, *held) for key, held in unit.pins.items()]
        assert last == len(self.kinds)
        self.units[name] = Unit()

    @rule(name=UNITS, number=NUMBERS, way=WAYS)
    def go_on_from_a_replay(self, name: str, number: int, way: str) -> None:
        """Recording into the unit what the replay of the log does not hold."""
        key, unit, before = key_of(number), self.units[name], self.draws
        again = self.replays.get(name)
        if again is None:
            again = self.replays[name] = replay(self.log, on_miss="record", into=self.ledgers[name])
        held, pin = unit.pins.get(key), again.pins.get(key)
        if held is not None and held[0] != "draw":
            with pytest.raises(PinOfAnotherKind):
                self._ask(again, key, "draw", way)
            if pin is None or pin.kind != "draw":
                unit.missed = unit.missed or (key, "draw")
                # What the unit holds is known from now on.
                again.pins[key] = Pin(held[0], held[1])
            return
        results = self._ask(again, key, "draw", way)
        if pin is not None and pin.kind == "draw":
            assert self.draws == before
            assert results == [pin.result] * len(results)
            unit.pins.setdefault(key, ("draw", pin.result, 1))
            return
        unit.missed = unit.missed or (key, "draw")
        if held is None:
            assert self.draws == before + 1
            unit.pins[key] = "draw", {"draw": self.draws}, len(results)
        else:
            assert self.draws == before
            # The first to ask is answered at once, and from then on the replay knows it.
            unit.pins[key] = "draw", held[1], held[2] + 1
        assert results == [unit.pins[key][1]] * len(results)

    # -- what always holds -----------------------------------------------------------------

    @invariant()
    def units_hold_what_was_drawn_and_nothing_is_drawn_twice(self) -> None:
        for name, unit in self.units.items():
            rows = self.ledgers[name].pins()
            assert [(row.pin_key, (row.kind, row.result, row.attempts)) for row in rows] == list(
                unit.pins.items()
            )
        unfinished = {name for name, unit in self.units.items() if unit.pins or unit.missed}
        assert set(units(self.log)) == unfinished

    @invariant()
    def the_books_hold_what_was_committed(self) -> None:
        events = books(self.log)
        assert [event.envelope.type for event in events] == self.kinds
        promoted = [event.payload for event in events if event.envelope.type == "pin.promoted"]
        assert [
            (each["unit_id"], each["key"], each["kind"], each["result"], each["attempts"])
            for each in promoted
        ] == self.promoted
        assert self.log.stream(A).last_seq() == self.said

    @invariant()
    def what_was_committed_replays_strictly(self) -> None:
        again, before = replay(self.log), self.draws
        latest = {key: (kind, result) for _, key, kind, result, _ in self.promoted}
        for key, (kind, result) in latest.items():
            assert self._ask(again, key, kind, "plain") == [result]
        missing = [key_of(number) for number in range(4) if key_of(number) not in latest]
        for key in missing:
            with pytest.raises(PinMiss):
                self._ask(again, key, "draw", "plain")
        assert self.draws == before
        expected = Divergence(missing[0], "draw", len(latest)) if missing else None
        assert again.divergence == expected

    def teardown(self) -> None:
        assert_whole(self.log)
        self.log.close()
        shutil.rmtree(self.folder)


TestPinMachine = PinMachine.TestCase
TestPinMachine.settings = settings(max_examples=examples(60), stateful_step_count=15, deadline=None)

"""A log with room for drawn results, and effects that count how often they happen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.log.log_cases import TYPES, stream
from workbench.log import FOLDS, EventLog, EventType, EventTypeRegistry, StoredEvent
from workbench.log.pin_tables import TABLES as PIN_TABLES
from workbench.log.pins.events import EVENT_TYPES
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.replay import ReplayPins
from workbench.log.pins.sqlite import PinScratch
from workbench.log.ports import Redactor
from workbench.log.positions import TABLES as POSITION_TABLES
from workbench.log.streams import pins_stream

A, B = stream("a"), stream("b")
KIND = "draw"


def open_log(
    path: Path,
    *,
    types: Sequence[EventType] = (*TYPES, *EVENT_TYPES),
    redactor: Redactor | None = None,
) -> EventLog:
    """A log with the tables that pins and projections need."""
    return EventLog.open(
        path,
        FOLDS,
        EventTypeRegistry(types),
        redactor=redactor,
        synchronous="OFF",
        tables=(*POSITION_TABLES, *PIN_TABLES),
    )


def ledger(log: EventLog, unit_id: str | None = "unit") -> PinLedger:
    """A ledger that draws for stream a."""
    return PinLedger(log.stream(A), unit_id=unit_id)


def books(log: EventLog) -> list[StoredEvent]:
    """The events of the ledger of stream a."""
    return list(log.stream(pins_stream(A.name)).read())


def replay(log: EventLog, **options: Any) -> ReplayPins:
    """A replay of the pins of stream a."""
    return ReplayPins.from_events(books(log), log.registry, **options)


def units(log: EventLog) -> list[str]:
    """The unfinished units of a log."""
    return PinScratch(log).units()


class Effect:
    """Gives another result each time, and counts."""

    def __init__(self, result: Any = None, *, fails: int = 0) -> None:
        self.calls = 0
        self._result = result
        self._fails = fails

    def __call__(self) -> Any:
        """The result, or one that says the how manieth call it was; fails as often as it was told."""
        self.calls += 1
        if self.calls <= self._fails:
            raise Broken(self.calls)
        return {"call": self.calls} if self._result is None else self._result

    async def awaited(self) -> Any:
        """As calling it."""
        return self()


class Broken(Exception):
    """What an effect raises when it is told to."""


def same(value: Any) -> Any:
    """An interpretation that leaves a result as it is."""
    return value

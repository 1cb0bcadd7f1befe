"""A stream that closes stretches, a chronicle on it, and summarizers that note what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.log.log_cases import MEASURED, SAID, Measured, Said, stream
from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.consolidator import Consolidator
from workbench.chronicle.fold import ChronicleFold
from workbench.chronicle.leases import ThreadLease
from workbench.chronicle.ports import UnitBoundary
from workbench.chronicle.sections import Anchor, Consolidation, Section, section_id
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.tables import TABLES as CHRONICLE_TABLES
from workbench.log import FOLDS, EventLog, EventTypeRegistry, StoredEvent
from workbench.log.event_reader import EventReader
from workbench.log.pin_tables import TABLES as PIN_TABLES
from workbench.log.pins.events import EVENT_TYPES as PIN_TYPES
from workbench.log.ports import Redactor
from workbench.log.positions import TABLES as POSITION_TABLES
from workbench.log.projector import Projector
from workbench.log.registry import PendingEvent
from workbench.log.upcasts import UpcastRegistry

STREAM = stream("talk")
TYPES = (SAID, MEASURED, *PIN_TYPES)
CLOSE = ("test", "measured")
"""The type that closes a stretch; `C` in a pattern, where `S` is something said."""
CLOSES = EventTypes(CLOSE)


class LooksAtAll:
    """The same boundary, said by looking at every event: its fold is handed each of them."""

    def closes_unit(self, event: StoredEvent) -> bool:
        """Whether it is the closing type."""
        return event.envelope.type == "measured"


def open_log(path: Path, *, redactor: Redactor | None = None) -> EventLog:
    """A log with all that a chronicle needs in its file."""
    tables = (*POSITION_TABLES, *CHRONICLE_TABLES, *PIN_TABLES)
    return EventLog.open(
        path, FOLDS, EventTypeRegistry(TYPES), synchronous="OFF", tables=tables, redactor=redactor
    )


def reader_of(log: EventLog) -> EventReader:
    """What reads the stream."""
    return EventReader(log.stream(STREAM), UpcastRegistry(), log.registry)


def store_of(log: EventLog) -> SQLiteChronicleStore:
    """The stream's sections."""
    return SQLiteChronicleStore(log, STREAM.name)


def event(letter: str, text: str = "words", *, private: bool = False) -> PendingEvent:
    """Something said (S), or what closes a stretch (C)."""
    payload = Measured(label="closed") if letter == "C" else Said(who="ann", text=text)
    return PendingEvent(payload=payload, visibility="private" if private else "public")


def fill(log: EventLog, pattern: str) -> None:
    """Append a pattern's events; small letters stand for private ones."""
    log.append(STREAM, [event(letter.upper(), private=letter.islower()) for letter in pattern])


class Broken(Exception):
    """What a summarizer raises when it is told to."""


class Notes:
    """A summarizer that notes the seqs of each draw, and writes which draw it was."""

    def __init__(self, during: Callable[[Sequence[StoredEvent]], object] | None = None) -> None:
        self.draws: list[list[int]] = []
        self.during = during

    def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """Note it, do what the test wants done meanwhile, write."""
        self.draws.append([each.seq for each in events])
        if self.during is not None:
            self.during(events)
        return Consolidation(f"draw {len(self.draws)} of events {events[0].seq} to {events[-1].seq}")


class AsyncNotes:
    """The same, to be awaited."""

    def __init__(self, during: Callable[[Sequence[StoredEvent]], Any] | None = None) -> None:
        self.draws: list[list[int]] = []
        self.during = during

    async def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """As `Notes`."""
        self.draws.append([each.seq for each in events])
        if self.during is not None:
            await self.during(events)
        return Consolidation(f"draw {len(self.draws)}")


def fold_of(log: EventLog, summarize: Any, *, boundary: UnitBoundary = CLOSES, **given: Any) -> ChronicleFold:
    """The fold of the stream's chronicle."""
    return ChronicleFold(
        given.pop("store", None) or store_of(log),
        reader_of(log),
        boundary=boundary,
        summarize=summarize,
        **given,
    )


def projector_of(log: EventLog, *folds: ChronicleFold, draw_seconds: float = 1e9) -> Projector:
    """A projector whose batches do not depend on the clock."""
    return Projector(log.stream(STREAM), reader_of(log), folds, draw_seconds=draw_seconds)


def consolidator_of(log: EventLog, summarize: Any, **given: Any) -> Consolidator:
    """The chronicle, driven."""
    return Consolidator(
        given.pop("store", None) or store_of(log),
        given.pop("reader", None) or reader_of(log),
        boundary=given.pop("boundary", CLOSES),
        summarize=summarize,
        lease=given.pop("lease", None) or ThreadLease(),
        draw_seconds=given.pop("draw_seconds", 1e9),
        **given,
    )


def by_hand(
    from_seq: int, to_seq: int, prose: str = "by hand", *, unit: int | None = None, generation: int = 1
) -> Section:
    """A section that no fold wrote."""
    name = section_id(from_seq, to_seq, generation=generation)
    before = section_id(from_seq, to_seq, generation=generation - 1) if generation > 1 else None
    return Section(Anchor(name, from_seq, to_seq, unit or to_seq, before), prose)


def ids(log: EventLog) -> list[str]:
    """The ids of the current sections."""
    return [anchor.section_id for anchor in store_of(log).anchors()]


def told(log: EventLog) -> list[tuple[Anchor, str, tuple[str, ...]]]:
    """What an export holds but for when and by what it was written."""
    return [(each.anchor, each.prose, each.pins) for each in store_of(log).export()]

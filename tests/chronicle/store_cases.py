"""A log with one stream of events, and sections over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from workbench.chronicle.sections import Anchor, Section, Written, section_id
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.tables import TABLES
from workbench.log import EventLog
from workbench.log.event_reader import EventReader
from workbench.log.ports import Redactor
from workbench.log.registry import EventType, EventTypeRegistry, Payload, PendingEvent
from workbench.log.upcasts import UpcastRegistry

STREAM = "session/plan"
UNKNOWN = Written()


class Said(Payload, frozen=True):
    """Somebody said something."""

    content: str
    actor: str = "ada"


class Noted(Payload, frozen=True):
    """Bookkeeping of whoever reads along."""

    key: str = ""


def registry() -> EventTypeRegistry:
    """The types that are written here."""
    said = EventType("workbench", "said", 1, Said, searchable=lambda p: ("", p.content), actor="actor")
    return EventTypeRegistry([said, EventType("pins", "pin.promoted", 1, Noted)])


def open_log(path: Path, redactor: Redactor | None = None) -> EventLog:
    """The log in a file, laid out with the chronicle's tables."""
    return EventLog.open(path, [], registry(), redactor=redactor, tables=TABLES, synchronous="OFF")


def say(log: EventLog, count: int, stream: str = STREAM, *, private: Sequence[int] = ()) -> None:
    """Append so many events; of those, the ones at these places (from 0) are private."""
    log.stream(stream).append(
        [
            PendingEvent(
                payload=Said(content=f"word{number}"),
                visibility="private" if number in private else "public",
            )
            for number in range(count)
        ]
    )


@contextmanager
def stored(
    path: Path, events: int = 30, redactor: Redactor | None = None
) -> Iterator[tuple[EventLog, SQLiteChronicleStore]]:
    """A log with so many events, and the empty chronicle of their stream."""
    with open_log(path / "log.db", redactor) as log:
        if events:
            say(log, events)
        yield log, SQLiteChronicleStore(log, STREAM)


def reader_of(log: EventLog, stream: str = STREAM) -> EventReader:
    """Reads one stream."""
    return EventReader(log.stream(stream), UpcastRegistry(), log.registry)


def a_section(
    first: int,
    last: int,
    prose: str = "",
    *,
    generation: int = 1,
    unit: int | None = None,
    pins: tuple[str, ...] = (),
    written: Written = UNKNOWN,
) -> Section:
    """The section of a range; of a later generation, the one that supersedes the generation before it."""
    return Section(
        Anchor(
            section_id(first, last, generation=generation),
            first,
            last,
            last if unit is None else unit,
            section_id(first, last, generation=generation - 1) if generation > 1 else None,
        ),
        prose or f"prose {generation} of {first} to {last}",
        pins,
        written,
    )

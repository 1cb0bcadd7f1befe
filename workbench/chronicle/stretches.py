"""Which stretches of a stream want a section (contract log-and-chronicle, §9 "Ours").

A section exists where the log says so and nowhere else: each stretch that a boundary closes is one, and so
is what lies between such a stretch, or the first event, and a section that was loaded or written by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.ports import ChronicleStore, UnitBoundary
from workbench.log.event_reader import EventReader
from workbench.log.registry import StoredEvent


class Stretch(NamedTuple):
    """Events of a stream that become one section."""

    from_seq: int
    to_seq: int
    """Also the section's `unit`."""
    events: list[StoredEvent]
    """Those of them whose type this program knows."""


class Coverage(NamedTuple):
    """What of a stream is in no section."""

    holes: tuple[tuple[int, int], ...]
    """Ranges below the last section, both ends inside."""
    next_seq: int
    """The one after the last section's end."""

    def holds(self, from_seq: int, to_seq: int) -> bool:
        """Whether nothing of a range is in a section."""
        return from_seq >= self.next_seq or any(
            first <= from_seq and to_seq <= last for first, last in self.holes
        )


def coverage(store: ChronicleStore, last_seq: int) -> Coverage:
    """What of the events up to `last_seq`, the stream's last one, is not covered, as of now."""
    holes = tuple(store.holes())
    if not holes:
        return Coverage((), store.consolidated_through() + 1)
    # A hole ends where a section begins, and above the last hole sections follow one another: their end
    # is found by halving.
    covered, open_from = holes[-1][1] + 1, last_seq + 1
    while covered + 1 < open_from:
        middle = (covered + open_from) // 2
        section = store.covering(middle)
        if section is None:
            open_from = middle
        else:
            covered = section.anchor.to_seq
    return Coverage(holes, covered + 1)


def next_stretch(
    reader: EventReader, boundary: UnitBoundary, found: Coverage, since: int
) -> tuple[int, int] | None:
    """The range of the first stretch that wants a section; `since`: up to there nothing else is closed."""
    if found.holes:
        first, last = found.holes[0]
        return first, _first_closing(reader, boundary, first - 1, last) or last
    closing = _first_closing(reader, boundary, since, None)
    return None if closing is None else (found.next_seq, closing)


def _first_closing(reader: EventReader, boundary: UnitBoundary, since: int, upto: int | None) -> int | None:
    if isinstance(boundary, EventTypes):
        events = reader.read_raw(since, 1, upto=upto, types=boundary.types)
    else:
        events = reader.read_raw(since, upto=upto, where=reader.knows)
    return next((event.seq for event in events if boundary.closes_unit(event)), None)


def stretches(
    reader: EventReader, boundary: UnitBoundary, first_seq: int, last_seq: int, *, rest: bool
) -> Iterator[Stretch]:
    """The closed stretches of a range, in order; with `rest` also what is left after the last of them."""
    start, events = first_seq, list[StoredEvent]()
    for event in reader.read_raw(first_seq - 1, upto=last_seq, where=reader.knows):
        events.append(event)
        if boundary.closes_unit(event):
            yield Stretch(start, event.seq, events)
            start, events = event.seq + 1, []
    if rest and start <= last_seq:
        yield Stretch(start, last_seq, events)

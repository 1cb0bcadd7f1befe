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

    def uncovered(self, last_seq: int) -> int:
        """How many events up to `last_seq`, the stream's last one, are in no section."""
        return last_seq - self.next_seq + 1 + sum(last - first + 1 for first, last in self.holes)

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


class EventsAhead:
    """Events of a stream, in order, for one stretch after the other: many short ones cost one read together.

    What is read ahead is at most a page of events, and as old as its reading: make one for each batch.
    """

    def __init__(self, reader: EventReader) -> None:
        self._reader = reader
        self._next = 0
        self._events: Iterator[StoredEvent] = iter(())
        self._waiting: StoredEvent | None = None

    def read(self, first_seq: int, last_seq: int) -> Iterator[StoredEvent]:
        """The events of a range whose type this program knows."""
        if first_seq != self._next:
            self._events = self._reader.read_raw(first_seq - 1, where=self._reader.knows)
            self._waiting = None
        # Whoever stops in the middle, or comes back to it, makes it begin anew.
        self._next = 0
        event = self._waiting or next(self._events, None)
        while event is not None and event.seq <= last_seq:
            yield event
            event = next(self._events, None)
        self._waiting = event
        # At the end of what there was, what was appended since is not seen.
        self._next = last_seq + 1 if event is not None else 0


def stretches(
    reader: EventReader,
    boundary: UnitBoundary,
    first_seq: int,
    last_seq: int,
    *,
    rest: bool,
    ahead: EventsAhead | None = None,
) -> Iterator[Stretch]:
    """The closed stretches of a range, in order; with `rest` also what is left after the last of them.

    They are read through `ahead` if it is given, which is of the same reader.
    """
    start, events = first_seq, list[StoredEvent]()
    if ahead is None:
        found = reader.read_raw(first_seq - 1, upto=last_seq, where=reader.knows)
    else:
        found = ahead.read(first_seq, last_seq)
    for event in found:
        events.append(event)
        if boundary.closes_unit(event):
            yield Stretch(start, event.seq, events)
            start, events = event.seq + 1, []
    if rest and start <= last_seq:
        yield Stretch(start, last_seq, events)

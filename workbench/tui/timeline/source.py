"""The timeline as a source of rows: newest first, in keyset pages, a long search in portions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TypeAlias

from workbench.tui.timeline.turns import Turns
from workbench.tui.widgets.page_source import Page
from workbench.workspace.readers.timeline_queries import (
    FIRST_PLACE,
    LAST_PLACE,
    Found,
    TimelineReader,
    place_of,
)
from workbench.workspace.rows import EventRow, Place, TimelineFilter, TimelineOrder

FIRST_HITS_SECONDS = 0.1
"""After this long a search shows what it has, and goes on from there."""
SAY_SECONDS = 0.3
"""After this long, and then as often, a search says how far it has come."""

Looked: TypeAlias = int | Place
"""Where a search has come to: a position, or a place where it goes by happened time."""
GoOn: TypeAlias = Callable[[Looked, int], bool]


class TimelineSource:
    """The events that pass a filter, in one of two orders; the key of a row is its position in both.

    Without a filter the total is exact and a row has a number. With one the total is counted once from the
    newest event back; later only what came since is counted, since events do not change. `told` is called
    from worker threads with where a search has come to. Counts that share `turns` work one at a time.
    """

    def __init__(
        self,
        reader: TimelineReader,
        wanted: TimelineFilter,
        told: Callable[[TimelineSource, Looked | None], None] = lambda source, looked: None,
        order: TimelineOrder = "recorded",
        turns: Turns | None = None,
    ) -> None:
        self.wanted = wanted
        self.order = order
        self.newest = 0
        """The last position of the log, as of the last read."""
        self._reader = reader
        self._told = told
        self._turns = turns or Turns()
        self._closed = False
        self._counted_to = 0
        self._counted = 0
        self._lock = Lock()

    def close(self) -> None:
        """End every search: nobody waits for it any more."""
        self._closed = True

    # The page source's calls

    def key(self, row: EventRow) -> Hashable:
        return row.position

    def fraction(self, row: EventRow) -> float:
        if self.order == "happened" and self._reader.upto is not None:
            # How many of the past happened before nobody counts: among all of them is near enough.
            last = self._reader.recorded() - 1
            return (last - self._reader.happened_before(place_of(row))) / max(1, last)
        return self._rank(row) / max(1, self.newest - 1)

    def position(self, row: EventRow) -> int | None:
        if self.wanted or (self.order == "happened" and self._reader.upto is not None):
            return None
        return self._rank(row) + 1

    def first(self, limit: int) -> Page[EventRow]:
        older, complete = self._older(None, limit, least=1)
        return Page(older, True, complete)

    def last(self, limit: int) -> Page[EventRow]:
        newer, complete = self._newer(None, limit, least=1)
        return Page(newer, complete, True)

    def after(self, row: EventRow, limit: int) -> Page[EventRow]:
        older, complete = self._older(place_of(row), limit, least=1)
        return Page(older, False, complete)

    def before(self, row: EventRow, limit: int) -> Page[EventRow]:
        newer, complete = self._newer(place_of(row), limit, least=1)
        return Page(newer, complete, False)

    def around(self, place: EventRow | Hashable, limit: int) -> Page[EventRow]:
        at = self._place(place)
        half = limit // 2
        newer, at_start = self._newer(at, half, least=0)
        older, at_end = self._older(_behind(at), limit - len(newer), least=0 if newer else 1)
        if len(older) < limit - half and at_end and not at_start:
            more, at_start = self._newer(place_of(newer[0]) if newer else at, limit - half, least=1)
            newer = [*more, *newer]
        rows = [*newer, *older]
        focus = min(len(newer), len(rows) - 1) if rows else None
        return Page(rows, at_start, at_end, focus)

    def seek(self, fraction: float, limit: int) -> Page[EventRow]:
        self._look()
        if self.order == "happened":
            last = self._reader.recorded() - 1
            return self.around(self._reader.place_of_rank(last - round(fraction * last)), limit)
        from_oldest = (self.newest - 1) - round(fraction * (self.newest - 1))
        return self.around(from_oldest + 1, limit)

    def total(self) -> int | None:
        self._look()
        if not self.wanted:
            return self.newest
        with self._lock:
            return self._counted if self._counted_to >= self.newest else None

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        with self._lock:
            known, since = self._counted, self._counted_to
        self._look()
        upto = self.newest

        def ended() -> bool:
            return self._closed or cancelled()

        with self._saying() as say, self._turns.taking() as portion:
            found = known + self._reader.count(
                self.wanted,
                lambda: not portion(lambda: not ended()),
                lambda number: progress(known + number),
                after=since,
                upto=upto,
                # How far a count has come is a position: among rows that stand otherwise it says nothing.
                looked=say if self.order == "recorded" else lambda position: None,
            )
        if not ended():
            with self._lock:
                if self._counted_to == since:
                    self._counted, self._counted_to = found, upto
        return found

    # Reading

    def _look(self) -> None:
        self.newest = max(self.newest, self._reader.bounds().last)

    def _rank(self, row: EventRow) -> int:
        """How many events stand before a row, whatever is shown of them."""
        if self.order == "happened":
            return max(0, self.newest - 1 - self._reader.happened_before(place_of(row)))
        return self.newest - row.position

    def _place(self, place: EventRow | Hashable) -> Place:
        if isinstance(place, EventRow):
            return place_of(place)
        if isinstance(place, Place):
            return place
        position = place if isinstance(place, int) else 0
        if self.order == "happened" and (found := self._reader.place_at(position)) is not None:
            return found
        return Place(FIRST_PLACE.happened if position < 1 else LAST_PLACE.happened, position)

    def _older(self, before: Place | None, limit: int, *, least: int) -> tuple[list[EventRow], bool]:
        self._look()
        with self._saying() as say:
            go_on = self._patience(least, say)
            if self.order == "happened":
                found = self._reader.search_happened(
                    self.wanted, limit, before=LAST_PLACE if before is None else before, go_on=go_on
                )
            else:
                start = self.newest + 1 if before is None else before.position
                found = self._reader.search(self.wanted, limit, before=start, go_on=go_on)
        return self._ends(found, found.rows[:1], 1)

    def _newer(self, after: Place | None, limit: int, *, least: int) -> tuple[list[EventRow], bool]:
        self._look()
        with self._saying() as say:
            go_on = self._patience(least, say)
            if self.order == "happened":
                found = self._reader.search_happened(
                    self.wanted, limit, after=FIRST_PLACE if after is None else after, go_on=go_on
                )
            else:
                start = 0 if after is None else after.position
                found = self._reader.search(self.wanted, limit, after=start, go_on=go_on)
        return self._ends(found, found.rows[-1:], self.newest)

    def _ends(self, found: Found, outermost: list[EventRow], end: int) -> tuple[list[EventRow], bool]:
        """Rows newest first, and whether nothing lies beyond them."""
        at_end = (
            self.order == "recorded" and not self.wanted and any(row.position == end for row in outermost)
        )
        return found.rows[::-1], found.complete or at_end

    def _patience(self, least: int, say: Callable[[Looked], None]) -> GoOn:
        until = monotonic() + FIRST_HITS_SECONDS

        def go_on(looked: Looked, found: int) -> bool:
            say(looked)
            return not self._closed and (found < least or monotonic() < until)

        return go_on

    @contextmanager
    def _saying(self) -> Iterator[Callable[[Looked], None]]:
        """What tells how far one search has come, once it takes long, and at its end that it is over."""
        said = monotonic()
        told = False

        def say(looked: Looked) -> None:
            nonlocal said, told
            if monotonic() - said >= SAY_SECONDS and not self._closed:
                said, told = monotonic(), True
                self._told(self, looked)

        try:
            yield say
        finally:
            if told:
                self._told(self, None)


def _behind(place: Place) -> Place:
    """The place directly behind one, so that what stands at it is among what lies before that."""
    return Place(place.happened, place.position + 1)

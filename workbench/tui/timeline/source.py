"""The timeline as a source of rows: newest first, in keyset pages, a long search in portions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

from workbench.tui.widgets.page_source import Page
from workbench.workspace.readers.timeline_queries import TimelineReader
from workbench.workspace.rows import EventRow, TimelineFilter

FIRST_HITS_SECONDS = 0.1
"""After this long a search shows what it has, and goes on from there."""
SAY_SECONDS = 0.3
"""After this long, and then as often, a search says how far it has come."""


class TimelineSource:
    """The events that pass a filter; the key of a row is its position.

    Without a filter the total is exact and a row's number follows from its position. With one the total is
    counted once from the newest event back; later only what came since is counted, since events do
    not change. `told` is called from worker threads with the position that a search has come to.
    """

    def __init__(
        self,
        reader: TimelineReader,
        wanted: TimelineFilter,
        told: Callable[[TimelineSource, int | None], None] = lambda source, looked: None,
    ) -> None:
        self.wanted = wanted
        self.newest = 0
        """The last position of the log, as of the last read."""
        self._reader = reader
        self._told = told
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
        return (self.newest - row.position) / max(1, self.newest - 1)

    def position(self, row: EventRow) -> int | None:
        return None if self.wanted else self.newest - row.position + 1

    def first(self, limit: int) -> Page[EventRow]:
        older, complete = self._older(None, limit, least=1)
        return Page(older, True, complete)

    def last(self, limit: int) -> Page[EventRow]:
        newer, complete = self._newer(0, limit, least=1)
        return Page(newer, complete, True)

    def after(self, row: EventRow, limit: int) -> Page[EventRow]:
        older, complete = self._older(row.position, limit, least=1)
        return Page(older, False, complete)

    def before(self, row: EventRow, limit: int) -> Page[EventRow]:
        newer, complete = self._newer(row.position, limit, least=1)
        return Page(newer, complete, False)

    def around(self, place: EventRow | Hashable, limit: int) -> Page[EventRow]:
        at = place.position if isinstance(place, EventRow) else place if isinstance(place, int) else 0
        half = limit // 2
        newer, at_start = self._newer(at, half, least=0)
        older, at_end = self._older(at + 1, limit - len(newer), least=0 if newer else 1)
        if len(older) < limit - half and at_end and not at_start:
            more, at_start = self._newer(newer[0].position if newer else at, limit - half, least=1)
            newer = [*more, *newer]
        rows = [*newer, *older]
        focus = min(len(newer), len(rows) - 1) if rows else None
        return Page(rows, at_start, at_end, focus)

    def seek(self, fraction: float, limit: int) -> Page[EventRow]:
        self._look()
        return self.around(self.newest - round(fraction * (self.newest - 1)), limit)

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

        with self._saying() as say:
            found = known + self._reader.count(
                self.wanted,
                ended,
                lambda number: progress(known + number),
                after=since,
                upto=upto,
                looked=say,
            )
        if not ended():
            with self._lock:
                if self._counted_to == since:
                    self._counted, self._counted_to = found, upto
        return found

    # Reading

    def _look(self) -> None:
        self.newest = max(self.newest, self._reader.bounds().last)

    def _older(self, before: int | None, limit: int, *, least: int) -> tuple[list[EventRow], bool]:
        self._look()
        start = self.newest + 1 if before is None else before
        with self._saying() as say:
            found = self._reader.search(self.wanted, limit, before=start, go_on=self._patience(least, say))
        rows = found.rows[::-1]
        return rows, found.complete or (not self.wanted and bool(rows) and rows[-1].position <= 1)

    def _newer(self, after: int, limit: int, *, least: int) -> tuple[list[EventRow], bool]:
        self._look()
        with self._saying() as say:
            found = self._reader.search(self.wanted, limit, after=after, go_on=self._patience(least, say))
        rows = found.rows[::-1]
        return rows, found.complete or (not self.wanted and bool(rows) and rows[0].position >= self.newest)

    def _patience(self, least: int, say: Callable[[int], None]) -> Callable[[int, int], bool]:
        until = monotonic() + FIRST_HITS_SECONDS

        def go_on(looked: int, found: int) -> bool:
            say(looked)
            return not self._closed and (found < least or monotonic() < until)

        return go_on

    @contextmanager
    def _saying(self) -> Iterator[Callable[[int], None]]:
        """What tells how far one search has come, once it takes long, and at its end that it is over."""
        said = monotonic()
        told = False

        def say(looked: int) -> None:
            nonlocal said, told
            if monotonic() - said >= SAY_SECONDS and not self._closed:
                said, told = monotonic(), True
                self._told(self, looked)

        try:
            yield say
        finally:
            if told:
                self._told(self, None)

"""Counts for the activity strip, made in a worker: the whole at once, what passes a filter bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from workbench.log.times import Clock, now, to_micros
from workbench.tui.timeline.turns import Turns
from workbench.workspace.readers.timeline_activity import Scale
from workbench.workspace.readers.timeline_parts import EARLIEST, LATEST
from workbench.workspace.readers.timeline_queries import TimelineReader
from workbench.workspace.rows import TimelineFilter

TELL_SECONDS = 0.1
"""At most so often the strip is drawn anew while it is being counted."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What the strip shows of a moment of the log."""

    wanted: TimelineFilter
    room: int
    upto: int
    """The last position that is counted."""
    scale: Scale | None = None
    whole: tuple[int, ...] = ()
    matching: tuple[int, ...] | None = None
    done: bool = True


class ActivityFeed:
    """One run at a time counts; a later one goes on from what an earlier one has, where it can."""

    def __init__(
        self,
        reader: TimelineReader,
        tell: Callable[[ActivityFeed, Activity], None],
        clock: Clock = now,
        turns: Turns | None = None,
    ) -> None:
        self._reader = reader
        self._tell = tell
        self._clock = clock
        self._turns = turns or Turns()
        self._run = 0
        self._known: Activity | None = None

    def stop(self) -> None:
        """What is being counted is no longer wanted."""
        self._run += 1

    def begin(self, wanted: TimelineFilter, room: int) -> Callable[[], None]:
        """What counts for this filter and so many cells, to be run in a worker thread."""
        self._run += 1
        run = self._run

        def work() -> None:
            self._count(wanted, room, lambda: self._run == run)

        return work

    def _count(self, wanted: TimelineFilter, room: int, wished: Callable[[], bool]) -> None:
        reader = self._reader
        upto = reader.bounds().last
        known = self._known
        if known is not None and known.done and (known.wanted, known.room) == (wanted, room):
            if known.upto == upto:
                self._finish(known, wished)
                return
            grown = self._grown(known, upto)
            if grown is not None:
                self._finish(grown, wished)
                return
        since = None if wanted.since is None else to_micros(wanted.since)
        until = None if wanted.until is None else self._until(to_micros(wanted.until), since)
        scale = reader.activity.scale(room, since, until)
        if scale is None:
            self._finish(Activity(wanted, room, upto), wished)
            return
        whole = tuple(reader.activity.whole(scale) or ())
        narrowed = wanted != TimelineFilter(since=wanted.since, until=wanted.until)
        if not narrowed:
            self._finish(Activity(wanted, room, upto, scale, whole), wished)
            return
        if wanted == TimelineFilter(types=wanted.types, since=wanted.since, until=wanted.until):
            counts = reader.activity.whole(scale, wanted.types)
            if counts is not None:
                self._finish(Activity(wanted, room, upto, scale, whole, tuple(counts)), wished)
                return
        told = monotonic()
        first = True
        with self._turns.taking() as portion:

            def go_on(counts: list[int]) -> bool:
                nonlocal told, first
                if wished() and (first or monotonic() - told >= TELL_SECONDS):
                    told, first = monotonic(), False
                    self._tell(self, Activity(wanted, room, upto, scale, whole, tuple(counts), done=False))
                return portion(wished)

            if not portion(wished):
                return
            matching = reader.activity.matching(wanted, scale, go_on, upto=upto)
        self._finish(Activity(wanted, room, upto, scale, whole, tuple(matching)), wished)

    def _until(self, until: int, since: int | None) -> int:
        """Where the strip ends if a range goes on until then: what is still to come needs no bars."""
        newest = self._reader.happened_at(LATEST)
        come = max(to_micros(self._clock()), EARLIEST if newest is None else newest.happened) + 1
        return until if since is not None and come <= since else min(until, come)

    def _grown(self, known: Activity, upto: int) -> Activity | None:
        """The same with what was recorded since, where that fits on the scale."""
        scale = known.scale
        if scale is None:
            return None
        reader = self._reader
        newest = reader.happened_at(LATEST)
        if newest is None or (newest.happened >= scale.end + scale.width and not scale.later):
            return None
        until = known.wanted.until
        if until is not None and scale.end <= newest.happened < to_micros(until):
            # The strip ended at what was then now.
            return None
        # What is just beyond the last cell stands in it until the scale is made anew.
        wide = scale._replace(later=1) if known.wanted.until is None else scale
        more = reader.activity.matching(TimelineFilter(), wide, after=known.upto, upto=upto)
        whole = tuple(a + b for a, b in zip(known.whole, more, strict=True))
        matching = known.matching
        if matching is not None:
            passing = reader.activity.matching(known.wanted, wide, after=known.upto, upto=upto)
            matching = tuple(a + b for a, b in zip(matching, passing, strict=True))
        return Activity(known.wanted, known.room, upto, scale, whole, matching)

    def _finish(self, activity: Activity, wished: Callable[[], bool]) -> None:
        if wished():
            self._known = activity
            self._tell(self, activity)

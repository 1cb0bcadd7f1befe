"""What was removed over time, day by day and kind by kind, made into bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo

from workbench.workspace.readers.redaction_queries import DayCount

LEAST_DAYS = 14
"""A strip spans at least so many days: one bar alone says nothing about time."""
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class OverTime:
    """Bars of `step` days each, the last of which ends with the day `last`."""

    last: int
    """Days since 1970."""
    step: int
    total: tuple[int, ...]
    """Secrets in each bar."""
    kinds: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """The same of each kind, most first."""
    days: Sequence[DayCount] = ()
    """What the bars were made of."""

    @property
    def first(self) -> int:
        """The first day of the first bar."""
        return self.last + 1 - self.step * len(self.total)

    def bar_of(self, day: int) -> int | None:
        """The bar that a day is in."""
        at = (day - self.first) // self.step
        return at if 0 <= at < len(self.total) else None

    def bounds(self, bar: int) -> tuple[int, int]:
        """The first and the last day of a bar."""
        low = self.first + bar * self.step
        return low, low + self.step - 1

    @property
    def secrets(self) -> int:
        """How many in all."""
        return sum(self.total)


def over_time(days: Sequence[DayCount], room: int, today: int) -> OverTime | None:
    """As many bars as fit into `room` cells, of as few days as will do; None where there is nothing."""
    if not days or room < 1:
        return None
    first, last = days[0].day, max(days[-1].day, min(today, days[-1].day + 10 * 366))
    span = max(last - first + 1, min(LEAST_DAYS, room))
    step = -(-span // room)
    bars = -(-span // step)
    start = last + 1 - step * bars
    kinds: dict[str, list[int]] = {}
    total = [0] * bars
    for day, kind, secrets in days:
        at = (day - start) // step
        total[at] += secrets
        kinds.setdefault(kind, [0] * bars)[at] += secrets
    ordered = sorted(kinds.items(), key=lambda each: (-sum(each[1]), each[0]))
    return OverTime(last, step, tuple(total), {kind: tuple(bar) for kind, bar in ordered}, days)


def day_number(moment: datetime, zone: tzinfo) -> int:
    """The day that a moment is on in a zone, as days since 1970."""
    try:
        return (moment.astimezone(zone).date() - _EPOCH).days
    except (OverflowError, ValueError):
        return (moment.date() - _EPOCH).days


def day_text(day: int) -> str:
    """`2026-03-02`; the nearest that the calendar has."""
    low, high = (date.min - _EPOCH).days, (date.max - _EPOCH).days
    return (_EPOCH + timedelta(days=max(low, min(day, high)))).isoformat()


def zone_offset(zone: tzinfo, now: datetime) -> int:
    """How far a zone's clocks are before UTC now, in microseconds."""
    offset = now.astimezone(zone).utcoffset() or timedelta(0)
    return offset // timedelta(microseconds=1)

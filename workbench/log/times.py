"""Instants: whole microseconds since 1970 in the file, aware UTC datetimes outside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from workbench.storage.errors import DatabaseDamaged

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class UnreadableInstant(DatabaseDamaged, OverflowError):
    """What is stored as an instant lies outside the years 1 to 9999: nothing wrote that but damage."""


def now() -> datetime:
    """The wall clock, UTC."""
    return datetime.now(UTC)


def now_micros() -> int:
    """The wall clock in microseconds since 1970."""
    return time.time_ns() // 1000


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, negative before it; `moment` must know its zone (`ValueError`)."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return (moment - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The aware UTC datetime of a stored instant; `UnreadableInstant` for one that no datetime can be."""
    try:
        return EPOCH + timedelta(microseconds=micros)
    except (OverflowError, TypeError):
        raise UnreadableInstant(
            f"the database is damaged: it holds {str(micros)[:40]} where a time should be",
            hint="look closer with: workbench doctor",
        ) from None


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds and `+00:00`: the form of every time in JSON."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")

"""Instants: whole microseconds since 1970 in the file, aware UTC datetimes outside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
    """The aware UTC datetime of a stored instant."""
    return EPOCH + timedelta(microseconds=micros)


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds and `+00:00`: the form of every time in JSON."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")

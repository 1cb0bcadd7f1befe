"""One attempt at an answer that came to nothing, and when to try again (see `endpoint`)."""

from __future__ import annotations

import email.utils
import math
import time
from typing import NamedTuple


class Failure(NamedTuple):
    """One attempt that came to nothing, in no library's words."""

    words: str
    status: int = 0
    """Of HTTP; 0 if there was no answer, or if it began well."""
    retry_after: str = ""
    """The endpoint's wish, as it wrote it."""


class AttemptFailed(Exception):
    """Carries a `Failure` from the client to the loop that tries again; nobody else sees it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.words)
        self.failure = failure


def retry_after(asked: str, now: float | None = None) -> float | None:
    """Seconds that a `Retry-After` asks for, as a number or as a date; None if it asks for nothing.

    `now` is in seconds since 1970, by default the clock's.
    """
    try:
        seconds = float(asked)
    except ValueError:
        try:
            at = email.utils.parsedate_to_datetime(asked).timestamp()
        except (ValueError, TypeError, OverflowError):
            return None
        seconds = at - (time.time() if now is None else now)
    # NaN and infinity ask for nothing that can be kept.
    return max(0.0, seconds) if abs(seconds) < 1e9 else None


def spelled(seconds: float) -> str:
    """A time that an endpoint wants to be left alone, for a person: in whole units, and no endless one."""
    for unit, length, most in (("second", 1, 120), ("minute", 60, 120), ("hour", 3600, 48)):
        count = math.ceil(seconds / length)
        if count <= most:
            return f"1 {unit}" if count == 1 else f"{count} {unit}s"
    return "more than two days"

"""Short notices that go by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from time import time

from textual.notifications import Notification

_LEAST_SECONDS = 0.01


@dataclass
class Notice(Notification):
    """A notification that always has a little time left.

    Textual asks whether one has expired, and a moment later how long a timer of it must run: in between it
    may expire, and a timer of less than no seconds never gives the program back.
    """

    @property
    def time_left(self) -> float:
        """Seconds, more than none."""
        return max(_LEAST_SECONDS, self.raised_at + self.timeout - time())

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return self.raised_at + self.timeout <= time()

"""Which events a summarizer may see (contract log-and-chronicle, §9 "Ours").

A chronicle is read by everybody to whom it is shown, so what not everybody may read must not go into it:
no wording of a shared summary says a private thing rightly to each of its readers. Ranges know nothing of
this: an event that reaches no summarizer is covered by its section all the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from workbench.log.event_reader import Where
from workbench.log.registry import PINS_NAMESPACE, Envelope, StoredEvent


class Withheld(Protocol):
    """Asks which events somebody has put out of everybody's sight, as of now: those in quarantine."""

    def __call__(self, first_position: int, last_position: int) -> Collection[int]:
        """The positions of such events between these two, both inside."""
        ...


def admits(envelope: Envelope) -> bool:
    """The rule unless another one is given: neither private nor bookkeeping."""
    return envelope.visibility == "public" and envelope.namespace != PINS_NAMESPACE


def nothing_withheld(first_position: int, last_position: int) -> Collection[int]:
    """The `Withheld` of a log in which nothing is in quarantine."""
    return ()


class Admission:
    """Leaves out of the events of a stretch what no summarizer may see."""

    def __init__(self, admit: Where = admits, withheld: Withheld = nothing_withheld) -> None:
        """`admit` judges an envelope and takes the place of `admits`; `withheld` is asked besides it."""
        self._admit = admit
        self._withheld = withheld

    def admitted(self, events: Sequence[StoredEvent]) -> list[StoredEvent]:
        """Those that may be seen, in order."""
        if not events:
            return []
        withheld = frozenset(self._withheld(events[0].position, events[-1].position))
        admit = self._admit
        return [event for event in events if event.position not in withheld and admit(event.envelope)]

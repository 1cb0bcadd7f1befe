"""Which events a summarizer may see (contract log-and-chronicle, §9 "Ours").

A chronicle is read by everybody to whom it is shown, so what not everybody may read must not go into it:
no wording of a shared summary says a private thing rightly to each of its readers. Ranges know nothing of
this: an event that reaches no summarizer is covered by its section all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.chronicle.withheld import Hidden, nothing_hidden
from workbench.log.event_reader import Where
from workbench.log.registry import PINS_NAMESPACE, Envelope, StoredEvent


def admits(envelope: Envelope) -> bool:
    """The rule unless another one is given: neither private nor bookkeeping."""
    return envelope.visibility == "public" and envelope.namespace != PINS_NAMESPACE


class Admission:
    """Leaves out of the events of a stretch what no summarizer may see."""

    def __init__(self, admit: Where = admits, hidden: Hidden = nothing_hidden) -> None:
        """`admit` judges an envelope and takes the place of `admits`; nothing that is `hidden` is shown."""
        self._admit = admit
        self._hidden = hidden

    def admitted(self, events: Sequence[StoredEvent]) -> list[StoredEvent]:
        """Those that may be seen, in order; `events` are of one stream."""
        if not events:
            return []
        hidden = self._hidden(events[0].seq, events[-1].seq)
        admit = self._admit
        return [event for event in events if event.seq not in hidden and admit(event.envelope)]

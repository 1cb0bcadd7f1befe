"""Recent events word for word, older ones as prose (contract log-and-chronicle, §11)."""

from __future__ import annotations

from typing import NamedTuple

from workbench.chronicle.anchors import Anchors
from workbench.chronicle.ports import ChronicleStore
from workbench.chronicle.prose import Prose
from workbench.chronicle.sections import Section
from workbench.chronicle.withheld import Hidden, nothing_hidden
from workbench.log.event_reader import EventReader, Where
from workbench.log.registry import StoredEvent


class Recent(NamedTuple):
    """The verbatim tail."""

    events: list[StoredEvent]
    """Those that were admitted, by `seq`."""
    since_seq: int
    """What the tail begins behind."""


class Brief:
    """A chronicle's two halves. They are not joined here: the caller says where the tail begins, usually
    with `anchors.consolidated_through()`."""

    def __init__(
        self,
        store: ChronicleStore,
        reader: EventReader,
        *,
        admit: Where | None = None,
        hidden: Hidden = nothing_hidden,
    ) -> None:
        """`admit` sees the envelope of each event of the tail before anything else is read of it; unless
        it is given, every event is admitted. What `hidden` names, and sections that were written before
        it was hidden, are left out."""
        self.anchors = Anchors(store)
        self.prose = Prose(store, hidden=hidden)
        self._reader = reader
        self._admit = admit
        self._hidden = hidden

    def tail(self, *, since_seq: int, upto_seq: int | None = None) -> Recent:
        """The events after `since_seq`, up to `upto_seq`, from the log itself and in today's shapes.

        Raises what `EventReader.read_raw` raises.
        """
        events = list(self._reader.read_raw(since_seq, upto=upto_seq, where=self._admit))
        if events:
            hidden = self._hidden(events[0].seq, events[-1].seq)
            events = [event for event in events if event.seq not in hidden]
        return Recent(events, since_seq)

    def depth(self, *, upto_seq: int | None = None) -> list[Section]:
        """The current sections by range; only those that end at `upto_seq` or before."""
        return self.prose.all(upto_seq=upto_seq)

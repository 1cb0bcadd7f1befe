"""The half of a chronicle that a rebuild gives again, word for word (contract log-and-chronicle, §11)."""

from __future__ import annotations

from workbench.chronicle.ports import ChronicleStore
from workbench.chronicle.sections import Anchor


class Anchors:
    """Which events the sections stand for. Safe to decide by: there is no prose to be reached from here."""

    __slots__ = ("_store",)

    def __init__(self, store: ChronicleStore) -> None:
        self._store = store

    def all(self, *, upto_seq: int | None = None) -> list[Anchor]:
        """The current sections' anchors by range; only those that end at `upto_seq` or before."""
        return self._store.anchors(upto_seq=upto_seq)

    def consolidated_through(self) -> int:
        """The last `seq` up to which every event is in a section; 0 if event 1 is in none."""
        return self._store.consolidated_through()

    def covers(self, seq: int) -> Anchor | None:
        """The anchor of the current section whose range holds `seq`."""
        found = self._store.covering(seq)
        return None if found is None else found.anchor

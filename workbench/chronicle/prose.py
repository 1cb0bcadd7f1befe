"""The half of a chronicle that was generated: advisory, and never to be decided by (contract, §11)."""

from __future__ import annotations

from workbench.chronicle.ports import ChronicleStore
from workbench.chronicle.sections import Section, SectionId
from workbench.chronicle.withheld import Hidden, is_withheld, nothing_hidden


class Prose:
    """What the sections say.

    With `hidden`, for agents: sections that say more than one may read by now are not there.
    """

    __slots__ = ("_hidden", "_store")

    def __init__(self, store: ChronicleStore, *, hidden: Hidden = nothing_hidden) -> None:
        self._store = store
        self._hidden = hidden

    def section(self, section_id: SectionId) -> Section | None:
        """One section, superseded or not."""
        return self._shown(self._store.section(section_id))

    def covering(self, seq: int) -> Section | None:
        """The current section whose range holds `seq`."""
        return self._shown(self._store.covering(seq))

    def all(self, *, upto_seq: int | None = None) -> list[Section]:
        """The current sections by range; only those that end at `upto_seq` or before."""
        found = self._store.sections(upto_seq=upto_seq)
        return [section for section in found if not is_withheld(section, self._hidden)]

    def _shown(self, section: Section | None) -> Section | None:
        return None if section is None or is_withheld(section, self._hidden) else section

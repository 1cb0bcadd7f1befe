"""What the chronicle's parts ask of one another, as protocols (contract log-and-chronicle, §8-11)."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol

from workbench.chronicle.sections import Anchor, Consolidation, Section, SectionId
from workbench.log.registry import StoredEvent


class ChronicleStore(Protocol):
    """The sections of one stream. Nothing is updated or deleted one by one: a new generation supersedes."""

    def append(self, section: Section) -> None:
        """Store a section; silent if its anchor is stored already (the stored prose stays).

        Raises `InvalidSection`, `SectionCollision` (the id with another anchor), `UnknownSection` (what it
        supersedes), `ChronicleFork` (an overlap, a second successor, another range).
        """
        ...

    def append_new(self, section: Section) -> None:
        """As `append`, but `SectionCollision` if the id is stored, whatever stands behind it."""
        ...

    def anchors(self, *, upto_seq: int | None = None) -> list[Anchor]:
        """The current sections' anchors by range; only those that end at `upto_seq` or before."""
        ...

    def sections(self, *, upto_seq: int | None = None) -> list[Section]:
        """The current sections by range; only those that end at `upto_seq` or before."""
        ...

    def section(self, section_id: SectionId) -> Section | None:
        """One section, superseded or not."""
        ...

    def covering(self, seq: int) -> Section | None:
        """The current section whose range holds `seq`."""
        ...

    def consolidated_through(self) -> int:
        """The last `seq` of the gapless prefix of covered events; 0 if event 1 is not covered."""
        ...

    def holes(self) -> list[tuple[int, int]]:
        """The uncovered ranges (both ends inside) below the last section, in order."""
        ...

    def export(self) -> list[Section]:
        """Every section, superseded ones too, by range and generation."""
        ...

    def load(self, sections: Iterable[Section]) -> int:
        """Store what an export holds, all or nothing, in any order; how many landed.

        An id that is stored with the same anchor is skipped. Raises as `append` does, and `ChronicleFork`
        for a cycle or a section that would supersede a local one whose prose or pins are not those of the
        predecessor in the export.
        """
        ...

    def reset(self) -> None:
        """Remove every section of the stream."""
        ...


class PagedStore(ChronicleStore, Protocol):
    """A store that also gives its sections a few at a time, however many there are."""

    @property
    def stream(self) -> str:
        """The stream's whole name."""
        ...

    def newest(self, limit: int, *, upto_seq: int | None = None, before: int | None = None) -> list[Section]:
        """The last current sections, descending: of those that end at `upto_seq` or before it, and begin
        before event `before`."""
        ...


class UnitBoundary(Protocol):
    """Which events close a stretch."""

    def closes_unit(self, event: StoredEvent) -> bool:
        """Whether the stretch ends with this event."""
        ...


class Summarizer(Protocol):
    """Writes the prose of a closed stretch."""

    def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """The prose for these events, in order, the closing one last."""
        ...


class AsyncSummarizer(Protocol):
    """A summarizer that is awaited."""

    def __call__(self, events: Sequence[StoredEvent]) -> Awaitable[Consolidation]:
        """As `Summarizer`."""
        ...


class Retriever(Protocol):
    """Finds sections by what their prose says."""

    def __call__(self, sections: Sequence[Section], query: str) -> Sequence[Section]:
        """Those that fit the query, best first."""
        ...

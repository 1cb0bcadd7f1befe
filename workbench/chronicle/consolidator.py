"""The chronicle of one stream, driven: all that a program does with it but reading.

(contract log-and-chronicle, §9, §10, "Ours")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from workbench.chronicle.admission import Admission
from workbench.chronicle.errors import ChronicleError
from workbench.chronicle.fold import FOLD_NAME, NOBODY, Author, ChronicleFold, Keep, keep_nothing_else
from workbench.chronicle.leases import Lease, held, held_async
from workbench.chronicle.ports import ChronicleStore, UnitBoundary
from workbench.chronicle.reconsolidation import reconsolidate, reconsolidate_async
from workbench.chronicle.sections import Anchor, Section, SectionId
from workbench.chronicle.stretches import coverage, next_stretch
from workbench.chronicle.summarizing import AnySummarizer
from workbench.log.background_folds import GenerativeRebuild, OpenTransaction
from workbench.log.event_reader import EventReader
from workbench.log.pins.resolver import PinResolver
from workbench.log.positions import commit_position
from workbench.log.projector import BATCH_SIZE, DRAW_SECONDS, Projector, never

Progress = Callable[[int, int | None, str], object]
"""Takes (events consolidated by this call, events in reach or None, what was written last)."""

Cancelled = Callable[[], bool]


Through = Callable[[PinResolver], AnySummarizer]
"""Makes the summarizer anew, drawing through another resolver of pins; one that draws nothing it gives back
as it is."""


class Lag(NamedTuple):
    """How far a chronicle is behind its stream."""

    last_seq: int
    consolidated_through: int
    closes_next: tuple[int, int] | None
    """The first stretch, both ends inside, that a consolidation would write; None if there is none."""
    events: int
    """How many events are in no section, closed or not. Some behind `consolidated_through` are in one: beyond
    a hole there are sections, too."""

    @property
    def due(self) -> bool:
        """Whether a consolidation would write something."""
        return self.closes_next is not None


class NotPinned(ChronicleError, TypeError):
    """A replay was asked of a summarizer that does not draw through pins."""

    code: ClassVar[str] = "not_pinned"


class Consolidator:
    """Writes the chronicle of one stream, and says how far it is.

    Threads may share one, and other programs may have their own: whoever draws holds the lease on the
    chronicle, and whoever comes second waits and then finds nothing to draw. The write lock is never held
    while a summarizer works; what it wrote is stored within a second, and no stretch with a section is
    drawn again.
    """

    def __init__(
        self,
        store: ChronicleStore,
        reader: EventReader,
        *,
        boundary: UnitBoundary,
        summarize: AnySummarizer,
        lease: Lease,
        through: Through | None = None,
        admission: Admission | None = None,
        seconds: float | None = None,
        author: Author = NOBODY,
        keep: Keep = keep_nothing_else,
        name: str = FOLD_NAME,
        draw_seconds: float = DRAW_SECONDS,
    ) -> None:
        """The parameters are those of `ChronicleFold`; `draw_seconds` is the `Projector`'s.

        `lease` is asked for `<name>/<stream>`; `through` is what a rebuild as a replay needs. Raises what
        `ChronicleFold` raises.
        """
        self._store = store
        self._reader = reader
        self._boundary = boundary
        self._summarize = summarize
        self._through = through
        self._lease = lease
        self._lease_name = f"{name}/{reader.scope}"
        self._admission = admission
        self._seconds = seconds
        self._author = author
        self._keep = keep
        self._name = name
        self._progress: Progress | None = None
        self._end = 0
        self._new: list[Anchor] = []
        self._drawing: tuple[int, int] | None = None
        # One for all calls: what it drew and could not store it still has at the next one.
        self._fold = self._folding(summarize)
        stream = reader.log.stream(reader.scope)
        self._projector = Projector(stream, reader, [self._fold], draw_seconds=draw_seconds)

    def _folding(self, summarize: AnySummarizer) -> ChronicleFold:
        return ChronicleFold(
            self._store,
            self._reader,
            boundary=self._boundary,
            summarize=summarize,
            admission=self._admission,
            name=self._name,
            seconds=self._seconds,
            author=self._author,
            keep=self._kept,
            drawing=self._tell,
        )

    def _kept(self, section: Section) -> None:
        self._keep(section)
        self._new.append(section.anchor)

    @property
    def drawing(self) -> tuple[int, int] | None:
        """The range, both ends inside, that was drawn last or is being drawn; None before the first draw."""
        return self._drawing

    def _tell(self, from_seq: int, to_seq: int) -> None:
        self._drawing = from_seq, to_seq
        if self._progress is not None:
            self._progress(from_seq - 1, self._end, f"events {from_seq} to {to_seq}")

    # -- how far it is ---------------------------------------------------------------------

    def lag(self) -> Lag:
        """How far the chronicle is behind; in time that does not grow with what it holds."""
        last = self._reader.last()
        found = coverage(self._store, last)
        since = max(found.next_seq - 1, self._projector.position(self._name))
        closing = next_stretch(self._reader, self._boundary, found, since)
        return Lag(last, self._store.consolidated_through(), closing, found.uncovered(last))

    # -- going on --------------------------------------------------------------------------

    def consolidate(self, *, progress: Progress | None = None, cancelled: Cancelled = never) -> list[Anchor]:
        """Write what is missing of the events that there are by now; the new anchors as they were written.

        Holes come first. `cancelled` is asked between two draws; what was written before stays, also where
        an error ends the call. Raises what `Drawing.draw` raises; `NeedsAsync`, `OpenTransaction` inside
        a transaction and `AlreadyConsolidating` from within a summarizer, before anything is drawn.
        """
        self._fold.refuse_awaiting()
        self._refuse_open_transaction()
        with held(self._lease, self._reader.log, self._lease_name):
            self._begin(progress)
            self._fold.fill(stop=cancelled)
            self._projector.catch_up(batch_size=BATCH_SIZE, upto=self._end, stop=cancelled)
            return self._done()

    async def consolidate_async(
        self, *, progress: Progress | None = None, cancelled: Cancelled = never
    ) -> list[Anchor]:
        """As `consolidate`, for a summarizer of either kind."""
        self._refuse_open_transaction()
        async with held_async(self._lease, self._reader.log, self._lease_name):
            self._begin(progress)
            await self._fold.fill_async(stop=cancelled)
            await self._projector.catch_up_async(batch_size=BATCH_SIZE, upto=self._end, stop=cancelled)
            return self._done()

    def _begin(self, progress: Progress | None) -> None:
        self._progress, self._new = progress, []
        # A summarizer that appends must not keep the call going for ever.
        self._end = self._reader.last()

    def _done(self) -> list[Anchor]:
        if self._progress is not None:
            self._progress(self._store.consolidated_through(), self._end, "")
        return self._new

    # -- again -----------------------------------------------------------------------------

    def reconsolidate(self, section_id: SectionId, *, summarize: AnySummarizer | None = None) -> Section:
        """Write a section again, by another summarizer if one is given; see `reconsolidate`."""
        self._refuse_open_transaction()
        with held(self._lease, self._reader.log, self._lease_name):
            return reconsolidate(
                self._store,
                self._reader,
                section_id,
                summarize or self._summarize,
                admission=self._admission,
                seconds=self._seconds,
                author=self._author,
                keep=self._keep,
            )

    async def reconsolidate_async(
        self, section_id: SectionId, *, summarize: AnySummarizer | None = None
    ) -> Section:
        """As `reconsolidate`, for a summarizer of either kind."""
        self._refuse_open_transaction()
        async with held_async(self._lease, self._reader.log, self._lease_name):
            return await reconsolidate_async(
                self._store,
                self._reader,
                section_id,
                summarize or self._summarize,
                admission=self._admission,
                seconds=self._seconds,
                author=self._author,
                keep=self._keep,
            )

    def rebuild(
        self,
        *,
        discard_generated: bool = False,
        resolver: PinResolver | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled = never,
    ) -> list[Anchor] | None:
        """Draw every section anew and put them in the place of all that there are; the new anchors.

        First generations again: what was written again, by hand or loaded is gone. Everything is drawn
        before anything is removed, so that a draw that fails, `PinMiss` in a replay for one, changes
        nothing; nor does `cancelled`, after which None comes back. Through a `resolver` that replays, the
        prose is what it was.

        Raises `GenerativeRebuild` without `discard_generated`, `NotPinned` for a resolver that the
        summarizer cannot draw through, and what `consolidate` raises.
        """
        fold = self._rebuilding(discard_generated, resolver)
        fold.refuse_awaiting()
        with held(self._lease, self._reader.log, self._lease_name):
            self._begin(progress)
            return self._replace(fold.redraw(self._end, stop=cancelled), resolver is not None)

    async def rebuild_async(
        self,
        *,
        discard_generated: bool = False,
        resolver: PinResolver | None = None,
        progress: Progress | None = None,
        cancelled: Cancelled = never,
    ) -> list[Anchor] | None:
        """As `rebuild`, for a summarizer of either kind."""
        fold = self._rebuilding(discard_generated, resolver)
        async with held_async(self._lease, self._reader.log, self._lease_name):
            self._begin(progress)
            return self._replace(await fold.redraw_async(self._end, stop=cancelled), resolver is not None)

    def _rebuilding(self, discard_generated: bool, resolver: PinResolver | None) -> ChronicleFold:
        if not discard_generated:
            raise GenerativeRebuild(
                f"rebuilding the chronicle of {self._reader.scope} throws away what it generated",
                hint="say so: discard_generated=True",
            )
        self._refuse_open_transaction()
        if resolver is None:
            return self._folding(self._summarize)
        if self._through is None:
            raise NotPinned(
                "this summarizer does not draw through pins, so that there is nothing to replay",
                hint="rebuild without a replay",
            )
        return self._folding(self._through(resolver))

    def _replace(self, sections: list[Section] | None, replayed: bool) -> list[Anchor] | None:
        if sections is None:
            return None
        with self._reader.log.transaction() as transaction:
            if replayed:
                # What came out as it was before was not written now.
                sections = [self._as_before(section) for section in sections]
            self._store.reset()
            self._store.load(sections)
            for section in sections:
                self._kept(section)
            commit_position(transaction.connection, self._name, self._end, self._reader.scope)
        return self._done()

    def _as_before(self, section: Section) -> Section:
        before = self._store.section(section.anchor.section_id)
        return before if before is not None and before[:3] == section[:3] else section

    # -- refusals --------------------------------------------------------------------------

    def _refuse_open_transaction(self) -> None:
        if self._reader.log.in_transaction:
            raise OpenTransaction("a summarizer would work while the log is locked")

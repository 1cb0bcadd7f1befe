"""The generative fold that turns closed stretches into sections (contract log-and-chronicle, §9)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import NamedTuple

import apsw

from workbench.chronicle.admission import Admission
from workbench.chronicle.boundaries import EventTypes
from workbench.chronicle.ports import ChronicleStore, UnitBoundary
from workbench.chronicle.sections import Anchor, Consolidation, Section, Written, section_id
from workbench.chronicle.stretches import Coverage, EventsAhead, Stretch, coverage, stretches
from workbench.chronicle.summarizing import AnySummarizer, Drawing
from workbench.log.background_folds import FoldDeterminism
from workbench.log.event_log import EventLog
from workbench.log.event_reader import EventReader
from workbench.log.projector import Stop, never
from workbench.log.registry import StoredEvent

logger = logging.getLogger(__name__)

FOLD_NAME = "chronicle"

Keep = Callable[[Section], object]
"""Called with a section in the transaction that stores it: what must be kept together with it, its pins for
one, is kept there, and an error undoes both."""


Told = Callable[[int, int], object]
"""Called with a range, both ends inside."""


class Author(NamedTuple):
    """By what sections are written, as is noted beside them."""

    name: str = ""
    version: str = ""


NOBODY = Author()


class _Draw(NamedTuple):
    """A section that was drawn and is not stored yet."""

    from_seq: int
    to_seq: int
    shown: int
    """A hash of the seqs that the summarizer saw."""
    when: Written
    consolidation: Consolidation

    def section(self) -> Section:
        """The first section over its range."""
        first, last = self.from_seq, self.to_seq
        anchor = Anchor(section_id(first, last), first, last, last)
        return Section(anchor, self.consolidation.prose, self.consolidation.pins, self.when)


def keep_nothing_else(section: Section) -> None:
    """The `Keep` of a chronicle whose sections stand for themselves."""


def tell_nobody(from_seq: int, to_seq: int) -> None:
    """The `Told` of whom nobody asks how far it is."""


class ChronicleFold:
    """Draws a section for each stretch that a boundary closes, and fills holes before it goes on.

    Anchors follow from the log alone, whatever the summarizer says or may see. Drawing happens in
    `prepare`, with no transaction held; what was drawn and could not be stored is not drawn again by this
    object. Meant to be driven by a `Projector` of its own over one stream; `Consolidator` does.
    """

    fold: FoldDeterminism = "generative"

    def __init__(
        self,
        store: ChronicleStore,
        reader: EventReader,
        *,
        boundary: UnitBoundary,
        summarize: AnySummarizer,
        admission: Admission | None = None,
        name: str = FOLD_NAME,
        seconds: float | None = None,
        author: Author = NOBODY,
        keep: Keep = keep_nothing_else,
        drawing: Told = tell_nobody,
    ) -> None:
        """Read the stream of `reader`, write to `store`, tell `drawing` of each draw before it begins.

        `seconds` is the time limit of a draw, see `Drawing`. Raises `UnknownBoundary` for a boundary of
        types that are not registered, `ValueError` for a reader of the whole log.
        """
        if not reader.scope:
            raise ValueError("a chronicle belongs to one stream, and not to the whole log")
        if isinstance(boundary, EventTypes):
            boundary.check(reader)
        self.name = name
        self.types = boundary.types if isinstance(boundary, EventTypes) else None
        self._store = store
        self._reader = reader
        self._boundary = boundary
        self._admission = Admission() if admission is None else admission
        self._drawing = Drawing(summarize, seconds=seconds, redactor=reader.log.redactor)
        self._author = author
        self._keep = keep
        self._tell = drawing
        self._coverage: Coverage | None = None
        self._ahead = EventsAhead(reader)
        self._by_event: dict[int, list[_Draw]] = {}
        """By the seq of the event that they were drawn at, what its `apply` is to store."""
        self._unstored: dict[tuple[int, int], _Draw] = {}
        """By range, what was drawn and need not be drawn again."""
        self._applied: list[tuple[int, int]] = []
        """The ranges that the open transaction stores."""

    @property
    def prepares_synchronously(self) -> bool:
        """False for a summarizer that is awaited."""
        return not self._drawing.by_awaiting

    def refuse_awaiting(self) -> None:
        """Raise `NeedsAsync` for a summarizer that is awaited."""
        self._drawing.refuse_awaiting()

    # -- drawing ---------------------------------------------------------------------------

    def start_batch(self) -> None:
        """Look at the store anew; what was drawn for a batch that was not kept waits to be used."""
        self._by_event.clear()
        self._ahead = EventsAhead(self._reader)
        self._coverage = found = coverage(self._store, self._reader.last())
        self._unstored = {at: draw for at, draw in self._unstored.items() if found.holds(*at)}
        self._applied.clear()

    def end_batch(self) -> None:
        """What was applied is stored, and if somebody removes it, it is drawn again."""
        for at in self._applied:
            self._unstored.pop(at, None)
        self._applied.clear()

    def prepare(self, event: StoredEvent) -> None:
        """Draw what the event closes, and every hole; nothing for an event that closes nothing new.

        Raises what `Drawing.draw` raises.
        """
        self.refuse_awaiting()
        for stretch in self._wanted(event):
            self._by_event.setdefault(event.seq, []).append(self._drawn(stretch))

    async def prepare_async(self, event: StoredEvent) -> None:
        """As `prepare`, for a summarizer of either kind."""
        for stretch in self._wanted(event):
            self._by_event.setdefault(event.seq, []).append(await self._drawn_async(stretch))

    def _drawn(self, stretch: Stretch) -> _Draw:
        events, begun = self._begun(stretch)
        if begun.consolidation.prose:
            return begun
        return self._noted(begun, self._drawing.draw(events, self._named(stretch)))

    async def _drawn_async(self, stretch: Stretch) -> _Draw:
        events, begun = self._begun(stretch)
        if begun.consolidation.prose:
            return begun
        return self._noted(begun, await self._drawing.draw_async(events, self._named(stretch)))

    def _begun(self, stretch: Stretch) -> tuple[list[StoredEvent], _Draw]:
        """What a summarizer may see, and its draw: still without prose, unless the same was drawn before."""
        # Before anybody is asked what may be seen: what is hidden from now on counts as hidden later.
        when = written(self._reader.log, self._author)
        events = self._admission.admitted(stretch.events)
        shown = hash(tuple([event.seq for event in events]))
        earlier = self._unstored.get((stretch.from_seq, stretch.to_seq))
        if earlier is not None and earlier.shown == shown:
            return events, earlier
        self._tell(stretch.from_seq, stretch.to_seq)
        return events, _Draw(stretch.from_seq, stretch.to_seq, shown, when, Consolidation(""))

    def _noted(self, begun: _Draw, drawn: Consolidation) -> _Draw:
        draw = self._unstored[begun.from_seq, begun.to_seq] = begun._replace(consolidation=drawn)
        return draw

    def _wanted(self, event: StoredEvent) -> Iterator[Stretch]:
        """The stretches to draw at an event; each counts as covered once the next one is asked for."""
        if not self._boundary.closes_unit(event):
            return
        self._by_event.pop(event.seq, None)
        found, self._coverage = self._coverage or coverage(self._store, self._reader.last()), None
        for first, last in found.holes:
            yield from stretches(self._reader, self._boundary, first, last, rest=True)
        if event.seq >= found.next_seq:
            yield from stretches(
                self._reader, self._boundary, found.next_seq, event.seq, rest=True, ahead=self._ahead
            )
        # Only now: after a draw that raised, the store is asked again.
        self._coverage = Coverage((), max(found.next_seq, event.seq + 1))

    def _named(self, stretch: Stretch) -> str:
        return f"events {stretch.from_seq} to {stretch.to_seq} of {self._reader.scope}"

    # -- storing ---------------------------------------------------------------------------

    def apply(self, event: StoredEvent, connection: apsw.Connection) -> None:
        """Store what was drawn at the event.

        Raises what `ChronicleStore.append` raises: `ChronicleFork` where somebody stored another section
        over the same events meanwhile. The next batch takes that into account.
        """
        self._coverage = None
        for draw in self._by_event.pop(event.seq, ()):
            self._put(draw)

    def _put(self, draw: _Draw) -> None:
        section = draw.section()
        self._store.append(section)
        self._keep(section)
        self._applied.append((draw.from_seq, draw.to_seq))
        # Never its prose: a log file is read by others than the chronicle.
        logger.info("%s: section %s", self._reader.scope, section.anchor.section_id)

    # -- without an event ------------------------------------------------------------------

    def fill(self, *, stop: Stop = never) -> None:
        """Draw and store each stretch of the holes, whether or not a boundary comes after them.

        Each is a transaction of its own. Raises what `prepare` and `apply` raise.
        """
        self.refuse_awaiting()
        for stretch in self._missing(stop):
            self._store_one(self._drawn(stretch))

    async def fill_async(self, *, stop: Stop = never) -> None:
        """As `fill`, for a summarizer of either kind."""
        for stretch in self._missing(stop):
            self._store_one(await self._drawn_async(stretch))

    def _missing(self, stop: Stop) -> Iterator[Stretch]:
        self.start_batch()
        for first, last in self._store.holes():
            for stretch in stretches(self._reader, self._boundary, first, last, rest=True):
                if stop():
                    return
                yield stretch

    def _store_one(self, draw: _Draw) -> None:
        with self._reader.log.transaction():
            self._put(draw)
        self.end_batch()

    def redraw(self, last_seq: int, *, stop: Stop = never) -> list[Section] | None:
        """A section for each closed stretch up to `last_seq`, as if there were none; none of them is stored.

        None once `stop` says so. Raises what `prepare` raises.
        """
        self.refuse_awaiting()
        return self._sections([self._drawn(stretch) for stretch in self._every(last_seq, stop)], stop)

    async def redraw_async(self, last_seq: int, *, stop: Stop = never) -> list[Section] | None:
        """As `redraw`, for a summarizer of either kind."""
        draws = [await self._drawn_async(stretch) for stretch in self._every(last_seq, stop)]
        return self._sections(draws, stop)

    def _every(self, last_seq: int, stop: Stop) -> Iterator[Stretch]:
        for stretch in stretches(self._reader, self._boundary, 1, last_seq, rest=False):
            if stop():
                return
            yield stretch

    def _sections(self, draws: list[_Draw], stop: Stop) -> list[Section] | None:
        self._unstored.clear()
        if stop():
            return None
        return [draw.section() for draw in draws]


def written(log: EventLog, author: Author) -> Written:
    """When and by what a section is written that is begun now."""
    return Written(log.last_position(), log.now(), author.name, author.version)

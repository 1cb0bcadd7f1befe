"""A better account of a range, written later (contract log-and-chronicle, §10)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from workbench.chronicle.admission import Admission
from workbench.chronicle.errors import ChronicleFork, UnknownSection
from workbench.chronicle.fold import NOBODY, Author, Keep, keep_nothing_else, written
from workbench.chronicle.ports import ChronicleStore
from workbench.chronicle.sections import Anchor, Consolidation, Section, SectionId, Written, section_id
from workbench.chronicle.summarizing import AnySummarizer, Drawing
from workbench.log.event_reader import EventReader
from workbench.log.registry import StoredEvent

logger = logging.getLogger("workbench.chronicle.reconsolidation")


class _Plan(NamedTuple):
    """What is to be written again."""

    section: Section
    when: Written
    stretch: str
    events: list[StoredEvent]


def reconsolidate(
    store: ChronicleStore,
    reader: EventReader,
    section_id: SectionId,
    summarize: AnySummarizer,
    *,
    admission: Admission | None = None,
    seconds: float | None = None,
    author: Author = NOBODY,
    keep: Keep = keep_nothing_else,
) -> Section:
    """Draw a current section's range anew and store the next generation, which supersedes it.

    The old prose stays readable by its id. Every call warns on the logger
    `workbench.chronicle.reconsolidation`: what read the old prose will differ when it is replayed, and a
    rebuild drops the new section, for the log does not know of it.

    Raises, before anything is drawn, `UnknownSection`, `ChronicleFork` for a section that is superseded,
    `NeedsAsync`; then what `Drawing.draw` raises; and `SectionCollision` where somebody else wrote the
    next generation meanwhile. Nothing is stored then.
    """
    drawing = Drawing(summarize, seconds=seconds, redactor=reader.log.redactor)
    plan = _plan(store, reader, section_id, admission, author)
    drawn = drawing.draw(plan.events, plan.stretch)
    return _store(store, reader, plan, drawn, keep)


async def reconsolidate_async(
    store: ChronicleStore,
    reader: EventReader,
    section_id: SectionId,
    summarize: AnySummarizer,
    *,
    admission: Admission | None = None,
    seconds: float | None = None,
    author: Author = NOBODY,
    keep: Keep = keep_nothing_else,
) -> Section:
    """As `reconsolidate`, for a summarizer of either kind."""
    drawing = Drawing(summarize, seconds=seconds, redactor=reader.log.redactor)
    plan = _plan(store, reader, section_id, admission, author)
    drawn = await drawing.draw_async(plan.events, plan.stretch)
    return _store(store, reader, plan, drawn, keep)


def _plan(
    store: ChronicleStore, reader: EventReader, named: SectionId, admission: Admission | None, author: Author
) -> _Plan:
    # First of all, as in the fold: what is hidden from now on is hidden after the section was written.
    when = written(reader.log, author)
    section = store.section(named)
    if section is None:
        raise UnknownSection(f"there is no section {named} in {reader.scope}", section_id=named)
    first, last = section.anchor.from_seq, section.anchor.to_seq
    current = store.covering(first)
    if current is None or current.anchor.section_id != named:
        by = "another" if current is None else current.anchor.section_id
        raise ChronicleFork(
            f"section {named} is superseded by {by}", hint=f"write {by} again, which is the current one"
        )
    events = list(reader.read_raw(first - 1, upto=last, where=reader.knows))
    admitted = (Admission() if admission is None else admission).admitted(events)
    return _Plan(section, when, f"section {named}, events {first} to {last} of {reader.scope}", admitted)


def _store(
    store: ChronicleStore, reader: EventReader, plan: _Plan, drawn: Consolidation, keep: Keep
) -> Section:
    old = plan.section
    first, last = old.anchor.from_seq, old.anchor.to_seq
    name = section_id(first, last, generation=_generation(store.section, old) + 1)
    anchor = Anchor(name, first, last, old.anchor.unit, old.anchor.section_id)
    section = Section(anchor, drawn.prose, drawn.pins, plan.when)
    with reader.log.transaction():
        store.append_new(section)
        keep(section)
    logger.warning(
        "%s: section %s supersedes %s (events %d to %d); runs that read the old prose will diverge on "
        "replay, and a rebuild drops the new section",
        reader.scope,
        name,
        old.anchor.section_id,
        first,
        last,
    )
    return section


def _generation(find: Callable[[SectionId], Section | None], section: Section) -> int:
    """How many sections there are in the chain that ends with this one."""
    count = 1
    while section.anchor.supersedes is not None and (before := find(section.anchor.supersedes)) is not None:
        section = before
        count += 1
    return count

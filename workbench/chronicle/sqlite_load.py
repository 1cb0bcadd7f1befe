"""Storing what an export holds, all or nothing (contract log-and-chronicle, §8 "load").

What must be known of the sections that are stored is asked for all of a load at once, so that the time it
takes grows with the load alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import apsw
import msgspec

from workbench.chronicle import fulltext, queries, refusals
from workbench.chronicle.checks import check_content, check_id, cleaned, is_text
from workbench.chronicle.sections import Anchor, Section, SectionId
from workbench.chronicle.tables import SECTIONS
from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.storage import fetch

_STORED = (
    "SELECT s.section_id, s.from_seq, s.to_seq, s.unit, s.supersedes{more} FROM json_each(?2) k "
    f"CROSS JOIN {SECTIONS} s ON s.stream_id = ?1 AND s.section_id = k.value"
)
_THERE = _STORED.format(more=", s.prose, s.pins")
_PARENTS = _STORED.format(more=", s.generation, s.is_current, s.after_gap, s.row_id, s.prose, s.pins")
_OVERLAPPED = (
    f"SELECT k.key, s.section_id FROM json_each(?2) k CROSS JOIN {SECTIONS} s ON s.row_id = ("
    f"SELECT row_id FROM {SECTIONS} WHERE stream_id = ?1 AND is_current = 1 AND from_seq <= k.value ->> 1 "
    "ORDER BY from_seq DESC LIMIT 1) WHERE s.to_seq >= k.value ->> 0 LIMIT 1"
)
_INSERT = (
    f"INSERT INTO {SECTIONS}(row_id, stream_id, section_id, from_seq, to_seq, unit, supersedes, generation, "
    "is_current, after_gap, prose, pins, written_position, written_at, summarizer, summarizer_version) "
    "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LAST_ROW = f"SELECT coalesce(max(row_id), 0) FROM {SECTIONS}"
_RETIRE = f"UPDATE {SECTIONS} SET is_current = 0 WHERE row_id IN (SELECT value FROM json_each(?))"
_CLOSE_GAPS = (
    f"UPDATE {SECTIONS} AS s SET after_gap = 0 WHERE s.stream_id = ?1 AND s.is_current = 1 "
    "AND s.after_gap = 1 AND s.from_seq IN (SELECT value FROM json_each(?2)) "
    f"AND (SELECT p.to_seq FROM {SECTIONS} p WHERE p.stream_id = ?1 AND p.is_current = 1 "
    "AND p.from_seq < s.from_seq ORDER BY p.from_seq DESC LIMIT 1) = s.from_seq - 1"
)


class _Parent(NamedTuple):
    """A stored section that is to be superseded."""

    anchor: Anchor
    generation: int
    is_current: bool
    after_gap: bool
    row_id: int
    prose: str
    pins: str


class Landed(NamedTuple):
    """What a load did."""

    landed: int
    """Sections that were not there."""
    other_words: tuple[SectionId, ...]
    """Those that are there with the same anchor and other prose or pins, which stay as they are."""


def load(log: EventLog, stream: str, sections: Sequence[Section]) -> Landed:
    """`ChronicleStore.load` for the stream of that name.

    The secret filter runs before the write lock is taken.
    """
    given = _distinct(sections)
    _refuse_cycles(given)
    clean = {each.anchor.section_id: each for each in cleaned(list(given.values()), log.redactor)}
    with log.transaction() as transaction:
        connection = transaction.connection
        number = sqlite.stream_id(connection, stream) if is_text(stream) else None
        new, other = (clean, ()) if number is None else _not_stored(connection, number, given, clean)
        last_seq = 0 if number is None else sqlite.last_seq(connection, number)
        for section in new.values():
            check_content(section, last_seq)
        if new:
            assert number is not None
            _Landing(connection, number, given, clean, new).land()
    return Landed(len(new), tuple(other))


def _distinct(sections: Iterable[Section]) -> dict[SectionId, Section]:
    """By id the first of the sections that have it."""
    given: dict[SectionId, Section] = {}
    for section in sections:
        first = given.setdefault(section.anchor.section_id, section)
        if first.anchor != section.anchor:
            raise refusals.collision(section.anchor, first.anchor)
    return given


def _refuse_cycles(given: dict[SectionId, Section]) -> None:
    done: set[SectionId] = set()
    for section_id in given:
        walked: dict[SectionId, None] = {}
        at: SectionId | None = section_id
        while at is not None and at in given and at not in done:
            if at in walked:
                raise refusals.cycle(given[at].anchor)
            walked[at] = None
            at = given[at].anchor.supersedes
        done.update(walked)


def _not_stored(
    connection: apsw.Connection,
    number: int,
    given: dict[SectionId, Section],
    clean: dict[SectionId, Section],
) -> tuple[dict[SectionId, Section], Sequence[SectionId]]:
    """What is not there, and the ids of what is there with other words or pins."""
    new = dict(clean)
    other: list[SectionId] = []
    for *anchor, prose, pins in fetch.rows(
        connection, _THERE, (number, _json(each for each in clean if is_text(each)))
    ):
        stored = Anchor(*anchor)
        section = new.pop(stored.section_id)
        if section.anchor != stored:
            raise refusals.collision(section.anchor, stored)
        if _says_otherwise(given[stored.section_id], section, prose, pins):
            other.append(stored.section_id)
    return new, other


def _says_otherwise(given: Section, clean: Section, prose: str, pins: str) -> bool:
    """Whether a section, as given and as the filter leaves it, is not what is stored."""
    # What is stored may have passed an older filter than today's.
    return prose not in (given.prose, clean.prose) or pins != queries.pins_text(given.pins)


class _Landing:
    """Sections that are not stored yet, on their way in."""

    def __init__(
        self,
        connection: apsw.Connection,
        number: int,
        given: dict[SectionId, Section],
        clean: dict[SectionId, Section],
        new: dict[SectionId, Section],
    ) -> None:
        self._connection = connection
        self._number = number
        self._given = given
        self._clean = clean
        self._new = new
        self._parents = self._read_parents()
        self._generations: dict[SectionId, int] = {}

    def land(self) -> None:
        superseded = self._check_chains()
        first = [each.anchor for each in self._new.values() if each.anchor.supersedes is None]
        first.sort(key=lambda anchor: anchor.from_seq)
        self._refuse_overlaps(first)
        for section_id, section in self._new.items():
            check_id(section.anchor, self._generations[section_id])
        self._insert(superseded, _gaps(first))

    def _read_parents(self) -> dict[SectionId, _Parent]:
        wanted = {
            supersedes
            for each in self._new.values()
            if (supersedes := each.anchor.supersedes) is not None and supersedes not in self._new
        }
        values = (self._number, _json(each for each in wanted if is_text(each)))
        rows = fetch.rows(self._connection, _PARENTS, values) if wanted else []
        return {row[0]: _Parent(Anchor(*row[:5]), *row[5:]) for row in rows}

    def _check_chains(self) -> set[SectionId]:
        """What is superseded by something new."""
        superseded: set[SectionId] = set()
        for section in self._new.values():
            anchor = section.anchor
            supersedes = anchor.supersedes
            if supersedes is None:
                continue
            within, stored = self._new.get(supersedes), self._parents.get(supersedes)
            parent = stored.anchor if within is None and stored is not None else within and within.anchor
            if parent is None:
                raise refusals.unknown(anchor)
            if parent[1:3] != anchor[1:3]:
                raise refusals.other_range(anchor)
            if supersedes in superseded or (stored is not None and not stored.is_current):
                raise refusals.second_successor(anchor)
            if stored is not None and self._differs(supersedes, stored):
                raise refusals.mixed_chain(anchor)
            superseded.add(supersedes)
        for section_id in self._new:
            self._count_generations(section_id)
        return superseded

    def _differs(self, section_id: SectionId, stored: _Parent) -> bool:
        """Whether the load holds a stored section with other words or pins."""
        given = self._given.get(section_id)
        if given is None:
            return False
        return _says_otherwise(given, self._clean[section_id], stored.prose, stored.pins)

    def _count_generations(self, section_id: SectionId) -> None:
        chain: list[SectionId] = []
        at: SectionId | None = section_id
        while at is not None and at in self._new and at not in self._generations:
            chain.append(at)
            at = self._new[at].anchor.supersedes
        below = 0
        if at is not None:
            below = self._generations[at] if at in self._generations else self._parents[at].generation
        for generation, each in enumerate(reversed(chain), below + 1):
            self._generations[each] = generation

    def _refuse_overlaps(self, first: Sequence[Anchor]) -> None:
        """Refuse first proses, which are in order, that share an event with each other or a stored one."""
        for before, anchor in pairwise(first):
            if anchor.from_seq <= before.to_seq:
                raise refusals.overlap(anchor, before.section_id)
        ranges = _json([anchor.from_seq, anchor.to_seq] for anchor in first)
        if found := fetch.row(self._connection, _OVERLAPPED, (self._number, ranges)):
            raise refusals.overlap(first[found[0]], found[1])

    def _insert(self, superseded: set[SectionId], gaps: dict[int, bool]) -> None:
        connection = self._connection
        ordered = sorted(
            self._new.values(), key=lambda each: (each.anchor.from_seq, self._generations[each.anchor[0]])
        )
        retired = [each.row_id for section_id, each in self._parents.items() if section_id in superseded]
        connection.execute(_RETIRE, (_json(retired),))
        kept = {each.anchor.from_seq: each.after_gap for each in self._parents.values()}
        row_id = fetch.value(connection, _LAST_ROW) + 1
        connection.executemany(_INSERT, self._rows(ordered, row_id, superseded, gaps | kept))
        fulltext.add(connection, ((row_id + at, each.prose) for at, each in enumerate(ordered)))
        starts = {anchor.to_seq + 1 for anchor in self._first(ordered)}.difference(gaps)
        starts.update(from_seq for from_seq, after_gap in gaps.items() if after_gap)
        connection.execute(_CLOSE_GAPS, (self._number, _json(starts)))

    def _rows(
        self, ordered: Sequence[Section], row_id: int, superseded: set[SectionId], gaps: dict[int, bool]
    ) -> Iterator[tuple[object, ...]]:
        for at, section in enumerate(ordered, row_id):
            anchor = section.anchor
            yield (
                at,
                self._number,
                *anchor,
                self._generations[anchor.section_id],
                anchor.section_id not in superseded,
                gaps[anchor.from_seq],
                *queries.columns(section),
            )

    @staticmethod
    def _first(sections: Iterable[Section]) -> Iterator[Anchor]:
        return (each.anchor for each in sections if each.anchor.supersedes is None)


def _gaps(first: Sequence[Anchor]) -> dict[int, bool]:
    """By its beginning, whether none of the ranges, which are in order, ends right before a range."""
    ends = [0, *(anchor.to_seq for anchor in first)]
    return {anchor.from_seq: end < anchor.from_seq - 1 for anchor, end in zip(first, ends, strict=False)}


def _json(values: Iterable[object]) -> str:
    return msgspec.json.encode(list(values)).decode()

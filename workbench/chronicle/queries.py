"""The statements that read sections, each by an index (contract log-and-chronicle, §8).

The first value of each is the stream's name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from workbench.chronicle.sections import Anchor, Section, Written
from workbench.chronicle.tables import SEARCH, SECTIONS

_STREAM = "stream_id = (SELECT stream_id FROM streams WHERE name = ?1)"
_ANCHOR = "section_id, from_seq, to_seq, unit, supersedes"
_SECTION = f"{_ANCHOR}, prose, pins, written_position, written_at, summarizer, summarizer_version"
_CURRENT = f"FROM {SECTIONS} WHERE {_STREAM} AND is_current = 1"

END = 2**62
"""Beyond every seq."""

STREAM_ID = "SELECT stream_id FROM streams WHERE name = ?"
ANCHORS = f"SELECT {_ANCHOR} {_CURRENT} AND from_seq <= ?2 AND to_seq <= ?2 ORDER BY from_seq"
SECTIONS_UPTO = f"SELECT {_SECTION} {_CURRENT} AND from_seq <= ?2 AND to_seq <= ?2 ORDER BY from_seq"
BY_ID = f"SELECT {_SECTION} FROM {SECTIONS} WHERE {_STREAM} AND section_id = ?2"
COVERING = f"SELECT {_SECTION} {_CURRENT} AND from_seq <= ?2 ORDER BY from_seq DESC LIMIT 1"
NEWEST = f"SELECT {_SECTION} {_CURRENT} AND from_seq < ?2 AND to_seq <= ?3 ORDER BY from_seq DESC LIMIT ?4"
PAGE = f"SELECT {_SECTION}, generation, after_gap {_CURRENT} AND from_seq > ?2 ORDER BY from_seq LIMIT ?3"
PAGE_BEFORE = (
    f"SELECT {_SECTION}, generation, after_gap {_CURRENT} AND from_seq < ?2 ORDER BY from_seq DESC LIMIT ?3"
)
GENERATIONS = (
    f"SELECT {_SECTION} FROM {SECTIONS} WHERE {_STREAM} AND from_seq = ?2 AND to_seq = ?3 ORDER BY generation"
)
EXPORT = (
    f"SELECT {_SECTION}, from_seq, generation FROM {SECTIONS} "
    f"WHERE {_STREAM} AND (from_seq, generation) > (?2, ?3) ORDER BY from_seq, generation LIMIT ?4"
)
COUNT = f"SELECT count(*) FROM {SECTIONS} WHERE {_STREAM}"
DREW = (
    f"SELECT DISTINCT summarizer, summarizer_version FROM {SECTIONS} WHERE {_STREAM} AND pins <> '' "
    "AND summarizer <> '' ORDER BY 1, 2 LIMIT 20"
)
COUNT_CURRENT = f"SELECT count(*) {_CURRENT}"

_FIRST_GAP = f"SELECT from_seq {_CURRENT} AND after_gap = 1 ORDER BY from_seq LIMIT 1"
# The section before the first gap is where the gapless prefix ends.
CONSOLIDATED = (
    f"SELECT to_seq {_CURRENT} AND from_seq < coalesce(({_FIRST_GAP}), {END}) ORDER BY from_seq DESC LIMIT 1"
)
HOLES = (
    "SELECT coalesce((SELECT p.to_seq + 1 "
    f"FROM {SECTIONS} p WHERE p.stream_id = c.stream_id AND p.is_current = 1 AND p.from_seq < c.from_seq "
    f"ORDER BY p.from_seq DESC LIMIT 1), 1), c.from_seq - 1 FROM {SECTIONS} c "
    "WHERE c.stream_id = (SELECT stream_id FROM streams WHERE name = ?1) AND c.is_current = 1 "
    "AND c.after_gap = 1 ORDER BY c.from_seq"
)
FOUND = (
    f"SELECT {', '.join('s.' + name for name in _SECTION.split(', '))} FROM {SEARCH} f "
    f"CROSS JOIN {SECTIONS} s ON s.row_id = f.rowid WHERE {SEARCH} MATCH ?2 AND s.{_STREAM} "
    "AND s.is_current = 1 ORDER BY f.rank, s.from_seq DESC LIMIT ?3"
)
RANKED = (
    f"SELECT s.section_id FROM {SEARCH} f CROSS JOIN {SECTIONS} s ON s.row_id = f.rowid "
    f"WHERE {SEARCH} MATCH ?2 AND s.{_STREAM} ORDER BY f.rank, s.to_seq DESC"
)

EVENT_IDS = (
    "SELECT e.seq, e.event_id FROM json_each(?2) k "
    "CROSS JOIN events e ON e.stream_id = (SELECT stream_id FROM streams WHERE name = ?1) AND e.seq = k.value"
)
EVENT_TYPES = (
    "SELECT e.seq, t.namespace, t.type FROM json_each(?2) k CROSS JOIN events e "
    "ON e.stream_id = (SELECT stream_id FROM streams WHERE name = ?1) AND e.seq = k.value "
    "CROSS JOIN event_types t ON t.type_id = e.type_id"
)

_pins = msgspec.json.Decoder(tuple[str, ...]).decode


class Range(NamedTuple):
    """A range of events as one row of a tree: the prose that stands for it now, and how many there were."""

    current: Section
    generations: int
    """1 where it was never re-consolidated."""
    after_gap: bool
    """Whether the event before it is in no section."""


def anchor(row: tuple[Any, ...]) -> Anchor:
    """A row of `ANCHORS`."""
    return Anchor(*row)


def section(row: tuple[Any, ...]) -> Section:
    """A row that begins with a section's columns."""
    return Section(Anchor(*row[:5]), row[5], _pins(row[6]), Written(*row[7:11]))


def range_row(row: tuple[Any, ...]) -> Range:
    """A row of `PAGE`."""
    return Range(section(row), row[11], bool(row[12]))


def columns(section: Section) -> tuple[Any, ...]:
    """Prose, pins and what was noted of the writing, as they are stored."""
    return (section.prose, pins_text(section.pins), *section.written)


def pins_text(pins: tuple[str, ...]) -> str:
    """The keys as a JSON array."""
    return msgspec.json.encode(pins).decode()

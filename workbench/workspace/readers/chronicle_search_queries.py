"""Sections of every chronicle by the words of their prose, in keyset pages (contract log-and-chronicle, §11).

The latest written stand first: the best of all would have to be looked for among all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from workbench.chronicle import queries
from workbench.chronicle.tables import SEARCH, SECTIONS
from workbench.log.event_log import EventLog
from workbench.log.fulltext import match_expression, normalised
from workbench.storage import fetch
from workbench.workspace.readers.chronicle_queries import WORDS_CHARS, ChronicleReader, RangeRow

_BEFORE_WORDS = 30
"""Characters of the prose that stand before the first word that was looked for."""
_COUNTED = 500
"""Hits that are counted between two questions whether the answer is still wanted."""
_COLUMNS = (
    "s.section_id, s.from_seq, s.to_seq, s.unit, s.supersedes, s.prose, s.pins, s.written_position, "
    "s.written_at, s.summarizer, s.summarizer_version"
)
_FROM = (
    f"FROM {SEARCH} f CROSS JOIN {SECTIONS} s ON s.row_id = f.rowid "
    f"WHERE {SEARCH} MATCH ?1 AND s.is_current = 1 AND s.written_position <= ?2 AND f.rowid"
)
_PAGE = (
    f"SELECT f.rowid, (SELECT name FROM streams t WHERE t.stream_id = s.stream_id), s.generation, "
    f"s.after_gap, {_COLUMNS} {_FROM} {{}} ?3 ORDER BY f.rowid {{}} LIMIT ?4"
)
_IDS = f"SELECT f.rowid {_FROM} < ?3 ORDER BY f.rowid DESC LIMIT {_COUNTED}"
_END = 2**62


class FoundSection(NamedTuple):
    """A current section whose prose has the words."""

    row_id: int
    """Its place in the list: the higher, the later it was written."""
    stream: str
    row: RangeRow
    """Its `words` are those around the first hit."""


class ChronicleSearch:
    """Looks words up; any thread may call it. `upto` is a position: what was written later is not there."""

    def __init__(self, log: EventLog, reader: ChronicleReader, upto: int | None = None) -> None:
        self._log = log
        self._reader = reader
        self._upto = _END if upto is None else upto

    def page(
        self, wanted: str, limit: int, *, after: int | None = None, before: int | None = None
    ) -> list[FoundSection]:
        """Sections with every word of `wanted`, the last as a beginning, latest first: behind the row
        `after`, or the last ones in front of the row `before`. None where `wanted` holds no word."""
        words = match_expression(wanted)
        if not words:
            return []
        with self._log.reader() as connection:
            if before is not None:
                sql = _PAGE.format(">", "ASC")
                rows = fetch.rows(connection, sql, (words, self._upto, before, limit))[::-1]
            else:
                last = _END if after is None else after
                rows = fetch.rows(connection, _PAGE.format("<", "DESC"), (words, self._upto, last, limit))
        return [self._found(row, wanted) for row in rows]

    def count(self, wanted: str, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        """How many there are; what was counted so far where `cancelled` says so."""
        words = match_expression(wanted)
        found, last = 0, _END
        while words and not cancelled():
            with self._log.reader() as connection:
                rows = fetch.rows(connection, _IDS, (words, self._upto, last))
            found += len(rows)
            progress(found)
            if len(rows) < _COUNTED:
                break
            last = rows[-1][0]
        return found

    def _found(self, row: fetch.Row, wanted: str) -> FoundSection:
        row_id, stream, generation, after_gap = row[:4]
        section = queries.section(row[4:])
        shown = RangeRow(
            anchor=section.anchor,
            generations=generation,
            written=section.written,
            pins=section.pins,
            words=_around(section.prose, wanted),
            withheld=self._reader.withheld(stream, section),
            after_gap=bool(after_gap),
        )
        return FoundSection(row_id, stream, shown)


def _around(prose: str, wanted: str) -> str:
    """The words of a prose around the first of those looked for, on one line."""
    said = " ".join(prose.split())
    folded = normalised(said).casefold()
    places = [folded.find(word) for word in normalised(wanted).casefold().split()]
    at = min((place for place in places if place >= 0), default=0)
    start = said.rfind(" ", 0, at - _BEFORE_WORDS) + 1 if at > 2 * _BEFORE_WORDS else 0
    return ("… " if start else "") + said[start : start + WORDS_CHARS]

"""A stream's sections in the log's own file (contract log-and-chronicle, §8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

import apsw
import msgspec

from workbench.chronicle import fulltext, queries, refusals
from workbench.chronicle.checks import check_content, check_id, cleaned, is_text
from workbench.chronicle.queries import END, Range
from workbench.chronicle.sections import Anchor, Section, SectionId
from workbench.chronicle.sqlite_load import Landed, load
from workbench.chronicle.tables import SEARCH, SECTIONS
from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.log.fulltext import match_expression
from workbench.storage import fetch

PAGE_ROWS = 500

_STORED = "SELECT section_id, from_seq, to_seq, unit, supersedes, generation, is_current, after_gap, row_id"
_BY_ID = f"{_STORED} FROM {SECTIONS} WHERE stream_id = ? AND section_id = ?"
_BEFORE = (
    f"SELECT section_id, to_seq FROM {SECTIONS} WHERE stream_id = ? AND is_current = 1 AND from_seq <= ? "
    "ORDER BY from_seq DESC LIMIT 1"
)
_INSERT = (
    f"INSERT INTO {SECTIONS}(stream_id, section_id, from_seq, to_seq, unit, supersedes, generation, "
    "is_current, after_gap, prose, pins, written_position, written_at, summarizer, summarizer_version) "
    "VALUES(?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)"
)
_RETIRE = f"UPDATE {SECTIONS} SET is_current = 0 WHERE row_id = ?"
# An UPDATE that finds nothing would have full text write a segment all the same, so it is looked for first.
_GAP = (
    f"SELECT row_id FROM {SECTIONS} WHERE stream_id = ? AND is_current = 1 AND after_gap = 1 AND from_seq = ?"
)
_CLOSE_GAP = f"UPDATE {SECTIONS} SET after_gap = 0 WHERE row_id = ?"


class SQLiteChronicleStore:
    """The sections of one stream: a `ChronicleStore`. Several may be open at once, in any thread.

    Each call is one transaction, or a part of the caller's own: there a refusal has changed nothing, and
    after a storage error the whole of it has to be given up. Reads see what the calling thread has
    written, and raise the storage errors of a read; writes also those of a write.
    """

    def __init__(self, log: EventLog, stream: str) -> None:
        """`stream` is the stream's whole name; it need not hold events yet."""
        self._log = log
        self.stream = stream

    # -- writing ---------------------------------------------------------------------------

    def append(self, section: Section) -> None:
        """See `ChronicleStore.append`. The prose that is stored is what the secret filter leaves of it."""
        self._append(section, strict=False)

    def append_new(self, section: Section) -> None:
        """See `ChronicleStore.append_new`."""
        self._append(section, strict=True)

    def load(self, sections: Iterable[Section]) -> int:
        """See `ChronicleStore.load`. Checked as a whole, in time that grows with what is loaded only."""
        return self.landed(sections).landed

    def landed(self, sections: Iterable[Section]) -> Landed:
        """As `load`; also which of those that are stored already say something else here."""
        return load(self._log, self.stream, list(sections))

    def reset(self) -> None:
        """Remove every section of the stream, and nothing else."""
        with self._log.transaction() as transaction:
            connection = transaction.connection
            rows = f"SELECT row_id FROM {SECTIONS} WHERE stream_id = ?"
            number = self._number(connection)
            connection.execute(f"DELETE FROM {SEARCH} WHERE rowid IN ({rows})", (number,))
            connection.execute(f"DELETE FROM {SECTIONS} WHERE stream_id = ?", (number,))

    def _append(self, section: Section, *, strict: bool) -> None:
        given = section.anchor
        [section] = cleaned([section], self._log.redactor)
        with self._writing() as connection:
            number = self._number(connection)
            stored = self._stored(connection, number, given.section_id)
            if stored is not None:
                if strict or stored.anchor != given:
                    raise refusals.collision(given, stored.anchor)
                return
            check_content(section, 0 if number is None else sqlite.last_seq(connection, number))
            assert number is not None
            if given.supersedes is None:
                self._insert_first(connection, number, section)
            else:
                self._insert_next(connection, number, section, given.supersedes)

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """For a write that refuses before it changes anything.

        Without a savepoint in the caller's transaction: full text would write a segment for each.
        """
        if self._log.in_transaction:
            with self._log.reader() as connection:
                yield connection
            return
        with self._log.transaction() as transaction:
            yield transaction.connection

    def _insert_first(self, connection: apsw.Connection, number: int, section: Section) -> None:
        anchor = section.anchor
        before = fetch.row(connection, _BEFORE, (number, anchor.to_seq))
        if before is not None and before[1] >= anchor.from_seq:
            raise refusals.overlap(anchor, before[0])
        check_id(anchor, 1)
        end = 0 if before is None else before[1]
        gap = fetch.value(connection, _GAP, (number, anchor.to_seq + 1))
        if gap is not None:
            connection.execute(_CLOSE_GAP, (gap,))
        self._insert(connection, number, section, 1, after_gap=end < anchor.from_seq - 1)

    def _insert_next(
        self, connection: apsw.Connection, number: int, section: Section, supersedes: SectionId
    ) -> None:
        anchor = section.anchor
        parent = self._stored(connection, number, supersedes)
        if parent is None:
            raise refusals.unknown(anchor)
        if parent.anchor[1:3] != anchor[1:3]:
            raise refusals.other_range(anchor)
        if not parent.is_current:
            raise refusals.second_successor(anchor)
        check_id(anchor, parent.generation + 1)
        connection.execute(_RETIRE, (parent.row_id,))
        self._insert(connection, number, section, parent.generation + 1, after_gap=parent.after_gap)

    def _insert(
        self, connection: apsw.Connection, number: int, section: Section, generation: int, *, after_gap: bool
    ) -> None:
        values = (number, *section.anchor, generation, after_gap, *queries.columns(section))
        connection.execute(_INSERT, values)
        fulltext.add_one(connection, connection.last_insert_rowid(), section.prose)

    def _stored(
        self, connection: apsw.Connection, number: int | None, section_id: SectionId
    ) -> _Stored | None:
        if number is None or not is_text(section_id):
            return None
        row = fetch.row(connection, _BY_ID, (number, section_id))
        return None if row is None else _Stored(row)

    def _number(self, connection: apsw.Connection) -> int | None:
        return sqlite.stream_id(connection, self.stream) if is_text(self.stream) else None

    # -- reading ---------------------------------------------------------------------------

    def anchors(self, *, upto_seq: int | None = None) -> list[Anchor]:
        """See `ChronicleStore.anchors`."""
        return [queries.anchor(row) for row in self._rows(queries.ANCHORS, _upto(upto_seq))]

    def sections(self, *, upto_seq: int | None = None) -> list[Section]:
        """See `ChronicleStore.sections`."""
        return [queries.section(row) for row in self._rows(queries.SECTIONS_UPTO, _upto(upto_seq))]

    def section(self, section_id: SectionId) -> Section | None:
        """See `ChronicleStore.section`."""
        if not is_text(section_id):
            return None
        rows = self._rows(queries.BY_ID, section_id)
        return queries.section(rows[0]) if rows else None

    def covering(self, seq: int) -> Section | None:
        """See `ChronicleStore.covering`."""
        rows = self._rows(queries.COVERING, _upto(seq))
        if not rows:
            return None
        found = queries.section(rows[0])
        return found if found.anchor.to_seq >= seq else None

    def consolidated_through(self) -> int:
        """See `ChronicleStore.consolidated_through`."""
        rows = self._rows(queries.CONSOLIDATED)
        return int(rows[0][0]) if rows else 0

    def holes(self) -> list[tuple[int, int]]:
        """See `ChronicleStore.holes`."""
        return [(first, last) for first, last in self._rows(queries.HOLES)]

    def export(self) -> list[Section]:
        """See `ChronicleStore.export`."""
        return [queries.section(row) for row in self._rows(queries.EXPORT, 0, 0, END)]

    def exported(self) -> Iterator[list[Section]]:
        """`export` in pages, each read when it is asked for."""
        rows = self._rows(queries.EXPORT, 0, 0, PAGE_ROWS)
        while rows:
            yield [queries.section(row) for row in rows]
            rows = self._rows(queries.EXPORT, *rows[-1][-2:], PAGE_ROWS)

    # -- for a screen ----------------------------------------------------------------------

    def page(self, after: int = 0, limit: int = PAGE_ROWS) -> list[Range]:
        """The next ranges behind the one that begins with event `after`, ascending; at most `limit`."""
        return [queries.range_row(row) for row in self._rows(queries.PAGE, _upto(after), _most(limit))]

    def page_before(self, before: int | None = None, limit: int = PAGE_ROWS) -> list[Range]:
        """The ranges in front of the one that begins with event `before`, or the last ones; ascending."""
        rows = self._rows(queries.PAGE_BEFORE, _upto(before), _most(limit))
        return [queries.range_row(row) for row in reversed(rows)]

    def generations(self, from_seq: int, to_seq: int) -> list[Section]:
        """Every prose of a range, the oldest first; empty for a range that is no section's."""
        rows = self._rows(queries.GENERATIONS, _upto(from_seq), _upto(to_seq))
        return [queries.section(row) for row in rows]

    def newest(self, limit: int, *, upto_seq: int | None = None, before: int | None = None) -> list[Section]:
        """The last current sections, descending: of those that end at `upto_seq` or before it, and begin
        before event `before`."""
        values = (_upto(before), _upto(upto_seq), _most(limit))
        return [queries.section(row) for row in self._rows(queries.NEWEST, *values)]

    def count(self, *, current: bool = True) -> int:
        """How many current sections there are; with `current=False`, superseded ones too."""
        rows = self._rows(queries.COUNT_CURRENT if current else queries.COUNT)
        return int(rows[0][0])

    def drew(self) -> list[str]:
        """Names and versions of what drew the prose of the sections that have pins; some of very many."""
        return [f"{name} {version}".strip() for name, version in self._rows(queries.DREW)]

    # -- for an export ---------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Within the block the calling thread reads one state of the file, whatever others write."""
        with self._log.reader() as connection:
            if connection.in_transaction:
                yield
                return
            connection.execute("BEGIN")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")

    def event_ids(self, seqs: Iterable[int]) -> dict[int, UUID]:
        """The ids of these events of the stream, by seq; of those that are there."""
        wanted = msgspec.json.encode([seq for seq in seqs if 0 < seq < END]).decode()
        return {seq: UUID(bytes=found) for seq, found in self._rows(queries.EVENT_IDS, wanted)}

    def event_types(self, seqs: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Namespace and type of these events of the stream, by seq; of those that are there."""
        wanted = msgspec.json.encode([seq for seq in seqs if 0 < seq < END]).decode()
        return {seq: (namespace, name) for seq, namespace, name in self._rows(queries.EVENT_TYPES, wanted)}

    # -- by words --------------------------------------------------------------------------

    def found(self, query: str, limit: int) -> list[Section]:
        """The current sections that hold the query's words, best first; none for a query without any."""
        words = match_expression(query)
        rows = self._rows(queries.FOUND, words, _most(limit)) if words else []
        return [queries.section(row) for row in rows]

    def ranked(self, query: str) -> list[SectionId]:
        """The ids of all sections that hold the query's words, superseded ones too, the best first."""
        words = match_expression(query)
        return [found for (found,) in self._rows(queries.RANKED, words)] if words else []

    def _rows(self, sql: str, *values: object) -> list[fetch.Row]:
        if not is_text(self.stream):
            return []
        with self._log.reader() as connection:
            return fetch.rows(connection, sql, (self.stream, *values))


class _Stored:
    """What a write must know of a stored section."""

    def __init__(self, row: fetch.Row) -> None:
        self.anchor = Anchor(*row[:5])
        self.generation: int = row[5]
        self.is_current = bool(row[6])
        self.after_gap = bool(row[7])
        self.row_id: int = row[8]


def _upto(seq: int | None) -> int:
    return END if seq is None else max(-END, min(seq, END))


def _most(limit: int) -> int:
    return max(0, min(limit, END))

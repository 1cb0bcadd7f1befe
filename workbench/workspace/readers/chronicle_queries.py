"""Streams with their chronicles, sections as ranges, and what they cite: for screens and lists.

A person sees every section; those that agents do not get are marked (contract log-and-chronicle, §8, §11).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import apsw
import msgspec

from workbench.chronicle.boundaries import pairs
from workbench.chronicle.queries import Range
from workbench.chronicle.retrieval import FullTextRetriever
from workbench.chronicle.sections import Anchor, Section, SectionId, Written
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.tables import SECTIONS
from workbench.chronicle.withheld import is_withheld
from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.storage import fetch
from workbench.workspace.chronicle.hidden_queries import HiddenEvents
from workbench.workspace.readers.session_queries import session_title
from workbench.workspace.readers.timeline_queries import TimelineReader
from workbench.workspace.rows import EventRow

WORDS_CHARS = 160
"""Of a section's prose in a list."""
MOST_DUE = 100
"""Stretches that wait are counted up to here."""
_WINDOW = 5000
"""Events behind the last section that are looked at one by one for what closes a stretch."""

_CLOSABLE = (
    "(s.kind IN (SELECT value FROM json_each(?1)) "
    f"OR EXISTS(SELECT 1 FROM {SECTIONS} c WHERE c.stream_id = s.stream_id))"
)
_STREAMS = (
    "SELECT s.stream_id, s.name, s.kind, s.domain_key, s.project_key, s.task_key, s.last_seq FROM streams s "
    f"WHERE s.stream_id {{}} AND {_CLOSABLE} ORDER BY s.stream_id {{}} LIMIT ?3"
)
_ONE = (
    "SELECT s.stream_id, s.name, s.kind, s.domain_key, s.project_key, s.task_key, s.last_seq FROM streams s "
    "WHERE s.name = ?"
)
_END = f"SELECT to_seq FROM {SECTIONS} WHERE stream_id = ? AND is_current = 1 ORDER BY from_seq DESC LIMIT 1"
_DUE = (
    "SELECT count(*) FROM (SELECT 1 FROM (SELECT type_id FROM events WHERE stream_id = ?1 AND seq > ?2 "
    f"ORDER BY seq LIMIT {_WINDOW}) e WHERE e.type_id IN (SELECT value FROM json_each(?3)) LIMIT {MOST_DUE})"
)
_FAR = (
    "SELECT count(*) FROM (SELECT 1 FROM json_each(?3) k CROSS JOIN events e ON e.type_id = k.value "
    "AND e.position > (SELECT position FROM events WHERE stream_id = ?1 AND seq = ?2) "
    f"WHERE e.stream_id = ?1 LIMIT {MOST_DUE})"
)
_WITHHELD = (
    "SELECT count(DISTINCT c.row_id) FROM quarantines q CROSS JOIN events e ON e.position = q.target "
    f"AND e.stream_id = ?1 CROSS JOIN {SECTIONS} c ON c.stream_id = e.stream_id AND c.is_current = 1 "
    f"AND c.from_seq = (SELECT max(d.from_seq) FROM {SECTIONS} d WHERE d.stream_id = ?1 "
    "AND d.is_current = 1 AND d.from_seq <= e.seq) AND c.to_seq >= e.seq "
    "WHERE q.to_position IS NULL AND q.from_position > q.target AND q.from_position > c.written_position"
)
_POSITIONS = "SELECT position FROM events WHERE stream_id = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?"
_TYPE = (
    "SELECT type_id FROM events WHERE stream_id = (SELECT stream_id FROM streams WHERE name = ?) AND seq = ?"
)
_POSITION = "SELECT position FROM events WHERE stream_id = ? AND seq = ?"


class StreamRow(msgspec.Struct, frozen=True, kw_only=True):
    """A stream and how far its chronicle is."""

    stream_id: int
    """Its place in the list, which is by the age of streams."""
    stream: str
    kind: str
    title: str
    """A session's title or a task's name; hostile text."""
    domain: str
    project: str
    task_id: str
    """The last three as folded names."""
    sections: int
    """Current ones."""
    consolidated_through: int
    last_seq: int
    lag_events: int
    """Events that are in no section, closed or not."""
    due_units: int
    """Stretches that were closed and have no section, holes among them; counted up to `MOST_DUE`."""
    withheld: int
    """Sections that agents do not get until they are written again."""
    consolidated: bool
    """Whether anything closes a stretch in streams of this kind."""


class RangeRow(msgspec.Struct, frozen=True, kw_only=True):
    """A range of events, with the prose that stands for it now."""

    anchor: Anchor
    generations: int
    """How often it was written; 1 unless it was re-consolidated. The current prose is the last one."""
    written: Written
    pins: tuple[str, ...]
    words: str
    """The first words of the prose, on one line; hostile text."""
    withheld: bool
    """Whether agents do not get it, for it may repeat what was hidden since."""
    after_gap: bool
    """Whether the event before it is in no section."""

    @property
    def generation(self) -> int:
        """Of the current prose."""
        return self.generations

    @property
    def from_seq(self) -> int:
        """The first of the events."""
        return self.anchor.from_seq


class HoleRow(msgspec.Struct, frozen=True, kw_only=True):
    """Events that no section stands for, between sections or before the first one.

    A consolidation goes on behind the last section and fills what was left before: so a hole says that the
    section behind it was loaded from a file or written by hand, and that none came of what lies before it.
    """

    from_seq: int
    to_seq: int
    """Both ends inside."""
    before: SectionId
    """The current section behind it."""


class ChronicleReader:
    """Reads every chronicle; any thread may call it."""

    def __init__(
        self, log: EventLog, close: Callable[[], Mapping[str, Collection[str]]] = lambda: {}
    ) -> None:
        self._log = log
        self._close = close

    # -- streams ---------------------------------------------------------------------------

    def streams(
        self, limit: int, after: StreamRow | None = None, before: StreamRow | None = None
    ) -> list[StreamRow]:
        """Streams that have sections or whose kind is consolidated, the newest first, behind `after` or
        the last ones in front of `before`."""
        close = self._close()
        kinds = msgspec.json.encode([kind for kind, types in close.items() if types]).decode()
        with self._log.reader() as connection:
            if before is not None:
                sql = _STREAMS.format("> ?2", "ASC")
                rows = fetch.rows(connection, sql, (kinds, before.stream_id, limit))[::-1]
            else:
                last = 2**62 if after is None else after.stream_id
                rows = fetch.rows(connection, _STREAMS.format("< ?2", "DESC"), (kinds, last, limit))
            return [self._stream(connection, row, close) for row in rows]

    def stream(self, name: str) -> StreamRow | None:
        """One stream by its whole name; None if it holds nothing."""
        with self._log.reader() as connection:
            row = fetch.row(connection, _ONE, (name,))
            return None if row is None else self._stream(connection, row, self._close())

    def _stream(
        self, connection: apsw.Connection, row: fetch.Row, close: Mapping[str, Collection[str]]
    ) -> StreamRow:
        number, name, kind, domain, project, task, last_seq = row
        store = SQLiteChronicleStore(self._log, name)
        closing = sqlite.type_numbers(connection, pairs(close.get(kind, ())))
        holes = store.holes()
        end = fetch.value(connection, _END, (number,)) or 0
        return StreamRow(
            stream_id=number,
            stream=name,
            kind=kind,
            title=session_title(connection, number) if kind == "session" else task or project or domain,
            domain=domain,
            project=project,
            task_id=task,
            sections=store.count(),
            consolidated_through=store.consolidated_through(),
            last_seq=last_seq,
            lag_events=last_seq - end + sum(last - first + 1 for first, last in holes),
            due_units=_due(connection, number, closing, end) + (len(holes) if close.get(kind) else 0),
            withheld=fetch.value(connection, _WITHHELD, (number,)),
            consolidated=bool(close.get(kind)),
        )

    # -- sections --------------------------------------------------------------------------

    def page(
        self, stream: str, limit: int, after: int | None = None, before: int | None = None
    ) -> list[RangeRow]:
        """Ranges by their events, ascending: behind the one that begins with event `after`, or the last ones
        in front of the one that begins with event `before`; without both, the first ones."""
        store = SQLiteChronicleStore(self._log, stream)
        found = store.page(after or 0, limit) if before is None else store.page_before(before, limit)
        return self._ranges(stream, found)

    def last(self, stream: str, limit: int) -> list[RangeRow]:
        """The last ranges, ascending."""
        return self._ranges(stream, SQLiteChronicleStore(self._log, stream).page_before(None, limit))

    def entries(
        self, stream: str, limit: int, after: int | None = None, before: int | None = None
    ) -> list[RangeRow | HoleRow]:
        """As `page`, with a row for each hole where it lies; `after` and `before` are events that a row of
        either kind begins with."""
        store = SQLiteChronicleStore(self._log, stream)
        if before is None:
            since = after or 0
            found = store.page(since, limit)
        else:
            since = 0
            found = store.page_before(before, limit)
        entries: list[RangeRow | HoleRow] = []
        for row in self._ranges(stream, found):
            entries += _hole(store, row, since)
            entries.append(row)
        if before is None:
            return entries[:limit]
        behind = store.covering(before)
        if behind is not None and behind.anchor.from_seq == before:
            entries += _hole_before(store, behind.anchor)
        return entries[max(0, len(entries) - limit) :]

    def _ranges(self, stream: str, found: Sequence[Range]) -> list[RangeRow]:
        return [
            RangeRow(
                anchor=each.current.anchor,
                generations=each.generations,
                written=each.current.written,
                pins=each.current.pins,
                words=_words(each.current.prose),
                withheld=withheld,
                after_gap=each.after_gap,
            )
            for each, withheld in zip(
                found, self._withheld(stream, [each.current for each in found]), strict=True
            )
        ]

    def generations(self, stream: str, from_seq: int, to_seq: int) -> list[Section]:
        """Every prose of a range, the oldest first; empty for a range that is no section's."""
        return SQLiteChronicleStore(self._log, stream).generations(from_seq, to_seq)

    def section(self, stream: str, section_id: SectionId) -> Section | None:
        """One section, superseded or not."""
        return SQLiteChronicleStore(self._log, stream).section(section_id)

    def covering(self, stream: str, seq: int) -> Section | None:
        """The current section whose range holds an event."""
        return SQLiteChronicleStore(self._log, stream).covering(seq)

    def withheld(self, stream: str, section: Section) -> bool:
        """Whether agents do not get the section until it is written again."""
        return is_withheld(section, HiddenEvents(self._log, stream))

    def search(self, stream: str, query: str, limit: int) -> list[Section]:
        """Current sections whose prose has every word of the query, best first; the newest for none."""
        return FullTextRetriever(SQLiteChronicleStore(self._log, stream)).search(query, limit)

    def _withheld(self, stream: str, sections: Sequence[Section]) -> list[bool]:
        if not sections:
            return []
        ends = sections[0].anchor.from_seq, sections[-1].anchor.to_seq
        hidden = HiddenEvents(self._log, stream)(*ends)

        def within(from_seq: int, to_seq: int) -> Mapping[int, int]:
            return {seq: since for seq, since in hidden.items() if from_seq <= seq <= to_seq}

        return [is_withheld(section, within) for section in sections]

    # -- what they cite --------------------------------------------------------------------

    def events(
        self, stream: str, from_seq: int, to_seq: int, limit: int, after: int | None = None
    ) -> list[EventRow]:
        """Events of a range, both ends inside, behind the one at seq `after`; long payloads clipped."""
        first = from_seq if after is None else max(from_seq, after + 1)
        with self._log.reader() as connection:
            number = sqlite.stream_id(connection, stream)
            if number is None or first > to_seq:
                return []
            found = fetch.rows(connection, _POSITIONS, (number, first, to_seq, limit))
        return TimelineReader(self._log).at([position for (position,) in found])

    def closes(self, stream: str, seq: int) -> bool:
        """Whether an event of the stream closes a stretch, as the manifest says now.

        Of a section that ends where none does, the last event says no more than where it ends.
        """
        with self._log.reader() as connection:
            types = sqlite.type_numbers(connection, pairs(self._close().get(stream.partition("/")[0], ())))
            row = fetch.row(connection, _TYPE, (stream, seq))
        return row is not None and row[0] in types

    def position(self, stream: str, seq: int) -> int | None:
        """Where an event of the stream stands in the timeline."""
        with self._log.reader() as connection:
            number = sqlite.stream_id(connection, stream)
            return None if number is None else fetch.value(connection, _POSITION, (number, seq))


def _due(connection: apsw.Connection, number: int, closing: Sequence[int], since: int) -> int:
    if not closing:
        return 0
    types = msgspec.json.encode(closing).decode()
    due: int = fetch.value(connection, _DUE, (number, since, types))
    if due or fetch.value(connection, _POSITION, (number, since + _WINDOW)) is None:
        return due
    return int(fetch.value(connection, _FAR, (number, since + _WINDOW, types)))


def _hole(store: SQLiteChronicleStore, row: RangeRow, since: int) -> list[HoleRow]:
    """The hole in front of a range, unless it begins at event `since` or before it."""
    found = _hole_before(store, row.anchor) if row.after_gap else []
    return [hole for hole in found if hole.from_seq > since]


def _hole_before(store: SQLiteChronicleStore, anchor: Anchor) -> list[HoleRow]:
    """The hole in front of a section, if there is one."""
    last = store.newest(1, before=anchor.from_seq)
    first = last[0].anchor.to_seq + 1 if last else 1
    if first == anchor.from_seq:
        return []
    return [HoleRow(from_seq=first, to_seq=anchor.from_seq - 1, before=anchor.section_id)]


def _words(prose: str) -> str:
    return " ".join(prose[: 4 * WORDS_CHARS].split())[:WORDS_CHARS]

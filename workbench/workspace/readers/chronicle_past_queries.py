"""Chronicles as they were at an earlier moment: what was written at or before a position of the log."""

from __future__ import annotations

import apsw
import msgspec

from workbench.chronicle.sections import Section
from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.storage import fetch
from workbench.workspace.readers.chronicle_queries import WORDS_CHARS, ChronicleReader, RangeRow, StreamRow

_SEQ = "SELECT position FROM events WHERE stream_id = ? AND seq = ?"


class ChroniclePast:
    """Reads what there was at position `upto`; any thread may call it.

    A section that was loaded without a note of when it was written counts as there from the beginning. How
    many sections a stream had nobody counts: its row says 0, and what lagged then is not told either.
    """

    def __init__(self, log: EventLog, reader: ChronicleReader, upto: int) -> None:
        self._log = log
        self._reader = reader
        self._upto = upto

    def streams(
        self, limit: int, after: StreamRow | None = None, before: StreamRow | None = None
    ) -> list[StreamRow]:
        """Streams that had events then; see `ChronicleReader.streams`."""
        found: list[StreamRow] = []
        while len(found) < limit:
            rows = self._reader.streams(limit, after, before)
            then = [past for past in map(self._then, rows) if past is not None]
            found = [*then, *found] if before is not None else [*found, *then]
            if len(rows) < limit:
                break
            after, before = (rows[-1], None) if before is None else (None, rows[0])
        return found[-limit:] if before is not None else found[:limit]

    def stream(self, name: str) -> StreamRow | None:
        """One stream by its whole name; None where it had no event then."""
        row = self._reader.stream(name)
        return None if row is None else self._then(row)

    def page(
        self, stream: str, limit: int, after: int | None = None, before: int | None = None
    ) -> list[RangeRow]:
        """Ranges as they stood then; see `ChronicleReader.page`."""
        found: list[RangeRow] = []
        backwards = before is not None
        last = self._last_seq(stream)
        while len(found) < limit:
            rows = self._reader.page(stream, limit, after=after, before=before)
            then = [past for row in rows if (past := self._range_then(stream, row)) is not None]
            found = [*then, *found] if backwards else [*found, *then]
            if len(rows) < limit or (not backwards and rows[-1].anchor.to_seq > last):
                break
            after, before = (None, rows[0].anchor.from_seq) if backwards else (rows[-1].anchor.from_seq, None)
        return found[-limit:] if backwards else found[:limit]

    def last(self, stream: str, limit: int) -> list[RangeRow]:
        """The last ranges of then, ascending."""
        return self.page(stream, limit, before=self._last_seq(stream) + 1)

    def generations(self, stream: str, from_seq: int, to_seq: int) -> list[Section]:
        """Every prose that a range had then, the oldest first."""
        found = self._reader.generations(stream, from_seq, to_seq)
        return [section for section in found if section.written.position <= self._upto]

    def covering(self, stream: str, seq: int) -> Section | None:
        """The section of then whose range holds an event."""
        section = self._reader.covering(stream, seq)
        if section is None or section.written.position <= self._upto:
            return section
        found = self.generations(stream, section.anchor.from_seq, section.anchor.to_seq)
        return found[-1] if found else None

    # -- then ------------------------------------------------------------------------------

    def _then(self, row: StreamRow) -> StreamRow | None:
        last = self._last_seq(row.stream)
        if not last:
            return None
        return msgspec.structs.replace(
            row, sections=0, due_units=0, withheld=0, last_seq=last, lag_events=0, consolidated_through=last
        )

    def _range_then(self, stream: str, row: RangeRow) -> RangeRow | None:
        if row.written.position <= self._upto:
            return row
        if row.generations < 2:
            return None
        found = self.generations(stream, row.anchor.from_seq, row.anchor.to_seq)
        if not found:
            return None
        section = found[-1]
        return msgspec.structs.replace(
            row,
            anchor=section.anchor,
            generations=len(found),
            written=section.written,
            pins=section.pins,
            words=" ".join(section.prose[: 4 * WORDS_CHARS].split())[:WORDS_CHARS],
            withheld=self._reader.withheld(stream, section),
        )

    def _last_seq(self, stream: str) -> int:
        """The stream's last event of then; 0 where it had none. Positions grow with the numbers."""
        with self._log.reader() as connection:
            number = sqlite.stream_id(connection, stream)
            if number is None:
                return 0
            low, high = 0, 1
            while self._is_then(connection, number, high):
                low, high = high, 2 * high
            while high - low > 1:
                middle = (low + high) // 2
                if self._is_then(connection, number, middle):
                    low = middle
                else:
                    high = middle
            return low

    def _is_then(self, connection: apsw.Connection, number: int, seq: int) -> bool:
        position = fetch.value(connection, _SEQ, (number, seq))
        return position is not None and position <= self._upto

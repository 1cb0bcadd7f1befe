"""Text inside one session: which of its entries hold the words, step by step, in either direction.

Two things can lead. The session's own entries, read and put to the tokenizer, cost what the session is
long, however often other sessions say the words. The log's full text finds rare words at once, but has to
gather everything that begins like the last word before it gives the first event: that costs what the whole
log is long. So a session that is a small part of the log is read, and a large one is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import NamedTuple

import apsw
import msgspec

from workbench.log.event_log import EventLog
from workbench.log.folds import FoldEvent
from workbench.log.fulltext import TABLE, match_expression
from workbench.log.fulltext_scan import FullTextScan
from workbench.sessions.events import ACTUM, UnitClosed, decode_actum
from workbench.sessions.events import UNIT_CLOSED as UNIT
from workbench.sessions.facets import UNIT_CLOSED as UNIT_FACET
from workbench.sessions.facets import entry_facets
from workbench.sessions.queries import BEYOND_ALL, entry_facet_sql
from workbench.storage import fetch
from workbench.workspace.readers.entry_damage import DAMAGE
from workbench.workspace.rows import ActaFilter

FEW_ENTRIES = 1_000
"""A session with no more entries is read whatever the log is like."""
READ_SHARE = 4
"""A session is read if the log is so many times as long; measured, an event looked up costs a third of one
read."""
READ_BYTES = 8 * 1024 * 1024
READ_BYTES_PER_EVENT = 200
"""Bytes of entries that are read before the rest is looked up: so many, or so many per event of the log."""

_FIRST_STEP, _LONGEST_STEP = 256, 4_096
_STEP_BYTES = 4 * 1024 * 1024
_LOOKED_UP = 2_000
"""Events that one step through the full text takes."""

_decode_unit = msgspec.json.Decoder(UnitClosed).decode

Cancelled = Callable[[], bool]
Looked = Callable[[int], None]


def _never() -> bool:
    return False


def _unheard(_seq: int) -> None:
    return None


class Hits(NamedTuple):
    """What a search through a session found."""

    seqs: tuple[int, ...]
    """Entries that pass the filter and hold the words, ascending."""
    hidden: int
    """How many others hold the words, but do not pass the filter."""
    upto: int
    """The seq up to which it has looked."""


class _Step(NamedTuple):
    found: list[tuple[int, int]]
    """(seq, facet) in the direction of the search."""
    looked: int
    """The seq that was come to."""


class EntrySearch:
    """Finds text inside one session, with the matching of the Timeline's search (`match_expression`).

    `cancelled` is asked between steps and ends a search with what it has; `looked` is told the seq that each
    step has come to. A text without a word matches nothing. Raises `ChronicumNotFound` for a missing session.
    """

    def __init__(self, log: EventLog, stream: Callable[[apsw.Connection, str], tuple[int, int]]) -> None:
        self._log = log
        self._stream = stream
        """The number of a session's stream and the last seq of it that is there."""

    def find(
        self,
        chronicum_id: str,
        wanted: ActaFilter,
        text: str,
        *,
        after_seq: int | None = None,
        before_seq: int | None = None,
        cancelled: Cancelled = _never,
        looked: Looked = _unheard,
    ) -> int | None:
        """The seq of the next entry above `after_seq` that matches, or of the last one below `before_seq`.

        With neither, the first one. None if there is none, or if it was cancelled.
        """
        descending = before_seq is not None
        start = before_seq if before_seq is not None else (after_seq or 0)
        steps = self._steps(chronicum_id, wanted, text, start, descending, looked)
        with closing(steps):
            for step in steps:
                if step.found:
                    return step.found[0][0]
                if cancelled():
                    break
        return None

    def count(
        self,
        chronicum_id: str,
        wanted: ActaFilter,
        text: str,
        *,
        cancelled: Cancelled = _never,
        looked: Looked = _unheard,
    ) -> int:
        """How many entries that pass match; where cancelled, how many were found until then."""
        number = 0
        steps = self._steps(chronicum_id, wanted, text, 0, False, looked)
        with closing(steps):
            for step in steps:
                number += len(step.found)
                if cancelled():
                    break
        return number

    def page(
        self, chronicum_id: str, wanted: ActaFilter, text: str, limit: int, *, after_seq: int = 0
    ) -> list[int]:
        """The seqs of the first `limit` entries above `after_seq` that pass and match, ascending."""
        seqs: list[int] = []
        if limit > 0:
            steps = self._steps(chronicum_id, wanted, text, after_seq, False, _unheard)
            with closing(steps):
                for step in steps:
                    seqs += [seq for seq, _ in step.found]
                    if len(seqs) >= limit:
                        break
        return seqs[:limit]

    def hits(
        self,
        chronicum_id: str,
        wanted: ActaFilter | None,
        text: str,
        *,
        after_seq: int = 0,
        cancelled: Cancelled = _never,
        looked: Looked = _unheard,
    ) -> Hits:
        """Every matching entry above `after_seq`: the seqs of those that pass, the number of the others.

        `wanted` None lets nothing pass.
        """
        passing = frozenset(() if wanted is None else facets_of(wanted))
        seqs: list[int] = []
        hidden, upto = 0, after_seq
        steps = self._steps(chronicum_id, ActaFilter(), text, after_seq, False, looked)
        with closing(steps):
            for step in steps:
                shown = [seq for seq, facet in step.found if facet in passing]
                seqs += shown
                hidden += len(step.found) - len(shown)
                upto = max(upto, step.looked)
                if cancelled():
                    break
        return Hits(tuple(seqs), hidden, upto)

    # -- steps -----------------------------------------------------------------------------

    def _steps(
        self, chronicum_id: str, wanted: ActaFilter, text: str, start: int, descending: bool, looked: Looked
    ) -> Generator[_Step]:
        facets = facets_of(wanted)
        match = match_expression(text)
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            if not facets or not match:
                return
            if descending:
                start = min(start, end + 1)
            elif start >= end:
                return
            log_length = fetch.value(connection, "SELECT max(position) FROM events") or 0
            if _is_read(connection, stream_id, facets, log_length):
                room = max(READ_BYTES, READ_BYTES_PER_EVENT * log_length)
                reading = _Reading(connection, stream_id, facets, match, descending)
                for step in reading.steps(start, room):
                    looked(min(step.looked, end))
                    yield _upto(step, end)
                    if step.looked >= end and not descending:
                        return
                if reading.done:
                    return
                start = reading.come_to
            for step in _looked_up(connection, stream_id, facets, match, start, descending):
                looked(min(step.looked, end))
                yield _upto(step, end)
                if step.looked >= end and not descending:
                    return


def _upto(step: _Step, end: int) -> _Step:
    """What of a step is there."""
    if step.looked <= end and all(seq <= end for seq, _ in step.found):
        return step
    return _Step([(seq, facet) for seq, facet in step.found if seq <= end], min(step.looked, end))


def facets_of(wanted: ActaFilter) -> tuple[int, ...]:
    """The facets of the entries that pass a filter; a closed unit is an entry too."""
    return entry_facets(wanted.kinds, wanted.actor_kinds, private=wanted.include_private)


def _is_read(connection: apsw.Connection, stream_id: int, facets: tuple[int, ...], log_length: int) -> bool:
    """Whether a session's entries are read, not looked up in the full text."""
    entries: int = fetch.value(
        connection,
        "SELECT coalesce(sum(entries), 0) FROM facet_counts "
        f"WHERE stream_id = ? AND facet IN ({','.join(map(str, facets))})",
        (stream_id,),
    )
    return entries <= FEW_ENTRIES or entries * READ_SHARE <= log_length


def _fold_event(
    position: int, stream_id: int, seq: int, payload: bytes, *, is_unit: bool
) -> FoldEvent | None:
    """An entry for the tokenizer; None for one that is damaged: it holds no words."""
    try:
        decoded = _decode_unit(payload) if is_unit else decode_actum(payload)
    except DAMAGE:
        return None
    return FoldEvent(
        position, b"", None, stream_id, "", seq, UNIT if is_unit else ACTUM, False, 0, None, decoded
    )


class _Reading:
    """A session's entries, read some at a time and put to a tokenizer of their own."""

    def __init__(
        self,
        connection: apsw.Connection,
        stream_id: int,
        facets: tuple[int, ...],
        match: str,
        descending: bool,
    ) -> None:
        self._connection = connection
        self._stream_id = stream_id
        self._sql = entry_facet_sql(facets, descending, "CAST(e.payload AS BLOB)")
        self._match = match
        self._descending = descending
        self.done = False
        """It has read the session to its end."""
        self.come_to = 0
        """The seq that was read last."""

    def steps(self, start: int, room: int) -> Iterator[_Step]:
        """Matches beyond `start`, until the session ends or `room` bytes were read."""
        self.come_to, length = start, _FIRST_STEP
        with FullTextScan(self._match) as scan:
            while room > 0:
                events, facets, size, ended = self._read(length)
                found = self._matching(scan, events, facets)
                room -= size
                if ended:
                    self.done = True
                yield _Step(found, self.come_to)
                if ended:
                    return
                length = min(length * 2, _LONGEST_STEP)

    def _read(self, length: int) -> tuple[list[FoldEvent], dict[int, int], int, bool]:
        events: list[FoldEvent] = []
        facets: dict[int, int] = {}
        size = number = 0
        rows = self._connection.execute(self._sql, (self._stream_id, self.come_to, length))
        for seq, position, facet, payload in rows:
            event = _fold_event(position, self._stream_id, seq, payload, is_unit=facet == UNIT_FACET)
            if event is not None:
                events.append(event)
                facets[position] = facet
            number += 1
            size += len(payload)
            self.come_to = seq
            if size >= _STEP_BYTES:
                break
        ended = number < length and size < _STEP_BYTES
        return events, facets, size, ended

    def _matching(
        self, scan: FullTextScan, events: Sequence[FoldEvent], facets: dict[int, int]
    ) -> list[tuple[int, int]]:
        seqs = {event.position: event.seq for event in events}
        # Falling rowids would make a segment each.
        found = scan.matching(events[::-1] if self._descending else events)
        if self._descending:
            found.reverse()
        return [(seqs[position], facets[position]) for position in found]


def _looked_up(
    connection: apsw.Connection,
    stream_id: int,
    facets: tuple[int, ...],
    match: str,
    start: int,
    descending: bool,
) -> Iterator[_Step]:
    """Matches beyond a seq from the log's full text; one query, since each gathers the words anew."""
    low, high, end = _bounds(connection, stream_id, start, descending)
    order = "DESC" if descending else "ASC"
    rows = connection.execute(
        f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid {order}",
        (match, low, high),
    )
    marks = ",".join(map(str, facets))
    among = (
        "SELECT e.seq, s.facet FROM json_each(?) k CROSS JOIN events e ON e.position = k.value "
        f"LEFT JOIN session_entries s ON s.stream_id = e.stream_id AND s.facet IN ({marks}) "
        "AND s.seq = e.seq "
        "WHERE e.stream_id = ? ORDER BY k.key"
    )
    come_to = start
    while True:
        positions = [position for (position,) in islice(rows, _LOOKED_UP)]
        own = fetch.rows(connection, among, (f"[{','.join(map(str, positions))}]", stream_id))
        found = [(seq, facet) for seq, facet in own if facet is not None]
        come_to = own[-1][0] if own else come_to
        yield _Step(found, come_to)
        if len(positions) < _LOOKED_UP:
            break
    # All that is left holds no such word.
    yield _Step([], end)


def _bounds(
    connection: apsw.Connection, stream_id: int, start: int, descending: bool
) -> tuple[int, int, int]:
    """The positions between which a session's events beyond a seq stand, and the seq of the last of them."""
    sign, away, back = ("<", "DESC", "ASC") if descending else (">", "ASC", "DESC")
    beyond = f"SELECT position, seq FROM events WHERE stream_id = ? AND seq {sign} ? ORDER BY seq "
    bound = (stream_id, max(-BEYOND_ALL, min(start, BEYOND_ALL)))
    nearest = fetch.row(connection, f"{beyond} {away} LIMIT 1", bound)
    farthest = fetch.row(connection, f"{beyond} {back} LIMIT 1", bound)
    if nearest is None or farthest is None:
        return 1, 0, start
    low, high = sorted((nearest[0], farthest[0]))
    return low, high, farthest[1]

"""A session's entries, page by page: acta and closed units in the order in which they were recorded."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import apsw

from workbench.log.event_log import EventLog
from workbench.log.times import from_micros
from workbench.sessions import facets as facet_numbers
from workbench.sessions.errors import ChronicumNotFound
from workbench.sessions.events import ACTUM
from workbench.sessions.events import UNIT_CLOSED as UNIT
from workbench.sessions.folds import CHILD, REQUEST, RESPONSE
from workbench.sessions.model import ActorKind, ActumKind
from workbench.sessions.queries import BEYOND_ALL, entry_sql, stream_of
from workbench.storage import fetch
from workbench.workspace.readers.clipping import PAYLOAD_COLUMNS, clipped_payload, decode
from workbench.workspace.readers.entry_damage import DAMAGE, reason_of, unreadable_actum
from workbench.workspace.readers.entry_search import EntrySearch, facets_of
from workbench.workspace.readers.rewinds import Stretch, rewound_stretches
from workbench.workspace.readers.session_past import acts_upto, facets_upto, seq_at
from workbench.workspace.rows import ActaFilter, ActumRow

UNIT_CLOSED = facet_numbers.UNIT_KIND

_LIST_COLUMNS = f"e.position, e.seq, e.recorded_at, e.occurred_at, e.private, e.stream_id, {PAYLOAD_COLUMNS}"
_ONE = (
    f"SELECT {_LIST_COLUMNS} FROM events e CROSS JOIN event_types t USING(type_id) "
    "WHERE e.stream_id = ? AND e.seq = ? AND t.type IN (?, ?)"
)
_TYPES = (ACTUM.type, UNIT.type)
_OF_ACTA = (
    f"FROM session_entries WHERE stream_id = ? AND facet IN ({', '.join(map(str, facet_numbers.ACTA))})"
)
_ACTS_BETWEEN = f"SELECT seq {_OF_ACTA} AND seq BETWEEN ? AND ?"
_LAST_SEQ = "SELECT max(seq) FROM events WHERE stream_id = ?"
_MAX_DEPTH = 12


_SORTS = {
    facet_numbers.facet(kind, actor_kind, private): (kind.value, actor_kind.value)
    for kind in ActumKind
    for actor_kind in ActorKind
    for private in (False, True)
}
"""The kind and the actor's kind of each facet."""


class Breakdown(NamedTuple):
    """How many entries a session has of each sort."""

    by_kind: dict[str, int]
    by_actor_kind: dict[str, int]
    units: int
    """Closed units."""


class EntryReader:
    """Pages of one session's entries; every method raises `ChronicumNotFound` for a missing session.

    An entry that cannot be read stands in its place as an `UnreadableActum`. With `upto` it is the session as
    it was at a position; one that had not begun is missing.
    """

    def __init__(self, log: EventLog, *, upto: int | None = None) -> None:
        self._log = log
        self.upto = upto
        self.search = EntrySearch(log, self._stream)
        """Text inside one session."""

    def as_of(self, position: int | None) -> EntryReader:
        """Entries as they were at a position (contract memory, "As of"); None: as they are."""
        return self if position == self.upto else EntryReader(self._log, upto=position)

    def _stream(self, connection: apsw.Connection, chronicum_id: str) -> tuple[int, int]:
        """The number of a session's stream, and the last seq of it that is there."""
        number = stream_of(connection, chronicum_id)
        if number is None:
            raise ChronicumNotFound
        if self.upto is None:
            return number, BEYOND_ALL
        end = seq_at(connection, number, self.upto)
        if not end:
            raise ChronicumNotFound
        return number, end

    def page(
        self,
        chronicum_id: str,
        wanted: ActaFilter,
        limit: int,
        *,
        after: int | None = None,
        before: int | None = None,
    ) -> list[ActumRow]:
        """Up to `limit` entries with a seq above `after`, or the last ones below `before`.

        With neither, the first ones. Always oldest first; long contents are clipped
        (`content_chars` tells their length).
        """
        numbers = facets_of(wanted)
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            if not numbers:
                return []
            descending = before is not None
            values = (stream_id, min(before, end + 1) if before is not None else (after or 0), limit)
            chain = _Chain(connection, stream_id, chronicum_id, end)
            try:
                found = fetch.rows(connection, entry_sql(numbers, descending, _LIST_COLUMNS), values)
            except DAMAGE as error:
                reason_of(error)
                # One of them is no text: each by itself, so that the others are readable.
                seqs = [
                    seq for (seq,) in fetch.rows(connection, entry_sql(numbers, descending, "e.seq"), values)
                ]
                return self._each(connection, chain, sorted(seqs))
            if descending:
                found.reverse()
            return [self._row(connection, row, chain, clip=True) for row in found if row[1] <= end]

    def last(self, chronicum_id: str, wanted: ActaFilter, limit: int) -> list[ActumRow]:
        """The last `limit` entries, oldest first."""
        return self.page(chronicum_id, wanted, limit, before=BEYOND_ALL)

    def entry(self, chronicum_id: str, seq: int) -> ActumRow | None:
        """One entry whole, or None if this seq is no entry."""
        with self._log.reader() as connection:
            chain = _Chain(connection, *self._named(connection, chronicum_id))
            return self._one(connection, chain, seq, clip=False)

    def at(self, chronicum_id: str, seqs: Iterable[int]) -> list[ActumRow]:
        """The entries that stand at these seqs, oldest first and clipped; none for other seqs."""
        with self._log.reader() as connection:
            chain = _Chain(connection, *self._named(connection, chronicum_id))
            return self._each(connection, chain, sorted(set(seqs)))

    def spawner(self, chronicum_id: str, call_id: str) -> int | None:
        """The seq of the tool call with this id; None if the session does not have it."""
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            found: int | None = fetch.value(
                connection,
                "SELECT seq FROM tool_calls WHERE stream_id = ? AND call_id = ? AND role = ? AND seq <= ?",
                (stream_id, call_id, REQUEST, end),
            )
            return found

    def breakdown(self, chronicum_id: str) -> Breakdown:
        """Entries by kind and by kind of actor; costs nothing, the log keeps count."""
        found = Breakdown({}, {}, 0)
        units = 0
        for facet, count in self.counts(chronicum_id).items():
            if facet == facet_numbers.UNIT_CLOSED:
                units += count
                continue
            kind, actor_kind = _SORTS[facet]
            found.by_kind[kind] = found.by_kind.get(kind, 0) + count
            found.by_actor_kind[actor_kind] = found.by_actor_kind.get(actor_kind, 0) + count
        return found._replace(units=units)

    def act_numbers(self, chronicum_id: str, seqs: Sequence[int]) -> dict[int, int]:
        """Which act of the session stands at each of `seqs` (ascending), from 1.

        Where something else stands it is the number of the act before, 0 for none.
        """
        if not seqs:
            return {}
        with self._log.reader() as connection:
            stream_id, _ = self._stream(connection, chronicum_id)
            before = acts_upto(connection, stream_id, seqs[0] - 1)
            found = fetch.rows(connection, _ACTS_BETWEEN, (stream_id, seqs[0], seqs[-1]))
        acts = sorted(seq for (seq,) in found)
        return {seq: before + bisect_right(acts, seq) for seq in seqs}

    def seq_of_act(self, chronicum_id: str, act: int) -> int | None:
        """The seq of the act with this number in the session, from 1; None if there are fewer."""
        if act < 1:
            return None
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            # The first seq with so many acts up to it: their number never falls along the stream.
            low, high = 1, min(end, fetch.value(connection, _LAST_SEQ, (stream_id,)) or 0)
            if acts_upto(connection, stream_id, high) < act:
                return None
            while low < high:
                middle = (low + high) // 2
                if acts_upto(connection, stream_id, middle) < act:
                    low = middle + 1
                else:
                    high = middle
            return low

    def answered(self, chronicum_id: str) -> int:
        """How many tool calls have a response."""
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            return int(
                fetch.value(
                    connection,
                    "SELECT count(*) FROM tool_calls r CROSS JOIN tool_calls q USING(stream_id, call_id) "
                    "WHERE r.stream_id = ?1 AND r.role = ?2 AND q.role = ?3 AND r.seq <= ?4 AND q.seq <= ?4",
                    (stream_id, RESPONSE, REQUEST, end),
                )
            )

    def rewound(self, chronicum_id: str, cancelled: Callable[[], bool] = lambda: False) -> list[Stretch]:
        """The stretches that a person took back by writing another prompt in place of an earlier one.

        A stretch begins at the earlier prompt and ends before the later one. Prompts of one parent at one
        time are one prompt recorded twice, and no rewind (contract transcripts, "Relations kept"). Turns that
        a rollback took back are stretches, too, up to the unit that it closed.
        """
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            try:
                return rewound_stretches(connection, stream_id, cancelled, upto=end)
            except DAMAGE as error:
                reason_of(error)
                # What a damaged prompt took back nobody knows; a guess would mark what still counts.
                return []

    def total(self, chronicum_id: str, wanted: ActaFilter) -> int:
        """How many entries pass the filter; costs nothing, the log keeps count."""
        numbers = set(facets_of(wanted))
        return sum(count for number, count in self.counts(chronicum_id).items() if number in numbers)

    def counts(self, chronicum_id: str) -> dict[int, int]:
        """Entries by facet number (`workbench.sessions.facets`)."""
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            if end != BEYOND_ALL:
                return facets_upto(connection, stream_id, end)
            return dict(
                fetch.rows(
                    connection, "SELECT facet, entries FROM facet_counts WHERE stream_id = ?", (stream_id,)
                )
            )

    def last_seq(self, chronicum_id: str) -> int:
        """The highest seq of the session's stream."""
        with self._log.reader() as connection:
            stream_id, end = self._stream(connection, chronicum_id)
            return min(end, fetch.value(connection, _LAST_SEQ, (stream_id,)) or 0)

    # -- rows ------------------------------------------------------------------------------

    def _named(self, connection: apsw.Connection, chronicum_id: str) -> tuple[int, str, int]:
        number, end = self._stream(connection, chronicum_id)
        return number, chronicum_id, end

    def _each(self, connection: apsw.Connection, chain: _Chain, seqs: Iterable[int]) -> list[ActumRow]:
        """The entries at these seqs, clipped, each read by itself."""
        found = (self._one(connection, chain, seq, clip=True) for seq in seqs)
        return [row for row in found if row is not None]

    def _one(self, connection: apsw.Connection, chain: _Chain, seq: int, *, clip: bool) -> ActumRow | None:
        if seq > chain.end:
            return None
        try:
            row = fetch.row(connection, _ONE, (chain.stream_id, seq, *_TYPES))
        except DAMAGE as error:
            return unreadable_actum(connection, chain.chronicum_id, chain.stream_id, seq, reason_of(error))
        return None if row is None else self._row(connection, row, chain, clip=clip)

    def _row(self, connection: apsw.Connection, row: Sequence[Any], chain: _Chain, *, clip: bool) -> ActumRow:
        try:
            return self._assembled(connection, row, chain, clip=clip)
        except DAMAGE as error:
            # The door lets in whole payloads only: what is gone or no JSON was lost in the file.
            found = unreadable_actum(
                connection, chain.chronicum_id, chain.stream_id, row[1], reason_of(error)
            )
            if found is None:
                raise
            return found

    def _assembled(
        self, connection: apsw.Connection, row: Sequence[Any], chain: _Chain, *, clip: bool
    ) -> ActumRow:
        position, seq, recorded_at, occurred_at, private, _stream_id, text, _size = row
        lengths: dict[str, int] = {}
        if text is not None:
            payload = decode(text)
        elif clip:
            payload, lengths = clipped_payload(connection, position)
        else:
            payload = decode(
                fetch.value(connection, "SELECT payload FROM events WHERE position = ?", (position,))
            )
        times: dict[str, Any] = {
            "at": from_micros(recorded_at),
            "occurred_at": None if occurred_at is None else from_micros(occurred_at),
            "private": bool(private),
        }
        if "kind" not in payload:
            note = payload.get("note", "")
            return ActumRow(
                position=position,
                seq=seq,
                id="",
                chronicum_id=payload.get("chronicum_id", ""),
                kind=UNIT_CLOSED,
                actor_kind="system",
                actor=payload.get("unit", ""),
                content=note,
                metadata={},
                content_chars=lengths.get("note", len(note)),
                **times,
            )
        metadata = payload["metadata"]
        reply, child = chain.links(payload["kind"], metadata.get("call_id"))
        return ActumRow(
            position=position,
            seq=seq,
            id=payload["id"],
            chronicum_id=payload["chronicum_id"],
            kind=payload["kind"],
            actor_kind=payload["actor_kind"],
            actor=payload["actor"],
            content=payload["content"],
            metadata=metadata,
            content_chars=lengths.get("content", len(payload["content"])),
            reply_seq=reply,
            child_seq=child,
            depth=chain.depth(metadata.get("parent")),
            **times,
        )


class _Chain:
    """Who answers and who spawned whom, looked up once per page."""

    def __init__(self, connection: apsw.Connection, stream_id: int, chronicum_id: str, end: int) -> None:
        self._connection = connection
        self.end = end
        """The last seq that is there."""
        self.stream_id = stream_id
        self.chronicum_id = chronicum_id
        self._depths: dict[str, int] = {}

    def links(self, kind: str, call: object) -> tuple[int | None, int | None]:
        """For a request (response, child); for a response (request, None)."""
        if not isinstance(call, str) or kind not in ("tool_request", "tool_response"):
            return None, None
        roles = self._roles(call)
        if kind == "tool_request":
            return roles.get(RESPONSE), roles.get(CHILD)
        return roles.get(REQUEST), None

    def depth(self, parent: object) -> int:
        """How many calls lie above an actum that names `parent`; chains that loop stop counting."""
        calls: list[str] = []
        while isinstance(parent, str) and parent and parent not in calls and len(calls) < _MAX_DEPTH:
            if parent in self._depths:
                break
            calls.append(parent)
            parent = self._parent_of(parent)
        depth = self._depths.get(parent, 0) if isinstance(parent, str) else 0
        for call in reversed(calls):
            depth += 1
            self._depths[call] = depth
        return depth

    def _parent_of(self, call: str) -> object:
        try:
            return fetch.value(
                self._connection,
                "SELECT json_extract(e.payload, '$.metadata.parent') FROM tool_calls c "
                "CROSS JOIN events e ON e.stream_id = c.stream_id AND e.seq = c.seq "
                "WHERE c.stream_id = ? AND c.call_id = ? AND c.role = ?",
                (self.stream_id, call, REQUEST),
            )
        except DAMAGE as error:
            reason_of(error)
            return None  # What hangs below a damaged call stands as if nothing were above that.

    def _roles(self, call: str) -> dict[int, int]:
        return dict(
            fetch.rows(
                self._connection,
                "SELECT role, seq FROM tool_calls WHERE stream_id = ? AND call_id = ? AND seq <= ?",
                (self.stream_id, call, self.end),
            )
        )

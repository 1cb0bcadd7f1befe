"""Sessions as they were at a position: which there were, how far each had come, and what was known of it.

A session that has not grown since is as it is now; of one that has, what it had by then is counted up to the
last seq that it had.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from threading import Lock
from typing import Any, Literal, NamedTuple, TypeAlias

import apsw

from workbench.sessions import facets as facet_numbers
from workbench.sessions.events import ACTUM
from workbench.sessions.queries import entry_sql
from workbench.storage import fetch
from workbench.workspace.readers.entry_damage import DAMAGE, reason_of

Order: TypeAlias = Literal["happened", "recorded"]
"""By when a session's last act happened, or by when it was recorded: an import records the past."""

Key = tuple[int, int]
"""Place of a session in the list: (time of the order in microseconds, stream number)."""

# Everything in a session's stream but its acta, up to a seq: its beginning, closed units, descriptions.
# There are few of them, whereas the acta themselves may be a million.
_OTHERS_UPTO = (
    "SELECT (SELECT count(*) FROM chronica c WHERE c.stream_id = ?1 AND c.from_position <= e.position) + "
    f"(SELECT count(*) FROM session_entries WHERE stream_id = ?1 AND facet = {facet_numbers.UNIT_CLOSED} "
    "AND seq <= ?2) + (SELECT count(DISTINCT from_position) FROM session_descriptions "
    "WHERE stream_id = ?1 AND from_position <= e.position) "
    "FROM events e WHERE e.stream_id = ?1 AND e.seq = ?2"
)
_KNOWN = (
    "SELECT c.stream_id, c.chronicum_id, c.owner_id, c.started_at, a.last_activity_at, "
    "a.first_happened, a.last_happened, a.acta, a.last_position "
    "FROM chronica c CROSS JOIN session_activity a USING(stream_id) WHERE c.from_position <= ?"
)
_HAPPENED = "coalesce(e.occurred_at, e.recorded_at)"
_SPAN = f"SELECT min(at), max(at) FROM ({entry_sql(facet_numbers.ACTA, False, f'{_HAPPENED} AS at')})"
LONG = 20_000
"""From so many acta on the ends of a session are looked for from the ends of time, not among all its acta."""
_OUTERMOST = tuple(
    f"SELECT {_HAPPENED} FROM events e INDEXED BY events_as_happened WHERE {_HAPPENED} BETWEEN ?1 AND ?2 "
    "AND +e.position <= ?3 AND e.stream_id = ?4 "
    f"AND e.type_id IN (SELECT type_id FROM event_types WHERE type = '{ACTUM.type}') "
    f"ORDER BY {_HAPPENED} {order}, e.position {order} LIMIT 1"
    for order in ("ASC", "DESC")
)
_ACTORS = "json_extract(e.payload, '$.actor') AS actor, json_extract(e.payload, '$.actor_kind') AS kind"
_BY_ACTOR = (
    f"SELECT actor, kind, count(*) FROM ({entry_sql(facet_numbers.ACTA, False, _ACTORS)}) "
    "WHERE actor IS NOT NULL GROUP BY 1, 2"
)
_OF_ACTOR = (
    "SELECT count(*) FROM event_actors a CROSS JOIN events e ON e.position = a.position "
    "WHERE a.actor_id = (SELECT actor_id FROM actors WHERE name = ?) AND a.position {} ? AND e.stream_id = ?"
)
_OF_ACTOR_WITHIN = (
    "SELECT count(*) FROM event_actors WHERE actor_id = (SELECT actor_id FROM actors WHERE name = ?) "
    "AND position BETWEEN ? AND ?"
)


def acts_upto(connection: apsw.Connection, stream_id: int, seq: int) -> int:
    """How many acta stand in a session up to and with `seq`, which is one of its stream."""
    if seq < 1:
        return 0
    return seq - int(fetch.value(connection, _OTHERS_UPTO, (stream_id, seq)))


def seq_at(connection: apsw.Connection, stream_id: int, position: int) -> int:
    """The last seq that a stream had at a position; 0 where it had none."""
    low, high = 0, _last_seq(connection, stream_id)
    # Positions rise along a stream: no index over both is needed to halve.
    while low < high:
        middle = (low + high + 1) // 2
        at = _position_of(connection, stream_id, middle)
        low, high = (middle, high) if at is not None and at <= position else (low, middle - 1)
    return low


def _last_seq(connection: apsw.Connection, stream_id: int) -> int:
    return int(fetch.value(connection, "SELECT last_seq FROM streams WHERE stream_id = ?", (stream_id,)))


def _position_of(connection: apsw.Connection, stream_id: int, seq: int) -> int | None:
    sql = "SELECT position FROM events WHERE stream_id = ? AND seq = ?"
    found: int | None = fetch.value(connection, sql, (stream_id, seq))
    return found


class PastSession(NamedTuple):
    """A session as it was."""

    head: tuple[Any, ...]
    """Stream, id, owner, when it began, last activity, first and last that happened, number of acta."""
    end: int | None
    """The last seq that it had; None where it has not grown since."""

    def key(self, order: Order) -> Key:
        """Its place in the list."""
        return (self.head[6] if order == "happened" else self.head[4]), self.head[0]


class PastSessions:
    """Every session that there was at a position; read when it is first asked, then kept."""

    def __init__(self, position: int) -> None:
        self.position = position
        self._lock = Lock()
        self._by_stream: dict[int, PastSession] | None = None
        self._keys: dict[Order, list[Key]] = {}
        self._actors: dict[int, list[tuple[str, str, int]]] = {}

    def of(self, connection: apsw.Connection, stream_id: int) -> PastSession | None:
        """One session; None where it had not begun."""
        return self._known(connection).get(stream_id)

    def keys(self, connection: apsw.Connection, order: Order) -> list[Key]:
        """The places of all in the list, ascending: the newest stands last."""
        known = self._known(connection)
        with self._lock:
            if order not in self._keys:
                self._keys[order] = sorted(each.key(order) for each in known.values())
            return self._keys[order]

    def beyond(
        self, connection: apsw.Connection, start: Key, order: Order, *, newer: bool
    ) -> Iterator[PastSession]:
        """Sessions older (or newer) than a place, the nearest first."""
        keys, known = self.keys(connection, order), self._known(connection)
        at = bisect_left(keys, start)
        if newer:
            places = range(at + (at < len(keys) and keys[at] == start), len(keys))
        else:
            places = range(at - 1, -1, -1)
        return (known[keys[place][1]] for place in places)

    def newer_than(self, connection: apsw.Connection, key: Key, order: Order) -> int:
        """How many sessions stand before a place in the list."""
        keys = self.keys(connection, order)
        at = bisect_left(keys, key)
        return len(keys) - at - (at < len(keys) and keys[at] == key)

    def actors(self, connection: apsw.Connection, session: PastSession) -> list[tuple[str, str, int]]:
        """(actor, its kind, number of acta) of a session that has grown since."""
        found = self._actors.get(session.head[0])
        if found is None:
            found = self._actors[session.head[0]] = _actors(connection, session, self.position)
        return found

    def _known(self, connection: apsw.Connection) -> dict[int, PastSession]:
        with self._lock:
            if self._by_stream is None:
                rows = fetch.rows(connection, _KNOWN, (self.position,))
                self._by_stream = {row[0]: self._past(connection, row) for row in rows}
            return self._by_stream

    def _past(self, connection: apsw.Connection, row: fetch.Row) -> PastSession:
        *head, last_position = row
        if last_position <= self.position:
            return PastSession(tuple(head), None)
        stream_id, started = head[0], head[3]
        end = seq_at(connection, stream_id, self.position)
        acta = acts_upto(connection, stream_id, end)
        if not acta:
            return PastSession((*head[:4], started, started, started, 0), end)
        last = fetch.value(
            connection, entry_sql(facet_numbers.ACTA, True, "e.recorded_at"), (stream_id, end + 1, 1)
        )
        if acta >= LONG:
            bounds = (head[5], head[6], self.position, stream_id)
            times = tuple(fetch.value(connection, sql, bounds) for sql in _OUTERMOST)
        else:
            times = fetch.row(connection, _SPAN, (stream_id, 0, acta)) or ()
        return PastSession((*head[:4], last, *times, acta), end)


def _actors(connection: apsw.Connection, session: PastSession, position: int) -> list[tuple[str, str, int]]:
    stream_id, end, acta = session.head[0], session.end or 0, session.head[7]
    rows = fetch.rows(
        connection, "SELECT actor, actor_kind, acta FROM session_actors WHERE stream_id = ?", (stream_id,)
    )
    now: dict[tuple[str, str], int] = {(actor, kind): number for actor, kind, number in rows}
    # What came since, where that is less: what there is now, without that.
    later = 2 * acta > sum(now.values())
    if acta >= LONG and len({actor for actor, _ in now}) == len(now):
        # Nobody was of two kinds: the index of actors knows who did what.
        found = {key: _acts_of(connection, key[0], stream_id, end, position, later=later) for key in now}
    else:
        try:
            among = connection.execute(_BY_ACTOR, (stream_id, end, -1) if later else (stream_id, 0, acta))
            found = {(actor, kind): number for actor, kind, number in among}
        except DAMAGE as error:
            reason_of(error)
            # Who did what is damaged nobody knows any more: whoever is known of the session today.
            found, later = now, False
    counts = {key: now[key] - found.get(key, 0) for key in now} if later else found
    return [(actor, kind, number) for (actor, kind), number in counts.items() if number > 0]


def _acts_of(
    connection: apsw.Connection, actor: str, stream_id: int, end: int, position: int, *, later: bool
) -> int:
    """How many events of a stream an actor is in up to its seq `end`, or (`later`) behind it."""
    first, last = (end + 1, _last_seq(connection, stream_id)) if later else (1, end)
    low, high = _position_of(connection, stream_id, first), _position_of(connection, stream_id, last)
    if low is not None and high is not None and high - low == last - first:
        # Nothing else was recorded meanwhile, as in an import: the index of actors alone tells.
        return int(fetch.value(connection, _OF_ACTOR_WITHIN, (actor, low, high)))
    side = ">" if later else "<="
    return int(fetch.value(connection, _OF_ACTOR.format(side), (actor, position, stream_id)))


def facets_upto(connection: apsw.Connection, stream_id: int, end: int) -> dict[int, int]:
    """Entries of a session by facet, up to a seq."""
    found = fetch.rows(
        connection,
        "SELECT facet, (SELECT count(*) FROM session_entries s WHERE s.stream_id = f.stream_id "
        "AND s.facet = f.facet AND s.seq <= ?2) FROM facet_counts f WHERE stream_id = ?1",
        (stream_id, end),
    )
    return {number: count for number, count in found if count}

"""Every event of the workspace, as recorded or as it happened, narrowed by whatever a filter names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import apsw

from workbench.log.event_log import EventLog
from workbench.log.times import from_micros, to_micros
from workbench.memory.events import CHECKPOINT, OBSERVATION
from workbench.storage import fetch
from workbench.workspace.folds import event_types
from workbench.workspace.readers.clipping import PAYLOAD_COLUMNS, clipped_payload, decode
from workbench.workspace.readers.entry_damage import DAMAGE, UnreadableEvent, reason_of, unreadable_event
from workbench.workspace.readers.timeline_activity import ActivityReader, events_before, place_of_rank
from workbench.workspace.readers.timeline_names import FilterNames, Offered
from workbench.workspace.readers.timeline_parts import (
    AS_HAPPENED,
    BEYOND_ALL,
    EARLIEST,
    HAPPENED,
    LATEST,
    Parts,
    found_by,
    leader,
    parts_of,
)
from workbench.workspace.readers.timeline_walks import Walk, walk_happened, walk_positions, windows
from workbench.workspace.rows import Bounds, EventRow, Place, TimelineFilter, Withheld

_COLUMNS = (
    "e.position, s.name, e.seq, e.event_id, t.namespace, t.type, e.schema_version, e.recorded_at, "
    f"e.occurred_at, e.private, e.causation_id, e.correlation_id, {PAYLOAD_COLUMNS}"
)
_JOINS = "CROSS JOIN streams s ON s.stream_id = e.stream_id CROSS JOIN event_types t ON t.type_id = e.type_id"

_BEFORE_ALL = 0
FIRST_PLACE, LAST_PLACE = Place(EARLIEST, 0), Place(LATEST, BEYOND_ALL)


class Found(NamedTuple):
    """What a search gave."""

    rows: list[EventRow]
    """Ascending; long payloads are clipped."""
    complete: bool
    """It looked to that end of the log; else there may be more."""


def place_of(row: EventRow) -> Place:
    """Where an event stands as things happened."""
    if isinstance(row, UnreadableEvent):
        # The index goes by what is stored, even where that is no time.
        return Place(row.happened, row.position)
    return Place(to_micros(row.happened_at), row.position)


class TimelineReader:
    """The log as a list, whole or up to a position. A filter that matches nothing gives empty pages.

    An event that cannot be read stands in its place as an `UnreadableEvent`. `names` says what the names in
    a filter mean.
    """

    def __init__(self, log: EventLog, names: FilterNames | None = None, *, upto: int | None = None) -> None:
        self._log = log
        self._names = names or FilterNames()
        self.upto = upto
        """No event above this position is there; None: all are."""
        self.activity = ActivityReader(log, self._names, upto=upto)

    def as_of(self, position: int | None) -> TimelineReader:
        """The timeline as it was at a position (contract memory, "As of"); None: as it is."""
        return self if position == self.upto else TimelineReader(self._log, self._names, upto=position)

    def _last(self, connection: apsw.Connection) -> int:
        last: int = fetch.value(connection, "SELECT max(position) FROM events") or 0
        return last if self.upto is None else min(last, self.upto)

    def page(
        self,
        wanted: TimelineFilter,
        limit: int,
        *,
        after: int | None = None,
        before: int | None = None,
    ) -> list[EventRow]:
        """Up to `limit` events above position `after`, or the last ones below `before`; ascending.

        With both, the first ones between them; with neither, the last ones. Long payloads are clipped.
        """
        return self.search(wanted, limit, after=after, before=before).rows

    def search(
        self,
        wanted: TimelineFilter,
        limit: int,
        *,
        after: int | None = None,
        before: int | None = None,
        go_on: Callable[[int, int], bool] = lambda looked, found: True,
    ) -> Found:
        """The same as `page` for a search that may have to look at much of the log.

        `go_on(looked, found)` is told after each step to which position the search has come and how
        many events it has found; where it is false the search ends with what it has.
        """
        descending = after is None
        with self._log.reader() as connection:
            last = self._last(connection)
            low = 1 if after is None else after + 1
            high = last if before is None else min(before - 1, last)
            parts = self._parts(connection, wanted)
            if parts is None:
                return Found([], True)
            found, complete = walk_positions(connection, parts, low, high, Walk(limit, descending, go_on))
            return Found(self._rows(connection, found), complete)

    def search_happened(
        self,
        wanted: TimelineFilter,
        limit: int,
        *,
        after: Place | None = None,
        before: Place | None = None,
        go_on: Callable[[Place, int], bool] = lambda looked, found: True,
    ) -> Found:
        """The same as `search` in the order in which things happened, between places."""
        descending = after is None
        with self._log.reader() as connection:
            parts = self._parts(connection, wanted, as_happened=True)
            if parts is None:
                return Found([], True)
            low = FIRST_PLACE if after is None else after
            high = LAST_PLACE if before is None else before
            found, complete = walk_happened(connection, parts, low, high, Walk(limit, descending, go_on))
            rows = self._rows(connection, found)
        return Found(sorted(rows, key=place_of), complete)

    def first(self, wanted: TimelineFilter, limit: int) -> list[EventRow]:
        """The oldest `limit` events that pass the filter, ascending."""
        return self.page(wanted, limit, after=_BEFORE_ALL)

    def event(self, position: int) -> EventRow | None:
        """One event whole, or None."""
        if self.upto is not None and position > self.upto:
            return None
        with self._log.reader() as connection:
            return self._one(connection, position, clip=False)

    def at(self, positions: Sequence[int]) -> list[EventRow]:
        """The events at these positions, ascending; long payloads are clipped."""
        with self._log.reader() as connection:
            return self._rows(connection, positions)

    def bounds(self) -> Bounds:
        """First and last position of the log."""
        with self._log.reader() as connection:
            last = self._last(connection)
        return Bounds(1 if last else 0, last)

    def recorded(self) -> int:
        """The last position of the log as it is now."""
        with self._log.reader() as connection:
            return fetch.value(connection, "SELECT max(position) FROM events") or 0

    def recorded_at(self, position: int) -> datetime:
        """When the event at a position that the log has was recorded."""
        with self._log.reader() as connection:
            micros: int = fetch.value(
                connection, "SELECT recorded_at FROM events WHERE position = ?", (position,)
            )
        return from_micros(micros)

    def at_time(self, micros: int) -> int:
        """The last position recorded at or before an instant (microseconds); 0 if there is none.

        `recorded_at` never falls along positions, so this is what was known then.
        """
        with self._log.reader() as connection:
            low, high = 0, self._last(connection)
            # Positions have no gaps and times never fall along them: no index is needed to halve.
            while low < high:
                middle = (low + high + 1) // 2
                at = fetch.value(connection, "SELECT recorded_at FROM events WHERE position = ?", (middle,))
                low, high = (middle, high) if at <= micros else (low, middle - 1)
        return low

    def position_of(self, event_id: UUID) -> int | None:
        """Where an event of this id stands, or None."""
        with self._log.reader() as connection:
            position: int | None = fetch.value(
                connection, "SELECT position FROM events WHERE event_id = ?", (event_id.bytes,)
            )
        return position

    def passes(self, wanted: TimelineFilter, position: int) -> bool:
        """Whether the event at a position passes a filter."""
        found = self.search(wanted, 1, after=position - 1, before=position + 1).rows
        return bool(found) and found[0].position == position

    def positions_by_id(self, prefix: str, limit: int = 2) -> list[int]:
        """Up to `limit` positions of events whose id begins so; `prefix` is up to 32 hexadecimal digits."""
        low, high = bytes.fromhex(prefix.ljust(32, "0")), bytes.fromhex(prefix.ljust(32, "f"))
        with self._log.reader() as connection:
            found = connection.execute(
                "SELECT position FROM events WHERE event_id BETWEEN ? AND ? AND position <= ? "
                "ORDER BY event_id LIMIT ?",
                (low, high, self._bound, limit),
            )
            return [position for (position,) in found]

    def place_at(self, position: int) -> Place | None:
        """When the event at a position happened, as a place; None where there is none."""
        if position > self._bound:
            return None
        with self._log.reader() as connection:
            row = fetch.row(
                connection, f"SELECT {HAPPENED}, e.position FROM events e WHERE e.position = ?", (position,)
            )
        return None if row is None else Place(*row)

    def happened_at(self, micros: int) -> Place | None:
        """The first event that happened at an instant or after, else the last one; None in an empty log."""
        with self._log.reader() as connection:
            row = fetch.row(
                connection,
                f"SELECT {HAPPENED}, e.position FROM {AS_HAPPENED} WHERE {HAPPENED} >= ? "
                "AND +e.position <= ? ORDER BY 1, 2 LIMIT 1",
                (max(EARLIEST, min(micros, LATEST)), self._bound),
            ) or fetch.row(
                connection,
                f"SELECT {HAPPENED}, e.position FROM {AS_HAPPENED} WHERE +e.position <= ? "
                "ORDER BY 1 DESC, 2 DESC LIMIT 1",
                (self._bound,),
            )
        return None if row is None else Place(*row)

    def happened_before(self, place: Place) -> int:
        """How many events happened before a place, those that are not there yet included."""
        with self._log.reader() as connection:
            return events_before(connection, place)

    def place_of_rank(self, rank: int) -> Place | None:
        """The event before which `rank` others happened, else the last one; None in an empty log."""
        with self._log.reader() as connection:
            return place_of_rank(connection, rank)

    def count(
        self,
        wanted: TimelineFilter,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda _: None,
        *,
        after: int = _BEFORE_ALL,
        upto: int = BEYOND_ALL,
        looked: Callable[[int], None] = lambda _: None,
    ) -> int:
        """How many events above position `after`, up to `upto`, pass the filter; newest first.

        Counted in steps: `cancelled` ends it with what it has, `progress` is told the number so far
        and `looked` the position that was come to.
        """
        number = 0
        with self._log.reader() as connection:
            last = min(upto, self._last(connection))
            if not wanted:
                return max(0, last - after)
            parts = self._parts(connection, wanted)
            if parts is None:
                return 0
            main = leader(parts)
            first, last = max(after + 1, parts.low), min(last, parts.high)
            for bounds in iter([(first, last)]) if parts.single else windows(first, last, True):
                if cancelled():
                    break
                sql, values = found_by(main, parts.every, bounds)
                number += int(fetch.value(connection, f"SELECT count(*) FROM ({sql})", values))
                progress(number)
                looked(bounds[0])
        return number

    def types(self) -> list[str]:
        """Every event type in the log, by name."""
        sql = (
            "SELECT DISTINCT type FROM event_types t WHERE ?1 = ?2 OR EXISTS "
            "(SELECT 1 FROM events e WHERE e.type_id = t.type_id AND e.position <= ?1) ORDER BY 1"
        )
        with self._log.reader() as connection:
            return [name for (name,) in fetch.rows(connection, sql, (self._bound, BEYOND_ALL))]

    def actors(self, limit: int = 200) -> list[tuple[str, int]]:
        """Actors with how many events name them, most active first."""
        counted = "events" if self.upto is None else _ACTIVE_UPTO
        sql = (
            f"SELECT name, {counted} AS number FROM actors WHERE number > 0 "
            "ORDER BY number DESC, name LIMIT ?"
        )
        values = (limit,) if self.upto is None else (self.upto, limit)
        with self._log.reader() as connection:
            return [(name, count) for name, count in fetch.rows(connection, sql, values)]

    def offered(self) -> Offered:
        """The projects, tasks, domains, agents and categories that stand in the log."""
        with self._log.reader() as connection:
            return self._names.offered(connection, self.upto)

    @property
    def _bound(self) -> int:
        return BEYOND_ALL if self.upto is None else self.upto

    def _parts(
        self, connection: apsw.Connection, wanted: TimelineFilter, *, as_happened: bool = False
    ) -> Parts | None:
        parts = parts_of(connection, wanted, self._names, as_happened=as_happened, upto=self._bound)
        return None if parts is None else parts._replace(decoder=self._log.decoder)

    # -- rows ------------------------------------------------------------------------------

    def _rows(self, connection: apsw.Connection, positions: Sequence[int]) -> list[EventRow]:
        """The events at these positions, ascending, long payloads clipped."""
        sql = (
            f"SELECT {_COLUMNS} FROM json_each(?) k CROSS JOIN events e ON e.position = k.value {_JOINS} "
            "ORDER BY e.position"
        )
        try:
            found = connection.execute(sql, (f"[{','.join(map(str, positions))}]",)).fetchall()
            if len(found) == len(positions):
                return [self._assembled(connection, row, clip=True) for row in found]
        except DAMAGE as error:
            reason_of(error)
        # One of them is damaged: each by itself, so that the others are readable.
        each = (self._one(connection, position, clip=True) for position in sorted(positions))
        return [row for row in each if row is not None]

    def _one(self, connection: apsw.Connection, position: int, *, clip: bool) -> EventRow | None:
        """The event at a position, or what is left of it where it cannot be read; None if there is none."""
        sql = f"SELECT {_COLUMNS} FROM events e {_JOINS} WHERE e.position = ?"
        try:
            row = fetch.row(connection, sql, (position,))
            if row is not None:
                return self._assembled(connection, row, clip=clip)
            reason = "its stream or its type is missing"
        except DAMAGE as error:
            reason = reason_of(error)
        return unreadable_event(connection, position, reason)

    def _assembled(self, connection: apsw.Connection, row: Sequence[Any], *, clip: bool) -> EventRow:
        position = row[0]
        text, size = row[12], row[13]
        whole = text is not None or not clip
        if text is not None:
            payload = decode(text)
        elif clip:
            payload = clipped_payload(connection, position)[0]
        else:
            payload = decode(
                fetch.value(connection, "SELECT payload FROM events WHERE position = ?", (position,))
            )
        actor = payload.get(_ACTORS.get((row[4], row[5]), "actor"))
        return EventRow(
            position=position,
            stream=row[1],
            seq=row[2],
            event_id=str(UUID(bytes=row[3])),
            namespace=row[4],
            type=row[5],
            schema_version=row[6],
            recorded_at=from_micros(row[7]),
            occurred_at=None if row[8] is None else from_micros(row[8]),
            private=bool(row[9]),
            actor=actor if isinstance(actor, str) else "",
            payload=payload,
            payload_bytes=size,
            whole=whole,
            causation_id=_uuid_text(row[10]),
            correlation_id=_uuid_text(row[11]),
            withheld=self._withheld(connection, row[5], position) if row[5] in _WITHHELD else None,
        )

    def _withheld(self, connection: apsw.Connection, event_type: str, position: int) -> Withheld | None:
        sql = (
            f"SELECT from_position FROM quarantines WHERE target = {_WITHHELD[event_type]} "
            "AND from_position <= ? AND (to_position IS NULL OR to_position > ?)"
        )
        since: int | None = fetch.value(connection, sql, (position, self._bound, self._bound))
        return None if since is None else _withheld_by(connection, since)


def _withheld_by(connection: apsw.Connection, since: int) -> Withheld:
    """What the event at a position says of why it withholds: a person's reason, or what the guard found."""
    try:
        said = clipped_payload(connection, since)[0]
    except DAMAGE as error:
        reason_of(error)
        return Withheld(since, "", "")
    guard = said.get("memory_guard")
    if isinstance(guard, dict):
        reasons = guard.get("reasons")
        found = [each for each in reasons if isinstance(each, str)] if isinstance(reasons, list) else []
        return Withheld(since, "", ", ".join(found))
    by, reason = (said.get(name) for name in ("by", "reason"))
    return Withheld(since, by if isinstance(by, str) else "", reason if isinstance(reason, str) else "")


_ACTIVE_UPTO = "(SELECT count(*) FROM event_actors e WHERE e.actor_id = actors.actor_id AND e.position <= ?)"
_WITHHELD = {
    OBSERVATION.type: "?",
    CHECKPOINT.type: "(SELECT observation FROM checkpoints WHERE position = ?)",
}
"""By type of what can be withheld, the position of the observation that is."""

_ACTORS = {(each.namespace, each.type): each.actor for each in event_types().all() if each.actor}
"""By namespace and type, the field of the payload that names who did it."""


def _uuid_text(raw: bytes | None) -> str | None:
    return None if raw is None else str(UUID(bytes=raw))

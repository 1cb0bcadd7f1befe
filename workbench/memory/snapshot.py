"""One consistent look at the log, now or as it was at an earlier position (contract memory, "As of").

Names resolve as the manifest has them today. For agents, everything private or quarantined is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

import apsw

from workbench.identity.registry import Registry
from workbench.log.decoding import FoldDecoder
from workbench.log.event_log import EventLog
from workbench.log.folds import FoldEvent
from workbench.log.times import from_micros, to_micros, to_text
from workbench.memory.errors import InvalidArgument
from workbench.storage import fetch
from workbench.storage.errors import DatabaseDamaged

BEYOND_ALL = 2**62

EVENT_COLUMNS = (
    "e.position, e.event_id, e.causation_id, e.stream_id, '', e.seq, e.type_id, "
    "e.schema_version, e.private, e.recorded_at, e.occurred_at, e.payload"
)
"""What `Snapshot.decoded` takes, the first columns of a row; no reader needs the name of the stream."""
_WIDTH = EVENT_COLUMNS.count(",") + 1
_EVENT = f"SELECT {EVENT_COLUMNS} FROM events e WHERE e.position = ?"
_EVENTS = (
    f"SELECT {EVENT_COLUMNS} FROM json_each(?) asked CROSS JOIN events e ON e.position = asked.value "
    "ORDER BY asked.value"
)


class UnreadableEvent(DatabaseDamaged):
    """A row of memory points at an event that is not there, or that nothing can read."""


class Snapshot:
    """A connection inside one read transaction, and what may be seen through it.

    Its conditions are SQL over bindings that `values` gives: for the present they go by the columns that hold
    the value of now, for the past by the positions at which rows began and ended.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        decoder: FoldDecoder,
        registry: Registry,
        *,
        last: int,
        upto: int | None,
        raw: bool,
        types: dict[int, tuple[str, str]],
    ) -> None:
        self.connection = connection
        self.registry = registry
        self.last = last
        """The last position that it sees."""
        self.raw = raw
        """Whether a person looks, who sees everything."""
        self.past = upto is not None
        self._decoder = decoder
        self._types = types
        self._events: dict[int, FoldEvent] = {}
        self._reviewed: bool | None = None
        self.statuses: dict[tuple[tuple[str, ...], str], str | None] = {}
        """By spellings of a project and a task: what was found to be its status, which is asked for twice."""

    # -- conditions ------------------------------------------------------------------------

    def values(self, **more: Any) -> dict[str, Any]:
        """Bindings for the conditions, and others."""
        return {"upto": self.last, **more}

    def observed(self, alias: str = "observations") -> str:
        """Whether a row of observations may be seen."""
        known = f"{alias}.position <= :upto" if self.past else "1"
        if self.raw:
            return known
        if not self.past:
            return f"{alias}.shown = 1"
        return f"{known} AND {alias}.private = 0 AND NOT {self.withheld(f'{alias}.position')}"

    def withheld(self, position: str) -> str:
        """Whether the observation at a position is quarantined."""
        return (
            f"EXISTS (SELECT 1 FROM quarantines q WHERE q.target = {position} "
            f"AND q.from_position <= :upto AND (q.to_position IS NULL OR q.to_position > :upto))"
        )

    def handed_off(self, alias: str = "checkpoints") -> str:
        """Whether a row of checkpoints may be seen."""
        known = f"{alias}.position <= :upto" if self.past else "1"
        if self.raw:
            return known
        if not self.past:
            return f"{alias}.shown = 1"
        return (
            f"{known} AND (EXISTS (SELECT 1 FROM observations seen WHERE seen.position = {alias}.observation "
            f"AND {self.observed('seen')}) OR ({alias}.observation = {alias}.position AND EXISTS ("
            f"SELECT 1 FROM events own WHERE own.position = {alias}.position AND own.private = 0)))"
        )

    def asserted(self, alias: str = "facts") -> str:
        """Whether a row of facts may be seen, current or not."""
        known = f"{alias}.position <= :upto" if self.past else "1"
        return known if self.raw else f"{known} AND {alias}.private = 0"

    def stands(self, alias: str) -> str:
        """Whether a row that was known had not been ended."""
        if not self.past:
            return f"{alias}.to_position IS NULL"
        return f"({alias}.to_position IS NULL OR {alias}.to_position > :upto)"

    def ended(self, to_position: int | None) -> bool:
        """Whether what ended at a position had ended."""
        return to_position is not None and to_position <= self.last

    # -- rows and events -------------------------------------------------------------------

    def rows(self, sql: str, **values: Any) -> list[fetch.Row]:
        """Every row of a query."""
        return fetch.rows(self.connection, sql, self.values(**values))

    def row(self, sql: str, **values: Any) -> fetch.Row | None:
        """The first row of a query, or None."""
        return fetch.row(self.connection, sql, self.values(**values))

    def value(self, sql: str, **values: Any) -> Any:
        """The first column of the first row, or None."""
        return fetch.value(self.connection, sql, self.values(**values))

    def event(self, position: int) -> FoldEvent:
        """The event at a position that is known to hold one."""
        found = self._events.get(position)
        if found is None:
            row = fetch.row(self.connection, _EVENT, (position,))
            if row is None:
                raise UnreadableEvent(f"the log has no event at position {position}")
            found = self.decoded(row)
        return found

    def read_ahead(self, positions: Iterable[int]) -> None:
        """Read the events at positions that will be asked for one by one, in one query."""
        wanted = [str(position) for position in positions if position not in self._events]
        if len(wanted) > 1:
            for row in fetch.rows(self.connection, _EVENTS, (f"[{','.join(wanted)}]",)):
                self.decoded(row)

    def decoded(self, row: fetch.Row) -> FoldEvent:
        """The event of a row that begins with `EVENT_COLUMNS`."""
        found = self._events.get(row[0])
        if found is None:
            found = self._decoder.event((*row[:6], *self._type(row[6]), *row[7:_WIDTH]))
            if found is None:
                raise UnreadableEvent(f"position {row[0]} holds an event of a type that is not known")
            self._events[row[0]] = found
        return found

    def _type(self, number: int) -> tuple[str, str]:
        known = self._types.get(number)
        if known is None:
            sql = "SELECT namespace, type FROM event_types WHERE type_id = ?"
            known = self._types[number] = fetch.row(self.connection, sql, (number,)) or ("", "")
        return known

    @property
    def reviewed(self) -> bool:
        """Whether there is any review at all."""
        if self._reviewed is None:
            self._reviewed = self.value("SELECT 1 FROM reviews WHERE position <= :upto LIMIT 1") is not None
        return self._reviewed

    def position_at(self, micros: int) -> int:
        """The last position recorded at or before an instant; 0 if there is none."""
        low, high = 0, self.last
        # Positions have no gaps and times never fall along them: no index is needed to halve.
        while low < high:
            middle = (low + high + 1) // 2
            at = fetch.value(self.connection, "SELECT recorded_at FROM events WHERE position = ?", (middle,))
            low, high = (middle, high) if at <= micros else (low, middle - 1)
        return low

    def recorded_at(self, position: int) -> int | None:
        """When a position was recorded, in microseconds; None for 0."""
        found: int | None = fetch.value(
            self.connection, "SELECT recorded_at FROM events WHERE position = ?", (position,)
        )
        return found


class Sight:
    """Opens snapshots of one log for readers."""

    def __init__(self, log: EventLog) -> None:
        self.log = log
        self._types: dict[int, tuple[str, str]] = {}
        """Namespace and name of the types of events by their numbers, which never change."""

    @contextmanager
    def look(
        self, registry: Registry, *, raw: bool = False, as_of: datetime | int | None = None
    ) -> Iterator[Snapshot]:
        """A snapshot of now, or of what was known at a time or at a position.

        Raises `InvalidArgument` for a time without a zone and for a position that the log does not have.
        """
        with self.log.reader() as connection:
            # Several queries must see one state; inside the thread's own transaction this nests.
            connection.execute("SAVEPOINT looking")
            try:
                last = fetch.value(connection, "SELECT max(position) FROM events") or 0
                types = self._types
                now = Snapshot(
                    connection, self.log.decoder, registry, last=last, upto=None, raw=raw, types=types
                )
                if as_of is None:
                    yield now
                    return
                upto = _position(now, as_of)
                yield Snapshot(
                    connection, self.log.decoder, registry, last=upto, upto=upto, raw=raw, types=types
                )
            finally:
                connection.execute("RELEASE looking")


def _position(now: Snapshot, as_of: datetime | int) -> int:
    if isinstance(as_of, datetime):
        if as_of.utcoffset() is None:
            raise InvalidArgument("as_of needs a time with a zone", hint="write it like 2026-03-02T14:00:00Z")
        try:
            return now.position_at(to_micros(as_of))
        except OverflowError:
            raise InvalidArgument("as_of lies outside the years 1 to 9999") from None
    if isinstance(as_of, bool) or not isinstance(as_of, int):
        raise InvalidArgument("as_of is a time, or a position of the log")
    if not 0 <= as_of <= now.last:
        raise InvalidArgument(
            f"the log has no position {as_of}", hint=f"its positions go from 0 (nothing) to {now.last}"
        )
    return as_of


def id_text(stored: bytes) -> str:
    """An id as it is written outside the file."""
    digits = stored.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def id_bytes(given: str) -> bytes | None:
    """An id as it stands in the file; None for a text that is none."""
    try:
        return UUID(given).bytes
    except (ValueError, AttributeError, TypeError):
        return None


def instant(micros: int) -> str:
    """A stored time as JSON has it."""
    return to_text(from_micros(micros))

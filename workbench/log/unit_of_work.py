"""What the log keeps in memory for the length of one write transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from workbench.log import sqlite
from workbench.log.folds import FoldEvent, InlineFold
from workbench.log.registry import EventType, Payload
from workbench.log.streams import StreamRef
from workbench.storage import fetch
from workbench.storage.errors import StorageError

FLUSH_BYTES = 8 * 1024 * 1024
FLUSH_EVENTS = 5000


class _Tail:
    """The end of one stream, as this transaction sees it."""

    __slots__ = ("last_seq", "stream_id", "written")

    def __init__(self, stream_id: int, last_seq: int) -> None:
        self.stream_id = stream_id
        self.last_seq = last_seq
        self.written = False


class Mark(NamedTuple):
    """A place to come back to when a savepoint is undone."""

    waiting: int
    waiting_bytes: int


class UnitOfWork:
    """Positions, stream tails and events that wait for the folds that run at commit.

    The write lock makes it sound: nobody else can move these values while the transaction is open.
    """

    def __init__(self, connection: apsw.Connection, folds: Sequence[InlineFold]) -> None:
        self.connection = connection
        self.appended = False
        self._at_append = tuple(fold for fold in folds if not fold.at_commit)
        self._at_commit = tuple(fold for fold in folds if fold.at_commit)
        self._by_type: dict[str, tuple[InlineFold, ...]] = {}
        self._waiting: list[FoldEvent] = []
        self._waiting_bytes = 0
        self._broken = False
        self._read()

    def _read(self) -> None:
        last = fetch.row(
            self.connection, "SELECT position, recorded_at FROM events ORDER BY position DESC LIMIT 1"
        )
        self.last_position: int = last[0] if last else 0
        self.last_recorded_at: int = last[1] if last else 0
        self._tails: dict[str, _Tail] = {}
        self._type_ids: dict[type[Payload], int] = {}

    # -- names to numbers ------------------------------------------------------------------

    def tail(self, ref: StreamRef) -> _Tail:
        """The end of a stream; a stream that is new gets its number now."""
        tail = self._tails.get(ref.name)
        if tail is None:
            number = sqlite.stream_id(self.connection, ref.name)
            if number is None:
                self.connection.execute(
                    "INSERT INTO streams(name, kind, domain_key, project_key, task_key, last_seq) "
                    "VALUES(?, ?, ?, ?, ?, 0)",
                    ref,
                )
                tail = _Tail(self.connection.last_insert_rowid(), 0)
            else:
                tail = _Tail(number, sqlite.last_seq(self.connection, number))
            self._tails[ref.name] = tail
        return tail

    def seq_of(self, name: str) -> int:
        """The last seq of a stream, without giving a new stream a number."""
        tail = self._tails.get(name)
        if tail is not None:
            return tail.last_seq
        number = sqlite.stream_id(self.connection, name)
        return 0 if number is None else sqlite.last_seq(self.connection, number)

    def type_id(self, event_type: EventType) -> int:
        """The number of an event type in this file."""
        number = self._type_ids.get(event_type.model)
        if number is None:
            key = (event_type.namespace, event_type.type)
            found: int | None = fetch.value(
                self.connection, "SELECT type_id FROM event_types WHERE namespace = ? AND type = ?", key
            )
            if found is None:
                self.connection.execute("INSERT INTO event_types(namespace, type) VALUES(?, ?)", key)
                found = self.connection.last_insert_rowid()
            number = self._type_ids[event_type.model] = found
        return number

    # -- folds -----------------------------------------------------------------------------

    def fold(self, events: Sequence[FoldEvent], encoded_bytes: int) -> None:
        """Apply the folds that run at once; keep the events for those that run at commit."""
        self.appended = True
        if len(events) == 1:
            for fold in self._folds_of(events[0].event_type.type):
                fold.apply(self.connection, events)
        else:
            for fold in self._at_append:
                wanted = fold.types
                mine = events if wanted is None else [e for e in events if e.event_type.type in wanted]
                if mine:
                    fold.apply(self.connection, mine)
        self._waiting.extend(events)
        self._waiting_bytes += encoded_bytes

    def _folds_of(self, type_name: str) -> tuple[InlineFold, ...]:
        found = self._by_type.get(type_name)
        if found is None:
            found = tuple(f for f in self._at_append if f.types is None or type_name in f.types)
            self._by_type[type_name] = found
        return found

    def flush_if_large(self) -> None:
        """Keep memory bounded in a long transaction; call it only where no savepoint is open."""
        if self._waiting_bytes >= FLUSH_BYTES or len(self._waiting) >= FLUSH_EVENTS:
            self.flush()

    def flush(self) -> None:
        """Apply the folds that run at commit to what waits for them."""
        events, self._waiting, self._waiting_bytes = self._waiting, [], 0
        # A caller may catch the error of a flush that failed half-way; the commit must not.
        self._broken = True
        for fold in self._at_commit:
            wanted = fold.types
            mine = events if wanted is None else [e for e in events if e.event_type.type in wanted]
            if mine:
                fold.apply(self.connection, mine)
        self._broken = False

    def finish(self) -> None:
        """Write what the transaction left in memory; the last step before the commit."""
        if not self.appended:
            return
        if self._broken:
            raise StorageError(
                "an earlier error in this transaction left its projections incomplete",
                hint="nothing of it was kept; try again",
            )
        self.flush()
        written = [(tail.last_seq, tail.stream_id) for tail in self._tails.values() if tail.written]
        self.connection.executemany("UPDATE streams SET last_seq = ? WHERE stream_id = ?", written)
        self.connection.execute("UPDATE folds SET position = ?", (self.last_position,))

    # -- savepoints ------------------------------------------------------------------------

    def mark(self) -> Mark:
        """Where the waiting events stand now; nothing flushes while a savepoint is open."""
        return Mark(len(self._waiting), self._waiting_bytes)

    def rewind(self, mark: Mark) -> None:
        """After a savepoint was undone: forget what it added and read the rest again."""
        del self._waiting[mark.waiting :]
        self._waiting_bytes = mark.waiting_bytes
        written = {name for name, tail in self._tails.items() if tail.written}
        self._read()
        for name in written:
            number = sqlite.stream_id(self.connection, name)
            if number is not None:
                tail = _Tail(number, sqlite.last_seq(self.connection, number))
                tail.written = True
                self._tails[name] = tail

"""The workspace's one append-only log (DESIGN §2; contract log, §4)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import apsw

from workbench.log import sqlite
from workbench.log.decoding import FoldDecoder
from workbench.log.door import Admitted, Door
from workbench.log.errors import ConcurrencyError, DuplicateEventId, InvalidPayload
from workbench.log.folds import FOLD_POSITIONS, FoldEvent, FoldSet, InlineFold
from workbench.log.identifiers import event_id_bytes
from workbench.log.ports import PassThrough, Redactor
from workbench.log.readable import readable
from workbench.log.registry import EventType, EventTypeRegistry, Payload, PendingEvent, Removed, StoredEvent
from workbench.log.streams import StreamRef
from workbench.log.times import Clock, from_micros, now_micros, to_micros, to_text
from workbench.log.unit_of_work import UnitOfWork
from workbench.log.upcasts import UpcastRegistry
from workbench.storage import fetch, schema
from workbench.storage.connection import Synchronous
from workbench.storage.database import Database, DataVersionPoller
from workbench.storage.errors import WrongThread, translated
from workbench.storage.history import FIRST, History

_PAGE_ROWS = 256
_PAGE_BYTES = 4 * 1024 * 1024
_END = 2**62
_CATCH_UP_EVENTS = 1000

_Row = tuple[int, int, int, int, int, bytes, bytes | None, bytes | None, bool, int, int | None, str]
"""A row of `events`."""


class Receipt(NamedTuple):
    """What an append stored."""

    first_position: int
    """Position of the batch's first event; positions of a batch follow one another."""
    last_position: int
    last_seq: int
    recorded_at: int
    """Microseconds since 1970."""
    removals: tuple[Removed, ...]
    payloads: tuple[Payload, ...]
    """What was stored, in order, after the filter."""
    repaired: int
    """Lone surrogates and impossible numbers that the door replaced."""


class Restored(NamedTuple):
    """An event of another log, as `EventLog.restore_all` takes it."""

    stream: StreamRef
    event: PendingEvent
    recorded_at: datetime
    """When that log recorded it."""


class Restoration(NamedTuple):
    """What `EventLog.restore_all` stored."""

    places: list[tuple[int, int]]
    """Of each event, in order, its position and its seq."""
    removals: list[Removed]
    repaired: int
    """Lone surrogates and impossible numbers that the door replaced."""


class EventLog:
    """Append and read events; share one instance between threads.

    Appends are atomic, durable when they return, and fold into every inline projection in the
    same transaction. `position` counts 1, 2, 3 … over the log, `seq` within each stream, both
    without gaps.
    """

    def __init__(
        self,
        database: Database,
        folds: Sequence[InlineFold],
        registry: EventTypeRegistry,
        *,
        redactor: Redactor | None = None,
        clock: Clock | None = None,
        upcasts: UpcastRegistry | None = None,
        history: History = FIRST,
    ) -> None:
        self._db = database
        self._history = history
        self._folds = FoldSet(folds)
        self.registry = registry
        self.decoder = FoldDecoder(registry, upcasts)
        """How this log's folds see stored events."""
        self.redactor: Redactor = redactor if redactor is not None else PassThrough()
        self._door = Door(self.redactor)
        self._micros: Callable[[], int] = now_micros if clock is None else lambda: to_micros(clock())
        self._work: UnitOfWork | None = None

    def now(self) -> int:
        """Microseconds of this log's clock."""
        return self._micros()

    @classmethod
    def open(
        cls,
        path: Path,
        folds: Sequence[InlineFold],
        registry: EventTypeRegistry,
        *,
        redactor: Redactor | None = None,
        clock: Clock | None = None,
        read_only: bool = False,
        synchronous: Synchronous = "FULL",
        tables: tuple[str, ...] = (),
        upcasts: UpcastRegistry | None = None,
        history: History = FIRST,
    ) -> Self:
        """Open the log in a file, laying an empty file out first.

        `tables` are DDL statements for what is not folded (import offsets), created with the rest.
        `history` says which schema the file must have; an older file is refused, never migrated here.
        Raises `SchemaError`s (exit 3) for a file that is foreign, newer, older or damaged, and
        leaves it as it was; `DatabaseMissing` for a read-only open of nothing.
        """
        fold_set = FoldSet(folds)

        def check(connection: apsw.Connection) -> None:
            schema.check(connection, path, (*sqlite.SCHEMA, FOLD_POSITIONS, *tables), history)
            schema.check(connection, path, fold_set.schema_in(connection), history)

        with readable(path):
            schema.refuse_foreign(path, check, history)
            database = Database(path, read_only=read_only, synchronous=synchronous)
        try:
            log = cls(
                database, folds, registry, redactor=redactor, clock=clock, upcasts=upcasts, history=history
            )
            with readable(path):
                log._prepare(tables, check)
        except BaseException:
            database.close()
            raise
        return log

    def _prepare(self, tables: tuple[str, ...], check: Callable[[apsw.Connection], None]) -> None:
        if not self._db.read_only:
            with self._db.reader() as connection:
                fresh = schema.is_empty(connection)
            if fresh:
                self._lay_out(tables)
        with self._db.reader() as connection:
            check(connection)

    def _lay_out(self, tables: tuple[str, ...]) -> None:
        with self._db.transaction() as connection:
            # Another process may have laid it out while we waited for the lock.
            if schema.is_empty(connection):
                statements = (*sqlite.SCHEMA, *self._folds.schema(), *tables)
                at = to_text(from_micros(self._micros()))
                schema.create(connection, statements, at=at, history=self._history)
                self._folds.install(connection)

    # -- transactions ----------------------------------------------------------------------

    @property
    def path(self) -> Path:
        """The database file."""
        return self._db.path

    @property
    def database(self) -> Database:
        """The file below the log, for what must not be held up by the state of its folds."""
        return self._db

    @property
    def read_only(self) -> bool:
        """Whether every append is refused."""
        return self._db.read_only

    @property
    def stale_reason(self) -> str:
        """Why commits of other programs are not seen; empty if they are."""
        return self._db.stale_reason

    @property
    def in_transaction(self) -> bool:
        """Whether the calling thread holds an open transaction on this log."""
        return self._db.in_transaction

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One write transaction over any number of appends; nested entry is a savepoint.

        An exception undoes its own level only. Reads by the same thread see what it appended;
        full text and counters of the transaction appear with its commit.
        """
        outermost = not self._db.in_transaction
        work = self._work
        mark = work.mark() if work is not None and not outermost else None
        try:
            with self._db.transaction() as connection:
                try:
                    if outermost:
                        work = self._work = self._begin(connection)
                    yield Transaction(self, connection)
                    if outermost and work is not None:
                        with translated(self._db.path):
                            work.finish()
                finally:
                    if outermost:
                        self._work = None
        except BaseException:
            # The savepoint is undone by now, and what was counted in memory follows it.
            if work is not None and mark is not None and self._db.in_transaction:
                work.rewind(mark)
            raise
        if not outermost and work is not None and self._db.depth == 1:
            work.flush_if_large()

    def _begin(self, connection: apsw.Connection) -> UnitOfWork:
        # Another program may have migrated the file since it was opened here.
        schema.check_current(connection, self._db.path, self._history)
        work = UnitOfWork(connection, self._folds.folds)
        for fold, position in self._folds.behind(connection, work.last_position):
            self._catch_up(connection, fold, position)
        return work

    def _catch_up(self, connection: apsw.Connection, fold: InlineFold, position: int) -> None:
        """Hand a lagging fold the events after `position`, in batches, inside the open transaction."""
        while True:
            rows = fetch.rows(connection, sqlite.TO_FOLD, (position, _CATCH_UP_EVENTS))
            if not rows:
                break
            events = [event for row in rows if (event := self.decoder.event(row)) is not None]
            wanted = fold.types
            fold.apply(connection, [e for e in events if wanted is None or e.event_type.type in wanted])
            position = rows[-1][0]
        connection.execute("UPDATE folds SET position = ? WHERE name = ?", (position, fold.name))

    # -- appending -------------------------------------------------------------------------

    def append(
        self,
        stream: StreamRef,
        batch: Iterable[Payload | PendingEvent],
        *,
        expected_last_seq: int | None = None,
    ) -> Receipt:
        """Append a batch to one stream, whole or not at all.

        Raises `ConcurrencyError` if the stream's last seq is not `expected_last_seq` (checked for
        an empty batch too), `DuplicateEventId`, `UnknownEventType`, `InvalidPayload`,
        `InvalidIdentifier`, `FoldSetMismatch`, and the storage errors of a write.
        """
        pending = [e if isinstance(e, PendingEvent) else PendingEvent(payload=e) for e in batch]
        # Filtering and encoding need no lock, so other threads write meanwhile.
        admitted = self._admit(pending)
        with self.transaction():
            work = self._work
            assert work is not None
            with translated(self._db.path):
                return self._append(work, stream, pending, admitted, expected_last_seq)

    def restore(self, stream: StreamRef, event: PendingEvent, recorded_at: datetime) -> Receipt:
        """Append one event of another log with the time at which that log recorded it.

        Raises `InvalidPayload` if that is before the last event's time here, and what `append` raises.
        """
        _check_instant("recorded_at", recorded_at)
        micros = to_micros(recorded_at)
        admitted = self._admit([event])
        with self.transaction():
            work = self._work
            assert work is not None
            _check_order(work, [micros])
            with translated(self._db.path):
                return self._append(work, stream, [event], admitted, None, recorded_at=micros)

    def restore_all(self, batch: Sequence[Restored]) -> Restoration:
        """`restore` for each of a batch that may belong to many streams, all of it or none.

        Costs a fraction of as many calls. Raises what `restore` raises, without a word on which of
        the events it was.
        """
        for entry in batch:
            _check_instant("recorded_at", entry.recorded_at)
        times = [to_micros(entry.recorded_at) for entry in batch]
        pending = [entry.event for entry in batch]
        admitted = self._admit(pending)
        with self.transaction():
            work = self._work
            assert work is not None
            _check_order(work, times)
            with translated(self._db.path):
                rows = self._store(work, [entry.stream for entry in batch], pending, admitted, times)
        return Restoration(
            [(row[0], row[2]) for row in rows],
            [removal for entry in admitted for removal in entry.removals],
            sum(entry.repaired for entry in admitted),
        )

    def _admit(self, pending: list[PendingEvent]) -> list[Admitted]:
        batch: list[tuple[EventType, Payload]] = []
        for event in pending:
            batch.append((self.registry.of(event.payload), event.payload))
            if event.visibility not in ("public", "private"):
                raise InvalidPayload(f"visibility is public or private, not {event.visibility!r}")
            if event.occurred_at is not None:
                _check_instant("occurred_at", event.occurred_at)
        return self._door.admit_all(batch)

    def _append(
        self,
        work: UnitOfWork,
        stream: StreamRef,
        pending: list[PendingEvent],
        admitted: list[Admitted],
        expected_last_seq: int | None,
        *,
        recorded_at: int | None = None,
    ) -> Receipt:
        if expected_last_seq is not None:
            found = work.seq_of(stream.name)
            if found != expected_last_seq:
                raise ConcurrencyError(
                    f"{stream.name} is at {found}, not at {expected_last_seq}",
                    hint="read what came in between and try again",
                )
        first = work.last_position + 1
        if recorded_at is None:
            recorded_at = max(self._micros(), work.last_recorded_at)
        if not admitted:
            return Receipt(first, first - 1, work.seq_of(stream.name), recorded_at, (), (), 0)
        count = len(admitted)
        rows = self._store(work, [stream] * count, pending, admitted, [recorded_at] * count)
        last = rows[-1]
        removals: list[Removed] = []
        repaired = 0
        for entry in admitted:
            if entry.removals:
                removals.extend(entry.removals)
            repaired += entry.repaired
        payloads = tuple([entry.payload for entry in admitted])
        return Receipt(first, last[0], last[2], recorded_at, tuple(removals), payloads, repaired)

    def _store(
        self,
        work: UnitOfWork,
        streams: Sequence[StreamRef],
        pending: Sequence[PendingEvent],
        admitted: Sequence[Admitted],
        times: Sequence[int],
    ) -> list[_Row]:
        """Store and fold events that stand one behind the other; their rows."""
        events: list[FoldEvent] = []
        rows: list[_Row] = []
        size = 0
        position = work.last_position
        stream: StreamRef | None = None
        known: EventType | None = None
        for at, event, entry, recorded_at in zip(streams, pending, admitted, times, strict=True):
            if at is not stream:
                stream, tail = at, work.tail(at)
                stream_id, name = tail.stream_id, at.name
            position += 1
            seq = tail.last_seq = tail.last_seq + 1
            tail.written = True
            event_type = entry.event_type
            if event_type is not known:
                known, type_id = event_type, work.type_id(event_type)
                newest = self.registry.get(event_type.namespace, event_type.type)
            private = event.visibility == "private"
            happened = event.occurred_at
            occurred = None if happened is None else to_micros(happened)
            event_id = event_id_bytes(event.event_id)
            cause = None if event.causation_id is None else event.causation_id.bytes
            rows.append(
                (
                    position,
                    stream_id,
                    seq,
                    type_id,
                    event_type.version,
                    event_id,
                    cause,
                    None if event.correlation_id is None else event.correlation_id.bytes,
                    private,
                    recorded_at,
                    occurred,
                    entry.encoded,
                )
            )
            payload = entry.payload
            if newest is not None and newest is not event_type:
                event_type, payload = self.decoder.forward(newest, event_type, entry.encoded)
            events.append(
                FoldEvent(
                    position,
                    event_id,
                    cause,
                    stream_id,
                    name,
                    seq,
                    event_type,
                    private,
                    recorded_at,
                    occurred,
                    payload,
                )
            )
            size += len(entry.encoded)
        if not rows:
            return rows
        try:
            work.connection.executemany(sqlite.INSERT, rows)
        except apsw.ConstraintError as error:
            raise DuplicateEventId(
                "an event of this id is stored already, or stands twice in the batch"
            ) from error
        work.last_position, work.last_recorded_at = position, times[-1]
        work.fold(events, size)
        return rows

    # -- reading ---------------------------------------------------------------------------

    def stream(self, name: str | StreamRef) -> Stream:
        """One stream as an event store of its own; it need not hold events yet."""
        if isinstance(name, str):
            name = StreamRef(name, name.partition("/")[0])
        return Stream(self, name)

    def reader(self) -> AbstractContextManager[apsw.Connection]:
        """Lend a connection that cannot write; inside the thread's own transaction, the writer."""
        return self._db.reader()

    def data_version_poller(self) -> DataVersionPoller:
        """Notices the commits of other programs; see `DataVersionPoller`."""
        return self._db.data_version_poller()

    def last_position(self) -> int:
        """The highest position; 0 for an empty log."""
        with self.reader() as connection:
            return sqlite.last_position(connection)

    def event(self, position: int) -> StoredEvent | None:
        """The event at a position, or None."""
        with self.reader() as connection:
            row = connection.execute(sqlite.ONE, (position,)).fetchone()
        return sqlite.stored_event(row) if row else None

    def read(
        self,
        since_position: int = 0,
        limit: int | None = None,
        *,
        upto_position: int | None = None,
        types: Iterable[tuple[str, str]] | None = None,
    ) -> Iterator[StoredEvent]:
        """Events after `since_position`, ascending, read in keyset pages as they are asked for.

        With `types`, (namespace, type) pairs, only events of these; `limit` counts what is read. The
        iterator belongs to the thread that made it (`WrongThread` elsewhere).
        """
        upto = _END if upto_position is None else upto_position
        sql = self._sql(sqlite.BY_POSITION, types)
        return _ThreadBound(self._pages(sql, (), 0, since_position, upto, limit)) if sql else iter(())

    def _sql(self, sql: str, types: Iterable[tuple[str, str]] | None) -> str:
        """The query, or the one for some types; empty where the file holds none of them."""
        if types is None:
            return sql
        with self.reader() as connection:
            numbers = sqlite.type_numbers(connection, types)
        return sqlite.of_types(sql, numbers) if numbers else ""

    def _pages(
        self, sql: str, head: tuple[int, ...], key: int, since: int, upto: int, limit: int | None
    ) -> Iterator[StoredEvent]:
        left = _END if limit is None or limit < 0 else limit
        while left > 0:
            rows: list[tuple[Any, ...]] = []
            size = 0
            asked = min(left, _PAGE_ROWS)
            with self.reader() as connection:
                for row in connection.execute(sql, (*head, since, upto, asked)):
                    rows.append(row)
                    size += len(row[-1])
                    if size >= _PAGE_BYTES:
                        break
            if not rows:
                return
            left -= len(rows)
            since = rows[-1][key]
            for row in rows:
                yield sqlite.stored_event(row)
            if since >= upto:
                return

    # -- end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the file's connections."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Transaction:
    """An open write transaction, usable only by the thread that opened it."""

    def __init__(self, log: EventLog, connection: apsw.Connection) -> None:
        self._log = log
        self._connection = connection
        self._thread = threading.get_ident()

    @property
    def connection(self) -> apsw.Connection:
        """The writer connection; raises `WrongThread` elsewhere or after the end."""
        if threading.get_ident() != self._thread or not self._log.in_transaction:
            raise WrongThread("this transaction belongs to another thread, or is over")
        return self._connection

    def append(
        self,
        stream: StreamRef,
        batch: Iterable[Payload | PendingEvent],
        *,
        expected_last_seq: int | None = None,
    ) -> Receipt:
        """`EventLog.append` as a part of this transaction."""
        _ = self.connection
        return self._log.append(stream, batch, expected_last_seq=expected_last_seq)


class Stream:
    """One stream of the log (contract log, §4 "EventStore")."""

    def __init__(self, log: EventLog, ref: StreamRef) -> None:
        self.log = log
        self.ref = ref

    def append(self, batch: Iterable[Payload | PendingEvent], *, expected_last_seq: int | None = None) -> int:
        """Append a batch, whole or not at all; the stream's new last seq. See `EventLog.append`."""
        return self.log.append(self.ref, batch, expected_last_seq=expected_last_seq).last_seq

    def read(
        self,
        since_seq: int = 0,
        limit: int | None = None,
        *,
        upto_seq: int | None = None,
        types: Iterable[tuple[str, str]] | None = None,
    ) -> Iterator[StoredEvent]:
        """Events with a seq above `since_seq`, ascending; `limit` below 0 or None: all of them.

        With `types` as in `EventLog.read`.
        """
        with self.log.reader() as connection:
            number = sqlite.stream_id(connection, self.ref.name)
        sql = "" if number is None else self.log._sql(sqlite.BY_STREAM, types)
        if number is None or not sql:
            return iter(())
        upto = _END if upto_seq is None else upto_seq
        return _ThreadBound(self.log._pages(sql, (number,), 2, since_seq, upto, limit))

    def last_seq(self) -> int:
        """The highest seq; 0 if the stream is empty."""
        with self.log.reader() as connection:
            number = sqlite.stream_id(connection, self.ref.name)
            return 0 if number is None else sqlite.last_seq(connection, number)


def _check_instant(field: str, moment: datetime) -> None:
    """Refuse a time that cannot be given back: without a zone, or outside the years 1 to 9999 in UTC."""
    if moment.tzinfo is UTC:
        return
    if moment.utcoffset() is None:
        raise InvalidPayload(f"{field} needs a time zone")
    try:
        moment.astimezone(UTC)
    except OverflowError:
        raise InvalidPayload(f"{field} lies outside the years 1 to 9999 in UTC") from None


def _check_order(work: UnitOfWork, times: Iterable[int]) -> None:
    """Refuse times of recording that fall behind the one before them."""
    before = work.last_recorded_at
    for moment in times:
        if moment < before:
            raise InvalidPayload("recorded_at falls behind the event before it")
        before = moment


class _ThreadBound(Iterator[StoredEvent]):
    """An iterator that refuses other threads than the one that made it."""

    def __init__(self, events: Iterator[StoredEvent]) -> None:
        self._events = events
        self._thread = threading.get_ident()

    def __next__(self) -> StoredEvent:
        if threading.get_ident() != self._thread:
            raise WrongThread("this iterator belongs to another thread")
        return next(self._events)

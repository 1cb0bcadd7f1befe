"""Building or rebuilding inline folds beside a log that is in use (DESIGN §2 "The fold set").

The events are folded into `<table>__next` in short transactions, with the write lock free between
them. The one that reaches the end of the log also puts the new tables in the place of the old.
Readers and writers go on meanwhile, with the tables that they know.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence

import apsw

from workbench.log import leftovers, sqlite
from workbench.log.background_folds import InvalidBatchSize, OpenTransaction
from workbench.log.decoding import FoldDecoder
from workbench.log.errors import LogError
from workbench.log.folds import InlineFold
from workbench.log.next_tables import NEXT, OLD, NextTables
from workbench.log.replay import Batch, Progress, ReplayCancelled, fold_into, read_batch
from workbench.storage import fetch
from workbench.storage.database import Database
from workbench.storage.errors import DatabaseLocked, StorageError, translated

logger = logging.getLogger(__name__)

BATCH_SIZE = 5000
LOCK_SECONDS = 0.1
"""How long a batch should hold the write lock."""

_FIRST_EVENTS = 500
_FEWEST_EVENTS = 50
_COURTESY = 2.5
"""While others write, the lock stays free for this many times as long as a batch has held it."""

_PAUSES = 16
"""So many pauses are between two looks at whether the end of the log comes nearer."""

_SHRUNK = 0.9
"""What is left of a lag that is worked off well, from one such look to the next."""

_MARK = f"rebuild{NEXT}_"
"""Begins the name of an empty table that says whose the tables being built are."""


class RebuildSuperseded(LogError):
    """Another program has begun to rebuild the same file; this one's tables are gone."""

    code = "rebuild_superseded"
    retryable = True


def rebuild(
    database: Database,
    folds: Sequence[InlineFold],
    decoder: FoldDecoder,
    *,
    retired: Sequence[str] = (),
    batch_size: int = BATCH_SIZE,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """Fold the whole log into new tables of `folds`, then put those in the place of the old ones.

    A fold that the file does not know yet is built in the same way; `retired` names tables that an
    earlier version of a fold had and that go with the swap. Returns the position at which the new
    tables took over. What is in use is untouched until then, whatever happens. A batch holds at most
    `batch_size` events, and fewer where they take longer than `LOCK_SECONDS`.

    Raises `ReplayCancelled` once `cancelled` says so, `RebuildSuperseded` if another program began
    a rebuild of the file, `OpenTransaction` inside a transaction, `InvalidBatchSize`, `InvalidFold`
    for a fold that cannot be redirected, what decoding raises, and the storage errors of a write.
    """
    if batch_size < 1:
        raise InvalidBatchSize(f"a batch of {batch_size} events")
    if database.in_transaction:
        raise OpenTransaction("a rebuild needs the lock to be free between its batches")
    work = _Rebuild(database, [NextTables(fold) for fold in folds], decoder, retired, batch_size)
    # Only one rebuild of a file goes on at a time: whoever begins takes away what is there.
    leftovers.discard(database)
    try:
        with translated(database.path):
            reached = work.run(progress, cancelled)
    except RebuildSuperseded:
        raise
    except BaseException:
        _tidy(database, NEXT)
        raise
    _tidy(database, OLD)
    return reached


def _tidy(database: Database, suffix: str) -> None:
    try:
        leftovers.discard(database, [suffix])
    except StorageError as error:
        # They are in nobody's way, and the next rebuild takes them along.
        logger.warning("tables named %s stay in %s: %s", suffix, database.path, error.message)


class _Rebuild:
    """One pass over the log."""

    def __init__(
        self,
        database: Database,
        tables: list[NextTables],
        decoder: FoldDecoder,
        retired: Sequence[str],
        batch_size: int,
    ) -> None:
        self._database = database
        self._tables = tables
        self._decoder = decoder
        self._retired = retired
        self._mark = f"{_MARK}{secrets.token_hex(8)}"
        self._batch_size = batch_size
        self._events = min(_FIRST_EVENTS, batch_size)
        self._position = 0
        self._end = 0
        self._began_with = 0
        self._courtesy = _COURTESY
        self._pauses = 0
        self._lag = 0

    def run(self, progress: Progress | None, cancelled: Callable[[], bool] | None) -> int:
        with self._database.transaction() as connection:
            connection.execute(f'CREATE TABLE "{self._mark}"(mark INTEGER) STRICT')
            for tables in self._tables:
                tables.create(connection)
            self._end = self._began_with = sqlite.last_position(connection)
        done = False
        while not done:
            if cancelled is not None and cancelled():
                raise ReplayCancelled("the rebuild was cancelled; nothing of it was kept")
            since, end = self._position, self._end
            with self._database.reader() as connection:
                batch = read_batch(connection, self._decoder, since, self._events)
            with self._database.transaction() as connection:
                started = time.monotonic()
                done = self._fold(connection, batch)
            held = time.monotonic() - started
            self._adapt(self._position - since, held)
            if progress is not None:
                progress(self._position, self._end)
            if self._end > end and not done:
                self._give_way(held)
        return self._position

    def _fold(self, connection: apsw.Connection, batch: Batch) -> bool:
        """Fold a batch; where that nearly reaches the end of the log, the rest too, and swap."""
        if not fetch.row(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?", (self._mark,)):
            raise RebuildSuperseded("another program has begun to rebuild this file")
        self._apply(connection, batch)
        self._end = sqlite.last_position(connection)
        if self._end - self._position > self._events:
            return False
        while self._position < self._end:
            self._apply(connection, read_batch(connection, self._decoder, self._position, self._events))
        for number, tables in enumerate(self._tables):
            tables.swap(connection, () if number else self._retired)
            connection.execute(
                "INSERT INTO folds VALUES(?, ?, ?) "
                "ON CONFLICT DO UPDATE SET version = excluded.version, position = excluded.position",
                (tables.fold.name, tables.fold.version, self._position),
            )
        connection.execute(f'DROP TABLE "{self._mark}"')
        return True

    def _apply(self, connection: apsw.Connection, batch: Batch) -> None:
        for tables in self._tables:
            with tables.redirected(connection) as redirected:
                fold_into(redirected, [tables.fold], batch.events)
        self._position = batch.upto

    def _adapt(self, events: int, held: float) -> None:
        """Size the next batch by how long this one took."""
        if events:
            fitting = int(events * LOCK_SECONDS / max(held, 0.0001))
            self._events = min(max(fitting, _FEWEST_EVENTS), 2 * self._events, self._batch_size)

    def _give_way(self, held: float) -> None:
        """Leave the lock to whoever has written meanwhile; less so when the end is not coming nearer.

        What was there at the beginning comes to an end by itself, so nobody is hurried until then.
        """
        self._pauses += self._position >= self._began_with
        if self._pauses and self._pauses % _PAUSES == 0:
            lag = self._end - self._position
            if self._lag and lag > _SHRUNK * self._lag:
                self._courtesy /= 2
            self._lag = lag
        began = time.monotonic()
        self._carry_over()
        time.sleep(max(held * self._courtesy - (time.monotonic() - began), 0))

    def _carry_over(self) -> None:
        """Carry the write-ahead log into the file, which otherwise the next writer would do, and wait for.

        What a rebuild writes would fill the log again and again at the expense of others' commits.
        """
        try:
            with self._database.reader() as connection:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except DatabaseLocked:
            # Someone else is at it.
            return

"""One database file as a process uses it: one writer behind a lock, a small pool of readers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw
import msgspec

from workbench.storage import fetch, log_chain
from workbench.storage.connection import (
    ReadOnlyView,
    Standing,
    Synchronous,
    holds_nothing,
    open_read_only,
    open_reader,
    open_writer,
    remove_files,
)
from workbench.storage.errors import DatabaseReadOnly, StorageError, WrongThread, damaged, translated
from workbench.storage.turns import WriteTurns

POOL_SIZE = 8
"""Readers kept open; a thread beyond them waits for one to come back."""


class DataVersionPoller:
    """Asks whether anybody else committed: a context manager over a connection of its own.

    It is used from one thread at a time and never holds a transaction. The number also moves on
    checkpoints: it means "ask", not "new".
    """

    def __init__(
        self, connection: apsw.Connection | None, path: Path, standing: Standing | None = None
    ) -> None:
        self._connection = connection
        self._path = path
        self._standing = standing

    def poll(self) -> int:
        """A number that differs from the last one if another connection committed since.

        Always 0 where commits cannot be seen (read-only media), and from then on -1 once another file
        stands in this one's place: whoever asks then is told so.
        """
        if self._connection is None:
            return 0
        if self._standing is not None and not self._standing.holds():
            return -1
        with translated(self._path):
            return int(fetch.value(self._connection, "PRAGMA data_version"))

    def close(self) -> None:
        """Give the connection back to the system."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Database:
    """A SQLite file shared by the threads of a process (DESIGN §2 "Threads", §4).

    `transaction()` is the only way to write. Threads take turns at the one writer connection;
    nested entry by the same thread is a savepoint. `reader()` lends a connection that cannot
    write; inside the thread's own transaction it lends the writer, so that a thread always sees
    what it has written.

    Opening raises `DatabaseReadOnly`, `DatabaseMissing`, `DiskFull`, `DatabaseLocked`,
    `NotAWorkbenchDatabase` and other `StorageError`s. Once open, whatever reads or writes raises
    `DatabaseReplaced` when the file was deleted, moved, or another one was put in its place: no write
    is acknowledged that went into a file nobody will find.
    """

    def __init__(self, path: Path, *, read_only: bool = False, synchronous: Synchronous = "FULL") -> None:
        self.path = path
        self.read_only = read_only
        self.stale_reason = ""
        """Why commits of other programs are not seen; empty if they are."""
        self._view: ReadOnlyView | None = None
        self._lock = threading.RLock()
        self._depth = 0
        self._owner: int | None = None
        self._idle: list[apsw.Connection] = []
        self._lent = threading.Semaphore(POOL_SIZE)
        self._held: dict[int, apsw.Connection] = {}
        """By thread the reader it holds."""
        self._pool_lock = threading.Lock()
        self._closed = False
        self._writer: apsw.Connection | None = None
        self._turns: WriteTurns | None = None
        self._fresh = not read_only and not path.exists()
        """Whether this object made the file and nothing was committed to it since."""
        self._standing: Standing | None = None
        """None where a private copy is read, which nobody else knows."""
        if read_only:
            self._view = open_read_only(path)
            self.stale_reason = self._view.reason
            connection = self._view.connection
            self._idle.append(connection)
        else:
            connection = self._writer = open_writer(path, synchronous=synchronous)
            self._turns = WriteTurns(path)
            self._writer.set_busy_handler(self._turns.busy)
        if self._view is None or self._view.copy is None:
            try:
                self._standing = Standing(path, connection, wal=not self.stale_reason)
            except BaseException:
                self.close()
                raise

    # -- writing ---------------------------------------------------------------------------

    @property
    def on_wait(self) -> Callable[[float], object] | None:
        """What is told, about every second, how many seconds a transaction has waited for its turn.

        It runs on the waiting thread, in the middle of the wait: it must return at once, raise
        nothing and leave the database alone. Set it to show that a write waits for another program;
        None, as it is at first, tells nobody.
        """
        return None if self._turns is None else self._turns.on_wait

    @on_wait.setter
    def on_wait(self, told: Callable[[float], object] | None) -> None:
        if self._turns is not None:
            self._turns.on_wait = told

    @property
    def in_transaction(self) -> bool:
        """Whether the calling thread holds an open transaction."""
        return self._depth > 0 and self._owner == threading.get_ident()

    @property
    def depth(self) -> int:
        """How deep the open transaction is nested; 0 where none is open."""
        return self._depth

    def writer(self) -> apsw.Connection:
        """The writer connection of the calling thread's open transaction.

        Raises `WrongThread` if the transaction is another thread's or none is open.
        """
        if not self.in_transaction or self._writer is None:
            raise WrongThread("this transaction belongs to another thread, or is over")
        return self._writer

    @contextmanager
    def transaction(self) -> Iterator[apsw.Connection]:
        """A write transaction; nested entry is a savepoint; any exception undoes its own level.

        Raises `DatabaseLocked` when another program holds the lock for longer than the busy
        timeout, `DatabaseReadOnly` on a database opened for reading, `DiskFull`, `DatabaseReplaced`
        (also after the commit: what was written then lies in a file that is gone).
        """
        if self.read_only:
            self._refuse_closed()
            raise DatabaseReadOnly(f"{self.path} is open read-only", hint="open it without --read-only")
        with self._lock:
            connection, turns = self._writer, self._turns
            if connection is None or turns is None:
                raise StorageError(f"{self.path} is closed")
            if self._depth == 0:
                # The log is looked at after the commit.
                self._refuse_replaced(log=False)
                with translated(self.path):
                    turns.begin(connection)
                undo, done = "ROLLBACK", "COMMIT"
            else:
                self._refuse_lost(connection)
                name = f"level{self._depth}"
                connection.execute(f"SAVEPOINT {name}")
                undo, done = f"ROLLBACK TO {name}; RELEASE {name}", f"RELEASE {name}"
            self._owner = threading.get_ident()
            self._depth += 1
            try:
                with translated(self.path):
                    yield connection
                    self._refuse_lost(connection)
                    if self._depth == 1:
                        log_chain.advance(connection)
                    connection.execute(done)
                if self._depth == 1:
                    self._fresh = False
                    self._refuse_replaced()
            except BaseException:
                # A full disk or an I/O error may already have undone the whole transaction.
                if connection.in_transaction:
                    connection.execute(undo)
                raise
            finally:
                self._depth -= 1

    def compact(self) -> bool:
        """Write the file anew without the pages that are free, and empty its write-ahead log.

        Of what was deleted or replaced before, no byte is left in either file then. Takes as much room
        again as the file, in the system's folder for temporary files and beside it. Returns False where
        the log could not be emptied, since another program reads all the while; nothing is wrong then, and
        it can be tried again. Raises what `transaction` raises, and `StorageError` inside one.
        """
        if self.read_only:
            raise DatabaseReadOnly(f"{self.path} is open read-only", hint="open it without --read-only")
        with self._lock:
            self._refuse_replaced()
            if self._depth or self._writer is None:
                raise StorageError(f"{self.path} cannot be compacted inside a transaction")
            with translated(self.path):
                # In memory a large file would need as much of it.
                self._writer.execute("PRAGMA temp_store=FILE").fetchall()
                self._writer.execute("PRAGMA secure_delete=ON").fetchall()
                try:
                    self._writer.execute("VACUUM")
                    busy, _, _ = fetch.rows(self._writer, "PRAGMA wal_checkpoint(TRUNCATE)")[0]
                except apsw.BusyError:
                    busy = 1
                finally:
                    self._writer.execute("PRAGMA secure_delete=OFF").fetchall()
                    self._writer.execute("PRAGMA temp_store=MEMORY").fetchall()
            self._refuse_replaced()
        return not busy

    # -- reading ---------------------------------------------------------------------------

    @contextmanager
    def reader(self) -> Iterator[apsw.Connection]:
        """Lend a connection for reading; it goes back to the pool at the end of the block.

        Nested calls of one thread share one: threads that each hold a reader and wait for another
        would wait for ever. Raises `DatabaseReplaced`, and `DatabaseDamaged` also where the block met a
        text or JSON that cannot be read: what is stored was whole when it was written.
        """
        if self.in_transaction:
            yield self.writer()
            return
        thread = threading.get_ident()
        held = self._held.get(thread)
        if held is not None:
            yield held
            return
        with self._lent:
            connection = self._held[thread] = self._take()
            try:
                with translated(self.path):
                    yield connection
            except (UnicodeDecodeError, msgspec.DecodeError) as error:
                raise damaged(self.path, error) from error
            finally:
                del self._held[thread]
                self._give_back(connection)

    def data_version_poller(self) -> DataVersionPoller:
        """A poller that notices the commits of other connections; see its class."""
        frozen = self._view is not None and bool(self.stale_reason)
        return DataVersionPoller(None if frozen else self._open_reader(), self.path, self._standing)

    def _take(self) -> apsw.Connection:
        with self._pool_lock:
            self._refuse_closed()
            connection = self._idle.pop() if self._idle else None
        try:
            self._refuse_replaced()
            if connection is None:
                connection = self._open_reader()
                # It was opened by its name, which may have come to mean another file meanwhile.
                self._refuse_replaced()
        except BaseException:
            if connection is not None:
                connection.close()
            raise
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._pool_lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _open_reader(self) -> apsw.Connection:
        if self._view is None:
            return open_reader(self.path)
        if self._view.copy is not None:
            return open_reader(Path(self._view.copy.name) / self.path.name)
        return open_read_only(self.path).connection

    @property
    def given_up(self) -> str:
        """Why it answers no more, whatever stands in its file's place by now; "" while it does."""
        return "" if self._standing is None else self._standing.given_up

    def _refuse_replaced(self, *, log: bool = True) -> None:
        if self._standing is not None:
            self._standing.check(log=log)

    def _refuse_lost(self, connection: apsw.Connection) -> None:
        # After a full disk or an I/O error SQLite may undo everything; whoever caught that error in
        # an inner level must not go on: each further statement would be a transaction of its own.
        if not connection.in_transaction:
            raise StorageError(
                f"the transaction on {self.path} was undone as a whole by an earlier error",
                hint="nothing of it was kept; try again",
            )

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StorageError(f"{self.path} is closed")

    def _withdraw(self, writer: apsw.Connection) -> None:
        """Delete a file that was made and never written to: whoever comes later would call it damaged."""
        try:
            self._refuse_replaced()
            try:
                # Under the lock, for another program may be laying it out.
                writer.execute("BEGIN IMMEDIATE")
                empty = fetch.value(writer, "SELECT count(*) FROM sqlite_schema") == 0
            except apsw.Error:
                # Without room there is not even a lock; nor was there room for anybody else's tables.
                empty = holds_nothing(self.path)
            if empty:
                remove_files(self.path)
            if writer.in_transaction:
                writer.execute("ROLLBACK")
        except (apsw.Error, OSError, StorageError):
            return

    # -- end -------------------------------------------------------------------------------

    def close(self) -> None:
        """Close every connection that is not lent out; those close when they come back."""
        with self._pool_lock:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
        with self._lock:
            if self._writer is not None:
                if self._fresh:
                    self._withdraw(self._writer)
                self._writer.close()
                self._writer = None
            if self._turns is not None:
                self._turns.close()
        if self._view is not None and self._view.copy is not None:
            self._view.copy.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

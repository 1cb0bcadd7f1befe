"""Bringing a file to the newest schema, whole or not at all (contract workspace, "Schema").

Under one write lock: what is needed is decided, the file is copied, every pending step runs, what
follows from the steps is made, and the new schema is noted. Whatever goes wrong, the file is as it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

import apsw

from workbench.errors import WorkbenchError
from workbench.storage import fetch, migration_backup, schema
from workbench.storage.connection import ignore_strangers
from workbench.storage.errors import not_writable, opening, translated
from workbench.storage.history import History, Migration, MigrationError
from workbench.storage.migration_steps import Steps
from workbench.storage.old_journal import refuse_old_journal
from workbench.storage.turns import WriteTurns

LOCK_RETRIES = 5
LOCK_PAUSE = 0.05
"""Seconds before the first retry; each later pause is twice as long."""

_CACHE_KIB = 65536
_REFUSED = (apsw.SQLITE_TRANSACTION, apsw.SQLITE_SAVEPOINT, apsw.SQLITE_ATTACH, apsw.SQLITE_DETACH)
"""What a step may not do: it would leave the one transaction."""


class Followup(Protocol):
    """What a file needs beyond the numbered steps: tables that are made from its others."""

    def is_needed(self, connection: apsw.Connection) -> bool:
        """Whether there is anything to make in a file as it is now; raises `SchemaError`s."""
        ...

    def make(self, connection: apsw.Connection, steps: Steps) -> None:
        """Make it, inside the transaction in which the steps have run."""
        ...

    def check(self, connection: apsw.Connection) -> None:
        """Raise a `SchemaError` if the file is not what this release works with."""
        ...


class Upgraded(NamedTuple):
    """What was done to a file; nothing, where `backup` is None."""

    since: int
    """The schema before."""
    applied: tuple[Migration, ...]
    backup: Path | None


def upgrade(
    path: Path,
    history: History,
    followup: Followup,
    *,
    needs: Sequence[str],
    backups: Path,
    moment: datetime,
    steps: Steps,
) -> Upgraded:
    """Bring the file at `path` to the newest schema of `history`, after a copy into the folder `backups`.

    A file that is current by the time the write lock is held stays as it is, without a copy: of several
    programs that upgrade at once, one does. `needs` are the statements of tables that every schema has.
    `moment` is noted with the steps.

    Raises `DatabaseLocked` when the lock cannot be had, `MigrationCancelled`, `MigrationError` for a
    step that fails, `SchemaError`s for a file that cannot be brought there, `DiskFull`, `BackupFailed`,
    what `followup` raises, and the storage errors of reads and writes.
    """
    with _writing(path, steps) as connection:
        since = schema.stage(connection, path, needs, history)
        pending = history.after(since)
        if not pending and not followup.is_needed(connection):
            followup.check(connection)
            return Upgraded(since, (), None)
        new_folder = not migration_backup.is_there(backups)
        backup = migration_backup.make_backup(path, backups, since, history.version, moment, steps)
        try:
            _run(connection, pending, steps)
            with steps.interrupting(connection):
                followup.make(connection, steps)
            schema.note(
                connection, history, since, at=moment.astimezone(UTC).isoformat(timespec="microseconds")
            )
            followup.check(connection)
            if pending:
                _check_references(connection, steps)
            steps.refuse_cancelled()
            connection.execute("COMMIT")
        except BaseException as error:
            # Ctrl-C may come when the commit is done already; then the copy is wanted. SQLite's own
            # errors may have undone everything by themselves.
            undone = connection.in_transaction or isinstance(error, apsw.Error | WorkbenchError)
            # First the file: the copy must not go while the file may still be half changed.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if undone:
                migration_backup.remove(backup, folder_too=new_folder)
            raise
        return Upgraded(since, pending, backup)


@contextmanager
def _writing(path: Path, steps: Steps) -> Iterator[apsw.Connection]:
    """Lend a connection with an open write transaction; what is not committed is undone."""
    with opening(path):
        refuse_old_journal(path)
    with translated(path):
        # The file's way of being written stays as it is, for it may be refused yet.
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        turns = WriteTurns(path)
        try:
            folder = path.resolve().parent
            if connection.readonly("main") or not os.access(folder, os.W_OK | os.X_OK):
                raise not_writable(path)
            ignore_strangers(connection)
            connection.set_busy_handler(turns.busy)
            connection.execute("PRAGMA synchronous=FULL")
            # A step may lay out a table anew that others point to; they are checked before the commit.
            connection.execute("PRAGMA foreign_keys=OFF")
            connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}").fetchall()
            _begin(connection, turns, steps)
            try:
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        finally:
            turns.close()
            connection.close()


def _begin(connection: apsw.Connection, turns: WriteTurns, steps: Steps) -> None:
    pause = LOCK_PAUSE
    began = time.monotonic()

    def waiting(_: float) -> None:
        # Each try counts its own seconds.
        steps.wait(time.monotonic() - began)
        steps.refuse_cancelled()

    turns.on_wait = waiting
    for left in range(LOCK_RETRIES, -1, -1):
        steps.refuse_cancelled()
        try:
            turns.begin(connection)
            return
        except apsw.BusyError:
            if not left:
                raise
        time.sleep(pause)
        pause *= 2


def _run(connection: apsw.Connection, pending: Sequence[Migration], steps: Steps) -> None:
    scripts = [(migration, migration.statements()) for migration in pending]
    total = sum(len(statements) for _, statements in scripts)
    done = 0
    for migration, statements in scripts:
        for statement in statements:
            steps.step(done, total, "schema")
            steps.refuse_cancelled()
            with steps.interrupting(connection), _inside(connection):
                try:
                    connection.execute(statement).fetchall()
                except (apsw.SQLError, apsw.ConstraintError, apsw.AuthError, apsw.MismatchError) as error:
                    raise MigrationError(
                        f"migration {migration.version:04} {migration.name} failed: {error}",
                        hint="nothing was changed; keep the file and report this",
                    ) from error
            done += 1
    steps.step(done, total, "schema")


@contextmanager
def _inside(connection: apsw.Connection) -> Iterator[None]:
    """Refuse what would end the transaction or leave the file."""
    connection.authorizer = lambda operation, *_: (
        apsw.SQLITE_DENY if operation in _REFUSED else apsw.SQLITE_OK
    )
    try:
        yield
    finally:
        connection.authorizer = None


def _check_references(connection: apsw.Connection, steps: Steps) -> None:
    with steps.interrupting(connection):
        broken = fetch.row(connection, "SELECT * FROM pragma_foreign_key_check LIMIT 1")
    if broken is not None:
        raise MigrationError(
            f"the migrated table {broken[0]} would point to rows that are missing in {broken[2]}",
            hint="nothing was changed; see: workbench doctor",
        )

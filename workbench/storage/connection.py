"""How connections are opened: one policy for every SQLite connection of the program (DESIGN §4)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import apsw

from workbench.storage.errors import DatabaseMissing, opening, translated
from workbench.storage.turns import BUSY_TIMEOUT_MS

if TYPE_CHECKING:
    import tempfile

CACHE_KIB = 4096
WRITER_CACHE_KIB = 32768
"""The writer touches the end of a dozen trees in every transaction, and random places of two of them."""

CHECKPOINT_PAGES = 8000
"""Pages in the WAL before they are carried into the file: rarer than the default, since a batch of an
import writes the same hot pages again and again."""
Synchronous = Literal["FULL", "OFF"]


class ReadOnlyView(NamedTuple):
    """A file opened for reading only, and what that costs."""

    connection: apsw.Connection
    reason: str
    """Why changes by other programs are not seen; empty if they are."""
    copy: tempfile.TemporaryDirectory[str] | None
    """The folder of a private copy, where one had to be made; the holder cleans it up."""


def open_writer(path: Path, *, synchronous: Synchronous = "FULL") -> apsw.Connection:
    """The connection that writes: WAL, foreign keys, durable commits.

    The file is created with mode 0600 if it is missing. `synchronous="OFF"` is for measurements
    and for scratch databases: an acknowledged write may then be lost with the power.
    """
    with opening(path):
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = apsw.Connection(str(path), statementcachesize=256)
        _common(connection)
        # A pragma that answers with a row stops the rest of its statement: one at a time.
        _log_writes_ahead(connection)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(f"PRAGMA cache_size=-{WRITER_CACHE_KIB}").fetchall()
        connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}").fetchall()
        connection.execute("PRAGMA journal_size_limit=67108864").fetchall()
    return connection


def open_reader(path: Path) -> apsw.Connection:
    """A connection that only reads, beside a writer of this or another process."""
    with translated(path):
        connection = apsw.Connection(
            str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX, statementcachesize=256
        )
        _common(connection)
        connection.execute("PRAGMA query_only=ON")
    return connection


def open_read_only(path: Path) -> ReadOnlyView:
    """Open a file that must not, or cannot, be written (read-only media included).

    Plain READONLY first; where the medium forbids the shared-memory file, `immutable` if no
    writer left anything in the `-wal`, else a private copy of both files: `immutable` beside a
    filled WAL would show old data.
    """
    if not path.is_file():
        raise DatabaseMissing(f"there is no database at {path}", hint="make a workspace with: workbench init")
    with opening(path):
        try:
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=256)
            _common(connection)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return ReadOnlyView(connection, "", None)
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError):
            pass
        wal = path.with_name(path.name + "-wal")
        if not wal.exists() or wal.stat().st_size == 0:
            return ReadOnlyView(_open_immutable(path), "read-only medium: live refresh is off", None)
        # Here, not above: hardly any program start comes this way.
        import shutil
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="workbench-")
        copied = Path(folder.name) / path.name
        shutil.copyfile(path, copied)
        shutil.copyfile(wal, copied.with_name(wal.name))
        connection = apsw.Connection(str(copied), statementcachesize=256)
        _common(connection)
        connection.execute("PRAGMA query_only=ON")
        return ReadOnlyView(connection, "read-only medium: a copy from the time of opening is shown", folder)


def _log_writes_ahead(connection: apsw.Connection) -> None:
    # Two programs that make this change to a new file at once would wait for each other for ever, so
    # SQLite refuses one of them without waiting; by the next try the other has done it.
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").fetchall()
            return
        except apsw.BusyError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.002)


def _open_immutable(path: Path) -> apsw.Connection:
    uri = path.absolute().as_uri() + "?immutable=1"
    connection = apsw.Connection(
        uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, statementcachesize=256
    )
    _common(connection)
    return connection


def _common(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}").fetchall()
    connection.execute("PRAGMA temp_store=MEMORY").fetchall()

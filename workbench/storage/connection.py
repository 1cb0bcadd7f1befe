"""How connections are opened: one policy for every SQLite connection of the program (DESIGN §4)."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import apsw

from workbench.storage.errors import (
    DatabaseMissing,
    DatabaseReplaced,
    NotAWorkbenchDatabase,
    SchemaError,
    StorageError,
    has_no_room,
    not_writable,
    opening,
    translated,
)
from workbench.storage.old_journal import refuse_old_journal
from workbench.storage.stale_log import HEADER_BYTES, marks_of, read_header, refuse_stale_log
from workbench.storage.turns import BUSY_TIMEOUT_MS, OpeningPatience, told_of_waits

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


_TICK_NS = 50_000_000


class Standing:
    """Which file a database's connections hold, and whether it still stands at its name.

    A connection goes on with the file it opened when that is deleted or another one is put in its
    place, and so would write where nobody looks. The same goes for its write-ahead log. A look costs
    two `stat` calls; only where the file itself was written to (a checkpoint, or somebody who copied
    another file over it) its birth mark is read again. The log is looked at only where names in its
    folder changed: a file system that is asked for the times of a file has to keep them for each of the
    writes that follow, which costs a commit a tenth.
    """

    def __init__(self, path: Path, connection: apsw.Connection, *, wal: bool = True) -> None:
        """What stands at `path` now that `connection` is open; `wal` if its log must stay as well."""
        self._path = path
        self._file = str(path)
        real = self._real = path.resolve()
        self._wal = f"{real}-wal" if wal else None
        self._folder = str(real.parent)
        self._folder_state = (0, 0)
        self._lost: DatabaseReplaced | None = None
        self._wal_identity: tuple[int, int] | None = None
        with translated(path):
            self._birth = _birth(connection)
        try:
            now = os.stat(self._file)  # noqa: PTH116
        except OSError as error:
            raise self._gone() from error
        self._identity = (now.st_ino, now.st_dev)
        self._size, self._written = now.st_size, now.st_mtime_ns
        with opening(path):
            self._marks = marks_of(read_header(real, HEADER_BYTES))
        self.check()

    def check(self, *, log: bool = True) -> None:
        """Raise `DatabaseReplaced` if another file, another log or none stands there by now.

        Once raised it is raised for ever. Without `log` the file alone is looked at, for half the price.
        """
        if self._lost is not None:
            raise DatabaseReplaced(self._lost.message, hint=self._lost.hint)
        try:
            self._look(log)
        except DatabaseReplaced as error:
            self._lost = error
            raise

    def _look(self, log: bool) -> None:
        try:
            now = os.stat(self._file)  # noqa: PTH116
            if log and self._wal is not None:
                folder = os.stat(self._folder)  # noqa: PTH116
                if (folder.st_ino, folder.st_mtime_ns) != self._folder_state:
                    self._check_log(self._wal, folder)
        except FileNotFoundError as error:
            if error.filename != self._wal or self._wal_identity is not None:
                raise self._gone(error.filename) from error
        except OSError as error:
            raise self._gone(error.filename) from error
        if (now.st_ino, now.st_dev) != self._identity:
            raise self._swapped()
        if now.st_mtime_ns != self._written or now.st_size != self._size:
            self._look_inside(now)

    def _check_log(self, name: str, folder: os.stat_result) -> None:
        found = os.stat(name)  # noqa: PTH116
        if self._wal_identity is None:
            self._wal_identity = (found.st_ino, found.st_dev)
        elif self._wal_identity != (found.st_ino, found.st_dev):
            raise self._swapped("-wal")
        # Two changes within one tick of the clock look like one: what is still so young may change unseen.
        if time.time_ns() - folder.st_mtime_ns > _TICK_NS:
            self._folder_state = (folder.st_ino, folder.st_mtime_ns)

    @property
    def given_up(self) -> str:
        """What `check` found once, and therefore raises for ever; "" while all is well."""
        return "" if self._lost is None else self._lost.message

    def holds(self) -> bool:
        """Whether `check` raises nothing."""
        try:
            self.check()
        except StorageError:
            return False
        return True

    def _look_inside(self, now: os.stat_result) -> None:
        with opening(self._path):
            marks = marks_of(read_header(self._real, HEADER_BYTES))
        if now.st_size < self._size and not (
            # Only a vacuum makes the file smaller. Who else did it moved its pages, which others still know.
            marks.layouts > self._marks.layouts and marks.octets <= now.st_size
        ):
            raise self._cut(now.st_size)
        try:
            connection = open_reader(self._path)
            try:
                with translated(self._path):
                    birth = _birth(connection)
            finally:
                connection.close()
        except SchemaError as error:
            # The log still speaks of the pages that were there before.
            raise self._swapped() from error
        if self._birth not in (None, birth):
            raise self._swapped()
        self._birth, self._size, self._written = birth, now.st_size, now.st_mtime_ns
        self._marks = marks

    def _swapped(self, suffix: str = "") -> DatabaseReplaced:
        return DatabaseReplaced(
            f"another file was put in the place of {self._path}{suffix} while it was open",
            hint="see which of the two is right, move the -wal of the other away, then open it again; "
            "what was not acknowledged since then is not in it",
        )

    def _cut(self, size: int) -> DatabaseReplaced:
        return DatabaseReplaced(
            f"{self._path} was cut from {self._size:,} to {size:,} bytes, or a smaller file copied over it, "
            "while it was open",
            hint="restore it from a backup and move its -wal away, then open it again; "
            "what was not acknowledged since then is not in it",
        )

    def _gone(self, name: str | None = None) -> DatabaseReplaced:
        return DatabaseReplaced(
            f"{name or self._path} was moved or deleted while it was open",
            hint="put it back and open it again; what was not acknowledged since then is not in it",
        )


def _birth(connection: apsw.Connection) -> object:
    """When and as what a file was laid out, which no two share but copies; None before that."""
    try:
        return connection.execute(
            "SELECT CAST(applied_at AS BLOB) FROM schema_migrations ORDER BY version LIMIT 1"
        ).fetchone()
    except apsw.SQLError:
        return None


def open_writer(path: Path, *, synchronous: Synchronous = "FULL") -> apsw.Connection:
    """The connection that writes: WAL, foreign keys, durable commits.

    The file is created with mode 0600 if it is missing. `synchronous="OFF"` is for measurements
    and for scratch databases: an acknowledged write may then be lost with the power.

    Raises `DatabaseReadOnly` where the file or its folder cannot be written, `DiskFull`,
    `NotAWorkbenchDatabase` for what is no file, `DatabaseLocked`, `StorageError`.
    """
    with opening(path):
        made = not path.exists()
        if made:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        elif not path.is_file():
            # Opening a pipe would wait for whoever is at its other end.
            raise NotAWorkbenchDatabase(f"{path} is no file", hint="name another workspace with --root")
        else:
            refuse_old_journal(path)
            refuse_stale_log(path)
        connection: apsw.Connection | None = None
        try:
            connection = apsw.Connection(str(path), statementcachesize=256)
            if connection.readonly("main"):
                raise not_writable(path)
            _prepare_writer(connection, synchronous)
        except BaseException as error:
            if connection is not None:
                connection.close()
            if made and isinstance(error, apsw.Error) and has_no_room(path) and holds_nothing(path):
                # Left empty it would be taken for one that was damaged.
                remove_files(path)
            if isinstance(error, apsw.CantOpenError | apsw.IOError) and not _may_write(path):
                raise not_writable(path) from error
            raise
    return connection


_PAGE_BYTES = 4096


def holds_nothing(path: Path) -> bool:
    """Whether no more than the head of a file was ever written, and nothing to its log: no tables."""
    file, log, _ = _files(path)
    return file.stat().st_size <= _PAGE_BYTES and (not log.exists() or log.stat().st_size == 0)


def remove_files(path: Path) -> None:
    """Delete a database with its log and the log's index."""
    for file in _files(path):
        file.unlink(missing_ok=True)


def _files(path: Path) -> tuple[Path, Path, Path]:
    return path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def _prepare_writer(connection: apsw.Connection, synchronous: Synchronous) -> None:
    _common(connection)
    # A pragma that answers with a row stops the rest of its statement: one at a time.
    _log_writes_ahead(connection)
    connection.execute(f"PRAGMA synchronous={synchronous}")
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(f"PRAGMA cache_size=-{WRITER_CACHE_KIB}").fetchall()
    connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}").fetchall()
    connection.execute("PRAGMA journal_size_limit=67108864").fetchall()


def _may_write(path: Path) -> bool:
    real = path.resolve()
    return os.access(real, os.W_OK) and os.access(real.parent, os.W_OK)


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
        refuse_old_journal(path)
        refuse_stale_log(path)
        connection: apsw.Connection | None = None
        try:
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=256)
            _common(connection)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            return ReadOnlyView(connection, "", None)
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.IOError, apsw.FullError):
            if connection is not None:
                connection.close()
            if _may_write(path) and not has_no_room(path):
                raise
        cause = "full" if _may_write(path) else "read-only"
        wal = path.resolve().with_name(path.resolve().name + "-wal")
        if not wal.exists() or wal.stat().st_size == 0:
            return ReadOnlyView(open_immutable(path), f"{cause} medium: live refresh is off", None)
        connection, folder = _open_copy(path, wal)
        return ReadOnlyView(connection, f"{cause} medium: a copy from the time of opening is shown", folder)


_COPIES = 5


def _open_copy(path: Path, wal: Path) -> tuple[apsw.Connection, tempfile.TemporaryDirectory[str]]:
    """A private copy of a file and its log, both of the same moment."""
    # Here, not above: hardly any program start comes this way.
    import shutil
    import tempfile

    folder = tempfile.TemporaryDirectory(prefix="workbench-")
    try:
        copied = Path(folder.name) / path.name
        for _ in range(_COPIES):
            # Whoever may write after all could carry the log into the file between the two.
            before = _state(path), _state(wal)
            shutil.copyfile(path, copied)
            shutil.copyfile(wal, copied.with_name(f"{path.name}-wal"))
            if (_state(path), _state(wal)) == before:
                break
        else:
            raise StorageError(
                f"{path} changes while it is copied for reading", hint="try again when it is written less"
            )
        connection = apsw.Connection(str(copied), statementcachesize=256)
        _common(connection)
        connection.execute("PRAGMA query_only=ON")
    except BaseException:
        folder.cleanup()
        raise
    return connection, folder


def _state(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


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


def open_immutable(path: Path) -> apsw.Connection:
    """A connection that reads the file alone and takes no lock: right only where nobody writes to it."""
    uri = path.absolute().as_uri() + "?immutable=1"
    connection = apsw.Connection(
        uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, statementcachesize=256
    )
    _common(connection)
    return connection


def ignore_strangers(connection: apsw.Connection) -> None:
    """Keep triggers and views from acting: we lay out neither, and whoever put one into the file must not
    change what we write or read."""
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)


def _common(connection: apsw.Connection) -> None:
    ignore_strangers(connection)
    told = told_of_waits.get()
    if told is None:
        connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    else:
        connection.set_busy_handler(OpeningPatience(told).busy)
    connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}").fetchall()
    connection.execute("PRAGMA temp_store=MEMORY").fetchall()

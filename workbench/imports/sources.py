"""How far each transcript file has been read: the table `import_sources`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import apsw

from workbench.log.ports import Redactor
from workbench.storage import fetch

TABLES = (
    # Where each file was read up to: no fold, since it says something of files, not of events.
    "CREATE TABLE import_sources("
    "path TEXT PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, "
    "offset INTEGER NOT NULL, state TEXT NOT NULL, "
    "imported_at INTEGER NOT NULL) STRICT",
)


UNFINISHED = -1


class Source(NamedTuple):
    """A file at the end of its last import."""

    size: int
    mtime_ns: int
    """`UNFINISHED` if the import stopped before the file's end."""
    offset: int
    state: str
    """The reader's state, as JSON."""


def known_source(connection: apsw.Connection, kind: str, path: Path, redactor: Redactor) -> Source | None:
    """What is known of a file that was read as `kind`, or None. Of a path that holds a secret nothing ever
    is."""
    key = _key(path, redactor)
    if key is None:
        return None
    row = fetch.row(
        connection,
        "SELECT size, mtime_ns, offset, state FROM import_sources WHERE path = ? AND kind = ?",
        (key, kind),
    )
    return None if row is None else Source(*row)


def save_source(
    connection: apsw.Connection, path: Path, kind: str, source: Source, imported_at: int, redactor: Redactor
) -> None:
    """Note how far a file was read, inside the transaction that keeps what was read.

    Nothing is noted of a file whose path holds a secret, so it is read anew each time; the state must
    hold no secret.
    """
    key = _key(path, redactor)
    if key is None:
        return
    connection.execute(
        "INSERT INTO import_sources(path, kind, size, mtime_ns, offset, state, imported_at) "
        "VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(path) DO UPDATE SET kind = excluded.kind, "
        "size = excluded.size, mtime_ns = excluded.mtime_ns, offset = excluded.offset, "
        "state = excluded.state, imported_at = excluded.imported_at",
        (key, kind, *source, imported_at),
    )


def stored_path(path: Path) -> str:
    """A path as text; bytes that are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def _key(path: Path, redactor: Redactor) -> str | None:
    """The path as the table holds it, its bytes that are no UTF-8 escaped; None if it holds a secret."""
    text = os.fsencode(path).decode("utf-8", "backslashreplace")
    return None if redactor.redact_text(text)[1] else text

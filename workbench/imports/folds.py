"""Which record of a transcript entered the log, and where (contract transcripts, "Transactions")."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
from msgspec import UNSET

from workbench.log.folds import FoldEvent
from workbench.sessions.events import ACTUM, UNIT_CLOSED

PREFIXES = ("claude-code:", "codex:")
"""Beginnings of the keys that importers give; other keys are their callers' own."""


class ImportedRecordsFold:
    """The fold `imported_records`: a record enters once, across sessions and across importers."""

    name = "imported_records"
    version = 1
    tables = ("imported_records",)
    schema = (
        "CREATE TABLE imported_records("
        "source_key TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    )
    types: frozenset[str] | None = frozenset({ACTUM.type, UNIT_CLOSED.type})
    at_commit = False

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Note the keys of imported acta and units; the first event with a key stands."""
        for event in events:
            payload = event.payload
            key = payload.idempotency_key if event.event_type.type == ACTUM.type else payload.source_key
            if key is not UNSET and key.startswith(PREFIXES):
                connection.execute(
                    "INSERT OR IGNORE INTO imported_records VALUES(?, ?)", (key, event.position)
                )


FOLDS = (ImportedRecordsFold(),)

TABLES = (
    # Where each file was read up to: no fold, since it says something of files, not of events.
    "CREATE TABLE import_sources("
    "path TEXT PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, "
    "offset INTEGER NOT NULL, digest BLOB NOT NULL, state TEXT NOT NULL, "
    "imported_at INTEGER NOT NULL) STRICT",
)

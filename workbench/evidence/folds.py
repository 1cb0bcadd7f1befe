"""Which artifacts were purged (DESIGN §2 "Inline folds")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from workbench.evidence.events import PURGED
from workbench.log.folds import FoldEvent


class PurgedArtifactsFold:
    """The fold `purged_artifacts`: by digest the position of its last purge.

    The bytes may have been kept again since: what names a digest behind that position expects them.
    """

    name = "purged_artifacts"
    version = 1
    tables = ("purged_artifacts",)
    schema = (
        "CREATE TABLE purged_artifacts("
        "sha256 TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    )
    types: frozenset[str] | None = frozenset({PURGED.type})
    at_commit = False

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Fold purges in order."""
        connection.executemany(
            "INSERT INTO purged_artifacts VALUES(?, ?) "
            "ON CONFLICT(sha256) DO UPDATE SET position = excluded.position",
            [(event.payload.sha256, event.position) for event in events],
        )


FOLDS: tuple[Any, ...] = (PurgedArtifactsFold(),)

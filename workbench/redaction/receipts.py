"""What the filter took out of which event: the projection behind every list of redactions (DESIGN §2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import apsw
from msgspec import UNSET

from workbench.log.folds import FoldEvent
from workbench.redaction.events import RedactionApplied

_Row = tuple[int, int, int, int, str, str, int, str]


class RedactionsFold:
    """The fold `redactions`: the receipts in each payload, and what later scrubs say of earlier events.

    `noted` is the position of the event that says so, `position` that of the event which held the secret:
    the same one, unless a scrub found it later; 0 for what was no event.
    """

    name = "redactions"
    version = 1
    tables = ("redactions",)
    schema = (
        "CREATE TABLE redactions("
        "noted INTEGER NOT NULL, ordinal INTEGER NOT NULL, position INTEGER NOT NULL, "
        "recorded_at INTEGER NOT NULL, kind TEXT NOT NULL, field TEXT NOT NULL, count INTEGER NOT NULL, "
        "filter_version TEXT NOT NULL, PRIMARY KEY(noted, ordinal)) STRICT, WITHOUT ROWID",
        "CREATE INDEX redactions_by_kind ON redactions(kind, noted, ordinal)",
        "CREATE INDEX redactions_by_position ON redactions(position)",
    )
    types: frozenset[str] | None = None
    at_commit = True

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Add a row for each receipt of the events."""
        rows = [row for event in events for row in _rows(event)]
        if rows:
            connection.executemany("INSERT INTO redactions VALUES(?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _rows(event: FoldEvent) -> Iterator[_Row]:
    payload = event.payload
    ordinal = 0
    if type(payload) is RedactionApplied:
        position = 0 if payload.position is UNSET else payload.position
        yield (
            event.position,
            ordinal,
            position,
            event.recorded_at,
            payload.kind,
            payload.field,
            payload.count,
            payload.filter_version,
        )
        ordinal += 1
    if payload.redactions is UNSET:
        return
    for removed in payload.redactions:
        yield (
            event.position,
            ordinal,
            event.position,
            event.recorded_at,
            removed.kind,
            removed.field,
            removed.count,
            removed.filter_version,
        )
        ordinal += 1


FOLDS = (RedactionsFold(),)

"""`workbench status`: one look at a workspace."""

from __future__ import annotations

import os
from typing import Any

from workbench.log.times import from_micros, to_text
from workbench.workspace.layout import Layout
from workbench.workspace.manifest import Manifest
from workbench.workspace.migrations import SCHEMA_VERSION

Totals = tuple[int, int, int, int | None]
"""Events, sessions, acta, and the last `recorded_at` in microseconds."""


def can_be_written(layout: Layout) -> bool:
    """Whether this user may write the workspace; of one that is not there yet, whether it may be made."""
    place = layout.root
    if layout.database.exists():
        # SQLite keeps its journal beside the file, so the folder counts too.
        return os.access(layout.database, os.W_OK) and os.access(place, os.W_OK | os.X_OK)
    while not place.exists() and place != place.parent:
        place = place.parent
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)


def summary(layout: Layout, manifest: Manifest, totals: Totals, *, read_only: bool) -> dict[str, Any]:
    """Root, schema and counts, ready to be written as JSON.

    Keys: root, title, timezone, owner, db_path, exists, schema {current_version, target_version,
    pending, unknown}, summary {events, sessions, acta, last_recorded_at}, read_only, message; to the summary
    `chronicle.closing.overview` is added.
    `read_only` is whether it was opened so; whether it could be written, `can_be_written` tells.
    """
    events, sessions, acta, last = totals
    return {
        "root": str(layout.root),
        "title": manifest.title,
        "timezone": manifest.timezone,
        "owner": manifest.owner,
        "db_path": str(layout.database),
        "exists": True,
        "schema": {
            "current_version": SCHEMA_VERSION,
            "target_version": SCHEMA_VERSION,
            "pending": [],
            "unknown": [],
        },
        "summary": {
            "events": events,
            "sessions": sessions,
            "acta": acta,
            "last_recorded_at": None if last is None else to_text(from_micros(last)),
        },
        "read_only": read_only,
        "message": "the schema is current",
    }

"""`workbench status`: one look at a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.log.times import from_micros, to_text
from workbench.storage.schema import SCHEMA_VERSION

if TYPE_CHECKING:
    from workbench.workspace.workspace import Workspace


def summary(workspace: Workspace) -> dict[str, Any]:
    """Root, schema and counts, ready to be written as JSON.

    Keys: root, title, timezone, owner, db_path, exists, schema {current_version, target_version,
    pending, unknown}, summary {events, sessions, acta, last_recorded_at}, read_only, message.
    """
    events, sessions, acta, last = workspace.readers.totals()
    return {
        "root": str(workspace.root),
        "title": workspace.title,
        "timezone": workspace.timezone,
        "owner": workspace.owner,
        "db_path": str(workspace.layout.database),
        "exists": True,
        "schema": {
            "current_version": workspace.schema_version,
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
        "read_only": workspace.read_only,
        "message": "the schema is current",
    }

"""Rows and acta as the JSON objects that scripts rely on (contract surfaces, "JSON keys")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.log.times import to_text

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.sessions.model import Actum
    from workbench.workspace.rows import ActumRow, EventRow, SessionRow


def session(row: SessionRow) -> dict[str, Any]:
    """A session of `sessions list`; `forked_from` is another one's id, or null."""
    return {
        "id": row.id,
        "owner_id": row.owner_id,
        "started_at": to_text(row.started_at),
        "last_activity_at": to_text(row.last_activity_at),
        "first_at": to_text(row.first_at),
        "last_at": to_text(row.last_at),
        "acta": row.acta,
        "by_kind": row.by_kind,
        "actors": row.actors,
        "source": row.source,
        "title": row.title,
        "forked_from": row.forked_from or None,
    }


def actum(found: Actum) -> dict[str, Any]:
    """An actum as `get_acta` gives it."""
    return {
        "id": found.id,
        "chronicum_id": found.chronicum_id,
        "kind": str(found.kind),
        "actor_kind": str(found.actor_kind),
        "actor": found.actor,
        "content": found.content,
        "at": _time(found.at),
        "metadata": found.metadata,
    }


def entry(row: ActumRow) -> dict[str, Any]:
    """An actum of `sessions show`: the same, and where it stands."""
    return {
        "id": row.id,
        "chronicum_id": row.chronicum_id,
        "kind": row.kind,
        "actor_kind": row.actor_kind,
        "actor": row.actor,
        "content": row.content,
        "at": to_text(row.at),
        "metadata": row.metadata,
        "position": row.position,
        "seq": row.seq,
        "occurred_at": _time(row.occurred_at),
        "private": row.private,
    }


def event(row: EventRow) -> dict[str, Any]:
    """An event of `timeline`."""
    return {
        "position": row.position,
        "stream": row.stream,
        "seq": row.seq,
        "type": row.type,
        "recorded_at": to_text(row.recorded_at),
        "occurred_at": _time(row.occurred_at),
        "actor": row.actor,
        "payload": row.payload,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else to_text(moment)

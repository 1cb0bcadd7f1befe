"""Reviews as readers show them (contract memory, "Reviews"): the latest of a target or line counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.identity.scopes import Scope
from workbench.memory.events import CheckpointRecorded, ReviewItem, ReviewRecorded
from workbench.memory.observations import given
from workbench.memory.snapshot import Snapshot, id_bytes, id_text, instant
from workbench.memory.views import Review
from workbench.storage import fetch

ACCEPTED, QUESTIONED, REJECTED = "accepted", "questioned", "rejected"


def dispute(snapshot: Snapshot, fact_id: str) -> Review | None:
    """The latest review of a fact, if it rejects the fact."""
    if not snapshot.reviewed:
        return None
    where = "target_id = :target AND item = '' AND target_kind = 'fact'"
    found = seen(snapshot, where, {"target": fact_id}, 1, snapshot.last + 1)
    if not found:
        return None
    latest = review(snapshot, found[0])
    return latest if latest.verdict == REJECTED else None


def of_targets(snapshot: Snapshot, target_ids: Sequence[str]) -> Review | None:
    """The latest review of any of these targets or of a line of them."""
    if not snapshot.reviewed:
        return None
    found = [_latest(snapshot, target) for target in dict.fromkeys(target_ids)]
    latest = max((position for position in found if position is not None), default=None)
    return None if latest is None else review(snapshot, latest)


def _latest(snapshot: Snapshot, target_id: str) -> int | None:
    """The position of the latest review of a target or a line of it that may be seen."""
    sql = "SELECT max(position) FROM reviews WHERE target_id = :target AND position <= :upto"
    latest: int | None = snapshot.value(sql, target=target_id)
    if latest is None or snapshot.raw or not snapshot.event(latest).private:
        return latest
    # What is said in private about something public no writer of ours gives; the others are sorted for it.
    earlier = seen(snapshot, "target_id = :target", {"target": target_id}, 1, latest)
    return earlier[0] if earlier else None


def doubts(snapshot: Snapshot, target_ids: Sequence[str]) -> dict[str, str]:
    """What is questioned or rejected of targets: verdicts by `list:index`, empty for the whole."""
    sql = (
        "SELECT position, item, verdict FROM reviews WHERE target_id = :target AND position <= :upto "
        f"AND {snapshot.stands('reviews')} AND verdict <> 'accepted'"
    )
    rows = sorted(row for target in dict.fromkeys(target_ids) for row in snapshot.rows(sql, target=target))
    return {
        item: verdict
        for position, item, verdict in rows
        if snapshot.raw or not snapshot.event(position).private
    }


def unresolved(snapshot: Snapshot, scope: Scope, after: int) -> list[Review]:
    """All reviews in a task that question or reject, count, and stand behind position `after`; newest first.

    `after` is the position of the task's current checkpoint: a review that a checkpoint followed is resolved.
    """
    sql = (
        "SELECT position, target_kind, target_id FROM reviews "
        "WHERE project_key = :project AND task_key = :task AND domain_key = :domain AND position > :after "
        f"AND position <= :upto AND {snapshot.stands('reviews')} AND verdict <> 'accepted' "
        "ORDER BY position DESC"
    )
    rows = [
        row
        for domain in scope.domain_forms
        for project in scope.project_forms
        for row in snapshot.rows(sql, project=project, task=scope.task_key, domain=domain, after=after)
    ]
    return [review(snapshot, row[0]) for row in _seen(snapshot, rows)]


def _seen(snapshot: Snapshot, rows: list[fetch.Row]) -> list[fetch.Row]:
    """Of (position, kind, id) those whose target may be seen, newest first."""
    found = sorted(rows, key=lambda row: -row[0])
    if snapshot.raw:
        return found
    return [
        row
        for row in found
        if not snapshot.event(row[0]).private and may_see_target(snapshot, row[1], row[2])
    ]


def may_see_target(snapshot: Snapshot, kind: str, target_id: str) -> bool:
    """Whether what a review is about may be seen; what this log does not hold hides nothing."""
    if snapshot.raw or kind == "section":
        return True
    stored = id_bytes(target_id)
    if stored is None:
        return True
    # Whatever kind it is said to be of.
    if snapshot.value("SELECT private FROM events WHERE event_id = :id", id=stored):
        return False
    if kind == "fact":
        sql = "SELECT private = 0 FROM facts WHERE fact_id = :id"
    elif kind == "checkpoint":
        sql = f"SELECT {snapshot.handed_off()} FROM checkpoints WHERE event_id = :id"
        if snapshot.row("SELECT 1 FROM checkpoints WHERE event_id = :id", id=stored) is None:
            sql = f"SELECT {snapshot.observed()} FROM observations WHERE event_id = :id"
    else:
        sql = f"SELECT {snapshot.observed()} FROM observations WHERE event_id = :id"
    found = snapshot.value(sql, id=stored)
    return True if found is None else bool(found)


def review(snapshot: Snapshot, position: int) -> Review:
    """The review recorded at a position."""
    event = snapshot.event(position)
    said: ReviewRecorded = event.payload
    ended = snapshot.value("SELECT to_position FROM reviews WHERE position = :position", position=position)
    item = given(said.item)
    return Review(
        id=id_text(event.event_id),
        position=position,
        target_kind=said.target_kind,
        target_id=said.target_id,
        item=item,
        line=None if item is None else _line(snapshot, said.target_id, item),
        verdict=said.verdict,
        comment=said.comment,
        reviewer=said.reviewer,
        recorded_at=instant(event.recorded_at),
        current=not snapshot.ended(ended),
        prose_sha256=given(said.prose_sha256),
    )


def _line(snapshot: Snapshot, target_id: str, item: ReviewItem) -> str | None:
    """The line of a checkpoint that a review names, if the log holds it."""
    stored = id_bytes(target_id)
    if stored is None:
        return None
    position = snapshot.value("SELECT position FROM checkpoints WHERE event_id = :id", id=stored)
    if position is None:
        position = snapshot.value(
            "SELECT checkpoint_position FROM observations WHERE event_id = :id", id=stored
        )
    if position is None or position > snapshot.last:
        return None
    said: CheckpointRecorded = snapshot.event(position).payload
    lists = {
        "completed": said.completed,
        "verification": said.verification,
        "open_questions": said.open_questions,
        "next_steps": said.next_steps,
    }
    lines = lists.get(item.list, [])
    return lines[item.index] if 0 <= item.index < len(lines) else None


def listed(
    snapshot: Snapshot,
    *,
    target_id: str | None,
    projects: Sequence[str] | None,
    task_key: str,
    limit: int,
    below: int,
) -> list[int]:
    """Positions of reviews, newest first: of a target, of a task or a project, or all of them."""
    if target_id is not None:
        runs: list[tuple[str, dict[str, str]]] = [("target_id = :target", {"target": target_id})]
    elif projects is None:
        runs = [("1", {})]
    elif task_key:
        runs = [
            ("project_key = :project AND task_key = :task", {"project": project, "task": task_key})
            for project in projects
        ]
    else:
        runs = [("project_key = :project", {"project": project}) for project in projects]
    found = [position for where, keys in runs for position in seen(snapshot, where, keys, limit, below)]
    return sorted(found, reverse=True)[:limit]


def seen(snapshot: Snapshot, where: str, keys: Mapping[str, str], limit: int, below: int) -> list[int]:
    """Positions of the newest reviews before one that fulfil a condition and may be seen."""
    found: list[int] = []
    while len(found) < limit:
        rows = snapshot.rows(
            f"SELECT position, target_kind, target_id FROM reviews WHERE {where} AND position < :below "
            "AND position <= :upto ORDER BY position DESC LIMIT :limit",
            below=below,
            limit=limit,
            **keys,
        )
        found += [row[0] for row in _seen(snapshot, rows)]
        if len(rows) < limit:
            break
        below = rows[-1][0]
    return found[:limit]

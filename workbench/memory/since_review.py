"""What came into a task after its last review (contract memory, "Since last review")."""

from __future__ import annotations

from msgspec import UNSET

from workbench.identity.scopes import Scope
from workbench.memory import facts, reviews
from workbench.memory.observations import evidence, observations
from workbench.memory.snapshot import Snapshot, id_bytes, id_text
from workbench.memory.spans import Span, newest
from workbench.memory.targets import CHECKPOINT
from workbench.memory.views import EvidenceOf, FactChange, RemovedFrom, SinceReview
from workbench.storage import fetch

_MOST_BETWEEN = 20
"""Checkpoints between a review and what it judged that are looked at."""


def since_review(snapshot: Snapshot, scope: Scope, domains: tuple[str, ...], limit: int) -> SinceReview:
    """The first `limit` observations of a task behind its last review, and what they brought.

    Where the review judged a checkpoint while a newer one, that nobody judged, stood already, what lies
    behind the judged one counts too: the person had not seen it.
    """
    assert scope.project is not None
    span = Span(domains, scope.project_forms, (scope.task_key,))
    review = _last_review(snapshot, span)
    last = judged_up_to(snapshot, span, review)
    found = newest(snapshot, span, "observations", snapshot.observed(), limit + 1, above=last, ascending=True)
    positions = found[:limit]
    end = positions[-1] if len(found) > limit else snapshot.last
    asserted = newest(
        snapshot,
        span,
        "facts INDEXED BY facts_in_time",
        snapshot.asserted(),
        limit,
        above=last,
        below=end + 1,
        ascending=True,
    )
    return SinceReview(
        project=scope.project,
        task_id=scope.task_id or "",
        review=reviews.review(snapshot, review) if review else None,
        from_position=last,
        to_position=snapshot.last,
        observations=observations(snapshot, positions),
        has_more=len(found) > limit,
        facts=[fact_change(snapshot, position) for position in asserted],
        redactions=_removed(snapshot, positions),
        evidence=[
            EvidenceOf(observation_id=id_text(event.event_id), evidence=item)
            for event in map(snapshot.event, positions)
            for item in evidence(snapshot, event.payload)
        ],
    )


def _last_review(snapshot: Snapshot, span: Span) -> int:
    """The position of the latest review of anything in a task that may be seen; 0 without one."""
    found = [reviews.seen(snapshot, where, keys, 1, snapshot.last + 1) for where, keys in span.runs()]
    return max((position for run in found for position in run), default=0)


def judged_up_to(snapshot: Snapshot, span: Span, review: int) -> int:
    """Up to which position the person who gave a review had seen a task: the review's own as a rule.

    It is that of the judged checkpoint, with the fact of the same entry, where a checkpoint of the task that
    has no review of its own came between the two. `review` is a position, or 0 for none.
    """
    if not review:
        return 0
    said = reviews.review(snapshot, review)
    judged: int | None = None
    if said.target_kind == CHECKPOINT:
        judged = snapshot.value(
            "SELECT max(c.position, coalesce(o.fact_position, 0)) FROM checkpoints c "
            "JOIN observations o ON o.position = c.observation WHERE c.event_id = :id",
            id=id_bytes(said.target_id),
        )
    if judged is None or judged >= review:
        return review
    between = newest(
        snapshot, span, "checkpoints", snapshot.handed_off(), _MOST_BETWEEN, above=judged, below=review
    )
    unseen = any(
        reviews.of_targets(snapshot, [id_text(snapshot.event(at).event_id)]) is None for at in between
    )
    return judged if unseen else review


def fact_change(snapshot: Snapshot, position: int) -> FactChange:
    """The fact at a position, what it ended, and whether it is still current."""
    ended = snapshot.value("SELECT to_position FROM facts WHERE position = :at", at=position)
    replaced = snapshot.rows(
        f"SELECT fact_id FROM facts WHERE replaced_by = :at AND {snapshot.asserted()} ORDER BY position",
        at=position,
    )
    return FactChange(
        fact=facts.fact(snapshot, position),
        replaced=[id_text(fact_id) for (fact_id,) in replaced],
        current=not snapshot.ended(ended),
    )


def _removed(snapshot: Snapshot, positions: list[int]) -> list[RemovedFrom]:
    """What the filter took out of observations, their facts and their checkpoints."""
    found: list[RemovedFrom] = []
    for position in positions:
        for at in (position, *_caused(snapshot, position)):
            event = snapshot.event(at)
            removals = event.payload.redactions
            if removals is not UNSET and (snapshot.raw or not event.private):
                found += [
                    RemovedFrom(position=at, type=event.event_type.type, removed=removed)
                    for removed in removals
                ]
    return found


def _caused(snapshot: Snapshot, position: int) -> list[int]:
    """Positions of the checkpoint and the fact that an observation carries."""
    row: fetch.Row | None = snapshot.row(
        "SELECT checkpoint_position, fact_position FROM observations WHERE position = :position",
        position=position,
    )
    assert row is not None
    # A fact that it only confirms stands before it.
    return [each for each in row if each is not None and position < each <= snapshot.last]

"""What was known at a position, and what happened around a moment (contract memory, "As of", "timeline")."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo
from itertools import islice

from msgspec import UNSET

from workbench.identity.scopes import Scope
from workbench.log.times import to_micros, to_text
from workbench.memory import facts, observations, reviews, tasks
from workbench.memory.events import FactAsserted, ObservationRecorded, VisibilityChanged
from workbench.memory.snapshot import Snapshot, id_text, instant
from workbench.memory.spans import Span
from workbench.memory.startup import contract
from workbench.memory.views import AsOf, PastFact, Quarantined, Timeline, TimelineEvent
from workbench.storage import fetch

_MICROSECONDS = 1_000_000
FACTS = 50


def as_of(
    snapshot: Snapshot, scope: Scope, span: Span, facts_span: Span, domain: str | None, limit: int
) -> AsOf:
    """What a snapshot of the past shows of a scope; up to `limit` of each kind, newest first."""
    found = facts.current(snapshot, facts_span, limit + 1)
    at = snapshot.recorded_at(snapshot.last)
    handed_off = tasks.current_checkpoint(snapshot, scope) if scope.task_key else None
    checkpoint = None if handed_off is None else observations.carrier(snapshot, handed_off)
    reviewed = reviews.listed(
        snapshot,
        target_id=None,
        projects=scope.project_forms if scope.project is not None else None,
        task_key=scope.task_key,
        limit=limit,
        below=snapshot.last + 1,
    )
    every = tasks.named_task(snapshot, scope) if scope.task_key else tasks.open_tasks(snapshot, span)
    open_tasks = list(islice(every, limit))
    snapshot.read_ahead(each.checkpoint for each in open_tasks)
    return AsOf(
        position=snapshot.last,
        recorded_at=None if at is None else instant(at),
        domain=domain,
        project=scope.project,
        task_id=scope.task_id,
        facts=facts.facts(snapshot, found[:limit]),
        facts_has_more=len(found) > limit,
        tasks=[tasks.listed(snapshot, each) for each in open_tasks],
        checkpoint=checkpoint,
        reviews=[reviews.review(snapshot, each) for each in reviewed],
        unresolved_reviews=reviews.unresolved(snapshot, scope, handed_off or 0) if scope.task_key else UNSET,
        quarantine=quarantine(snapshot, span, limit) if snapshot.raw else [],
        recent_events=observations.memory_events(snapshot, observations.recent(snapshot, span, limit)),
        names="today",
    )


def quarantine(snapshot: Snapshot, span: Span, limit: int) -> list[Quarantined]:
    """What is quarantined in a span, newest first; for a person only."""
    sql = (
        "SELECT q.target, q.from_position FROM quarantines q "
        "CROSS JOIN observations o ON o.position = q.target "
        f"WHERE q.from_position <= :upto AND {snapshot.stands('q')} AND o.{{where}} "
        "ORDER BY q.target DESC LIMIT :limit"
    )
    rows: list[fetch.Row] = []
    for where, keys in span.runs():
        rows += snapshot.rows(sql.format(where=where.replace(" AND ", " AND o.")), limit=limit, **keys)
    found = sorted(rows, key=lambda row: -row[0])[:limit]
    return [_quarantined(snapshot, target, since) for target, since in found]


def _quarantined(snapshot: Snapshot, target: int, since: int) -> Quarantined:
    said = snapshot.event(since).payload
    by, reason = None, None
    if isinstance(said, VisibilityChanged):
        by, reason = said.by, said.reason
    elif isinstance(said, ObservationRecorded):
        guard = observations.given(said.memory_guard)
        reason = None if guard is None else ", ".join(guard.reasons)
    return Quarantined(
        observation=observations.observation(snapshot, target), since=since, by=by, reason=reason
    )


# -- around a moment -----------------------------------------------------------------------

_HAPPENED = "coalesce(e.occurred_at, e.recorded_at)"


def timeline(
    snapshot: Snapshot,
    span: Span,
    domain: str | None,
    at: datetime,
    window: timedelta,
    limit: int,
    zone: tzinfo,
) -> Timeline:
    """The `limit` memory events nearest to `at`; in a snapshot of the past only those before it."""
    centre, reach = to_micros(at), window // timedelta(microseconds=1)
    sides = [_side(snapshot, span, centre - reach, centre, limit + 1, back=True)]
    if not snapshot.past:
        sides.append(_side(snapshot, span, centre + 1, centre + reach, limit + 1, back=False))
    rows = sorted((row for side in sides for row in side), key=lambda row: (abs(row[1] - centre), row[0]))
    near = sorted(rows[:limit], key=lambda row: (row[1], row[0]))
    return Timeline(
        target_utc=to_text(at),
        target_local=at.astimezone(zone).isoformat(timespec="microseconds"),
        domain=domain,
        mode="as_of" if snapshot.past else "around",
        nearest_snapshots=[],
        events=[
            TimelineEvent(
                **dict(said.items()),
                at_utc=instant(micros),
                delta_seconds=(micros - centre) / _MICROSECONDS,
            )
            for said, (_, micros) in zip(
                observations.memory_events(snapshot, [position for position, _ in near]), near, strict=True
            )
        ],
        events_has_more=len(rows) > limit,
        facts=_past_facts(snapshot, span) if snapshot.past else UNSET,
        contract=contract(),
    )


def _side(snapshot: Snapshot, span: Span, low: int, high: int, limit: int, *, back: bool) -> list[fetch.Row]:
    """(position, micros) of the memory events that happened between two instants, nearest one end first.

    As of the past, the beginning of the window is not in it.
    """
    order = "DESC" if back else "ASC"
    sign = ">" if snapshot.past else ">="
    domains = {f"domain{number}": key for number, key in enumerate(span.domains)}
    names = ", ".join(f":{name}" for name in domains)
    sql = (
        f"SELECT e.position, {_HAPPENED} FROM events e INDEXED BY events_as_happened "
        "CROSS JOIN observations o ON o.position = e.position "
        f"WHERE {_HAPPENED} {sign} :low AND {_HAPPENED} <= :high AND o.domain_key IN ({names}) "
        f"AND {observations.first_seen(snapshot, 'o')} "
        f"ORDER BY {_HAPPENED} {order}, e.position {order} LIMIT :limit"
    )
    return snapshot.rows(sql, low=low, high=high, limit=limit, **domains)


def _past_facts(snapshot: Snapshot, span: Span) -> list[PastFact]:
    """The facts that were current then; what came of them later was not known."""
    found: list[PastFact] = []
    for position in facts.current(snapshot, span, FACTS):
        event = snapshot.event(position)
        said: FactAsserted = event.payload
        found.append(
            PastFact(
                id=id_text(event.event_id),
                domain=said.domain,
                project=observations.given(said.project),
                task_id=observations.given(said.task_id),
                slot=said.slot,
                value=said.value,
                kind=said.kind,
                agent=said.agent,
                recorded_at_utc=instant(event.recorded_at),
                retired_at_utc=None,
            )
        )
    return found

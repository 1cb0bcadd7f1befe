"""The bundle an agent starts with (contract memory, "startup_bundle")."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from workbench.identity.scopes import Scope
from workbench.log.ports import Redactor
from workbench.log.streams import scope_stream
from workbench.memory import facts, focus, observations, reviews
from workbench.memory.context import task_context
from workbench.memory.errors import UnknownScope
from workbench.memory.snapshot import Snapshot, instant
from workbench.memory.spans import Span, domains_seen, newest, span_of
from workbench.memory.views import (
    ContractName,
    DatabaseSummary,
    DomainName,
    Fact,
    Observation,
    RecallStatus,
    SourceHealth,
    StartupBundle,
    TaskContext,
)
from workbench.redaction.suspicion import may_hold
from workbench.release import __version__

CONTRACT = "chronicle-workbench"
MODES = ("bundle", "brief")


def contract() -> ContractName:
    """Name and version of what answers."""
    return ContractName(name=CONTRACT, version=__version__)


def refuse_unknown(snapshot: Snapshot, scope: Scope, given: str | None, redactor: Redactor) -> None:
    """`UnknownScope` for a domain that the manifest does not have and nothing that may be seen is in.

    It repeats the name unless the filter finds a secret in it.
    """
    if given is None or snapshot.registry.declares_domain(given):
        return
    if newest(
        snapshot, span_of(scope)._replace(projects=None, tasks=None), "observations", snapshot.observed(), 1
    ):
        return
    called = (
        f" is called {scope.domain[:80]!r}" if redactor.redact_text(given)[0] == given else " has that name"
    )
    raise UnknownScope(
        f"no domain{called}",
        hint="declare it under [[domains]] in the manifest, or start without a domain",
    )


def bundle(
    snapshot: Snapshot,
    scope: Scope,
    *,
    generated_at: str,
    label: str,
    words: str | None,
    limit: int,
    since: int | None,
    before: int | None,
    session_id: str | None,
    agent: str,
    anywhere: bool = False,
) -> StartupBundle:
    """The bundle of a scope; `since` and `before` are positions, `anywhere` that no domain was asked for."""
    context = task_context(snapshot, scope, since=since, before=before, limit=limit)
    status: RecallStatus | None = None
    if words is None:
        recent = _recent(snapshot, scope, context, limit)
    else:
        wanted = focus.MOST_HITS if scope.project is None else limit
        hits = focus.find(snapshot, span_of(scope), words, wanted)
        status = hits.status()
        recent = observations.observations(snapshot, hits.observations[:limit])
        if scope.project is None:
            context = _narrowed(snapshot, context, hits.observations, limit)
    known = newest_seen(snapshot)
    at = snapshot.recorded_at(known)
    return StartupBundle(
        generated_at=generated_at,
        focus=words,
        domain=DomainName(id=scope.domain, label=label),
        project=scope.project,
        task_context=context,
        recall_status=status,
        sources=[],
        source_health=SourceHealth(status="ok", issue_count=0, issues=[]),
        recent_events=recent,
        db_summary=DatabaseSummary(position=known, last_recorded_at=None if at is None else instant(at)),
        session_id=session_id,
        agent=agent,
        contract=contract(),
        elsewhere=(elsewhere(snapshot, scope) or UNSET) if anywhere else UNSET,
    )


def streams(scope: Scope) -> list[str]:
    """The streams of a task, under each spelling that means the same, the canonical one first."""
    return [
        scope_stream(domain, project, scope.task_key).name
        for domain in scope.domain_forms
        for project in scope.project_forms
    ]


def newest_seen(snapshot: Snapshot) -> int:
    """How far the log has come for who looks: its newest observation or review that may be seen.

    What an observation brought along counts too. Events of which nobody but a person is told do not: an
    agent could count them by their gaps.
    """
    spans = [Span((key,)) for key in domains_seen(snapshot)]
    found = [newest(snapshot, span, "observations", snapshot.observed(), 1) for span in spans]
    last = max((position for run in found for position in run), default=0)
    brought = snapshot.row(
        "SELECT checkpoint_position, fact_position FROM observations WHERE position = :last", last=last
    )
    more = [each for each in brought or () if each is not None and each > last]
    told = max((each for each in more if not snapshot.event(each).private), default=last)
    judged = reviews.seen(snapshot, "1", {}, 1, snapshot.last + 1) if snapshot.reviewed else []
    return max((told, *judged))


def clean(given: str | None, redactor: Redactor) -> str | None:
    """What was asked for as it may be repeated."""
    return redactor.redact_text(given)[0] if given is not None and may_hold(given) else given


def without_secrets(found: StartupBundle, redactor: Redactor) -> StartupBundle:
    """A bundle whose echo of what was asked for went through the filter; no name stored holds a secret."""
    project = clean(found.project, redactor)
    domain = clean(found.domain.id, redactor) or ""
    if domain != found.domain.id:
        # The manifest may have such a name.
        found = msgspec.structs.replace(
            found,
            domain=DomainName(id=domain, label=clean(found.domain.label, redactor) or ""),
            task_context=msgspec.structs.replace(found.task_context, domain=domain),
        )
    asked_for = {
        "focus": clean(found.focus, redactor),
        "project": project,
        "session_id": clean(found.session_id, redactor),
        "agent": clean(found.agent, redactor),
    }
    if all(getattr(found, field) == value for field, value in asked_for.items()):
        task = clean(found.task_context.task_id, redactor)
        if task == found.task_context.task_id:
            return found
    context = msgspec.structs.replace(
        found.task_context, project=project, task_id=clean(found.task_context.task_id, redactor)
    )
    return msgspec.structs.replace(found, task_context=context, **asked_for)


def elsewhere(snapshot: Snapshot, scope: Scope) -> list[str]:
    """The domains that know a project or task of which the scope's own domain knows nothing; latest first."""
    span, seen = span_of(scope), snapshot.observed()
    if scope.project is None or newest(snapshot, span, "observations", seen, 1):
        return []
    others = [key for key in domains_seen(snapshot) if key not in scope.domain_forms]
    latest = [
        position
        for key in others
        for position in newest(snapshot, Span((key,), *span[1:]), "observations", seen, 1)
    ]
    names = (snapshot.registry.domain(_domain_at(snapshot, each)) for each in sorted(latest, reverse=True))
    return list(dict.fromkeys(names))


def _domain_at(snapshot: Snapshot, position: int) -> str:
    domain: str = snapshot.event(position).payload.domain
    return domain


def _recent(snapshot: Snapshot, scope: Scope, context: TaskContext, limit: int) -> list[Observation]:
    """Newest first: the memory events of the changes; without a project, the newest of the domain."""
    if scope.project is None:
        return observations.memory_events(snapshot, observations.recent(snapshot, span_of(scope), limit))
    found: dict[str, Observation] = {}
    for change in reversed(context.changes):
        found.setdefault(change.event_id, change)
    return list(found.values())


def _narrowed(snapshot: Snapshot, context: TaskContext, hits: list[int], limit: int) -> TaskContext:
    """A context without a project, with only what matches the focus."""
    matching: list[Fact] = []
    current = f"{snapshot.asserted()} AND {snapshot.stands('facts')}"
    for position in hits:
        at = snapshot.value(
            "SELECT fact_position FROM observations WHERE position = :position", position=position
        )
        sql = f"SELECT 1 FROM facts WHERE position = :at AND {current}"
        if at is not None and snapshot.value(sql, at=at) and len(matching) <= limit:
            matching.append(facts.fact(snapshot, at))
    unique = list({fact.id: fact for fact in matching}.values())
    return msgspec.structs.replace(
        context,
        changes=observations.observations(snapshot, reversed(hits[:limit])),
        current_facts=unique[:limit],
        facts_has_more=len(unique) > limit,
    )

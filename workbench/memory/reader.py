"""What shared memory answers agents, the command line and the review desk (contract memory)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from workbench.identity.registry import Registry
from workbench.log.event_log import EventLog
from workbench.log.times import Clock, now, to_text
from workbench.memory import asked
from workbench.memory.errors import InvalidArgument
from workbench.memory.ports import TaskChronicle, no_chronicle
from workbench.memory.snapshot import Sight, Snapshot, id_bytes, id_text
from workbench.memory.spans import Span, domains_seen, span_of

if TYPE_CHECKING:
    from workbench.memory.views import (
        AsOf,
        Brief,
        BriefBundle,
        ChainLink,
        Comparison,
        FactConflict,
        FactPage,
        Observation,
        OpenTask,
        Quarantined,
        ReviewPage,
        SinceReview,
        StartupBundle,
        TaskContext,
        TaskPage,
        Timeline,
    )

_LONGEST_WINDOW = 720
"""Hours around a moment."""
_RECENT = 10


def _no_warnings() -> list[str]:
    return []


class MemoryReader:
    """Reads one log's shared memory; threads may share it.

    `registry` gives the names of now, `warnings` what a brief warns of, `label` what a domain is called,
    `zone` the time zone of a timeline, `chronicle` what a startup shows of a task's chronicle. Agents are
    shown nothing that is private or quarantined; `raw=True` is for the person, who sees all of it, marked.
    `as_of` is a time with a zone or a position of the log.
    """

    def __init__(
        self,
        log: EventLog,
        registry: Callable[[], Registry],
        *,
        clock: Clock | None = None,
        warnings: Callable[[], list[str]] = _no_warnings,
        label: Callable[[str], str] = str,
        zone: tzinfo = UTC,
        chronicle: TaskChronicle = no_chronicle,
    ) -> None:
        self.log = log
        self.registry = registry
        self.clock: Clock = now if clock is None else clock
        self._sight = Sight(log)
        self._warnings = warnings
        self._label = label
        self._zone = zone
        self._chronicle = chronicle

    # -- tasks -----------------------------------------------------------------------------

    def task_context(
        self,
        domain: str | None = None,
        project: str | None = None,
        task_id: str | None = None,
        since: str | None = None,
        before: str | None = None,
        limit: int = 10,
        raw: bool = False,
        as_of: datetime | int | None = None,
    ) -> TaskContext:
        """Where a task, a project or a domain (default `global`) stands.

        `since` and `before` are cursors of the same scope; `limit` is 1 to 100. Raises `InvalidArgument` and
        `CursorMismatch`.
        """
        from workbench.memory import context, cursors

        asked.number("limit", limit, asked.MOST)
        if since is not None and before is not None:
            raise InvalidArgument("since and before are exclusive", hint="give one of them")
        registry = self.registry()
        scope = asked.scope(registry, domain, project, task_id)
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            return context.task_context(
                snapshot,
                scope,
                since=None if since is None else cursors.decode(registry, scope, since, snapshot.last),
                before=None if before is None else cursors.decode(registry, scope, before, snapshot.last),
                limit=limit,
            )

    def open_tasks(
        self,
        domain: str | None = None,
        project: str | None = None,
        limit: int = asked.OPEN_TASKS,
        raw: bool = False,
        as_of: datetime | int | None = None,
    ) -> list[OpenTask]:
        """The tasks that are not closed, in a domain or, without one, in all of them; the latest first."""
        from workbench.memory import tasks

        asked.number("limit", limit, asked.MOST_LISTED)
        registry = self.registry()
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            span = self._span(snapshot, domain, project)
            return [
                tasks.open_task(snapshot, each) for each in islice(tasks.open_tasks(snapshot, span), limit)
            ]

    def tasks(
        self,
        project: str | None = None,
        all: bool = False,  # noqa: A002 - the command's option has this name.
        domain: str | None = None,
        limit: int = 50,
        after: int | None = None,
        raw: bool = False,
        as_of: datetime | int | None = None,
    ) -> TaskPage:
        """Open tasks by their latest checkpoint; with `all` every task by the latest that is known of it."""
        from workbench.memory import tasks
        from workbench.memory.views import TaskPage

        asked.number("limit", limit, asked.MOST_LISTED)
        registry = self.registry()
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            span, below = self._span(snapshot, domain, project), asked.place("after", after, snapshot.last)
            if all:
                keyed = (each for each in tasks.every(snapshot, span) if each[1] < below)
                page = [tasks.of_key(snapshot, key, span, at) for key, at in islice(keyed, limit + 1)]
            else:
                found = (each for each in tasks.open_tasks(snapshot, span) if each.checkpoint < below)
                page = [tasks.listed(snapshot, each) for each in islice(found, limit + 1)]
        more = len(page) > limit
        return TaskPage(tasks=page[:limit], next=page[limit - 1].position if more else None)

    # -- facts -----------------------------------------------------------------------------

    def facts(
        self,
        domain: str | None = None,
        project: str | None = None,
        task_id: str | None = None,
        slot: str | None = None,
        as_of: datetime | int | None = None,
        limit: int = 50,
        after: int | None = None,
        raw: bool = False,
    ) -> FactPage:
        """Current facts, newest first; with a task also those of its project that belong to no task.

        Without a domain, those of all domains. Raises `InvalidArgument`.
        """
        from workbench.memory import facts
        from workbench.memory.views import FactPage

        asked.number("limit", limit, asked.MOST_LISTED)
        slot = asked.name("slot", slot)
        registry = self.registry()
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            scope = asked.scope(registry, domain, project, task_id)
            span = facts.facts_span(scope)
            if domain is None:
                span = span._replace(domains=domains_seen(snapshot))
            below = asked.place("after", after, snapshot.last)
            found = facts.current(snapshot, span, limit + 1, slot=slot, below=below)
            return FactPage(
                facts=facts.facts(snapshot, found[:limit]),
                next=found[limit - 1] if len(found) > limit else None,
            )

    def chain(self, fact_id: str, raw: bool = False, as_of: datetime | int | None = None) -> list[ChainLink]:
        """The whole supersession chain that a fact belongs to, oldest first. Raises `InvalidArgument`."""
        from workbench.memory import facts

        with self._sight.look(self.registry(), raw=raw, as_of=as_of) as snapshot:
            return facts.chain(snapshot, fact_id)

    def conflicts(
        self,
        domain: str | None = None,
        raw: bool = False,
        as_of: datetime | int | None = None,
    ) -> list[FactConflict]:
        """Slots with several current values under several spellings of their names, the latest first."""
        from workbench.memory import facts

        registry = self.registry()
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            named = asked.name("domain", domain)
            domains = domains_seen(snapshot) if named is None else registry.domain_forms(named)
            return facts.conflicts(snapshot, domains)

    # -- reviews and comparison ------------------------------------------------------------

    def reviews(
        self,
        target_id: str | None = None,
        project: str | None = None,
        task_id: str | None = None,
        limit: int = 50,
        after: int | None = None,
        raw: bool = False,
        as_of: datetime | int | None = None,
    ) -> ReviewPage:
        """Reviews, newest first: of one target, of a task or a project, or all; earlier ones too."""
        from workbench.memory import reviews
        from workbench.memory.views import ReviewPage

        asked.number("limit", limit, asked.MOST_LISTED)
        registry = self.registry()
        scope = asked.scope(registry, None, project, task_id)
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            found = reviews.listed(
                snapshot,
                target_id=_target(target_id),
                projects=scope.project_forms if scope.project is not None else None,
                task_key=scope.task_key,
                limit=limit + 1,
                below=asked.place("after", after, snapshot.last),
            )
            return ReviewPage(
                reviews=[reviews.review(snapshot, position) for position in found[:limit]],
                next=found[limit - 1] if len(found) > limit else None,
            )

    def compare(
        self, older: str, newer: str, raw: bool = False, as_of: datetime | int | None = None
    ) -> Comparison:
        """What changed between two checkpoints, given by their ids or those of their observations.

        Raises `InvalidArgument` for an id that no checkpoint has.
        """
        from workbench.memory import comparison

        with self._sight.look(self.registry(), raw=raw, as_of=as_of) as snapshot:
            return comparison.compare(
                snapshot,
                comparison.find_checkpoint(snapshot, older),
                comparison.find_checkpoint(snapshot, newer),
            )

    def since_review(
        self,
        project: str,
        task_id: str,
        domain: str | None = None,
        limit: int = asked.MOST,
        raw: bool = False,
        as_of: datetime | int | None = None,
    ) -> SinceReview:
        """What came into a task after its last review, oldest first; of all domains, or of one.

        Raises `InvalidArgument`.
        """
        from workbench.memory import since_review

        asked.number("limit", limit, asked.MOST_LISTED)
        registry = self.registry()
        scope = asked.scope(registry, domain, project, task_id)
        if not scope.task_key:
            raise InvalidArgument("name a project and a task")
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            domains = scope.domain_forms if domain is not None else domains_seen(snapshot)
            return since_review.since_review(snapshot, scope, domains, limit)

    def quarantined(
        self,
        domain: str | None = None,
        project: str | None = None,
        limit: int = 50,
        as_of: datetime | int | None = None,
    ) -> list[Quarantined]:
        """What agents do not see because it is quarantined, newest first; for a person only."""
        from workbench.memory import past

        asked.number("limit", limit, asked.MOST_LISTED)
        registry = self.registry()
        with self._sight.look(registry, raw=True, as_of=as_of) as snapshot:
            return past.quarantine(snapshot, self._span(snapshot, domain, project), limit)

    # -- starting --------------------------------------------------------------------------

    def startup_bundle(
        self,
        domain: str | None = None,
        agent: str | None = None,
        title: str | None = None,
        focus: str | None = None,
        limit: int = 3,
        compact: bool = True,
        project: str | None = None,
        task_id: str | None = None,
        since: str | None = None,
        before: str | None = None,
        mode: str = "bundle",
        session_id: str | None = None,
        max_chars: int = asked.USUAL_CHARACTERS,
        as_of: datetime | int | None = None,
    ) -> StartupBundle | BriefBundle:
        """What an agent starts with; `mode="brief"` gives the brief's text instead.

        `title` is accepted and not used; `compact` concerns sources, of which there are none; `as_of` gives
        what an agent would have been served then, to a person who asks. Raises
        `UnknownScope` for a domain that nobody knows, and what `task_context` and `brief` raise.
        """
        from workbench.memory import cursors, startup
        from workbench.memory.views import BriefBundle

        if mode not in startup.MODES:
            raise InvalidArgument("mode is bundle or brief")
        asked.number("limit", limit, asked.MOST)
        if since is not None and before is not None:
            raise InvalidArgument("since and before are exclusive", hint="give one of them")
        registry = self.registry()
        redactor = self.log.redactor
        named = asked.name("agent", agent)
        hidden = startup.clean(named, redactor)
        # Folded, a secret is one that the filter does not know again.
        speaker = registry.agent(named) if hidden is None or hidden == named else hidden
        session_id = asked.name("session_id", session_id)
        words = asked.words("focus", focus)
        scope = asked.scope(registry, domain, project, task_id)
        with self._sight.look(registry, as_of=as_of) as snapshot:
            startup.refuse_unknown(snapshot, scope, asked.name("domain", domain), redactor)
            if mode == "bundle":
                found = startup.bundle(
                    snapshot,
                    scope,
                    generated_at=to_text(self.clock()),
                    label=self._label(scope.domain),
                    words=words,
                    limit=limit,
                    since=None if since is None else cursors.decode(registry, scope, since, snapshot.last),
                    before=None if before is None else cursors.decode(registry, scope, before, snapshot.last),
                    session_id=session_id,
                    agent=speaker,
                    anywhere=asked.name("domain", domain) is None,
                )
                told = (
                    None if scope.task_id is None else self._chronicle(startup.streams(scope), snapshot.last)
                )
                if told is not None:
                    found = replace(found, chronicle=dict(told))
                return startup.without_secrets(found, redactor)
        page = self.brief(project=project, max_chars=max_chars, as_of=as_of)
        return BriefBundle(
            brief=page.text,
            project=page.project,
            counts=page.counts,
            session_id=startup.clean(session_id, redactor),
            agent=startup.clean(speaker, redactor) or speaker,
        )

    def near(self, project: str, task_id: str | None = None) -> list[str]:
        """Projects, or tasks of a project, whose names look like one; only those that an agent may see.

        The likeliest first, at most three. Raises `InvalidArgument`.
        """
        from workbench.memory import near

        registry = self.registry()
        scope = asked.scope(registry, None, project, task_id)
        with self._sight.look(registry) as snapshot:
            return near.near(snapshot, scope)

    def brief(
        self,
        cwd: str | Path | None = None,
        project: str | None = None,
        max_chars: int = asked.USUAL_CHARACTERS,
        as_of: datetime | int | None = None,
    ) -> Brief:
        """The page that a session reads first, about a project, or about the one that `cwd` belongs to.

        `cwd` is an absolute folder. Raises `InvalidArgument`, also for `max_chars` outside 1000 to 8000.
        """
        from workbench.memory import brief

        asked.number("max_chars", max_chars, asked.MOST_CHARACTERS, asked.LEAST_CHARACTERS)
        project = asked.name("project", project)
        registry = self.registry()
        with self._sight.look(registry, as_of=as_of) as snapshot:
            return brief.brief(
                snapshot,
                brief.find_project(snapshot, registry, project, cwd),
                self.log.redactor,
                now=self.clock(),
                warnings=self._warnings(),
                max_chars=max_chars,
            )

    # -- other times -----------------------------------------------------------------------

    def as_of(
        self,
        t: datetime | int,
        domain: str | None = None,
        project: str | None = None,
        task_id: str | None = None,
        limit: int = _RECENT,
        raw: bool = False,
    ) -> AsOf:
        """What was known at a time (with a zone) or at a position: of a scope, or without a domain of all.

        Raises `InvalidArgument`.
        """
        from workbench.memory import facts, past

        asked.number("limit", limit, asked.MOST)
        registry = self.registry()
        scope = asked.scope(registry, domain, project, task_id)
        with self._sight.look(registry, raw=raw, as_of=t) as snapshot:
            span, facts_span = span_of(scope), facts.facts_span(scope)
            if asked.name("domain", domain) is None:
                domains = domains_seen(snapshot)
                span, facts_span = span._replace(domains=domains), facts_span._replace(domains=domains)
                scope = scope._replace(domain_forms=domains)
            return past.as_of(snapshot, scope, span, facts_span, domain and scope.domain, limit)

    def timeline(
        self,
        at: datetime,
        domain: str | None = None,
        window_hours: int = 6,
        limit: int = 50,
        as_of: bool = False,
        raw: bool = False,
    ) -> Timeline:
        """The memory events nearest to a moment, within a window of 1 to 720 hours to both sides of it.

        With `as_of` only what was known then and happened up to then, and the facts of then. Raises
        `InvalidArgument`.
        """
        from workbench.memory import past, startup

        asked.number("window_hours", window_hours, _LONGEST_WINDOW)
        asked.number("limit", limit, asked.MOST_LISTED)
        if not isinstance(at, datetime) or at.utcoffset() is None:
            raise InvalidArgument("at is a time with a zone", hint="write it like 2026-03-02T14:00:00Z")
        try:
            at.astimezone(self._zone)
            at = at.astimezone(UTC)
        except OverflowError:
            raise InvalidArgument("at lies outside the years 1 to 9999") from None
        registry = self.registry()
        named = registry.domain(domain) if asked.name("domain", domain) else None
        with self._sight.look(registry, raw=raw, as_of=at if as_of else None) as snapshot:
            return past.timeline(
                snapshot,
                self._span(snapshot, domain, None),
                startup.clean(named, self.log.redactor),
                at,
                timedelta(hours=window_hours),
                limit,
                self._zone,
            )

    def recent(
        self,
        limit: int = _RECENT,
        domain: str | None = None,
        raw: bool = False,
        as_of: datetime | int | None = None,
        after: int | None = None,
        project: str | None = None,
        task_id: str | None = None,
    ) -> list[Observation]:
        """The newest memory events, newest first: of a scope, or of all; those before a position `after`.

        Raises `InvalidArgument`, also for a task without its project.
        """
        from workbench.memory import observations

        asked.number("limit", limit, asked.MOST_LISTED)
        registry = self.registry()
        with self._sight.look(registry, raw=raw, as_of=as_of) as snapshot:
            span = self._span(snapshot, domain, project, task_id)
            below = asked.place("after", after, snapshot.last)
            found = observations.recent(snapshot, span, limit, below)
            return observations.memory_events(snapshot, found)

    def _span(
        self, snapshot: Snapshot, domain: str | None, project: str | None, task_id: str | None = None
    ) -> Span:
        """A project of a domain, or a task of it, or either alone; without a domain, in all of them."""
        scope = asked.scope(snapshot.registry, domain, project, task_id)
        span = span_of(scope)
        return span if asked.name("domain", domain) else span._replace(domains=domains_seen(snapshot))


def _target(given: str | None) -> str | None:
    """An id as reviews name it: that of an event in its usual form, that of a section as it is."""
    named = asked.name("target_id", given, asked.TARGET_CHARACTERS)
    stored = None if named is None else id_bytes(named)
    return named if stored is None else id_text(stored)

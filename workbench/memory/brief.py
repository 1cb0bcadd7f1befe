"""The brief: a page that a new session reads first (contract memory, "Brief").

It is for agents: nothing private, quarantined or of another project stands in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from workbench.identity.registry import Registry
from workbench.log.ports import Redactor
from workbench.log.times import from_micros, to_micros
from workbench.memory import asked, reviews, tasks
from workbench.memory.brief_lines import (
    ELLIPSIS,
    FRAME,
    MOST_COUNTED,
    NOTHING,
    PROTOCOL,
    Fitted,
    Item,
    Section,
    fit,
    fitting,
    flat,
)
from workbench.memory.errors import InvalidArgument
from workbench.memory.events import CheckpointRecorded, FactAsserted, ObservationRecorded
from workbench.memory.filtering import under_slot
from workbench.memory.folds import STATUS_SLOT
from workbench.memory.observations import first_seen, given, memory_event_of
from workbench.memory.snapshot import Snapshot, id_bytes, id_text
from workbench.memory.spans import Span, descending, domains_seen, newest
from workbench.memory.views import Brief, Review
from workbench.storage import fetch

TASKS, FACTS, REVIEWS, DECISIONS, WARNINGS = 3, 10, 5, 8, 5
"""Most items of each section."""
DECISION_DAYS = 14
_QUOTED = 80
"""Characters of a line that a review is about."""
_NAMED = 40
"""Characters of the name of whoever disputes a fact, and of a project in a command."""
_LOOKED = 400
"""Decisions that are looked at for those of the last days."""


class Place(NamedTuple):
    """Which project a brief is about, and how that was found out."""

    project: str | None
    source: str
    """`given`, `root`, `directory` or `none`."""


def nothing_recorded(
    registry: Registry,
    cwd: str | Path | None = None,
    project: str | None = None,
    max_chars: int = asked.USUAL_CHARACTERS,
) -> Brief:
    """The brief of a workspace that has no database yet; otherwise as `MemoryReader.brief`."""
    asked.number("max_chars", max_chars, asked.MOST_CHARACTERS, asked.LEAST_CHARACTERS)
    place = find_project(None, registry, asked.name("project", project), cwd)
    return _answer(place, fit((*_head(place), NOTHING), [_protocol()], max_chars), 0)


def find_project(
    snapshot: Snapshot | None, registry: Registry, project: str | None, cwd: str | Path | None
) -> Place:
    """The project that is given, or whose root holds `cwd`, or that `cwd` is named after and is known.

    Without a snapshot no project is known. Reads no file.
    """
    named = registry.project(project)
    if named is not None:
        return Place(named, "given")
    folder = _folder(cwd)
    if folder is not None:
        rooted = registry.project_of(folder)
        if rooted is not None:
            return Place(rooted, "root")
        called = registry.project(folder.name)
        if (
            called is not None
            and snapshot is not None
            and _is_known(snapshot, registry.project_forms(called))
        ):
            return Place(_as_recorded(snapshot, registry, called), "directory")
    return Place(None, "none")


def _folder(given: str | Path | None) -> Path | None:
    """A working directory with its `..` gone up as they are written; None for what names none."""
    if given is None:
        return None
    if not isinstance(given, str | Path):
        raise InvalidArgument("cwd is a folder: a text or a path")
    try:
        text = os.fspath(given)
        text.encode()
    except UnicodeEncodeError:
        return None
    return None if not text or "\0" in text else Path(os.path.normpath(text))


def _is_known(snapshot: Snapshot, forms: Sequence[str]) -> bool:
    return _observed_in(snapshot, forms) is not None


def _as_recorded(snapshot: Snapshot, registry: Registry, called: str) -> str:
    """The project's name as its observations have it: folders are often written otherwise."""
    position = _observed_in(snapshot, registry.project_forms(called))
    assert position is not None
    said: ObservationRecorded = snapshot.event(position).payload
    return registry.project(given(said.project)) or called


def _observed_in(snapshot: Snapshot, forms: Sequence[str]) -> int | None:
    sql = (
        "SELECT position FROM observations WHERE domain_key = :domain AND project_key = :project "
        f"AND {snapshot.observed()} ORDER BY position DESC LIMIT 1"
    )
    for domain in domains_seen(snapshot):
        for form in forms:
            position: int | None = snapshot.value(sql, domain=domain, project=form)
            if position is not None:
                return position
    return None


def brief(
    snapshot: Snapshot,
    place: Place,
    redactor: Redactor,
    *,
    now: datetime,
    warnings: Sequence[str],
    max_chars: int,
) -> Brief:
    """The brief of a project, or of everything where there is none."""
    if place.project is not None and not _is_known(snapshot, snapshot.registry.project_forms(place.project)):
        # What was asked for is repeated; no name stored holds a secret, and who asks for such a one need not
        # wait for the filter's rules.
        place = place._replace(project=redactor.redact_text(place.project)[0])
    writer = _Writer(snapshot, place, redactor)
    sections = [
        Section("open_tasks", "Open tasks", tuple(writer.tasks()), 4, writer.counted["tasks"], least=1),
        Section(
            "facts",
            "Current facts",
            tuple(writer.facts()),
            2,
            writer.counted["facts"],
            rest=_all_facts(place),
        ),
        Section("reviews", "Review", tuple(writer.reviews()), 5, writer.counted["reviews"]),
        Section(
            "decisions",
            f"Decisions, last {DECISION_DAYS} days",
            tuple(writer.decisions(now)),
            1,
            writer.counted["decisions"],
        ),
        Section("warnings", "Warnings", tuple(writer.warnings(warnings)), 3),
        _protocol(),
    ]
    empty = not any(section.items for section in sections[:-2])
    head = (*_head(place), writer.nothing()) if empty else _head(place)
    return _answer(place, fit(head, sections, max_chars), writer.redactions)


_FOUND = {"given": "", "root": " (this folder lies in its root)", "directory": " (named like this folder)"}


def _head(place: Place) -> tuple[str, ...]:
    if place.project is None:
        return FRAME, "Project: none; this is about everything that is recorded here."
    return FRAME, f"{fitting('Project: ', flat(place.project))}{_FOUND[place.source]}"


def _protocol() -> Section:
    return Section("protocol", "Protocol", tuple(Item(line) for line in PROTOCOL))


def _answer(place: Place, fitted: Fitted, redactions: int) -> Brief:
    return Brief(
        project=place.project,
        project_source=place.source,
        text=fitted.text,
        counts={name: fitted.kept.get(name, 0) for name in ("open_tasks", "facts", "decisions", "warnings")},
        reviews=fitted.kept.get("reviews", 0),
        omitted=fitted.omitted,
        cut=fitted.cut,
        redactions=redactions,
    )


class _Writer:
    """Writes the items of one brief and counts the secrets that it takes out of them."""

    def __init__(self, snapshot: Snapshot, place: Place, redactor: Redactor) -> None:
        self._snapshot = snapshot
        self._place = place
        self._redactor = redactor
        self._domains = domains_seen(snapshot)
        self._forms = snapshot.registry.project_forms(place.project) if place.project is not None else None
        self.redactions = 0
        self.counted: dict[str, int] = {}
        """How many there are of what a method writes, up to one more than is counted; known once it is
        through."""

    def nothing(self) -> str:
        """What stands in place of all sections: whether anything was recorded at all."""
        span = Span(self._domains, self._forms)
        found = len(newest(self._snapshot, span, "observations", self._snapshot.observed(), MOST_COUNTED + 1))
        if not found:
            return NOTHING
        number = f"more than {MOST_COUNTED} observations" if found > MOST_COUNTED else f"{found} observations"
        return f"Nothing to hand over yet: {'1 observation' if found == 1 else number}."

    def _text(self, text: str, stored_by: str | None) -> str:
        """A recorded text as one line; filtered again unless the filter of now has seen it."""
        if stored_by != self._redactor.version:
            text, removed = self._redactor.redact_text(text)
            self.redactions += sum(removed.values())
        return flat(text)

    def _value(self, said: FactAsserted, stored_by: str | None) -> str:
        """What a fact says as one line; its slot is part of what the filter looks at."""
        if stored_by == self._redactor.version:
            return flat(said.value)
        value, removed = under_slot(self._redactor, said.slot, said.value)
        self.redactions += sum(removed.values())
        return flat(value)

    def _filter_of(self, observation: int) -> str | None:
        """The version of the filter that an observation and what it carries were stored under."""
        said = self._snapshot.event(observation).payload
        return said.hash_filter if isinstance(said, ObservationRecorded) else None

    def _project_of(self, named: str | None) -> str | None:
        """The project to name in a line: none where the whole brief is about it."""
        if named is None or self._place.project is not None:
            return None
        return flat(self._snapshot.registry.project(named) or named)

    # -- open tasks ------------------------------------------------------------------------

    def tasks(self) -> Iterator[Item]:
        """The latest checkpoint of each open task."""
        span = Span(self._domains, self._forms)
        open_tasks = list(islice(tasks.open_tasks(self._snapshot, span), MOST_COUNTED + 1))
        self.counted["tasks"] = len(open_tasks)
        for found in open_tasks[:TASKS]:
            event = self._snapshot.event(found.checkpoint)
            said: CheckpointRecorded = event.payload
            stored_by = self._filter_of(self._observed(found.checkpoint, "checkpoints"))
            project = self._snapshot.registry.project(given(said.project)) or ""
            name = f"{flat(project)}/{flat(given(said.task_id) or '')}"
            doubts = self._doubts(id_text(event.event_id), found.checkpoint)
            doubted = f", {doubts['']}" if "" in doubts else ""
            before = f"{name} ({flat(said.agent)}, {minute(event.recorded_at)}{doubted}): "
            # The mark stands before its step: of what is cut off, the end goes.
            steps = "; ".join(
                "".join((_mark(doubts.get(f"next_steps:{number}")), self._text(step, stored_by)))
                for number, step in enumerate(said.next_steps)
            )
            yield Item(
                fitting(before, self._text(said.goal, stored_by)),
                (fitting("next: ", steps),) if steps else (),
            )

    def _doubts(self, checkpoint_id: str, position: int) -> dict[str, str]:
        """What a person questioned or rejected of a checkpoint: see `reviews.doubts`."""
        snapshot = self._snapshot
        if not snapshot.reviewed:
            return {}
        carrier = snapshot.event(self._observed(position, "checkpoints"))
        return reviews.doubts(snapshot, (checkpoint_id, id_text(carrier.event_id)))

    def _observed(self, position: int, table: str) -> int:
        found: int = self._snapshot.value(
            f"SELECT observation FROM {table} WHERE position = :position", position=position
        )
        return found

    # -- current facts ---------------------------------------------------------------------

    def facts(self) -> Iterator[Item]:
        """Current facts, newest first: of the project and of none, or of everything."""
        positions = list(islice(self._fact_positions(), MOST_COUNTED + 1))
        self.counted["facts"] = len(positions)
        for position in positions[:FACTS]:
            event = self._snapshot.event(position)
            said: FactAsserted = event.payload
            stored_by = self._filter_of(self._observed(position, "facts"))
            fact_id = id_text(event.event_id)
            labels = [self._project_of(given(said.project))]
            if given(said.task_id) is not None:
                labels.append(f"task {flat(given(said.task_id) or '')}")
            labels.append("assumption" if said.kind == "assumption" else None)
            rejected = reviews.dispute(self._snapshot, fact_id)
            if rejected is not None:
                labels.append(f"disputed by {_short(flat(rejected.reviewer), _NAMED)}")
            inside = ", ".join(label for label in labels if label)
            after = f" [{inside}] (fact {fact_id})" if inside else f" (fact {fact_id})"
            value = self._value(said, stored_by)
            yield Item(fitting(f"{flat(said.slot)} = ", value, after))

    def _fact_positions(self) -> Iterator[int]:
        snapshot = self._snapshot
        projects = None if self._forms is None else (*self._forms, "")
        index = "facts_current_of_domain" if projects is None else "facts_current_of_project"
        runs: list[Callable[[int, int], list[fetch.Row]]] = []
        for where, keys in Span(self._domains, projects).runs():
            sql = (
                f"SELECT position FROM facts INDEXED BY {index} WHERE {where} AND position < :below "
                f"AND to_position IS NULL AND {snapshot.asserted()} AND slot <> :status "
                "ORDER BY position DESC LIMIT :limit"
            )

            def rows(below: int, limit: int, sql: str = sql, keys: dict[str, str] = keys) -> list[fetch.Row]:
                return snapshot.rows(sql, below=below, limit=limit, status=STATUS_SLOT, **keys)

            runs.append(rows)
        return (row[0] for row in descending(runs, snapshot.last + 1))

    # -- reviews ---------------------------------------------------------------------------

    def reviews(self) -> Iterator[Item]:
        """What a person questioned or rejected, and nobody has answered with a checkpoint."""
        standing = list(islice(self._standing(), MOST_COUNTED + 1))
        self.counted["reviews"] = len(standing)
        for review in (reviews.review(self._snapshot, position) for position in standing[:REVIEWS]):
            what = f"{review.target_kind} {review.target_id}"
            if review.item is not None:
                what = f"{review.item.list}:{review.item.index} of {what}"
            stored_by = self._filter_at(review.position)
            said = self._text(review.comment, stored_by)
            if review.line is not None:
                line = self._text(review.line, stored_by)
                said = f"“{_short(line, _QUOTED)}” {said}".rstrip()
            about = self._about(review)
            before = (
                f"{flat(review.verdict)} by {flat(review.reviewer)}, {review.recorded_at[:16]}Z"
                f"{f', {about}' if about else ''}: "
            )
            yield Item(fitting(before, said or "no comment", f" ({flat(what)})"))

    def _about(self, review: Review) -> str:
        """What a person calls the target of a review: the slot of a fact, else the task or project."""
        snapshot, stored = self._snapshot, id_bytes(review.target_id)
        position = snapshot.value("SELECT position FROM events WHERE event_id = :id", id=stored)
        if position is None or review.target_kind == "section":
            return ""
        said = snapshot.event(position).payload
        if isinstance(said, FactAsserted):
            return flat(said.slot)
        if not isinstance(said, CheckpointRecorded | ObservationRecorded):
            return ""
        project, task = given(said.project), given(said.task_id)
        named = "" if project is None else snapshot.registry.project(project) or project
        return flat("/".join(part for part in (named, task) if part))

    def _standing(self) -> Iterator[int]:
        """Positions of reviews that question or reject, count, and have no later checkpoint in their task."""
        snapshot = self._snapshot
        forms = None if self._forms is None else (*self._forms, "")
        where = "1" if forms is None else f"project_key IN ({', '.join('?' * len(forms))})"
        rows = fetch.rows(
            snapshot.connection,
            "SELECT position, target_kind, target_id, domain_key, project_key, task_key "
            f"FROM reviews INDEXED BY reviews_standing WHERE {where} "
            "AND to_position IS NULL AND verdict <> 'accepted' ORDER BY position DESC",
            forms or (),
        )
        for position, kind, target, domain, project, task in rows:
            if snapshot.event(position).private or not reviews.may_see_target(snapshot, kind, target):
                continue
            if not self._is_answered(position, kind, target, (domain, project, task)):
                yield position

    def _is_answered(self, position: int, kind: str, target: str, keys: tuple[str, str, str]) -> bool:
        snapshot = self._snapshot
        domain, project, task = keys
        if kind == "fact":
            # A disputed fact is marked where it stands, and a superseded one is no longer in question.
            sql = "SELECT to_position IS NOT NULL FROM facts WHERE fact_id = :id"
            if snapshot.value(sql, id=id_bytes(target)):
                return True
        if not task:
            return False
        later = (
            "SELECT 1 FROM tasks WHERE project_key = :project AND task_key = :task AND domain_key = :domain "
            "AND checkpoint > :position"
        )
        registry = snapshot.registry
        return any(
            snapshot.value(later, project=form, task=task, domain=domain_form, position=position)
            for domain_form in registry.domain_forms(domain)
            for form in registry.project_forms(project)
        )

    def _filter_at(self, position: int) -> str | None:
        """The version of the filter that an event without one of its own was stored under.

        Releases follow one another: if the observation before it was stored under the filter of now, then so
        was this.
        """
        before = self._snapshot.value(
            "SELECT max(position) FROM observations WHERE position < :position", position=position
        )
        return None if before is None else self._filter_of(before)

    # -- decisions -------------------------------------------------------------------------

    def decisions(self, now: datetime) -> Iterator[Item]:
        """Decisions of the last days that set no fact, newest first."""
        positions = list(islice(self._decision_positions(to_micros(now)), MOST_COUNTED + 1))
        self.counted["decisions"] = len(positions)
        for position in positions[:DECISIONS]:
            event = self._snapshot.event(position)
            said: ObservationRecorded = event.payload
            project = self._project_of(given(said.project))
            happened = event.recorded_at if event.occurred_at is None else event.occurred_at
            before = f"{minute(happened)} {flat(said.agent)}{f' [{project}]' if project else ''}: "
            text = self._text(said.text, said.hash_filter)
            after = f" (event {memory_event_of(self._snapshot, position)})"
            yield Item(fitting(before, text, after))

    def _decision_positions(self, now: int) -> Iterator[int]:
        snapshot = self._snapshot
        since = now - timedelta(days=DECISION_DAYS) // timedelta(microseconds=1)
        projects = (None,) if self._forms is None else (*self._forms, "")
        runs: list[Callable[[int, int], list[fetch.Row]]] = []
        for project in projects:
            index = "decisions_anywhere" if project is None else "decisions"
            where = "1" if project is None else "o.project_key = :project"
            sql = (
                "SELECT o.position, e.recorded_at, coalesce(e.occurred_at, e.recorded_at) "
                f"FROM observations o INDEXED BY {index} CROSS JOIN events e ON e.position = o.position "
                f"WHERE {where} AND o.category = 'decision' AND o.fact_position IS NULL "
                f"AND {first_seen(snapshot, 'o')} AND o.position < :below "
                "ORDER BY o.position DESC LIMIT :limit"
            )

            def rows(
                below: int, limit: int, sql: str = sql, project: str | None = project
            ) -> list[fetch.Row]:
                return snapshot.rows(sql, below=below, limit=limit, project=project)

            runs.append(rows)
        for position, recorded_at, happened in islice(descending(runs, snapshot.last + 1), _LOOKED):
            if recorded_at < since:
                return
            if happened >= since:
                yield position

    # -- warnings --------------------------------------------------------------------------

    def warnings(self, given: Sequence[str]) -> Iterator[Item]:
        """What whoever composes the workspace warns of."""
        for warning in given[:WARNINGS]:
            yield Item(fitting("", self._text(warning, None)))


def _all_facts(place: Place) -> str:
    """What lists the facts that a brief has no room for; nothing where a name would fill the line."""
    if place.project is None:
        return "workbench facts"
    named = quote(flat(place.project))
    return f"workbench facts --project {named}" if len(named) <= _NAMED else ""


def _mark(verdict: str | None) -> str:
    return "" if verdict is None else f"({verdict}) "


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + ELLIPSIS


def minute(micros: int) -> str:
    """A time to the minute, in UTC."""
    return from_micros(micros).strftime("%Y-%m-%dT%H:%MZ")

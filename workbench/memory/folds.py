"""What the events of shared memory fold into (DESIGN §2 "Inline folds").

Rows hold keys, positions and what is asked for; texts stay in the events. A row that can change says from
and up to which position it held (`to_position` is the position of the event that ended it); `shown`, `tasks`
and the counts hold the value of now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import apsw
from msgspec import UNSET

from workbench.log.folds import FoldEvent
from workbench.memory.events import (
    CHECKPOINT,
    FACT,
    OBSERVATION,
    REVIEW,
    VISIBILITY,
    CheckpointRecorded,
    FactAsserted,
    ObservationRecorded,
    ReviewRecorded,
    VisibilityChanged,
)
from workbench.storage import fetch

STATUS_SLOT = "task.status"
"""The slot whose value closes a task."""

CLOSING = ("completed", "cancelled")
"""Values of that slot, trimmed and in lower case, that close a task."""

RAW_ONLY = "raw_only"
"""The guard's word for what is quarantined from the start."""


class MemoryFold:
    """The fold `memory`: what a writer must see at once, and all that readers select by."""

    name = "memory"
    version = 1
    tables = (
        "observations",
        "memory_events",
        "memory_requests",
        "quarantines",
        "evidence_links",
        "facts",
        "fact_confirmations",
        "checkpoints",
        "tasks",
        "reviews",
    )
    schema = (
        # An observation: `first_position` is that of the memory event it repeats, or its own. `shown` is 0
        # for what is private or quarantined. `fact_position` is the fact that it asserts or confirms.
        "CREATE TABLE observations("
        "position INTEGER PRIMARY KEY, event_id BLOB NOT NULL, first_position INTEGER NOT NULL, "
        "domain_key TEXT NOT NULL, project_key TEXT NOT NULL, task_key TEXT NOT NULL, "
        "category TEXT NOT NULL, private INTEGER NOT NULL, shown INTEGER NOT NULL, "
        "fact_position INTEGER, checkpoint_position INTEGER) STRICT",
        "CREATE UNIQUE INDEX observations_by_id ON observations(event_id)",
        "CREATE INDEX observations_by_task "
        "ON observations(domain_key, project_key, task_key, position, shown)",
        "CREATE INDEX observations_by_project ON observations(domain_key, project_key, position, shown)",
        "CREATE INDEX observations_by_domain ON observations(domain_key, position, shown)",
        "CREATE INDEX observations_by_first ON observations(first_position, position)",
        # For the person's timeline, over everything.
        "CREATE INDEX observations_by_category ON observations(category, position)",
        # Decisions that set no fact, for the brief, over all domains.
        "CREATE INDEX decisions ON observations(project_key, position, shown) "
        "WHERE category = 'decision' AND fact_position IS NULL",
        "CREATE INDEX decisions_anywhere ON observations(position, shown) "
        "WHERE category = 'decision' AND fact_position IS NULL",
        "CREATE TABLE memory_events("
        "position INTEGER PRIMARY KEY, content_hash BLOB NOT NULL, "
        "domain_key TEXT NOT NULL, project_key TEXT NOT NULL, task_key TEXT NOT NULL, "
        "private INTEGER NOT NULL, recorded_at INTEGER NOT NULL, observed INTEGER NOT NULL) STRICT",
        "CREATE INDEX memory_events_by_content ON memory_events(content_hash, position)",
        "CREATE TABLE memory_requests("
        "request_id TEXT PRIMARY KEY, position INTEGER NOT NULL, request_hash BLOB NOT NULL, "
        "hash_filter TEXT NOT NULL) STRICT, WITHOUT ROWID",
        # While an observation is withheld; a row begins with what quarantined it, which may be itself.
        "CREATE TABLE quarantines("
        "target INTEGER NOT NULL, from_position INTEGER NOT NULL, to_position INTEGER, "
        "PRIMARY KEY(target, from_position)) STRICT, WITHOUT ROWID",
        "CREATE TABLE evidence_links("
        "position INTEGER NOT NULL, ordinal INTEGER NOT NULL, path TEXT NOT NULL, status TEXT NOT NULL, "
        "sha256 TEXT, PRIMARY KEY(position, ordinal)) STRICT, WITHOUT ROWID",
        "CREATE INDEX evidence_by_digest ON evidence_links(sha256, position) WHERE sha256 IS NOT NULL",
        # `observation` and `replaces` are positions; `replaced_by` is the fact that took the slot; `links`
        # counts the facts of the chain that ends with this one, which nothing later changes.
        "CREATE TABLE facts("
        "position INTEGER PRIMARY KEY, fact_id BLOB NOT NULL, observation INTEGER NOT NULL, "
        "domain_key TEXT NOT NULL, project_key TEXT NOT NULL, task_key TEXT NOT NULL, "
        "slot TEXT NOT NULL, kind TEXT NOT NULL, private INTEGER NOT NULL, "
        "replaces INTEGER, to_position INTEGER, replaced_by INTEGER, links INTEGER NOT NULL) STRICT",
        "CREATE UNIQUE INDEX facts_by_id ON facts(fact_id)",
        "CREATE INDEX facts_by_slot ON facts(slot, project_key, task_key, domain_key, position, private)",
        # What a slot holds now is found at once, however often it changed.
        "CREATE INDEX facts_held ON facts(slot, project_key, task_key, domain_key, position, private) "
        "WHERE to_position IS NULL",
        "CREATE INDEX facts_current ON facts(domain_key, project_key, task_key, position, private) "
        "WHERE to_position IS NULL",
        "CREATE INDEX facts_current_of_project ON facts(domain_key, project_key, position, private, slot) "
        "WHERE to_position IS NULL",
        "CREATE INDEX facts_current_of_domain ON facts(domain_key, position, private, slot) "
        "WHERE to_position IS NULL",
        # For the person's list, over everything: what was replaced most often first.
        "CREATE INDEX facts_current_by_links ON facts(links, position, private) WHERE to_position IS NULL",
        "CREATE INDEX facts_in_time "
        "ON facts(domain_key, project_key, task_key, position, to_position, private)",
        "CREATE INDEX facts_of_project_in_time "
        "ON facts(domain_key, project_key, position, to_position, private)",
        "CREATE INDEX facts_of_domain_in_time ON facts(domain_key, position, to_position, private, links)",
        "CREATE INDEX facts_replaced ON facts(replaced_by) WHERE replaced_by IS NOT NULL",
        "CREATE TABLE fact_confirmations("
        "fact_position INTEGER NOT NULL, position INTEGER NOT NULL, observation INTEGER NOT NULL, "
        "private INTEGER NOT NULL, PRIMARY KEY(fact_position, position)) STRICT, WITHOUT ROWID",
        # `to_position` is that of the task's next checkpoint under the same keys.
        "CREATE TABLE checkpoints("
        "position INTEGER PRIMARY KEY, event_id BLOB NOT NULL, observation INTEGER NOT NULL, "
        "domain_key TEXT NOT NULL, project_key TEXT NOT NULL, task_key TEXT NOT NULL, "
        "shown INTEGER NOT NULL, to_position INTEGER) STRICT",
        "CREATE UNIQUE INDEX checkpoints_by_id ON checkpoints(event_id)",
        "CREATE INDEX checkpoints_by_observation ON checkpoints(observation)",
        "CREATE INDEX checkpoints_by_task ON checkpoints(project_key, task_key, domain_key, position, shown)",
        "CREATE INDEX checkpoints_by_project ON checkpoints(domain_key, project_key, position, to_position)",
        "CREATE INDEX checkpoints_by_domain ON checkpoints(domain_key, position, to_position)",
        # One row per spelling of a task that has anything. `checkpoint` is the position of the latest one
        # that agents see, `latest` of the latest one at all; `status` is the newest public task.status of
        # this project and task in any domain, `status_raw` counts private ones too.
        "CREATE TABLE tasks("
        "project_key TEXT NOT NULL, task_key TEXT NOT NULL, domain_key TEXT NOT NULL, "
        "first_position INTEGER NOT NULL, last_position INTEGER NOT NULL, observed INTEGER NOT NULL, "
        "checkpoint INTEGER, latest INTEGER, status TEXT, status_raw TEXT, open INTEGER NOT NULL, "
        "PRIMARY KEY(project_key, task_key, domain_key)) STRICT, WITHOUT ROWID",
        "CREATE INDEX tasks_open ON tasks(domain_key, checkpoint) WHERE open = 1",
        "CREATE INDEX tasks_open_of_project ON tasks(project_key, checkpoint) WHERE open = 1",
        "CREATE INDEX tasks_open_anywhere ON tasks(checkpoint) WHERE open = 1",
        "CREATE INDEX tasks_by_last ON tasks(last_position)",
        # The latest review of one target, or of one line of it, counts: `to_position` is that of the next.
        "CREATE TABLE reviews("
        "position INTEGER PRIMARY KEY, event_id BLOB NOT NULL, target_kind TEXT NOT NULL, "
        "target_id TEXT NOT NULL, item TEXT NOT NULL, verdict TEXT NOT NULL, "
        "domain_key TEXT NOT NULL, project_key TEXT NOT NULL, task_key TEXT NOT NULL, "
        "to_position INTEGER) STRICT",
        "CREATE UNIQUE INDEX reviews_by_id ON reviews(event_id)",
        "CREATE INDEX reviews_by_target ON reviews(target_id, item, position)",
        "CREATE INDEX reviews_by_task ON reviews(project_key, task_key, domain_key, position)",
        "CREATE INDEX reviews_by_project ON reviews(project_key, position)",
        "CREATE INDEX reviews_standing ON reviews(project_key, position) "
        "WHERE to_position IS NULL AND verdict <> 'accepted'",
    )
    types: frozenset[str] | None = frozenset(
        {OBSERVATION.type, FACT.type, CHECKPOINT.type, REVIEW.type, VISIBILITY.type}
    )
    at_commit = False

    def apply(self, connection: apsw.Connection, events: Sequence[FoldEvent]) -> None:
        """Fold memory events in order."""
        for event in events:
            _APPLY[event.event_type.type](connection, event)


def item_key(review: ReviewRecorded) -> str:
    """`list:index` of the line that a review is about, empty for the whole target."""
    return "" if review.item is UNSET else f"{review.item.list}:{review.item.index}"


def _observation(connection: apsw.Connection, event: FoldEvent) -> None:
    said: ObservationRecorded = event.payload
    keys = (said.scope_domain, said.scope_project, said.scope_task)
    guard = said.memory_guard
    quarantined = guard is not UNSET and guard.visibility == RAW_ONLY
    first = None if said.memory_event is UNSET else _observed_at(connection, said.memory_event)
    connection.execute(
        "INSERT INTO observations VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)",
        (
            event.position,
            event.event_id,
            event.position if first is None else first,
            *keys,
            said.category,
            event.private,
            not event.private and not quarantined,
        ),
    )
    if first is None:
        # One that repeats an event this log does not hold is the first one here.
        connection.execute(
            "INSERT INTO memory_events VALUES(?, ?, ?, ?, ?, ?, ?, 1)",
            (event.position, _bytes(said.content_hash), *keys, event.private, event.recorded_at),
        )
    else:
        connection.execute("UPDATE memory_events SET observed = observed + 1 WHERE position = ?", (first,))
    if said.request_id is not UNSET:
        connection.execute(
            "INSERT OR IGNORE INTO memory_requests VALUES(?, ?, ?, ?)",
            (said.request_id, event.position, _bytes(said.request_hash), said.hash_filter),
        )
    if quarantined:
        connection.execute("INSERT INTO quarantines VALUES(?, ?, NULL)", (event.position, event.position))
    if said.evidence is not UNSET:
        connection.executemany(
            "INSERT INTO evidence_links VALUES(?, ?, ?, ?, ?)",
            [
                (event.position, number, e.path, e.status, None if e.sha256 is UNSET else e.sha256)
                for number, e in enumerate(said.evidence)
            ],
        )
    if said.scope_task:
        _touch_task(connection, keys, event.position, observed=1)


def _fact(connection: apsw.Connection, event: FoldEvent) -> None:
    said: FactAsserted = event.payload
    observation = _cause(connection, event)
    # What nobody may see is not told by a fact of it either.
    private = event.private or bool(
        fetch.value(connection, "SELECT private FROM observations WHERE position = ?", (observation,))
    )
    if said.confirms is not UNSET:
        fact = _fact_at(connection, said.confirms)
        if fact is not None:
            connection.execute(
                "INSERT INTO fact_confirmations VALUES(?, ?, ?, ?)",
                (fact, event.position, observation, private),
            )
            connection.execute(
                "UPDATE observations SET fact_position = ? WHERE position = ?", (fact, observation)
            )
            return
        # It confirms what this log does not hold: here it is what says so.
    keys = (said.scope_domain, said.scope_project, said.scope_task)
    ended = [] if said.retires is UNSET else [_fact_at(connection, each) for each in said.retires]
    replaces = None if said.supersedes is UNSET else _fact_at(connection, said.supersedes)
    connection.executemany(
        "UPDATE facts SET to_position = ?1, replaced_by = ?1 WHERE position = ?2 AND private = ?3 "
        "AND to_position IS NULL",
        [(event.position, position, private) for position in {*ended, replaces} if position is not None],
    )
    # Whatever its author knew of: a slot has one current fact.
    connection.execute(
        "UPDATE facts SET to_position = ?1, replaced_by = ?1 WHERE slot = ?2 AND project_key = ?4 "
        "AND task_key = ?5 AND domain_key = ?3 AND private = ?6 AND to_position IS NULL",
        (event.position, said.slot, *keys, private),
    )
    connection.execute(
        "INSERT INTO facts VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, NULL, NULL, "
        "1 + (SELECT coalesce(sum(links), 0) FROM facts WHERE replaced_by = ?1))",
        (
            event.position,
            event.event_id,
            observation,
            *keys,
            said.slot,
            said.kind,
            private,
            replaces,
        ),
    )
    connection.execute(
        "UPDATE observations SET fact_position = ? WHERE position = ?", (event.position, observation)
    )
    if said.slot == STATUS_SLOT and said.scope_task:
        _touch_task(connection, keys, event.position)
        # What said otherwise under other spellings of the same task says nothing any more.
        names = {(said.scope_project, said.scope_task)}
        for position in ended:
            names.update(
                fetch.rows(
                    connection, "SELECT project_key, task_key FROM facts WHERE position = ?", (position,)
                )
            )
        for project, task in sorted(names):
            _set_status(connection, project, task, said.value.strip().lower(), private=private)


def _checkpoint(connection: apsw.Connection, event: FoldEvent) -> None:
    said: CheckpointRecorded = event.payload
    keys = (said.scope_domain, said.scope_project, said.scope_task)
    observation = _cause(connection, event)
    cause = fetch.row(
        connection, "SELECT shown, private FROM observations WHERE position = ?", (observation,)
    )
    if cause is not None and event.private and not cause[1]:
        # More private than what caused it, it is not seen together with that.
        observation, cause = event.position, None
    shown = not event.private if cause is None else cause[0]
    connection.execute(
        "UPDATE checkpoints SET to_position = ? WHERE project_key = ? AND task_key = ? AND domain_key = ? "
        "AND position = "
        "(SELECT latest FROM tasks WHERE project_key = ?2 AND task_key = ?3 AND domain_key = ?4)",
        (event.position, said.scope_project, said.scope_task, said.scope_domain),
    )
    connection.execute(
        "INSERT INTO checkpoints VALUES(?, ?, ?, ?, ?, ?, ?, NULL)",
        (event.position, event.event_id, observation, *keys, shown),
    )
    connection.execute(
        "UPDATE observations SET checkpoint_position = ? WHERE position = ?", (event.position, observation)
    )
    _touch_task(connection, keys, event.position)
    # What is hidden stands beside the latest that agents see, however many of those came since.
    connection.execute(
        "UPDATE tasks SET latest = ?1, checkpoint = iif(?2, ?1, checkpoint), "
        f"open = (?2 OR checkpoint IS NOT NULL) AND coalesce(status, '') NOT IN {CLOSING!r} "
        "WHERE project_key = ?3 AND task_key = ?4 AND domain_key = ?5",
        (event.position, bool(shown), said.scope_project, said.scope_task, said.scope_domain),
    )


def _review(connection: apsw.Connection, event: FoldEvent) -> None:
    said: ReviewRecorded = event.payload
    item = item_key(said)
    connection.execute(
        "UPDATE reviews SET to_position = ? WHERE target_id = ? AND item = ? AND target_kind = ? "
        "AND to_position IS NULL",
        (event.position, said.target_id, item, said.target_kind),
    )
    connection.execute(
        "INSERT INTO reviews VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        (
            event.position,
            event.event_id,
            said.target_kind,
            said.target_id,
            item,
            said.verdict,
            said.scope_domain,
            said.scope_project,
            said.scope_task,
        ),
    )


def _visibility(connection: apsw.Connection, event: FoldEvent) -> None:
    said: VisibilityChanged = event.payload
    target = fetch.row(
        connection,
        "SELECT position, private, checkpoint_position, domain_key, project_key, task_key "
        "FROM observations WHERE event_id = ?",
        (_id(said.target_id),),
    )
    if target is None:
        return
    position, private, checkpoint, *keys = target
    since = fetch.value(
        connection,
        "SELECT from_position FROM quarantines WHERE target = ? AND to_position IS NULL",
        (position,),
    )
    if said.quarantined and since is None:
        connection.execute("INSERT INTO quarantines VALUES(?, ?, NULL)", (position, event.position))
    elif not said.quarantined and since is not None:
        connection.execute(
            "UPDATE quarantines SET to_position = ? WHERE target = ? AND from_position = ?",
            (event.position, position, since),
        )
    shown = not private and not said.quarantined
    connection.execute("UPDATE observations SET shown = ? WHERE position = ?", (shown, position))
    if checkpoint is not None:
        connection.execute("UPDATE checkpoints SET shown = ? WHERE position = ?", (shown, checkpoint))
        _see_checkpoints(connection, (keys[0], keys[1], keys[2]))


_APPLY: dict[str, Callable[[apsw.Connection, FoldEvent], None]] = {
    OBSERVATION.type: _observation,
    FACT.type: _fact,
    CHECKPOINT.type: _checkpoint,
    REVIEW.type: _review,
    VISIBILITY.type: _visibility,
}

_Keys = tuple[str, str, str]
"""Domain, project and task."""


def _touch_task(connection: apsw.Connection, keys: _Keys, position: int, *, observed: int = 0) -> None:
    """Note that something happened in a task; one under new names has the status that it has elsewhere."""
    domain, project, task = keys
    connection.execute(
        "UPDATE tasks SET last_position = ?, observed = observed + ? "
        "WHERE project_key = ? AND task_key = ? AND domain_key = ?",
        (position, observed, project, task, domain),
    )
    if connection.changes():
        return
    known = fetch.row(
        connection,
        "SELECT status, status_raw FROM tasks WHERE project_key = ? AND task_key = ? LIMIT 1",
        (project, task),
    )
    connection.execute(
        "INSERT INTO tasks VALUES(?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?, 0)",
        (project, task, domain, position, position, observed, *(known or (None, None))),
    )


def _set_status(connection: apsw.Connection, project: str, task: str, status: str, *, private: bool) -> None:
    columns = "status_raw = ?1" if private else "status = ?1, status_raw = ?1"
    connection.execute(
        f"UPDATE tasks SET {columns} WHERE project_key = ?2 AND task_key = ?3",
        (status, project, task),
    )
    connection.execute(
        f"UPDATE tasks SET open = {_OPEN} WHERE project_key = ? AND task_key = ?",
        (project, task),
    )


_OPEN = f"(checkpoint IS NOT NULL AND coalesce(status, '') NOT IN {CLOSING!r})"


def _see_checkpoints(connection: apsw.Connection, keys: _Keys) -> None:
    """Find again which checkpoint of a task is the latest, and the latest that agents see."""
    latest = (
        "(SELECT max(position) FROM checkpoints c WHERE c.project_key = ?2 AND c.task_key = ?3 "
        "AND c.domain_key = ?1 {})"
    )
    connection.execute(
        f"UPDATE tasks SET latest = {latest.format('')}, "
        f"checkpoint = (SELECT position FROM checkpoints c WHERE c.project_key = ?2 AND c.task_key = ?3 "
        "AND c.domain_key = ?1 AND c.shown = 1 ORDER BY position DESC LIMIT 1) "
        "WHERE project_key = ?2 AND task_key = ?3 AND domain_key = ?1",
        keys,
    )
    connection.execute(
        f"UPDATE tasks SET open = {_OPEN} WHERE project_key = ?2 AND task_key = ?3 AND domain_key = ?1",
        keys,
    )


def _cause(connection: apsw.Connection, event: FoldEvent) -> int:
    """The position of the observation that caused an event; its own if the log does not hold that."""
    cause = event.causation_id
    found = None
    if cause is not None:
        found = fetch.value(connection, "SELECT position FROM observations WHERE event_id = ?", (cause,))
    return event.position if found is None else found


def _observed_at(connection: apsw.Connection, event_id: str) -> int | None:
    """The position of the memory event of an observation."""
    found: int | None = fetch.value(
        connection, "SELECT first_position FROM observations WHERE event_id = ?", (_id(event_id),)
    )
    return found


def _fact_at(connection: apsw.Connection, fact_id: str) -> int | None:
    found: int | None = fetch.value(
        connection, "SELECT position FROM facts WHERE fact_id = ?", (_id(fact_id),)
    )
    return found


def _id(text: str) -> bytes:
    """An id in the file; of a text that is none, what no event is called."""
    try:
        return UUID(text).bytes
    except ValueError:
        return b""


def _bytes(digest: str) -> bytes:
    """A digest in the file; of a text that is none, the text."""
    try:
        return bytes.fromhex(digest)
    except ValueError:
        return digest.encode("utf-8", "replace")


FOLDS: tuple[Any, ...] = (MemoryFold(),)

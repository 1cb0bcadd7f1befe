"""What a person can judge or withhold: an id of shared memory, and where it belongs."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import apsw

from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.log.streams import StreamRef, scope_stream
from workbench.memory.entry import LISTS
from workbench.memory.errors import InvalidArgument
from workbench.storage import fetch

CHECKPOINT, FACT, OBSERVATION, SECTION = "checkpoint", "fact", "observation", "section"
TARGET_KINDS = (CHECKPOINT, FACT, OBSERVATION, SECTION)


class Target(NamedTuple):
    """A checkpoint, a fact or an observation that is there."""

    kind: str
    id: str
    """As its readers show it."""
    position: int
    observation: int
    """The position of the observation that it is, or that caused it."""
    private: bool
    quarantined: bool
    stream: StreamRef
    """Of the scope under which it was written."""
    lines: dict[str, int]
    """Of a checkpoint, how many lines each list has; empty otherwise."""


_SQL = {
    OBSERVATION: "SELECT position, position, event_id, domain_key, project_key, task_key "
    "FROM observations WHERE event_id = ?",
    FACT: "SELECT position, observation, fact_id, domain_key, project_key, task_key "
    "FROM facts WHERE fact_id = ?",
    CHECKPOINT: "SELECT position, observation, event_id, domain_key, project_key, task_key "
    "FROM checkpoints WHERE event_id = ?",
}
_OF_OBSERVATION = {
    FACT: "SELECT f.position, o.position, f.fact_id, f.domain_key, f.project_key, f.task_key "
    "FROM observations o CROSS JOIN facts f ON f.position = o.fact_position WHERE o.event_id = ?",
    CHECKPOINT: "SELECT c.position, o.position, c.event_id, c.domain_key, c.project_key, c.task_key "
    "FROM observations o CROSS JOIN checkpoints c ON c.position = o.checkpoint_position WHERE o.event_id = ?",
}


def target(log: EventLog, kind: str, target_id: str) -> Target | None:
    """Look up what a review may be about; None where there is nothing of that kind and id.

    A fact or a checkpoint is also found by the id of its observation. Sections are not memory's: for them the
    answer is None. Raises `InvalidArgument` for what is no text.
    """
    if not isinstance(target_id, str) or not isinstance(kind, str):
        raise InvalidArgument("what a review is about is named by texts: its kind and its id")
    try:
        key = UUID(target_id).bytes
    except ValueError:
        return None
    if kind not in _SQL:
        return None
    with log.reader() as connection:
        row = fetch.row(connection, _SQL[kind], (key,))
        if row is None and kind in _OF_OBSERVATION:
            row = fetch.row(connection, _OF_OBSERVATION[kind], (key,))
        if row is None:
            return None
        position, observation, own, *keys = row
        private = fetch.value(connection, "SELECT private FROM events WHERE position = ?", (position,))
        return Target(
            kind,
            str(UUID(bytes=own)),
            position,
            observation,
            bool(private),
            is_quarantined(connection, observation),
            scope_stream(*keys),
            _lines(log, connection, position) if kind == CHECKPOINT else {},
        )


def is_quarantined(connection: apsw.Connection, observation: int) -> bool:
    """Whether the observation at a position is withheld now."""
    sql = "SELECT 1 FROM quarantines WHERE target = ? AND to_position IS NULL"
    return fetch.value(connection, sql, (observation,)) is not None


def stream_of(log: EventLog, name: str) -> StreamRef | None:
    """A stream that holds something, with its keys; None for another name."""
    with log.reader() as connection:
        row = fetch.row(
            connection,
            "SELECT name, kind, domain_key, project_key, task_key FROM streams WHERE name = ?",
            (name,),
        )
    return None if row is None else StreamRef(*row)


def _lines(log: EventLog, connection: apsw.Connection, position: int) -> dict[str, int]:
    event = log.decoder.event(fetch.rows(connection, sqlite.TO_FOLD, (position - 1, 1))[0])
    return {} if event is None else {each: len(getattr(event.payload, each)) for each in LISTS}

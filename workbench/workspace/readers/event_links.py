"""What an event belongs to: its task, its fact, its session, what caused it, the files that it names."""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

import apsw

from workbench.log.event_log import EventLog
from workbench.memory.events import CHECKPOINT, FACT, OBSERVATION, REVIEW, VISIBILITY
from workbench.sessions.queries import stream_of
from workbench.storage import fetch
from workbench.workspace.readers.clipping import clipped_payload
from workbench.workspace.readers.entry_damage import DAMAGE, reason_of


class TaskLink(NamedTuple):
    """A task and, where the event is one of its checkpoints or carries one, that checkpoint."""

    project: str
    task_id: str
    domain: str
    checkpoint_id: str


class FileLink(NamedTuple):
    """A source file that an observation names."""

    path: str
    status: str
    sha256: str
    """Of the copy; empty where there is none."""


class EventLinks(NamedTuple):
    """Where one event leads; what it has none of is empty."""

    position: int
    task: TaskLink | None = None
    fact_id: str = ""
    """The fact that it asserts or confirms, or that a review or a confirmation is about."""
    session: str | None = None
    """A session of the workspace."""
    cause: int = 0
    """The position of the event that caused it, or of what it is about."""
    evidence: tuple[FileLink, ...] = ()
    observation_id: str = ""
    """Of the observation that is withheld or released with it."""
    quarantined: bool = False
    """Whether that observation is withheld."""
    asserts: bool = False
    """Whether that observation asserts or confirms a fact, and so cannot be withheld."""
    target_kind: str = ""
    """`checkpoint`, `fact` or `observation` where a verdict can be given on it."""
    target_id: str = ""


class EventLinkReader:
    """Looks up what events belong to, now or as of a position."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def links(self, position: int, as_of: int | None = None) -> EventLinks:
        """Where the event at a position leads; nowhere for one that is not there or cannot be read.

        Some ten look-ups by key: not for the UI's thread.
        """
        upto = 2**62 if as_of is None else as_of
        with self._log.reader() as connection:
            row = fetch.row(
                connection,
                "SELECT t.type, e.event_id, e.causation_id FROM events e JOIN event_types t USING(type_id) "
                "WHERE e.position = ?",
                (position,),
            )
            if row is None or position > upto:
                return EventLinks(position)
            event_type, event_id, causation = row
            cause = 0 if causation is None else _position_of(connection, causation)
            found = EventLinks(position, cause=cause if cause <= upto else 0)
            try:
                payload = clipped_payload(connection, position)[0]
            except DAMAGE as error:
                reason_of(error)
                return found
            if event_type not in _MEMORY:
                return found
            return self._of_memory(connection, found, event_type, UUID(bytes=event_id), payload, upto)

    def _of_memory(
        self,
        connection: apsw.Connection,
        found: EventLinks,
        event_type: str,
        event_id: UUID,
        payload: dict[str, Any],
        upto: int,
    ) -> EventLinks:
        observation = found.position
        checkpoint_id = fact_id = kind = target_id = ""
        if event_type == OBSERVATION.type:
            kind, target_id = "observation", str(event_id)
        elif event_type == CHECKPOINT.type:
            kind = "checkpoint"
            target_id = checkpoint_id = str(event_id)
            sql = "SELECT observation FROM checkpoints WHERE position = ?"
            observation = fetch.value(connection, sql, (found.position,)) or found.position
        elif event_type == FACT.type:
            kind = "fact"
            confirmed = payload.get("confirms")
            target_id = fact_id = confirmed if isinstance(confirmed, str) else str(event_id)
            observation = found.cause
        else:
            about = payload.get("target_id")
            target = _position_of_text(connection, about)
            found = found._replace(cause=target if target <= upto else 0)
            observation = found.cause if event_type == VISIBILITY.type else 0
            if payload.get("target_kind") == "fact" and isinstance(about, str):
                fact_id = about
            if payload.get("target_kind") == "checkpoint" and isinstance(about, str):
                checkpoint_id = about
        own = fetch.row(
            connection,
            # An observation that confirms names its fact from the event on that says so.
            "SELECT event_id, iif(coalesce((SELECT max(c.position) FROM fact_confirmations c "
            "WHERE c.fact_position = o.fact_position AND c.observation = o.position), fact_position) <= ?1, "
            "fact_position, NULL), iif(checkpoint_position <= ?1, checkpoint_position, NULL) "
            "FROM observations o WHERE position = ?2 AND position <= ?1",
            (upto, observation),
        )
        withheld = False
        if own is not None:
            withheld = _is_withheld(connection, observation, upto)
            if own[1] is not None and not fact_id:
                fact_id = _id_at(connection, own[1])
            if own[2] is not None and not checkpoint_id:
                checkpoint_id = _id_at(connection, own[2])
        project, task_id = _name(payload, "project"), _name(payload, "task_id")
        if not (project and task_id) and found.cause and event_type in (REVIEW.type, VISIBILITY.type):
            about = clipped_payload(connection, found.cause)[0]
            project, task_id = _name(about, "project"), _name(about, "task_id")
            payload = {**payload, "domain": about.get("domain", "")}
        session = _name(payload, "session_id")
        known = bool(session) and stream_of(connection, session) is not None
        files = fetch.rows(
            connection,
            "SELECT path, status, sha256 FROM evidence_links WHERE position = ? ORDER BY ordinal",
            (observation,),
        )
        withholdable = own is not None and event_type in (OBSERVATION.type, CHECKPOINT.type, VISIBILITY.type)
        return found._replace(
            task=TaskLink(project, task_id, _name(payload, "domain"), checkpoint_id)
            if project and task_id
            else None,
            fact_id=fact_id,
            session=session if known else None,
            evidence=tuple(FileLink(path, status, digest or "") for path, status, digest in files),
            observation_id=str(UUID(bytes=own[0])) if own is not None and withholdable else "",
            quarantined=withheld,
            asserts=own is not None and own[1] is not None,
            target_kind=kind,
            target_id=target_id,
        )


_MEMORY = frozenset({OBSERVATION.type, CHECKPOINT.type, FACT.type, REVIEW.type, VISIBILITY.type})


def _name(payload: dict[str, Any], field: str) -> str:
    value = payload.get(field)
    return value if isinstance(value, str) else ""


def _position_of(connection: apsw.Connection, event_id: bytes) -> int:
    return fetch.value(connection, "SELECT position FROM events WHERE event_id = ?", (event_id,)) or 0


def _position_of_text(connection: apsw.Connection, event_id: object) -> int:
    try:
        return _position_of(connection, UUID(event_id).bytes) if isinstance(event_id, str) else 0
    except ValueError:
        return 0


def _id_at(connection: apsw.Connection, position: int) -> str:
    found = fetch.value(connection, "SELECT event_id FROM events WHERE position = ?", (position,))
    return "" if found is None else str(UUID(bytes=found))


def _is_withheld(connection: apsw.Connection, observation: int, upto: int) -> bool:
    sql = (
        "SELECT 1 FROM quarantines WHERE target = ?1 AND from_position <= ?2 "
        "AND (to_position IS NULL OR to_position > ?2)"
    )
    return fetch.value(connection, sql, (observation, upto)) is not None

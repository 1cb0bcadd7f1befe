"""A workspace's log with sessions in it, and the readers over it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw

from workbench.log import EventLog, PendingEvent
from workbench.log.streams import session_stream
from workbench.sessions.events import ActumRecorded, ChronicumCreated, ChronicumDescribed, UnitClosed
from workbench.sessions.model import ActorKind, ActumKind
from workbench.workspace.folds import FOLDS, TABLES, event_types
from workbench.workspace.readers import Readers

KINDS = tuple(kind.value for kind in ActumKind)
ACTOR_KINDS = tuple(kind.value for kind in ActorKind)
FACETS = tuple((k, a, p) for p in (False, True) for k in KINDS for a in ACTOR_KINDS)
START = datetime(2031, 5, 4, 3, 2, 1, tzinfo=UTC)


class Ticking:
    """A clock that moves by a second at each reading."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


def open_log(path: Path) -> EventLog:
    """A workspace's log in a file of its own, without waiting for the disk and with a clock of its own."""
    return EventLog.open(path, FOLDS, event_types(), clock=Ticking(), synchronous="OFF", tables=TABLES)


@contextmanager
def opened(path: Path) -> Iterator[tuple[EventLog, Readers]]:
    """A log and its readers."""
    with open_log(path) as log:
        yield log, Readers(log)


def begin(log: EventLog, session: str, owner: str = "me", **described: Any) -> None:
    """A session, with what an importer says of it."""
    log.append(session_stream(session), [ChronicumCreated(chronicum_id=session, owner_id=owner)])
    if described:
        log.append(session_stream(session), [ChronicumDescribed(**described)])


def actum(
    session: str,
    kind: str = "message",
    actor_kind: str = "human",
    private: bool = False,
    *,
    content: str = "hello",
    actor: str = "ann",
    occurred_at: datetime | None = None,
    number: int = 0,
    **metadata: Any,
) -> PendingEvent:
    """One act."""
    return PendingEvent(
        payload=ActumRecorded(
            id=f"id-{number}",
            chronicum_id=session,
            kind=kind,
            actor_kind=actor_kind,
            actor=actor,
            content=content,
            metadata=metadata,
        ),
        visibility="private" if private else "public",
        occurred_at=occurred_at,
    )


def unit(session: str, name: str, note: str = "") -> UnitClosed:
    """The end of a unit."""
    return (
        UnitClosed(chronicum_id=session, unit=name, note=note)
        if note
        else UnitClosed(chronicum_id=session, unit=name)
    )


@contextmanager
def counted_steps(log: EventLog) -> Iterator[list[int]]:
    """Collects the virtual-machine steps of each statement that the pool's one reader runs."""
    steps: list[int] = []

    def note(event: dict[str, Any]) -> None:
        steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    with log.reader() as connection:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    try:
        yield steps
    finally:
        with log.reader() as connection:
            connection.trace_v2(0, None)

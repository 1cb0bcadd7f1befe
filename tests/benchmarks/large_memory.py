"""A large shared memory for measurements, written through the log's own door.

Seeded, so that two runs make the same events (ids apart): projects of many tasks, some of them under several
spellings, chains of twenty facts, hand-offs, closed tasks, quarantined observations.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from msgspec import UNSET

from workbench.identity.entries import Names
from workbench.identity.folding import fold
from workbench.identity.registry import Registry
from workbench.log.event_log import EventLog, Restored
from workbench.log.identifiers import new_event_id
from workbench.log.registry import PendingEvent
from workbench.memory.events import CheckpointRecorded, FactAsserted, GuardVerdict, ObservationRecorded
from workbench.workspace.folds import FOLDS, TABLES, event_types

PROJECTS = 100
TASKS = 20
CHAIN = 20
SPELLED = 30
"""So many of the projects are written under three spellings."""
BATCH = 4000
START = datetime(2025, 1, 1, tzinfo=UTC)
BETWEEN = timedelta(seconds=20)

REGISTRY = Registry(
    projects=[Names(f"project-{n}", (f"Project {n} App", f"old_project_{n}")) for n in range(SPELLED)]
)
_WORDS = (
    "parser importer rollback patch review window ledger margin signal draft queue buffer cursor evidence "
    "digest branch merge release tenant budget schema index reader writer"
).split()
_GUARD = GuardVerdict(visibility="raw_only", risk=3, score=2, reasons=["protocol words", "absolute words"])


def project_name(number: int) -> str:
    """The canonical name of a project."""
    return f"project-{number}"


class _Slot:
    """A slot of one scope and its current fact."""

    def __init__(self) -> None:
        self.number = 0
        self.length = 0
        self.current: str | None = None

    def turn(self) -> None:
        self.number += 1
        self.length = 0
        self.current = None


class _Scope(NamedTuple):
    project: int
    task: int | None


def fill(path: Path, events: int, seed: int = 7) -> EventLog:
    """A new log of about `events` events in a file."""
    log = EventLog.open(path, FOLDS, event_types(), tables=TABLES, synchronous="OFF")
    write(log, events, seed)
    return log


def write(log: EventLog, events: int, seed: int = 7) -> None:
    """The same events at the end of a log."""
    batch: list[Restored] = []
    for entry in _written(random.Random(seed), events):
        batch.append(entry)
        if len(batch) >= BATCH:
            log.restore_all(batch)
            batch = []
    log.restore_all(batch)


def _written(draw: random.Random, events: int) -> Iterator[Restored]:
    slots: dict[_Scope, _Slot] = {}
    status: dict[_Scope, str] = {}
    done = 0
    while done < events:
        project = draw.randrange(PROJECTS)
        scope = _Scope(project, draw.randrange(TASKS) if draw.random() < 0.9 else None)
        at = START + BETWEEN * done
        for payload, own_id, cause in _call(draw, scope, slots, status):
            pending = PendingEvent(payload=payload, event_id=own_id, causation_id=cause)
            yield Restored(payload.stream, pending, at)
            done += 1


def _names(draw: random.Random, scope: _Scope) -> dict[str, Any]:
    canonical = project_name(scope.project)
    written = canonical
    if scope.project < SPELLED:
        # What is written before a spelling is declared keeps its own key.
        written = draw.choice((canonical, f"Project {scope.project} App", f"old_project_{scope.project}"))
    task = None if scope.task is None else f"task-{scope.task}"
    return {
        "domain": "global",
        "scope_domain": "global",
        "project": written,
        "scope_project": fold(written),
        "task_id": UNSET if task is None else task,
        "scope_task": task or "",
        "agent": draw.choice(("claude", "codex", "gemini")),
    }


def _call(
    draw: random.Random, scope: _Scope, slots: dict[_Scope, _Slot], status: dict[_Scope, str]
) -> Iterator[tuple[Any, UUID, UUID | None]]:
    names = _names(draw, scope)
    observation = UUID(bytes=new_event_id())
    kind = draw.random()
    quarantined = kind > 0.96
    yield (
        ObservationRecorded(
            **names,
            agent_source="explicit",
            session_id="s1",
            category="decision" if draw.random() < 0.05 else "note",
            text=_words(draw, 20),
            why=_words(draw, 8),
            request_hash=f"{draw.getrandbits(256):064x}",
            content_hash=f"{draw.getrandbits(256):064x}",
            hash_filter="none",
            memory_guard=_GUARD if quarantined else UNSET,
        ),
        observation,
        None,
    )
    if kind < 0.30:
        slot = slots.setdefault(scope, _Slot())
        if slot.length == CHAIN:
            slot.turn()
        replaced = UNSET if slot.current is None else slot.current
        fact = UUID(bytes=new_event_id())
        yield (
            FactAsserted(
                **names,
                slot=f"slot-{slot.number}",
                value=_words(draw, 4),
                kind="decision",
                supersedes=replaced,
                retires=UNSET if slot.current is None else [slot.current],
            ),
            fact,
            observation,
        )
        slot.current = str(fact)
        slot.length += 1
    elif kind < 0.45 and scope.task is not None:
        yield (
            CheckpointRecorded(
                **names,
                goal=_words(draw, 8),
                completed=[_words(draw, 6) for _ in range(3)],
                verification=[_words(draw, 6)],
                open_questions=[_words(draw, 6)],
                next_steps=[_words(draw, 6) for _ in range(3)],
            ),
            UUID(bytes=new_event_id()),
            observation,
        )
    elif kind < 0.455 and scope.task is not None:
        before = status.get(scope)
        fact = UUID(bytes=new_event_id())
        yield (
            FactAsserted(
                **names,
                slot="task.status",
                value=draw.choice(("completed", "active", "active")),
                kind="decision",
                supersedes=UNSET if before is None else before,
                retires=UNSET if before is None else [before],
            ),
            fact,
            observation,
        )
        status[scope] = str(fact)


def _words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(_WORDS, k=count))

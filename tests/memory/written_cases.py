"""A memory on a log of its own, with evidence beside it, and a clock that the test moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from workbench.errors import WorkbenchError
from workbench.evidence.events import EVENT_TYPES as EVIDENCE_EVENT_TYPES
from workbench.evidence.folds import FOLDS as EVIDENCE_FOLDS
from workbench.evidence.policy import EvidencePolicy
from workbench.evidence.staging import Stager
from workbench.evidence.store import EvidenceStore
from workbench.identity.entries import Names
from workbench.identity.registry import EMPTY, Registry
from workbench.log import FOLDS as LOG_FOLDS
from workbench.log import EventLog, EventTypeRegistry, StoredEvent
from workbench.log.ports import Redactor
from workbench.log.registry import PendingEvent
from workbench.log.replay import replay
from workbench.memory.events import EVENT_TYPES, VisibilityChanged
from workbench.memory.folds import FOLDS, MemoryFold
from workbench.memory.memory import Memory
from workbench.redaction.filter import SecretFilter
from workbench.storage import fetch

FILTER = SecretFilter()
TOKEN = "ghp_" + "a1B2" * 9
"""What the filter takes for a secret."""
START = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL_FOLDS = (*FOLDS, *EVIDENCE_FOLDS, *LOG_FOLDS)

ATLAS = Registry(
    projects=[Names("atlas", aliases=("STATUS", "Atlas App"))], domains=[Names("work", ("Job",))]
)
FACT = {"slot": "db.engine", "value": "postgres", "kind": "decision"}
CHECKPOINT = {"goal": "ship it", "completed": ["parser"], "next_steps": ["docs", "release"]}


class MovedClock:
    """The time that a test says it is; each look takes a microsecond."""

    def __init__(self) -> None:
        self.at = START

    def __call__(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def pass_(self, **time: float) -> None:
        """Let time pass, as `timedelta` takes it."""
        self.at += timedelta(**time)


class Kept(Memory):
    """A memory with the names of a registry that a test may replace, and all that lies around it."""

    def __init__(self, folder: Path, registry: Registry = EMPTY, redactor: Redactor | None = None) -> None:
        self.folder = folder
        self.names = registry
        self.ticks = MovedClock()
        self.artifacts = folder / "artifacts"
        found = FILTER if redactor is None else redactor
        log = EventLog.open(
            folder / "log.db",
            ALL_FOLDS,
            EventTypeRegistry((*EVENT_TYPES, *EVIDENCE_EVENT_TYPES)),
            redactor=found,
            clock=self.ticks,
            synchronous="OFF",
        )
        stager = Stager(EvidenceStore(self.artifacts), EvidencePolicy(), found, base=folder)
        super().__init__(log, lambda: self.names, staging=lambda: stager, clock=self.ticks)

    def events(self) -> list[StoredEvent]:
        """The whole log."""
        return list(self.log.read())

    def last(self) -> StoredEvent:
        """The newest event."""
        return self.events()[-1]

    def of_type(self, name: str) -> list[StoredEvent]:
        """The events of one type."""
        return [event for event in self.events() if event.envelope.type == name]

    def withheld_alone(self, observation_id: str, quarantined: bool = True) -> None:
        """One observation and none of its repeats is withheld, as earlier versions wrote it."""
        found = self.target("observation", observation_id)
        assert found is not None
        domain, project, task = found.stream[2:]
        change = VisibilityChanged(
            scope_domain=domain,
            scope_project=project,
            scope_task=task,
            target_id=observation_id,
            quarantined=quarantined,
            reason="doubtful",
            by="maya",
        )
        self.log.append(found.stream, [PendingEvent(payload=change)])

    def state(self) -> tuple[int, list[str]]:
        """What a refusal must leave as it was: where the log ends, and every file beside it."""
        # The database's own files come and go as it likes.
        files = [str(path.relative_to(self.folder)) for path in self.artifacts.rglob("*")]
        return self.log.last_position(), sorted(files)

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Nothing is stored within the block."""
        before = self.state()
        yield
        assert self.state() == before

    @contextmanager
    def refuses(
        self, error: type[WorkbenchError], match: str | None = None
    ) -> Iterator[pytest.ExceptionInfo[WorkbenchError]]:
        """The block is refused, nothing is stored, and no secret is repeated."""
        with self.unchanged(), pytest.raises(error, match=match) as caught:
            yield caught
        assert TOKEN not in f"{caught.value.message} {caught.value.hint}"


def fresh(tmp_path: Path, registry: Registry = EMPTY) -> Kept:
    """A new memory in a folder of its own."""
    folder = tmp_path / "kept"
    folder.mkdir()
    return Kept(folder, registry)


def tables(connection: apsw.Connection, names: Sequence[str] = MemoryFold.tables) -> dict[str, list[Any]]:
    """Every row of the fold's tables."""
    return {name: fetch.rows(connection, f"SELECT * FROM {name} ORDER BY 1, 2, 3") for name in names}


def folded_now(log: EventLog) -> dict[str, list[Any]]:
    """The tables as the log's appends left them."""
    with log.reader() as connection:
        return tables(connection)


def folded_again(log: EventLog, upto: int | None = None) -> dict[str, list[Any]]:
    """The tables that a replay gives."""
    scratch = apsw.Connection(":memory:")
    replay(log.database, FOLDS, log.decoder, scratch, upto=upto)
    return tables(scratch)

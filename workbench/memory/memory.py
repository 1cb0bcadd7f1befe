"""Shared memory as a program uses it: what `MemoryReader` reads, and everything that writes (DESIGN §8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from workbench.identity.registry import Registry
from workbench.log.event_log import EventLog
from workbench.log.times import Clock
from workbench.memory.entry import Checkpoint, Fact, validated
from workbench.memory.events import ReviewItem
from workbench.memory.ports import EvidenceStaging, TaskChronicle, no_chronicle
from workbench.memory.quarantine import VisibilityReceipt, set_quarantine
from workbench.memory.reader import MemoryReader
from workbench.memory.receipts import Receipt
from workbench.memory.record import Recorder
from workbench.memory.reviews_written import ReviewReceipt, write_review
from workbench.memory.targets import Target, target


class Memory(MemoryReader):
    """The shared memory of one workspace; threads may share it.

    `registry` and `staging` are asked at each call, so that a manifest that changed counts at once; without
    `staging`, source files are noted and not kept. `clock` is the log's own (default: the wall clock).
    """

    def __init__(
        self,
        log: EventLog,
        registry: Callable[[], Registry],
        *,
        staging: Callable[[], EvidenceStaging] | None = None,
        clock: Clock | None = None,
        label: Callable[[str], str] = str,
        zone: tzinfo = UTC,
        chronicle: TaskChronicle = no_chronicle,
    ) -> None:
        super().__init__(log, registry, clock=clock, label=label, zone=zone, chronicle=chronicle)
        self._recorder = Recorder(log, registry, staging, clock)

    def record_event(
        self,
        text: str,
        *,
        why: str | None = None,
        domain: str | None = None,
        project: str | None = None,
        task_id: str | None = None,
        category: str | None = None,
        agent: str | None = None,
        agent_source: str | None = None,
        session_id: str | None = None,
        fact: Fact | Mapping[str, Any] | None = None,
        checkpoint: Checkpoint | Mapping[str, Any] | None = None,
        source_files: Sequence[str] | None = (),
        request_id: str | None = None,
        external_id: str | None = None,
        occurred_at: datetime | None = None,
        entity_id: str | None = None,
        entity_type: str | None = None,
        visibility: str = "public",
        guard: bool = False,
    ) -> Receipt:
        """Record an observation and what it carries, in one transaction; durable when it returns.

        In: names of 1..200 characters; `text` 1..100,000, `why` up to 20,000; `category` one of ours (another
        well-formed one becomes `note`); `fact` {slot, value, kind, supersedes?} and `checkpoint` {goal, and
        lists completed, verification, open_questions, next_steps} with the limits of `entry.Fact` and
        `entry.Checkpoint`; up to 100 `source_files`; `occurred_at` with a time zone. A task needs its
        project, a checkpoint both. `agent_source` says how the agent is known: `explicit` (the default for a
        named one), `session`, `client` or `default`. `visibility="private"` keeps it from every agent. With
        `guard`, the memory guard judges prose that carries neither fact nor checkpoint.

        The same request id and input again gives the first receipt and writes nothing; the same content
        within 24 hours is one memory event with a further observation.

        Raises `InvalidArgument`, `RequestConflict` (the request id was used for another input), `StaleFact`
        (carries the slot's current fact), `EvidenceError`, and the storage errors of a write. A refusal
        leaves nothing behind (contract memory, "record_event pipeline").
        """
        entry = validated(
            text,
            why=why,
            domain=domain,
            project=project,
            task_id=task_id,
            category=category,
            agent=agent,
            agent_source=agent_source,
            session_id=session_id,
            fact=fact,
            checkpoint=checkpoint,
            source_files=source_files,
            request_id=request_id,
            external_id=external_id,
            occurred_at=occurred_at,
            entity_id=entity_id,
            entity_type=entity_type,
            visibility=visibility,
        )
        return self._recorder.record(entry, guarded=guard)

    def quarantine(self, observation_id: str, *, reason: str, by: str) -> VisibilityReceipt:
        """Withhold an observation and all that repeat it; `changed` is False if all were already.

        One event is written for each of them. A repeat that is recorded later is withheld from the start.
        `reason` has 1..1000 characters. Raises `InvalidArgument`, also for an observation that asserts or
        confirms a fact: reject or supersede the fact instead (contract memory, "Quarantine").
        """
        return set_quarantine(self.log, observation_id, quarantined=True, reason=reason, by=by)

    def release(self, observation_id: str, *, reason: str, by: str) -> VisibilityReceipt:
        """Let agents see a quarantined observation and its repeats again; otherwise as `quarantine`."""
        return set_quarantine(self.log, observation_id, quarantined=False, reason=reason, by=by)

    def target(self, kind: str, target_id: str) -> Target | None:
        """The `checkpoint`, `fact` or `observation` of an id; None if there is none."""
        return target(self.log, kind, target_id)

    def record_review(
        self,
        target_kind: str,
        target_id: str,
        verdict: str,
        comment: str = "",
        *,
        item: ReviewItem | Mapping[str, Any] | None = None,
        reviewer: str,
        prose_sha256: str | None = None,
        target_stream: str | None = None,
    ) -> ReviewReceipt:
        """Write a person's verdict (`accepted`, `questioned` or `rejected`) to the stream of its target.

        `comment` has up to 4000 characters; `item` {list, index} names a line of a checkpoint. A section
        needs `target_stream`, and `prose_sha256` says which text was judged. Raises `InvalidArgument` for a
        target of memory that is not there, `UnknownScope` for a section's unknown stream (contract memory,
        "Reviews").
        """
        return write_review(
            self.log,
            target_kind,
            target_id,
            verdict,
            comment=comment,
            item=item,
            reviewer=reviewer,
            prose_sha256=prose_sha256,
            target_stream=target_stream,
        )

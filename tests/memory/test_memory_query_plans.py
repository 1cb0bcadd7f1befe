"""No reader of shared memory looks at a whole table: every query begins at an index (contract memory, speed)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.memory.written_cases import ATLAS, CHECKPOINT, Kept, fresh

TABLES = ("observations", "facts", "checkpoints", "events", "memory_events", "fact_confirmations")
PLAN_OF_ALL = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
PARTIAL = {"reviews_standing", "decisions_anywhere"}
"""Indexes of a few rows each, or read from the end as far as needed."""


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    supersedes = None
    for number in range(12):
        receipt = memory.record_event(
            f"text {number}",
            project=("atlas", "status", None)[number % 3],
            task_id=None if number % 3 == 2 else "ship",
            category="decision" if number % 4 == 0 else "note",
            checkpoint=CHECKPOINT if number == 3 else None,
            fact={"slot": "db", "value": f"{number}", "kind": "observed", "supersedes": supersedes}
            if number % 3 == 2
            else None,
        )
        supersedes = receipt.fact_id or supersedes
    memory.record_event(
        "done",
        project="atlas",
        task_id="other",
        fact={"slot": "task.status", "value": "active", "kind": "observed"},
    )
    memory.record_review("fact", supersedes or "", "rejected", "no", reviewer="maya")
    memory.quarantine(memory.recent()[-2].observation_id, reason="doubtful", by="maya")
    yield memory
    memory.log.close()


@contextmanager
def traced(memory: Kept) -> Iterator[dict[str, Any]]:
    """The statements, with their bindings, that readers run meanwhile."""
    seen: dict[str, Any] = {}

    def trace(_cursor: apsw.Cursor, statement: str, bindings: Any) -> bool:
        seen.setdefault(statement, bindings)
        return True

    with memory.log.reader() as connection:
        # A thread that asks again within its own turn is lent the same connection.
        connection.exec_trace = trace
        try:
            yield seen
        finally:
            connection.exec_trace = None


def plan(memory: Kept, statement: str, bindings: Any) -> list[str]:
    with memory.log.reader() as connection:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings or ()).fetchall()
    return [str(row[3]) for row in rows]


def whole_tables(lines: list[str], statement: str) -> list[str]:
    """The lines of a plan that read a whole table of memory, under whatever alias."""
    found = []
    for line in lines:
        match = PLAN_OF_ALL.match(line)
        if match is None or match[2] in PARTIAL:
            continue
        table = match[1]
        alias = re.search(rf"(?:FROM|JOIN) (\w+)(?: INDEXED BY \w+)? (?:AS )?{table}\b", statement)
        if (alias[1] if alias and alias[1] in TABLES else table) in TABLES:
            found.append(line)
    return found


def ask_everything(memory: Kept, as_of: int | None, raw: bool) -> None:
    at: dict[str, Any] = {"raw": raw, "as_of": as_of}
    ids = [fact.id for fact in memory.facts().facts]
    scopes: list[dict[str, Any]] = [{}, {"project": "atlas"}, {"project": "atlas", "task_id": "ship"}]
    for scope in scopes:
        context = memory.task_context(**scope, limit=2, **at)
        memory.task_context(**scope, since=context.cursor, **at)
        memory.facts(**scope, **at)
        memory.facts(**scope, slot="db", **at)
        memory.as_of(memory.log.last_position() if as_of is None else as_of, **scope, raw=raw)
        memory.reviews(**scope, **at)
    for fact_id in ids:
        memory.chain(fact_id, **at)
    memory.conflicts(**at)
    memory.open_tasks(**at)
    memory.open_tasks(project="atlas", **at)
    memory.tasks(all=True, **at)
    memory.tasks(project="atlas", all=True, **at)
    memory.recent(**at)
    memory.recent(domain="work", **at)


def test_no_reader_reads_a_whole_table(kept: Kept) -> None:
    position = kept.log.last_position() - 1
    checkpoint = kept.task_context(project="atlas", task_id="ship").checkpoint
    assert checkpoint is not None
    with traced(kept) as seen:
        for as_of in (None, position):
            for raw in (False, True):
                ask_everything(kept, as_of, raw)
                kept.timeline(kept.ticks.at, as_of=as_of is not None, raw=raw)
        kept.startup_bundle(project="atlas", task_id="ship")
        kept.startup_bundle(focus="text")
        kept.startup_bundle(project="atlas", focus="text 1")
        kept.brief()
        kept.brief(project="atlas")
        kept.compare(checkpoint.observation_id, checkpoint.observation_id)
        kept.since_review("atlas", "ship")
        kept.quarantined()
        kept.recent(project="atlas")
        kept.recent(project="atlas", task_id="ship")
    assert len(seen) > 60
    slow = {
        statement: bad
        for statement, bindings in seen.items()
        if statement.startswith("SELECT")
        and (bad := whole_tables(plan(kept, statement, bindings), statement))
    }
    assert slow == {}
    # What is asked for in order comes out of an index in order; the few standing reviews, and the versions of
    # one slot in a whole project, are sorted.
    sorted_after = {
        statement
        for statement, bindings in seen.items()
        if "ORDER BY position" in statement
        and "reviews_standing" not in statement
        and "facts_by_slot" not in statement
        and "facts_held" not in statement
        and "USE TEMP B-TREE" in "\n".join(plan(kept, statement, bindings))
    }
    assert sorted_after == set()


def test_a_scan_would_be_found(kept: Kept) -> None:
    for statement in (
        "SELECT position FROM observations WHERE private = 1",
        "SELECT o.position FROM observations o WHERE o.private = 1",
        "SELECT 1 FROM facts f WHERE f.kind = 'x'",
    ):
        assert whole_tables(plan(kept, statement, ()), statement)

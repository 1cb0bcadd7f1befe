"""What was known at an earlier position (contract memory, "As of"; cases V06, V07)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.written_cases import ATLAS, CHECKPOINT, START, Kept, fresh
from tests.thorough import examples
from workbench.identity.registry import EMPTY
from workbench.log.decoding import converted
from workbench.log.event_log import EventLog, Restored
from workbench.log.registry import PendingEvent, StoredEvent
from workbench.memory.errors import InvalidArgument, StaleFact
from workbench.memory.events import ScopedPayload
from workbench.memory.reader import MemoryReader


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


def fact(value: str, supersedes: str | None = None) -> dict[str, Any]:
    return {"slot": "db", "value": value, "kind": "observed", "supersedes": supersedes}


def values(reader: MemoryReader, as_of: datetime | int | None = None) -> list[str]:
    return [each.value for each in reader.facts(as_of=as_of).facts]


def test_before_a_supersession_the_old_fact_is_current_and_at_its_position_the_new_one(kept: Kept) -> None:
    old = kept.record_event("a", project="atlas", fact=fact("sqlite"))
    new = kept.record_event("b", project="atlas", fact=fact("postgres", old.fact_id))
    asserted = kept.facts().facts[0].position
    assert values(kept, asserted - 1) == ["sqlite"]
    assert values(kept, asserted) == ["postgres"]
    assert new.fact_id is not None and old.fact_id is not None
    (link,) = kept.chain(old.fact_id, as_of=asserted - 1)
    assert (link.current, link.replaced_by) == (True, None)
    with pytest.raises(InvalidArgument):
        kept.chain(new.fact_id, as_of=asserted - 1)
    assert values(kept, 0) == []
    assert kept.as_of(0).to_dict()["recorded_at"] is None


def test_a_time_means_the_last_position_recorded_at_or_before_it(kept: Kept) -> None:
    old = kept.record_event("a", project="atlas", fact=fact("one"))
    kept.ticks.pass_(hours=1)
    new = kept.record_event("b", project="atlas", fact=fact("two", old.fact_id))
    assert values(kept, new.recorded_at - timedelta(microseconds=1)) == ["one"]
    assert values(kept, new.recorded_at) == ["two"]
    assert values(kept, new.recorded_at.astimezone(timezone(timedelta(hours=5)))) == ["two"]
    assert values(kept, START - timedelta(days=1)) == []
    assert values(kept, new.recorded_at + timedelta(days=900)) == ["two"]
    answer = kept.as_of(old.recorded_at, project="atlas")
    assert (answer.position, answer.names, [f.value for f in answer.facts]) == (2, "today", ["one"])


@pytest.mark.parametrize("t", [datetime(2026, 3, 1), -1, 99, True, "yesterday"])
def test_what_names_no_moment_is_refused(kept: Kept, t: Any) -> None:
    kept.record_event("a")
    with kept.refuses(InvalidArgument):
        kept.as_of(t)
    with kept.refuses(InvalidArgument):
        kept.facts(as_of=t)


def test_a_released_checkpoint_opens_its_task_and_the_release_says_who_and_why(kept: Kept) -> None:
    found = kept.record_event("hand-off", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    kept.quarantine(found.observation_id, reason="looks made up", by="maya")
    withheld = kept.log.last_position()
    kept.release(found.observation_id, reason="checked by hand", by="maya")
    assert [task.goal for task in kept.open_tasks()] == ["ship it"]
    context = kept.task_context(project="atlas", task_id="ship")
    assert context.checkpoint is not None and context.checkpoint["checkpoint"].goal == "ship it"
    release = kept.last().payload
    assert (release["by"], release["reason"], release["quarantined"]) == ("maya", "checked by hand", False)
    assert kept.open_tasks(as_of=withheld) == []
    assert kept.as_of(withheld).recent_events == []
    (row,) = kept.as_of(withheld, raw=True).quarantine
    assert (row.by, row.reason, row.since) == ("maya", "looks made up", withheld)
    assert [task.goal for task in kept.open_tasks(as_of=withheld - 1)] == ["ship it"]
    assert kept.quarantined() == []


def test_names_resolve_as_they_do_today(kept: Kept) -> None:
    kept.names = EMPTY
    kept.record_event("a", project="status", fact=fact("x"))
    position = kept.log.last_position()
    kept.names = ATLAS
    assert [f.value for f in kept.facts(project="atlas", as_of=position).facts] == ["x"]


# -- the same as a replay ------------------------------------------------------------------

PROJECTS = ("atlas", "status", "Atlas App", None)
TASKS = ("ship", "Ship It", None)
SCOPES: list[dict[str, Any]] = [
    {},
    {"project": "atlas"},
    {"project": "atlas", "task_id": "ship"},
    {"project": "STATUS", "task_id": "ship it"},
    {"domain": "work", "project": "atlas"},
]
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.sampled_from(PROJECTS), st.sampled_from(TASKS), st.integers(0, 3)),
        st.tuples(st.just("handoff"), st.sampled_from(PROJECTS), st.sampled_from(TASKS), st.integers(0, 3)),
        st.tuples(st.just("fact"), st.sampled_from(PROJECTS), st.sampled_from(TASKS), st.integers(0, 3)),
        st.tuples(st.just("status"), st.sampled_from(PROJECTS), st.sampled_from(TASKS), st.integers(0, 3)),
        st.tuples(st.just("quarantine"), st.none(), st.none(), st.integers(0, 30)),
        st.tuples(st.just("release"), st.none(), st.none(), st.integers(0, 30)),
        st.tuples(st.just("review"), st.none(), st.none(), st.integers(0, 90)),
    ),
    min_size=1,
    max_size=14,
)


class Story:
    """Carries out calls that a test drew; one that is refused leaves nothing."""

    def __init__(self, memory: Kept) -> None:
        self.memory = memory
        self.observations: list[str] = []
        self.targets: list[tuple[str, str]] = []

    def tell(self, calls: list[tuple[str, str | None, str | None, int]]) -> None:
        for kind, project, task, number in calls:
            # Aliases are declared while the story goes on: some of it is written under names of its own.
            self.memory.names = EMPTY if number % 2 else ATLAS
            if kind in ("quarantine", "release"):
                self._hide(kind, number)
            elif kind == "review":
                self._review(number)
            else:
                self._record(kind, project, task if project else None, number)
        self.memory.names = ATLAS

    def _record(self, kind: str, project: str | None, task: str | None, number: int) -> None:
        more: dict[str, Any] = {}
        if kind == "handoff" and task:
            more["checkpoint"] = {
                "goal": f"goal {number}",
                "open_questions": ["why?"],
                "next_steps": ["go on"],
            }
        if kind == "fact":
            more["fact"] = {"slot": "db", "value": f"v{number}", "kind": "observed"}
        if kind == "status" and task:
            value = ("Completed", "active", "cancelled", "active")[number]
            more["fact"] = {"slot": "task.status", "value": value, "kind": "decision"}
        arguments: dict[str, Any] = dict(
            text=f"text {number % 2}",
            category=("note", "decision")[number // 2],
            domain=(None, "work")[number == 3],
            project=project,
            task_id=task,
            agent=("claude", "codex")[number % 2],
            visibility="private" if number == 2 and kind == "handoff" else "public",
            **more,
        )
        try:
            receipt = self.memory.record_event(**arguments)
        except StaleFact as stale:
            if stale.current is None:
                return
            arguments["fact"] = {**arguments["fact"], "supersedes": stale.current}
            receipt = self.memory.record_event(**arguments)
        self.observations.append(receipt.observation_id)
        self.targets.append(("observation", receipt.observation_id))
        if receipt.checkpoint_id:
            self.targets.append(("checkpoint", receipt.checkpoint_id))
        if receipt.fact_id:
            self.targets.append(("fact", receipt.fact_id))

    def _hide(self, kind: str, number: int) -> None:
        if not self.observations:
            return
        target = self.observations[number % len(self.observations)]
        try:
            if kind == "quarantine":
                self.memory.quarantine(target, reason="doubtful", by="maya")
            else:
                self.memory.release(target, reason="fine", by="maya")
        except InvalidArgument:
            # It carries a fact.
            return

    def _review(self, number: int) -> None:
        if not self.targets:
            return
        kind, target = self.targets[number % len(self.targets)]
        verdict = ("accepted", "questioned", "rejected")[number % 3]
        self.memory.record_review(kind, target, verdict, f"comment {number}", reviewer="maya")


def copied(source: EventLog, event: StoredEvent) -> Restored:
    """An event of one log as another takes it."""
    envelope = event.envelope
    event_type = source.registry.get(envelope.namespace, envelope.type)
    assert event_type is not None
    payload = converted(event_type, event.payload)
    assert isinstance(payload, ScopedPayload)
    pending = PendingEvent(
        payload=payload,
        event_id=envelope.event_id,
        causation_id=envelope.causation_id,
        visibility=envelope.visibility,
        occurred_at=envelope.occurred_at,
    )
    return Restored(payload.stream, pending, envelope.recorded_at)


def answers(reader: MemoryReader, ids: list[str], as_of: int | None) -> dict[str, Any]:
    """Everything that a reader says about a moment."""
    found: dict[str, Any] = {}
    for raw in (False, True):
        for number, scope in enumerate(SCOPES):
            at: dict[str, Any] = {"raw": raw, "as_of": as_of}
            found[f"context {number} {raw}"] = reader.task_context(**scope, limit=3, **at)
            found[f"facts {number} {raw}"] = reader.facts(**scope, **at)
            found[f"slot {number} {raw}"] = reader.facts(**scope, slot="db", **at)
            position = reader.log.last_position() if as_of is None else as_of
            found[f"all {number} {raw}"] = reader.as_of(position, **scope, limit=5, raw=raw)
        for every in (False, True):
            found[f"tasks {every} {raw}"] = reader.tasks(all=every, **at)
            found[f"tasks of a project {every} {raw}"] = reader.tasks("atlas", all=every, **at)
        found[f"open {raw}"] = reader.open_tasks(**at)
        found[f"recent {raw}"] = reader.recent(**at)
        found[f"reviews {raw}"] = reader.reviews(**at)
        found[f"reviews of a task {raw}"] = reader.reviews(project="atlas", task_id="ship", **at)
        found[f"conflicts {raw}"] = reader.conflicts(**at)
        for fact_id in ids:
            try:
                found[f"chain {fact_id} {raw}"] = reader.chain(fact_id, **at)
            except InvalidArgument:
                found[f"chain {fact_id} {raw}"] = None
    found["quarantine"] = reader.quarantined(as_of=as_of)
    return found


@settings(max_examples=examples(60), deadline=None)
@given(CALLS)
def test_any_position_answers_as_a_log_that_ends_there(
    calls: list[tuple[str, str | None, str | None, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, two = Path(folder, "one"), Path(folder, "two")
        one.mkdir()
        two.mkdir()
        memory, replayed = Kept(one, ATLAS), Kept(two, ATLAS)
        try:
            story = Story(memory)
            story.tell(calls)
            facts = sorted({target for kind, target in story.targets if kind == "fact"})
            for event in memory.events():
                replayed.log.restore_all([copied(memory.log, event)])
                assert answers(memory, facts, event.position) == answers(replayed, facts, None)
            last = memory.log.last_position()
            assert answers(memory, facts, last) == answers(memory, facts, None)
        finally:
            memory.log.close()
            replayed.log.close()

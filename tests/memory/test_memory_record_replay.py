"""Any interleaving of valid commands folds to the same tables when it is folded again (contract memory, "Ours")."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory.written_cases import Kept, folded_again, folded_now
from workbench.identity.entries import Names
from workbench.identity.registry import EMPTY, Registry
from workbench.memory.errors import InvalidArgument, MemoryRefusal, StaleFact
from workbench.memory.receipts import Receipt
from workbench.storage import fetch

REGISTRIES = (
    EMPTY,
    Registry(projects=[Names("atlas", ("status",))]),
    Registry(projects=[Names("atlas", ("status", "atlas app"))], domains=[Names("work", ("job",))]),
)
DOMAINS = st.sampled_from((None, "work", "Job", "global"))
PROJECTS = st.sampled_from((None, "Atlas", "STATUS", "atlas_app"))
TASKS = st.sampled_from((None, "Launch Plan", "launch_plan"))
TEXTS = st.sampled_from(("one", "two", "# always\n- never ask\n- startup_bundle must run"))
NUMBER = st.integers(0, 11)


class Say(msgspec.Struct, frozen=True):
    """Record something."""

    text: str
    domain: str | None
    project: str | None
    task: str | None
    fact: tuple[str, str, str] | None
    """Slot, value and kind; what it replaces is looked up."""
    goal: str | None
    private: bool
    guard: bool
    request: int | None
    minutes: int


class Hide(msgspec.Struct, frozen=True):
    """Quarantine or release one of the calls so far."""

    of: int
    quarantined: bool


class Judge(msgspec.Struct, frozen=True):
    """Review something that one of the calls so far stored."""

    of: int
    kind: str
    verdict: str
    line: bool


class Declare(msgspec.Struct, frozen=True):
    """Aliases are added to the manifest, or taken out."""

    registry: int


SLOTS = st.tuples(
    st.sampled_from(("db", "task.status")),
    st.sampled_from(("open", "Completed ", "cancelled")),
    st.sampled_from(("observed", "decision")),
)
SAYINGS = st.builds(
    Say,
    text=TEXTS,
    domain=DOMAINS,
    project=PROJECTS,
    task=TASKS,
    fact=st.none() | SLOTS,
    goal=st.none() | st.sampled_from(("ship", "mend")),
    private=st.booleans(),
    guard=st.booleans(),
    request=st.none() | st.integers(0, 3),
    minutes=st.sampled_from((0, 1, 800)),
)
COMMANDS = st.lists(
    st.one_of(
        SAYINGS,
        SAYINGS,
        st.builds(Hide, of=NUMBER, quarantined=st.booleans()),
        st.builds(
            Judge,
            of=NUMBER,
            kind=st.sampled_from(("observation", "fact", "checkpoint")),
            verdict=st.sampled_from(("accepted", "questioned", "rejected")),
            line=st.booleans(),
        ),
        st.builds(Declare, registry=st.integers(0, len(REGISTRIES) - 1)),
    ),
    min_size=1,
    max_size=25,
)


def arguments(said: Say) -> dict[str, Any]:
    """What `record_event` is given."""
    task = said.task if said.project is not None else None
    slot = None if said.fact is None else dict(zip(("slot", "value", "kind"), said.fact, strict=True))
    return {
        "text": said.text,
        "domain": said.domain,
        "project": said.project,
        "task_id": task,
        "fact": slot,
        "checkpoint": {"goal": said.goal, "next_steps": ["a"]} if said.goal and task else None,
        "visibility": "private" if said.private else "public",
        "guard": said.guard,
        "request_id": None if said.request is None else f"r-{said.request}",
    }


def say(kept: Kept, said: Say) -> Receipt | None:
    """Record it, replacing what the slot holds; None where it is refused for good."""
    kept.ticks.pass_(minutes=said.minutes)
    given = arguments(said)
    try:
        return kept.record_event(**given)
    except StaleFact as stale:
        assert stale.current is not None
        given["fact"]["supersedes"] = stale.current
        return kept.record_event(**given)
    except MemoryRefusal:
        # Another input under the same request id.
        assert said.request is not None
        return None


def carry_out(kept: Kept, commands: list[Say | Hide | Judge | Declare]) -> None:
    """Carry out what can be; only refusals that the contract knows are passed over."""
    done: list[Receipt] = []
    for command in commands:
        if isinstance(command, Say):
            receipt = say(kept, command)
            done += [] if receipt is None else [receipt]
        elif isinstance(command, Declare):
            kept.names = REGISTRIES[command.registry]
        elif done:
            of = done[command.of % len(done)]
            if isinstance(command, Hide):
                change = kept.quarantine if command.quarantined else kept.release
                try:
                    change(of.observation_id, reason="because", by="ada")
                except InvalidArgument:
                    assert of.fact_id is not None
                continue
            target = {"fact": of.fact_id, "checkpoint": of.checkpoint_id}.get(command.kind, of.observation_id)
            if target is not None:
                line = command.line and command.kind == "checkpoint"
                kept.record_review(
                    command.kind,
                    target,
                    command.verdict,
                    reviewer="ada",
                    item={"list": "next_steps", "index": 0} if line else None,
                )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(COMMANDS)
def test_folding_again_gives_the_same_tables(commands: list[Say | Hide | Judge | Declare]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        kept = Kept(Path(folder))
        try:
            carry_out(kept, commands)
            now = folded_now(kept.log)
            assert now == folded_again(kept.log)
            check(kept)
        finally:
            kept.log.close()


def check(kept: Kept) -> None:
    """What holds of the tables whatever happened."""
    with kept.log.reader() as connection:
        twice = fetch.rows(
            connection,
            "SELECT slot, domain_key, project_key, task_key, private, count(*) FROM facts "
            "WHERE to_position IS NULL GROUP BY 1, 2, 3, 4, 5 HAVING count(*) > 1",
        )
        assert not twice
        forked = fetch.rows(
            connection,
            "SELECT replaces, count(*) FROM facts WHERE replaces NOT NULL GROUP BY 1 HAVING count(*) > 1",
        )
        assert not forked
        hidden = fetch.rows(
            connection,
            "SELECT o.position FROM observations o WHERE o.shown != (o.private = 0 AND NOT EXISTS "
            "(SELECT 1 FROM quarantines q WHERE q.target = o.position AND q.to_position IS NULL))",
        )
        assert not hidden
        checkpoints = fetch.rows(
            connection,
            "SELECT c.position FROM checkpoints c JOIN observations o ON o.position = c.observation "
            "WHERE c.shown != o.shown",
        )
        assert not checkpoints
        tasks = fetch.rows(
            connection,
            "SELECT project_key, task_key, domain_key FROM tasks t WHERE checkpoint IS NOT "
            "(SELECT max(position) FROM checkpoints c WHERE c.project_key = t.project_key "
            "AND c.task_key = t.task_key AND c.domain_key = t.domain_key AND c.shown = 1)",
        )
        assert not tasks
        counted = fetch.rows(
            connection,
            "SELECT m.position FROM memory_events m WHERE observed != "
            "(SELECT count(*) FROM observations o WHERE o.first_position = m.position)",
        )
        assert not counted
        kept_facts = fetch.rows(
            connection,
            "SELECT position FROM observations WHERE fact_position NOT NULL AND shown = 0 AND private = 0",
        )
        assert not kept_facts

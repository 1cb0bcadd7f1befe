"""`record_event` and its receipt (contract memory, "Order of work", "Receipt"; cases F09, F14, F15, F18, I25)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID

import pytest

from tests.memory.written_cases import ATLAS, CHECKPOINT, FACT, FILTER, TOKEN, Kept, fresh
from workbench.memory.entry import Checkpoint, Fact
from workbench.memory.errors import InvalidArgument, StaleFact


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


def test_an_observation_with_checkpoint_and_fact_is_one_batch_on_the_streams_of_its_scope(kept: Kept) -> None:
    receipt = kept.record_event(
        "Parser is done", project="Atlas App", task_id="Launch Plan", fact=FACT, checkpoint=CHECKPOINT
    )
    events = kept.events()
    assert [event.envelope.type for event in events] == [
        "observation.recorded",
        "checkpoint.recorded",
        "fact.asserted",
    ]
    assert {event.stream for event in events} == {"task/global/atlas/launch-plan"}
    assert [str(event.envelope.event_id) for event in events] == [
        receipt.observation_id,
        receipt.checkpoint_id,
        receipt.fact_id,
    ]
    observation = UUID(receipt.observation_id)
    assert [event.envelope.causation_id for event in events] == [None, observation, observation]
    assert {event.envelope.recorded_at for event in events} == {receipt.recorded_at}
    assert receipt.position == 1
    assert receipt.event_id == receipt.observation_id


def test_a_receipt_has_the_keys_of_the_reference(kept: Kept) -> None:
    answer = kept.record_event("Done", project="STATUS", agent="claude-mac", why=" because ").to_dict()
    assert {
        "event_id",
        "observation_id",
        "fact_id",
        "checkpoint_id",
        "chronicle_status",
        "chronicle_error",
        "evidence",
        "artifacts_written",
        "actor",
        "domain",
        "project",
        "task_id",
        "category",
        "text",
        "why",
        "recorded_at",
        "entity_id",
        "entity_type",
        "project_raw",
        "actor_raw",
    } <= set(answer)
    assert not {"redactions", "dedupe_status", "category_fallback", "memory_guard", "domain_raw"} & set(
        answer
    )
    assert answer["chronicle_status"] == "stored"
    assert answer["why"] == "because"
    assert answer["recorded_at"].endswith("+00:00")
    json.dumps(answer)


def test_canonical_names_are_stored_and_the_spelling_only_where_it_differs(kept: Kept) -> None:
    kept.record_event(
        "x", domain=" job ", project="Atlas_App", task_id="Launch_Plan", agent="Codex", category="Decision"
    )
    payload = kept.last().payload
    assert {key: payload[key] for key in ("domain", "project", "task_id", "agent", "category")} == {
        "domain": "work",
        "project": "atlas",
        "task_id": "Launch_Plan",
        "agent": "codex",
        "category": "decision",
    }
    assert payload["domain_raw"] == "job"
    assert payload["project_raw"] == "Atlas_App"
    assert payload["agent_raw"] == "Codex"
    assert payload["category_raw"] == "Decision"
    kept.record_event("y", domain="work", project="atlas", agent="codex", category="decision")
    assert not [key for key in kept.last().payload if key.endswith("_raw")]


def test_what_is_not_declared_is_stored_trimmed_and_an_unknown_agent_folded(kept: Kept) -> None:
    receipt = kept.record_event("x", project=" Other_Thing ", agent="My Bot_2")
    assert (receipt.project, receipt.project_raw) == ("Other_Thing", None)
    assert (receipt.agent, receipt.agent_raw) == ("my-bot-2", "My Bot_2")
    assert kept.last().stream == "project/global/other-thing"


@pytest.mark.parametrize("blank", [None, "", "  \t"])
def test_a_blank_domain_is_global_and_a_blank_agent_is_mcp(kept: Kept, blank: str | None) -> None:
    receipt = kept.record_event("x", domain=blank, agent=blank)
    assert (receipt.domain, receipt.agent, receipt.agent_source) == ("global", "mcp", "default")
    assert (receipt.domain_raw, receipt.agent_raw) == (None, None)


@pytest.mark.parametrize(
    ("given", "stored", "raw", "requested"),
    [
        (None, "note", None, None),
        ("note", "note", None, None),
        ("Block", "blocker", "Block", None),
        ("status change", "state_change", "status change", None),
        ("git-commit", "git_commit", "git-commit", None),
        ("brainstorm", "note", "brainstorm", "brainstorm"),
        ("a.b", "note", "a.b", "a.b"),
    ],
)
def test_categories(
    kept: Kept, given: str | None, stored: str, raw: str | None, requested: str | None
) -> None:
    receipt = kept.record_event("x", category=given)
    assert receipt.category == stored
    assert kept.last().payload.get("category_raw") == raw
    fallback = receipt.to_dict().get("category_fallback")
    assert fallback == (None if requested is None else {"requested": requested, "stored": "note"})


def test_agent_sources(kept: Kept) -> None:
    assert kept.record_event("a", agent="Ada").agent_source == "explicit"
    assert kept.record_event("b", agent="Ada", agent_source="client").agent_source == "client"
    assert kept.record_event("c", agent_source="session").agent_source == "session"
    with kept.refuses(InvalidArgument, "agent_source"):
        kept.record_event("d", agent_source="explicit")
    with kept.refuses(InvalidArgument, "agent_source"):
        kept.record_event("d", agent="Ada", agent_source="guess")


def test_structures_are_taken_as_well_as_mappings(kept: Kept) -> None:
    receipt = kept.record_event(
        "x",
        project="p",
        task_id="t",
        fact=Fact(slot=" s ", value=" v ", kind="observed"),
        checkpoint=Checkpoint(goal=" g ", next_steps=(" n ",)),
    )
    observation, checkpoint, fact = (event.payload for event in kept.events())
    assert (fact["slot"], fact["value"]) == ("s", "v")
    assert (checkpoint["goal"], checkpoint["next_steps"], checkpoint["completed"]) == ("g", ["n"], [])
    assert "fact" not in observation
    assert receipt.fact_id is not None


def test_secrets_are_taken_out_of_every_free_text_and_counted(kept: Kept) -> None:
    receipt = kept.record_event(
        f"text {TOKEN}",
        why=f"why {TOKEN} {TOKEN}x",
        project="p",
        task_id="t",
        fact={"slot": "s", "value": f"value {TOKEN}", "kind": "observed"},
        checkpoint={"goal": f"goal {TOKEN}", "open_questions": ["plain", f"question {TOKEN}"]},
        source_files=[f"/nowhere/{TOKEN}"],
    )
    assert TOKEN not in json.dumps([event.payload for event in kept.events()])
    assert sum(receipt.redactions.values()) >= 6
    assert set(receipt.redactions) == {"github_token"}
    observation, checkpoint, fact = (event.payload for event in kept.events())
    assert [each["field"] for each in checkpoint["redactions"]] == ["goal", "open_questions.1"]
    assert [each["field"] for each in fact["redactions"]] == ["value"]
    assert {each["field"] for each in observation["redactions"]} == {"text", "why", "source_files.0"}
    assert {each["filter_version"] for each in observation["redactions"]} == {FILTER.version}
    assert observation["hash_filter"] == FILTER.version
    assert TOKEN not in json.dumps(receipt.to_dict())


def test_a_private_call_makes_private_events_only(kept: Kept) -> None:
    receipt = kept.record_event(
        "x", project="p", task_id="t", fact=FACT, checkpoint=CHECKPOINT, visibility="private"
    )
    assert {event.envelope.visibility for event in kept.events()} == {"private"}
    assert receipt.to_dict()["visibility"] == "private"


def test_when_it_happened_is_kept_with_every_event(kept: Kept) -> None:
    then = datetime(2026, 1, 2, 3, 4, tzinfo=timezone(timedelta(hours=2)))
    receipt = kept.record_event("x", fact=FACT, occurred_at=then)
    assert receipt.occurred_at == then
    assert {event.envelope.occurred_at for event in kept.events()} == {then.astimezone(UTC)}


def test_odd_text_is_repaired_and_odd_names_are_refused(kept: Kept) -> None:
    assert kept.record_event("broken \ud800 text").text == "broken \N{REPLACEMENT CHARACTER} text"
    for name in ("a\0b", "a\nb", "a\x1bb", "a\ud800b"):
        with kept.refuses(InvalidArgument, "project"):
            kept.record_event("x", project=name)
    for name in ("../../etc", "a/b%2F", "\u202eodd", "naïve 計画"):
        receipt = kept.record_event("x", project=name, task_id=name)
        assert (receipt.project, receipt.task_id) == (name, name)
        assert kept.last().stream.count("/") == 3


def test_a_call_may_be_part_of_a_larger_transaction(kept: Kept) -> None:
    with kept.log.transaction():
        first = kept.record_event("one", fact=FACT)
        with pytest.raises(StaleFact):
            kept.record_event("two", fact={**FACT, "value": "mysql"})
        again = kept.record_event("three", fact=FACT)
    assert again.fact_id == first.fact_id
    assert [event.payload["text"] for event in kept.of_type("observation.recorded")] == ["one", "three"]


def test_external_ids_entities_and_sessions_are_kept(kept: Kept) -> None:
    receipt = kept.record_event(
        "x", external_id="their-7", entity_id="e1", entity_type="person", session_id="s-1", request_id="r-1"
    )
    payload = kept.last().payload
    for key in ("external_id", "entity_id", "entity_type", "session_id", "request_id"):
        assert payload[key] == getattr(receipt, key)

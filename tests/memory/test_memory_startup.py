"""What an agent starts with (contract memory, "startup_bundle"; cases F08, F29, V01)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.memory.written_cases import ATLAS, CHECKPOINT, Kept, fresh
from workbench import __version__
from workbench.memory import focus
from workbench.memory.errors import CursorMismatch, InvalidArgument, UnknownScope
from workbench.memory.views import BriefBundle, StartupBundle


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


def started(memory: Kept, **arguments: Any) -> StartupBundle:
    found = memory.startup_bundle(**arguments)
    assert isinstance(found, StartupBundle)
    return found


def texts(events: list[Any]) -> list[str]:
    return [event.text for event in events]


def test_a_task_s_bundle_has_the_contract_s_keys(kept: Kept) -> None:
    kept.record_event("hand-off", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    bundle = started(kept, project="status", task_id="SHIP", agent="codex-mcp-client", session_id="s1")
    assert set(bundle.keys()) == {
        "generated_at",
        "focus",
        "domain",
        "project",
        "task_context",
        "recall_status",
        "sources",
        "source_health",
        "recent_events",
        "db_summary",
        "session_id",
        "agent",
        "contract",
    }
    assert bundle.contract.to_dict() == {"name": "chronicle-workbench", "version": __version__}
    assert bundle.domain.to_dict() == {"id": "global", "label": "global"}
    assert (bundle.project, bundle.agent, bundle.session_id) == ("atlas", "codex", "s1")
    assert (bundle.sources, bundle.source_health.to_dict()) == (
        [],
        {"status": "ok", "issue_count": 0, "issues": []},
    )
    assert bundle.recall_status is None
    context = bundle["task_context"]
    assert context["checkpoint"]["checkpoint"]["goal"] == "ship it"
    assert (context["review"], context["unresolved_reviews"]) == (None, [])
    assert bundle.db_summary.position == kept.log.last_position()
    json.dumps(bundle.to_dict())


def test_recent_events_of_a_project_are_those_of_its_changes_newest_first(kept: Kept) -> None:
    for number in range(4):
        kept.record_event(f"note {number}", project="atlas", agent="claude")
    kept.record_event("note 3", project="atlas", agent="codex")
    kept.record_event("elsewhere")
    bundle = started(kept, project="atlas", limit=4)
    assert texts(bundle.task_context.changes) == ["note 1", "note 2", "note 3", "note 3"]
    assert texts(bundle.recent_events) == ["note 3", "note 2", "note 1"]
    assert texts(started(kept).recent_events) == ["elsewhere", "note 3", "note 2"]


def test_a_focus_finds_by_words_and_says_how(kept: Kept) -> None:
    kept.record_event("The parser handles quoted fields", project="atlas", task_id="ship")
    kept.record_event("Release notes", project="atlas", task_id="ship", why="the parser changed")
    kept.record_event("The parser of another project", project="other")
    kept.record_event("Unrelated", project="atlas", task_id="ship")
    bundle = started(kept, project="atlas", task_id="ship", focus="PARSER")
    assert texts(bundle.recent_events) == ["Release notes", "The parser handles quoted fields"]
    assert len(bundle.task_context.changes) == 3
    status = bundle.recall_status
    assert status is not None
    assert (status.degraded, status.relaxed, status.no_confident_match) == (True, False, False)
    assert "ranked recall is not available" in status.channel_errors[0]


def test_words_that_no_entry_holds_together_are_looked_for_one_by_one(kept: Kept) -> None:
    kept.record_event("The parser is slow")
    kept.record_event("A guide for releases")
    bundle = started(kept, focus="parser guide zebra")
    assert texts(bundle.recent_events) == ["A guide for releases", "The parser is slow"]
    assert bundle.recall_status is not None and bundle.recall_status.relaxed
    assert bundle.recall_status.no_confident_match


@pytest.mark.parametrize("focus", ["zebra", "***", '"', "NEAR(", "zebra OR", "\ud800", "x" * 5000])
def test_an_unrelated_focus_without_a_project_leaves_nothing(kept: Kept, focus: str) -> None:
    kept.record_event("The parser is slow", fact={"slot": "speed", "value": "slow", "kind": "observed"})
    bundle = started(kept, focus=focus)
    context = bundle.task_context
    assert (bundle.recent_events, context.changes, context.current_facts, context.checkpoint) == (
        [],
        [],
        [],
        None,
    )
    assert bundle.recall_status is not None
    assert bundle.recall_status.no_confident_match
    assert bundle.recall_status.hint


def test_a_focus_without_a_project_keeps_the_facts_that_match(kept: Kept) -> None:
    kept.record_event("Settled", fact={"slot": "db.engine", "value": "postgres cluster", "kind": "decision"})
    kept.record_event("Other", fact={"slot": "cache", "value": "redis", "kind": "decision"})
    bundle = started(kept, focus="postgres")
    assert [fact.slot for fact in bundle.task_context.current_facts] == ["db.engine"]
    assert texts(bundle.task_context.changes) == ["Settled"]


def test_a_small_scope_s_entries_are_found_behind_many_others_with_the_words(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(focus, "_MOST_LOOKED", 8)
    monkeypatch.setattr(focus, "_STEP", 2)
    kept.record_event("The parser is slow", project="atlas", task_id="ship")
    kept.record_event(
        "Hand-off", project="atlas", task_id="ship", checkpoint={"goal": "A quicker parser", "next_steps": []}
    )
    for number in range(5):
        kept.record_event(f"Something else {number}", project="atlas", task_id="ship")
    for number in range(30):
        kept.record_event(f"The parser of project {number}", project=f"p{number}")
    bundle = started(kept, project="atlas", task_id="ship", focus="parser", limit=5)
    assert texts(bundle.recent_events) == ["Hand-off", "The parser is slow"]
    assert bundle.recall_status is not None and bundle.recall_status.hint is None
    assert texts(started(kept, project="atlas", task_id="ship", focus="parser", limit=1).recent_events) == [
        "Hand-off"
    ]
    assert len(started(kept, focus="parser", limit=100).recent_events) == 8
    status = started(kept, focus="parser", limit=100).recall_status
    assert status is not None and "only the newest" in (status.hint or "")


def test_what_a_superseded_fact_said_is_not_found(kept: Kept) -> None:
    old = kept.record_event("Chose sqlite", fact={"slot": "db", "value": "sqlite", "kind": "decision"})
    kept.record_event("Sqlite confirmed", fact={"slot": "db", "value": "sqlite", "kind": "decision"})
    assert len(started(kept, focus="sqlite").recent_events) == 2
    kept.record_event(
        "Chose postgres",
        fact={"slot": "db", "value": "postgres", "kind": "decision", "supersedes": old.fact_id},
    )
    assert started(kept, focus="sqlite").recent_events == []


def test_a_focus_finds_nothing_hidden(kept: Kept) -> None:
    kept.record_event("zebra one", visibility="private")
    two = kept.record_event("zebra two")
    kept.quarantine(two.observation_id, reason="doubtful", by="maya")
    assert started(kept, focus="zebra").recent_events == []


def test_an_unknown_domain_is_refused_and_a_known_one_is_not(kept: Kept) -> None:
    with kept.refuses(UnknownScope, "nowhere"):
        kept.startup_bundle(domain="nowhere")
    with kept.refuses(UnknownScope):
        kept.startup_bundle(domain="nowhere", mode="brief")
    assert started(kept, domain="Job").domain.id == "work"
    kept.record_event("x", domain="lab")
    assert started(kept, domain="LAB").domain.id == "LAB"


def test_the_mode_brief_gives_the_text_alone(kept: Kept) -> None:
    kept.record_event("x", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    found = kept.startup_bundle(
        project="status", mode="brief", agent="claude-mac", session_id="s", max_chars=1500
    )
    assert isinstance(found, BriefBundle)
    assert list(found.keys()) == ["brief", "project", "counts", "session_id", "agent"]
    assert found.brief == kept.brief(project="atlas", max_chars=1500).text
    assert (found.project, found.agent, found.session_id) == ("atlas", "claude", "s")


@pytest.mark.parametrize(
    "arguments",
    [
        {"mode": "short"},
        {"limit": 0},
        {"limit": 101},
        {"task_id": "x"},
        {"since": "a", "before": "b"},
        {"mode": "brief", "max_chars": 999},
        {"agent": "x" * 201},
    ],
)
def test_what_breaks_a_rule_is_refused(kept: Kept, arguments: dict[str, Any]) -> None:
    with kept.refuses(InvalidArgument):
        kept.startup_bundle(**arguments)


def test_pages_go_on_through_the_bundle(kept: Kept) -> None:
    kept.record_event("one", project="atlas", task_id="ship")
    seen = started(kept, project="atlas", task_id="ship").task_context.cursor
    kept.record_event("two", project="atlas", task_id="ship")
    assert texts(started(kept, project="atlas", task_id="ship", since=seen).task_context.changes) == ["two"]
    with kept.refuses(CursorMismatch):
        kept.startup_bundle(project="atlas", since=seen)


def test_a_review_reaches_the_next_startup_and_a_newer_checkpoint_answers_it(kept: Kept) -> None:
    receipt = kept.record_event("x", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    kept.record_review(
        "checkpoint",
        receipt.checkpoint_id or "",
        "questioned",
        "Which docs?",
        item={"list": "next_steps", "index": 0},
        reviewer="maya",
    )
    context = started(kept, project="atlas", task_id="ship").task_context
    review = context["review"]
    assert (review.verdict, review.comment, review.line, review.reviewer) == (
        "questioned",
        "Which docs?",
        "docs",
        "maya",
    )
    assert (review.item.list, review.item.index) == ("next_steps", 0)
    assert [each.id for each in context["unresolved_reviews"]] == [review.id]
    kept.record_event("y", project="atlas", task_id="ship")
    assert len(started(kept, project="atlas", task_id="ship").task_context["unresolved_reviews"]) == 1
    kept.record_event("z", project="atlas", task_id="ship", checkpoint=CHECKPOINT)
    context = started(kept, project="atlas", task_id="ship").task_context
    assert (context["review"], context["unresolved_reviews"]) == (None, [])


def test_a_bundle_says_in_which_domains_a_project_is_known(kept: Kept) -> None:
    kept.record_event("a", domain="Trails", project="atlas", task_id="ship")
    kept.record_event("b", domain="Job", project="STATUS")
    kept.record_event("c", domain="hidden", project="atlas", visibility="private")
    kept.record_event("d", project="other")
    assert started(kept, project="atlas").elsewhere == ["work", "Trails"]
    assert started(kept, project="status", task_id="SHIP")["elsewhere"] == ["Trails"]
    for without in (
        {"project": "atlas", "domain": "global"},
        {"project": "atlas", "domain": "work"},
        {"project": "other"},
        {"project": "nowhere"},
        {},
    ):
        assert "elsewhere" not in started(kept, **without)
    withheld = kept.record_event("e", project="atlas")
    assert "elsewhere" not in started(kept, project="atlas")
    kept.quarantine(withheld.observation_id, reason="doubtful", by="maya")
    assert started(kept, project="atlas").elsewhere == ["work", "Trails"]


def test_names_like_an_unknown_one_are_found_among_what_agents_may_see(kept: Kept) -> None:
    kept.record_event("a", domain="trails", project="Kyoto Guide", task_id="Ship-It")
    kept.record_event("b", project="kyoto-guidance", visibility="private")
    kept.record_event("c", project="Kyoto Guide", task_id="shop-it", visibility="private")
    assert kept.near("kyoto_giude") == ["Kyoto Guide"]
    assert kept.near("kyoto guide", "ship-i") == ["Ship-It"]
    assert kept.near("kyoto-giude", "ship-it") == ["Kyoto Guide"]
    assert kept.near("kyoto guide", "zebra") == kept.near("zebra") == kept.near("kyoto guide") == []


def test_a_disputed_fact_carries_the_review_that_rejects_it(kept: Kept) -> None:
    fact = {"slot": "db", "value": "sqlite", "kind": "decision"}
    receipt = kept.record_event("x", project="atlas", fact=fact)
    fact_id = receipt.fact_id or ""
    undisputed = kept.log.last_position()
    kept.record_review("fact", fact_id, "rejected", "It is postgres", reviewer="maya")
    disputed = kept.log.last_position()
    (current,) = started(kept, project="atlas").task_context.current_facts
    assert (current.review.id, current.disputed) == (kept.reviews().reviews[0].id, True)  # type: ignore[union-attr]
    for each in (current, kept.facts().facts[0], kept.chain(fact_id)[0], kept.as_of(disputed).facts[0]):
        review = each["review"]
        assert (review.verdict, review.comment, review.reviewer) == ("rejected", "It is postgres", "maya")
    assert "review" not in kept.facts(as_of=undisputed).facts[0]
    kept.record_review("fact", fact_id, "accepted", "It is sqlite after all", reviewer="maya")
    assert "review" not in kept.facts().facts[0]
    assert not kept.chain(fact_id)[0].disputed

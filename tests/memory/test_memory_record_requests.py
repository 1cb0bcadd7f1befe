"""Request ids and duplicates (contract memory, "Hashes", "Duplicates"; cases F19 to F24)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.memory.written_cases import ATLAS, CHECKPOINT, FACT, FILTER, START, TOKEN, Kept, fresh
from workbench.identity.registry import Registry
from workbench.log.ports import PassThrough, Removal
from workbench.memory.errors import RequestConflict

INPUT: dict[str, Any] = {
    "text": "Parser is done",
    "why": "tests pass",
    "project": "Atlas App",
    "task_id": "Launch Plan",
    "category": "Decision",
    "agent": "Codex",
    "fact": FACT,
    "checkpoint": CHECKPOINT,
    "source_files": ["/nowhere/a.txt"],
    "external_id": "their-7",
    "entity_id": "e",
    "entity_type": "person",
    "occurred_at": START - timedelta(days=3),
    "request_id": "r-1",
}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


# -- request ids ---------------------------------------------------------------------------


def test_the_same_request_gives_the_first_receipt_and_writes_nothing(kept: Kept) -> None:
    first = kept.record_event(**INPUT, session_id="before the reconnect")
    kept.ticks.pass_(days=400)
    with kept.unchanged():
        again = kept.record_event(**INPUT, session_id="after it")
    assert again.dedupe_status == "request_id_match"
    assert again.chronicle_status == "existing"
    assert again.artifacts_written == 0
    assert again.session_id == "before the reconnect"
    changed = {"chronicle_status", "dedupe_status"}
    one, other = first.to_dict(), again.to_dict()
    assert {key: value for key, value in one.items() if key not in changed} == {
        key: value for key, value in other.items() if key not in changed
    }


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Parser is half done"},
        {"why": None},
        {"domain": "work"},
        {"project": "atlas"},
        {"task_id": "launch-plan"},
        {"category": "decision"},
        {"agent": "claude"},
        {"agent": None},
        {"agent": "Codex", "agent_source": "client"},
        {"fact": None},
        {"fact": {**FACT, "value": "mysql"}},
        {"fact": {**FACT, "supersedes": "x"}},
        {"checkpoint": {**CHECKPOINT, "goal": "another"}},
        {"checkpoint": None},
        {"source_files": ["/nowhere/b.txt"]},
        {"source_files": []},
        {"external_id": None},
        {"entity_id": "f"},
        {"entity_type": "place"},
        {"occurred_at": START},
        {"visibility": "private"},
    ],
)
def test_another_input_under_the_same_request_id_is_refused(kept: Kept, change: dict[str, Any]) -> None:
    kept.record_event(**INPUT)
    with kept.refuses(RequestConflict, "different input"):
        kept.record_event(**{**INPUT, **change})


@pytest.mark.parametrize("agent", [None, "codex"])
def test_an_agent_that_the_caller_did_not_name_is_no_part_of_a_request(kept: Kept, agent: str | None) -> None:
    kept.record_event("x", request_id="r", agent=agent, agent_source="client")
    again = kept.record_event("x", request_id="r", agent="claude", agent_source="session")
    assert again.dedupe_status == "request_id_match"
    with kept.refuses(RequestConflict):
        kept.record_event("x", request_id="r", agent="mcp")


def test_a_later_alias_changes_no_request(kept: Kept) -> None:
    kept.names = Registry()
    first = kept.record_event(**INPUT)
    kept.names = ATLAS
    again = kept.record_event(**INPUT)
    assert again.dedupe_status == "request_id_match"
    assert again.observation_id == first.observation_id


def test_what_only_a_removed_secret_tells_apart_is_one_request(kept: Kept) -> None:
    kept.record_event(f"token {TOKEN}", request_id="r")
    other = TOKEN.replace("a1B2", "c3D4")
    again = kept.record_event(f"token {other}", request_id="r")
    assert again.dedupe_status == "request_id_match"
    assert again.to_dict()["redactions"] == {"github_token": 1}


def test_unicode_spellings_of_one_text_are_one_request(kept: Kept) -> None:
    kept.record_event("caf\u00e9", request_id="r")
    assert kept.record_event("cafe\u0301", request_id="r").dedupe_status == "request_id_match"


def test_a_repeated_request_stages_nothing_that_stays(kept: Kept) -> None:
    (kept.folder / "a.txt").write_text("one")
    first = kept.record_event("x", source_files=["a.txt"], request_id="r")
    assert first.artifacts_written == 1
    (kept.folder / "a.txt").write_text("two")
    with kept.unchanged():
        again = kept.record_event("x", source_files=["a.txt"], request_id="r")
    assert again.evidence == first.evidence


class OldFilter(PassThrough):
    """A filter that knew no secrets yet, and had its own version."""

    @property
    def version(self) -> str:
        return "old"


class WordFilter(PassThrough):
    """One that takes the word `hush` out, whatever the shipped filter does."""

    @property
    def version(self) -> str:
        return "new"

    def may_change(self, encoded: bytes) -> bool:
        return b"hush" in encoded

    def redact_text(self, text: str) -> tuple[str, dict[str, int]]:
        count = text.count("hush")
        return text.replace("hush", "[REDACTED:word]"), {"word": count} if count else {}

    def redact_value(self, value: Any) -> tuple[Any, list[Removal]]:
        if isinstance(value, list):
            pairs = [self.redact_value(item) for item in value]
            return [item for item, _ in pairs], [
                Removal(str(at), each.kind, each.count)
                for at, (_, found) in enumerate(pairs)
                for each in found
            ]
        if isinstance(value, dict):
            ((key, item),) = value.items()
            text, found = self.redact_value(item)
            return {key: text}, [Removal(key, each.kind, each.count) for each in found]
        text, counts = self.redact_text(value)
        return text, [Removal("", kind, count) for kind, count in counts.items()]


def test_a_request_stored_under_an_older_filter_is_filtered_again_before_it_is_a_conflict(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    said: dict[str, Any] = {
        "text": "hush, text",
        "why": "hush, why",
        "project": "Atlas App",
        "task_id": "Launch Plan",
        "agent": "Codex",
        "category": "brainstorm",
        "source_files": ["/nowhere/hush.txt"],
        "fact": {"slot": "s", "value": "hush, value", "kind": "observed"},
        "checkpoint": {"goal": "hush, goal", "next_steps": ["hush, step"]},
        "request_id": "r",
    }
    confirmed = {**said, "request_id": "confirmed", "fact": {**said["fact"], "supersedes": "whatever"}}
    old = Kept(folder, ATLAS, OldFilter())
    first = old.record_event(**said)
    second = old.record_event(**confirmed)
    assert "hush" in old.events()[0].payload["text"]
    old.log.close()
    new = Kept(folder, ATLAS, WordFilter())
    with new.unchanged():
        again = new.record_event(**said)
        assert again.observation_id == first.observation_id
        assert new.record_event(**confirmed).observation_id == second.observation_id
    with new.refuses(RequestConflict):
        new.record_event(**{**said, "text": "something else"})
    new.log.close()


# -- duplicates ----------------------------------------------------------------------------


def test_the_same_by_two_agents_is_one_event_with_two_observations(kept: Kept) -> None:
    first = kept.record_event("Parser is done", agent="claude", session_id="a")
    second = kept.record_event("Parser is done", agent="codex", session_id="b")
    assert second.event_id == first.event_id == first.observation_id
    assert second.observation_id != first.observation_id
    assert (second.chronicle_status, second.dedupe_status) == ("existing", "content_hash_match")
    assert second.to_dict()["dedupe_window_hours"] == 24
    assert kept.last().payload["memory_event"] == first.event_id
    third = kept.record_event("Parser is done", agent="gemini")
    assert third.event_id == first.event_id


@pytest.mark.parametrize(
    "change",
    [
        {"text": "Parser is done."},
        {"why": None},
        {"category": "note"},
        {"domain": "other"},
        {"project": "other"},
        {"task_id": "other"},
        {"checkpoint": {**CHECKPOINT, "goal": "another"}},
        {"checkpoint": None},
        {"fact": None},
        {"fact": {**FACT, "slot": "another"}},
        {"visibility": "private"},
    ],
)
def test_what_differs_in_what_it_says_or_where_is_another_event(kept: Kept, change: dict[str, Any]) -> None:
    said = {key: value for key, value in INPUT.items() if key != "request_id"}
    first = kept.record_event(**said)
    other = kept.record_event(**{**said, **change})
    assert other.event_id == other.observation_id != first.event_id
    assert other.chronicle_status == "stored"


@pytest.mark.parametrize(
    "change",
    [
        {"project": "STATUS"},
        {"task_id": "launch_plan"},
        {"category": "decision"},
        {"agent": "gemini"},
        {"session_id": "another"},
        {"source_files": []},
        {"external_id": "another"},
        {"occurred_at": START},
        {"request_id": "another"},
    ],
)
def test_who_says_it_and_on_what_evidence_makes_no_other_event(kept: Kept, change: dict[str, Any]) -> None:
    first = kept.record_event(**INPUT)
    other = kept.record_event(**{**INPUT, "request_id": None, **change})
    assert other.event_id == first.event_id
    assert other.observation_id != first.observation_id
    assert other.checkpoint_id != first.checkpoint_id
    assert other.fact_id == first.fact_id


def test_a_duplicate_is_found_under_a_spelling_that_was_declared_later(kept: Kept) -> None:
    kept.names = Registry()
    first = kept.record_event("x", domain="Job", project="Status", task_id="T")
    kept.names = ATLAS
    assert kept.record_event("x", domain="work", project="atlas", task_id="t").event_id == first.event_id


def test_after_24_hours_the_same_words_are_a_new_event(kept: Kept) -> None:
    first = kept.record_event("x")
    written = first.recorded_at
    kept.ticks.at = written + timedelta(hours=24) - timedelta(microseconds=2)
    within = kept.record_event("x")
    assert within.event_id == first.event_id
    # The window is that of the first recording; a repetition does not keep it open.
    kept.ticks.at = written + timedelta(hours=24)
    later = kept.record_event("x")
    assert later.event_id == later.observation_id
    assert kept.record_event("x").event_id == later.event_id


def test_a_clock_that_stands_still_or_falls_back_changes_nothing(kept: Kept) -> None:
    first = kept.record_event("x")
    kept.ticks.pass_(days=2)
    kept.record_event("y")
    kept.ticks.at = START
    # The log's time never falls, so that this is two days later.
    assert kept.record_event("x").event_id != first.event_id


def test_both_hashes_name_their_filter(kept: Kept) -> None:
    kept.record_event(**INPUT)
    payload = kept.events()[0].payload
    assert payload["hash_filter"] == FILTER.version
    assert len(payload["content_hash"]) == len(payload["request_hash"]) == 64

"""A person's verdicts on their way into the log (contract memory, "Reviews"; cases V01 to V03, written)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.memory.written_cases import (
    ATLAS,
    CHECKPOINT,
    FACT,
    TOKEN,
    Kept,
    folded_again,
    folded_now,
    fresh,
)
from workbench.identity.registry import Registry
from workbench.memory.errors import InvalidArgument, UnknownScope
from workbench.memory.events import ReviewItem
from workbench.memory.receipts import Receipt
from workbench.storage import fetch


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    assert folded_now(memory.log) == folded_again(memory.log)
    memory.log.close()


@pytest.fixture
def stored(kept: Kept) -> Receipt:
    return kept.record_event("x", project="atlas", task_id="T", fact=FACT, checkpoint=CHECKPOINT)


def ids(receipt: Receipt) -> dict[str, str]:
    assert receipt.fact_id is not None
    assert receipt.checkpoint_id is not None
    return {
        "observation": receipt.observation_id,
        "fact": receipt.fact_id,
        "checkpoint": receipt.checkpoint_id,
    }


@pytest.mark.parametrize("kind", ["observation", "fact", "checkpoint"])
@pytest.mark.parametrize("verdict", ["accepted", "questioned", "rejected"])
def test_a_verdict_goes_to_the_stream_of_its_target(
    kept: Kept, stored: Receipt, kind: str, verdict: str
) -> None:
    target = ids(stored)[kind]
    answer = kept.record_review(kind, target, verdict, " well ", reviewer="ada")
    event = kept.last()
    assert event.stream == answer.target_stream == "task/global/atlas/t"
    assert event.envelope.type == "review.recorded"
    assert str(event.envelope.event_id) == answer.review_id
    assert event.position == answer.position
    assert event.payload == {
        "scope_domain": "global",
        "scope_project": "atlas",
        "scope_task": "t",
        "target_kind": kind,
        "target_id": target,
        "target_stream": event.stream,
        "verdict": verdict,
        "comment": "well",
        "reviewer": "ada",
    }


def test_the_later_verdict_counts_and_both_stay(kept: Kept, stored: Receipt) -> None:
    target = ids(stored)["fact"]
    kept.record_review("fact", target, "rejected", reviewer="ada")
    kept.record_review("fact", target, "accepted", reviewer="grace")
    with kept.log.reader() as connection:
        rows = fetch.rows(connection, "SELECT verdict, to_position FROM reviews ORDER BY position")
    assert rows == [("rejected", 5), ("accepted", None)]


def test_a_line_of_a_checkpoint(kept: Kept, stored: Receipt) -> None:
    target = ids(stored)["checkpoint"]
    answer = kept.record_review(
        "checkpoint", target, "questioned", item={"list": "next_steps", "index": 1}, reviewer="ada"
    )
    assert answer.to_dict()["item"] == {"list": "next_steps", "index": 1}
    assert kept.last().payload["item"] == {"list": "next_steps", "index": 1}
    kept.record_review(
        "checkpoint", target, "accepted", item=ReviewItem(list="completed", index=0), reviewer="ada"
    )
    bad: tuple[Any, ...] = (
        {"list": "next_steps", "index": 2},
        {"list": "next_steps", "index": -1},
        {"list": "next_steps", "index": True},
        {"list": "next_steps", "index": "0"},
        {"list": "verification", "index": 0},
        {"list": "goal", "index": 0},
        {"list": "next_steps"},
        {"list": "next_steps", "index": 0, "note": ""},
        "next_steps:0",
        7,
    )
    for item in bad:
        with kept.refuses(InvalidArgument):
            kept.record_review("checkpoint", target, "accepted", item=item, reviewer="ada")
    for kind in ("fact", "observation"):
        with kept.refuses(InvalidArgument, "item"):
            kept.record_review(
                kind, ids(stored)[kind], "accepted", item={"list": "next_steps", "index": 0}, reviewer="ada"
            )


def test_an_observations_id_stands_for_its_checkpoint_or_fact(kept: Kept, stored: Receipt) -> None:
    for kind in ("checkpoint", "fact"):
        answer = kept.record_review(kind, stored.observation_id.upper(), "accepted", reviewer="ada")
        assert answer.target_id == ids(stored)[kind]
    confirming = kept.record_event("again", project="atlas", task_id="T", fact=FACT)
    answer = kept.record_review("fact", confirming.observation_id, "accepted", reviewer="ada")
    assert answer.target_id == stored.fact_id


def test_bad_arguments(kept: Kept, stored: Receipt) -> None:
    good: dict[str, Any] = {
        "target_kind": "fact",
        "target_id": stored.fact_id,
        "verdict": "accepted",
        "reviewer": "ada",
    }
    changes: tuple[dict[str, Any], ...] = (
        {"target_kind": "task"},
        {"target_kind": None},
        {"target_id": str(uuid4())},
        {"target_id": "nonsense"},
        {"target_id": stored.checkpoint_id},
        {"target_id": TOKEN},
        {"target_id": 7},
        {"target_id": None},
        {"verdict": "maybe"},
        {"verdict": TOKEN},
        {"comment": "x" * 4001},
        {"comment": None},
        {"reviewer": ""},
        {"reviewer": TOKEN},
        {"reviewer": "x" * 201},
        {"prose_sha256": "a" * 64},
        {"target_stream": "task/global/atlas/other"},
        {"target_kind": "section", "target_id": "1-2"},
        {
            "target_kind": "section",
            "target_id": "1-2",
            "target_stream": stored_stream(kept),
            "prose_sha256": "a",
        },
        {
            "target_kind": "section",
            "target_id": "1-2",
            "target_stream": stored_stream(kept),
            "prose_sha256": 7,
        },
    )
    for change in changes:
        with kept.refuses(InvalidArgument):
            kept.record_review(**{**good, **change})
    kept.record_review(**good, comment="x" * 4000, target_stream=stored_stream(kept))


def stored_stream(kept: Kept) -> str:
    return kept.events()[0].stream


def test_a_section_is_taken_at_its_word_in_its_stream(kept: Kept, stored: Receipt) -> None:
    answer = kept.record_review(
        "section",
        "1-3",
        "questioned",
        reviewer="ada",
        target_stream=stored_stream(kept),
        prose_sha256="a" * 64,
    )
    assert kept.last().stream == answer.target_stream == stored_stream(kept)
    assert kept.last().payload["prose_sha256"] == "a" * 64
    assert kept.last().payload["scope_project"] == "atlas"
    with kept.refuses(UnknownScope):
        kept.record_review("section", "1-3", "accepted", reviewer="ada", target_stream="session/none")


def test_a_secret_in_a_comment_is_removed(kept: Kept, stored: Receipt) -> None:
    answer = kept.record_review("fact", ids(stored)["fact"], "rejected", f"no {TOKEN}", reviewer="ada")
    assert answer.comment == kept.last().payload["comment"] == "no [REDACTED:github_token]"


def test_a_review_is_as_private_as_its_target_and_goes_where_that_was_written(kept: Kept) -> None:
    kept.names = Registry()
    hidden = kept.record_event("x", project="Status", fact=FACT, visibility="private")
    kept.names = ATLAS
    assert hidden.fact_id is not None
    kept.record_review("fact", hidden.fact_id, "rejected", reviewer="ada")
    assert kept.last().stream == "project/global/status"
    assert kept.last().envelope.visibility == "private"


def test_targets_tell_where_they_belong(kept: Kept, stored: Receipt) -> None:
    found = kept.target("checkpoint", ids(stored)["checkpoint"])
    assert found is not None
    assert (found.id, found.position, found.observation) == (stored.checkpoint_id, 2, 1)
    assert found.lines == {"completed": 1, "verification": 0, "open_questions": 0, "next_steps": 2}
    assert not found.private
    assert not found.quarantined
    assert kept.target("checkpoint", str(uuid4())) is None
    assert kept.target("section", "1-2") is None
    assert kept.target("fact", ids(stored)["checkpoint"]) is None
    plain = kept.record_event("y")
    kept.quarantine(plain.observation_id, reason="x", by="ada")
    quarantined = kept.target("observation", plain.observation_id)
    assert quarantined is not None
    assert quarantined.quarantined

"""Many writers of one fact, and many retries of one request, in 8 processes at once (contract memory, "Facts")."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.memory import racing_process
from tests.memory.written_cases import Kept, folded_again, folded_now, fresh
from workbench.storage import fetch

PROCESSES = 8
EACH = 5
ROOT = Path(__file__).parents[2]

Calls = list[dict[str, Any]]
Race = Callable[[list[Calls]], Calls]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path)
    yield memory
    memory.log.close()


@pytest.fixture
def race(kept: Kept) -> Iterator[Race]:
    """Lets 8 processes make 5 calls each, all of them at once; all answers."""
    racers = [
        subprocess.Popen(
            [sys.executable, "-m", racing_process.__name__, str(kept.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(PROCESSES)
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"

    def run(calls: list[Calls]) -> Calls:
        for racer, mine in zip(racers, calls, strict=True):
            assert racer.stdin is not None
            racer.stdin.write(json.dumps(mine) + "\n")
            racer.stdin.flush()
        answers: Calls = []
        for racer in racers:
            assert racer.stdout is not None
            answers += json.loads(racer.stdout.readline())
        return answers

    yield run
    for racer in racers:
        racer.communicate(timeout=60)
        assert racer.returncode == 0


def test_a_chain_never_forks_under_40_replacements_at_once(kept: Kept, race: Race) -> None:
    slot = {"slot": "owner", "kind": "decision"}
    current = kept.record_event("begin", project="Atlas", fact={**slot, "value": "nobody"}).fact_id
    winners = []
    spellings = ("Atlas", "STATUS", "atlas app", "ATLAS")
    for turn in range(4):
        answers = race(
            [
                [
                    {
                        "text": f"{turn} {process} {number}",
                        "project": spellings[number % 4],
                        "fact": {**slot, "value": f"{turn} {process} {number}", "supersedes": current},
                    }
                    for number in range(EACH)
                ]
                for process in range(PROCESSES)
            ]
        )
        won = [answer for answer in answers if "refused" not in answer]
        lost = [answer for answer in answers if "refused" in answer]
        assert len(won) == 1
        assert len(lost) == PROCESSES * EACH - 1
        current = won[0]["fact_id"]
        assert {(answer["refused"], answer["current"]) for answer in lost} == {("stale_fact", current)}
        winners.append(won[0]["text"])
    chain = kept.of_type("fact.asserted")
    assert [event.payload["value"] for event in chain] == ["nobody", *winners]
    for before, after in pairwise(chain):
        assert after.payload["supersedes"] == str(before.envelope.event_id)
    with kept.log.reader() as connection:
        active = fetch.rows(connection, "SELECT position FROM facts WHERE to_position IS NULL")
    assert active == [(chain[-1].position,)]
    # What was refused left no observation.
    assert len(kept.of_type("observation.recorded")) == 5
    assert folded_now(kept.log) == folded_again(kept.log)


def test_40_retries_of_one_request_at_once_are_one_observation(kept: Kept, race: Race) -> None:
    (kept.folder / "a.txt").write_text("evidence")
    for turn in range(3):
        call = {
            "text": f"done {turn}",
            "project": "p",
            "task_id": "t",
            "request_id": f"r-{turn}",
            "fact": {"slot": f"s-{turn}", "value": "v", "kind": "observed"},
            "checkpoint": {"goal": "g"},
            "source_files": ["a.txt"],
        }
        answers = race([[{**call, "session_id": f"{p} {n}"} for n in range(EACH)] for p in range(PROCESSES)])
        assert len(answers) == PROCESSES * EACH
        assert len({(a["observation_id"], a["checkpoint_id"], a["fact_id"]) for a in answers}) == 1
        stored = [answer for answer in answers if answer["chronicle_status"] == "stored"]
        assert len(stored) == 1
        assert {a.get("dedupe_status") for a in answers if a is not stored[0]} == {"request_id_match"}
        assert kept.log.last_position() == 3 * (turn + 1)


def test_40_different_inputs_under_one_request_id_store_one(kept: Kept, race: Race) -> None:
    answers = race([[{"text": f"{p} {n}", "request_id": "r"} for n in range(EACH)] for p in range(PROCESSES)])
    assert sum("refused" not in answer for answer in answers) == 1
    assert {answer.get("refused") for answer in answers} == {None, "request_conflict"}
    assert kept.log.last_position() == 1


def test_40_duplicates_at_once_are_one_event_with_40_observations(kept: Kept, race: Race) -> None:
    answers = race([[{"text": "same", "agent": f"a{p}{n}"} for n in range(EACH)] for p in range(PROCESSES)])
    assert len({answer["event_id"] for answer in answers}) == 1
    assert len({answer["observation_id"] for answer in answers}) == 40
    with kept.log.reader() as connection:
        assert fetch.rows(connection, "SELECT position, observed FROM memory_events") == [(1, 40)]

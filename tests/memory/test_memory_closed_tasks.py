"""A checkpoint for a task that is closed: it is kept, and its author is told (contract memory, "Task status")."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.memory.written_cases import ATLAS, CHECKPOINT, Kept, fresh

SHIP: dict[str, Any] = {"project": "atlas", "task_id": "ship"}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    memory = fresh(tmp_path, ATLAS)
    yield memory
    memory.log.close()


def status(value: str, supersedes: str | None = None) -> dict[str, Any]:
    return {"slot": "task.status", "value": value, "kind": "observed", "supersedes": supersedes}


@pytest.mark.parametrize("value", ["completed", " Cancelled "])
def test_the_receipt_names_the_fact_that_closes_the_task_until_it_is_superseded(
    kept: Kept, value: str
) -> None:
    assert kept.record_event("begun", **SHIP, checkpoint=CHECKPOINT).task_closed is None
    closing = kept.record_event("done", **SHIP, fact=status(value))
    assert closing.task_closed is None
    again = kept.record_event("more", project="status", task_id="SHIP", checkpoint=CHECKPOINT, request_id="r")
    told = {"id": closing.fact_id, "value": value.strip(), "kind": "observed", "domain": "global"}
    assert again.to_dict()["task_closed"] == told
    # A repeated request is told too, and another domain: a task is one across domains.
    repeated = kept.record_event(
        "more", project="status", task_id="SHIP", checkpoint=CHECKPOINT, request_id="r"
    )
    assert repeated.to_dict()["task_closed"] == told
    assert kept.record_event("x", **SHIP, domain="work", checkpoint=CHECKPOINT).task_closed is not None
    assert kept.open_tasks() == []
    kept.record_event("reopened", **SHIP, fact=status("open", closing.fact_id))
    assert "task_closed" not in kept.record_event("on", **SHIP, checkpoint=CHECKPOINT).to_dict()


def test_whoever_closes_a_task_with_its_last_checkpoint_is_not_told(kept: Kept) -> None:
    last = kept.record_event("done", **SHIP, checkpoint=CHECKPOINT, fact=status("completed"))
    assert last.task_closed is None


def test_a_private_status_is_told_to_nobody_else(kept: Kept) -> None:
    kept.record_event("done", **SHIP, fact=status("completed"), visibility="private")
    assert kept.record_event("x", **SHIP, checkpoint=CHECKPOINT).task_closed is None
    private = kept.record_event("y", **SHIP, checkpoint=CHECKPOINT, visibility="private")
    assert private.task_closed is not None

"""One review, done in two ways, leaves the same log; and the next agent is told what it said.

The ways that there are: on the command line, through the calls that the program's screens make, and through
the keys of the screens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.tui.review_keys import through_the_keys
from tests.tui.review_script import (
    ALEXANDRIA,
    COMMENT,
    DECIDED,
    ENCODING,
    KYOTO,
    LISBON,
    PROJECT,
    SCRIPT,
    AcceptedTogether,
    Released,
    Step,
    Superseded,
    Verdict,
    Withheld,
    left_by,
    on_the_command_line,
    sample,
)
from workbench.cli import main
from workbench.memory.superseding import supersede
from workbench.workspace import Workspace

Way = Callable[[Path, Sequence[Step]], None]


def through_the_program_s_calls(root: Path, script: Sequence[Step]) -> None:
    """What a screen does on its thread for each step."""
    with Workspace.open(root) as workspace:
        for step in script:
            match step:
                case Verdict(kind, target, verdict, comment, line):
                    item = None if line is None else {"list": line[0], "index": line[1]}
                    workspace.review(kind, target, verdict, comment, item=item)
                case Withheld(observation, reason):
                    workspace.memory.quarantine(observation, reason=reason, by=workspace.owner)
                case Released(observation, reason):
                    workspace.memory.release(observation, reason=reason, by=workspace.owner)
                case AcceptedTogether(checkpoints):
                    for each in checkpoints:
                        workspace.review("checkpoint", each, "accepted", "")
                case Superseded(fact, slot, value, why):
                    owner = workspace.owner
                    supersede(
                        workspace.memory,
                        owner=owner,
                        slot=slot,
                        value=value,
                        why=why,
                        supersedes=fact,
                        domain="global",
                        project=PROJECT,
                        task_id=None,
                        private=False,
                    )


WAYS: dict[str, Way] = {"calls": through_the_program_s_calls, "keys": through_the_keys}


@pytest.mark.parametrize("way", WAYS)
def test_a_review_leaves_the_same_log_whichever_way_it_is_done(tmp_path: Path, way: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    base = sample(first)
    assert sample(second) == base
    on_the_command_line(first, SCRIPT)
    WAYS[way](second, SCRIPT)
    left = left_by(first, base)
    assert [event["type"] for event in left] == [
        *["review.recorded"] * 4,
        *["visibility.changed"] * 2,
        *["review.recorded"] * 2,
        "observation.recorded",
        "fact.asserted",
    ]
    assert left_by(second, base) == left


def test_what_was_said_otherwise_is_noticed(tmp_path: Path) -> None:
    """The comparison is no comparison of nothing."""
    logs = []
    for name, comment in (("first", "Nine."), ("second", "Nine!")):
        base = sample(tmp_path / name)
        on_the_command_line(tmp_path / name, [Verdict("checkpoint", LISBON, "rejected", comment)])
        logs.append(left_by(tmp_path / name, base))
    assert len(logs[0]) == len(logs[1]) == 1
    assert logs[0] != logs[1]


@pytest.mark.parametrize("way", ["command line", *WAYS])
def test_the_next_agent_is_told(tmp_path: Path, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "w"
    sample(root)
    WAYS.get(way, on_the_command_line)(root, SCRIPT)
    (told,) = _context(root, "lisbon-encoding", capsys)["unresolved_reviews"]
    assert (told["verdict"], told["comment"], told["target_id"]) == ("questioned", COMMENT, LISBON)
    for task_id, checkpoint in (("alexandria-line", ALEXANDRIA), ("kyoto-rollout", KYOTO)):
        review = _context(root, task_id, capsys)["review"]
        assert (review["verdict"], review["target_id"]) == ("accepted", checkpoint)
    facts = _context(root, "lisbon-encoding", capsys)["current_facts"]
    (decided,) = [each for each in facts if each["slot"] == "lisbon.encoding"]
    assert (decided["value"], decided["agent"], decided["kind"]) == (DECIDED, "maya", "decision")
    with Workspace.open(root, read_only=True) as workspace:
        assert [link.id for link in workspace.memory.chain(decided["id"])] == [ENCODING, decided["id"]]
    brief = _answer(["brief", "--project", PROJECT, "--root", str(root)], capsys)
    assert "Which seven nights?" in brief
    assert f"lisbon.encoding = {DECIDED}" in brief


def _context(root: Path, task_id: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Where a task stands, as the next agent is told."""
    words = ["startup", "--project", PROJECT, "--task-id", task_id, "--root", str(root), "--format", "json"]
    context: dict[str, Any] = json.loads(_answer(words, capsys))["task_context"]
    return context


def _answer(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(words) == 0
    return capsys.readouterr().out

"""One review, done in two ways, leaves the same log; and the next agent is told what it said.

The ways that there are: on the command line, and through the calls that the program's screens make. A way
through the keys of the screens belongs into `WAYS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.tui.review_script import (
    ALEXANDRIA,
    COMMENT,
    LISBON,
    SCRIPT,
    Released,
    Step,
    Verdict,
    Withheld,
    left_by,
    on_the_command_line,
    sample,
)
from workbench.memory.views import StartupBundle
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


WAYS: dict[str, Way] = {"calls": through_the_program_s_calls}


@pytest.mark.parametrize("way", WAYS)
def test_a_review_leaves_the_same_log_whichever_way_it_is_done(tmp_path: Path, way: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    base = sample(first)
    assert sample(second) == base
    on_the_command_line(first, SCRIPT)
    WAYS[way](second, SCRIPT)
    left = left_by(first, base)
    assert [event["type"] for event in left] == [*["review.recorded"] * 4, *["visibility.changed"] * 2]
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
def test_the_next_agent_is_told(tmp_path: Path, way: str) -> None:
    sample(tmp_path / "w")
    WAYS.get(way, on_the_command_line)(tmp_path / "w", SCRIPT)
    with Workspace.open(tmp_path / "w", read_only=True) as workspace:
        (told,) = _context(workspace, "lisbon-encoding")["unresolved_reviews"]
        assert (told["verdict"], told["comment"], told["target_id"]) == ("questioned", COMMENT, LISBON)
        review = _context(workspace, "alexandria-line")["review"]
        assert (review["verdict"], review["target_id"]) == ("accepted", ALEXANDRIA)
        assert "Which seven nights?" in workspace.memory.brief(project="atlas").text


def _context(workspace: Workspace, task_id: str) -> dict[str, Any]:
    """Where a task stands, as the next agent is told."""
    bundle = workspace.memory.startup_bundle(project="atlas", task_id=task_id)
    assert isinstance(bundle, StartupBundle)
    context: dict[str, Any] = msgspec.to_builtins(bundle.task_context)
    return context

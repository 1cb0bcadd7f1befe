"""What a shell is offered for options and arguments of shared memory."""

from __future__ import annotations

import pytest
from click.shell_completion import BashComplete

from tests.cli.memory_words import SHIP, fact, hand_off, say
from tests.cli.program import Run
from workbench.cli.completion import VARIABLE
from workbench.cli.group import program
from workbench.workspace import Workspace


def offered(*words: str) -> list[str]:
    """The plain values for the last word."""
    shell = BashComplete(program, {}, "workbench", VARIABLE)
    found = shell.get_completions(list(words[:-1]), words[-1])
    return [item.value for item in found if item.type == "plain"]


def test_names_that_were_used(run: Run, workspace: Workspace) -> None:
    say(run, "a", *SHIP, "--domain", "work", "--agent", "night helper")
    say(run, "b", "--project", "beta", "--task-id", "begun", "--agent", "codex")
    hand_off(run, "--project", "beta", "--task-id", "built")
    for command in ("record", "startup", "facts", "tasks", "brief", "reviews"):
        assert set(offered(command, "--project", "")) == {"atlas", "beta"}
        assert offered(command, "--project", "be") == ["beta"]
    for command in ("record", "startup", "facts", "tasks", "recent", "timeline"):
        assert "work" in offered(command, "--domain", "")
    assert "codex" in offered("startup", "--agent", "")
    assert "night helper" not in offered("record", "--agent", "")
    assert offered("startup", "--project", "beta", "--task-id", "") == ["built", "begun"]
    assert offered("startup", "--project", "BETA", "--task-id", "bu") == ["built"]
    assert set(offered("reviews", "--task-id", "")) == {"built", "begun", "ship"}
    assert "decision" in offered("record", "--category", "dec")


def test_ids(run: Run, workspace: Workspace) -> None:
    handed = hand_off(run)
    held = fact(run, "engine", "SQLite").json
    assert offered("facts", "--chain", "") == [held["fact_id"]]
    assert offered("review", "fact", "") == [held["fact_id"]]
    assert offered("review", "checkpoint", "") == [handed["checkpoint_id"]]
    assert offered("review", "observation", "") == [held["observation_id"], handed["observation_id"]]
    assert offered("review", "") == ["checkpoint", "fact", "observation"]
    assert offered("quarantine", handed["observation_id"][:-1]) == [handed["observation_id"]]
    assert offered("release", "") == []
    assert run("quarantine", handed["observation_id"], "--reason", "r").code == 0
    assert offered("release", "") == [handed["observation_id"]]


@pytest.mark.parametrize("name", ["$(reboot)", "a b", "-rf", "`z`", "x;y"])
def test_nothing_is_offered_that_a_shell_would_act_on(run: Run, workspace: Workspace, name: str) -> None:
    hand_off(run, f"--project={name}", f"--task-id={name}")
    for option in ("--project", "--task-id"):
        assert offered("startup", option, "") == []


def test_without_a_workspace_nothing_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHRONICLE_ROOT", "/nowhere")
    for words in (("facts", "--chain"), ("startup", "--project"), ("startup", "--task-id"), ("release",)):
        assert offered(*words, "") == []

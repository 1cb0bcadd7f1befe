"""What `startup`, `facts`, `recent` and `brief` tell besides: disputes, other domains, slips, who said it too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.memory_words import JSON, SHIP, fact, hand_off, say, startup
from tests.cli.program import Run
from workbench.workspace import Workspace
from workbench.workspace.evidence import purge


def out(run: Run, *words: str) -> str:
    answer = run(*words)
    assert answer.code == 0, answer
    return answer.out


def test_a_disputed_fact_says_by_whom_and_why(run: Run, workspace: Workspace) -> None:
    fact_id = fact(run, "engine", "SQLite").json["fact_id"]
    done = run("review", "fact", fact_id, "--verdict", "rejected", "--comment", "We measured")
    reviewer = workspace.manifest.owner
    assert done.code == 0, done
    for words in (
        ("facts",),
        ("facts", "--chain", fact_id),
        ("startup", *SHIP[:2]),
        ("startup", *SHIP),
    ):
        assert f"disputed by {reviewer}: We measured\n" in out(run, *words)
    assert startup(run, *SHIP)["task_context"]["current_facts"][0]["review"]["comment"] == "We measured"
    brief = out(run, "brief", "--project", "atlas")
    assert f"engine = SQLite [disputed by {reviewer}] (fact {fact_id})" in brief
    assert "We measured" in brief.split("## Review")[1]


def test_a_project_that_is_known_in_another_domain_says_where(run: Run, workspace: Workspace) -> None:
    say(run, "North", "--domain", "old trails", *SHIP)
    say(run, "South", "--domain", "trails", *SHIP)
    for scope in (SHIP, SHIP[:2]):
        text = out(run, "startup", *scope)
        assert "also recorded in: trails, old trails  (--domain trails)\n" in text
        assert "nothing is recorded" not in text
    assert startup(run, *SHIP)["elsewhere"] == ["trails", "old trails"]
    assert "elsewhere" not in startup(run, *SHIP, "--domain", "trails")
    say(run, "West", *SHIP)
    assert "also recorded in" not in out(run, "startup", *SHIP)


def test_a_name_that_nobody_wrote_under_says_so_with_names_like_it(run: Run, workspace: Workspace) -> None:
    hand_off(run)
    text = out(run, "startup", "--project", "altas")
    assert "nothing is recorded under altas\ndid you mean: atlas\n" in text
    text = out(run, "startup", "--project", "atlas", "--task-id", "shop")
    assert "nothing is recorded under atlas / shop\ndid you mean: ship\n" in text
    text = out(run, "startup", "--project", "zebra")
    assert "nothing is recorded under zebra\n" in text
    assert "did you mean" not in text
    cursor = startup(run, *SHIP)["task_context"]["cursor"]
    for words in (SHIP, SHIP[:2], (), (*SHIP, "--since", cursor), (*SHIP, "--focus", "zebra")):
        assert "nothing is recorded" not in out(run, "startup", *words)
    say(run, "secret", "--project", "zebras", "--private")
    text = out(run, "startup", "--project", "zebras")
    assert "nothing is recorded under zebras\n" in text
    assert "zebras" not in out(run, "startup", "--project", "zebra").replace("under zebra\n", "")


def test_recent_says_who_observed_the_same(run: Run, workspace: Workspace) -> None:
    say(run, "Slow", "--agent", "claude")
    say(run, "Slow", "--agent", "codex")
    assert "seen again by codex\n" in out(run, "recent")
    say(run, "Slow", "--agent", "gemini")
    assert "seen again 2 times by codex, gemini\n" in out(run, "recent")
    (event,) = run("recent", *JSON).json["events"]
    assert (event["observed"], event["observed_by"]) == (3, ["codex", "gemini"])


def test_purged_evidence_is_told(run: Run, workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("notes")
    receipt = say(run, "With notes", *SHIP, "--source-file", str(path))
    digest = receipt["evidence"][0]["sha256"]
    purge(workspace.log, workspace.evidence, digest, reason="mine", by="maya")
    for words in (("recent",), ("recent", "--raw"), ("startup", *SHIP), ("timeline", "--at", "now")):
        text = out(run, *words)
        assert ": purged" in text
        assert ": archived" not in text


@pytest.mark.parametrize("budget", ["999", "8001"])
def test_a_wrong_budget_is_named_as_it_was_given(run: Run, workspace: Workspace, budget: str) -> None:
    answer = run("brief", "--budget", budget)
    assert answer.code == 2
    assert "--budget must be a whole number from 1000 to 8000" in answer.err
    assert "max_chars" not in answer.err

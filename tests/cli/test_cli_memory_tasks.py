"""`startup`, `tasks` and `recent`: what is handed over (cases F26–F31, I26, I27, V07)."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.cli.memory_words import HANDOFF, JSON, SHIP, fact, hand_off, say, startup
from tests.cli.program import Answer, Run
from workbench.workspace import Workspace

ATLAS = SHIP[:2]


def test_one_agent_goes_on_where_another_stopped(run: Run, workspace: Workspace) -> None:
    say(run, "Chose local storage", *SHIP, "--agent", "codex", "--category", "decision")
    hand_off(run, *SHIP, "--agent", "codex")
    bundle = startup(run, *SHIP, "--agent", "claude-mac", "--title", "Monday")
    context = bundle["task_context"]
    assert (bundle["agent"], bundle["project"], bundle["domain"]["id"]) == ("claude", "atlas", "global")
    assert context["checkpoint"]["agent"] == "codex"
    assert {key: context["checkpoint"]["checkpoint"][key] for key in HANDOFF} == HANDOFF
    assert [each["text"] for each in context["changes"]] == ["Chose local storage", "Handing off"]
    assert "open_tasks" not in context
    assert bundle["contract"]["name"] == "chronicle-workbench"
    out = run("startup", *SHIP).out
    assert out.startswith("atlas / ship\n")
    for line in ("  Ship the search", "     0 Measure recall", "     1 Write the page", "  completed"):
        assert f"{line}\n" in out


# -- F26 to F28: cursors -------------------------------------------------------------------


def test_pages_go_back_and_forth(run: Run, workspace: Workspace) -> None:
    for number in range(5):
        say(run, f"change {number}", *SHIP)
    found, words = [], ["--limit", "2"]
    for _ in range(3):
        context = startup(run, *SHIP, *words)["task_context"]
        found.append(([each["text"][-1] for each in context["changes"]], context["has_older"]))
        before = context["before"]
        words = ["--limit", "2", "--before", str(before)]
    assert found == [(["3", "4"], True), (["1", "2"], True), (["0"], False)]
    assert before is None
    cursor = startup(run, *SHIP)["task_context"]["cursor"]
    say(run, "change 5", *SHIP)
    context = startup(run, *SHIP, "--since", cursor)["task_context"]
    assert [each["text"] for each in context["changes"]] == ["change 5"]
    assert (context["has_older"], context["has_more"]) == (True, False)
    empty = startup(run, *SHIP, "--since", context["cursor"])["task_context"]
    assert (empty["changes"], empty["cursor"]) == ([], context["cursor"])


def test_the_text_tells_how_to_go_on(run: Run, workspace: Workspace) -> None:
    for number in range(3):
        say(run, f"change {number}", *SHIP)
    out = run("startup", *SHIP, "--limit", "1").out
    (older,) = [line for line in out.splitlines() if line.startswith("older: ")]
    assert "change 1" in run("startup", *SHIP, "--limit", "1", *older.split()[1:]).out
    (later,) = [line for line in out.splitlines() if "--since" in line]
    say(run, "change 3", *SHIP)
    assert "change 3" in run("startup", *SHIP, *later.split()[-2:]).out


def test_cursors_of_another_scope(run: Run, workspace: Workspace) -> None:
    say(run, "x", *SHIP)
    cursor = startup(run, *SHIP)["task_context"]["cursor"]
    for words, code in (
        (("--since", cursor, "--project", "atlas", "--task-id", "other"), "cursor_mismatch"),
        (("--since", cursor), "cursor_mismatch"),
        (("--since", "garbage", *SHIP), "cursor_mismatch"),
        (("--before", cursor[:-4], *SHIP), "cursor_mismatch"),
        (("--since", cursor, "--before", cursor, *SHIP), "invalid_argument"),
        (
            (
                "--domain",
                "nowhere",
            ),
            "unknown_scope",
        ),
        (("--task-id", "ship"), "invalid_argument"),
    ):
        answer = run("startup", *words, *JSON)
        assert (answer.code, answer.json["error_type"]) == (2, code)
    for limit in ("0", "101", "many"):
        assert run("startup", *SHIP, "--limit", limit).code == 2


# -- F29, F30: open tasks ------------------------------------------------------------------


def test_a_startup_without_a_task_lists_the_open_ones(run: Run, workspace: Workspace) -> None:
    hand_off(run, goal="First goal")
    hand_off(run, *ATLAS, "--task-id", "other")
    hand_off(run, goal="Second goal")
    context = startup(run)["task_context"]
    assert context["checkpoint"] is None
    assert [(each["task_id"], each["goal"]) for each in context["open_tasks"]] == [
        ("ship", "Second goal"),
        ("other", HANDOFF["goal"]),
    ]
    assert context["open_tasks"][0]["next_steps"] == HANDOFF["next_steps"][:3]
    assert "  atlas / ship: Second goal\n    next: Measure recall\n" in run("startup").out


def test_tasks_and_what_closes_them(run: Run, workspace: Workspace) -> None:
    hand_off(run)
    say(run, "no checkpoint yet", *ATLAS, "--task-id", "begun")
    (task,) = run("tasks", *JSON).json["tasks"]
    assert {key: task[key] for key in ("project", "task_id", "agent", "goal", "review", "status")} == {
        "project": "atlas",
        "task_id": "ship",
        "agent": "cli",
        "goal": HANDOFF["goal"],
        "review": None,
        "status": None,
    }
    assert task["recorded_at"] is not None
    assert task["next_steps"][:3] == HANDOFF["next_steps"][:3]
    fact(run, "task.status", "Completed", *SHIP, "--domain", "work")
    assert run("tasks", *JSON).json == {"tasks": [], "next": None}
    assert run("tasks").out == "no open tasks\n"
    every = run("tasks", "--all", "--project", "ATLAS", *JSON).json["tasks"]
    assert [each["task_id"] for each in every if each["checkpoint_id"] is None] != []
    assert "completed" in [each["status"] for each in every]
    assert "[completed]" in run("tasks", "--all").out
    assert "next: Tag it\n  next: and 1 more\n" in run("tasks", "--all").out
    assert run("tasks", "--project", "beta").out == "no open tasks\n"
    assert run("tasks", "--all", "--project", "beta").out == "no tasks\n"


def test_pages_of_tasks(run: Run, workspace: Workspace) -> None:
    for number in range(3):
        hand_off(run, *ATLAS, "--task-id", f"t{number}")
    for every in ([], ["--all"]):
        first = run("tasks", *every, "--limit", "2", *JSON).json
        assert [each["task_id"] for each in first["tasks"]] == ["t2", "t1"]
        rest = run("tasks", *every, "--limit", "2", "--after", str(first["next"]), *JSON).json
        assert [each["task_id"] for each in rest["tasks"]] == ["t0"]
        assert rest["next"] is None
        assert run("tasks", *every, "--limit", "2").out.endswith(f"\nmore: --after {first['next']}\n")


def test_two_spellings_are_one_task(run: Run, workspace: Workspace) -> None:
    hand_off(run, *ATLAS, "--task-id", "Launch_plan", goal="One")
    hand_off(run, *ATLAS, "--task-id", "launch plan", goal="Two")
    hand_off(run, *ATLAS, "--task-id", "Launch_plan-video", goal="Three")
    assert [each["goal"] for each in run("tasks", *JSON).json["tasks"]] == ["Three", "Two"]


def test_what_was_written_under_three_spellings_is_found_under_each(run: Run, workspace: Workspace) -> None:
    for name in ("atlas", "status", "atlas-app"):
        say(run, f"in {name}", "--project", name, "--task-id", "ship")
    for name in ("status", "atlas-app"):
        assert run("names", "alias", "project", name, "--of", "atlas").code == 0
    for name in ("atlas", "STATUS", "Atlas_App"):
        context = startup(run, "--project", name, "--task-id", "SHIP")["task_context"]
        assert [each["text"] for each in context["changes"]] == ["in atlas", "in status", "in atlas-app"]


def test_tasks_as_they_were(run: Run, workspace: Workspace) -> None:
    hand_off(run, goal="First")
    then = workspace.log.last_position()
    hand_off(run, goal="Second")
    assert [each["goal"] for each in run("tasks", "--as-of", str(then), *JSON).json["tasks"]] == ["First"]
    assert run("tasks", "--as-of", "yesterday", *JSON).json["tasks"] == []


# -- F31, V07: quarantine ------------------------------------------------------------------


def test_a_quarantined_checkpoint_is_no_open_task_until_it_is_released(
    run: Run, workspace: Workspace
) -> None:
    receipt = hand_off(run)
    for an_id in (receipt["observation_id"], receipt["checkpoint_id"]):
        done = run("quarantine", an_id, "--reason", "Made up", *JSON)
        assert done.code == 0, done
    assert done.json["changed"] is False
    assert run("tasks", *JSON).json["tasks"] == []
    context = startup(run, *SHIP)["task_context"]
    assert (context["checkpoint"], context["changes"]) == (None, [])
    for command in (["recent"], ["brief"], ["startup"], ["startup", "--focus", "search"], ["startup", *SHIP]):
        out = run(*command).out
        assert "Ship the search" not in out
        assert "Handing off" not in out
    (seen,) = run("recent", "--raw", *JSON).json["events"]
    assert seen["quarantined"] is True
    assert "[quarantined]" in run("recent", "--raw").out
    released = run("release", receipt["observation_id"], "--reason", "I asked, and it holds", *JSON).json
    assert (released["changed"], released["quarantined"]) == (True, False)
    assert (released["by"], released["reason"]) == ("ada", "I asked, and it holds")
    event = workspace.log.event(released["position"])
    assert event is not None
    assert (event.payload["by"], event.payload["reason"]) == ("ada", "I asked, and it holds")
    assert [each["task_id"] for each in run("tasks", *JSON).json["tasks"]] == ["ship"]
    assert startup(run, *SHIP)["task_context"]["checkpoint"]["agent"] == "cli"
    assert "nothing was written" in run("release", receipt["observation_id"], "--reason", "again").out


def test_what_asserts_a_fact_cannot_be_quarantined(run: Run, workspace: Workspace) -> None:
    receipt = fact(run, "engine", "SQLite").json
    answer = run("quarantine", receipt["observation_id"], "--reason", "no", *JSON)
    assert (answer.code, answer.json["error_type"]) == (2, "invalid_argument")
    assert "reject or supersede" in answer.json["hint"]


def test_every_repeat_is_quarantined_along_and_later_ones_say_so(run: Run, workspace: Workspace) -> None:
    def told(agent: str, *more: str) -> Answer:
        return run(
            "record", "poison text", "--project", "p", "--category", "decision", "--agent", agent, *more
        )

    first = told("codex", *JSON).json["event_id"]
    told("claude")
    out = run("quarantine", first, "--reason", "Made up").out
    assert "no agent sees it, with 1 repeat of it" in out
    later = told("gemini").out
    assert "no agent sees it: the same text was quarantined" in later
    for command in (("recent",), ("brief", "--project", "p"), ("startup", "--project", "p")):
        assert "poison" not in run(*command).out
    shown = run("timeline", "--at", "now").out
    assert "seen again 2 times by claude, gemini" in shown
    assert "[quarantined]" in shown
    assert run("release", first, "--reason", "It holds", *JSON).json["observations"] == 3


@pytest.mark.parametrize("command", ["quarantine", "release"])
def test_quarantine_asks_for_an_observation_and_a_reason(
    run: Run, workspace: Workspace, command: str
) -> None:
    an_id = say(run, "x")["observation_id"]
    for words in (
        (an_id,),
        (an_id, "--reason", " "),
        (an_id, "--reason", "r" * 1001),
        ("no", "--reason", "r"),
    ):
        answer = run(command, *words, *JSON)
        assert (answer.code, answer.json["status"]) == (2, "error")
    assert workspace.log.last_position() == 1


# -- recent and focus ----------------------------------------------------------------------


def test_recent_ones_come_newest_first(run: Run, workspace: Workspace) -> None:
    assert run("recent").out == "nothing is recorded yet\n"
    for number in range(4):
        say(run, f"event {number}", "--domain", ("global", "work")[number % 2])
    assert [each["text"] for each in run("recent", *JSON).json["events"]] == [
        f"event {number}" for number in (3, 2, 1, 0)
    ]
    assert [each["text"] for each in run("recent", "--domain", "Work", *JSON).json["events"]] == [
        "event 3",
        "event 1",
    ]
    assert [each["text"] for each in run("recent", "--limit", "1", *JSON).json["events"]] == ["event 3"]
    assert [each["text"] for each in run("recent", "--as-of", "1", *JSON).json["events"]] == ["event 0"]
    for limit in ("0", "501"):
        assert run("recent", "--limit", limit).code == 2


def test_a_focus_narrows_what_is_shown(run: Run, workspace: Workspace) -> None:
    say(run, "The index is slow", *SHIP)
    say(run, "The page is written", *SHIP)
    fact(run, "engine", "SQLite", *SHIP)
    found = startup(run, "--focus", "slow index")
    assert [each["text"] for each in found["recent_events"]] == ["The index is slow"]
    assert found["recall_status"]["no_confident_match"] is False
    assert found["task_context"]["current_facts"] == []
    out = run("startup", "--focus", "slow index").out
    assert "about “slow index”\n" in out
    assert "The page is written" not in out
    nothing = startup(run, "--focus", "submarine")
    assert nothing["recent_events"] == nothing["task_context"]["changes"] == []
    assert nothing["recall_status"]["no_confident_match"] is True


@pytest.mark.parametrize("domain", [(), ("--domain", "work")])
def test_a_checkpoint_of_a_closed_task_says_so_and_how_to_reopen_it(
    run: Run, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, domain: tuple[str, ...]
) -> None:
    closing = fact(run, "task.status", "completed", *SHIP, *domain).json["fact_id"]
    body = json.dumps(HANDOFF).encode()
    out = run("record", "More", *SHIP, "--checkpoint-file", "-", stdin=body).out
    assert f"task.status = completed (fact {closing})" in " ".join(out.split())
    assert run("tasks").out == "no open tasks\n"
    # The command that it prints does it.
    (line,) = [line for line in out.splitlines() if "| workbench record" in line]
    given, _, told = line.strip().removeprefix("echo ").partition(" | workbench ")
    assert "--root" not in told, "the workspace is found without"
    # So it does where the workspace was named: nothing else leads there.
    named = ("--root", str(workspace.root))
    out = run("record", "More", *SHIP, "--checkpoint-file", "-", *named, stdin=body).out
    (line,) = [line for line in out.splitlines() if "| workbench record" in line]
    given, _, told = line.strip().removeprefix("echo ").partition(" | workbench ")
    monkeypatch.delenv("CHRONICLE_ROOT")
    assert run(*shlex.split(told), stdin=shlex.split(given)[0].encode()).code == 0
    monkeypatch.setenv("CHRONICLE_ROOT", str(workspace.root))
    assert "Ship the search" in run("tasks").out


def test_startup_says_how_to_list_the_facts_that_it_leaves_out(run: Run, workspace: Workspace) -> None:
    for number in range(5):
        assert fact(run, f"slot {number}", "x", *SHIP, "--domain", "work").code == 0
    out = run("startup", *SHIP, "--domain", "work").out
    (line,) = [line for line in out.splitlines() if "more facts" in line]
    told = line.partition("workbench ")[2]
    assert run(*shlex.split(told)).out.count("slot ") == 5
    named = run("startup", *SHIP, "--domain", "work", "--root", str(workspace.root)).out
    assert f"workbench facts --root {shlex.quote(str(workspace.root))} --project atlas" in named
    assert "more facts" not in run("startup", *SHIP, "--domain", "work", "--limit", "5").out


def test_recent_of_a_project_or_a_task(run: Run, workspace: Workspace) -> None:
    say(run, "of the task", *SHIP)
    say(run, "of the project", *ATLAS)
    say(run, "of none")

    def texts(*words: str) -> list[str]:
        return [each["text"] for each in run("recent", *words, *JSON).json["events"]]

    assert texts() == ["of none", "of the project", "of the task"]
    assert texts("--project", "ATLAS") == ["of the project", "of the task"]
    assert texts(*SHIP) == ["of the task"]
    assert texts("--project", "atlas", "--domain", "work") == []
    first = run("recent", *ATLAS, "--limit", "1", *JSON).json
    assert texts(*ATLAS, "--after", str(first["next"])) == ["of the task"]
    refused = run("recent", "--task-id", "ship")
    assert refused.code == 2
    assert "project" in refused.err


def test_startup_shows_a_secret_given_as_a_name_as_a_marker(run: Run, workspace: Workspace) -> None:
    token = "ghp_" + "a1B2" * 9
    for words in (("--agent", token), ("--agent", token, "--focus", "x"), (*SHIP, "--agent", token)):
        for form in ((), JSON):
            answer = run("startup", *words, *form)
            assert answer.code == 0
            assert token.lower() not in f"{answer.out}{answer.err}".lower()
            assert "[REDACTED:github_token]" in answer.out

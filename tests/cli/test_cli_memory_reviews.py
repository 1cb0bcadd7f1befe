"""`review` and `reviews`: a person's verdict, and that the next agent is told (cases V01–V03)."""

from __future__ import annotations

import pytest

from tests.cli.memory_words import JSON, SHIP, fact, hand_off, say, startup
from tests.cli.program import Run
from workbench.workspace import Workspace


def test_a_questioned_line_reaches_the_next_agent(run: Run, workspace: Workspace) -> None:
    checkpoint = hand_off(run)["checkpoint_id"]
    done = run(
        "review",
        "checkpoint",
        checkpoint,
        "--verdict",
        "questioned",
        "--item",
        "next_steps:1",
        "--comment",
        "Which page?",
        *JSON,
    ).json
    assert {key: done[key] for key in ("target_kind", "target_id", "verdict", "comment", "reviewer")} == {
        "target_kind": "checkpoint",
        "target_id": checkpoint,
        "verdict": "questioned",
        "comment": "Which page?",
        "reviewer": "ada",
    }
    assert done["item"] == {"list": "next_steps", "index": 1}
    context = startup(run, *SHIP)["task_context"]
    assert (context["review"]["verdict"], context["review"]["comment"]) == ("questioned", "Which page?")
    assert (context["review"]["item"], context["review"]["line"]) == (
        {"list": "next_steps", "index": 1},
        "Write the page",
    )
    assert [each["id"] for each in context["unresolved_reviews"]] == [done["review_id"]]
    for command in (["startup", *SHIP], ["tasks"], ["brief", "--project", "atlas"], ["reviews"]):
        out = run(*command).out
        assert "questioned" in out
        assert "Which page?" in out
        assert "Write the page" in out
    (task,) = run("tasks", *JSON).json["tasks"]
    assert task["review"]["verdict"] == "questioned"
    hand_off(run, goal="A newer one")
    context = startup(run, *SHIP)["task_context"]
    assert context["unresolved_reviews"] == []
    assert "\nreview\n" not in run("startup", *SHIP).out


def test_the_later_verdict_counts_and_both_are_listed(run: Run, workspace: Workspace) -> None:
    checkpoint = hand_off(run)["checkpoint_id"]
    for verdict in ("rejected", "accepted"):
        assert run("review", "checkpoint", checkpoint, "--verdict", verdict).code == 0
    assert startup(run, *SHIP)["task_context"]["review"]["verdict"] == "accepted"
    found = run("reviews", "--target", checkpoint, *JSON).json["reviews"]
    assert [(each["verdict"], each["current"]) for each in found] == [("accepted", True), ("rejected", False)]
    assert "[a later one counts] rejected · ada" in run("reviews").out


def test_reviews_are_listed_by_scope_and_page(run: Run, workspace: Workspace) -> None:
    assert run("reviews").out == "no reviews\n"
    assert run("reviews", *JSON).json == {"reviews": [], "next": None}
    first = hand_off(run)["checkpoint_id"]
    second = hand_off(run, "--project", "beta", "--task-id", "b")["checkpoint_id"]
    for an_id in (first, second, first):
        assert run("review", "checkpoint", an_id, "--verdict", "accepted").code == 0
    of_beta = run("reviews", "--project", "BETA", *JSON).json["reviews"]
    assert [each["target_id"] for each in of_beta] == [second]
    of_task = run("reviews", *SHIP, *JSON).json["reviews"]
    assert [each["target_id"] for each in of_task] == [first, first]
    page = run("reviews", "--limit", "2", *JSON).json
    rest = run("reviews", "--limit", "2", "--after", str(page["next"]), *JSON).json
    assert [each["target_id"] for each in page["reviews"] + rest["reviews"]] == [first, second, first]
    assert rest["next"] is None
    assert run("reviews", "--as-of", "2", *JSON).json["reviews"] == []


def test_facts_and_observations_are_reviewed_too(run: Run, workspace: Workspace) -> None:
    said = say(run, "It rains", *SHIP)["observation_id"]
    known = fact(run, "engine", "SQLite", *SHIP).json["fact_id"]
    assert run("review", "observation", said, "--verdict", "accepted").out.startswith("accepted (event 4)\n")
    done = run("review", "fact", known, "--verdict", "rejected", "--comment", "-", stdin=b"Two\nlines\n")
    assert done.out.endswith("  Two\n  lines\n")
    found = run("reviews", *JSON).json["reviews"]
    assert [(each["target_kind"], each["comment"]) for each in found] == [
        ("fact", "Two\nlines"),
        ("observation", ""),
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("checkpoint", "{checkpoint}"),
        ("checkpoint", "{checkpoint}", "--verdict", "maybe"),
        ("section", "{checkpoint}", "--verdict", "accepted"),
        ("checkpoint", "nothing", "--verdict", "accepted"),
        ("fact", "{checkpoint}", "--verdict", "accepted"),
        ("checkpoint", "{checkpoint}", "--verdict", "accepted", "--comment", "c" * 4001),
        ("checkpoint", "{checkpoint}", "--verdict", "accepted", "--item", "next_steps:4"),
        ("checkpoint", "{checkpoint}", "--verdict", "accepted", "--item", "next_steps"),
        ("checkpoint", "{checkpoint}", "--verdict", "accepted", "--item", "next_steps:-1"),
        ("checkpoint", "{checkpoint}", "--verdict", "accepted", "--item", "next_steps:²"),
        ("checkpoint", "{checkpoint}", "--verdict", "accepted", "--item", "wishes:0"),
        ("checkpoint", "{checkpoint}", "--verdict", "accepted", "--item", "next_steps:" + "9" * 30),
        ("observation", "{observation}", "--verdict", "accepted", "--item", "next_steps:0"),
    ],
    ids=range(13),
)
def test_a_review_that_cannot_be(run: Run, workspace: Workspace, words: tuple[str, ...]) -> None:
    receipt = hand_off(run)
    ids = {"checkpoint": receipt["checkpoint_id"], "observation": receipt["observation_id"]}
    last = workspace.log.last_position()
    answer = run("review", *(word.format(**ids) for word in words), *JSON)
    assert (answer.code, answer.json["status"]) == (2, "error"), answer
    assert workspace.log.last_position() == last


def test_a_comment_at_its_limit_and_lists_in_other_words(run: Run, workspace: Workspace) -> None:
    checkpoint = hand_off(run)["checkpoint_id"]
    for item in ("open_questions:0", "open-questions:0", "Open questions:0"):
        words = ("--verdict", "accepted", "--comment", "c" * 4000, "--item", item)
        assert run("review", "checkpoint", checkpoint, *words, *JSON).json["item"]["list"] == "open_questions"

"""What commands of shared memory say where something is missing, blank, too early or not meant so."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.memory_words import JSON, SHIP, assertion, fact, facts, hand_off, say, startup
from tests.cli.program import CHECKOUT, Run
from workbench.workspace import Workspace


@pytest.mark.parametrize("name", ["", "  ", "\u200b"])
@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("record", "x", "--agent"), "agent"),
        (("record", "x", "--domain"), "domain"),
        (("startup", "--agent"), "agent"),
        (("startup", "--domain"), "domain"),
        (("facts", "--project"), "project"),
        (("recent", "--project", "atlas", "--task-id"), "task_id"),
        (("brief", "--project"), "project"),
    ],
)
def test_a_blank_name_is_refused(
    run: Run, workspace: Workspace, words: tuple[str, ...], field: str, name: str
) -> None:
    answer = run(*words, name)
    assert answer.code == 2
    assert f"error: {field} is blank" in answer.err
    assert "leave the option out" in answer.err
    assert workspace.log.last_position() == 0


def test_a_blank_variable_names_nobody(
    run: Run, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHRONICLE_AGENT", "\u200b")
    assert say(run, "x")["agent"] == "cli"


@pytest.mark.parametrize(
    ("given", "said", "hint"),
    [
        ({"goal": "g", "complete": ["x"]}, "unknown key 'complete'", "did you mean completed?"),
        ({"goal": "g", "Next-Steps": ["x"]}, "unknown key 'Next-Steps'", "did you mean next_steps?"),
        ({"goal": "g", "zzz": 1}, "unknown key 'zzz'", "it takes: goal, completed"),
        ({"goal": "g", "completed": None}, "must be a list of texts, not null", ""),
        ({"goal": "g", "completed": [1]}, "must be text, not a number", ""),
    ],
)
def test_a_wrong_key_of_a_checkpoint_is_named(
    run: Run, workspace: Workspace, given: dict[str, object], said: str, hint: str
) -> None:
    answer = run("record", "x", *SHIP, "--checkpoint-file", "-", stdin=json.dumps(given).encode())
    assert answer.code == 2
    assert said in answer.err
    assert hint in answer.err


def test_a_secret_in_the_place_of_a_key_is_not_repeated(run: Run, workspace: Workspace) -> None:
    token = "ghp_" + "a1B2" * 9
    answer = run("record", "x", "--fact-file", "-", stdin=json.dumps({token: 1}).encode())
    assert answer.code == 2
    assert token not in answer.err
    assert "fact has an unknown key" in answer.err


def test_a_fact_of_the_project_is_not_superseded_from_a_task(run: Run, workspace: Workspace) -> None:
    first = fact(run, "engine", "SQLite").json["fact_id"]
    refused = fact(run, "engine", "DuckDB", *SHIP, supersedes=first)
    assert refused.code == 1
    assert "a fact of atlas, without a task" in refused.json["error"]
    assert "record it without --task-id" in refused.json["hint"]
    assert fact(run, "engine", "DuckDB", supersedes=first).code == 0
    answer = run("record", "x", *SHIP[:2], "--fact-file", "-", "--checkpoint-file", "/dev/null")
    assert "/dev/null" in answer.err


def test_a_checkpoint_without_its_task_says_what_becomes_of_the_fact(
    run: Run, workspace: Workspace, sealed: object
) -> None:
    with open("fact.json", "wb") as file:  # noqa: PTH123
        file.write(assertion("engine", "SQLite"))
    answer = run(
        *("record", "x", *SHIP[:2], "--fact-file", "fact.json", "--checkpoint-file", "-"),
        stdin=b'{"goal": "g"}',
    )
    assert answer.code == 2
    assert "a fact of the project is recorded in a call of its own" in answer.err


def test_a_task_status_without_a_task_warns(run: Run, workspace: Workspace) -> None:
    done = fact(run, "task.status", "completed").json
    assert done["warnings"] == ["task.status without a task closes none: this names no task; add --task-id"]
    text = run(
        *("record", "y", *SHIP[:2], "--fact-file", "-"),
        stdin=assertion("task.status", "completed", "decision"),
    )
    assert text.code == 1
    given = assertion("task.status", "completed")
    text = run("record", "y", *SHIP[:2], "--fact-file", "-", stdin=given)
    assert "warning: task.status without a task closes none" in text.out


def test_a_chain_by_a_beginning_or_by_the_observation(run: Run, workspace: Workspace) -> None:
    first = fact(run, "engine", "SQLite").json
    second = fact(run, "engine", "DuckDB", supersedes=first["fact_id"]).json
    confirmed = fact(run, "engine", "DuckDB", *SHIP[:2]).json
    whole = run("facts", "--chain", second["fact_id"], *JSON).json["chain"]
    assert [each["value"] for each in whole] == ["SQLite", "DuckDB"]
    for given in (
        first["fact_id"][:-2],
        second["fact_id"].replace("-", "").upper()[:31],
        first["observation_id"],
        second["event_id"],
        confirmed["observation_id"],
    ):
        assert run("facts", "--chain", given, *JSON).json["chain"] == whole
    several = run("facts", "--chain", first["fact_id"][:4])
    assert several.code == 2
    assert "several facts have an id that begins so" in several.err
    told = say(run, "no fact")["observation_id"]
    for given in (told, "ffff", "zz", told[:3]):
        assert "no fact has this id" in run("facts", "--chain", given).err


def test_nobody_finds_a_private_fact_by_its_observation(run: Run, workspace: Workspace) -> None:
    hidden = fact(run, "engine", "SQLite", *SHIP[:2], "--private").json
    for given in (hidden["observation_id"], hidden["fact_id"][:-1]):
        assert "no fact has this id" in run("facts", "--chain", given).err
        assert run("facts", "--chain", given, "--raw").code == 0


def test_the_most_that_can_be_listed(run: Run, workspace: Workspace) -> None:
    for number in range(3):
        say(run, f"said {number}")
    assert run("recent", "--limit", "500", *JSON).json["next"] is None
    page = run("recent", "--limit", "2", *JSON).json
    assert [each["text"] for each in page["events"]] == ["said 2", "said 1"]
    rest = run("recent", "--limit", "2", "--after", str(page["next"]), *JSON).json
    assert ([each["text"] for each in rest["events"]], rest["next"]) == (["said 0"], None)
    assert run("recent", "--limit", "3", *JSON).json["next"] is None
    assert "1 to 500" in " ".join(run("recent", "--help").out.split())
    assert "1 to 100" in " ".join(run("startup", "--help").out.split())


def test_before_anything_was_recorded(run: Run, workspace: Workspace) -> None:
    hand_off(run)
    for words in (("facts",), ("tasks",), ("recent",)):
        for moment in ("2001-01-01", "0"):
            answer = run(*words, "--as-of", moment)
            assert answer.code == 0
            assert "the first record is of 20" in answer.out
        assert "the first record" not in run(*words, "--as-of", "now").out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("2026-02-30", "2026 has no 30 February"),
        ("2026-13-01", "there is no month 13"),
        ("2026-02-03 25:00", "no day has a time 25:00"),
        ("29:99", "no day has a time 29:99"),
        ("yesterday 24:10", "no day has a time 24:10"),
        ("9" * 40, "the log has no position 9999"),
        ("9" * 5000, "the log has no position 9999"),
    ],
)
def test_what_is_no_moment_says_why(run: Run, workspace: Workspace, given: str, said: str) -> None:
    answer = run("facts", "--as-of", given)
    assert answer.code == 2
    assert said in answer.err
    assert len(answer.err) < 600


def test_a_moment_of_the_timeline_may_be_a_position(run: Run, workspace: Workspace) -> None:
    first = say(run, "early")
    fact(run, "engine", "SQLite")
    known = run("timeline", "--as-of", str(first["position"]), *JSON)
    assert known.code == 0
    assert (known.json["mode"], known.json["facts"]) == ("as_of", [])
    assert [each["text"] for each in known.json["events"]] == ["early"]
    flagged = run("timeline", "--at", str(first["position"]), "--as-of", *JSON).json
    assert flagged["target_utc"] == known.json["target_utc"] == first["recorded_at"]
    assert run("timeline", "--as-of", "999").code == 2
    assert "the log has no position 999" in run("timeline", "--as-of", "999").err
    assert "two moments" in run("timeline", "--at", "now", "--as-of", "now").err
    assert "--as-of is about a moment" in run("timeline", "--as-of").err


@pytest.mark.parametrize("words", [("record", "-"), ("record", "x", "--why", "-")])
def test_an_empty_standard_input_is_named(run: Run, workspace: Workspace, words: tuple[str, ...]) -> None:
    answer = run(*words)
    assert (answer.code, "standard input is empty" in answer.err) == (2, True)


def test_an_empty_file_of_a_fact_is_named(run: Run, workspace: Workspace) -> None:
    answer = run("record", "x", "--fact-file", "-", stdin=b"\n")
    assert (answer.code, "standard input is empty" in answer.err) == (2, True)
    assert '{"slot":' in answer.err


def test_a_wrong_budget_says_what_is_usual(run: Run, workspace: Workspace) -> None:
    assert "hint: leave it out for a brief of at most 6000 characters" in run("brief", "--budget", "9").err


def test_a_brief_names_the_command_that_lists_all_facts(run: Run, workspace: Workspace) -> None:
    for number in range(11):
        assert fact(run, f"slot.{number}", "v").code == 0
    text = run("brief", "--project", "atlas").out
    assert "## Current facts, 10 of 11 (all: workbench facts --project atlas)\n" in text
    assert "## Current facts, 10 of 11 (all: workbench facts)\n" in run("brief").out


def test_every_open_review_is_in_a_startup_and_counts_in_its_position(run: Run, workspace: Workspace) -> None:
    hand_off(run)
    ids = [say(run, f"said {number}", *SHIP)["observation_id"] for number in range(25)]
    for each in ids:
        assert run("review", "observation", each, "--verdict", "questioned").code == 0
    found = startup(run, *SHIP, "--limit", "1")
    reviews = found["task_context"]["unresolved_reviews"]
    assert [each["target_id"] for each in reviews] == ids[::-1]
    assert found["db_summary"]["position"] == max(each["position"] for each in reviews)


def test_a_review_of_something_private_moves_no_position(run: Run, workspace: Workspace) -> None:
    hand_off(run)
    before = startup(run, *SHIP)["db_summary"]
    hidden = say(run, "hidden", *SHIP, "--private")["observation_id"]
    assert run("review", "observation", hidden, "--verdict", "rejected").code == 0
    assert startup(run, *SHIP)["db_summary"] == before


def test_odd_characters_in_a_fact_are_kept_or_replaced(run: Run, workspace: Workspace) -> None:
    done = fact(run, "odd", "a\0b\ud800c")
    assert done.code == 0
    (held,) = facts(run)
    assert held["value"] == "a\0b\ufffdc"
    for words in (("facts",), ("facts", "--chain", done.json["fact_id"]), ("brief",), ("startup", *SHIP[:2])):
        answer = run(*words)
        assert answer.code == 0
        assert "\0" not in answer.out
    again = fact(run, "odd", "a\0b\ud800c").json
    assert again["fact_id"] == done.json["fact_id"]


def _loaded(*words: str) -> bool:
    """Whether a command of its own process loads the rules of the filter."""
    code = (
        "import sys\nfrom workbench.cli import main\n"
        f"main({list(words)!r})\nprint('\\nworkbench.redaction.engine' in sys.modules and 'LOADED')"
    )
    code = code.replace("'\\nworkbench.redaction.engine'", "'workbench.redaction.engine'")
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rstrip().endswith("LOADED")


@pytest.mark.parametrize(
    "words",
    [
        ("startup", *SHIP),
        ("startup", "--project", "atlas-of-the-northern-rooms", "--task-id", "measure-every-corner"),
        ("facts", "--task-id", "x"),
        ("brief", "--budget", "1"),
        ("timeline", "--order", "x"),
        ("nosuch",),
    ],
)
def test_a_startup_and_an_error_wait_for_no_rules(
    run: Run, workspace: Workspace, words: tuple[str, ...]
) -> None:
    hand_off(run)
    hand_off(run, "--project", "atlas-of-the-northern-rooms", "--task-id", "measure-every-corner")
    assert not _loaded(*words)


def test_an_error_that_may_quote_a_secret_goes_through_the_filter(run: Run, workspace: Workspace) -> None:
    assert _loaded("startup", "--" + "ghp_" + "a1B2" * 9)

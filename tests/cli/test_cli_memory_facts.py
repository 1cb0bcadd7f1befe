"""`facts`: what holds, what held, and what a person made of it (cases F01–F13, V03, V06, V08, V09)."""

from __future__ import annotations

import pytest

from tests.cli.memory_words import JSON, SHIP, assertion, fact, facts, hand_off, say, startup
from tests.cli.program import Run
from workbench.workspace import Workspace

ATLAS = SHIP[:2]


def test_a_first_fact_holds(run: Run, workspace: Workspace) -> None:
    receipt = fact(run, "engine", "SQLite", kind="decision").json
    (found,) = facts(run, "--project", "ATLAS")
    assert found["id"] == receipt["fact_id"]
    assert {key: found[key] for key in ("slot", "value", "kind", "agent", "project", "task_id")} == {
        "slot": "engine",
        "value": "SQLite",
        "kind": "decision",
        "agent": "cli",
        "project": "atlas",
        "task_id": None,
    }
    assert (found["disputed"], found["event_id"]) == (False, receipt["event_id"])
    assert found["recorded_at"] >= receipt["recorded_at"][:10]
    assert run("facts", *JSON).json["next"] is None


def test_a_change_names_what_it_supersedes(run: Run, workspace: Workspace) -> None:
    first = fact(run, "engine", "SQLite").json["fact_id"]
    last = workspace.log.last_position()
    for value, kind in (("DuckDB", "observed"), ("SQLite", "decision")):
        refused = fact(run, "engine", value, kind=kind)
        assert (refused.code, refused.json["error_type"]) == (1, "stale_fact")
        assert first in refused.json["error"]
    # One transaction: what was refused left nothing behind.
    assert workspace.log.last_position() == last
    again = fact(run, "engine", "SQLite").json
    assert (again["fact_id"], again["event_id"] == again["observation_id"]) == (first, False)
    second = fact(run, "engine", "DuckDB", supersedes=first).json["fact_id"]
    assert [each["id"] for each in facts(run)] == [second]
    for supersedes in (first, "0" * 36, "nothing"):
        refused = fact(run, "engine", "X", supersedes=supersedes)
        assert refused.code in (1, 2)
        assert refused.json["status"] == "error"
    empty = fact(run, "another", "X", supersedes=second)
    assert (empty.code, empty.json["error_type"]) == (1, "stale_fact")


def test_project_task_and_no_project_are_three_slots(run: Run, workspace: Workspace) -> None:
    fact(run, "engine", "wide", "--domain", "global")
    fact(run, "engine", "project")
    fact(run, "engine", "task", *SHIP)
    fact(run, "engine", "other task", *ATLAS, "--task-id", "other")
    assert {each["value"] for each in facts(run)} == {"wide", "project", "task", "other task"}
    assert [each["value"] for each in facts(run, *SHIP)] == ["task", "project"]
    said = " ".join(run("record", "--help").out.split())
    assert "within just the domain, project and task that it is recorded with" in said
    assert "with and without --task-id are two slots" in said
    assert {each["value"] for each in facts(run, "--slot", "engine", "--limit", "2")} <= {
        "task",
        "other task",
    }
    # F11: a task starts with its own and its project's.
    started = startup(run, *SHIP)["task_context"]["current_facts"]
    assert [each["value"] for each in started] == ["task", "project"]


@pytest.mark.parametrize(
    "given",
    [
        {"colour": "red"},
        {"kind": "guess"},
        {"value": ""},
        {"slot": "s" * 201},
        {"value": "v" * 4001},
        {"slot": 7},
        {"supersedes": "x" * 129},
        {"kind": None},
    ],
)
def test_a_fact_keeps_its_limits(run: Run, workspace: Workspace, given: dict[str, object]) -> None:
    body = assertion(**{"slot": "s", "value": "v", "kind": "observed"} | given)  # type: ignore[arg-type]
    answer = run("record", "x", *ATLAS, "--fact-file", "-", *JSON, stdin=body)
    assert (answer.code, answer.json["error_type"]) == (2, "invalid_argument")
    assert workspace.log.last_position() == 0


def test_a_value_of_4000_characters_is_taken(run: Run, workspace: Workspace) -> None:
    assert fact(run, "s" * 200, "v" * 4000).code == 0
    assert run("facts").out.count("v") >= 4000


def test_pages_of_facts(run: Run, workspace: Workspace) -> None:
    for number in range(5):
        fact(run, f"slot-{number}", "x")
    seen: list[str] = []
    after: list[str] = []
    pages = 0
    while pages < 5:
        answer = run("facts", "--limit", "2", *after, *JSON).json
        seen += [each["slot"] for each in answer["facts"]]
        pages += 1
        if answer["next"] is None:
            break
        after = ["--after", str(answer["next"])]
    assert (seen, pages) == ([f"slot-{number}" for number in (4, 3, 2, 1, 0)], 3)
    out = run("facts", "--limit", "2").out
    more = out.splitlines()[-1].removeprefix("more: ").split()
    assert "slot-2 = x" in run("facts", "--limit", "2", *more).out


# -- V06, V09: the past --------------------------------------------------------------------


def test_as_of_a_position_the_old_fact_holds(run: Run, workspace: Workspace) -> None:
    first = fact(run, "engine", "SQLite").json["fact_id"]
    before = workspace.log.last_position()
    fact(run, "engine", "DuckDB", supersedes=first)
    exactly = workspace.log.last_position()
    assert [each["value"] for each in facts(run, "--as-of", str(before))] == ["SQLite"]
    assert [each["value"] for each in facts(run, "--as-of", str(exactly))] == ["DuckDB"]
    assert [each["value"] for each in facts(run, "--as-of", "now")] == ["DuckDB"]
    assert facts(run, "--as-of", "yesterday") == []
    for wrong in ("soon", "-1", "1.5", "9" * 30):
        answer = run("facts", "--as-of", wrong, *JSON)
        assert (answer.code, answer.json["status"]) == (2, "error")


def test_a_chain_of_twenty(run: Run, workspace: Workspace, sealed: object) -> None:
    current = None
    for number in range(20):
        more: dict[str, str] = {} if current is None else {"supersedes": current}
        agent = ("--agent", ("codex", "gemini")[number % 2])
        current = fact(run, "engine", f"v{number}", *ATLAS, *agent, **more).json["fact_id"]
    fact(run, "engine", "v19", *ATLAS, "--agent", "claude")
    old = run("facts", "--slot", "engine", "--as-of", "2", *JSON).json["facts"][0]["id"]
    for any_of_them in (current, old):
        chain = run("facts", "--chain", str(any_of_them), *JSON).json["chain"]
        assert [each["value"] for each in chain] == [f"v{number}" for number in range(20)]
    assert {each["agent"] for each in chain[::2]} == {"codex"}
    assert [each["agent"] for each in chain[-1]["confirmations"]] == ["claude"]
    assert [each["current"] for each in chain] == [False] * 19 + [True]
    assert len({each["event_id"] for each in chain}) == 20
    out = run("facts", "--chain", str(current)).out
    assert out.startswith("engine: 20 values, oldest first\n\n[replaced] v0\n")
    assert "[current] v19" in out
    assert "confirmed · " in out
    assert out.index("v0") < out.index("v10") < out.index("v19")


def test_a_chain_of_nothing(run: Run, workspace: Workspace) -> None:
    fact(run, "engine", "SQLite")
    for missing in ("nothing", "0" * 32, "", "\x1b[2J"):
        answer = run("facts", "--chain", missing, *JSON)
        assert (answer.code, answer.json["status"]) == (2, "error"), answer
    for words in (("--chain", "x", "--slot", "s"), ("--chain", "x", "--conflicts"), ("--conflicts", *ATLAS)):
        answer = run("facts", *words, *JSON)
        assert (answer.code, answer.json["error_type"]) == (2, "usage")


def test_a_slot_under_two_spellings_is_a_conflict_until_it_is_replaced(
    run: Run, workspace: Workspace
) -> None:
    fact(run, "engine", "SQLite", "--project", "atlas")
    fact(run, "engine", "DuckDB", "--project", "status")
    assert run("facts", "--conflicts", *JSON).json == {"conflicts": []}
    assert "no slot has several" in run("facts", "--conflicts").out
    assert run("names", "alias", "project", "status", "--of", "atlas").code == 0
    (conflict,) = run("facts", "--conflicts", *JSON).json["conflicts"]
    assert [each["value"] for each in conflict["facts"]] == ["DuckDB", "SQLite"]
    assert "2 values under several spellings" in run("facts", "--conflicts").out
    newest = conflict["facts"][0]["id"]
    assert fact(run, "engine", "LMDB", supersedes=newest).code == 0
    assert [each["value"] for each in facts(run, "--project", "STATUS")] == ["LMDB"]


# -- V03, V08: the person ------------------------------------------------------------------


def test_a_rejected_fact_stays_and_is_disputed_until_it_is_superseded(run: Run, workspace: Workspace) -> None:
    first = fact(run, "engine", "SQLite").json["fact_id"]
    assert run("review", "fact", first, "--verdict", "rejected", "--comment", "No.").code == 0
    (found,) = facts(run)
    assert (found["id"], found["disputed"]) == (first, True)
    assert "[disputed] engine = SQLite" in run("facts").out
    receipt = run(
        "record",
        "We take LMDB",
        *ATLAS,
        "--as-owner",
        "--fact-file",
        "-",
        *JSON,
        stdin=assertion("engine", "LMDB", "decision", supersedes=first),
    ).json
    assert receipt["agent"] == "ada"
    (found,) = facts(run)
    assert (found["agent"], found["kind"], found["disputed"]) == ("ada", "decision", False)
    chain = run("facts", "--chain", first, *JSON).json["chain"]
    assert [(each["value"], each["agent"]) for each in chain] == [("SQLite", "cli"), ("LMDB", "ada")]
    assert chain[0]["replaced_by"]["id"] == found["id"]


def test_private_facts_are_for_the_person(run: Run, workspace: Workspace) -> None:
    run(
        "record",
        "x",
        *ATLAS,
        "--private",
        "--fact-file",
        "-",
        *JSON,
        stdin=assertion("pay", "42", "observed"),
    )
    assert facts(run) == []
    assert [each["private"] for each in facts(run, "--raw")] == [True]
    assert "[private] pay = 42" in run("facts", "--raw").out
    assert startup(run, *ATLAS)["task_context"]["current_facts"] == []


def test_nothing_yet(run: Run, workspace: Workspace) -> None:
    assert run("facts", *JSON).json == {"facts": [], "next": None}
    assert run("facts").out == "no facts\n"
    hand_off(run)
    say(run, "x")
    assert run("facts").out == "no facts\n"

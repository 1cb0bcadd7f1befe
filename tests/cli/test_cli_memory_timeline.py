"""`timeline --at`: what was recorded around a moment, or was known at it; the list of events stays."""

from __future__ import annotations

import pytest

from tests.cli.memory_words import JSON, SHIP, fact, hand_off, say
from tests.cli.program import Run
from workbench.workspace import Workspace


def test_what_happened_around_a_moment(run: Run, workspace: Workspace) -> None:
    for when, text in (
        ("2026-03-02 10:00", "morning"),
        ("2026-03-02 14:30", "noon"),
        ("2026-03-03", "next day"),
    ):
        say(run, text, "--recorded-at", when, "--domain", "work")
    found = run("timeline", "--at", "2026-03-02 14:00", *JSON).json
    assert (found["mode"], found["domain"]) == ("around", None)
    assert found["target_utc"].startswith("2026-03-02T14:00:00")
    assert [each["text"] for each in found["events"]] == ["morning", "noon"]
    assert [each["delta_seconds"] for each in found["events"]] == [-14400, 1800]
    assert "facts" not in found
    wider = run("timeline", "--at", "2026-03-02T14:00Z", "--window-hours", "12", *JSON).json
    assert [each["text"] for each in wider["events"]] == ["morning", "noon", "next day"]
    one = run("timeline", "--at", "2026-03-02 14:00", "--limit", "1", *JSON).json
    assert ([each["text"] for each in one["events"]], one["events_has_more"]) == (["noon"], True)
    other = run("timeline", "--at", "2026-03-02 14:00", "--domain", "global", *JSON).json
    assert other["events"] == []
    out = run("timeline", "--at", "2026-03-02 14:00").out
    assert out.startswith("around 2026-03-02 14:00:00")
    assert "4 h 00 min before" in out
    assert "30 min after" in out
    assert "nothing was recorded" in run("timeline", "--at", "2020-01-01").out


def test_what_was_known_at_a_moment(run: Run, workspace: Workspace) -> None:
    first = fact(run, "engine", "SQLite").json["fact_id"]
    fact(run, "engine", "DuckDB", supersedes=first)
    found = run("timeline", "--at", "now", "--as-of", *JSON).json
    assert found["mode"] == "as_of"
    assert [(each["slot"], each["value"]) for each in found["facts"]] == [("engine", "DuckDB")]
    assert "facts then\n  engine = DuckDB\n" in run("timeline", "--at", "now", "--as-of").out
    before = run("timeline", "--at", "yesterday", "--as-of", *JSON).json
    assert (before["events"], before["facts"]) == ([], [])
    assert "no facts then" in run("timeline", "--at", "yesterday", "--as-of").out


def test_a_person_sees_what_no_agent_is_shown(run: Run, workspace: Workspace) -> None:
    say(run, "for ada", "--private")
    hidden = hand_off(run)["observation_id"]
    assert run("quarantine", hidden, "--reason", "wrong").code == 0
    events = run("timeline", "--at", "now", *JSON).json["events"]
    assert [(each.get("private"), each.get("quarantined")) for each in events] == [(True, None), (None, True)]
    out = run("timeline", "--at", "now").out
    assert "[private]" in out
    assert "[quarantined]" in out


@pytest.mark.parametrize(
    "words",
    [
        ("--as-of",),
        ("--window-hours", "3"),
        ("--at", "now", "--domain", "work", "--domain", "home"),
        ("--at", "now", "--project", "atlas"),
        ("--at", "now", "--newest"),
        ("--at", "now", "--actor", "ada"),
        ("--at", "now", "--text", "x"),
        ("--at", "now", "--after", "3"),
        ("--at", "now", "--order", "happened"),
        ("--at", "soon"),
        ("--at", ""),
        ("--at", "now", "--window-hours", "0"),
        ("--at", "now", "--window-hours", "721"),
        ("--at", "now", "--limit", "0"),
    ],
    ids=" ".join,
)
def test_options_that_do_not_go_together(run: Run, workspace: Workspace, words: tuple[str, ...]) -> None:
    answer = run("timeline", *words, *JSON)
    assert (answer.code, answer.json["error_type"]) == (2, "usage")


def test_the_list_of_events_stays(run: Run, workspace: Workspace) -> None:
    hand_off(run, *SHIP)
    answer = run("timeline", "--newest", *JSON).json
    assert [each["type"] for each in answer["events"]] == ["checkpoint.recorded", "observation.recorded"]
    assert set(answer) == {"events", "next"}

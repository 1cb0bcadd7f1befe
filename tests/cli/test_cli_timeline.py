"""`timeline`."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.cli.program import Run
from workbench.sessions.model import Actum
from workbench.workspace import Workspace

EVENT_KEYS = ["position", "stream", "seq", "type", "recorded_at", "occurred_at", "actor", "payload"]


@pytest.fixture
def filled(workspace: Workspace) -> Workspace:
    """One creation, then eight messages by two actors in turn."""
    for index in range(8):
        workspace.sessions.record_actum(
            "ada",
            Actum(
                chronicum_id="s",
                kind="message",
                actor_kind="agent",
                actor=("coder", "reviewer")[index % 2],
                content=f"number{index} alike",
            ),
        )
    return workspace


def test_events_have_exactly_these_keys(run: Run, filled: Workspace) -> None:
    said = run("timeline", "--format", "json").json
    assert list(said) == ["events", "next"]
    assert said["next"] is None
    assert [list(event) for event in said["events"]] == [EVENT_KEYS] * 9
    assert [event["position"] for event in said["events"]] == list(range(1, 10))
    assert said["events"][0]["type"] == "chronicum.created"
    assert said["events"][1]["actor"] == "coder"
    assert said["events"][1]["payload"]["content"] == "number0 alike"
    assert said["events"][1]["recorded_at"].endswith("+00:00")
    assert said["events"][1]["occurred_at"] is None


@pytest.mark.parametrize("newest", [False, True])
def test_pages_cover_the_log_once(run: Run, filled: Workspace, newest: bool) -> None:
    seen: list[int] = []
    after: list[str] = []
    while True:
        page = run(
            "timeline", "--limit", "4", *after, *(["--newest"] if newest else []), "--format", "json"
        ).json
        seen += [event["position"] for event in page["events"]]
        if page["next"] is None:
            break
        after = ["--after", str(page["next"])]
    assert seen == sorted(range(1, 10), reverse=newest)


def test_filters(run: Run, filled: Workspace) -> None:
    def positions(*options: str) -> list[int]:
        return [e["position"] for e in run("timeline", *options, "--format", "json").json["events"]]

    assert positions("--type", "chronicum.created") == [1]
    assert positions("--actor", "coder") == [2, 4, 6, 8]
    assert positions("--actor", "coder", "--actor", "reviewer") == list(range(2, 10))
    assert positions("--text", "number3") == [5]
    assert positions("--actor", "coder", "--text", "alike", "--limit", "2") == [2, 4]
    assert positions("--actor", "nobody") == []
    assert positions("--type", "no.such") == []
    assert positions("--text", '" OR *') == []


def test_long_payloads_come_whole(run: Run, workspace: Workspace) -> None:
    long = "word " * 20_000
    workspace.sessions.record_actum(
        "ada", Actum(chronicum_id="s", kind="message", actor_kind="agent", actor="coder", content=long)
    )
    events = run("timeline", "--format", "json").json["events"]
    assert events[-1]["payload"]["content"] == long


def test_text_form(run: Run, workspace: Workspace) -> None:
    assert run("timeline").out == "no events\n"
    workspace.sessions.record_actum(
        "ada",
        Actum(
            chronicum_id="s",
            kind="message",
            actor_kind="agent",
            actor="co\u202eder",
            content="first\n\x1b[31msecond [bold]",
        ),
    )
    out = run("timeline").out
    assert not set(out) & {"\x1b", "\u202e"}
    assert "first ␛[31msecond [bold]" in out
    assert len(out.splitlines()) == 3
    assert run("timeline", "--limit", "1").out.splitlines()[-1] == "more: --after 1"


def test_an_unknown_type_is_warned_of(run: Run, filled: Workspace) -> None:
    for form in ((), ("--format", "json")):
        answer = run("timeline", "--type", "actum.recorded", "--type", "foo", *form)
        assert answer.code == 0
        assert answer.err == (
            "warning: there is no type foo in this workspace; "
            "types in this workspace are actum.recorded, chronicum.created\n"
        )
    assert run("timeline", "--type", "foo", "--format", "json").json == {"events": [], "next": None}
    assert run("timeline", "--type", "actum.recorded").err == ""


def test_positions_are_written_as_after_takes_them(run: Run, workspace: Workspace) -> None:
    with workspace.log.transaction():
        for index in range(1100):
            workspace.sessions.record_actum(
                "ada",
                Actum(chronicum_id="s", kind="message", actor_kind="human", actor="ada", content=f"{index}"),
            )
    lines = run("timeline", "--after", "1000", "--limit", "2").out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["1001", "1002"]
    assert lines[-1] == "more: --after 1002"


def positions(run: Run, *options: str) -> list[int]:
    return [event["position"] for event in run("timeline", *options, "--format", "json").json["events"]]


@pytest.fixture
def scattered(workspace: Workspace) -> Workspace:
    """A creation, then six messages of which the first recorded happened last; the third is private."""
    for index in range(6):
        workspace.sessions.record_actum(
            "ada",
            Actum(
                chronicum_id="s" if index else "other",
                kind="message",
                actor_kind="agent",
                actor="coder",
                content=f"number{index}",
                occurred_at=datetime(2020, 5, 20 - index, 12, tzinfo=UTC),
                visibility="private" if index == 2 else "public",
            ),
        )
    return workspace


def test_the_order_in_which_things_happened(run: Run, scattered: Workspace) -> None:
    """Positions 1 and 3 are the creations, which happened when they were recorded."""
    happened = [8, 7, 6, 5, 4, 2, 1, 3]
    assert positions(run, "--order", "recorded") == sorted(happened)
    assert positions(run, "--order", "happened") == happened
    assert positions(run, "--order", "happened", "--newest") == happened[::-1]


@pytest.mark.parametrize("newest", [False, True])
def test_pages_as_things_happened(run: Run, scattered: Workspace, newest: bool) -> None:
    seen: list[int] = []
    after: list[str] = []
    while True:
        page = run(
            "timeline",
            "--order",
            "happened",
            "--limit",
            "3",
            *after,
            *(["--newest"] if newest else []),
            "--format",
            "json",
        ).json
        seen += [event["position"] for event in page["events"]]
        if page["next"] is None:
            break
        after = ["--after", str(page["next"])]
    assert seen == [8, 7, 6, 5, 4, 2, 1, 3][:: -1 if newest else 1]


def test_the_column_says_which_time_it_is(run: Run, scattered: Workspace) -> None:
    head, first = run("timeline", "--order", "happened").out.splitlines()[:2]
    assert "happened" in head
    assert "recorded" not in head
    assert "2020-05-15" in first
    assert "recorded" in run("timeline").out.splitlines()[0]


def test_more_parts_of_a_filter(run: Run, scattered: Workspace) -> None:
    assert positions(run, "--stream", "session/other") == [1, 2]
    assert positions(run, "--stream", "session/other", "--stream", "session/s", "--text", "number0") == [2]
    assert positions(run, "--stream", "nowhere") == []
    assert positions(run, "--visibility", "private") == [5]
    assert len(positions(run, "--visibility", "public")) == 7
    assert positions(run, "--until", "2020-05-17", "--order", "happened") == [8, 7]
    assert positions(run, "--since", "2020-05-19", "--until", "2020-05-21") == [2, 4]
    assert positions(run, "--since", "yesterday", "--type", "chronicum.created") == [1, 3]
    assert "private · number2" in run("timeline").out


@pytest.mark.parametrize(
    "options",
    [
        ("--since", "someday"),
        ("--until", ""),
        ("--order", "sideways"),
        ("--visibility", "all"),
        ("--order", "happened", "--after", "99"),
    ],
)
def test_what_cannot_be_meant_is_refused(run: Run, scattered: Workspace, options: tuple[str, ...]) -> None:
    answer = run("timeline", *options)
    assert answer.code == 2
    assert options[-2] in answer.err
    assert "Traceback" not in answer.err


def test_every_type_is_one_readable_line(run: Run, scattered: Workspace) -> None:
    lines = run("timeline").out.splitlines()
    assert "begun for ada" in lines[1]
    assert "number0" in lines[2]


def test_the_stream_of_a_session_may_be_named_by_the_id_as_it_is(run: Run, workspace: Workspace) -> None:
    for chronicum_id in ("codex/one two", "codex/other"):
        workspace.sessions.record_actum(
            "ada",
            Actum(chronicum_id=chronicum_id, kind="message", actor_kind="agent", actor="a", content="x"),
        )
    for name in ("session/codex/one two", "session/codex%2Fone%20two"):
        events = run("timeline", "--stream", name, "--format", "json").json["events"]
        assert [event["position"] for event in events] == [1, 2]


def test_names_narrow_under_any_spelling(run: Run, workspace: Workspace) -> None:
    memory = workspace.memory
    for project, agent, category in (("atlas", "coder", "note"), ("ATLAS", "Coder", "decision")):
        memory.record_event("done", project=project, task_id="ship", agent=agent, category=category)
    memory.record_event("elsewhere", domain="home", agent="other")

    def found(*words: str) -> list[int]:
        return [each["position"] for each in run("timeline", *words, "--format", "json").json["events"]]

    assert found("--project", "Atlas") == [1, 2]
    assert found("--task", "SHIP", "--category", "decision") == [2]
    assert found("--agent", "CODER") == [1, 2]
    assert found("--domain", "home", "--domain", "global") == [1, 2, 3]
    assert found("--project", "atlas", "--agent", "other") == []
    assert found("--project", "nobody") == []

"""Where a session comes from: forks, and sub-agents with a session or a part of one of their own."""

from __future__ import annotations

import pytest

from tests.cli.program import Run
from workbench.log.streams import session_stream
from workbench.sessions.events import ChronicumDescribed
from workbench.sessions.model import Actum
from workbench.workspace import Workspace


def record(workspace: Workspace, session: str, content: str, **more: object) -> None:
    given: dict[str, object] = {
        "chronicum_id": session,
        "kind": "message",
        "actor_kind": "human",
        "actor": "ada",
        "content": content,
        **more,
    }
    workspace.sessions.record_actum("ada", Actum(**given))  # type: ignore[arg-type]


def fork(workspace: Workspace, session: str, origin: str) -> None:
    record(workspace, session, "go on from there")
    workspace.log.append(session_stream(session), [ChronicumDescribed(forked_from=origin)])


def lines(run: Run, session: str) -> list[str]:
    answer = run("sessions", "show", session)
    assert answer.code == 0
    return answer.out.splitlines()


def test_a_fork_names_what_it_was_forked_from(run: Run, workspace: Workspace) -> None:
    record(workspace, "codex/old", "Move the importer")
    fork(workspace, "codex/new", "codex/old")
    assert "fork of  codex/old (Move the importer)" in lines(run, "codex/new")
    assert not [line for line in lines(run, "codex/old") if line.startswith(("fork of", "sub-agent of"))]


def test_a_fork_of_a_session_that_is_not_here(run: Run, workspace: Workspace) -> None:
    fork(workspace, "codex/new", "codex/gone\x1b[2J")
    (line,) = [line for line in lines(run, "codex/new") if line.startswith("fork of")]
    assert line.endswith("(not in this workspace)")
    assert "codex/gone" in line
    assert "\x1b" not in line


def test_lineage_in_json(run: Run, workspace: Workspace) -> None:
    record(workspace, "codex/old", "Move the importer")
    fork(workspace, "codex/new", "codex/old")
    listed = run("sessions", "list", "--format", "json").json["sessions"]
    assert {each["id"]: each["forked_from"] for each in listed} == {
        "codex/old": None,
        "codex/new": "codex/old",
    }
    shown = run("sessions", "show", "codex/new", "--format", "json").json["session"]
    assert (shown["forked_from"], shown["parent_session"]) == ("codex/old", None)


def test_a_sub_agents_session_names_who_started_it(run: Run, workspace: Workspace) -> None:
    record(workspace, "codex/trunk", "Look around")
    record(workspace, "codex/scout", "an event that its twin tells better")
    record(workspace, "codex/scout", "Look there", metadata={"parent_session": "codex/trunk"})
    assert "sub-agent of codex/trunk (Look around)" in lines(run, "codex/scout")
    shown = run("sessions", "show", "codex/scout", "--after", "3", "--format", "json").json["session"]
    assert shown["parent_session"] == "codex/trunk"


@pytest.mark.parametrize("odd", [None, 7, ["codex/trunk"], {"id": "codex/trunk"}])
def test_a_parent_that_is_no_id_is_passed_over(run: Run, workspace: Workspace, odd: object) -> None:
    record(workspace, "s", "hello", metadata={"parent_session": odd})
    assert not [line for line in lines(run, "s") if line.startswith("sub-agent of")]
    assert run("sessions", "show", "s", "--format", "json").json["session"]["parent_session"] is None


def test_acts_of_a_sub_agent_inside_a_session_are_marked(run: Run, workspace: Workspace) -> None:
    call = {"name": "Task", "call_id": "t1"}
    record(workspace, "s", "Look around")
    record(workspace, "s", "{}", kind="tool_request", actor_kind="agent", actor="coder", metadata=call)
    record(workspace, "s", "I looked", actor_kind="agent", actor="scout", metadata={"parent": "t1"})
    record(workspace, "s", "done", kind="tool_response", actor_kind="system", actor="Task", metadata=call)
    heads = [line for line in lines(run, "s") if "(agent)" in line or "(human)" in line]
    assert heads[0].endswith("message")
    assert heads[1].endswith("tool_request Task · starts a sub-agent at seq 4")
    assert heads[2].endswith("scout (agent) message · sub-agent")


def test_a_page_behind_the_end_says_so(run: Run, workspace: Workspace) -> None:
    record(workspace, "s", "hello")
    assert run("sessions", "show", "s", "--after", "99").out.endswith("\nNothing here follows 99.\n")
    assert "Nothing here" not in run("sessions", "show", "s").out


def test_closing_a_unit_says_of_which_session(run: Run, workspace: Workspace) -> None:
    record(workspace, "s", "hello")
    answer = run("sessions", "close-unit", "s", "--unit", "day 1")
    assert answer.out == "closed day 1 in s: event 3, seq 3\n"

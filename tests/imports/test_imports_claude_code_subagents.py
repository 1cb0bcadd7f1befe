"""Sub-agents' files: found, linked to the call that spawned them, read in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.imports.claude_code_records import (
    OWNER,
    SESSION,
    acta,
    answer,
    assistant,
    call,
    envelope,
    lines,
    text,
    user,
    write,
)
from workbench.imports.claude_code import ReaderState, find_agents, read_orphan, read_session
from workbench.imports.transcript.candidates import AgentFile
from workbench.imports.transcript.items import ActumItem, Checkpoint, DescribeItem
from workbench.imports.transcript.placed import FileItem, FileUnreadable


def agent_records(agent_id: str, *middle: dict[str, Any]) -> list[dict[str, Any]]:
    records = [user(0, "Look.", parentUuid=None), *middle, assistant(9, [text(f"{agent_id} looked")])]
    for number, record in enumerate(records):
        record.update(agentId=agent_id, isSidechain=True, uuid=f"{agent_id}-{number}")
    return records


def spawn(number: int, call_id: str) -> dict[str, Any]:
    return assistant(number, [text(f"call {call_id}"), call(call_id, "Task", prompt="Look.")])


def place(folder: Path, agent_id: str, *middle: dict[str, Any], meta: Any = None) -> Path:
    path = folder / SESSION / "subagents" / f"agent-{agent_id}.jsonl"
    write(path, agent_records(agent_id, *middle))
    if meta is not None:
        path.with_name(f"agent-{agent_id}.meta.json").write_text(json.dumps(meta))
    return path


def contents(trunk: Path, agents: list[AgentFile] | None = None) -> list[str]:
    agents = find_agents(trunk) if agents is None else agents
    stream = read_session(trunk, owner=OWNER, agents=agents)
    return [entry.item.content for entry in entries(stream)]


def entries(stream: Any) -> list[Any]:
    return [
        entry
        for entry in stream
        if isinstance(entry, FileItem) and isinstance(entry.item, ActumItem) and entry.item.kind == "message"
    ]


@pytest.fixture
def trunk(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


def test_meta_links_a_file_even_if_its_call_was_interrupted(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [user(0, "go"), spawn(1, "t1"), user(2, "stop")])
    place(tmp_path, "a1", meta={"toolUseId": "t1", "agentType": "general"})
    assert contents(trunk) == ["go", "call t1", "Look.", "a1 looked", "stop"]


@pytest.mark.parametrize(
    "link",
    [
        user(2, [answer("t1", "done")], toolUseResult={"agentId": "a1", "status": "completed"}),
        user(2, [answer("t1", [text("Launched.\nagentId: a1 (internal ID)")])]),
        user(2, [answer("t1", "done\nagentId: a1")]),
        envelope("progress", 2, parentToolUseID="t1", data={"type": "agent_progress", "agentId": "a1"}),
    ],
)
def test_the_trunk_links_a_file(trunk: Path, tmp_path: Path, link: Any) -> None:
    write(trunk, [spawn(1, "t1"), link, user(3, "on")])
    path = place(tmp_path, "a1")
    assert find_agents(trunk) == [AgentFile(path, "a1", "t1", "")]
    assert contents(trunk) == ["call t1", "Look.", "a1 looked", "on"]


def test_acta_of_a_sub_agent_name_it_and_the_call(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [spawn(1, "t1")])
    place(tmp_path, "a1", meta={"toolUseId": "t1"})
    prompt, reply = entries(read_session(trunk, owner=OWNER, agents=find_agents(trunk)))[1:]
    assert (prompt.item.actor_kind, prompt.item.actor) == ("agent", "claude-code")
    assert (reply.item.actor_kind, reply.item.actor) == ("agent", "claude-code/a1")
    assert reply.item.chronicum_id == f"claude-code/{SESSION}"
    assert (reply.item.metadata["parent"], reply.item.metadata["agent_id"]) == ("t1", "a1")
    assert reply.item.line == 2


def test_a_file_without_a_link_comes_at_the_end(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [spawn(1, "t1"), user(2, "on")])
    place(tmp_path, "a1")
    assert [agent.call_id for agent in find_agents(trunk)] == [""]
    assert contents(trunk) == ["call t1", "on", "Look.", "a1 looked"]


def test_sub_agents_spawn_others(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [spawn(1, "t1"), user(2, "on")])
    place(tmp_path, "a1", spawn(5, "t2"), meta={"toolUseId": "t1"})
    place(tmp_path, "a2", meta={"toolUseId": "t2"})
    agents = find_agents(trunk)
    assert [(agent.agent_id, agent.spawner) for agent in agents] == [("a1", ""), ("a2", "a1")]
    stream = entries(read_session(trunk, owner=OWNER, agents=agents))
    assert [entry.item.content for entry in stream] == [
        "call t1",
        "Look.",
        "call t2",
        "Look.",
        "a2 looked",
        "a1 looked",
        "on",
    ]
    assert stream[3].item.actor == "claude-code/a1"


def test_several_files_of_one_line_keep_their_order(trunk: Path, tmp_path: Path) -> None:
    both = assistant(1, [call("t2", "Task", prompt="x"), call("t1", "Task", prompt="y"), text("sent")])
    write(trunk, [both, user(2, "on")])
    place(tmp_path, "a1", meta={"toolUseId": "t1"})
    place(tmp_path, "a2", meta={"toolUseId": "t2"})
    assert contents(trunk) == ["sent", "Look.", "a2 looked", "Look.", "a1 looked", "on"]


def test_circles_of_links_end(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [user(0, "go")])
    place(tmp_path, "a1", spawn(5, "t2"), meta={"toolUseId": "t1"})
    place(tmp_path, "a2", spawn(5, "t1"), meta={"toolUseId": "t2"})
    place(tmp_path, "a3", spawn(5, "t3"), meta={"toolUseId": "t3"})
    found = contents(trunk)
    assert [found.count(f"a{number} looked") for number in (1, 2, 3)] == [1, 1, 1]


def test_a_chain_of_a_thousand_sub_agents_is_read_whole(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [spawn(1, "t0")])
    for number in range(1000):
        place(tmp_path, f"a{number:04}", spawn(5, f"t{number + 1}"), meta={"toolUseId": f"t{number}"})
    found = contents(trunk)
    assert sum(content.endswith("looked") for content in found) == 1000


def test_workflows_and_older_files_are_found_and_links_out_are_not_followed(
    trunk: Path, tmp_path: Path
) -> None:
    write(trunk, [user(0, "go")])
    below = tmp_path / SESSION / "subagents" / "workflows" / "run1"
    inside = write(below / "agent-w1.jsonl", agent_records("w1"))
    write(below / "journal.jsonl", [{"event": "x"}])
    outside = write(tmp_path / "outside" / "agent-evil.jsonl", agent_records("evil"))
    (below / "agent-link.jsonl").symlink_to(outside)
    (below / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    old = write(tmp_path / "agent-old.jsonl", agent_records("old"))
    found = find_agents(trunk, [old])
    assert sorted(agent.path for agent in found) == sorted([inside, old])


@pytest.mark.parametrize("meta", [b"", b"{", b"[1]", b'{"toolUseId": 7}', b"[" * 5000, b"\xff"])
def test_a_damaged_meta_file_links_nothing(trunk: Path, tmp_path: Path, meta: bytes) -> None:
    write(trunk, [user(0, "go")])
    path = place(tmp_path, "a1")
    path.with_name("agent-a1.meta.json").write_bytes(meta)
    assert [agent.call_id for agent in find_agents(trunk)] == [""]


def test_an_orphan_is_marked_and_describes_its_session(tmp_path: Path) -> None:
    path = place(tmp_path, "a1")
    stream = [
        entry.item for entry in read_orphan(AgentFile(path, "a1"), owner=OWNER) if isinstance(entry, FileItem)
    ]
    assert [actum.metadata["orphan"] for actum in acta(stream)] == [True, True]
    assert {actum.chronicum_id for actum in acta(stream)} == {f"claude-code/{SESSION}"}
    assert any(isinstance(item, DescribeItem) for item in stream)


def test_only_the_trunk_describes_its_session(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [spawn(1, "t1")])
    path = place(tmp_path, "a1", meta={"toolUseId": "t1"})
    stream = read_session(trunk, owner=OWNER, agents=find_agents(trunk))
    described = [e for e in stream if isinstance(e, FileItem) and isinstance(e.item, DescribeItem)]
    assert described
    assert path not in {entry.path for entry in described}


def test_a_file_that_vanished_is_named_and_the_others_go_on(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [spawn(1, "t1"), user(2, "on")])
    path = place(tmp_path, "a1", meta={"toolUseId": "t1"})
    agents = find_agents(trunk)
    path.unlink()
    stream = list(read_session(trunk, owner=OWNER, agents=agents))
    assert [entry for entry in stream if isinstance(entry, FileUnreadable)] == [
        FileUnreadable(path, "No such file or directory")
    ]
    assert [entry.item.content for entry in entries(stream)] == ["call t1", "on"]


def test_each_file_grows_on_its_own(trunk: Path, tmp_path: Path) -> None:
    write(trunk, [spawn(1, "t1")])
    path = place(tmp_path, "a1", meta={"toolUseId": "t1"})
    states: dict[Path, ReaderState] = {}
    for entry in read_session(trunk, owner=OWNER, agents=find_agents(trunk)):
        if isinstance(entry, FileItem) and isinstance(entry.item, Checkpoint):
            assert isinstance(entry.item.state, ReaderState)
            states[entry.path] = entry.item.state
    assert set(states) == {trunk, path}
    for file, content in ((trunk, "trunk"), (path, "agent")):
        with file.open("ab") as end:
            end.write(lines([assistant(20, [text(f"{content} grew")], uuid=f"{content}-20")]))
    again = read_session(trunk, owner=OWNER, agents=find_agents(trunk), states=states)
    grown = entries(again)
    assert [entry.item.content for entry in grown] == ["trunk grew", "agent grew"]
    assert grown[1].item.metadata["parent"] == "t1"
    assert grown[1].item.chronicum_id == f"claude-code/{SESSION}"

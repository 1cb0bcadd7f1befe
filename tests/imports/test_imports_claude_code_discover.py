"""What there is to import, and what is not a transcript and why."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from tests.imports.claude_code_records import SESSION, assistant, text, user, write
from workbench.imports.claude_code import config_folder, discover
from workbench.imports.transcript.candidates import Discovery


def reasons(found: Discovery) -> dict[str, str]:
    return {refused.path.name: refused.reason for refused in found.refused}


def test_without_paths_the_programs_own_folder_is_searched(tmp_path: Path) -> None:
    trunk = write(
        tmp_path / "projects" / "-home-ada-atlas" / f"{SESSION}.jsonl",
        [
            {"type": "file-history-snapshot", "snapshot": {}},
            user(0, "Draw the map."),
            *(assistant(number, [text("x" * 2000)]) for number in range(1, 59)),
        ],
    )
    write(tmp_path / "history.jsonl", [{"display": "x"}])
    found = discover(environment={"CLAUDE_CONFIG_DIR": str(tmp_path)})
    (candidate,) = found.candidates
    assert candidate.path == trunk
    assert candidate.size == trunk.stat().st_size
    assert candidate.modified == trunk.stat().st_mtime
    assert (candidate.session_id, candidate.cwd, candidate.title) == (
        SESSION,
        "/home/ada/atlas",
        "Draw the map.",
    )
    assert candidate.first_at == datetime(2026, 2, 3, 4, 5, 0, 6000, UTC)
    assert candidate.last_at == datetime(2026, 2, 3, 4, 5, 58, 6000, UTC)
    assert not found.refused


def test_the_programs_own_folder_has_a_default() -> None:
    assert config_folder({}) == Path.home() / ".claude"
    assert config_folder({"CLAUDE_CONFIG_DIR": ""}) == Path.home() / ".claude"


def test_what_is_no_transcript_is_named_with_a_reason(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "blank.jsonl").write_bytes(b"\n\n")
    (tmp_path / "prose.jsonl").write_bytes(b"Dear diary,\n")
    (tmp_path / "binary.jsonl").write_bytes(bytes(range(256)) * 40)
    write(tmp_path / "other.jsonl", [{"type": "session_meta", "payload": {}}])
    write(tmp_path / "history.jsonl", [{"display": "x", "project": "/a"}])
    (tmp_path / "notes.txt").write_text("not looked at")
    found = discover([tmp_path])
    assert not found.candidates
    assert reasons(found) == {
        "empty.jsonl": "empty",
        "blank.jsonl": "empty",
        "prose.jsonl": "not JSON lines",
        "binary.jsonl": "not JSON lines",
        "other.jsonl": "no session records",
        "history.jsonl": "prompt history",
    }


def test_given_files_are_judged_whatever_their_name(tmp_path: Path) -> None:
    good = write(tmp_path / "copy.txt", [user(0, "Draw.")])
    packed = tmp_path / "x.jsonl.zst"
    packed.write_bytes(b"\x28\xb5\x2f\xfd")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = discover([good, packed, tmp_path / "nowhere", pipe, good])
    assert [candidate.path for candidate in found.candidates] == [good]
    assert reasons(found) == {
        "x.jsonl.zst": "compressed",
        "nowhere": "not found",
        "pipe": "not a regular file",
    }


def test_comments_and_damage_in_front_do_not_hide_a_transcript(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [user(0, "Draw.")])
    path.write_bytes(b"// copied from a friend\n\xff\n" + path.read_bytes())
    assert [candidate.title for candidate in discover([tmp_path]).candidates] == ["Draw."]


def test_a_first_record_larger_than_the_head_is_read(tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", [user(0, "Draw " * 200_000)])
    (candidate,) = discover([tmp_path]).candidates
    assert candidate.session_id == SESSION
    assert candidate.title.startswith("Draw Draw")


def test_sub_agents_go_with_their_trunk_and_orphans_stand_alone(tmp_path: Path) -> None:
    trunk = write(tmp_path / f"{SESSION}.jsonl", [user(0, "Draw.")])
    new = write(tmp_path / SESSION / "subagents" / "agent-a1.jsonl", [user(0, "x", agentId="a1")])
    old = write(tmp_path / "agent-b2.jsonl", [user(0, "x", agentId="b2")])
    lost = write(tmp_path / "agent-c3.jsonl", [user(0, "x", agentId="c3", sessionId="gone")])
    found = discover([tmp_path])
    assert [(c.path, c.orphan) for c in found.candidates] == [(trunk, False), (lost, True)]
    assert {agent.path for agent in found.candidates[0].agents} == {new, old}
    assert [agent.agent_id for agent in found.candidates[1].agents] == ["c3"]
    alone = discover([trunk])
    assert {agent.path for agent in alone.candidates[0].agents} == {new, old}


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "secret.jsonl", [user(0, "x")])
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.jsonl").symlink_to(outside)
    (inside / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    (inside / "loop.jsonl").symlink_to(inside / "loop.jsonl")
    found = discover([inside])
    assert not found.candidates
    assert reasons(found) == {
        "link.jsonl": "a link out of its folder",
        "loop.jsonl": "a link out of its folder",
    }


def test_what_the_system_refuses_is_named(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle", target_is_directory=True)
    long = tmp_path / ("x" * 400)
    found = discover([tmp_path / "circle", long, Path("nul\0byte")])
    assert [refused.reason for refused in found.refused] == [
        "Too many levels of symbolic links",
        "File name too long",
        "not a path",
    ]

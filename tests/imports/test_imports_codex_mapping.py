"""Each kind of record of a rollout and what it becomes."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.imports.codex_records import (
    OWNER,
    SESSION,
    acta,
    call,
    described,
    event,
    ignored,
    item,
    meta,
    output,
    read_records,
    record,
    said,
    thought,
    told,
    turn,
    write,
)
from tests.imports.codex_records import read as read_file
from workbench.imports.transcript.items import Ignored, Repaired, UnitClosedItem

PNG = b"\x89PNG not really"
ADDRESS = "data:image/png;base64," + base64.b64encode(PNG).decode()


def test_messages_belong_to_who_said_them(tmp_path: Path) -> None:
    items = read_records(
        tmp_path,
        [
            meta(),
            turn("t1"),
            said("developer", "be brief"),
            said("system", "rules"),
            said("user", "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
            said("user", "Draw the map"),
            said("assistant", "Which one?", phase="commentary", id="msg_1"),
        ],
    )
    assert told(items) == [
        ("message", "codex", "be brief"),
        ("message", "codex", "rules"),
        ("message", "codex", "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
        ("message", OWNER, "Draw the map"),
        ("message", "codex", "Which one?"),
    ]
    assert [each.actor_kind for each in acta(items)] == ["system", "system", "system", "human", "agent"]
    first, _, context, prompt, answer = acta(items)
    assert first.metadata == {"turn_id": "t1", "cwd": "/home/ada/atlas", "role": "developer"}
    assert context.metadata["injected"] == "environment_context"
    assert prompt.metadata == {"turn_id": "t1"}
    assert answer.metadata == {
        "turn_id": "t1",
        "model": "model-large",
        "message_id": "msg_1",
        "phase": "commentary",
    }
    assert prompt.chronicum_id == f"codex/{SESSION}"
    assert prompt.source_key == f"{prompt.record_key}:0"
    assert prompt.record_key.startswith(f"codex:{SESSION}:")
    assert prompt.occurred_at == datetime(2026, 3, 4, 0, 0, 0, 7000, UTC)
    assert described(items) == {
        "source": str(tmp_path / f"rollout-2026-03-04T00-00-00-{SESSION}.jsonl"),
        "cwd": "/home/ada/atlas",
        "client_version": "0.71.0",
        "git_branch": "main",
        "models": ["model-large"],
        "title": "Draw the map",
    }


@pytest.mark.parametrize(
    "text",
    [
        "<user_instructions>\nx\n</user_instructions>",
        "# AGENTS.md instructions for /home/ada\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
        "<turn_aborted>\nstopped\n</turn_aborted>",
        "\n<skill>x</skill>\n",
    ],
)
def test_what_the_program_put_in_a_persons_place_is_the_programs(tmp_path: Path, text: str) -> None:
    [actum] = acta(read_records(tmp_path, [meta(), said("user", text)]))
    assert (actum.actor_kind, actum.content) == ("system", text)


@pytest.mark.parametrize(
    "text", ["<environment_context>\n</environment_context>\nnow go", "<p>hi</p>", "<skill is unclear"]
)
def test_a_remark_beside_an_envelope_stays_the_persons(tmp_path: Path, text: str) -> None:
    [actum] = acta(read_records(tmp_path, [meta(), said("user", text)]))
    assert actum.actor_kind == "human"


def test_each_block_is_an_actum_and_blank_ones_are_none(tmp_path: Path) -> None:
    records = [
        meta(),
        said("assistant", "one", " \n", "three"),
        said("assistant", ""),
        item("message", role="assistant", content="bare"),
        item("message", role="assistant", content=[{"type": "refusal", "refusal": "no"}, "four"]),
    ]
    items = read_records(tmp_path, records)
    assert [each.content for each in acta(items)] == ["one", "three", "bare", "four"]
    one, three, _, _ = acta(items)
    assert one.record_key == three.record_key
    assert [each.source_key[-2:] for each in (one, three)] == [":0", ":2"]
    assert ignored(items) == ["item:message", "block:refusal"]


def test_reasoning_becomes_thoughts_and_its_encrypted_part_nothing(tmp_path: Path) -> None:
    records = [
        meta(),
        thought("**Plan**\n\nfirst", "second"),
        item("reasoning", summary=[], encrypted_content="gAAAA1"),
        item("reasoning", summary=[], encrypted_content="gAAAA2"),
        item("reasoning", summary=[], content=[{"type": "reasoning_text", "text": "open"}]),
    ]
    items = read_records(tmp_path, records)
    assert told(items) == [
        ("thought", "codex", "**Plan**\n\nfirst"),
        ("thought", "codex", "second"),
        ("thought", "codex", "[reasoning withheld]"),
        ("thought", "codex", "[reasoning withheld]"),
        ("thought", "codex", "open"),
    ]
    assert [each.metadata.get("withheld") for each in acta(items)] == [None, None, True, True, None]
    assert len({each.source_key for each in acta(items)}) == 5
    assert "gAAAA" not in repr(items)


def test_every_family_of_calls_is_paired_with_its_answer(tmp_path: Path) -> None:
    patch = '*** Begin Patch\n*** Add File: "a"\n'
    action = {"type": "exec", "command": ["ls", "-l"]}
    records = [
        meta(),
        call("c1", "shell", '{"b": 1, "a": [2]}'),
        item("custom_tool_call", call_id="c2", name="apply_patch", input=patch, status="completed"),
        item("local_shell_call", call_id="c3", status="completed", action=action),
        item("web_search_call", id="ws_1", action={"type": "search", "query": "tides"}),
        item("tool_search_call", call_id="c5", arguments={"query": "maps"}),
        output("c1", "done"),
        item("custom_tool_call_output", call_id="c2", output="patched"),
        item("function_call_output", call_id="c3", output="total 0"),
        item("tool_search_output", call_id="c5", tools=[{"name": "map"}]),
        output("missing", "late"),
    ]
    items = read_records(tmp_path, records)
    assert told(items) == [
        ("tool_request", "codex", '{"b": 1, "a": [2]}'),
        ("tool_request", "codex", patch),
        ("tool_request", "codex", '{"command":["ls","-l"],"type":"exec"}'),
        ("tool_request", "codex", '{"query":"tides","type":"search"}'),
        ("tool_request", "codex", '{"query":"maps"}'),
        ("tool_response", "shell", "done"),
        ("tool_response", "apply_patch", "patched"),
        ("tool_response", "local_shell", "total 0"),
        ("tool_response", "tool_search", '[{"name":"map"}]'),
        ("tool_response", "tool", "late"),
    ]
    names = [each.metadata.get("name") for each in acta(items)]
    calls = [each.metadata.get("call_id") for each in acta(items)]
    assert names[:5] == ["shell", "apply_patch", "local_shell", "web_search", "tool_search"]
    assert names[5:] == ["shell", "apply_patch", "local_shell", "tool_search", None]
    assert calls == ["c1", "c2", "c3", "ws_1", "c5", "c1", "c2", "c3", "c5", "missing"]


@pytest.mark.parametrize(
    ("given", "content", "is_error", "result"),
    [
        ("plain", "plain", False, None),
        ("", "", False, None),
        (
            '{"output":"a\\nb","metadata":{"exit_code":0,"duration_seconds":0.5}}',
            "a\nb",
            False,
            {"exit_code": 0, "duration_seconds": 0.5},
        ),
        ('{"output":"no","metadata":{"exit_code":2}}', "no", True, {"exit_code": 2}),
        ('{"output":"no","more":1}', '{"output":"no","more":1}', False, None),
        ('{"output": cut', '{"output": cut', False, None),
        ("Exit code: 1\nOutput:\nx", "Exit code: 1\nOutput:\nx", True, {"exit_code": 1}),
        ({"content": "failed", "success": False}, "failed", True, None),
        ({"what": 1}, '{"what":1}', False, None),
        ([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}], "a\nb", False, None),
        (None, "", False, None),
    ],
)
def test_answers_come_in_every_form(
    tmp_path: Path, given: Any, content: str, is_error: bool, result: dict[str, Any] | None
) -> None:
    [actum] = acta(read_records(tmp_path, [meta(), output("c", given)]))
    assert actum.content == content
    assert actum.metadata.get("is_error", False) is is_error
    assert actum.metadata.get("result") == result


def test_images_are_described_and_their_bytes_become_evidence(tmp_path: Path) -> None:
    content = [
        {"type": "input_text", "text": "look"},
        {"type": "input_image", "image_url": ADDRESS},
        {"type": "input_image", "image_url": "https://example.org/a.png"},
        {"type": "input_image", "image_url": "data:image/png;base64,@@@"},
    ]
    records = [
        meta(),
        item("message", role="user", content=content),
        output("c", [{"type": "input_image", "image_url": ADDRESS}]),
    ]
    items = read_records(tmp_path, records)
    assert [each.content for each in acta(items)] == [
        "look",
        "[image png, 15 bytes]",
        "[image, elsewhere]",
        "[image png, unreadable]",
        "[image png, 15 bytes]",
    ]
    assert [[e.data for e in each.evidence] for each in acta(items)] == [[], [PNG], [], [], [PNG]]
    assert acta(items)[1].evidence[0].media_type == "image/png"
    assert [each.kind for each in items if isinstance(each, Repaired)] == ["unreadable base64"]


def test_a_compaction_closes_a_unit_and_keeps_its_summary(tmp_path: Path) -> None:
    records = [
        meta(),
        record("compacted", {"message": "So far: a map", "replacement_history": [{"x": 1}]}),
        record("compacted", {"message": ""}),
    ]
    items = read_records(tmp_path, records)
    units = [each for each in items if isinstance(each, UnitClosedItem)]
    assert [each.unit for each in units] == ["compaction", "compaction"]
    assert told(items) == [("message", "codex", "So far: a map")]
    [actum] = acta(items)
    assert actum.actor_kind == "system"
    assert actum.metadata["injected"] == "compact_summary"
    assert items.index(units[0]) < items.index(actum)
    assert actum.record_key == units[0].record_key
    assert actum.source_key != units[0].source_key


def test_a_rollback_closes_a_unit_and_removes_nothing(tmp_path: Path) -> None:
    records = [
        meta(),
        turn("t1"),
        said("user", "try"),
        event("thread_rolled_back", num_turns=1),
        turn("t2"),
        said("user", "try again"),
        event("thread_rolled_back", num_turns="x"),
    ]
    items = read_records(tmp_path, records)
    units = [each for each in items if isinstance(each, UnitClosedItem)]
    assert [(each.unit, each.note) for each in units] == [("rollback", "1 turn"), ("rollback", "")]
    assert [each.metadata["turn_id"] for each in acta(items)] == ["t1", "t2"]


def test_a_turn_id_may_come_with_an_event(tmp_path: Path) -> None:
    records = [
        meta(),
        event("task_started", turn_id="t1"),
        said("user", "a"),
        event("task_complete", turn_id="t1"),
        said("user", "b"),
    ]
    items = read_records(tmp_path, records)
    assert [each.metadata.get("turn_id") for each in acta(items)] == ["t1", None]


def test_what_is_no_actum_is_counted_and_only_the_unknown_is_kept(tmp_path: Path) -> None:
    strange = record("hologram", {"type": "x"})
    records = [
        meta(),
        meta("0199a1b2-0000-7000-8000-000000000002"),
        turn(),
        event("token_count", info=None),
        event("token_count", info=None),
        event("dance"),
        item("compaction", encrypted_content="x"),
        item("juggle"),
        strange,
        {"no": "type"},
        record("response_item", {}),
        {"type": "event_msg", "payload": "text"},
        {"type": "response_item"},
    ]
    items = read_records(tmp_path, records)
    assert ignored(items) == [
        "record:session_meta",
        "record:turn_context",
        "event:token_count",
        "event:token_count",
        "event:dance",
        "item:compaction",
        "item:juggle",
        "record:hologram",
        "record:None",
        "item:None",
        "record:event_msg",
        "record:response_item",
    ]
    raw = {each.kind: each.raw for each in items if isinstance(each, Ignored) and each.raw}
    assert set(raw) == {"event:dance", "item:juggle", "record:hologram", "record:None", "item:None"}
    assert json.loads(raw["record:hologram"]) == strange
    assert not acta(items)


def test_the_older_form_of_bare_lines(tmp_path: Path) -> None:
    records = [
        {
            "id": "old-1",
            "timestamp": "2025-05-06T07:08:09Z",
            "instructions": None,
            "git": {"branch": "trunk"},
        },
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
        {"type": "ghost_snapshot"},
    ]
    items = read_file(write(tmp_path / "rollout-2025-05-06-old.jsonl", records))
    assert [each.chronicum_id for each in acta(items)] == ["codex/old-1"] * 5
    assert told(items) == [
        ("message", OWNER, "hello"),
        ("thought", "codex", "[reasoning withheld]"),
        ("tool_request", "codex", "{}"),
        ("tool_response", "shell", "x"),
        ("message", "codex", "hi"),
    ]
    assert ignored(items) == ["record:None", "item:ghost_snapshot"]
    assert described(items)["git_branch"] == "trunk"


def test_a_file_without_a_description_is_named_by_its_name(tmp_path: Path) -> None:
    items = read_records(tmp_path, [said("user", "hello")])
    assert acta(items)[0].chronicum_id == f"codex/{SESSION}"
    items = read_file(write(tmp_path / "saved.jsonl", [said("user", "hello")]))
    assert acta(items)[0].chronicum_id == "codex/saved"


def test_the_name_a_person_gave_is_the_title(tmp_path: Path) -> None:
    records = [
        meta(),
        said("user", "first"),
        event("thread_name_updated", thread_name="Tides"),
        said("user", "x"),
    ]
    assert described(read_records(tmp_path, records))["title"] == "Tides"


def test_models_and_folders_are_told_as_they_change(tmp_path: Path) -> None:
    records = [
        meta(),
        turn(model="small"),
        said("assistant", "a"),
        record("turn_context", {"turn_context": {"cwd": "/elsewhere", "model": "large"}}),
        said("assistant", "b"),
        said("assistant", "c"),
    ]
    items = read_records(tmp_path, records)
    assert [each.metadata.get("cwd") for each in acta(items)] == ["/home/ada/atlas", "/elsewhere", None]
    assert [each.metadata["model"] for each in acta(items)] == ["small", "large", "large"]
    assert described(items)["models"] == ["small", "large"]
    assert described(items)["cwd"] == "/home/ada/atlas"


def test_a_sub_agent_speaks_under_its_path_and_is_prompted_by_an_agent(tmp_path: Path) -> None:
    spawn = {"parent_thread_id": "parent-1", "agent_path": "/root/scout", "depth": 1}
    records = [
        meta(source={"subagent": {"thread_spawn": spawn}}),
        said("user", "Look around"),
        said("assistant", "I looked"),
        item(
            "agent_message", author="/root/other", recipient="/root", content=[{"type": "text", "text": "hm"}]
        ),
    ]
    items = read_records(tmp_path, records)
    assert told(items) == [
        ("message", "codex", "Look around"),
        ("message", "/root/scout", "I looked"),
        ("message", "/root/other", "hm"),
    ]
    assert {each.actor_kind for each in acta(items)} == {"agent"}
    parents = [each.metadata.get("parent_session") for each in acta(items)]
    assert parents == ["codex/parent-1", None, None]
    assert "forked_from" not in described(items)

"""Records of a Codex rollout, written for the tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.imports.codex import RolloutState, read_rollout
from workbench.imports.transcript.items import ActumItem, Checkpoint, DescribeItem, Ignored, Item

SESSION = "0199a1b2-0000-7000-8000-000000000001"
OWNER = "ada"


def stamp(number: int) -> str:
    return f"2026-03-04T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.007Z"


def record(kind: str, payload: dict[str, Any], number: int = 0) -> dict[str, Any]:
    return {"timestamp": stamp(number), "type": kind, "payload": payload}


def meta(session: str = SESSION, **fields: Any) -> dict[str, Any]:
    payload = {
        "id": session,
        "timestamp": stamp(0),
        "cwd": "/home/ada/atlas",
        "originator": "codex_cli",
        "cli_version": "0.71.0",
        "git": {"branch": "main"},
    }
    return record("session_meta", payload | fields)


def turn(turn_id: str = "", **fields: Any) -> dict[str, Any]:
    payload: dict[str, Any] = {"cwd": "/home/ada/atlas", "model": "model-large"}
    if turn_id:
        payload["turn_id"] = turn_id
    return record("turn_context", payload | fields)


def item(kind: str, number: int = 0, **fields: Any) -> dict[str, Any]:
    return record("response_item", {"type": kind, **fields}, number)


def event(kind: str, number: int = 0, **fields: Any) -> dict[str, Any]:
    return record("event_msg", {"type": kind, **fields}, number)


def said(role: str, *texts: str, **fields: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts], **fields)


def thought(*texts: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text} for text in texts]
    return item("reasoning", summary=summary, encrypted_content="gAAAA")


def call(call_id: str, name: str = "shell", arguments: Any = '{"command":["ls"]}') -> dict[str, Any]:
    return item("function_call", name=name, arguments=arguments, call_id=call_id)


def output(call_id: str, given: Any) -> dict[str, Any]:
    return item("function_call_output", call_id=call_id, output=given)


def lines(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def write(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(records))
    return path


def read(path: Path, state: RolloutState | None = None, *, settled: bool = True) -> list[Item]:
    return list(read_rollout(path, owner=OWNER, state=state, settled=settled))


def read_records(folder: Path, records: Iterable[Any], *, settled: bool = True) -> list[Item]:
    return read(write(folder / f"rollout-2026-03-04T00-00-00-{SESSION}.jsonl", records), settled=settled)


def acta(items: Iterable[Item]) -> list[ActumItem]:
    return [each for each in items if isinstance(each, ActumItem)]


def told(items: Iterable[Item]) -> list[tuple[str, str, str]]:
    """Kind, actor and content of each actum."""
    return [(each.kind, each.actor, each.content) for each in acta(items)]


def ignored(items: Iterable[Item]) -> list[str]:
    return [each.kind for each in items if isinstance(each, Ignored)]


def described(items: Iterable[Item]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for each in items:
        if isinstance(each, DescribeItem):
            fields.update(each.fields)
    return fields


def last(items: list[Item]) -> Checkpoint:
    end = items[-1]
    assert isinstance(end, Checkpoint)
    return end


def state_of(items: list[Item]) -> RolloutState:
    state = last(items).state
    assert isinstance(state, RolloutState)
    return state

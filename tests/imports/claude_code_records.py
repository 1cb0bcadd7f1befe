"""Records of a Claude Code transcript, written for the tests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.imports.claude_code import ReaderState, read_transcript
from workbench.imports.transcript.items import ActumItem, Item
from workbench.imports.transcript.state import FileState

SESSION = "11111111-2222-4333-8444-555555555555"
OWNER = "ada"


def envelope(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    """The fields that every record of the conversation has; `number` makes its uuid and its time."""
    record: dict[str, Any] = {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": SESSION,
        "timestamp": f"2026-02-03T04:05:{number % 60:02}.006Z",
        "cwd": "/home/ada/atlas",
        "gitBranch": "main",
        "version": "2.1.30",
        "isSidechain": False,
        "userType": "external",
    }
    record.update(fields)
    return record


def user(number: int, content: Any, **fields: Any) -> dict[str, Any]:
    return envelope("user", number, message={"role": "user", "content": content}, **fields)


def assistant(
    number: int,
    content: Any,
    *,
    message_id: str = "",
    usage: Any = None,
    **fields: Any,
) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": message_id or f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "model-large",
        "content": content,
    }
    if usage is not None:
        message["usage"] = usage
    return envelope("assistant", number, message=message, requestId=f"req_{number}", **fields)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def call(call_id: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def answer(call_id: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **fields}


def lines(records: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def write(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(records))
    return path


def read(path: Path, state: FileState | None = None, *, settled: bool = True) -> list[Item]:
    assert state is None or isinstance(state, ReaderState)
    return list(read_transcript(path, owner=OWNER, state=state, settled=settled))


def acta(items: Iterable[Item]) -> list[ActumItem]:
    return [item for item in items if isinstance(item, ActumItem)]


def read_records(folder: Path, records: Iterable[Any]) -> list[Item]:
    return read(write(folder / f"{SESSION}.jsonl", records))

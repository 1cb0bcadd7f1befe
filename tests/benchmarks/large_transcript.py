"""Claude Code transcripts of any size for measurements, with the mix of records that real ones have."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Json = dict[str, Any]

_WORDS = (
    "the importer reads each row keeps its place writes what changed and says so when a file moved "
    "under it because nobody should have to guess which copy was meant def return None self path line"
).split()


def write_transcript(path: Path, size: int, *, seed: int = 3, session: str | None = None) -> int:
    """Write at least `size` bytes of whole lines to `path`; how many lines those are."""
    lines = written = 0
    with path.open("w", encoding="utf-8") as file:
        for record in records(random.Random(seed), session or str(uuid.UUID(int=seed, version=4))):
            line = json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"
            file.write(line)
            written += len(line.encode())
            lines += 1
            if written >= size:
                return lines
    return lines


def records(draw: random.Random, session: str) -> Iterator[Json]:
    """Endless turns: a prompt, then thoughts, calls, results and answers, about 2 KB a line."""
    parent: str | None = None
    moment = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def envelope(kind: str, message: Json, **more: Any) -> Json:
        nonlocal parent, moment
        moment += timedelta(seconds=draw.random() * 20)
        record = {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/maya/atlas",
            "sessionId": session,
            "version": "2.0.1",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": str(uuid.UUID(int=draw.getrandbits(128), version=4)),
            "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **more,
        }
        parent = record["uuid"]
        return record

    def answer(message_id: str, block: Json) -> Json:
        return envelope(
            "assistant",
            {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": "example-model-1",
                "content": [block],
                "stop_reason": None,
                "usage": {"input_tokens": 12, "output_tokens": draw.randrange(900)},
            },
            requestId="req_" + message_id,
        )

    while True:
        yield envelope("user", {"role": "user", "content": _text(draw, 60)})
        for _ in range(draw.randrange(2, 7)):
            message_id = f"msg_{draw.getrandbits(80):020x}"
            call = f"toolu_{draw.getrandbits(80):020x}"
            yield answer(
                message_id, {"type": "thinking", "thinking": _text(draw, 90), "signature": "c2ln" * 40}
            )
            command = {"command": _text(draw, 20), "description": _text(draw, 8)}
            yield answer(message_id, {"type": "tool_use", "id": call, "name": "Bash", "input": command})
            output = "\n".join(_text(draw, 12) for _ in range(draw.randrange(3, 60)))
            result = {"tool_use_id": call, "type": "tool_result", "content": output, "is_error": False}
            yield envelope(
                "user",
                {"role": "user", "content": [result]},
                toolUseResult={"stdout": output, "stderr": "", "interrupted": False},
            )
        yield answer(f"msg_{draw.getrandbits(80):020x}", {"type": "text", "text": _text(draw, 120)})


def _text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(_WORDS, k=words)) + f" {draw.randrange(10_000)}"

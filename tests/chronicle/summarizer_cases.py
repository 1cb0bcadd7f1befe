"""Events as a summarizer is handed them, with everything in their envelopes and payloads that it may not tell."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec

from workbench.chronicle.summarizers.transcript import tell
from workbench.log.registry import Envelope, StoredEvent

SESSION = "session/claude-code%2F5d0c1c1e-7a3b-4a5e-9a41-2f60c3b7d9e4"
TASK = "task/global/atlas/importer"


def event_id(seq: int) -> UUID:
    """The id of the event of this number."""
    return UUID(int=0x019CAD9AB89671960000000000000000 + seq)


def event(
    seq: int,
    type_name: str,
    payload: dict[str, Any],
    *,
    visibility: str = "public",
    namespace: str = "workbench",
    stream: str = TASK,
) -> StoredEvent:
    """One event of a stream."""
    return StoredEvent(
        position=seq + 1000,
        stream=stream,
        seq=seq,
        envelope=Envelope(
            event_id=event_id(seq),
            namespace=namespace,
            type=type_name,
            schema_version=1,
            causation_id=event_id(seq + 500),
            visibility=visibility,
            recorded_at=datetime(2026, 3, 2, 8, 12, 4, 118302, tzinfo=UTC),
        ),
        payload=payload,
    )


def digest(text: str) -> str:
    """64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


_SCOPE = {
    "scope_domain": "global",
    "scope_project": "atlas",
    "scope_task": "importer",
    "domain": "global",
    "project": "atlas",
    "task_id": "importer",
}


def observation(
    seq: int, text: str, category: str = "note", agent: str = "coder", **more: Any
) -> StoredEvent:
    """An observation with all its identifiers."""
    visibility = more.pop("visibility", "public")
    payload = _SCOPE | {
        "agent": agent,
        "agent_source": "explicit",
        "session_id": "claude-code/5d0c1c1e-7a3b-4a5e-9a41-2f60c3b7d9e4",
        "category": category,
        "text": text,
        "request_id": f"coder-2026-03-02-{seq}",
        "request_hash": digest(f"request {seq}"),
        "content_hash": digest(f"content {seq}"),
        "hash_filter": "6-4e2fbac919f4a908",
    }
    return event(seq, "observation.recorded", payload | more, visibility=visibility)


def fact(
    seq: int, slot: str, value: str, kind: str = "observed", agent: str = "coder", **more: Any
) -> StoredEvent:
    """A fact."""
    payload = _SCOPE | {"agent": agent, "slot": slot, "value": value, "kind": kind}
    return event(seq, "fact.asserted", payload | more)


def checkpoint(seq: int, goal: str, agent: str = "coder", **lists: list[str]) -> StoredEvent:
    """A checkpoint; lists that are not given are empty."""
    empty: dict[str, Any] = {"completed": [], "verification": [], "open_questions": [], "next_steps": []}
    return event(seq, "checkpoint.recorded", _SCOPE | {"agent": agent, "goal": goal} | empty | lists)


def review(
    seq: int, target: int, verdict: str, comment: str = "", kind: str = "checkpoint", **more: Any
) -> StoredEvent:
    """A person's verdict on an earlier event."""
    payload = {
        "target_kind": kind,
        "target_id": str(event_id(target)),
        "target_stream": TASK,
        "verdict": verdict,
        "comment": comment,
        "reviewer": "maya",
        "prose_sha256": digest("prose"),
    }
    return event(seq, "review.recorded", payload | more)


def act(
    seq: int, kind: str, content: str, actor: str = "coder", actor_kind: str = "agent", **marks: Any
) -> StoredEvent:
    """An act of a session."""
    visibility = marks.pop("visibility", "public")
    payload = {
        "id": digest(f"act {seq}")[:32],
        "chronicum_id": "claude-code/5d0c1c1e-7a3b-4a5e-9a41-2f60c3b7d9e4",
        "kind": kind,
        "actor_kind": actor_kind,
        "actor": actor,
        "content": content,
        "idempotency_key": f"claude-code:{event_id(seq)}:0",
        "metadata": {"uuid": str(event_id(seq)), "message_id": "msg_01b8AsBTJEXrE5KNX7d2Y9i8"} | marks,
    }
    return event(seq, "actum.recorded", payload, visibility=visibility, stream=SESSION)


def call(
    seq: int, tool: str, arguments: dict[str, Any], *, call_id: str = "", actor: str = "coder"
) -> StoredEvent:
    """A tool call."""
    content = msgspec.json.encode(arguments).decode()
    return act(
        seq,
        "tool_request",
        content,
        actor,
        name=tool,
        call_id=call_id or f"toolu_01wKF5BeADd2PperKfP{seq:04}",
    )


def answer(seq: int, tool: str, text: str, *, call_id: str = "", failed: bool = False) -> StoredEvent:
    """A tool's answer to the call before."""
    marks: dict[str, Any] = {"is_error": True} if failed else {}
    return act(
        seq,
        "tool_response",
        text,
        tool,
        "system",
        call_id=call_id or f"toolu_01wKF5BeADd2PperKfP{seq - 1:04}",
        **marks,
    )


def told_json(events: Sequence[StoredEvent]) -> str:
    """All that is told of events, as text."""
    return msgspec.json.encode(tell(events)).decode()

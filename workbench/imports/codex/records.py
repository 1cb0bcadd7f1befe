"""One line of a rollout to one record, whichever of the format's two forms it has.

Newer files wrap each record (`type`, `payload`), older ones hold the bare description of the session
and then bare items (contract transcripts, "Format: Codex rollout JSONL"). Hostile input: every outcome
is a value.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from workbench.imports.transcript.decoding import Undecodable, decode_leniently
from workbench.imports.transcript.fields import identifier, moment
from workbench.imports.transcript.items import Repaired

RECORD_TYPES = frozenset(
    {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    }
)
ITEM_TYPES = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
        "web_search_call_output",
        "tool_search_call",
        "tool_search_call_output",
        "tool_search_output",
        "mcp_tool_call_output",
        "image_generation_call",
        "agent_message",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "ghost_snapshot",
        "token_count",
        "other",
    }
)
EVENT_TYPES = frozenset(
    {
        "user_message",
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "token_count",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "turn_aborted",
        "thread_rolled_back",
        "thread_name_updated",
        "context_compacted",
        "patch_apply_end",
        "mcp_tool_call_end",
        "web_search_end",
        "exec_command_end",
        "sub_agent_activity",
        "collab_agent_spawn_end",
        "entered_review_mode",
        "exited_review_mode",
        "item_completed",
        "error",
    }
)
"""Kinds that this program knows; any other is kept raw and counted."""


class Record(msgspec.Struct, gc=False):
    """One line: what it is, and what it says."""

    kind: str | None
    """The record's type; `response_item` for a bare item, `session_meta` for a bare description."""
    payload: dict[str, Any]
    timestamp: str | None = None
    has_payload: bool = True
    """False where the wrapper holds nothing that could be read."""

    @property
    def subtype(self) -> str | None:
        """The payload's own type."""
        return identifier(self.payload.get("type")) or None


_decoder = msgspec.json.Decoder(dict[str, Any])


def decode_record(data: bytes, line: int, repairs: list[Repaired]) -> Record | None:
    """The record on a line, None for a blank line; what had to be changed is added to `repairs`.

    Raises `Undecodable`.
    """
    try:
        value = _decoder.decode(data)
    except RecursionError:
        raise Undecodable("too deep") from None
    except (UnicodeDecodeError, msgspec.MsgspecError):
        found = decode_leniently(data, line, repairs)
        if found is None:
            return None
        value = found
    return record_from(value)


def moment_of(data: bytes) -> datetime | None:
    """The time that the record on a line claims; None also for what is no record."""
    try:
        record = decode_record(data, 0, [])
    except Undecodable:
        return None
    return None if record is None else moment(record.timestamp)


def record_from(value: dict[str, Any]) -> Record:
    """The record in a JSON object of any shape."""
    kind = identifier(value.get("type")) or None
    payload = value.get("payload")
    is_wrapped = type(payload) is dict
    inner: dict[str, Any] = payload if type(payload) is dict else {}
    if not is_wrapped and "payload" not in value:
        if kind in ITEM_TYPES and kind not in RECORD_TYPES:
            kind, inner, is_wrapped = "response_item", value, True
        elif kind == "session_meta" or (kind is None and _is_bare_meta(value)):
            kind, inner, is_wrapped = "session_meta", value, True
    stamp = value.get("timestamp")
    if type(stamp) is not str:
        stamp = inner.get("timestamp")
    return Record(kind, inner, stamp if type(stamp) is str else None, is_wrapped)


def _is_bare_meta(value: dict[str, Any]) -> bool:
    return bool(identifier(value.get("id"))) and any(
        name in value for name in ("timestamp", "instructions", "git", "cwd")
    )

"""The envelope of a Claude Code record; a field that is missing or of another type is absent."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from workbench.imports.transcript.fields import MAX_IDENTIFIER, identifier

KNOWN_TYPES = frozenset(
    {
        "user",
        "assistant",
        "system",
        "attachment",
        "progress",
        "summary",
        "file-history-snapshot",
        "queue-operation",
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-setting",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "bridge-session",
    }
)
"""Kinds this program knows; any other is kept raw and counted (contract transcripts, "Kinds")."""


Identifier = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_IDENTIFIER)]


class Message(msgspec.Struct, gc=False):
    """The API message inside a record."""

    id: Identifier | None = None
    model: Identifier | None = None
    content: Any = None
    usage: Any = None


class Record(msgspec.Struct, gc=False):
    """The parts of one line that become something; the decoder skips the others unread.

    A field that is missing or of another type is absent, whichever way the line was decoded.
    """

    type: Identifier | None = None
    uuid: Identifier | None = None
    parent_uuid: Identifier | None = msgspec.field(default=None, name="parentUuid")
    logical_parent_uuid: Identifier | None = msgspec.field(default=None, name="logicalParentUuid")
    session_id: Identifier | None = msgspec.field(default=None, name="sessionId")
    timestamp: str | None = None
    cwd: str | None = None
    git_branch: str | None = msgspec.field(default=None, name="gitBranch")
    client_version: str | None = msgspec.field(default=None, name="version")
    is_sidechain: bool | None = msgspec.field(default=None, name="isSidechain")
    agent_id: Identifier | None = msgspec.field(default=None, name="agentId")
    is_meta: bool | None = msgspec.field(default=None, name="isMeta")
    is_compact_summary: bool | None = msgspec.field(default=None, name="isCompactSummary")
    is_api_error: bool | None = msgspec.field(default=None, name="isApiErrorMessage")
    request_id: Identifier | None = msgspec.field(default=None, name="requestId")
    forked_from: Any = msgspec.field(default=None, name="forkedFrom")
    message: Message | None = None
    tool_use_result: Any = msgspec.field(default=None, name="toolUseResult")
    subtype: Identifier | None = None
    content: Any = None
    """Text of a `system` record."""
    compact_metadata: Any = msgspec.field(default=None, name="compactMetadata")
    attachment: Any = None
    custom_title: str | None = msgspec.field(default=None, name="customTitle")
    ai_title: str | None = msgspec.field(default=None, name="aiTitle")


_KEYS = {field.name: field.encode_name for field in msgspec.structs.fields(Record)}
_IDENTIFIERS = (
    "type",
    "uuid",
    "parent_uuid",
    "logical_parent_uuid",
    "session_id",
    "agent_id",
    "request_id",
    "subtype",
)
_TEXTS = ("timestamp", "cwd", "git_branch", "client_version", "custom_title", "ai_title")
_FLAGS = ("is_sidechain", "is_meta", "is_compact_summary", "is_api_error")
_ANY = ("forked_from", "tool_use_result", "content", "compact_metadata", "attachment")


def record_from(value: dict[str, Any]) -> Record:
    """The record in a JSON object of any shape."""
    record = Record()
    for name in _IDENTIFIERS:
        setattr(record, name, identifier(value.get(_KEYS[name])) or None)
    for name in _TEXTS:
        text = value.get(_KEYS[name])
        setattr(record, name, text if type(text) is str else None)
    for name in _FLAGS:
        flag = value.get(_KEYS[name])
        setattr(record, name, flag if type(flag) is bool else None)
    for name in _ANY:
        setattr(record, name, value.get(_KEYS[name]))
    message = value.get("message")
    if isinstance(message, dict):
        record.message = Message(
            identifier(message.get("id")) or None,
            identifier(message.get("model")) or None,
            message.get("content"),
            message.get("usage"),
        )
    return record

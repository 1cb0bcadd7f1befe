"""One record to its items: the mapping table of the contract (transcripts, "One content block is
one actum")."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from workbench.imports.claude_code.blocks import (
    Block,
    Content,
    assistant_content,
    user_content,
)
from workbench.imports.claude_code.descriptions import note_record, note_title_record
from workbench.imports.claude_code.envelopes import envelope_of
from workbench.imports.claude_code.records import KNOWN_TYPES, Record
from workbench.imports.claude_code.results import structured_result
from workbench.imports.claude_code.sidechains import note_prompt, parent_call
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.transcript import titles
from workbench.imports.transcript.building import ItemBuilder, ignored_record
from workbench.imports.transcript.cutting import cut
from workbench.imports.transcript.fields import identifier, moment
from workbench.imports.transcript.items import ActorKind, ActumItem, ActumKind, Item, Repaired
from workbench.imports.transcript.payload import tool_name
from workbench.imports.transcript.state import MAX_SESSIONS, MAX_TOOLS, SessionState, remember

SOURCE = "claude-code"
UNKNOWN_SESSION = "unknown"


class SubAgent(msgspec.Struct, frozen=True):
    """What is known of the sub-agent whose file is being read."""

    agent_id: str
    call_id: str = ""
    """The tool call that spawned it; empty if none is known."""
    spawner: str = ""
    """Id of the sub-agent that made that call; empty for the trunk."""
    session_id: str = ""
    """The trunk's session, where its acta belong; empty: the session its records name."""
    orphan: bool = False
    """Whether its trunk's file is missing."""


class Translator:
    """Turns records of one file into items, in file order. Holds nothing but the reader's bounded state."""

    def __init__(
        self, state: ReaderState, *, owner: str, source: str, stem: str, agent: SubAgent | None = None
    ) -> None:
        self.state = state
        self._owner = owner
        self._source = source
        self._stem = identifier(stem) or UNKNOWN_SESSION
        self._agent = agent
        self._agent_id = agent.agent_id if agent else ""
        self._fixed_session = agent.session_id if agent else ""
        self._describes = agent is None or agent.orphan

    def translate(
        self, record: Record, *, line: int, offset: int, data: bytes, repairs: list[Repaired]
    ) -> tuple[str, list[Item]]:
        """The session that a record belongs to and its items.

        `data` are the bytes of the line, `offset` where it begins. Raises `Undecodable` ("too deep").
        """
        session_id, session = self._session(record)
        kind = record.type
        if (at := moment(record.timestamp)) is not None:
            self.state.last_at = at
        if self._describes:
            note_record(session, record)
        items: list[Item]
        if kind == "assistant":
            items = self._assistant(record, session, self._builder(record, session_id, line, offset, data))
        elif kind == "user":
            build = self._builder(record, session_id, line, offset, data)
            items = self._user(record, session, build, repairs)
        elif kind == "system":
            items = self._system(record, self._builder(record, session_id, line, offset, data))
        elif kind == "attachment":
            build = self._builder(record, session_id, line, offset, data)
            items = self._attachment(record, session, build, repairs)
        else:
            items = []
            if self._describes and (kind == "custom-title" or kind == "ai-title"):
                note_title_record(session, record)
            elif record.is_sidechain is True and not self._agent_id:
                parent_call(self.state, record, "")
        if not items:
            items.append(ignored_record(f"record:{kind}", line, data, known=kind in KNOWN_TYPES))
        return session_id, items

    def _session(self, record: Record) -> tuple[str, SessionState]:
        state = self.state
        session_id = self._fixed_session or record.session_id
        if not session_id:
            session_id = state.first_session or self._stem
        elif not state.first_session:
            state.first_session = session_id
        session = state.sessions.get(session_id)
        if session is None:
            session = SessionState()
            remember(state.sessions, session_id, session, MAX_SESSIONS)
            if self._describes:
                titles.set_field(session, "source", self._source)
        return session_id, session

    def _assistant(self, record: Record, session: SessionState, build: _Builder) -> list[Item]:
        message = record.message
        found = assistant_content(message.content) if message else Content([], [])
        if message is None or not found.blocks:
            self._parent(record, "")
            return []
        shared = self._shared(record)
        if message_id := message.id:
            shared["message_id"] = message_id
        if model := message.model:
            shared["model"] = model
            if self._describes:
                titles.note_model(session, model)
        if request_id := record.request_id:
            shared["request_id"] = request_id
        if record.is_api_error is True:
            shared["api_error"] = True
        agent_id = self._agent_id or record.agent_id
        actor = f"{SOURCE}/{agent_id}" if agent_id else SOURCE
        for block in found.blocks:
            metadata = shared.copy()
            if block.kind == "request":
                metadata["name"] = block.name
                if block.call_id:
                    metadata["call_id"] = block.call_id
                    remember(self.state.tools, block.call_id, block.name, MAX_TOOLS)
                    if block.prompt:
                        note_prompt(self.state, block.prompt, block.call_id)
                build.add(
                    block.index, block.content, "tool_request", "agent", actor, metadata, block.evidence
                )
            elif block.kind == "thought":
                if block.withheld:
                    metadata["withheld"] = True
                build.add_block(block, "thought", "agent", actor, metadata)
            else:
                build.add_block(block, "message", "agent", actor, metadata)
            shared.pop("cwd", None)
        return build.finish(found)

    def _user(
        self, record: Record, session: SessionState, build: _Builder, repairs: list[Repaired]
    ) -> list[Item]:
        found = user_content(record.message.content) if record.message else Content([], [])
        injected = ""
        if record.is_compact_summary is True:
            injected = "compact_summary"
        elif record.is_meta is True:
            injected = "meta"
        return self._human(found, injected, record, session, build, repairs)

    def _attachment(
        self, record: Record, session: SessionState, build: _Builder, repairs: list[Repaired]
    ) -> list[Item]:
        attachment = record.attachment
        if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
            self._parent(record, "")
            return []
        found = user_content(attachment.get("prompt"))
        mode = attachment.get("commandMode")
        injected = ""
        if record.is_meta is True or attachment.get("isMeta") is True:
            injected = "meta"
        elif mode == "task-notification":
            injected = mode
        items = self._human(found, injected, record, session, build, repairs)
        for item in items:
            if type(item) is ActumItem:
                item.metadata["queued"] = True
        return items

    def _human(
        self,
        found: Content,
        injected: str,
        record: Record,
        session: SessionState,
        build: _Builder,
        repairs: list[Repaired],
    ) -> list[Item]:
        if not found.blocks:
            self._parent(record, "")
            return []
        first_text = ""
        for block in found.blocks:
            if block.kind == "text":
                first_text = block.content
                break
        shared = self._shared(record, first_text)
        # A prompt in a sub-agent's own line of talk was written by the agent that called it, not by a person.
        by_agent = bool(self._agent_id) or record.is_sidechain is True
        result_taken = False
        for block in found.blocks:
            metadata = shared.copy()
            shared.pop("cwd", None)
            if block.kind == "response":
                if block.call_id:
                    metadata["call_id"] = block.call_id
                name = self.state.tools.get(block.call_id, "")
                if name:
                    metadata["name"] = name
                if block.is_error:
                    metadata["is_error"] = True
                if not result_taken:
                    result_taken = True
                    result = structured_result(record.tool_use_result, block.content, build.size)
                    if result is not None:
                        metadata["result"] = result
                build.add(
                    block.index,
                    block.content,
                    "tool_response",
                    "system",
                    tool_name(name),
                    metadata,
                    block.evidence,
                )
                continue
            envelope = injected or (envelope_of(block.content) if block.kind == "text" else "")
            if envelope:
                metadata["injected"] = envelope
                build.add_block(block, "message", "system", SOURCE, metadata)
            elif by_agent:
                spawner = self._agent.spawner if self._agent else ""
                build.add(
                    block.index,
                    block.content,
                    "message",
                    "agent",
                    f"{SOURCE}/{spawner}" if spawner else SOURCE,
                    metadata,
                    block.evidence,
                )
            else:
                build.add(
                    block.index, block.content, "message", "human", self._owner, metadata, block.evidence
                )
                if self._describes and block.kind == "text":
                    titles.set_title(session, titles.PROMPT, block.content)
        if found.unreadable:
            repairs.append(Repaired("unreadable base64", found.unreadable, build.line))
        return build.finish(found)

    def _system(self, record: Record, build: _Builder) -> list[Item]:
        text = record.content
        if record.subtype == "compact_boundary":
            self._parent(record, "")
            build.close("compaction", _compaction_note(record.compact_metadata))
            return build.items
        if type(text) is not str or not text.strip():
            self._parent(record, "")
            return []
        metadata = self._shared(record)
        if subtype := record.subtype:
            metadata["subtype"] = subtype
        build.add(0, text, "message", "system", SOURCE, metadata)
        return build.items

    def _shared(self, record: Record, prompt: str = "") -> dict[str, Any]:
        """Metadata that every actum of a record carries (`cwd` only its first)."""
        metadata: dict[str, Any] = {}
        if uuid := record.uuid:
            metadata["uuid"] = uuid
        if parent_uuid := record.parent_uuid:
            metadata["parent_uuid"] = parent_uuid
        elif logical := record.logical_parent_uuid:
            metadata["logical_parent_uuid"] = logical
        if record.is_sidechain is True or self._agent is not None:
            metadata["sidechain"] = True
            if agent_id := self._agent_id or record.agent_id:
                metadata["agent_id"] = agent_id
            if parent := self._parent(record, prompt):
                metadata["parent"] = parent
            if self._agent is not None and self._agent.orphan:
                metadata["orphan"] = True
        cwd = record.cwd
        if cwd and cwd != self.state.cwd and (kept := cut(cwd, titles.MAX_FIELD)):
            self.state.cwd = metadata["cwd"] = kept
        return metadata

    def _parent(self, record: Record, prompt: str) -> str:
        if self._agent is not None:
            return self._agent.call_id
        return parent_call(self.state, record, prompt) if record.is_sidechain is True else ""

    def _builder(self, record: Record, session_id: str, line: int, offset: int, data: bytes) -> _Builder:
        """What collects the record's items, under `claude-code:<uuid>`.

        A record without a uuid is named by its session, the place of its line and the line's digest: the
        same again when the same file is read again, and never another record's name.
        """
        if record.uuid:
            key = f"{SOURCE}:{record.uuid}"
        else:
            key = f"{SOURCE}:{session_id}@{offset}-{hashlib.sha256(data.strip()).hexdigest()[:16]}"
        build = _Builder(f"{SOURCE}/{session_id}", key, self.state.last_at, line)
        build.size = len(data)
        return build


class _Builder(ItemBuilder):
    __slots__ = ("size",)

    size: int
    """Bytes of the line."""

    def add_block(
        self, block: Block, kind: ActumKind, actor_kind: ActorKind, actor: str, metadata: dict[str, Any]
    ) -> None:
        self.add(block.index, block.content, kind, actor_kind, actor, metadata, block.evidence)

    def finish(self, found: Content) -> list[Item]:
        if found.ignored:
            self.ignore_blocks(found.ignored)
        return self.items


def _compaction_note(metadata: Any) -> str:
    if not isinstance(metadata, dict):
        return ""
    trigger, tokens = identifier(metadata.get("trigger")), metadata.get("preTokens")
    parts = [trigger] if trigger else []
    if type(tokens) is int and 0 <= tokens < 10**15:
        parts.append(f"{tokens:,} tokens before")
    return ", ".join(parts)

"""One record of a rollout to its items: the Codex table of the contract (transcripts)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from workbench.imports.codex.blocks import (
    WITHHELD,
    Content,
    add_image,
    add_text,
    call_input,
    message_content,
    reasoning_content,
    tool_output,
)
from workbench.imports.codex.envelopes import envelope_of
from workbench.imports.codex.identity import fingerprint, is_older, name_record, pass_prompt, pass_turn
from workbench.imports.codex.records import EVENT_TYPES, ITEM_TYPES, RECORD_TYPES, Record
from workbench.imports.codex.state import RolloutState
from workbench.imports.codex.twins import Said, Voice
from workbench.imports.transcript import titles
from workbench.imports.transcript.building import ItemBuilder, ignored_record
from workbench.imports.transcript.cutting import cut
from workbench.imports.transcript.fields import identifier, moment
from workbench.imports.transcript.items import ActorKind, Ignored, Item, Repaired
from workbench.imports.transcript.payload import tool_name
from workbench.imports.transcript.state import MAX_TOOLS, SessionState, remember

SOURCE = "codex"

CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "web_search_call": "action",
    "tool_search_call": "arguments",
}
"""By type of a call: the field that holds what the tool was given."""
OUTPUTS = frozenset(kind for kind in ITEM_TYPES if kind.endswith("_output"))
SPOKEN: dict[str, Voice] = {
    "user_message": "human",
    "agent_message": "agent",
    "agent_reasoning": "thought",
}
"""The events that repeat an item, and who speaks in them."""
MAX_MARK = 200


class Translator:
    """Turns records of one file into items, in file order. Holds nothing but the reader's bounded state."""

    def __init__(self, state: RolloutState, *, owner: str, source: str) -> None:
        self.state = state
        self._owner = owner
        session = state.sessions.get(state.first_session)
        if session is None:
            session = state.sessions[state.first_session] = SessionState()
            titles.set_field(session, "source", source)
            if state.forked_from:
                titles.set_field(session, "forked_from", f"{SOURCE}/{state.forked_from}")
        self.session = session

    def translate(
        self, record: Record, *, line: int, data: bytes, repairs: list[Repaired]
    ) -> tuple[list[Item], Said | None]:
        """The items of a record, and what it says where another record may say it again.

        Raises `Undecodable` ("too deep").
        """
        place = self.state.place
        if (at := moment(record.timestamp)) is not None:
            place.last_at = at
        build = _Builder(self.state, place.last_at, line)
        kind, payload = record.kind, record.payload
        said: Said | None = None
        if not record.has_payload:
            pass
        elif kind == "session_meta":
            if self._meta(payload):
                return [], None
        elif kind == "turn_context":
            self._turn_context(payload)
        elif kind == "compacted":
            return self._compacted(payload, build), None
        elif kind == "response_item":
            said = self._item(record, build, repairs)
        elif kind == "event_msg":
            said = self._event(record, build, repairs)
        if not build.items:
            build.items.append(_ignored(record, line, data))
        return build.items, said

    # -- what gives no actum -----------------------------------------------------------------

    def _meta(self, payload: dict[str, Any]) -> bool:
        """Take the description of the file's own session; whether it was that."""
        state = self.state
        if state.identified:
            return False
        state.identified = True
        for name, field in (("cwd", "cwd"), ("cli_version", "client_version")):
            self._note(field, payload.get(name))
        git = payload.get("git")
        if isinstance(git, dict):
            self._note("git_branch", git.get("branch"))
        if type(cwd := payload.get("cwd")) is str:
            state.place.cwd = cut(cwd, titles.MAX_FIELD)
        return True

    def _turn_context(self, payload: dict[str, Any]) -> None:
        inner = payload.get("turn_context")
        given = inner if isinstance(inner, dict) else payload
        self._turn(given.get("turn_id"))
        place = self.state.place
        cwd = given.get("cwd")
        if type(cwd) is str and cwd:
            place.cwd = cut(cwd, titles.MAX_FIELD)
            if "cwd" not in self.session.known:
                self._note("cwd", cwd)
        model = identifier(given.get("model"))
        if model:
            place.model = model
            titles.note_model(self.session, model)

    def _turn(self, turn_id: Any) -> None:
        if known := identifier(turn_id):
            self.state.place.turn_id = known
            pass_turn(self.state.place, known)

    def _note(self, field: str, value: Any) -> None:
        if type(value) is str and (kept := cut(value, titles.MAX_FIELD)):
            titles.set_field(self.session, field, kept)

    def _compacted(self, payload: dict[str, Any], build: _Builder) -> list[Item]:
        text = payload.get("message")
        text = text if type(text) is str and text.strip() else ""
        build.name("compacted", text)
        build.close("compaction", "")
        if text:
            metadata = self._shared() | {"injected": "compact_summary"}
            build.add(1, text, "message", "system", SOURCE, metadata)
        return build.items

    # -- items -------------------------------------------------------------------------------

    def _item(self, record: Record, build: _Builder, repairs: list[Repaired]) -> Said | None:
        payload, kind = record.payload, record.subtype
        if kind == "message":
            return self._message(payload, build, repairs)
        if kind == "reasoning":
            return self._reasoning(payload, build)
        if kind == "agent_message":
            found = message_content(payload.get("content") or payload.get("message"))
            author = cut(identifier(payload.get("author")), MAX_MARK) or self._agent()
            self._say(found, "agent", author, {}, build, repairs, kind)
        elif kind in CALLS:
            self._call(kind, payload, build)
        elif kind in OUTPUTS:
            self._output(kind, payload, build, repairs)
        return None

    def _message(self, payload: dict[str, Any], build: _Builder, repairs: list[Repaired]) -> Said | None:
        found = message_content(payload.get("content"))
        role = payload.get("role")
        metadata = _marks(payload, id="message_id", phase="phase")
        if role == "assistant":
            self._say(found, "agent", self._agent(), metadata, build, repairs, "message")
            return _said(found, "agent", "item:message", is_event=False)
        if role == "user":
            return self._prompt(found, metadata, build, repairs, is_event=False)
        if mark := identifier(role):
            metadata["role"] = mark
        self._say(found, "system", SOURCE, metadata, build, repairs, "message")
        return None

    def _prompt(
        self,
        found: Content,
        metadata: dict[str, Any],
        build: _Builder,
        repairs: list[Repaired],
        *,
        is_event: bool,
    ) -> Said | None:
        """What stands in a human's place: written by a person, by the program, or by a calling agent."""
        envelopes = [envelope_of(text) for text in found.texts]
        real = [text for text, envelope in zip(found.texts, envelopes, strict=True) if not envelope]
        by_agent = self._is_called()
        actor_kind: ActorKind = "agent" if by_agent else "human"
        actor = SOURCE if by_agent else self._owner
        kind = "event:user_message" if is_event else "message"
        self._say(found, actor_kind, actor, metadata, build, repairs, kind, envelopes)
        for text in real[:1]:
            titles.set_title(self.session, titles.PROMPT, text)
        if is_event:
            return _said(found, "human", "event:user_message", is_event=True)
        if real:
            pass_prompt(self.state.place, fingerprint("".join(real)))
        if envelopes and not real:
            return None
        return _said(found, "human", "item:message", is_event=False)

    def _reasoning(self, payload: dict[str, Any], build: _Builder) -> Said | None:
        found = reasoning_content(payload)
        metadata = self._shared() | _marks(payload, id="message_id")
        self._model(metadata)
        if not found.blocks:
            encrypted = payload.get("encrypted_content")
            known = encrypted if type(encrypted) is str else identifier(payload.get("id"))
            build.name("reasoning", known)
            build.add(0, WITHHELD, "thought", "agent", self._agent(), metadata | {"withheld": True})
            return None
        build.name("reasoning", *found.texts)
        for block in found.blocks:
            build.add(block.index, block.content, "thought", "agent", self._agent(), metadata.copy())
            metadata.pop("cwd", None)
        return _said(found, "thought", "item:reasoning", is_event=False)

    def _call(self, kind: str, payload: dict[str, Any], build: _Builder) -> None:
        content = call_input(payload, CALLS[kind])
        call_id = identifier(payload.get("call_id")) or identifier(payload.get("id"))
        given = payload.get("name")
        name = tool_name(given if type(given) is str else kind.removesuffix("_call"))
        metadata = self._shared() | {"name": name} | _marks(payload, status="status", namespace="namespace")
        self._model(metadata)
        if call_id:
            metadata["call_id"] = call_id
            remember(self.state.tools, call_id, name, MAX_TOOLS)
        build.name(kind, call_id or f"{name}\0{content}")
        build.add(0, content, "tool_request", "agent", self._agent(), metadata)

    def _output(self, kind: str, payload: dict[str, Any], build: _Builder, repairs: list[Repaired]) -> None:
        output = tool_output(payload)
        call_id = identifier(payload.get("call_id")) or identifier(payload.get("id"))
        name = self.state.tools.get(call_id, "") or identifier(payload.get("name"))
        metadata = self._shared()
        if name:
            metadata["name"] = name
        if call_id:
            metadata["call_id"] = call_id
        if output.is_error:
            metadata["is_error"] = True
        if output.result:
            metadata["result"] = output.result
        if output.unreadable:
            repairs.append(Repaired("unreadable base64", output.unreadable, build.line))
        build.name(kind, call_id or output.content)
        build.add(0, output.content, "tool_response", "system", tool_name(name), metadata, output.evidence)

    # -- events ------------------------------------------------------------------------------

    def _event(self, record: Record, build: _Builder, repairs: list[Repaired]) -> Said | None:
        payload, kind = record.payload, record.subtype
        place = self.state.place
        if kind in ("task_started", "turn_started"):
            self._turn(payload.get("turn_id"))
        elif kind in ("task_complete", "turn_complete", "turn_aborted"):
            place.turn_id = ""
        elif kind == "thread_rolled_back":
            turns = payload.get("num_turns")
            known = type(turns) is int and 0 <= turns < 10**9
            build.name(kind, str(turns) if known else "")
            note = f"{turns:,} turn{'' if turns == 1 else 's'}" if known else ""
            build.close("rollback", note)
        elif kind == "thread_name_updated":
            name = payload.get("thread_name")
            titles.set_title(self.session, titles.CUSTOM, name if type(name) is str else "")
        elif kind in SPOKEN:
            return self._spoken(kind, payload, build, repairs)
        return None

    def _spoken(
        self, kind: str, payload: dict[str, Any], build: _Builder, repairs: list[Repaired]
    ) -> Said | None:
        found = Content()
        add_text(found, 0, payload.get("text" if kind == "agent_reasoning" else "message"))
        metadata = {"event": kind} | _marks(payload, phase="phase")
        if kind == "user_message":
            images = payload.get("images")
            for index, address in enumerate(images if type(images) is list else [], 1):
                add_image(found, index, address)
            return self._prompt(found, metadata, build, repairs, is_event=True)
        if kind == "agent_message":
            self._say(found, "agent", self._agent(), metadata, build, repairs, f"event:{kind}")
        elif found.blocks:
            build.name(f"event:{kind}", *found.texts)
            text = found.blocks[0].content
            build.add(0, text, "thought", "agent", self._agent(), self._shared(is_event=True) | metadata)
        return _said(found, SPOKEN[kind], f"event:{kind}", is_event=True)

    # -- who and where -----------------------------------------------------------------------

    def _say(
        self,
        found: Content,
        actor_kind: ActorKind,
        actor: str,
        marks: dict[str, Any],
        build: _Builder,
        repairs: list[Repaired],
        kind: str,
        envelopes: list[str] | None = None,
    ) -> None:
        """Add the blocks of a message; `envelopes` names for each text the envelope that it is."""
        if not found.blocks:
            return
        metadata = self._shared(is_event="event" in marks) | marks
        if actor_kind == "agent" and envelopes is None:
            self._model(metadata)
        build.name(kind, actor_kind, *found.texts, *found.images)
        names = iter(envelopes or ())
        for block in found.blocks:
            own = metadata.copy()
            metadata.pop("cwd", None)
            envelope = next(names, "") if block.is_text else ""
            if envelope:
                own["injected"] = envelope
                build.add(block.index, block.content, "message", "system", SOURCE, own)
            else:
                build.add(block.index, block.content, "message", actor_kind, actor, own, block.evidence)
        if found.unreadable:
            repairs.append(Repaired("unreadable base64", found.unreadable, build.line))
        build.ignore_blocks(found.ignored)

    def _shared(self, *, is_event: bool = False) -> dict[str, Any]:
        """Metadata that every actum of a record carries.

        What is told once is told by items only: an event may turn out to be one's twin.
        """
        state, place = self.state, self.state.place
        metadata: dict[str, Any] = {}
        if place.turn_id:
            metadata["turn_id"] = place.turn_id
        if is_event:
            return metadata
        if place.cwd != place.told_cwd:
            place.told_cwd = metadata["cwd"] = place.cwd
        if state.parent_thread and not place.told_parent:
            place.told_parent = True
            metadata["parent_session"] = f"{SOURCE}/{state.parent_thread}"
        return metadata

    def _model(self, metadata: dict[str, Any]) -> None:
        if self.state.place.model:
            metadata["model"] = self.state.place.model

    def _is_called(self) -> bool:
        """Whether the file is a sub-agent's and this part of it is not copied from its parent."""
        state = self.state
        if not state.agent_path and not state.parent_thread:
            return False
        return not state.copied or is_older(state.place.turn_id, state.first_session) is False

    def _agent(self) -> str:
        return self.state.agent_path if self.state.agent_path and self._is_called() else SOURCE


class _Builder(ItemBuilder):
    __slots__ = ("_state",)

    def __init__(self, state: RolloutState, at: datetime | None, line: int) -> None:
        super().__init__(f"{SOURCE}/{state.first_session}", "", at, line)
        self._state = state

    def name(self, *content: str) -> None:
        """Give the record its key, from what it says."""
        self.key = name_record(self._state.place, self._state.root, fingerprint("\0".join(content)))


def _said(found: Content, voice: Voice, ignored: str, *, is_event: bool) -> Said | None:
    # An image without a word is known by its address.
    parts = found.texts or ["".join(found.images)]
    return Said(voice, parts, is_event, ignored) if found.blocks else None


def _marks(payload: dict[str, Any], **names: str) -> dict[str, Any]:
    """The short texts among `names` (field of the payload=name in the metadata)."""
    found = {name: identifier(payload.get(field)) for field, name in names.items()}
    return {name: value for name, value in found.items() if value}


def _ignored(record: Record, line: int, data: bytes) -> Ignored:
    known: frozenset[str] | set[str] = RECORD_TYPES
    name, kind = record.kind, f"record:{record.kind}"
    if record.has_payload and name == "response_item":
        known, name, kind = ITEM_TYPES, record.subtype, f"item:{record.subtype}"
    elif record.has_payload and name == "event_msg":
        known, name, kind = EVENT_TYPES, record.subtype, f"event:{record.subtype}"
    return ignored_record(kind, line, data, known=name in known)

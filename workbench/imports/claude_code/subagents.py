"""Which sub-agents' files belong to a transcript, and which tool call spawned each of them.

Links are looked for where they are cheapest: the `.meta.json` beside the file, then the records of the
trunk and of the other sub-agents (contract transcripts, "Subagents").
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from workbench.imports.claude_code.decoding import decode
from workbench.imports.transcript.candidates import AgentFile
from workbench.imports.transcript.decoding import Undecodable
from workbench.imports.transcript.fields import MAX_IDENTIFIER, identifier
from workbench.imports.transcript.lines import READ_SIZE
from workbench.imports.transcript.places import is_inside

MAX_META = 64 * 1024
"""Bytes of a `.meta.json`; a larger one is not read."""
MAX_SCANNED_LINE = 16 * 1024 * 1024
"""Bytes of a line that is searched for links; a longer one is passed over."""

_AGENT_FILE = re.compile(r"agent-(.+)\.jsonl", re.DOTALL)
_ANSWER_TAIL = re.compile(r"\bagentId: ?([A-Za-z0-9_-]{1,200})")


def agent_id_of(path: Path) -> str:
    """The id in a sub-agent's file name, empty for any other name."""
    match = _AGENT_FILE.fullmatch(path.name)
    return identifier(match.group(1).encode("utf-8", "replace").decode()) if match else ""


def find_agents(trunk: Path, beside: Iterable[Path] = ()) -> list[AgentFile]:
    """The sub-agents of a trunk's file, in order of their paths, with the calls that spawned them.

    Looked for in `<trunk without suffix>/subagents` at any depth; `beside` are older files in the trunk's
    own folder that are known to belong to its session. Links out of that folder are not followed; files
    that cannot be read stay without a link. Never raises.
    """
    paths = sorted(set(_below(trunk.with_suffix("") / "subagents")) | set(beside))
    agents = [AgentFile(path, agent_id_of(path), _meta_call(path)) for path in paths if agent_id_of(path)]
    return link_agents(agents, trunk)


def link_agents(agents: list[AgentFile], trunk: Path | None) -> list[AgentFile]:
    """The same files with every call that the trunk or another sub-agent's file names.

    Reads those files once, only if a link is missing or several files may hold the calls.
    """
    if not agents:
        return []
    wanted = {agent.agent_id for agent in agents if not agent.call_id}
    calls = {agent.call_id for agent in agents if agent.call_id}
    found: dict[str, str] = {}
    homes: dict[str, str] = {}
    if wanted or len(agents) > 1:
        files = ([("", trunk)] if trunk is not None else []) + [(a.agent_id, a.path) for a in agents]
        for home, path in files:
            for agent_id, call_id in _links(path, wanted, calls):
                if call_id:
                    homes.setdefault(call_id, home)
                if agent_id in wanted and agent_id != home:
                    found.setdefault(agent_id, call_id)
    linked = []
    for agent in agents:
        call_id = agent.call_id or found.get(agent.agent_id, "")
        spawner = homes.get(call_id, "") if call_id else ""
        linked.append(
            AgentFile(agent.path, agent.agent_id, call_id, spawner if spawner != agent.agent_id else "")
        )
    return linked


def _below(folder: Path) -> Iterator[Path]:
    if folder.is_symlink():
        return
    for place, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in names:
            path = Path(place) / name
            if agent_id_of(path) and is_inside(path, folder):
                yield path


def _meta_call(path: Path) -> str:
    meta = path.with_name(path.name.removesuffix(".jsonl") + ".meta.json")
    try:
        if meta.is_symlink() or meta.stat().st_size > MAX_META:
            return ""
        value = msgspec.json.decode(meta.read_bytes())
    except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return ""
    return identifier(value.get("toolUseId")) if isinstance(value, dict) else ""


def _links(path: Path, wanted: set[str], calls: set[str]) -> Iterator[tuple[str, str]]:
    """(agent id, call id) for each link a file names; an empty agent id says only that it holds the call."""
    needles = [call.encode() for call in calls if call.isascii()]
    for line in _lines(path):
        names_agent = wanted and (b'"agentId"' in line or b"agentId:" in line)
        if not names_agent and not any(needle in line for needle in needles):
            continue
        try:
            record = decode(line, 0, [])
        except Undecodable:
            continue
        if record is None:
            continue
        if record.type == "progress":
            yield from _progress_link(line)
        content = record.message.content if record.message else None
        if not isinstance(content, list):
            continue
        result = record.tool_use_result
        result_agent = identifier(result.get("agentId")) if isinstance(result, dict) else ""
        for block in content:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use" and identifier(block.get("id")) in calls:
                yield "", block["id"]
            elif block.get("type") == "tool_result" and (call_id := identifier(block.get("tool_use_id"))):
                yield result_agent or _answer_agent(block.get("content")), call_id


def _progress_link(line: bytes) -> Iterator[tuple[str, str]]:
    try:
        progress = msgspec.json.decode(line, type=_Progress)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return
    data = progress.data
    if data.get("type") == "agent_progress" and progress.call_id:
        yield identifier(data.get("agentId")), progress.call_id


class _Progress(msgspec.Struct):
    call_id: str = msgspec.field(default="", name="parentToolUseID")
    data: dict[str, Any] = msgspec.field(default_factory=dict)


def _answer_agent(content: Any) -> str:
    """The id in the `agentId:` tail of an answer's text."""
    parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
    for part in reversed(parts):
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and (found := _ANSWER_TAIL.findall(text)):
            return str(found[-1])
    return ""


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb", buffering=READ_SIZE) as file:
            long = False
            while line := file.readline(MAX_SCANNED_LINE):
                whole = line.endswith(b"\n") or len(line) < MAX_SCANNED_LINE
                if whole and not long:
                    yield line
                long = not whole
    except OSError:
        return


def agents_beside(folder: Path, head_session: Callable[[Path], str]) -> dict[str, list[Path]]:
    """Older sub-agents' files that lie directly in a project's folder, by the session they name.

    `head_session` reads the session id from a file's first records.
    """
    found: dict[str, list[Path]] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return {}
    for path in paths:
        if agent_id_of(path) and is_inside(path, folder):
            session_id = head_session(path)
            if 0 < len(session_id) <= MAX_IDENTIFIER:
                found.setdefault(session_id, []).append(path)
    return found

"""A trunk and its sub-agents as one stream: what a sub-agent did follows the line that spawned it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from workbench.imports.claude_code.acta import SubAgent
from workbench.imports.claude_code.reader import read_transcript
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.transcript.candidates import AgentFile
from workbench.imports.transcript.items import ActumItem, Checkpoint, Item
from workbench.imports.transcript.placed import FileItem, FileUnreadable, Placed, placed, what_failed
from workbench.imports.transcript.reading import readable

MAX_OPEN = 64
"""Files open at once. Sub-agents nested deeper are read at the end instead of in place."""


class _Source:
    """One file being read."""

    def __init__(self, path: Path, items: Iterator[Item], agent_id: str) -> None:
        self.path = path
        self.items = items
        self.agent_id = agent_id
        self.waiting: Item | None = None
        """An item that was taken while the line before it was still being completed."""
        self.spawned: list[AgentFile] = []
        self.spawn_line = 0


def read_session(
    trunk: Path,
    *,
    owner: str,
    agents: Iterable[AgentFile] = (),
    states: Mapping[Path, ReaderState] | None = None,
    settled: bool = True,
) -> Iterator[Placed]:
    """The items of a trunk's file with those of its sub-agents in place.

    A sub-agent's items come after all items of the line that holds its call; the files whose call is not
    seen in this read (unknown, or read at an earlier import) come at the end. Sub-agents spawn others to
    any depth, and each file is read once whatever the links claim. `states` holds the last kept state of
    each file. `settled` speaks for all files of the session.
    """
    states = states or {}
    by_call: dict[str, list[AgentFile]] = {}
    left: dict[Path, AgentFile] = {}
    for agent in agents:
        left[agent.path] = agent
        if agent.call_id:
            by_call.setdefault(agent.call_id, []).append(agent)
    session_id = states[trunk].first_session if trunk in states else ""
    chronicum_id = ""
    """Of the trunk's last actum, from which `session_id` is."""

    def open_file(path: Path, agent: SubAgent | None) -> Iterator[Item]:
        return read_transcript(path, owner=owner, state=states.get(path), agent=agent, settled=settled)

    if not left:
        yield from placed(trunk, open_file(trunk, None))
        return
    stack = [_Source(trunk, open_file(trunk, None), "")]
    while stack or left:
        if not stack:
            agent = left.pop(next(iter(left)))
            session_id = session_id or readable(trunk.stem)
            stack.append(
                _Source(agent.path, open_file(agent.path, described(agent, session_id)), agent.agent_id)
            )
        source = stack[-1]
        try:
            item = source.waiting or next(source.items, None)
        except OSError as problem:
            yield FileUnreadable(source.path, what_failed(problem))
            item = None
        source.waiting = None
        if source.spawned and (item is None or getattr(item, "line", 0) != source.spawn_line):
            agent = source.spawned.pop(0)
            source.waiting = item
            if len(stack) < MAX_OPEN and left.pop(agent.path, None) is not None:
                here = AgentFile(agent.path, agent.agent_id, agent.call_id, source.agent_id)
                stack.append(
                    _Source(agent.path, open_file(agent.path, described(here, session_id)), agent.agent_id)
                )
            continue
        if item is None:
            stack.pop()
            continue
        if type(item) is ActumItem:
            if len(stack) == 1 and item.chronicum_id != chronicum_id:
                chronicum_id = item.chronicum_id
                session_id = chronicum_id.partition("/")[2]
            if by_call and item.kind == "tool_request":
                spawned = by_call.get(item.metadata.get("call_id", ""))
                if spawned:
                    source.spawned.extend(spawned)
                    source.spawn_line = item.line
        elif type(item) is Checkpoint and source.path == trunk and item.state.first_session:
            session_id = session_id or item.state.first_session
        yield FileItem(source.path, item)


def read_orphan(
    agent: AgentFile, *, owner: str, state: ReaderState | None = None, settled: bool = True
) -> Iterator[Placed]:
    """The items of a sub-agent's file whose trunk is missing: under its own session, marked `orphan`."""
    agent_of = described(agent, "", orphan=True)
    yield from placed(
        agent.path, read_transcript(agent.path, owner=owner, state=state, agent=agent_of, settled=settled)
    )


def described(agent: AgentFile, session_id: str, *, orphan: bool = False) -> SubAgent:
    """What the reader of a sub-agent's file needs to know."""
    return SubAgent(agent.agent_id, agent.call_id, agent.spawner, session_id, orphan)

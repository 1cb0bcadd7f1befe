"""Which transcripts there are to import, told from the beginning and the end of each file alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from workbench.imports.claude_code.acta import SOURCE, SubAgent, Translator
from workbench.imports.claude_code.decoding import decode, moment_of
from workbench.imports.claude_code.records import KNOWN_TYPES, Record
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.claude_code.subagents import agent_id_of, agents_beside, find_agents, link_agents
from workbench.imports.transcript.candidates import AgentFile, Candidate, Discovery, Watch
from workbench.imports.transcript.decoding import Undecodable
from workbench.imports.transcript.fields import moment
from workbench.imports.transcript.placed import what_failed
from workbench.imports.transcript.places import (
    Head,
    files_at,
    last_moment,
    nothing_readable,
    program_folder,
)
from workbench.imports.transcript.reading import open_plain, readable

HEAD_BYTES = 256 * 1024
HEAD_RECORDS = 40
"""How much of a file is read to tell what it is."""
COMPRESSED = ".jsonl.zst"


class Beginning(msgspec.Struct):
    """What the beginning of a file says."""

    session_id: str = ""
    cwd: str = ""
    title: str = ""
    forked_from: str = ""
    first_at: datetime | None = None
    records: int = 0
    known: int = 0
    """Records that look like this format's."""
    passed_over: int = 0
    """Lines too long to be looked at, which may be such records."""


def config_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where Claude Code keeps its files: `$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    return program_folder("CLAUDE_CONFIG_DIR", ".claude", environment)


def discover(
    paths: Iterable[Path] = (),
    *,
    environment: Mapping[str, str] | None = None,
    watch: Watch | None = None,
) -> Discovery:
    """The transcripts at `paths` (files, or folders searched to any depth); without any, those of every
    project below the program's own folder. Never raises; what cannot be read is in `refused`.

    `watch` hears of each one when it was looked at, and may end the search.
    """
    found = Discovery(watch)
    given = [Path(path) for path in paths] or [config_folder(environment) / "projects"]
    files: dict[Path, None] = {}
    for path in given:
        for file in files_at(path, found, (".jsonl",), _is_journal):
            if file.name.endswith(COMPRESSED):
                found.refuse(file, "compressed")
            else:
                files[file] = None
    agents = [file for file in files if agent_id_of(file)]
    trunks = sorted(file for file in files if not agent_id_of(file))
    taken: set[Path] = set()
    beside: dict[Path, dict[str, list[Path]]] = {}
    for trunk in trunks:
        if found.watch.cancelled:
            return found
        begin = _judge(trunk, found)
        if begin is None:
            continue
        folder = trunk.parent
        if folder not in beside:
            beside[folder] = agents_beside(folder, lambda path: beginning_of(path).session_id)
        own = find_agents(trunk, beside[folder].get(begin.session_id, ()))
        taken.update(agent.path for agent in own)
        _add(found, trunk, begin, tuple(own), orphan=False)
    for path in sorted(set(agents) - taken):
        if found.watch.cancelled:
            return found
        begin = _judge(path, found)
        if begin is not None:
            linked = link_agents([AgentFile(path, agent_id_of(path))], None)
            _add(found, path, begin, tuple(linked), orphan=True)
    found.candidates.sort(key=lambda candidate: candidate.path)
    return found


def looks_ours(path: Path) -> bool:
    """Whether a file holds such a transcript. Never raises."""
    return path.name.endswith(".jsonl") and beginning_of(path).known > 0


def beginning_of(path: Path) -> Beginning:
    """What the first records of a file say; an empty `Beginning` if it cannot be read.

    A record that is too long to be looked at is passed over: what stands behind it tells as much, and where
    nothing does, the file's name has to do.
    """
    begin = Beginning()
    state = ReaderState()
    agent = SubAgent(agent_id_of(path), orphan=True) if agent_id_of(path) else None
    translator = Translator(state, owner="owner", source="", stem=path.stem, agent=agent)
    try:
        with open_plain(path) as file:
            head = Head(file, records=10 * HEAD_RECORDS, size=HEAD_BYTES)
            for line in head:
                if begin.records >= HEAD_RECORDS and begin.title:
                    break
                if (record := _record(line.data)) is not None:
                    _take(begin, record, translator, line.data)
            begin.passed_over = head.passed_over
    except OSError:
        return begin
    begin.session_id = state.first_session
    return begin


def _take(begin: Beginning, record: Record, translator: Translator, data: bytes) -> None:
    state = translator.state
    begin.records += 1
    begin.known += record.type in KNOWN_TYPES and _is_ours(record)
    begin.cwd = begin.cwd or record.cwd or ""
    begin.first_at = begin.first_at or moment(record.timestamp)
    try:
        translator.translate(record, line=0, offset=0, data=data, repairs=[])
    except Undecodable:
        return
    # A file that names very many sessions may have pushed the first one out of the bounded state.
    if (first := state.sessions.get(state.first_session)) is not None:
        begin.title = first.known.get("title", "")
        begin.forked_from = first.known.get("forked_from", "").removeprefix(f"{SOURCE}/")


def _is_ours(record: Record) -> bool:
    return bool(record.session_id or record.message or record.type in ("summary", "file-history-snapshot"))


def _record(line: bytes) -> Record | None:
    if not line.strip():
        return None
    try:
        return decode(line, 0, [])
    except Undecodable:
        return None


def _judge(path: Path, found: Discovery) -> Beginning | None:
    try:
        with open_plain(path):
            pass
    except OSError as problem:
        found.refuse(path, what_failed(problem))
        return None
    begin = beginning_of(path)
    if begin.known or (begin.passed_over and not begin.records):
        return begin
    if path.name == "history.jsonl" and begin.records:
        found.refuse(path, "prompt history")
    elif begin.records:
        found.refuse(path, "no session records")
    else:
        found.refuse(path, nothing_readable(path, open_plain))
    return None


def _add(
    found: Discovery, path: Path, begin: Beginning, agents: tuple[AgentFile, ...], *, orphan: bool
) -> None:
    try:
        status = path.stat()
    except OSError as problem:
        found.refuse(path, what_failed(problem))
        return
    found.take(
        Candidate(
            path=path,
            size=status.st_size,
            modified=status.st_mtime,
            session_id=begin.session_id or readable(path.stem),
            cwd=begin.cwd,
            forked_from=begin.forked_from,
            title=begin.title,
            first_at=begin.first_at,
            last_at=last_moment(path, status.st_size, moment_of) or begin.first_at,
            agents=agents,
            orphan=orphan,
        )
    )


def _is_journal(path: Path) -> bool:
    """A workflow's journal lies among its sub-agents' files and is no transcript."""
    return path.name == "journal.jsonl" and "subagents" in path.parts

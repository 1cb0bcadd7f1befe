"""Which transcripts there are to import, told from the beginning and the end of each file alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

import msgspec

from workbench.imports.claude_code.acta import SubAgent, Translator
from workbench.imports.claude_code.decoding import Undecodable, decode
from workbench.imports.claude_code.reader import readable
from workbench.imports.claude_code.records import KNOWN_TYPES, Record, moment
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.claude_code.subagents import (
    AgentFile,
    agent_id_of,
    agents_beside,
    find_agents,
    is_inside,
    link_agents,
)

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
HEAD_RECORDS = 40
"""How much of a file is read to tell what it is."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript that can be imported."""

    path: Path
    size: int
    """Bytes."""
    modified: float
    """Seconds since 1970."""
    session_id: str
    cwd: str = ""
    title: str = ""
    """The best title within the beginning of the file; empty if none stands there."""
    first_at: datetime | None = None
    last_at: datetime | None = None
    agents: tuple[AgentFile, ...] = ()
    """Its sub-agents; of an orphan the file itself."""
    orphan: bool = False
    """A sub-agent's file whose trunk is not there."""


class Refused(msgspec.Struct, frozen=True):
    """A file or folder that gives nothing, and why: `empty`, `not JSON lines`, `no session records`,
    `prompt history`, `not found`, `a link out of its folder`, `not a regular file`, `compressed`, or what
    the operating system says."""

    path: Path
    reason: str


class Discovery(msgspec.Struct, frozen=True):
    """What was found, in order of the paths."""

    candidates: list[Candidate]
    refused: list[Refused]


class Head(msgspec.Struct):
    """What the beginning of a file says."""

    session_id: str = ""
    cwd: str = ""
    title: str = ""
    first_at: datetime | None = None
    records: int = 0
    known: int = 0
    """Records that look like this format's."""


def config_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where Claude Code keeps its files: `$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    environment = os.environ if environment is None else environment
    named = environment.get("CLAUDE_CONFIG_DIR", "")
    return Path(named).expanduser() if named else Path.home() / ".claude"


def discover(paths: Iterable[Path] = (), *, environment: Mapping[str, str] | None = None) -> Discovery:
    """The transcripts at `paths` (files, or folders searched to any depth); without any, those of every
    project below the program's own folder. Never raises; what cannot be read is in `refused`.
    """
    found = Discovery([], [])
    given = [Path(path) for path in paths]
    if not given:
        given = [config_folder(environment) / "projects"]
    seen: set[Path] = set()
    trunks: list[Path] = []
    agents: list[Path] = []
    for path in given:
        for file in _files(path, found.refused):
            if file in seen:
                continue
            seen.add(file)
            (agents if agent_id_of(file) else trunks).append(file)
    taken: set[Path] = set()
    beside: dict[Path, dict[str, list[Path]]] = {}
    for trunk in sorted(trunks):
        head = _judge(trunk, found.refused)
        if head is None:
            continue
        folder = trunk.parent
        if folder not in beside:
            beside[folder] = agents_beside(folder, lambda path: read_head(path).session_id)
        own = find_agents(trunk, beside[folder].get(head.session_id, ()))
        taken.update(agent.path for agent in own)
        _add(found, trunk, head, tuple(own), orphan=False)
    for path in sorted(set(agents) - taken):
        head = _judge(path, found.refused)
        if head is not None:
            linked = link_agents([AgentFile(path, agent_id_of(path))], None)
            _add(found, path, head, tuple(linked), orphan=True)
    found.candidates.sort(key=lambda candidate: candidate.path)
    return found


def read_head(path: Path) -> Head:
    """What the first records of a file say; an empty `Head` if it cannot be read."""
    head = Head()
    try:
        with path.open("rb") as file:
            data = file.read(HEAD_BYTES)
            whole = len(data) < HEAD_BYTES
            if not whole and b"\n" not in data:
                # One record larger than the head: it is looked at whole, within the bound of a record.
                data += file.readline(64 * 1024 * 1024)
    except OSError:
        return head
    lines = data.split(b"\n")
    if not whole and len(lines) > 1:
        lines.pop()
    state = ReaderState()
    agent = SubAgent(agent_id_of(path), orphan=True) if agent_id_of(path) else None
    translator = Translator(state, owner="owner", source="", stem=path.stem, agent=agent)
    for number, line in enumerate(lines, 1):
        if head.records >= HEAD_RECORDS and head.title:
            break
        record = _record(line)
        if record is None:
            continue
        head.records += 1
        head.known += record.type in KNOWN_TYPES and _is_ours(record)
        head.cwd = head.cwd or record.cwd or ""
        head.first_at = head.first_at or moment(record.timestamp)
        try:
            translator.translate(record, line=number, offset=0, data=line, repairs=[])
        except Undecodable:
            continue
        # A file that names very many sessions may have pushed the first one out of the bounded state.
        if (first := state.sessions.get(state.first_session)) is not None:
            head.title = first.known.get("title", "")
    head.session_id = state.first_session
    return head


def _is_ours(record: Record) -> bool:
    return bool(record.session_id or record.message or record.type in ("summary", "file-history-snapshot"))


def _record(line: bytes) -> Record | None:
    if not line.strip():
        return None
    try:
        return decode(line, 0, [])
    except Undecodable:
        return None


def _judge(path: Path, refused: list[Refused]) -> Head | None:
    reason = ""
    try:
        with path.open("rb") as file:
            begin = file.read(4096)
    except OSError as problem:
        refused.append(Refused(path, problem.strerror or type(problem).__name__))
        return None
    head = Head()
    if not begin.strip(b" \t\r\n\0"):
        reason = "empty"
    else:
        head = read_head(path)
        if head.known == 0:
            if path.name == "history.jsonl":
                reason = "prompt history"
            else:
                reason = "no session records" if head.records else "not JSON lines"
    if reason:
        refused.append(Refused(path, reason))
        return None
    return head


def _add(found: Discovery, path: Path, head: Head, agents: tuple[AgentFile, ...], *, orphan: bool) -> None:
    try:
        status = path.stat()
    except OSError as problem:
        found.refused.append(Refused(path, problem.strerror or type(problem).__name__))
        return
    found.candidates.append(
        Candidate(
            path=path,
            size=status.st_size,
            modified=status.st_mtime,
            session_id=head.session_id or readable(path.stem),
            cwd=head.cwd,
            title=head.title,
            first_at=head.first_at,
            last_at=_last_at(path, status.st_size) or head.first_at,
            agents=agents,
            orphan=orphan,
        )
    )


def _last_at(path: Path, size: int) -> datetime | None:
    try:
        with path.open("rb") as file:
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return None
    for line in reversed(lines):
        record = _record(line)
        if record is not None and (at := moment(record.timestamp)) is not None:
            return at
    return None


def _files(path: Path, refused: list[Refused]) -> list[Path]:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        refused.append(Refused(path, "not found"))
        return []
    except (OSError, ValueError) as problem:
        refused.append(Refused(path, getattr(problem, "strerror", None) or "not a path"))
        return []
    if stat.S_ISREG(mode):
        if path.name.endswith(".jsonl.zst"):
            refused.append(Refused(path, "compressed"))
            return []
        return [path]
    if not stat.S_ISDIR(mode):
        refused.append(Refused(path, "not a regular file"))
        return []
    found: list[Path] = []

    def unreadable(problem: OSError) -> None:
        place = Path(problem.filename) if problem.filename else path
        refused.append(Refused(place, problem.strerror or type(problem).__name__))

    for place, folders, names in os.walk(path, onerror=unreadable, followlinks=False):
        folders.sort()
        for name in sorted(names):
            file = Path(place) / name
            if not name.endswith(".jsonl") or _is_journal(file):
                continue
            if is_inside(file, path):
                found.append(file)
            else:
                outside = file.is_symlink()
                refused.append(Refused(file, "a link out of its folder" if outside else "not a regular file"))
    return found


def _is_journal(path: Path) -> bool:
    """A workflow's journal lies among its sub-agents' files and is no transcript."""
    return path.name == "journal.jsonl" and "subagents" in path.parts

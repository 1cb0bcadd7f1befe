"""Claude Code's transcripts, for the importer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from workbench.imports.claude_code.acta import SOURCE
from workbench.imports.claude_code.discover import config_folder, discover, looks_ours
from workbench.imports.claude_code.session import read_orphan, read_session
from workbench.imports.claude_code.state import ReaderState
from workbench.imports.transcript.candidates import Candidate
from workbench.imports.transcript.format import TranscriptFormat, restore_session
from workbench.imports.transcript.placed import Placed
from workbench.imports.transcript.state import FileState


def _kept() -> Path:
    return config_folder() / "projects"


def _read(candidate: Candidate, *, owner: str, states: Mapping[Path, FileState]) -> Iterator[Placed]:
    own = {path: state for path, state in states.items() if isinstance(state, ReaderState)}
    if candidate.orphan:
        [agent] = candidate.agents
        return read_orphan(agent, owner=owner, state=own.get(agent.path))
    return read_session(candidate.path, owner=owner, agents=candidate.agents, states=own)


def _restore(state: FileState, candidate: Candidate, safe_name: Callable[[str], str]) -> None:
    restore_session(state, candidate.session_id, safe_name)


FORMAT = TranscriptFormat(
    name=SOURCE,
    program="Claude Code",
    variable="CLAUDE_CONFIG_DIR",
    kept=_kept,
    suffixes="*.jsonl",
    discover=discover,
    read=_read,
    state_type=ReaderState,
    restore=_restore,
    is_ours=looks_ours,
)

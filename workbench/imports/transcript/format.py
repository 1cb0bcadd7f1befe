"""What the importer has to know of a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from workbench.imports.transcript.candidates import Candidate, Discovery, Watch
from workbench.imports.transcript.placed import Placed
from workbench.imports.transcript.state import FileState


class Discover(Protocol):
    """Finds the transcripts at some places; without any, where the program keeps them. Never raises."""

    def __call__(self, paths: Sequence[Path], *, watch: Watch | None = None) -> Discovery: ...


class Read(Protocol):
    """The items of a candidate's files; `states` are the last kept ones. An unreadable file is an item."""

    def __call__(
        self, candidate: Candidate, *, owner: str, states: Mapping[Path, FileState]
    ) -> Iterator[Placed]: ...


class Restore(Protocol):
    """Gives a kept state the ids back that were stored without their secret. `safe_name` is a name as it
    is stored."""

    def __call__(self, state: FileState, candidate: Candidate, safe_name: Callable[[str], str]) -> None: ...


class TranscriptFormat(NamedTuple):
    """One program's transcripts."""

    name: str
    """In ids, keys and commands: `claude-code`, `codex`."""
    program: str
    """For people: `Claude Code`."""
    variable: str
    """The environment variable that moves the program's folder."""
    kept: Callable[[], Path]
    """The place that is searched where none is named."""
    suffixes: str
    """What its files are called, for people: `*.jsonl`."""
    discover: Discover
    read: Read
    state_type: type[FileState]
    restore: Restore
    is_ours: Callable[[Path], bool]
    """Whether a file that another format refuses looks like one of this; never raises."""


def restore_session(state: FileState, session_id: str, safe_name: Callable[[str], str]) -> None:
    """Give a kept state the session's id as the file has it, where it was stored without its secret."""
    safe = safe_name(session_id)
    if safe != session_id:
        if state.first_session == safe:
            state.first_session = session_id
        if safe in state.sessions:
            state.sessions[session_id] = state.sessions.pop(safe)

"""Transcripts that can be imported, and what was found instead of one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec


class AgentFile(msgspec.Struct, frozen=True):
    """The file of one sub-agent, in a format that keeps one for each."""

    path: Path
    agent_id: str
    call_id: str = ""
    """The tool call that spawned it; empty if no link was found."""
    spawner: str = ""
    """The sub-agent whose file holds that call; empty for the trunk or if it is not known."""


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
    """Its sub-agents' files; of an orphan the file itself."""
    forked_from: str = ""
    """The session that it says it was forked from, by its id; empty if it says nothing of that."""
    orphan: bool = False
    """A sub-agent's file whose trunk is not there."""

    @property
    def paths(self) -> list[Path]:
        """All its files, its own first."""
        return list(dict.fromkeys((self.path, *(agent.path for agent in self.agents))))


class Refused(msgspec.Struct, frozen=True):
    """A file or folder that gives nothing, and why: `empty`, `not JSON lines`, `no session records`,
    `prompt history`, `not found`, `a link out of its folder`, `not a regular file`, that it is compressed, or
    what the operating system says."""

    path: Path
    reason: str


class Watch:
    """Follows a search while it runs; every call comes from the thread that searches."""

    def __init__(
        self,
        heard: Callable[[Candidate | Refused], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._heard = heard
        self._cancelled = cancelled

    def hear(self, found: Candidate | Refused) -> None:
        """Something was found; a candidate's place among the others is told only at the end."""
        if self._heard is not None:
            self._heard(found)

    @property
    def cancelled(self) -> bool:
        """Whether nobody wants to know any more. Asked for each file."""
        return self._cancelled is not None and self._cancelled()


class Discovery:
    """What a search has found so far."""

    def __init__(self, watch: Watch | None = None) -> None:
        self.watch = Watch() if watch is None else watch
        self.candidates: list[Candidate] = []
        """In the order to import them in."""
        self.refused: list[Refused] = []

    def take(self, candidate: Candidate) -> None:
        """Add a transcript."""
        self.candidates.append(candidate)
        self.watch.hear(candidate)

    def refuse(self, path: Path, reason: str) -> None:
        """Name what gives nothing."""
        refused = Refused(path, reason)
        self.refused.append(refused)
        self.watch.hear(refused)

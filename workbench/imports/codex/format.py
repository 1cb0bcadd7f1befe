"""Codex rollouts, for the importer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from workbench.imports.codex.acta import SOURCE
from workbench.imports.codex.compressed import open_rollout
from workbench.imports.codex.discover import FOLDERS, config_folder, discover, looks_ours
from workbench.imports.codex.lineage import lineage_of
from workbench.imports.codex.reader import read_rollout
from workbench.imports.codex.state import RolloutState
from workbench.imports.transcript.candidates import Candidate
from workbench.imports.transcript.format import TranscriptFormat, restore_session
from workbench.imports.transcript.placed import FileUnreadable, Placed, placed, what_failed
from workbench.imports.transcript.reading import has_settled
from workbench.imports.transcript.state import FileState


def _kept() -> Path:
    return config_folder() / FOLDERS[0]


def _read(candidate: Candidate, *, owner: str, states: Mapping[Path, FileState]) -> Iterator[Placed]:
    path = candidate.path
    state = states.get(path)
    try:
        settled = has_settled(path, time.time())
    except OSError as problem:
        yield FileUnreadable(path, what_failed(problem))
        return
    own = state if isinstance(state, RolloutState) else None
    yield from placed(path, read_rollout(path, owner=owner, state=own, settled=settled))


def _restore(state: FileState, candidate: Candidate, safe_name: Callable[[str], str]) -> None:
    restore_session(state, candidate.session_id, safe_name)
    try:
        with open_rollout(candidate.path) as file:
            lineage = lineage_of(candidate.path, file)
    except OSError:
        # Reading will say so.
        return
    for field in ("root", "forked_from", "agent_path", "parent_thread"):
        named = getattr(lineage, field)
        kept = getattr(state, field)
        if named != kept and safe_name(named) == kept:
            setattr(state, field, named)


FORMAT = TranscriptFormat(
    name=SOURCE,
    program="Codex",
    variable="CODEX_HOME",
    kept=_kept,
    suffixes="*.jsonl or *.jsonl.zst",
    discover=discover,
    read=_read,
    state_type=RolloutState,
    restore=_restore,
    is_ours=looks_ours,
)

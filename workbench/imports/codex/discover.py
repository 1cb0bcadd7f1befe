"""Which rollouts there are to import, told from the beginning and the end of each file alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from workbench.imports.codex.acta import Translator
from workbench.imports.codex.compressed import (
    NOT_READ,
    SUFFIX,
    can_decompress,
    is_compressed,
    open_rollout,
)
from workbench.imports.codex.lineage import Lineage, head_records, lineage_of
from workbench.imports.codex.records import moment_of
from workbench.imports.codex.state import RolloutState
from workbench.imports.transcript import titles
from workbench.imports.transcript.candidates import Candidate, Discovery, Watch
from workbench.imports.transcript.decoding import Undecodable
from workbench.imports.transcript.placed import what_failed
from workbench.imports.transcript.places import files_at, last_moment, nothing_readable, program_folder

FOLDERS = ("sessions", "archived_sessions")
"""Below the program's own folder; the first may hold files by date and flat ones."""
_HISTORIES = ("history.jsonl", "session_index.jsonl")


def config_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where Codex keeps its files: `$CODEX_HOME`, else `~/.codex`."""
    return program_folder("CODEX_HOME", ".codex", environment)


def discover(
    paths: Iterable[Path] = (),
    *,
    environment: Mapping[str, str] | None = None,
    watch: Watch | None = None,
) -> Discovery:
    """The rollouts at `paths` (files, or folders searched to any depth); without any, those below the
    program's own folder.

    A parent stands before its forks and a trunk before its sub-agents, else they stand in order of their
    paths. Where a file and its compressed form lie side by side only the file is taken. Never raises; what
    cannot be read is in `refused`. `watch` hears of each one when it was looked at, and may end the search.
    """
    found = Discovery(watch)
    given = [Path(path) for path in paths]
    if not given:
        home = config_folder(environment)
        given = [home / folder for folder in FOLDERS]
        given = [path for path in given if path.is_dir()] or given[:1]
    files: dict[Path, None] = {}
    for path in given:
        for file in files_at(path, found, (".jsonl", SUFFIX), lambda path: False):
            files[_plain(file)] = None
    lineages: dict[str, Lineage] = {}
    for path in sorted(files):
        if found.watch.cancelled:
            break
        if is_compressed(path) and not can_decompress():
            found.refuse(path, NOT_READ)
            continue
        try:
            candidate, lineage = _look(path)
        except OSError as problem:
            found.refuse(path, what_failed(problem))
            continue
        # A record too long to be looked at is no reason to refuse its file.
        if lineage.known == 0 and (lineage.records or not lineage.passed_over):
            found.refuse(path, _reason(path, lineage))
            continue
        lineages.setdefault(candidate.session_id, lineage)
        found.take(candidate)
    found.candidates[:] = _parents_first(found.candidates, lineages)
    return found


def looks_ours(path: Path) -> bool:
    """Whether a file's name is a rollout's, or its first records are. Never raises."""
    if path.name.startswith("rollout-"):
        return True
    try:
        with open_rollout(path) as file:
            return lineage_of(path, file).known > 0
    except OSError:
        return False


def _plain(path: Path) -> Path:
    """The uncompressed file beside a compressed one, where there is one."""
    plain = path.with_name(path.name.removesuffix(".zst"))
    return plain if is_compressed(path) and plain.is_file() else path


def _look(path: Path) -> tuple[Candidate, Lineage]:
    status = path.stat()
    with open_rollout(path) as file:
        lineage = lineage_of(path, file)
    candidate = Candidate(
        path=path,
        size=status.st_size,
        modified=status.st_mtime,
        session_id=lineage.session_id,
        cwd=lineage.cwd,
        forked_from=lineage.forked_from,
        title=_title(path, lineage) if lineage.known else "",
        first_at=lineage.first_at,
        last_at=_last_at(path, status.st_size) or lineage.first_at,
    )
    return candidate, lineage


def _title(path: Path, lineage: Lineage) -> str:
    state = RolloutState(first_session=lineage.session_id, root=lineage.root)
    translator = Translator(state, owner="owner", source="")
    with open_rollout(path) as file:
        for record in head_records(file):
            try:
                translator.translate(record, line=0, data=b"", repairs=[])
            except Undecodable:
                continue
            if translator.session.title_rank == titles.PROMPT:
                break
    return str(translator.session.known.get("title", ""))


def _reason(path: Path, lineage: Lineage) -> str:
    if lineage.records:
        return "prompt history" if path.name in _HISTORIES else "no session records"
    return nothing_readable(path, open_rollout)


def _parents_first(candidates: list[Candidate], lineages: Mapping[str, Lineage]) -> list[Candidate]:
    """In the same order, but each behind the sessions it comes from; a circle stays as it is."""
    depths: dict[str, int] = {}
    for session_id in lineages:
        chain: list[str] = []
        each = session_id
        while each in lineages and each not in depths and each not in chain:
            chain.append(each)
            each = lineages[each].forked_from or lineages[each].parent_thread
        depth = depths.get(each, -1)
        for member in reversed(chain):
            depth += 1
            depths[member] = depth
    return sorted(candidates, key=lambda candidate: depths[candidate.session_id])


def _last_at(path: Path, size: int) -> datetime | None:
    return None if is_compressed(path) else last_moment(path, size, moment_of)

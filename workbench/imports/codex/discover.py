"""Which rollouts there are to import, told from the beginning and the end of each file alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from workbench.imports.claude_code import titles
from workbench.imports.claude_code.decoding import Undecodable
from workbench.imports.claude_code.discover import Candidate, Discovery, Refused
from workbench.imports.claude_code.records import moment
from workbench.imports.claude_code.subagents import is_inside
from workbench.imports.codex.acta import Translator
from workbench.imports.codex.compressed import SUFFIX, can_decompress, is_compressed, open_rollout
from workbench.imports.codex.lineage import Lineage, head_records, lineage_of
from workbench.imports.codex.records import decode_record
from workbench.imports.codex.state import RolloutState

TAIL_BYTES = 64 * 1024
FOLDERS = ("sessions", "archived_sessions")
"""Below the program's own folder; the first may hold files by date and flat ones."""


def config_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Where Codex keeps its files: `$CODEX_HOME`, else `~/.codex`."""
    environment = os.environ if environment is None else environment
    named = environment.get("CODEX_HOME", "")
    return Path(named).expanduser() if named else Path.home() / ".codex"


def discover(paths: Iterable[Path] = (), *, environment: Mapping[str, str] | None = None) -> Discovery:
    """The rollouts at `paths` (files, or folders searched to any depth); without any, those below the
    program's own folder.

    A parent stands before its forks and a trunk before its sub-agents, else they stand in order of their
    paths. Where a file and its compressed form lie side by side only the file is taken. Never raises; what
    cannot be read is in `refused`.
    """
    found = Discovery([], [])
    given = [Path(path) for path in paths]
    if not given:
        home = config_folder(environment)
        given = [home / folder for folder in FOLDERS]
        given = [path for path in given if path.is_dir()] or given[:1]
    files: dict[Path, None] = {}
    for path in given:
        files.update(dict.fromkeys(_files(path, found.refused)))
    lineages: dict[str, Lineage] = {}
    for path in sorted(dict.fromkeys(_plain(path) for path in files)):
        if is_compressed(path) and not can_decompress():
            found.refused.append(Refused(path, "compressed, and the package zstandard is not installed"))
            continue
        try:
            candidate, lineage = _look(path)
        except OSError as problem:
            found.refused.append(Refused(path, problem.strerror or type(problem).__name__))
            continue
        if lineage.known == 0:
            found.refused.append(Refused(path, _reason(path, lineage, candidate.size)))
            continue
        lineages.setdefault(candidate.session_id, lineage)
        found.candidates.append(candidate)
    found.candidates[:] = _parents_first(found.candidates, lineages)
    return found


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


def _reason(path: Path, lineage: Lineage, size: int) -> str:
    if lineage.records:
        is_history = path.name in ("history.jsonl", "session_index.jsonl")
        return "prompt history" if is_history else "no session records"
    try:
        with open_rollout(path) as file:
            return "not JSON lines" if file.read(4096).strip(b" \t\r\n\0") else "empty"
    except OSError as problem:
        return problem.strerror or type(problem).__name__


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
    if is_compressed(path):
        return None
    try:
        with path.open("rb") as file:
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).split(b"\n")
    except OSError:
        return None
    for line in reversed(lines):
        try:
            record = decode_record(line, 0, [])
        except Undecodable:
            continue
        if record is not None and (at := moment(record.timestamp)) is not None:
            return at
    return None


def _files(path: Path, refused: list[Refused]) -> Iterator[Path]:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        refused.append(Refused(path, "not found"))
        return
    except (OSError, ValueError) as problem:
        refused.append(Refused(path, getattr(problem, "strerror", None) or "not a path"))
        return
    if stat.S_ISREG(mode):
        yield path
        return
    if not stat.S_ISDIR(mode):
        refused.append(Refused(path, "not a regular file"))
        return

    def unreadable(problem: OSError) -> None:
        place = Path(problem.filename) if problem.filename else path
        refused.append(Refused(place, problem.strerror or type(problem).__name__))

    for place, folders, names in os.walk(path, onerror=unreadable, followlinks=False):
        folders.sort()
        for name in sorted(names):
            file = Path(place) / name
            if not name.endswith((".jsonl", SUFFIX)):
                continue
            if is_inside(file, path):
                yield file
            else:
                outside = file.is_symlink()
                refused.append(Refused(file, "a link out of its folder" if outside else "not a regular file"))

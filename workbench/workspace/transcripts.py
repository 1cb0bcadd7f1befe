"""Finding and importing agents' transcripts, as the faces offer it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from workbench.imports.claude_code.discover import Candidate, Discovery, Refused, config_folder, discover
from workbench.imports.claude_code.driver import import_transcripts, is_unchanged
from workbench.imports.report import ImportProblem, ImportReport, SessionReport
from workbench.imports.sources import stored_path
from workbench.log.event_log import EventLog
from workbench.sessions.errors import EmptyOwnerID

if TYPE_CHECKING:
    from workbench.evidence import EvidenceStore


_CODEX_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_FIRST_LINE_BYTES = 256 * 1024
"""A rollout's first line holds its instructions, some 20 KB."""


class FoundTranscript(msgspec.Struct, frozen=True):
    """A transcript that can be imported."""

    candidate: Candidate
    is_new: bool
    """Whether it was never read, or changed since."""


class FoundTranscripts(msgspec.Struct, frozen=True):
    """What lies at the places that were searched."""

    transcripts: list[FoundTranscript]
    refused: list[Refused]
    """Files and folders that are no transcripts or cannot be read, each with its reason."""


def find_claude_code(log: EventLog, paths: Sequence[Path]) -> FoundTranscripts:
    """Claude Code transcripts, and which of them hold something new."""
    found = _discovered(paths)
    transcripts = [FoundTranscript(each, not is_unchanged(log, each)) for each in found.candidates]
    return FoundTranscripts(transcripts, found.refused)


def import_claude_code(
    log: EventLog,
    evidence: EvidenceStore,
    paths: Sequence[Path],
    *,
    owner: str,
    dry_run: bool,
    progress: Callable[[int, int | None, str], None] | None,
    cancelled: Callable[[], bool] | None,
) -> ImportReport:
    """See `Workspace.import_claude_code`; raises `EmptyOwnerID`."""
    if owner == "":
        raise EmptyOwnerID
    # A library's caller may name places as plain text.
    paths = [Path(path) for path in paths]
    found = _discovered(paths)
    report = import_transcripts(
        log,
        evidence,
        found.candidates,
        owner=owner,
        dry_run=dry_run,
        progress=progress,
        cancelled=cancelled,
    )
    named = _named_places(found, paths)
    if named:
        for refused in named:
            path = stored_path(refused.path)
            problem = ImportProblem(path, 0, refused.reason)
            report.sessions.append(SessionReport(id="", source=path, problems=[problem]))
        report.sum_up()
    return report


def _named_places(found: Discovery, paths: Sequence[Path]) -> list[Refused]:
    """What was refused, the places among it that are missing or held nothing, in words to act on."""
    places = list(paths) or [config_folder() / "projects"]
    files = [candidate.path for candidate in found.candidates] + [each.path for each in found.refused]
    named = [each if paths or each.path != places[0] else _default_refused(each) for each in found.refused]
    for place in places:
        if place.is_dir() and not any(file == place or place in file.parents for file in files):
            named.append(Refused(place, "no transcripts: looked for *.jsonl files in it, at any depth"))
    return named


def _default_refused(refused: Refused) -> Refused:
    """The default place as refused, with the variable that moves it."""
    path = refused.path if refused.path.parent.is_dir() else refused.path.parent
    if os.environ.get("CLAUDE_CONFIG_DIR"):
        return Refused(path, f"{refused.reason}; it is where $CLAUDE_CONFIG_DIR points")
    return Refused(path, f"{refused.reason}; name another place as PATH or with $CLAUDE_CONFIG_DIR")


def _discovered(paths: Sequence[Path]) -> Discovery:
    """What `discover` finds, with the rollouts of another program told apart."""
    found = discover(paths)
    return Discovery(found.candidates, [_told_apart(each) for each in found.refused])


def _told_apart(refused: Refused) -> Refused:
    if refused.reason in ("no session records", "compressed") and _is_codex_rollout(refused.path):
        reason = "a Codex rollout, which this command does not read: it reads Claude Code's files"
        return Refused(refused.path, reason)
    return refused


class _Line(msgspec.Struct):
    type: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"")


def _is_codex_rollout(path: Path) -> bool:
    """Whether the name is a rollout's, or the first line is."""
    if path.name.startswith("rollout-"):
        return True
    try:
        with path.open("rb") as file:
            line = msgspec.json.decode(file.readline(_FIRST_LINE_BYTES), type=_Line)
    except (OSError, msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return line.type in _CODEX_TYPES and bool(bytes(line.payload))

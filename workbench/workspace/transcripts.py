"""Finding and importing agents' transcripts, as the faces offer it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from workbench.imports.claude_code.discover import Candidate, Refused, discover
from workbench.imports.claude_code.driver import import_transcripts, is_unchanged
from workbench.imports.report import ImportProblem, ImportReport, SessionReport
from workbench.imports.sources import stored_path
from workbench.log.event_log import EventLog
from workbench.sessions.errors import EmptyOwnerID

if TYPE_CHECKING:
    from workbench.evidence import EvidenceStore


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
    found = discover(paths)
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
    found = discover(paths)
    report = import_transcripts(
        log,
        evidence,
        found.candidates,
        owner=owner,
        dry_run=dry_run,
        progress=progress,
        cancelled=cancelled,
    )
    if found.refused:
        for refused in found.refused:
            path = stored_path(refused.path)
            problem = ImportProblem(path, 0, refused.reason)
            report.sessions.append(SessionReport(id="", source=path, problems=[problem]))
        report.sum_up()
    return report

"""What a rescan or a scrub did, in words for the list of jobs: one sentence, then a line for each thing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.workspace.redactions.backups import BackupState
    from workbench.workspace.redactions.report import OtherFile, Rescan, Scrubbed

_NAMED = 20
"""Files that are named; more are counted."""


def rescan_outcome(report: Rescan, root: Path) -> str:
    """What today's filter would take out."""
    from workbench.drawing import counted

    if report.found:
        first = f"{counted(report.found, 'secret')} would be removed from {counted(report.places, 'place')}"
    else:
        first = f"nothing would be removed: {counted(report.events, 'event')} looked through"
    return "\n".join([first, *_kinds(report), *_files(report, root)])


def scrub_outcome(report: Scrubbed, root: Path) -> str:
    """What was taken out, and what still holds some of it."""
    from workbench.drawing import counted

    if report.found:
        first = f"{counted(report.found, 'secret')} removed from {counted(report.places, 'place')}"
        if report.rewritten:
            first += f"; {counted(report.rewritten, 'event')} rewritten"
    else:
        first = "an unfinished scrub was completed" if report.resumed else "nothing had to be removed"
    lines = [first, *_kinds(report), *_files(report, root)]
    if not report.emptied:
        kept = f", kept open by {', '.join(report.readers[:_NAMED])}" if report.readers else ""
        lines.append(f"warning: the write-ahead log could not be emptied{kept}; scrub again")
    return "\n".join(lines)


def path_in(root: Path, path: Path) -> str:
    """A file of the workspace as it is named there."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def state_words(state: BackupState) -> str:
    """What is known of one copy of the database, in a few words."""
    if state.holds is None:
        return "cannot be read"
    return "still holds some" if state.holds else "holds none"


def other_words(other: OtherFile) -> str:
    """What is known of a file that no scrub cleans, and what to do about it."""
    if other.by_name:
        return f"{other.place} has a name that holds some ({', '.join(sorted(other.counts))}): rename it"
    if not other.counts:
        return f"{other.place} cannot be looked into: move it out of the workspace or delete it"
    kinds = ", ".join(sorted(other.counts))
    if other.place.startswith("artifacts/"):
        digest = other.place.rpartition("/")[2]
        way = f"workbench evidence purge {digest} --reason …"
        if other.damaged:
            return (
                f"{other.place} holds some ({kinds}) and is damaged: its bytes are not those of its digest; "
                f"restore it from a backup and scrub again, or remove it: {way}"
            )
        return f"{other.place} is no text and holds some ({kinds}); to remove it: {way}"
    return f"{other.place} holds some ({kinds}): move it out of the workspace or delete it"


def backups_words(states: Sequence[BackupState]) -> str:
    """How many of the copies hold some, in a few words."""
    holding = sum(state.holds is True for state in states)
    closed = sum(state.holds is None for state in states)
    said = f"{holding or 'none'} of {len(states)} {'holds' if holding < 2 else 'hold'} some"
    return f"{said}, {closed} cannot be read" if closed else said


def _kinds(report: Rescan) -> Iterator[str]:
    from workbench.drawing import number

    for kind, secrets in sorted(report.secrets.items(), key=lambda each: (-each[1], each[0])):
        yield f"{kind}: {number(secrets)}"


def _files(report: Rescan, root: Path) -> Iterator[str]:
    from workbench.drawing import counted

    for state in report.holding[:_NAMED]:
        yield f"warning: {path_in(root, state.path)} {state_words(state)}"
    if len(report.holding) > _NAMED:
        yield f"and {counted(len(report.holding) - _NAMED, 'more copy', 'more copies')}"
    for each in report.others[:_NAMED]:
        yield f"warning: {other_words(each)}"
    if len(report.others) > _NAMED:
        yield f"and {counted(len(report.others) - _NAMED, 'more file')}"
    for place in report.closed[:_NAMED]:
        yield f"problem: {place} cannot be read"
    if len(report.closed) > _NAMED:
        yield f"and {counted(len(report.closed) - _NAMED, 'more file')}"
    if report.unreadable:
        yield f"problem: {counted(report.unreadable, 'event')} cannot be read"

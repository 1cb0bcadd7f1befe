"""What the evidence viewer says: of copies that are not there, of the file on the disk, of records."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from pathlib import Path

from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, Verbatim, note
from workbench.tui.in_shell import here
from workbench.tui.present import Line, Role, Span, counted, exact, number, size
from workbench.workspace.evidence_disk import OnDisk
from workbench.workspace.evidence_item import EvidenceItem
from workbench.workspace.line_diff import DiffLine, Hunk, Sign
from workbench.workspace.rows import EvidenceRow

_REASONS = {
    "extension_not_allowed": "files of this type are not copied",
    "size_limit_exceeded": "it was larger than what is copied",
    "symlink_rejected": "it was a symbolic link",
    "not_a_file": "it was no regular file",
    "unreadable": "it could not be read",
    "invalid_path": "its path is no path",
}
_SIGNS: dict[Sign, Role] = {" ": "code", "-": "error", "+": "success"}


def reason_words(reason: str) -> str:
    """Why there is no copy, for a person; a reason that nobody knows as it is."""
    return _REASONS.get(reason, reason.replace("_", " "))


def state_blocks(item: EvidenceItem, zone: tzinfo, root: Path) -> list[Block]:
    """What is wrong with a copy, or why there is none, and what helps; empty where all is well."""
    row, copy = item.row, item.copy
    doctor = here("workbench doctor", root)
    why = reason_words(row.reason) if row is not None else ""
    match item.state:
        case "archived":
            return []
        case "purged":
            purge = copy.purge if copy is not None else None
            said = "The copy was removed for good"
            if purge is not None:
                said = f"{said} by {purge.by}, {exact(purge.recorded_at, zone)}: {purge.reason}"
            return _told("◌", "dim", said, "Where the same bytes are recorded again, they are kept again.")
        case "lost":
            return _told(
                "✗",
                "error",
                "A copy was kept, and its file is not in the folder artifacts any more.",
                f"Bring the file back from a backup; {doctor} names all that are missing.",
            )
        case "damaged":
            return _told(
                "✗",
                "error",
                "The bytes of the copy are not those that were recorded: what follows proves nothing.",
                f"Bring the file back from a backup; {doctor} names all that are damaged.",
            )
        case "unreadable":
            return _told(
                "✗",
                "error",
                "The copy is there and cannot be read.",
                f"Check the permissions of the folder artifacts; {doctor} says which are wrong.",
            )
        case "missing":
            return _told(
                "!",
                "warning",
                "There was no such file when it was recorded: nothing stands behind this claim.",
                "Ask the agent that recorded it, or record the file again.",
            )
        case "pointer_only":
            return _told(
                "◌",
                "dim",
                f"Only the path was recorded: {why or 'the file was not copied'}.",
                "SSOT_MANIFEST.toml says under [artifacts] what is copied: see the guide, page evidence.",
            )
        case "skipped":
            return _told("!", "warning", f"No copy was made: {why or 'nobody said why'}.", "")
        case _:
            return _told(
                "!",
                "warning",
                "No record names such a file.",
                f"{here('workbench evidence list', root)} names all that there are.",
            )


def _told(mark: str, role: Role, said: str, hint: str) -> list[Block]:
    blocks: list[Block] = [Paragraph(said, Span(mark, role))]
    if hint:
        blocks.append(note(hint, indent=2))
    return blocks


def disk_blocks(item: EvidenceItem, found: OnDisk) -> list[Block]:
    """What stands on the disk now, beside the copy."""
    lines = sum(line.sign != " " for hunk in found.hunks for line in hunk.lines)
    had_copy = item.copy is not None and item.copy.size is not None
    match found.state:
        case "same":
            blocks = _told("✓", "success", "The file on the disk is the same as the copy.", "")
        case "differs" if found.text_only:
            blocks = _told("~", "warning", "The lines are the same; their ends or the encoding differ.", "")
        case "differs":
            places = counted(len(found.hunks), "place")
            said = f"The file has changed since: {counted(lines, 'line')} in {places}."
            blocks = _told("~", "warning", said, "- stands in the copy alone, + on the disk alone.")
        case "other_bytes":
            blocks = _told("~", "warning", "The file has changed since, and is no text to compare.", "")
        case "found":
            blocks = _told("◌", "dim", _found_words(item), "")
        case "gone":
            blocks = _told("✗" if not had_copy else "!", "warning", _gone_words(item, found), "")
        case "link":
            said = "A symbolic link stands in its place now; it is not followed."
            blocks = _told("!", "warning", said, "")
        case "not_a_file":
            said = "No regular file stands in its place now: a folder, a device, a pipe or a socket."
            blocks = _told("!", "warning", said, "It was not opened.")
        case "too_large":
            blocks = _told("!", "warning", "The file on the disk is too large to be read for a look.", "")
        case "redacted":
            said = "A secret was taken out of its path: nobody knows where the file is."
            blocks = _told("◌", "dim", said, "")
        case _:
            blocks = _told("!", "warning", "The file on the disk cannot be read.", "Check its permissions.")
    rows: list[tuple[str, str | Line]] = []
    if found.place:
        rows.append(("file", found.place))
    if found.size is not None:
        rows.append(("size", size(found.size)))
    taken = sum(found.removed.values())
    if taken:
        rows.append(("filter", f"{counted(taken, 'secret')} on the disk not shown here"))
    if rows:
        blocks += [Blank(), Fields(rows, indent=2)]
    if found.assumed and found.state != "gone":
        said = "The path is relative, and nobody recorded to which folder: this program's own was taken."
        blocks.append(note(said, indent=2))
    for hunk in found.hunks:
        blocks += [Blank(), *_hunk_blocks(hunk)]
    return blocks


def _found_words(item: EvidenceItem) -> str:
    """That a file is there which no copy can be compared with, and why there is none."""
    if item.state == "pointer_only":
        why = reason_words(item.row.reason) if item.row is not None and item.row.reason else "not copied"
        return f"No copy was taken (pointer only: {why}); the file is there."
    return "There is a file now, and no copy to compare it with."


def _gone_words(item: EvidenceItem, found: OnDisk) -> str:
    """That there is no file: whether there ever was one, and where it was looked for."""
    still = "still " if item.state == "missing" else ""
    if found.assumed:
        because = "the path is relative, and nobody recorded to which folder: this program's own was taken"
        return f"There is {still}no such file below {found.assumed} ({because})."
    return f"There is {still}no such file." if still else "The file is gone from the disk."


def _hunk_blocks(hunk: Hunk) -> Iterable[Block]:
    yield Paragraph(hunk.head, role="accent")
    lines: list[DiffLine] = []
    for line in (*hunk.lines, None):
        if lines and (line is None or line.sign != lines[-1].sign):
            yield Verbatim("\n".join(f"{each.sign} {each.text}" for each in lines), _SIGNS[lines[0].sign])
            lines = []
        if line is not None:
            lines.append(line)


def diff_text(item: EvidenceItem, found: OnDisk) -> str:
    """The same as a unified diff, for the clipboard."""
    path = item.row.path if item.row is not None else found.place
    head = [f"--- {path} (the copy)", f"+++ {path} (on the disk)"]
    body = [text for hunk in found.hunks for text in (hunk.head, *(f"{s}{said}" for s, said in hunk.lines))]
    return "\n".join([*head, *body]) + "\n"


def record_blocks(item: EvidenceItem, zone: tzinfo) -> list[Block]:
    """Every record that names the copy, newest first."""
    if not item.records:
        return [note("No record names this copy.")]
    blocks: list[Block] = []
    for row in item.records:
        if blocks:
            blocks.append(Blank())
        blocks += _record(row, zone)
    if item.more:
        blocks += [
            Blank(),
            note(f"and more than {number(len(item.records))} in all: workbench evidence show"),
        ]
    return blocks


def _record(row: EvidenceRow, zone: tzinfo) -> list[Block]:
    scope = " / ".join(part for part in (row.domain, row.project, row.task_id) if part)
    facts: list[tuple[str, str | Line]] = [("file", row.path), ("said", row.text[:4000])]
    if scope:
        facts.append(("scope", scope))
    if row.size is not None:
        facts.append(("file had", size(row.size)))
    for kind, count in sorted(row.removed.items()):
        facts.append(("removed", f"{count} {kind}"))
    if row.reason:
        facts.append(("reason", row.reason.replace("_", " ")))
    facts.append(("event", (Span(number(row.position), "dim"),)))
    facts.append(("id", (Span(row.observation_id, "dim"),)))
    private = " · private" if row.private else ""
    return [Heading(row.agent, f"{exact(row.recorded_at, zone)}{private}", "strong"), Fields(facts, indent=2)]

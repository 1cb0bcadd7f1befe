"""The forms in which a piece of evidence can be copied."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from workbench.tui.copying import CopyChoice
from workbench.tui.evidence_viewer.words import diff_text

if TYPE_CHECKING:
    from workbench.workspace.evidence_disk import OnDisk
    from workbench.workspace.evidence_item import EvidenceItem


def copy_choices(item: EvidenceItem, on_disk: OnDisk | None, root: Path) -> list[CopyChoice]:
    """What there is of it: text, digest, the command that prints it, path, record, difference."""
    choices: list[CopyChoice] = []
    if item.copy is not None:
        if item.copy.text is not None:
            choices.append(CopyChoice("text", item.copy.text))
        choices.append(CopyChoice("digest", item.copy.digest))
        command = f"workbench evidence show {item.copy.digest} --root {quote(str(root))}"
        choices.append(CopyChoice("command", command))
    if item.row is not None:
        choices.append(CopyChoice("path", item.row.path))
        choices.append(CopyChoice("id of the observation", item.row.observation_id))
    if on_disk is not None and on_disk.hunks:
        choices.append(CopyChoice("difference", lambda: diff_text(item, on_disk)))
    return choices

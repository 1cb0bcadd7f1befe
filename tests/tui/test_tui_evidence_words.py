"""What the evidence viewer says of the file on the disk, by what was recorded of it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workbench.tui.document import Document
from workbench.tui.evidence_viewer.words import disk_blocks
from workbench.workspace.evidence_disk import OnDisk
from workbench.workspace.evidence_item import EvidenceItem
from workbench.workspace.rows import EvidenceRow


def item(status: str, reason: str = "") -> EvidenceItem:
    row = EvidenceRow(
        position=3,
        ordinal=0,
        path="notes.bin",
        status=status,
        digest="",
        size=None,
        reason=reason,
        removed={},
        observation_id="o",
        recorded_at=datetime(2026, 3, 1, tzinfo=UTC),
        private=False,
        withheld=False,
        domain="",
        project="",
        task_id="",
        agent="codex",
        text="said",
    )
    return EvidenceItem(row, (row,), False, None)


@pytest.mark.parametrize(
    ("recorded", "found", "said"),
    [
        (item("missing"), OnDisk("gone", "/a/notes.bin"), "There is still no such file."),
        (
            item("missing"),
            OnDisk("gone", "/a/notes.bin", "/a"),
            "There is still no such file below /a (the path is relative",
        ),
        (
            item("pointer_only"),
            OnDisk("gone", "/a/notes.bin", "/a"),
            "There is no such file below /a (the path is relative",
        ),
        (item("pointer_only"), OnDisk("gone", "/a/notes.bin"), "The file is gone from the disk."),
        (
            item("pointer_only", "extension_not_allowed"),
            OnDisk("found", "/a/notes.bin"),
            "No copy was taken (pointer only: files of this type are not copied); the file is there.",
        ),
        (item("missing"), OnDisk("found", "/a/notes.bin"), "There is a file now, and no copy"),
    ],
)
def test_a_file_without_a_copy(recorded: EvidenceItem, found: OnDisk, said: str) -> None:
    text, _ = Document(disk_blocks(recorded, found)).plain(10_000)
    assert said in text
    assert text.count("relative") == (1 if found.assumed else 0)

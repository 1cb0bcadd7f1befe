"""A source file has one sign and one size, wherever it is shown."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workbench.memory.events import Evidence
from workbench.memory.handoff_views import TaskFile
from workbench.tui.document import Document
from workbench.tui.evidence_viewer.head import head_lines
from workbench.tui.file_states import FILE_STATES, copy_size_words
from workbench.tui.handoffs.other_sides import evidence_rows
from workbench.workspace.artifact_state import Artifact
from workbench.workspace.evidence_item import EvidenceItem
from workbench.workspace.rows import EvidenceRow

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def in_viewer(status: str, kept: int | None) -> str:
    row = EvidenceRow(
        position=3,
        ordinal=0,
        path="notes.md",
        status=status,
        digest="a" * 64 if kept is not None else "",
        size=366,
        reason="",
        removed={},
        observation_id="o",
        recorded_at=NOW,
        private=False,
        withheld=False,
        domain="",
        project="",
        task_id="",
        agent="codex",
        text="said",
    )
    copy = None if kept is None else Artifact("a" * 64, "archived", size=kept)
    lines = head_lines(EvidenceItem(row, (row,), False, copy), 90, NOW, UTC, roomy=False)
    return "\n".join("".join(text for text, _ in line) for line in lines)


def in_list(status: str, kept: int | None) -> str:
    item = Evidence(path="notes.md", status=status, size=366)
    rows = evidence_rows([TaskFile(item, 3, "codex", NOW, True, kept)], 3, NOW)
    return "\n".join(Document(row.blocks).plain(1000)[0] for row in rows)


@pytest.mark.parametrize("status", ["archived", "pointer_only", "missing", "skipped"])
def test_a_state_has_one_sign_in_the_list_and_in_the_viewer(status: str) -> None:
    state = FILE_STATES[status]
    assert f"{state.sign} {state.word}" in in_viewer(status, None)
    drawn = in_list(status, None)
    assert f"{state.sign} notes.md" in drawn and state.word in drawn


def test_both_say_the_size_of_the_copy() -> None:
    assert copy_size_words(384, 366) in in_viewer("archived", 384)
    assert copy_size_words(384, 366) in in_list("archived", 384)
    assert "384" in copy_size_words(384, 366) and "was 366" in copy_size_words(384, 366)
    assert copy_size_words(366, 366) == copy_size_words(None, 366) == copy_size_words(366, None)

"""What a row of the list, and the side of source files, say of what came behind a checkpoint."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

from tests.tui.handoffs_probe import NOW
from tests.workspace.handoff_cases import Desk
from workbench.memory.handoff_views import Handoff
from workbench.tui.handoffs.handoff_rows import WAITING, mark_of
from workbench.tui.handoffs.other_sides import evidence_rows
from workbench.tui.present import Span
from workbench.workspace.rows import HandoffFilter

TASK = "atlas/importer"


def row_of(desk: Desk) -> Handoff:
    (row,) = desk.workspace.readers.handoffs.page(HandoffFilter(), 5).rows
    return row


def test_what_was_accepted_and_waits_again_is_marked_as_waiting(tmp_path: Path) -> None:
    with Desk(tmp_path / "w") as desk:
        checkpoint = desk.hand_off(TASK, "Ship it")
        assert mark_of(row_of(desk)) == WAITING
        desk.workspace.review("checkpoint", checkpoint, "accepted")
        assert mark_of(row_of(desk)) == Span("✓", "success")
        later = desk.entry(TASK, "Something that is not ours")
        desk.workspace.memory.quarantine(later.observation_id, reason="foreign", by="ada")
        row = row_of(desk)
        assert row.waits and mark_of(row) == WAITING


def test_files_stand_with_the_checkpoint_that_they_came_with(tmp_path: Path) -> None:
    for name in ("one.txt", "two.txt", "three.txt"):
        (tmp_path / name).write_text(name)
    with chdir(tmp_path), Desk(tmp_path / "w") as desk:

        def headings() -> list[str]:
            row = row_of(desk)
            rows = evidence_rows(desk.workspace.readers.handoffs.files(row.position), row.position, NOW)
            return [
                f"{key[1]}" if key[0] == "heading" else Path(key[2]).name
                for key in (each.key for each in rows)
                if isinstance(key, tuple)
            ]

        desk.hand_off(TASK, "Begin", source_files=["one.txt"])
        assert headings() == ["With this checkpoint", "one.txt"]
        desk.hand_off(TASK, "Go on", source_files=["two.txt"])
        desk.entry(TASK, "A look at it", source_files=["three.txt"])
        assert headings() == [
            "Since this checkpoint",
            "three.txt",
            "With this checkpoint",
            "two.txt",
            "Earlier",
            "one.txt",
        ]

"""The forms in which a hand-off, or a line of it, can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from workbench.memory.handoff_views import Handoff
from workbench.memory.views import Checkpoint
from workbench.tui.copying import CopyChoice
from workbench.tui.handoffs.checkpoint_side import TITLES
from workbench.tui.handoffs.desk_rows import (
    CheckpointPick,
    FactPick,
    FilePick,
    LinePick,
    ObservationPick,
    Pick,
)
from workbench.tui.handoffs.handoff_pane import startup_command
from workbench.tui.present import counted

if TYPE_CHECKING:
    from workbench.workspace import Workspace


def handoff_copies(
    workspace: Workspace, selected: Sequence[Handoff], row: Handoff | None, pick: Pick | None
) -> list[CopyChoice]:
    """The selected tasks; else the line under the cursor, and the task; long texts are read when chosen."""
    if selected:
        title = counted(len(selected), "task")
        return [
            CopyChoice(
                f"{title}: ids of the checkpoints", "\n".join(each.checkpoint_id for each in selected)
            ),
            CopyChoice(f"{title} as JSON lines", lambda: "".join(_json(each) + "\n" for each in selected)),
            CopyChoice(
                f"{title}: startup commands",
                "\n".join(startup_command(each, workspace.root) for each in selected),
            ),
        ]
    if row is None:
        return []
    task = row

    def checkpoint() -> Checkpoint:
        found = workspace.readers.handoffs.checkpoint(task.position).carrier.checkpoint
        assert isinstance(found, Checkpoint)
        return found

    return [
        *_of_line(pick),
        CopyChoice("id of the checkpoint", row.checkpoint_id),
        CopyChoice("text of the checkpoint", lambda: checkpoint_text(checkpoint())),
        CopyChoice(
            "JSON of the checkpoint",
            lambda: msgspec.json.format(msgspec.json.encode(checkpoint()), indent=2).decode(),
        ),
        CopyChoice("task", f"{row.project}/{row.task_id}"),
        CopyChoice("startup command", startup_command(row, workspace.root)),
    ]


def _of_line(pick: Pick | None) -> list[CopyChoice]:
    match pick:
        case LinePick():
            return [CopyChoice("text of the line", pick.text)]
        case ObservationPick() if pick.observation_id:
            return [
                CopyChoice("text of the entry", pick.text),
                CopyChoice("id of the entry", pick.observation_id),
            ]
        case FactPick():
            return [CopyChoice("fact", pick.text), CopyChoice("id of the fact", pick.fact_id)]
        case FilePick():
            digest = pick.evidence.sha256
            found = [CopyChoice("path", pick.evidence.path)]
            return [*found, CopyChoice("SHA-256", digest)] if isinstance(digest, str) else found
        case CheckpointPick():
            return [CopyChoice("id of that checkpoint", pick.checkpoint_id)]
        case _:
            return []


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """A checkpoint as plain text, for a message to a colleague."""
    parts = [f"Goal: {checkpoint.goal}"]
    for name, title in TITLES.items():
        lines = getattr(checkpoint, name)
        if lines:
            parts.append("\n".join((f"{title}:", *(f"- {line}" for line in lines))))
    return "\n\n".join(parts) + "\n"


def _json(row: Handoff) -> str:
    return msgspec.json.encode(row._asdict()).decode()

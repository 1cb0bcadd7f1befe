"""The forms in which events can be copied."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from workbench.tui.copying import CopyChoice
from workbench.tui.present import counted
from workbench.tui.timeline.detail import json_line, json_text
from workbench.tui.timeline.event_words import body_of
from workbench.workspace.rows import EventRow

if TYPE_CHECKING:
    from workbench.workspace import Workspace


def event_copies(
    workspace: Workspace | None, root: Path, selected: Sequence[EventRow], cursor: EventRow | None
) -> list[CopyChoice]:
    """The selected events as JSON lines, or the forms of the one under the cursor; read when chosen."""

    def whole(row: EventRow) -> EventRow:
        if row.whole or workspace is None:
            return row
        return workspace.readers.timeline.event(row.position) or row

    rows = sorted(selected, key=lambda row: row.position)
    if rows:
        title = counted(len(rows), "event")
        return [
            CopyChoice(
                f"{title} as JSON lines", lambda: "".join(json_line(whole(row)) + "\n" for row in rows)
            ),
            CopyChoice(f"{title}: texts", lambda: "\n\n".join(body_of(whole(row)) for row in rows)),
            CopyChoice(f"{title}: ids", "\n".join(row.event_id for row in rows)),
        ]
    if cursor is None:
        return []
    event = cursor
    return [
        CopyChoice("id", event.event_id),
        CopyChoice("text", lambda: body_of(whole(event))),
        CopyChoice("JSON", lambda: json_text(whole(event))),
        CopyChoice("position", str(event.position)),
        CopyChoice(
            "command",
            f"workbench timeline --root {quote(str(root))} --after {event.position - 1} --limit 1 "
            "--format json",
        ),
    ]

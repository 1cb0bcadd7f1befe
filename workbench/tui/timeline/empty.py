"""What the Timeline says where it has no events to show."""

from __future__ import annotations

from pathlib import Path

from workbench.tui import in_shell
from workbench.tui.present import Line, Span
from workbench.workspace.rows import TimelineFilter


def empty_lines(wanted: TimelineFilter, clear: str, root: Path) -> list[Line]:
    """What would bring events here; `clear` is the key that clears the filter."""
    if wanted:
        return [
            (),
            (Span("No event matches the filter", "strong"),),
            (Span(clear, "accent"), Span(" shows every event again.", "dim")),
        ]
    return [
        (),
        (Span("No events yet", "strong"),),
        (Span("Whatever is recorded appears here at once.", "dim"),),
        (),
        *(() if in_shell.is_usual(root) else ((Span(f"{in_shell.where(root)}:", "dim"),),)),
        (Span("To bring in transcripts:", "dim"),),
        (Span("workbench import claude-code", "ink"),),
        (Span("To record an entry:", "dim"),),
        (Span("workbench sessions record --help", "ink"),),
    ]

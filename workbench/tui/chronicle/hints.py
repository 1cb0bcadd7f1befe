"""What the Chronicle screen says while there is nothing to show."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.tui.document import Blank, Block, Heading, Paragraph
from workbench.tui.in_shell import filling_blocks, filling_lines
from workbench.tui.present import Line, Span

FILLING = (
    ("workbench chronicle consolidate", "writes up what is closed"),
    ("workbench chronicle status", "says how far each chronicle is"),
)
"""Commands that have to do with an empty screen, and what each does."""

_ARGUMENTS = r"(?: (?:'[^']*'|[^;\s])+)*"
_KEYS = (
    (rf"with: workbench chronicle reconsolidate{_ARGUMENTS}", "chronicle.again"),
    (rf"with: workbench chronicle consolidate{_ARGUMENTS}", "chronicle.consolidate"),
)


def hint_with_keys(hint: str, shown: Callable[[str], str]) -> str:
    """A hint with keys in the place of commands that they run; `shown` gives the key of an action."""
    for said, action in _KEYS:
        hint = re.sub(said, f"with the key {shown(action)}", hint)
    return hint


def empty_lines(wanted: str, key: str, root: Path, *, past: bool) -> Sequence[Line]:
    """What an empty list says; `key` clears the filter."""
    if wanted:
        return (
            (),
            (Span("  No prose has these words", "strong"),),
            (Span("  Every word has to be in the", "dim"),),
            (Span("  prose of one current section,", "dim"),),
            (Span("  the last as a beginning.", "dim"),),
            (Span(f"  {key}", "accent"), Span(" shows all chronicles.", "dim")),
        )
    if past:
        return ((), (Span("  No section was written then", "strong"),))
    return (
        (),
        (Span("  Nothing to write up yet", "strong"),),
        (),
        *filling_lines(FILLING, root),
    )


def guidance(root: Path) -> list[Block]:
    """What the detail says while there is no chronicle; its commands are for the workspace at `root`."""
    return [
        Heading("Nothing here yet", role="strong"),
        Blank(),
        Paragraph(
            "A chronicle tells a long session or task in sections. Each stands for the events of one closed "
            "stretch: a task's up to a checkpoint, a session's up to the end of a unit. Its prose is "
            "advisory; the events that it cites are one key away."
        ),
        Blank(),
        Paragraph("A task without a checkpoint, or a session without an ended unit, has nothing closed."),
        Blank(),
        Heading("In a shell"),
        *filling_blocks(FILLING, root),
    ]

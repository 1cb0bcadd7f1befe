"""What the Facts screen says in its list and detail while there is nothing to show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.tui.document import Blank, Block, Heading, Paragraph
from workbench.tui.in_shell import filling_blocks, filling_lines
from workbench.tui.present import Line, Span
from workbench.workspace.fact_rows import FactFilter

FILLING = (
    ("workbench record TEXT --fact-file FILE", "asserts one: slot, value, kind"),
    ("workbench facts", "lists them"),
)
"""Commands that have to do with an empty screen, and what each does."""


def empty_lines(
    wanted: FactFilter, back: str, clear: str, root: Path, *, past: bool = False
) -> Sequence[Line]:
    """What an empty list says, of now or of the past; `clear` is the key that clears the filter.

    `back` is the key that leaves the field of its words, which may still have the keys.
    """
    if wanted != FactFilter():
        lines: list[Line] = [(), (Span("  No fact matches the filter", "strong"),)]
        if wanted.only == "conflicts":
            lines.append((Span("  No two spellings of a slot disagree.", "dim"),))
        elif wanted.text:
            lines.append((Span("  Words are looked for in slot, value,", "dim"),))
            lines.append((Span("  project, task, domain and author.", "dim"),))
        first: Line = (Span(f"  {back}", "accent"), Span(", then ", "dim")) if wanted.text else (Span("  "),)
        return (*lines, (*first, Span(clear, "accent"), Span(" shows every fact again.", "dim")))
    if past:
        return ((), (Span("  No fact was known then", "strong"),))
    return (
        (),
        (Span("  No facts yet", "strong"),),
        (),
        *filling_lines(FILLING, root),
    )


def guidance(root: Path) -> list[Block]:
    """What the detail says while there is no fact."""
    return [
        Heading("Nothing here yet", role="strong"),
        Blank(),
        Paragraph(
            "A fact is what one slot of a project or task holds: “deploy.target = blue/green pair”. Agents "
            "assert facts as observed, as decisions or as assumptions; a new value names the one that it "
            "replaces, and the chain of them stays. Here you follow a fact to its origin, give a verdict, or "
            "decide it yourself."
        ),
        Blank(),
        Heading("In a shell"),
        *filling_blocks(FILLING, root),
    ]

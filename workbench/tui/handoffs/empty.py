"""What the Handoffs screen says where it has no tasks to show."""

from __future__ import annotations

from pathlib import Path

from workbench.tui import in_shell
from workbench.tui.present import Line, Span
from workbench.workspace.rows import HandoffFilter


def empty_lines(wanted: HandoffFilter, back: str, clear: str, closed: str, root: Path) -> list[Line]:
    """What would bring tasks here; `back`, `clear` and `closed` are keys."""
    again: Line = (Span(clear, "accent"), Span(" shows every open task.", "dim"))
    if wanted.text:
        # The field that the words were typed into may still have the keys.
        first: Line = (Span(back, "accent"), Span(", then ", "dim"))
        return [(), (Span("No task matches the filter", "strong"),), (*first, *again)]
    if wanted.waiting:
        return [
            (),
            (Span("✓ ", "success"), Span("Nothing waits for you", "strong")),
            (Span("You judged every open task.", "dim"),),
            again,
        ]
    if wanted.closed:
        return [(), (Span("Nothing was handed off yet", "strong"),), *_how(root)]
    return [
        (),
        (Span("No open task", "strong"),),
        (Span(closed, "accent"), Span(" shows closed ones, too.", "dim")),
        *_how(root),
    ]


def _how(root: Path) -> list[Line]:
    return [
        (),
        (Span("A checkpoint brings a task here.", "dim"),),
        (Span("Agents write them; so can you:", "dim"),),
        *(() if in_shell.is_usual(root) else ((Span(f"{in_shell.where(root)}:", "dim"),),)),
        (Span("workbench record --help", "ink"),),
        (Span("To look at an example:", "dim"),),
        (Span("workbench demo", "ink"),),
    ]


def filter_words(wanted: HandoffFilter) -> str:
    """What the list is narrowed to, or widened by, besides the words of its filter."""
    words = (
        "only what waits for you" if wanted.waiting else "",
        "closed tasks, too" if wanted.closed else "",
    )
    return " · ".join(word for word in words if word)

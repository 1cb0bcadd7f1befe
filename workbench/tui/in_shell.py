"""Commands for a shell, as an empty screen names them: entered as they stand, they mean this workspace."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from workbench.tui.document import Block, Paragraph
from workbench.tui.hints import tui_hint
from workbench.tui.present import Line, Span
from workbench.workspace.errors import ConfigurationError
from workbench.workspace.root import resolve_root

Filling = Sequence[tuple[str, str]]
"""Commands, and what each does."""


@lru_cache(8)
def is_usual(root: Path) -> bool:
    """Whether a command without --root means the workspace at `root`, where this program was started."""
    try:
        return resolve_root() == root
    except ConfigurationError:
        return False


def here(command: str, root: Path) -> str:
    """A command for the workspace at `root`, which it names where it would mean another one."""
    return command if is_usual(root) else tui_hint(command, root)


def where(root: Path) -> str:
    """Where a short command means the workspace at `root`: a list has no room for its path."""
    return "In a shell" if is_usual(root) else "In a shell, in its folder"


def filling_lines(filling: Filling, root: Path) -> list[Line]:
    """The commands in an empty list."""
    return [
        (Span(f"  {where(root)}:", "dim"),),
        *((Span(f"  {command}", "ink"),) for command, _ in filling),
    ]


def filling_blocks(filling: Filling, root: Path) -> list[Block]:
    """The commands in the detail, and what each does."""
    return [
        Paragraph((Span(here(command, root), "ink"), Span(f"  {what}", "dim")), indent=1)
        for command, what in filling
    ]

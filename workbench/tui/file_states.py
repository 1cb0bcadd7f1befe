"""What became of a source file, the same on every screen: its sign, its word and how large it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from workbench.tui.present import Role, Span, size


class FileState(NamedTuple):
    """How a state is drawn."""

    sign: str
    word: str
    role: Role

    @property
    def mark(self) -> Span:
        """The sign, as it stands before words."""
        return Span(self.sign, self.role)


FILE_STATES: Mapping[str, FileState] = {
    "archived": FileState("✓", "archived", "success"),
    "pointer_only": FileState("◌", "pointer only", "dim"),
    "missing": FileState("!", "missing", "warning"),
    "skipped": FileState("!", "skipped", "warning"),
    "purged": FileState("◌", "purged", "dim"),
    "lost": FileState("✗", "copy missing", "error"),
    "damaged": FileState("✗", "damaged", "error"),
    "unreadable": FileState("✗", "unreadable", "error"),
    "unknown": FileState("!", "unknown", "warning"),
}
"""By the state's name in a record, or the one that was found."""


def file_state(status: str) -> FileState:
    """How a state is drawn; one that nobody knows under its own name."""
    return FILE_STATES.get(status) or FileState("!", status.replace("_", " "), "warning")


def copy_size_words(kept: int | None, was: int | None) -> str:
    """The size of the copy, and that of the file where it was another; "" where neither is known.

    What was removed leaves marks: the copy may well be the longer one.
    """
    if kept is None:
        return "" if was is None else size(was)
    own = size(kept)
    original = own if was is None else size(was)
    return own if own == original else f"{own} (was {original})"

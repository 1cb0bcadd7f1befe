"""What was said of the command as a whole, and the workspace that follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Given:
    """The options that hold for the whole command line; of two, the last one counts."""

    __slots__ = ("format", "migrate", "root")

    def __init__(self) -> None:
        self.root: str | None = None
        self.format: str | None = None
        self.migrate = False

    @property
    def as_json(self) -> bool:
        """Whether the answer is one JSON object."""
        return self.format == "json"


def root_of(given: Given) -> Path:
    """The root of the workspace that the command is about; it need not exist.

    Raises `ConfigurationError` for a folder whose name SQLite could not be given.
    """
    from workbench.workspace.root import resolve_root

    root = resolve_root(given.root)
    try:
        str(root).encode()
    except UnicodeEncodeError:
        from workbench.workspace.errors import ConfigurationError

        raise ConfigurationError(
            f"the folder's name is not valid UTF-8: {root}", hint="rename it, or name another with --root"
        ) from None
    return root

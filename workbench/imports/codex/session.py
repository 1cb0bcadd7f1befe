"""A rollout as one stream of placed items, for whoever reads transcripts of several kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from workbench.imports.claude_code.session import FileItem, FileUnreadable
from workbench.imports.codex.reader import read_rollout
from workbench.imports.codex.state import RolloutState


def read_session(
    path: Path, *, owner: str, state: RolloutState | None = None, settled: bool = True
) -> Iterator[FileItem | FileUnreadable]:
    """The items of a rollout (see `read_rollout`), each with its file; a file that cannot be read to its end
    is one more item."""
    try:
        for item in read_rollout(path, owner=owner, state=state, settled=settled):
            yield FileItem(path, item)
    except OSError as problem:
        yield FileUnreadable(path, problem.strerror or type(problem).__name__)

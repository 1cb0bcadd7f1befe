"""The one place where screens open a source file of shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.tui.shell import Shell
    from workbench.workspace.readers.event_links import FileLink


def view_evidence(app: Shell, position: int, file: FileLink) -> None:
    """Show a source file that the event at a position names."""
    from workbench.tui.evidence_viewer import open_evidence

    open_evidence(app, sha256=file.sha256, path=file.path, position=position)

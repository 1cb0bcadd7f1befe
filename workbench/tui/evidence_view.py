"""The one place where screens open a source file of shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.present import number, visible

if TYPE_CHECKING:
    from workbench.tui.shell import Shell
    from workbench.workspace.readers.event_links import FileLink


def view_evidence(app: Shell, position: int, file: FileLink) -> None:
    """Show a source file that the event at a position names."""
    copy = f"its copy has the digest {file.sha256[:16]}…" if file.sha256 else "there is no copy of it"
    status = file.status.replace("_", " ")
    app.notify(f"Event {number(position)} names {visible(file.path)}: {status}; {copy}.")

"""The one way into the evidence viewer, from wherever evidence is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.tui.shell import Shell


def open_evidence(app: Shell, *, sha256: str = "", path: str = "", position: int | None = None) -> None:
    """Show one piece of evidence over the screen: by its copy's digest, by its path as recorded, or both.

    `position` is that of an event, where it is known: of several records its own is meant. Alone it
    shows the first file of that observation, or of the one that made that fact or checkpoint; the others are
    a key away. Does nothing while no workspace is open. What cannot be shown, the viewer says.
    """
    from workbench.tui.evidence_viewer.viewer import EvidenceViewer

    if app.workspace is not None:
        app.push_screen(EvidenceViewer(app.workspace, sha256=sha256, path=path, position=position))

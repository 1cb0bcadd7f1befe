"""From a fact to the files behind it: the one place where the evidence viewer is opened from here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from workbench.tui.failures import Failure

if TYPE_CHECKING:
    from workbench.memory.events import Evidence
    from workbench.tui.shell import Shell

_WHY = {
    "missing": "The file was not there when the fact was recorded.",
    "skipped": "The file was named, and no copy was kept.",
    "pointer_only": "Only the path was kept, no copy.",
    "purged": "A copy was kept once; a person had it removed since.",
}


def open_evidence(app: Shell, each: Evidence) -> None:
    """Show a file that was given as evidence, or say why there is no copy to show."""
    from workbench.tui.dialogs.message import MessageDialog

    why = _WHY.get(each.status, "A copy is kept beside the log.")
    reason = "" if each.reason is UNSET else f" {each.reason}"
    digest = "" if each.sha256 is UNSET else f"SHA-256 {each.sha256}"
    app.push_screen(MessageDialog(Failure(each.path, f"{why}{reason}", digest)))

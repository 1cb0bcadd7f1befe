"""A workspace as a whole: layout, manifest, the façade, and what the faces read.

`Workspace` loads on first use: whoever needs the rows' types only does not pay for the log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.workspace.workspace import Workspace

__all__ = ["Workspace"]


def __getattr__(name: str) -> Any:
    if name == "Workspace":
        from workbench.workspace.workspace import Workspace

        return Workspace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Chronicle Workbench: one local workspace that agents write to and a person reviews in a terminal.

The names below are the library's whole surface; they load on first use, so that `import workbench`
costs a program that needs one of them nothing for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.release import __version__

if TYPE_CHECKING:
    from workbench.errors import WorkbenchError
    from workbench.sessions.model import ActorKind, Actum, ActumKind, Chronicum
    from workbench.workspace import Workspace

__all__ = ["ActorKind", "Actum", "ActumKind", "Chronicum", "WorkbenchError", "Workspace", "__version__"]

_HOMES = {
    "ActorKind": "workbench.sessions.model",
    "Actum": "workbench.sessions.model",
    "ActumKind": "workbench.sessions.model",
    "Chronicum": "workbench.sessions.model",
    "WorkbenchError": "workbench.errors",
    "Workspace": "workbench.workspace",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)

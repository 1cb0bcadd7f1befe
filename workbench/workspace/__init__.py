"""A workspace as a whole: layout, manifest, the façade, and what the faces read."""

from workbench.workspace.workspace import Workspace

__all__ = ["Workspace"]

"""The manifest: what a person says about a workspace (contract workspace, "Manifest").

`read_manifest` for one look, `ManifestFile` for a program that goes on while the file is edited.
tree-sitter, which knows lines and spans, loads only where something is wrong or to be spliced.
"""

from workbench.workspace.manifest.manifest_file import ManifestFile
from workbench.workspace.manifest.model import Manifest
from workbench.workspace.manifest.problems import Problem
from workbench.workspace.manifest.reading import read_manifest
from workbench.workspace.manifest.zones import is_timezone, local_timezone, user_name

__all__ = [
    "Manifest",
    "ManifestFile",
    "Problem",
    "is_timezone",
    "local_timezone",
    "read_manifest",
    "user_name",
]

"""What can be wrong with a workspace as a whole."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class ConfigurationError(WorkbenchError):
    """The workspace, its manifest or the environment does not say what the program needs."""

    code = "configuration"
    exit_code = 2


class WorkspaceMissing(ConfigurationError):
    """There is no workspace at the resolved root."""

    code = "workspace_missing"


class ManifestError(ConfigurationError):
    """The manifest cannot be read; the message names file, line and key."""

    code = "manifest"


class Cancelled(WorkbenchError):
    """The person or the program stopped a long call; what was committed before stays."""

    code = "cancelled"

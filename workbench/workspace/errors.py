"""What can be wrong with a workspace as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.workspace.manifest.problems import Problem


class ConfigurationError(WorkbenchError):
    """The workspace, its manifest or the environment does not say what the program needs."""

    code = "configuration"
    exit_code = 2


class WorkspaceMissing(ConfigurationError):
    """There is no workspace at the resolved root."""

    code = "workspace_missing"


class ManifestError(ConfigurationError):
    """The manifest cannot be read; the message names file, line and key of what comes first."""

    code = "manifest"

    def __init__(self, message: str = "", *, hint: str = "", problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = problems
        """All that is wrong, warnings among it, in the order of lines."""


class Cancelled(WorkbenchError):
    """The person or the program stopped a long call; what was committed before stays."""

    code = "cancelled"

"""What can be wrong with declared names."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class NamesError(WorkbenchError):
    """Declared names contradict each other, or are no names."""

    code = "names"
    exit_code = 2

"""Where the files live that ship with the program but are not code (themes, sample workspaces)."""

from __future__ import annotations

from pathlib import Path

from workbench.errors import WorkbenchError


class DataMissing(WorkbenchError):
    """A folder that ships with the program is in neither place it may stand in."""

    code = "data_missing"


def data_folder(name: str) -> Path:
    """The folder `name` of shipped data.

    An installed wheel carries it as `workbench/_data/<name>`; a checkout has it beside the package.
    Raises `DataMissing` where neither is a folder.
    """
    package = Path(__file__).resolve().parent
    for place in (package / "_data" / name, package.parent / name):
        if place.is_dir():
            return place
    raise DataMissing(
        f"The folder “{name}” that ships with the program is missing.",
        hint="Install chronicle-workbench again.",
    )

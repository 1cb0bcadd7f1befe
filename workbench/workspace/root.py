"""Which workspace is meant (contract workspace, "Root")."""

from __future__ import annotations

import os
from pathlib import Path

from workbench.workspace.errors import ConfigurationError
from workbench.workspace.layout import MANIFEST_NAME, current_folder, place_of

_TRUE = {"1", "true", "yes", "on"}


def resolve_root(root: str | Path | None = None, manifest: str | Path | None = None) -> Path:
    """The root of the workspace that a command is about; it need not exist.

    In this order: `root`, `$CHRONICLE_ROOT`, the folder of `manifest`, the folder of
    `$CHRONICLE_MANIFEST`, the nearest folder at or above the current one that holds a manifest,
    the user's data folder. With `$CHRONICLE_REQUIRE_ROOT` set the last two are a
    `ConfigurationError` instead, and so is a current folder that is gone where it would count.
    """
    named = root or os.environ.get("CHRONICLE_ROOT")
    if named:
        return place_of(named)
    file = manifest or os.environ.get("CHRONICLE_MANIFEST")
    if file:
        return place_of(file).parent
    if os.environ.get("CHRONICLE_REQUIRE_ROOT", "").casefold() in _TRUE:
        raise ConfigurationError(
            "no workspace was named, and CHRONICLE_REQUIRE_ROOT asks for one",
            hint="name it with --root or CHRONICLE_ROOT",
        )
    here = current_folder()
    for folder in (here, *here.parents):
        # Unlike a path's own method it never raises, for a folder that is closed to us say.
        if os.path.isfile(folder / MANIFEST_NAME):  # noqa: PTH113
            return folder
    return data_folder()


def data_folder() -> Path:
    """The program's folder in the user's data directory."""
    from platformdirs import user_data_path

    return user_data_path("chronicle-workbench", appauthor=False)

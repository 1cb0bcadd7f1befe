"""Opening the workspace that a command is about."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.errors import tell_waiting, telling_waits
from workbench.cli.options import Given, root_of

if TYPE_CHECKING:
    from workbench.workspace import Workspace


def open_workspace(given: Given, *, read_only: bool = True, examine: bool = False) -> Workspace:
    """The workspace that the command is about, open: a context manager. Raises what `open` raises.

    With `examine`, though its manifest cannot be used. A database of an older release is migrated first where
    the person asked for that.
    """
    from workbench.workspace.workspace import Workspace

    root = root_of(given)
    upgrade_if_asked(given, root)
    with telling_waits():
        workspace = Workspace.open(root, read_only=read_only, migrate=False, examine=examine)
    workspace.log.database.on_wait = lambda seconds: tell_waiting(seconds, _is_scrubbed(workspace))
    return workspace


def upgrade_if_asked(given: Given, root: Path) -> None:
    """Migrate an older database if `--migrate` or `$CHRONICLE_AUTO_MIGRATE` says so; tell of it on stderr.

    Raises what `Workspace.migrate` raises.
    """
    from workbench.workspace.opening import may_upgrade

    # A shell that completes a word runs the program as well.
    if "_WORKBENCH_COMPLETE" in os.environ or not may_upgrade(True if given.migrate else None):
        return
    from workbench.cli.migrate import upgrade
    from workbench.storage.errors import DatabaseReadOnly

    try:
        upgrade(given, root)
    except DatabaseReadOnly:
        # The variable is for all workspaces; of one that cannot be written the command says what it needs.
        if given.migrate:
            raise


def _is_scrubbed(workspace: Workspace) -> bool:
    from workbench.errors import WorkbenchError

    try:
        return workspace.jobs.being_scrubbed()
    except WorkbenchError:
        return False

"""The steps from each schema of a workspace's database to the next: one numbered SQL file each.

A file `NNNN_name.sql` begins with a comment that tells a person in one sentence what it brings. It
changes what is not folded from the log: projections are built from the events once its statements
have run. A new file is laid out by today's statements instead, and both ways must end in the same
layout.
"""

from __future__ import annotations

from pathlib import Path

from workbench.storage.history import History

HISTORY = History.load(Path(__file__).parent)

SCHEMA_VERSION = HISTORY.version
"""The schema that this release works with."""

RETIRED: dict[str, tuple[str, ...]] = {}
"""By projection, the tables of its earlier versions that it no longer has; those of one that is gone."""

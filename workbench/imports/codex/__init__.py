"""Codex rollouts: from the bytes of JSONL files to typed items, without a database.

`discover` names the files, `read_session` turns one into a stream of items.
"""

from workbench.imports.codex.acta import SOURCE
from workbench.imports.codex.discover import config_folder, discover
from workbench.imports.codex.reader import has_settled, read_rollout
from workbench.imports.codex.session import read_session
from workbench.imports.codex.state import RolloutState, copy_rollout

__all__ = [
    "SOURCE",
    "RolloutState",
    "config_folder",
    "copy_rollout",
    "discover",
    "has_settled",
    "read_rollout",
    "read_session",
]

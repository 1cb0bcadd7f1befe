"""Codex rollouts: from the bytes of JSONL files to typed items, without a database.

`discover` names the files, `read_rollout` turns one into a stream of items.
"""

from workbench.imports.codex.acta import SOURCE
from workbench.imports.codex.discover import config_folder, discover
from workbench.imports.codex.reader import read_rollout
from workbench.imports.codex.state import RolloutState

__all__ = ["SOURCE", "RolloutState", "config_folder", "discover", "read_rollout"]

"""The folders of one user: configuration, state and the log file. Nothing is created by asking.

`WORKBENCH_CONFIG_DIR` and `WORKBENCH_STATE_DIR` override the platform's own places.
"""

from __future__ import annotations

import os
from pathlib import Path

APP_NAME = "chronicle-workbench"


def config_dir() -> Path:
    """Where `keymap.toml` and `themes/` of the user are."""
    override = os.environ.get("WORKBENCH_CONFIG_DIR")
    if override:
        return Path(override).expanduser()
    from platformdirs import user_config_path

    return user_config_path(APP_NAME, appauthor=False)


def state_dir() -> Path:
    """Where the program keeps what it remembers between two runs."""
    override = os.environ.get("WORKBENCH_STATE_DIR")
    if override:
        return Path(override).expanduser()
    from platformdirs import user_state_path

    return user_state_path(APP_NAME, appauthor=False)


def log_file() -> Path:
    """The file that receives the details of an unexpected error."""
    return state_dir() / "workbench.log"


def keymap_file() -> Path:
    """The user's remapping of keys."""
    return config_dir() / "keymap.toml"


def themes_dir() -> Path:
    """The user's own themes."""
    return config_dir() / "themes"

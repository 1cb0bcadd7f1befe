"""The sealed world of the terminal program's tests: no user's files, no colours of the caller, one clock."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def sealed_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, state and terminal of the person who runs the tests do not reach them."""
    monkeypatch.setenv("WORKBENCH_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("WORKBENCH_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TZ", "UTC")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for name in (
        "NO_COLOR",
        "TMUX",
        "SSH_TTY",
        "SSH_CONNECTION",
        "TEXTUAL_THEME",
        "TEXTUAL_FILTERS",
        "TEXTUAL",
    ):
        monkeypatch.delenv(name, raising=False)
    if hasattr(time, "tzset"):
        time.tzset()


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that other users may enter: pytest's own are closed to them."""
    made = Path(tempfile.mkdtemp(prefix="workbench-tui-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)

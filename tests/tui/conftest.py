"""The sealed world of the terminal program's tests: no user's files, no colours of the caller, one clock."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import textual.app
import textual.css.stylesheet
import textual.pilot
from textual._compositor import Compositor
from textual._context import active_app
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
from textual.screen import Screen

SOON = 0.02
"""How near a timer is that is waited for: a little more than from one drawing of the screen to the next."""


WORKERS = 0.05
"""How long workers are waited for: one may wait for a lock that is held."""


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
    # As in a shell in the workspace's folder: no path of a test's own stands in what is drawn.
    monkeypatch.setattr("workbench.tui.in_shell.is_usual", lambda root: True)


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder that other users may enter: pytest's own are closed to them."""
    made = Path(tempfile.mkdtemp(prefix="workbench-tui-", dir="/tmp"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


async def _idle(min_sleep: float = 0, max_sleep: float = 1) -> None:
    """Wait until nothing is to be done at once: no callback, none that a timer soon brings, no worker.

    In place of Textual's own, which sleeps until the process used no time: a test that presses ten keys
    slept for half a second, and on a busy machine it went on too early.
    """
    loop: Any = asyncio.get_running_loop()
    began = loop.time()
    until = began + max_sleep
    while loop.time() < until:
        for _ in range(3):
            await asyncio.sleep(0)
        if loop._ready:
            continue
        app = active_app.get(None)
        if (
            loop.time() < began + WORKERS
            and app is not None
            and not all(worker.is_finished for worker in app.workers)
        ):
            await asyncio.sleep(0.002)
            continue
        soon = loop.time() + SOON
        due = [each.when() for each in loop._scheduled if not each.cancelled() and each.when() < soon]
        if not due:
            return
        await asyncio.sleep(max(0.0, min(due) - loop.time()))


textual.app.wait_for_idle = _idle  # type: ignore[attr-defined]
textual.pilot.wait_for_idle = _idle  # type: ignore[attr-defined]


_parse_rules: Any = Stylesheet._parse_rules
_parsed: dict[Any, Any] = {}


def _parse_once(
    self: Any, css: str, read_from: Any, is_default_rules: bool = False, tie_breaker: int = 0, scope: str = ""
) -> Any:
    """The rules of a style sheet: with the same variables every program of a run has the same."""
    given = (css, read_from, is_default_rules, tie_breaker, scope)
    key = (given, tuple(self._variables.items()))
    if key not in _parsed:
        _parsed[key] = _parse_rules(self, *given)
    return _parsed[key]


Stylesheet._parse_rules = _parse_once  # type: ignore[method-assign]


_stylesheets: Any = textual.css.stylesheet
_tokenize_values = _stylesheets.tokenize_values
_tokens: dict[tuple[tuple[str, str], ...], dict[str, Any]] = {}


def _tokenize_once(values: dict[str, str]) -> dict[str, Any]:
    """The variables of a theme in tokens: every program of a run begins with the same."""
    key = tuple(values.items())
    if key not in _tokens:
        _tokens[key] = _tokenize_values(values)
    return dict(_tokens[key])


_stylesheets.tokenize_values = _tokenize_once


_refresh_screen: Any = Screen._compositor_refresh
_render_chops: Any = Compositor._render_chops
_unseen = False
"""What is drawn now goes to a terminal that is none."""


def _refresh_unseen(self: Screen[Any]) -> None:
    """A repaint of a program without a terminal: Textual throws away what comes of it."""
    global _unseen
    _unseen = self.app.is_headless
    try:
        _refresh_screen(self)
    finally:
        _unseen = False


def _draw_widgets(self: Compositor, crop: Region, is_rendered_line: Callable[[int], bool]) -> Any:
    """Draw the widgets, as on every repaint; put their lines together only where somebody looks at them."""
    global _unseen
    if not _unseen:
        return _render_chops(self, crop, is_rendered_line)
    # A dialog draws the screen below it from that one's lines, and keeps them.
    _unseen = False
    for _ in self._get_renders(crop):
        pass
    return []


Screen._compositor_refresh = _refresh_unseen  # type: ignore[method-assign]
Compositor._render_chops = _draw_widgets  # type: ignore[method-assign]

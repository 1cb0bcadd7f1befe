"""What Textual has no public way for, in one place."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App

ENDING_SIGNALS = ("SIGTERM", "SIGHUP")


def end_on_signals(leave: Callable[[int], None]) -> None:
    """Call `leave(128 + signal)` when the process is asked to end.

    Textual restores the terminal only on its own exit; the default action of these signals would
    leave the alternate screen, mouse reports and bracketed paste on.
    """
    loop = asyncio.get_running_loop()
    for name in ENDING_SIGNALS:
        number = getattr(signal, name, None)
        if number is None:
            continue
        # Not in the main thread, or no signal handlers on this platform: the default action stands.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, leave, 128 + number)


def capture_mouse_reports(app: App[Any], capture: bool) -> None:
    """Take the mouse, or leave it to the terminal so that its own selection works."""
    driver = app._driver
    name = "_enable_mouse_support" if capture else "_disable_mouse_support"
    switch = getattr(driver, name, None)
    if switch is not None:
        switch()
        flush = getattr(driver, "flush", None)
        if flush is not None:
            flush()

"""What Textual has no public way for, in one place."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App
    from textual.driver import Driver

ENDING_SIGNALS = ("SIGTERM", "SIGHUP")

HANGUP = 129
"""What a program returns that ended because its terminal is gone."""

GRACE_SECONDS = 8.0
"""How long a program that was told to end may take: longer than saving and closing ever do together."""


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
            loop.add_signal_handler(number, _leave, leave, 128 + number)


def _leave(leave: Callable[[int], None], return_code: int) -> None:
    """Leave in an orderly way, and after a while in any."""
    _end_at_last(return_code)
    leave(return_code)


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


class _MortalTerminal:
    """The terminal as a file that takes everything once it is dead, and tells of its death once."""

    def __init__(self, file: IO[str], died: Callable[[], object]) -> None:
        self._file = file
        self._died = died
        self._dead = False

    def write(self, text: str) -> int:
        """Write, while there is anything to write to."""
        return self._try(lambda: self._file.write(text)) or len(text)

    def flush(self) -> None:
        """Flush, while there is anything to flush to."""
        self._try(self._file.flush)

    def _try(self, act: Callable[[], int | None]) -> int | None:
        if not self._dead:
            try:
                return act()
            except (OSError, ValueError):
                self._dead = True
                self._died()
        return None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def mortal(driver_class: type[Driver], leave: Callable[[int], None]) -> type[Driver]:
    """A driver whose terminal may die: `leave(129)` is then called on the loop that it was made on.

    No signal need come, for the program may not be in its session's foreground. Textual's thread that writes
    ends with the first error, and nobody empties its queue any more: whoever writes next, or waits for the
    thread, would wait for ever.
    """

    def died(loop: asyncio.AbstractEventLoop) -> None:
        # A loop that is closed has left already.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_leave, leave, HANGUP)

    class MortalDriver(driver_class):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            file = getattr(self, "_file", None)
            if file is not None:
                loop = asyncio.get_running_loop()
                self._file = _MortalTerminal(file, lambda: died(loop))

    return MortalDriver


def _end_at_last(return_code: int) -> None:
    """End the process in a while, whatever it waits for then: a terminal that takes no more, a disk."""

    def end() -> None:
        os._exit(return_code)

    watchdog = threading.Timer(GRACE_SECONDS, end)
    watchdog.daemon = True
    watchdog.start()

"""Ctrl-C, and being asked to end, during a long command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbench.cli.streams import end_line

_ENDING = ("SIGTERM", "SIGHUP")
_taken: list[int] = []
"""What asked the command to end, in order; Ctrl-C is not among it."""


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Lend what tells whether Ctrl-C was pressed in the block; pressed again, it stops the block at once.

    SIGTERM and SIGHUP count as Ctrl-C, but for a program that was started to ignore them (nohup), and the
    command ends with their code, see `ended_with`.
    """
    asked: list[int] = []

    def ask(number: int, frame: Any) -> None:
        if number != signal.SIGINT:
            _taken.append(number)
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        end_line()

    before: dict[int, Any] = {}
    try:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, ask)
        for name in _ENDING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                before[number] = signal.signal(number, ask)
    except ValueError:
        # Signals belong to the main thread; elsewhere nobody presses Ctrl-C.
        yield lambda: False
        return
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ended_with(code: int, stopped: int) -> int:
    """A command's exit code; 128 + the signal's number in the place of `stopped`, if one asked it to end.

    143 for SIGTERM and 129 for SIGHUP, as a shell says it of any program.
    """
    first, _taken[:] = _taken[:1], []
    return 128 + first[0] if first and code == stopped else code

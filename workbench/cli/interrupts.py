"""Ctrl-C during a long command."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbench.cli.streams import end_line


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Lend what tells whether Ctrl-C was pressed in the block; pressed again, it stops the block at once."""
    asked: list[int] = []

    def ask(number: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        end_line()

    try:
        before = signal.signal(signal.SIGINT, ask)
    except ValueError:
        # Signals belong to the main thread; elsewhere nobody presses Ctrl-C.
        yield lambda: False
        return
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)

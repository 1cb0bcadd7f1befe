"""Long counts take turns, and rest as long as they worked: nobody who moves meanwhile waits for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock
from time import monotonic

LOOK_SECONDS = 0.05
"""Between two questions whether what rests or waits for its turn is still wished for."""


class Turns:
    """Among the counts that share one, at most one works at a time. For worker threads."""

    def __init__(self) -> None:
        self._lock = Lock()

    @contextmanager
    def taking(self) -> Iterator[Callable[[Callable[[], bool]], bool]]:
        """Gives what is called before each portion of a count, with whether the count is still wished for.

        It rests as long as the portion before it took, waits for a turn, and answers false where nobody
        wishes for more.
        """
        began: float | None = None
        # Nobody sets it: to wait for it is to leave the processor to others.
        rest = Event()

        def portion(wished: Callable[[], bool]) -> bool:
            nonlocal began
            if began is not None:
                until = 2 * monotonic() - began
                began = None
                self._lock.release()
                while wished() and (left := until - monotonic()) > 0:
                    rest.wait(min(left, LOOK_SECONDS))
            while wished():
                if self._lock.acquire(timeout=LOOK_SECONDS):
                    began = monotonic()
                    return True
            return False

        try:
            yield portion
        finally:
            if began is not None:
                self._lock.release()

"""Taking turns at drawing: of two drivers of one chronicle the second waits, and then finds it done.

(contract log-and-chronicle, "Ours": two drivers at once)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import ClassVar

from workbench.chronicle.errors import ChronicleError

Lease = Callable[[str], AbstractContextManager[object]]
"""Holds a name for the length of a block, after waiting until nobody else does.

It keeps out whoever may draw for the same chronicle, in other programs too, and must come free when its
holder dies. Entering may take long and happen in another thread than leaving.
"""


class AlreadyConsolidating(ChronicleError):
    """A summarizer asked for the chronicle that it is writing for, and would wait for itself."""

    code: ClassVar[str] = "already_consolidating"


_HELD: ContextVar[frozenset[tuple[int, str]]] = ContextVar("held_leases", default=frozenset())
"""What the calling code holds, whatever thread or task it goes on in."""


class ThreadLease:
    """A lease among the threads of this process only: for a log that nobody else opens."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Hold the name, after waiting for it."""
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            yield


@contextmanager
def held(lease: Lease, log: object, name: str) -> Iterator[None]:
    """Hold a lease on something of `log`; `AlreadyConsolidating` instead of waiting for oneself."""
    key = _key(log, name)
    with lease(name):
        token = _HELD.set(_HELD.get() | {key})
        try:
            yield
        finally:
            _HELD.reset(token)


@asynccontextmanager
async def held_async(lease: Lease, log: object, name: str) -> AsyncIterator[None]:
    """As `held`, without keeping the loop from what else it does meanwhile."""
    key = _key(log, name)
    block = lease(name)
    # The loop must go on: whoever holds the lease may be another of its tasks.
    entering = asyncio.ensure_future(asyncio.to_thread(block.__enter__))
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(lambda entered: _leave(block, entered))
        raise
    token = _HELD.set(_HELD.get() | {key})
    try:
        yield
    finally:
        _HELD.reset(token)
        block.__exit__(None, None, None)


def _key(log: object, name: str) -> tuple[int, str]:
    key = (id(log), name)
    if key in _HELD.get():
        raise AlreadyConsolidating(
            f"{name} is being written by the very call that asks for it",
            hint="a summarizer reads the events that it is given, and consolidates nothing itself",
        )
    return key


def _leave(block: AbstractContextManager[object], entered: asyncio.Future[object]) -> None:
    """Give back what came when nobody waited for it any more."""
    if not entered.cancelled() and entered.exception() is None:
        block.__exit__(None, None, None)

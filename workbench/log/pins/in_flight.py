"""One at a time for each key, among the tasks of an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_Place = tuple[asyncio.AbstractEventLoop, str]


class InFlight:
    """Lets one task at a time draw a key; the others wait, and look again for what it left."""

    def __init__(self) -> None:
        self._turns: dict[_Place, tuple[asyncio.Lock, int]] = {}
        """By key the lock, and how many hold it or wait for it; nothing stays of a key nobody asks for."""

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """Wait for a key's turn, in the order of asking, and have it inside the block.

        A task that asks again for a key whose turn it has would wait for itself.
        """
        place = asyncio.get_running_loop(), key
        lock, waiting = self._turns.get(place, (None, 0))
        if lock is None:
            lock = asyncio.Lock()
        self._turns[place] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            _, waiting = self._turns.pop(place)
            if waiting > 1:
                self._turns[place] = lock, waiting - 1

"""The stores that every test of sessions runs on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from workbench.sessions import IdempotentStore, MemoryStore
from workbench.sessions.stores.sqlite import SQLiteStore

StoreMaker = Callable[[Path, ExitStack], IdempotentStore]
"""Makes a fresh, empty store that may keep files in the given empty folder; what must be closed goes on the stack."""


def _memory(folder: Path, open_stores: ExitStack) -> IdempotentStore:
    return MemoryStore()


def _sqlite(folder: Path, open_stores: ExitStack) -> IdempotentStore:
    store = SQLiteStore.open(folder / "sessions.db")
    open_stores.callback(store.close)
    return store


STORES: dict[str, StoreMaker] = {
    "memory": _memory,
    "sqlite": _sqlite,
}


@pytest.fixture(params=sorted(STORES))
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], IdempotentStore]]:
    """A function that gives another fresh, empty store at each call; all are closed after the test."""
    make = STORES[request.param]
    numbers = count(1)
    with ExitStack() as open_stores:

        def fresh() -> IdempotentStore:
            folder = tmp_path / f"store-{next(numbers)}"
            folder.mkdir()
            return make(folder, open_stores)

        yield fresh


@pytest.fixture
def store(new_store: Callable[[], IdempotentStore]) -> IdempotentStore:
    """One fresh, empty store."""
    return new_store()

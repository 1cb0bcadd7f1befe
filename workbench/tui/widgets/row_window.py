"""The part of a long list that is in memory: a bounded run of neighbouring rows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic

from workbench.tui.widgets.page_source import Page, PageSource, Row

PAGE_ROWS = 200
"""Rows asked for at a time."""
WINDOW_ROWS = 64 * PAGE_ROWS
"""Most rows held at a time."""


@dataclass(frozen=True, slots=True)
class Batch(Generic[Row]):
    """A page with all that the list needs to know about it, read off the UI thread."""

    page: Page[Row]
    keys: list[Hashable]
    fractions: list[float]
    first_position: int | None


def read_batch(source: PageSource[Row], page: Page[Row]) -> Batch[Row]:
    """A page and its rows' keys and places. Asks the source about the two ends only."""
    rows = page.rows
    keys = [source.key(row) for row in rows]
    if not rows:
        return Batch(page, keys, [], None)
    low, high = source.fraction(rows[0]), source.fraction(rows[-1])
    step = (high - low) / max(1, len(rows) - 1)
    return Batch(page, keys, [low + step * at for at in range(len(rows))], source.position(rows[0]))


class RowWindow(Generic[Row]):
    """Neighbouring rows in the list's order, each key once."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.keys: list[Hashable] = []
        self.fractions: list[float] = []
        self.at_start = False
        self.at_end = False
        self.first_position: int | None = None
        self._index: dict[Hashable, int] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, key: Hashable) -> int | None:
        """The index of the row with this key, if it is held."""
        if self._index is None:
            self._index = {key: at for at, key in enumerate(self.keys)}
        return self._index.get(key)

    def position(self, at: int) -> int | None:
        """The number of the row at an index in the whole list, from 1, if known."""
        return None if self.first_position is None else self.first_position + at

    def survivor(self, at: int, new_index: dict[Hashable, int]) -> int | None:
        """The new index of the row that was at an index, or of the next, or previous, that is still there."""
        ahead = range(at, min(at + PAGE_ROWS, len(self.keys)))
        for near in (*ahead, *range(at - 1, max(-1, at - PAGE_ROWS), -1)):
            found = new_index.get(self.keys[near])
            if found is not None:
                return found
        return None

    def replace(self, batch: Batch[Row]) -> None:
        """Hold this page and nothing else."""
        self.rows, self.keys = list(batch.page.rows), list(batch.keys)
        self.fractions = list(batch.fractions)
        self.at_start, self.at_end = batch.page.at_start, batch.page.at_end
        self.first_position = batch.first_position
        self._index = None

    def append(self, batch: Batch[Row]) -> int:
        """Add a page behind the last row; the result is how many rows were new."""
        fresh = self._fresh(batch)
        self.rows += [batch.page.rows[at] for at in fresh]
        self.keys += [batch.keys[at] for at in fresh]
        self.fractions += [batch.fractions[at] for at in fresh]
        self.at_end = batch.page.at_end
        self._index = None
        return len(fresh)

    def prepend(self, batch: Batch[Row]) -> int:
        """Add a page before the first row; the result is how many rows were new."""
        fresh = self._fresh(batch)
        self.rows[:0] = [batch.page.rows[at] for at in fresh]
        self.keys[:0] = [batch.keys[at] for at in fresh]
        self.fractions[:0] = [batch.fractions[at] for at in fresh]
        self.at_start = batch.page.at_start
        if self.first_position is not None:
            self.first_position = max(1, self.first_position - len(fresh))
        self._index = None
        return len(fresh)

    def drop_front(self, count: int) -> None:
        """Forget the first rows."""
        del self.rows[:count], self.keys[:count], self.fractions[:count]
        if count:
            self.at_start = False
            self._index = None
            if self.first_position is not None:
                self.first_position += count

    def drop_back(self, count: int) -> None:
        """Forget the last rows."""
        if count:
            del self.rows[-count:], self.keys[-count:], self.fractions[-count:]
            self.at_end = False
            self._index = None

    def _fresh(self, batch: Batch[Row]) -> list[int]:
        # A row may have moved between two reads; where it stood first is where it stays until a reload.
        return [at for at, key in enumerate(batch.keys) if self.find(key) is None]

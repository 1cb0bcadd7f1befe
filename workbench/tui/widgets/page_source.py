"""Where a virtual list gets its rows from: pages around a place, never an offset.

A source stands between a list on the screen and a query. It knows one order of rows, each with an
identity that does not change while others come and go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, runtime_checkable

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows that stand next to each other in the list's order."""

    rows: Sequence[Row]
    at_start: bool
    """Nothing comes before the first row."""
    at_end: bool
    """Nothing comes after the last row."""
    focus: int | None = None
    """For `around` and `seek`: the index in `rows` of the row that was asked for, or the nearest to it."""


class PageSource(Protocol[Row]):
    """Rows in one order. Every call but `key` runs in a worker thread, one or several at a time.

    A call may raise; the list then shows the error and posts it. `limit` is the most rows wanted.
    """

    def first(self, limit: int) -> Page[Row]:
        """The first rows of the list."""
        ...

    def last(self, limit: int) -> Page[Row]:
        """The last rows of the list, in the list's order."""
        ...

    def after(self, row: Row, limit: int) -> Page[Row]:
        """The rows that follow `row`, which itself may be gone by now."""
        ...

    def before(self, row: Row, limit: int) -> Page[Row]:
        """The rows that stand directly before `row`, in the list's order."""
        ...

    def around(self, place: Row | Hashable, limit: int) -> Page[Row]:
        """Rows on both sides of a row or of a key, with `focus` set.

        A place that is not in the list (any more) gives what is nearest to it; an empty page only
        where the list is empty.
        """
        ...

    def key(self, row: Row) -> Hashable:
        """The identity of a row. Cheap and pure: called wherever it is needed."""
        ...

    def fraction(self, row: Row) -> float:
        """The row's place in the whole list, 0 for the first and 1 for the last: for the thumb, roughly."""
        ...

    def position(self, row: Row) -> int | None:
        """The row's exact number in the list, from 1, where it is known cheaply."""
        ...

    def total(self) -> int | None:
        """How many rows there are, exactly, where that is cheap; else None, and `count` finds out."""
        ...

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        """How many rows there are, looked for as long as it takes.

        Ends early with what it has where `cancelled()` is true; tells `progress` how many were found
        so far.
        """
        ...


@runtime_checkable
class SeekableSource(Protocol[Row]):
    """A source that can also jump to a place in the whole, so that the thumb can be dragged."""

    def seek(self, fraction: float, limit: int) -> Page[Row]:
        """Rows around the row at `fraction` (0 to 1) of the list, with `focus` set."""
        ...


@dataclass(slots=True)
class MemorySource(Generic[Row]):
    """A source over rows that are all in memory: pickers, jobs, backups.

    `identify` gives a row's key; without it a row is its own. Of rows with one key the first counts.
    """

    rows: Sequence[Row]
    identify: Callable[[Row], Hashable] | None = None
    _index: dict[Hashable, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._index = {}
        for index, row in enumerate(self.rows):
            self._index.setdefault(self.key(row), index)

    def key(self, row: Row) -> Hashable:
        return self.identify(row) if self.identify else row

    def first(self, limit: int) -> Page[Row]:
        return self._slice(0, limit)

    def last(self, limit: int) -> Page[Row]:
        return self._slice(len(self.rows) - limit, len(self.rows))

    def after(self, row: Row, limit: int) -> Page[Row]:
        at = self._index.get(self.key(row), len(self.rows) - 1) + 1
        return self._slice(at, at + limit)

    def before(self, row: Row, limit: int) -> Page[Row]:
        at = self._index.get(self.key(row), 0)
        return self._slice(at - limit, at)

    def around(self, place: Row | Hashable, limit: int) -> Page[Row]:
        at = self._find(place)
        return self._around(0 if at is None else at, limit)

    def seek(self, fraction: float, limit: int) -> Page[Row]:
        return self._around(round(fraction * (len(self.rows) - 1)), limit)

    def fraction(self, row: Row) -> float:
        return self._index.get(self.key(row), 0) / max(1, len(self.rows) - 1)

    def position(self, row: Row) -> int | None:
        at = self._index.get(self.key(row))
        return None if at is None else at + 1

    def total(self) -> int | None:
        return len(self.rows)

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return len(self.rows)

    def _find(self, place: Row | Hashable) -> int | None:
        if self.identify is not None:
            try:
                return self._index[self.identify(place)]  # type: ignore[arg-type]
            except Exception:  # It was no row but a key; what a key function raises then is its own affair.
                pass
        try:
            return self._index.get(place)
        except TypeError:
            return None

    def _around(self, at: int, limit: int) -> Page[Row]:
        at = max(0, min(at, len(self.rows) - 1))
        start = max(0, min(at - limit // 2, len(self.rows) - limit))
        page = self._slice(start, start + limit)
        return Page(page.rows, page.at_start, page.at_end, at - start if page.rows else None)

    def _slice(self, start: int, stop: int) -> Page[Row]:
        start, stop = max(0, start), min(len(self.rows), max(0, stop))
        return Page(self.rows[start:stop], start <= 0, stop >= len(self.rows))

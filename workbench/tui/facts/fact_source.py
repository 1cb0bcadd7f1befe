"""Current facts as the rows of a virtual list, in one of three orders."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.widgets.page_source import Page
from workbench.workspace.fact_rows import FactFilter, FactOrder, FactPlace, FactRow

if TYPE_CHECKING:
    from workbench.workspace.readers.fact_queries import FactReader


@dataclass(frozen=True, slots=True)
class FactSource:
    """The facts that pass a filter, as of a position or now; a key is a fact's position.

    To go to a fact that was replaced leads to what its slot holds.
    """

    reader: FactReader
    wanted: FactFilter
    order: FactOrder
    as_of: int | None = None

    def key(self, row: FactRow) -> Hashable:
        return row.position

    def first(self, limit: int) -> Page[FactRow]:
        rows = self._page(limit + 1)
        return Page(rows[:limit], True, len(rows) <= limit)

    def last(self, limit: int) -> Page[FactRow]:
        rows = self.reader.last(self.wanted, self.order, limit + 1, as_of=self.as_of)
        return Page(rows[-limit:], len(rows) <= limit, True)

    def after(self, row: FactRow, limit: int) -> Page[FactRow]:
        rows = self._page(limit + 1, after=row.place)
        return Page(rows[:limit], False, len(rows) <= limit)

    def before(self, row: FactRow, limit: int) -> Page[FactRow]:
        rows = self._page(limit + 1, before=row.place)
        return Page(rows[-limit:], len(rows) <= limit, False)

    def around(self, place: FactRow | Hashable, limit: int) -> Page[FactRow]:
        at: FactPlace | None = None
        if isinstance(place, FactRow):
            at = place.place
        elif isinstance(place, int):
            at = self.reader.place(place, as_of=self.as_of)
        if at is None:
            page = self.first(limit)
            return Page(page.rows, page.at_start, page.at_end, 0 if page.rows else None)
        return self._around(at, limit)

    def seek(self, fraction: float, limit: int) -> Page[FactRow]:
        last = max(0, self._whole() - 1)
        at = self.reader.place_of_rank(self.order, round(fraction * last), as_of=self.as_of)
        return self.first(limit) if at is None else self._around(at, limit)

    def fraction(self, row: FactRow) -> float:
        return self._rank(row) / max(1, self._whole() - 1)

    def position(self, row: FactRow) -> int | None:
        return None if self._narrowed else self._rank(row) + 1

    def total(self) -> int | None:
        return None if self._narrowed else self._whole()

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return self.reader.count(self.wanted, cancelled, progress, as_of=self.as_of)

    @property
    def _narrowed(self) -> bool:
        return self.wanted != FactFilter()

    def _whole(self) -> int:
        return self.reader.count(FactFilter(), as_of=self.as_of)

    def _rank(self, row: FactRow) -> int:
        return self.reader.rank(self.order, row.place, as_of=self.as_of)

    def _page(
        self, limit: int, *, after: FactPlace | None = None, before: FactPlace | None = None
    ) -> list[FactRow]:
        return self.reader.page(self.wanted, self.order, limit, after=after, before=before, as_of=self.as_of)

    def _around(self, place: FactPlace, limit: int) -> Page[FactRow]:
        half = max(1, limit // 2)
        above = self._page(half + 1, before=place)
        at_start = len(above) <= half
        above = above[-half:]
        # From the row above on: so the row itself is there if it passes.
        below = self._page(half + 1, after=above[-1].place if above else None)
        rows = [*above, *below[:half]]
        focus = next((at for at, each in enumerate(rows) if each.position == place.position), None)
        if focus is None and rows:
            focus = min(len(above), len(rows) - 1)
        return Page(rows, at_start, len(below) <= half, focus)

"""Redactions as the rows of a virtual list, newest first."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.widgets.page_source import Page
from workbench.workspace.rows import RedactionFilter, RedactionPlace, RedactionRow

if TYPE_CHECKING:
    from workbench.workspace.readers.redaction_queries import RedactionReader

_BEFORE_ALL = RedactionPlace(-1, -1)


@dataclass(frozen=True, slots=True)
class RedactionSource:
    """The redactions that pass a filter; a key is a redaction's place."""

    reader: RedactionReader
    wanted: RedactionFilter

    def key(self, row: RedactionRow) -> Hashable:
        return row.place

    def first(self, limit: int) -> Page[RedactionRow]:
        rows = self.reader.page(self.wanted, limit + 1)
        return Page(rows[:limit], True, len(rows) <= limit)

    def last(self, limit: int) -> Page[RedactionRow]:
        rows = self.reader.page(self.wanted, limit + 1, before=_BEFORE_ALL)
        return Page(rows[-limit:], len(rows) <= limit, True)

    def after(self, row: RedactionRow, limit: int) -> Page[RedactionRow]:
        rows = self.reader.page(self.wanted, limit + 1, after=row.place)
        return Page(rows[:limit], False, len(rows) <= limit)

    def before(self, row: RedactionRow, limit: int) -> Page[RedactionRow]:
        rows = self.reader.page(self.wanted, limit + 1, before=row.place)
        return Page(rows[-limit:], len(rows) <= limit, False)

    def around(self, place: RedactionRow | Hashable, limit: int) -> Page[RedactionRow]:
        wanted = place.place if isinstance(place, RedactionRow) else place
        if not isinstance(wanted, RedactionPlace):
            page = self.first(limit)
            return Page(page.rows, page.at_start, page.at_end, 0 if page.rows else None)
        return self._around(wanted, limit)

    def seek(self, fraction: float, limit: int) -> Page[RedactionRow]:
        last = max(0, self.reader.count(self.wanted) - 1)
        place = self.reader.place_of_rank(self.wanted, round(fraction * last))
        return self.first(limit) if place is None else self._around(place, limit)

    def fraction(self, row: RedactionRow) -> float:
        rank = self.reader.rank(RedactionFilter(), row.place)
        return rank / max(1, self.reader.count(RedactionFilter()) - 1)

    def position(self, row: RedactionRow) -> int | None:
        return None if self._narrowed else self.reader.rank(self.wanted, row.place) + 1

    def total(self) -> int | None:
        return None if self._narrowed else self.reader.count(self.wanted)

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return self.reader.count(self.wanted)

    @property
    def _narrowed(self) -> bool:
        return self.wanted != RedactionFilter()

    def _around(self, place: RedactionPlace, limit: int) -> Page[RedactionRow]:
        half = max(1, limit // 2)
        above = self.reader.page(self.wanted, half + 1, before=place)
        at_start = len(above) <= half
        above = above[-half:]
        # From the row above on: so the row itself is there if it passes.
        below = self.reader.page(self.wanted, half + 1, after=above[-1].place if above else None)
        rows = [*above, *below[:half]]
        focus = next((at for at, each in enumerate(rows) if each.place == place), None)
        if focus is None and rows:
            focus = min(len(above), len(rows) - 1)
        return Page(rows, at_start, len(below) <= half, focus)

"""Sessions as the rows of a virtual list, newest first."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.widgets.page_source import Page
from workbench.workspace.rows import SessionFilter, SessionRow

if TYPE_CHECKING:
    from workbench.workspace.readers.session_queries import Order, SessionReader


@dataclass(frozen=True, slots=True)
class SessionSource:
    """The sessions that pass a filter; a key is a session's id."""

    reader: SessionReader
    wanted: SessionFilter
    order: Order = "happened"

    def key(self, row: SessionRow) -> Hashable:
        return row.id

    def first(self, limit: int) -> Page[SessionRow]:
        rows = self.reader.page(self.wanted, limit + 1, order=self.order)
        return Page(rows[:limit], True, len(rows) <= limit)

    def last(self, limit: int) -> Page[SessionRow]:
        rows = self.reader.last(self.wanted, limit + 1, order=self.order)
        return Page(rows[-limit:], len(rows) <= limit, True)

    def after(self, row: SessionRow, limit: int) -> Page[SessionRow]:
        rows = self.reader.page(self.wanted, limit + 1, after=row, order=self.order)
        return Page(rows[:limit], False, len(rows) <= limit)

    def before(self, row: SessionRow, limit: int) -> Page[SessionRow]:
        rows = self.reader.page(self.wanted, limit + 1, before=row, order=self.order)
        return Page(rows[-limit:], len(rows) <= limit, False)

    def around(self, place: SessionRow | Hashable, limit: int) -> Page[SessionRow]:
        row = place if isinstance(place, SessionRow) else self.reader.get(str(place))
        if row is None:
            page = self.first(limit)
            return Page(page.rows, page.at_start, page.at_end, 0 if page.rows else None)
        half = max(1, limit // 2)
        above = self.reader.page(self.wanted, half + 1, before=row, order=self.order)
        at_start = len(above) <= half
        above = above[-half:]
        # From the row above on: so the row itself is there if it still is where it was and passes.
        below = self.reader.page(self.wanted, half + 1, after=above[-1] if above else None, order=self.order)
        rows = [*above, *below[:half]]
        focus = next((at for at, each in enumerate(rows) if each.id == row.id), None)
        if focus is None and rows:
            focus = min(len(above), len(rows) - 1)
        return Page(rows, at_start, len(below) <= half, focus)

    def fraction(self, row: SessionRow) -> float:
        return self.reader.rank(row, order=self.order) / max(1, self.reader.count(SessionFilter()) - 1)

    def position(self, row: SessionRow) -> int | None:
        return None if self.wanted else self.reader.rank(row, order=self.order) + 1

    def total(self) -> int | None:
        return None if self.wanted else self.reader.count(self.wanted)

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return self.reader.count(self.wanted, cancelled, order=self.order)

"""Hand-offs as the rows of a virtual list: in keyset pages, a long search in portions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING

from workbench.memory.handoff_views import Handoff
from workbench.tui.widgets.page_source import Page
from workbench.workspace.readers.handoff_index import Place, place_of
from workbench.workspace.rows import HandoffFilter, HandoffOrder

if TYPE_CHECKING:
    from workbench.workspace.readers.handoff_queries import Found, HandoffReader

FIRST_HITS_SECONDS = 0.06
"""After this long a search shows what it has, and goes on from there."""
OPENING_ROWS = 30
"""Rows of a list that is not narrowed with which it opens: they fill a screen; the others follow them."""
_BEHIND_ALL: dict[str, Place] = {"newest": (1,), "project": ("\U0010ffff" * 4,)}
"""Behind every task: positions are above 0, and stand in an order with the sign changed."""


@dataclass(slots=True)
class HandoffSource:
    """The tasks that pass a filter, in an order; a key says which task it is.

    `as_of` is a position of the log or a time: what was known then.
    """

    reader: HandoffReader
    wanted: HandoffFilter
    order: HandoffOrder = "newest"
    as_of: datetime | int | None = None
    _closed: bool = field(default=False, init=False)

    def close(self) -> None:
        """End every search: nobody waits for it any more."""
        self._closed = True

    def key(self, row: Handoff) -> Hashable:
        return row.key

    def first(self, limit: int) -> Page[Handoff]:
        found = self._page(self._opening(limit))
        return Page(found.rows, True, found.complete)

    def last(self, limit: int) -> Page[Handoff]:
        found = self._page(self._opening(limit), before=_BEHIND_ALL[self.order])
        return Page(found.rows, found.complete, True)

    def after(self, row: Handoff, limit: int) -> Page[Handoff]:
        found = self._page(limit, after=place_of(row, self.order))
        return Page(found.rows, False, found.complete)

    def before(self, row: Handoff, limit: int) -> Page[Handoff]:
        found = self._page(limit, before=place_of(row, self.order))
        return Page(found.rows, found.complete, False)

    def around(self, place: Handoff | Hashable, limit: int) -> Page[Handoff]:
        key: Hashable = place
        at: Place | None = None
        if isinstance(place, Handoff):
            # Where it stood: what moved away does not take the screen along. All that was held is read again.
            return self._around(place_of(place, self.order), place.key, limit, limit // 2)
        if isinstance(place, tuple) and len(place) == 2:
            at = self.reader.place((str(place[0]), str(place[1])), order=self.order, as_of=self.as_of)
        if at is None:
            page = self.first(limit)
            return Page(page.rows, page.at_start, page.at_end, 0 if page.rows else None)
        return self._opened_around(at, key, limit)

    def seek(self, fraction: float, limit: int) -> Page[Handoff]:
        _, total = self._rank(_BEHIND_ALL[self.order])
        at = self.reader.place_at(
            round(fraction * max(0, total - 1)),
            order=self.order,
            closed=self.wanted.closed,
            as_of=self.as_of,
        )
        return self.first(limit) if at is None else self._opened_around(at, None, limit)

    def fraction(self, row: Handoff) -> float:
        at, total = self._rank(place_of(row, self.order))
        return at / max(1, total - 1)

    def position(self, row: Handoff) -> int | None:
        return None if self._narrowed else self._rank(place_of(row, self.order))[0] + 1

    def total(self) -> int | None:
        return None if self._narrowed else self._rank(_BEHIND_ALL[self.order])[1]

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return self.reader.count(self.wanted, lambda: self._closed or cancelled(), progress, as_of=self.as_of)

    # Reading

    def _opening(self, limit: int) -> int:
        # A very tall list asks for four times its lines, and a row has up to two.
        return limit if self._narrowed else min(limit, max(OPENING_ROWS, limit // 8))

    @property
    def _narrowed(self) -> bool:
        return bool(self.wanted.text) or self.wanted.waiting

    def _rank(self, place: Place) -> tuple[int, int]:
        return self.reader.rank(place, order=self.order, closed=self.wanted.closed, as_of=self.as_of)

    def _page(
        self,
        limit: int,
        *,
        after: Place | None = None,
        before: Place | None = None,
        least: int = 1,
        seconds: float = FIRST_HITS_SECONDS,
    ) -> Found:
        until = monotonic() + seconds

        def go_on(found: int) -> bool:
            return not self._closed and (found < least or monotonic() < until)

        return self.reader.page(
            self.wanted, limit, order=self.order, after=after, before=before, go_on=go_on, as_of=self.as_of
        )

    def _opened_around(self, at: Place, key: Hashable, limit: int) -> Page[Handoff]:
        limit = self._opening(limit)
        # The list puts what it opens at a third down the screen.
        return self._around(at, key, limit, limit // 3)

    def _around(self, at: Place, key: Hashable, limit: int, above: int) -> Page[Handoff]:
        # What stands above costs part of the time only: the row itself and what follows is waited for.
        before = self._page(max(1, above), before=at, least=0, seconds=FIRST_HITS_SECONDS / 3)
        # From the row above on: so the row itself is there if it passes.
        bound = place_of(before.rows[-1], self.order) if before.rows else None
        if bound is None and not before.complete:
            bound = self._just_before(at)
        below = self._page(limit - len(before.rows), after=bound)
        rows = [*before.rows, *below.rows]
        focus = next((number for number, row in enumerate(rows) if row.key == key), None)
        if focus is None and rows:
            focus = min(len(before.rows), len(rows) - 1)
        return Page(rows, before.complete, below.complete, focus)

    @staticmethod
    def _just_before(at: Place) -> Place:
        """A place directly before another, with no task between them."""
        return at[:-1]

"""Jobs as the rows of a virtual list: running ones first, then the newest."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.widgets.page_source import Page
from workbench.workspace.jobs.rows import JobRow

if TYPE_CHECKING:
    from workbench.workspace.jobs.jobs import Jobs


@dataclass(frozen=True, slots=True)
class JobSource:
    """The jobs of a workspace; a key is a job's number."""

    jobs: Jobs

    def key(self, row: JobRow) -> Hashable:
        return row.id

    def first(self, limit: int) -> Page[JobRow]:
        rows = self.jobs.page(limit + 1)
        return Page(rows[:limit], True, len(rows) <= limit)

    def last(self, limit: int) -> Page[JobRow]:
        # The list is short: old jobs are forgotten.
        rows = self.jobs.page(self.jobs.count() + 1)
        return Page(rows[-limit:], len(rows) <= limit, True)

    def after(self, row: JobRow, limit: int) -> Page[JobRow]:
        rows = self.jobs.page(limit + 1, after=row)
        return Page(rows[:limit], False, len(rows) <= limit)

    def before(self, row: JobRow, limit: int) -> Page[JobRow]:
        rows = self.jobs.page(limit + 1, before=row)
        return Page(rows[-limit:], len(rows) <= limit, False)

    def around(self, place: JobRow | Hashable, limit: int) -> Page[JobRow]:
        number = place.id if isinstance(place, JobRow) else place
        # As it is now: one that has ended stands elsewhere.
        row = self.jobs.get(number) if isinstance(number, int) else None
        if row is None:
            page = self.first(limit)
            return Page(page.rows, page.at_start, page.at_end, 0 if page.rows else None)
        half = max(1, limit // 2)
        above = self.jobs.page(half + 1, before=row)
        at_start = len(above) <= half
        above = above[-half:]
        below = self.jobs.page(half + 1, after=above[-1] if above else None)
        rows = [*above, *below[:half]]
        focus = next((at for at, each in enumerate(rows) if each.id == row.id), None)
        if focus is None and rows:
            focus = min(len(above), len(rows) - 1)
        return Page(rows, at_start, len(below) <= half, focus)

    def fraction(self, row: JobRow) -> float:
        return self.jobs.rank(row) / max(1, self.jobs.count() - 1)

    def position(self, row: JobRow) -> int | None:
        return self.jobs.rank(row) + 1

    def total(self) -> int | None:
        return self.jobs.count()

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return self.jobs.count()

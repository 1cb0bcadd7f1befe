"""What a search in the prose of all chronicles found, as the rows of a virtual list."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.tui.chronicle.nodes import FoundNode, Node
from workbench.tui.chronicle.words import stream_name
from workbench.tui.widgets.page_source import Page

if TYPE_CHECKING:
    from workbench.workspace.readers.chronicle_search_queries import ChronicleSearch, FoundSection


@dataclass(frozen=True, slots=True)
class SearchSource:
    """Current sections with these words, the latest written first; a key is the range's in the tree."""

    search: ChronicleSearch
    wanted: str

    def key(self, row: Node) -> Hashable:
        return row.key

    def first(self, limit: int) -> Page[Node]:
        rows = self.search.page(self.wanted, limit + 1)
        return Page(_nodes(rows[:limit]), True, len(rows) <= limit)

    def last(self, limit: int) -> Page[Node]:
        # Behind every row: they count from 1.
        rows = self.search.page(self.wanted, limit + 1, before=0)
        return Page(_nodes(rows[-limit:]), len(rows) <= limit, True)

    def after(self, row: Node, limit: int) -> Page[Node]:
        rows = self.search.page(self.wanted, limit + 1, after=_place(row))
        return Page(_nodes(rows[:limit]), False, len(rows) <= limit)

    def before(self, row: Node, limit: int) -> Page[Node]:
        rows = self.search.page(self.wanted, limit + 1, before=_place(row))
        return Page(_nodes(rows[-limit:]), len(rows) <= limit, False)

    def around(self, place: Node | Hashable, limit: int) -> Page[Node]:
        if not isinstance(place, FoundNode):
            page = self.first(limit)
            focus = next((at for at, row in enumerate(page.rows) if row.key == place), 0)
            return Page(page.rows, True, page.at_end, focus if page.rows else None)
        half = max(1, limit // 2)
        above = self.search.page(self.wanted, half + 1, before=place.place)
        at_start = len(above) <= half
        above = above[-half:]
        below = self.search.page(self.wanted, half + 1, after=place.place + 1)
        rows = _nodes([*above, *below[:half]])
        at = min(len(above), len(rows) - 1) if rows else None
        return Page(rows, at_start, len(below) <= half, at)

    def fraction(self, row: Node) -> float:
        newest = self.search.page(self.wanted, 1)
        whole = newest[0].row_id if newest else 1
        return min(1.0, max(0.0, (whole - _place(row)) / max(1, whole)))

    def position(self, row: Node) -> int | None:
        return None

    def total(self) -> int | None:
        return None

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return self.search.count(self.wanted, cancelled, progress)


def _place(row: Node) -> int:
    return row.place if isinstance(row, FoundNode) else 0


def _nodes(rows: list[FoundSection]) -> list[Node]:
    return [FoundNode(each.stream, each.row, each.row_id, stream_name(each.stream)) for each in rows]

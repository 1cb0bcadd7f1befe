"""What a search in the prose of all chronicles found, as the rows of a virtual list."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.tui.chronicle.nodes import FoundNode, Node
from workbench.tui.chronicle.words import stream_name, stream_title
from workbench.tui.widgets.page_source import Page

if TYPE_CHECKING:
    from workbench.workspace.readers.chronicle_queries import ChronicleReader
    from workbench.workspace.readers.chronicle_search_queries import ChronicleSearch, FoundSection


@dataclass(frozen=True, slots=True)
class SearchSource:
    """Current sections with these words, the latest written first; a key is the range's in the tree."""

    search: ChronicleSearch
    reader: ChronicleReader
    wanted: str
    titles: dict[str, str] = field(default_factory=dict)
    """By stream, as far as they were looked up."""

    def key(self, row: Node) -> Hashable:
        return row.key

    def first(self, limit: int) -> Page[Node]:
        rows = self.search.page(self.wanted, limit + 1)
        return Page(self._nodes(rows[:limit]), True, len(rows) <= limit)

    def last(self, limit: int) -> Page[Node]:
        # Behind every row: they count from 1.
        rows = self.search.page(self.wanted, limit + 1, before=0)
        return Page(self._nodes(rows[-limit:]), len(rows) <= limit, True)

    def after(self, row: Node, limit: int) -> Page[Node]:
        rows = self.search.page(self.wanted, limit + 1, after=_place(row))
        return Page(self._nodes(rows[:limit]), False, len(rows) <= limit)

    def before(self, row: Node, limit: int) -> Page[Node]:
        rows = self.search.page(self.wanted, limit + 1, before=_place(row))
        return Page(self._nodes(rows[-limit:]), len(rows) <= limit, False)

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
        rows = self._nodes([*above, *below[:half]])
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

    def _nodes(self, rows: list[FoundSection]) -> list[Node]:
        return [FoundNode(each.stream, each.row, self._title(each.stream), each.row_id) for each in rows]

    def _title(self, stream: str) -> str:
        """What a stream is called, looked up once: most of what is found is in few of them."""
        if stream not in self.titles:
            row = self.reader.stream(stream)
            self.titles[stream] = stream_name(stream) if row is None else stream_title(row)
        return self.titles[stream]

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        return self.search.count(self.wanted, cancelled, progress)


def _place(row: Node) -> int:
    return row.place if isinstance(row, FoundNode) else 0

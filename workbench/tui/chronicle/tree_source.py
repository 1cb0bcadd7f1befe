"""The chronicles as a tree in rows: in keyset pages, whatever is opened and however long a chronicle is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Protocol

import msgspec

from workbench.tui.chronicle.nodes import Node, OlderNode, OpenNode, RangeNode, StreamNode
from workbench.tui.chronicle.words import stream_title
from workbench.tui.widgets.page_source import Page

if TYPE_CHECKING:
    from workbench.chronicle.sections import Section
    from workbench.workspace.readers.chronicle_counts_queries import ChronicleCounts
    from workbench.workspace.readers.chronicle_queries import RangeRow, StreamRow

_STREAMS, _RANGES = 25, 60
"""Rows that are read at a time."""


class ReadsChronicles(Protocol):
    """What the tree is read from: the chronicles of now, or those of an earlier moment."""

    def streams(
        self, limit: int, after: StreamRow | None = None, before: StreamRow | None = None
    ) -> list[StreamRow]:
        """Streams in a list's order, behind one or in front of one."""
        ...

    def stream(self, name: str) -> StreamRow | None:
        """One stream by its whole name."""
        ...

    def page(
        self, stream: str, limit: int, after: int | None = None, before: int | None = None
    ) -> list[RangeRow]:
        """Ranges, ascending, behind or in front of the one that begins with an event."""
        ...

    def last(self, stream: str, limit: int) -> list[RangeRow]:
        """The last ranges, ascending."""
        ...

    def generations(self, stream: str, from_seq: int, to_seq: int) -> list[Section]:
        """Every prose of a range, the oldest first."""
        ...

    def covering(self, stream: str, seq: int) -> Section | None:
        """The section whose range holds an event."""
        ...


class TreeSource:
    """Streams in the reader's order, under an opened one its ranges by their events.

    What is `opened` may be changed while it is read: the next page is another then. Without `counts`, as
    for an earlier moment, rows are counted by walking over them.
    """

    def __init__(
        self, reader: ReadsChronicles, opened: frozenset[str], counts: ChronicleCounts | None = None
    ) -> None:
        self.opened = opened
        """The streams whose ranges are shown."""
        self._reader = reader
        self._counts = counts
        self._newest = 0
        self._sections: dict[str, tuple[int, int]] = {}
        """By opened stream its place among streams, and its sections: for the thumb."""

    # The page source's calls

    def key(self, row: Node) -> Hashable:
        return row.key

    def first(self, limit: int) -> Page[Node]:
        rows = list(islice(self._down_streams(None), limit + 1))
        return Page(rows[:limit], True, len(rows) <= limit)

    def last(self, limit: int) -> Page[Node]:
        rows = list(islice(self._last_rows(), limit + 1))[::-1]
        return Page(rows[-limit:], len(rows) <= limit, True)

    def after(self, row: Node, limit: int) -> Page[Node]:
        rows = list(islice(self._after(row), limit + 1))
        return Page(rows[:limit], False, len(rows) <= limit)

    def before(self, row: Node, limit: int) -> Page[Node]:
        rows = list(islice(self._before(row), limit + 1))[::-1]
        return Page(rows[-limit:], len(rows) <= limit, False)

    def around(self, place: Node | Hashable, limit: int) -> Page[Node]:
        at = self._node_at(place)
        if at is None:
            page = self.first(limit)
            return Page(page.rows, True, page.at_end, 0 if page.rows else None)
        half = max(1, limit // 2)
        above = list(islice(self._before(at), half + 1))[::-1]
        at_start = len(above) <= half
        above = above[-half:]
        below = list(islice(self._after(at), half + 1))
        return Page([*above, at, *below[:half]], at_start, len(below) <= half, len(above))

    def fraction(self, row: Node) -> float:
        place = _place(row)
        known = self._sections.get(row.stream)
        if place is None:
            place = known[0] if known is not None else self._newest
        whole = self._newest + sum(count for _, count in self._sections.values())
        before = self._newest - place + sum(count for at, count in self._sections.values() if at > place)
        if known is not None and not isinstance(row, StreamNode):
            before += round(known[1] * _inside(row))
        return min(1.0, max(0.0, before / max(1, whole - 1)))

    def position(self, row: Node) -> int | None:
        return None

    def total(self) -> int | None:
        return None

    def count(self, cancelled: Callable[[], bool], progress: Callable[[int], None]) -> int:
        if self._counts is not None:
            return self._counts.streams() + sum(map(self._rows_under, self.opened))
        found = 0
        for _ in self._down_streams(None):
            found += 1
            if not found % _RANGES:
                if cancelled():
                    break
                progress(found)
        return found

    def _rows_under(self, name: str) -> int:
        stream = self._reader.stream(name)
        if stream is None or self._counts is None:
            return 0
        return sum(self._counts.sections(name)) + sum(1 for _ in self._tail(stream))

    # Walking down

    def _down_streams(self, after: StreamRow | None) -> Iterator[Node]:
        while True:
            rows = self._reader.streams(_STREAMS, after=after)
            for row in rows:
                yield self._stream_node(row)
                yield from self._under(row)
            if len(rows) < _STREAMS:
                return
            after = rows[-1]

    def _stream_node(self, row: StreamRow) -> StreamNode:
        opened = row.stream in self.opened
        self._newest = max(self._newest, row.stream_id)
        if opened:
            self._sections[row.stream] = (row.stream_id, row.sections)
        else:
            self._sections.pop(row.stream, None)
        return StreamNode(row, opened)

    def _under(self, stream: StreamRow) -> Iterator[Node]:
        return self._ranges(stream, None) if stream.stream in self.opened else iter(())

    def _ranges(self, stream: StreamRow, after: int | None) -> Iterator[Node]:
        while True:
            rows = self._reader.page(stream.stream, _RANGES, after=after)
            for row in rows:
                yield from self._hole(stream, row)
                yield _range_node(stream, row)
                yield from self._older(stream, row)
            if len(rows) < _RANGES:
                break
            after = rows[-1].anchor.from_seq
        yield from self._tail(stream)

    def _hole(self, stream: StreamRow, row: RangeRow) -> Iterator[OpenNode]:
        """What lies between a range and the one before it."""
        if row.after_gap:
            before = self._reader.page(stream.stream, 1, before=row.anchor.from_seq)
            first = before[0].anchor.to_seq + 1 if before else 1
            yield OpenNode(stream, first, row.anchor.from_seq - 1, hole=True)

    def _tail(self, stream: StreamRow) -> Iterator[OpenNode]:
        """What lies behind the last range."""
        last = self._reader.last(stream.stream, 1)
        first = last[0].anchor.to_seq + 1 if last else 1
        if stream.lag_events > 0 and first <= stream.last_seq:
            yield OpenNode(stream, first, stream.last_seq, hole=False)

    def _older(self, stream: StreamRow, row: RangeRow) -> Sequence[OlderNode]:
        """The superseded prose of a range, the newest first."""
        if row.generations < 2:
            return ()
        found = self._reader.generations(stream.stream, row.anchor.from_seq, row.anchor.to_seq)
        named = stream_title(stream)
        older = [OlderNode(stream.stream, section, at, named) for at, section in enumerate(found, 1)]
        return older[:-1][::-1]

    def _after(self, node: Node) -> Iterator[Node]:
        stream = self._stream_of(node)
        if stream is None:
            # It is gone; what stood behind it nobody knows any more.
            return
        if node.stream in self.opened:
            if isinstance(node, StreamNode):
                yield from self._ranges(stream, None)
            elif isinstance(node, RangeNode | OlderNode) and (row := self._range(node)) is not None:
                passed = node.generation if isinstance(node, OlderNode) else row.generations
                yield from (each for each in self._older(stream, row) if each.generation < passed)
                yield from self._ranges(stream, row.anchor.from_seq)
            elif isinstance(node, OpenNode) and node.hole:
                rows = self._reader.page(stream.stream, 1, after=node.last)
                if rows:
                    yield _range_node(stream, rows[0])
                    yield from self._older(stream, rows[0])
                    yield from self._ranges(stream, rows[0].anchor.from_seq)
        yield from self._down_streams(stream)

    # Walking up

    def _up_streams(self, before: StreamRow) -> Iterator[Node]:
        while True:
            rows = self._reader.streams(_STREAMS, before=before)
            for row in reversed(rows):
                yield from self._up_under(row)
                yield self._stream_node(row)
            if len(rows) < _STREAMS:
                return
            before = rows[0]

    def _last_rows(self) -> Iterator[Node]:
        newest = self._reader.streams(1)
        if newest:
            # Behind every stream: they count from 1.
            yield from self._up_streams(msgspec.structs.replace(newest[0], stream_id=0))

    def _up_under(self, stream: StreamRow) -> Iterator[Node]:
        if stream.stream in self.opened:
            yield from self._tail(stream)
            rows = self._reader.last(stream.stream, _RANGES)
            yield from self._up_rows(stream, rows)
            if len(rows) == _RANGES:
                yield from self._ranges_up(stream, rows[0].anchor.from_seq)

    def _ranges_up(self, stream: StreamRow, before: int) -> Iterator[Node]:
        while True:
            rows = self._reader.page(stream.stream, _RANGES, before=before)
            yield from self._up_rows(stream, rows)
            if len(rows) < _RANGES:
                return
            before = rows[0].anchor.from_seq

    def _up_rows(self, stream: StreamRow, rows: Sequence[RangeRow]) -> Iterator[Node]:
        for row in reversed(rows):
            yield from reversed(self._older(stream, row))
            yield _range_node(stream, row)
            yield from self._hole(stream, row)

    def _before(self, node: Node) -> Iterator[Node]:
        stream = self._stream_of(node)
        if stream is None:
            return
        if not isinstance(node, StreamNode):
            if isinstance(node, OpenNode):
                yield from self._ranges_up(stream, node.first)
            elif (row := self._range(node)) is not None:
                if isinstance(node, OlderNode):
                    older = self._older(stream, row)
                    yield from (each for each in reversed(older) if each.generation > node.generation)
                    yield _range_node(stream, row)
                yield from self._hole(stream, row)
                yield from self._ranges_up(stream, row.anchor.from_seq)
            yield self._stream_node(stream)
        yield from self._up_streams(stream)

    # Finding

    def _stream_of(self, node: Node) -> StreamRow | None:
        if isinstance(node, StreamNode | OpenNode):
            return node.row
        return self._reader.stream(node.stream)

    def _range(self, node: RangeNode | OlderNode) -> RangeRow | None:
        if isinstance(node, RangeNode):
            return node.row
        return self._range_from(node.stream, node.section.anchor.from_seq)

    def _range_from(self, stream: str, from_seq: int) -> RangeRow | None:
        rows = self._reader.page(stream, 1, after=from_seq - 1)
        return rows[0] if rows and rows[0].anchor.from_seq == from_seq else None

    def _open_from(self, stream: StreamRow, first: int) -> Node | None:
        """The events in no section that begin with one; what stands for them by now, else."""
        rows = self._reader.page(stream.stream, 1, after=first - 1)
        if not rows:
            return next(self._tail(stream), None)
        return next(self._hole(stream, rows[0]), _range_node(stream, rows[0]))

    def _node_at(self, place: Node | Hashable) -> Node | None:
        """The row as it is now, or what it stood under."""
        key = place.key if isinstance(place, StreamNode | RangeNode | OlderNode | OpenNode) else place
        if not isinstance(key, tuple) or len(key) < 2 or not isinstance(key[1], str):
            return None
        stream = self._reader.stream(key[1])
        if stream is None:
            return None
        whole = self._stream_node(stream)
        if not whole.opened or key[0] == "stream":
            return whole
        if key[0] == "open" and len(key) > 2 and isinstance(key[2], int):
            return self._open_from(stream, key[2]) or whole
        row = self._range_from(stream.stream, key[2]) if len(key) > 2 and isinstance(key[2], int) else None
        if row is None:
            return whole
        current = _range_node(stream, row)
        if key[0] != "older" or len(key) < 4:
            return current
        return next((each for each in self._older(stream, row) if each.generation == key[3]), current)


def _range_node(stream: StreamRow, row: RangeRow) -> RangeNode:
    return RangeNode(stream.stream, row, stream_title(stream))


def _place(row: Node) -> int | None:
    return row.row.stream_id if isinstance(row, StreamNode | OpenNode) else None


def _inside(row: Node) -> float:
    """How far down in its stream a row stands, 0 to 1; a guess, as numbers of events say nothing of rows."""
    match row:
        case RangeNode():
            return 1 - 1 / (1 + row.row.anchor.from_seq / 64)
        case OlderNode():
            return 1 - 1 / (1 + row.section.anchor.from_seq / 64)
        case OpenNode():
            return 1 - 1 / (1 + row.first / 64)
        case StreamNode():
            return 0.0

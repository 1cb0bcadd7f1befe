"""How the rows of the chronicles' tree are drawn: one line each, ranges indented under their stream."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from workbench.log.times import from_micros
from workbench.tui.chronicle.nodes import FoundNode, Node, OlderNode, OpenNode, RangeNode, StreamNode
from workbench.tui.chronicle.words import (
    plain_words,
    range_words,
    stream_domain,
    stream_title,
    words_around,
)
from workbench.tui.present import Line, Role, Span, age, fit_line, line_width, number
from workbench.tui.widgets.columns import Column, table_header, table_row
from workbench.tui.widgets.row_renderer import RowState

ROOMY = 90
"""Cells from which a row also says what kind of stream it is, and when its prose was written."""
_NAMED = 60
"""Cells from which sections are called so."""
_SHUT, _OPEN = Span("▸", "accent"), Span("▾", "accent")
WITHHELD, MARKED = Span("⊘", "warning"), Span("◆", "accent")
_OLDER, _HOLE, _NOTHING = Span("↳", "faint"), Span("!", "warning"), Span(" ")
_COUNT = 6


@lru_cache(16)
def _columns(width: int) -> tuple[Column, ...]:
    sections = Column("sections", 8, align="right") if width >= _NAMED else Column("§", 4, align="right")
    counts = (sections, Column("behind", _COUNT, align="right"))
    stream = Column("stream", minimum=10)
    return (Column("", 1), stream, *((Column("kind", 8),) if width >= ROOMY else ()), *counts)


@dataclass(frozen=True, slots=True)
class NodeRows:
    """`now` gives the moment of ages; `marked` is the key of the prose that others are compared with."""

    now: Callable[[], datetime]
    marked: Hashable = None
    wanted: str = ""
    """What was searched for: the rows are what was found, and no tree."""

    def header(self, width: int) -> Line | None:
        return None if self.wanted else table_header(_columns(width), width)

    def lines(self, row: Node, width: int, state: RowState) -> Sequence[Line]:
        match row:
            case StreamNode():
                return (self._stream(row, width),)
            case RangeNode():
                mark = WITHHELD if row.row.withheld else _NOTHING
                anchor, written = row.row.anchor, row.row.written.at
                words = plain_words(row.row.words)
                again = row.row.generation if row.row.generation > 1 else 0
                named = range_words(*anchor[1:3])
                if isinstance(row, FoundNode):
                    return self._found(row, mark, named, again, row.row.words, width)
                return (self._range(row, mark, named, again, words, written, width),)
            case OlderNode():
                anchor, written = row.section.anchor, row.section.written.at
                words = plain_words(row.section.prose)
                named = range_words(*anchor[1:3])
                return (self._range(row, _OLDER, named, row.generation, words, written, width),)
            case OpenNode():
                return (self._open(row, width),)

    def _stream(self, row: StreamNode, width: int) -> Line:
        found = row.row
        behind = Span(number(found.lag_events) if found.lag_events else "", _behind_role(row))
        title: Line = (Span(stream_title(found), "ink"),)
        if width >= _NAMED and (domain := stream_domain(found)):
            title = (*title, Span(f"  {domain}", "faint"))
        if found.withheld:
            title = (Span("⊘ ", "warning"), *title)
        kind = (Span(found.kind, "dim"),) if width >= ROOMY else ()
        count = Span(number(found.sections) if found.sections else "", "text")
        mark = _OPEN if row.opened else _SHUT
        return table_row(_columns(width), [mark, title, *kind, count, behind], width)

    def _range(
        self,
        row: Node,
        mark: Span,
        named: str,
        generation: int,
        words: str,
        written: int,
        width: int,
    ) -> Line:
        """A range takes the whole line: it has nothing to be counted."""
        old = isinstance(row, OlderNode)
        role: Role = "faint" if old else "dim"
        again = (Span(f" #{generation}", "faint" if old else "accent"),) if generation else ()
        said: Line = (
            Span("    " if old else "  "),
            Span(named, role),
            *again,
            Span(f"  {words}", "faint" if old else "text"),
        )
        when = (Span(age(from_micros(written), self.now()) if written else "", "dim"),)
        return self._line(row, mark, said, when if width >= ROOMY else (), width)

    def _found(
        self, row: FoundNode, mark: Span, named: str, generation: int, words: str, width: int
    ) -> Sequence[Line]:
        """What a search found stands by itself: its stream and range, and under them where the words are."""
        again = (Span(f" #{generation}", "accent"),) if generation else ()
        title = self._line(row, mark, (Span(row.named, "ink"),), (Span(named, "dim"), *again), width)
        return (title, (Span("  "), *words_around(words, self.wanted, max(1, width - 2))))

    def _open(self, row: OpenNode, width: int) -> Line:
        said: Line = (
            Span("  "),
            Span(range_words(row.first, row.last), "dim"),
            Span("  a hole: in no section" if row.hole else "  in no section yet", "faint"),
        )
        events = (Span(number(row.last - row.first + 1), "warning" if row.hole else "dim"),)
        return self._line(row, _HOLE if row.hole else _NOTHING, said, events, width)

    def _line(self, row: Node, mark: Span, said: Line, right: Line, width: int) -> Line:
        marked = MARKED if row.key == self.marked else mark
        room = width - 2
        if not right:
            return (marked, Span(" "), *fit_line(said, max(1, room)))
        cells = line_width(right)
        return (marked, Span(" "), *fit_line(said, max(1, room - cells - 1)), Span(" "), *right)


def _behind_role(row: StreamNode) -> Role:
    return "warning" if row.row.due_units else "faint"

"""Long documents as lines: blocks of text that are wrapped around a place only, whatever their length.

A document is a list of blocks. Laid out, it is a chain of segments of a few thousand characters, each
wrapped by itself, so that the first screen, the last and any one between cost the same in 1 KB and in
50 MB. Texts are drawn literally (`present`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len

from workbench.tui.present import Line, Role, Span, fit, split_lines, visible, wrapped

SEGMENT = 8192
"""Characters after which a longer line is laid out as another segment."""
_SLACK = 64
"""Characters before such a cut in which a space is looked for."""
_KEPT_SEGMENTS = 512
_KEY_CELLS = 24
_JSON_KEY = re.compile(r'"(?:[^"\\]|\\.)*"(?=\s*:)')


@dataclass(frozen=True, slots=True)
class Heading:
    """A title over what follows, with a secondary note behind it."""

    text: str
    note: str = ""
    role: Role = "heading"


@dataclass(frozen=True, slots=True)
class Fields:
    """Names and values in two columns."""

    rows: Sequence[tuple[str, str | Line]]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text that is wrapped, behind a mark; further lines are aligned with the first one's text.

    `text` may be pieces with roles of their own; `role` is for plain text.
    """

    text: str | Line
    mark: Span | None = None
    indent: int = 0
    role: Role = "text"
    every_line: bool = False
    """The mark stands before every line, not the first alone: a quotation's bar, a chain's line."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text of any length, its own line breaks kept: contents, JSON, diffs."""

    text: str
    role: Role = "code"
    indent: int = 0
    json: bool = False
    """Names of a JSON text stand back behind its values."""


@dataclass(frozen=True, slots=True)
class Blank:
    """One empty line between groups."""


Block: TypeAlias = Heading | Fields | Paragraph | Verbatim | Blank


def note(text: str, indent: int = 0) -> Paragraph:
    """Secondary text."""
    return Paragraph(text, indent=indent, role="dim")


class Place(NamedTuple):
    """The start of a segment: which run of text, and the character in it."""

    run: int
    start: int


class DocumentLine(NamedTuple):
    """One drawn line."""

    line: Line
    lead: int
    """Characters at its start that are layout alone, and not to be copied."""
    joint: str
    """What stands between this line and the next in the text itself: a newline, a space or nothing."""

    @property
    def text(self) -> str:
        """What is drawn."""
        return "".join(span.text for span in self.line)


@dataclass(slots=True)
class _Run:
    """A text that is laid out by itself, with what stands before its first line."""

    text: str
    role: Role
    first: Line = ()
    hang: int = 0
    rest: Line = ()
    """What stands before the further lines, if it is not blank; `hang` cells wide."""
    spans: Line = ()
    json: bool = False
    line: tuple[int, int] = (0, -1)
    """Bounds of the line of text that was looked at last."""

    def line_at(self, at: int) -> tuple[int, int]:
        low, high = self.line
        if not low <= at <= high:
            low = self.text.rfind("\n", 0, at) + 1
            end = self.text.find("\n", at)
            high = len(self.text) if end < 0 else end
            self.line = (low, high)
        return low, high

    def cut(self, low: int, high: int, number: int) -> int:
        """Where segment `number` of a line starts: a property of the text, whatever is on the screen."""
        if number <= 0:
            return low
        nominal = low + number * SEGMENT
        if nominal + _SLACK >= high:
            return high
        space = self.text.rfind(" ", nominal - _SLACK, nominal)
        if space >= 0:
            return space + 1
        for at in range(nominal, nominal + _SLACK):
            if self.text[at].isalnum() or self.text[at].isascii():
                return at
        return nominal

    def end_of(self, start: int) -> int:
        low, high = self.line_at(start)
        return self.cut(low, high, round((start - low) / SEGMENT) + 1)

    def after(self, start: int) -> int | None:
        end = self.end_of(start)
        if end < self.line_at(start)[1]:
            return end
        return end + 1 if end < len(self.text) else None

    def before(self, start: int) -> int | None:
        if start <= 0:
            return None
        low, high = self.line_at(start)
        if start > low:
            return self.cut(low, high, round((start - low) / SEGMENT) - 1)
        return self.last(start - 1)

    def last(self, at: int) -> int:
        """The start of the segment that ends a line, given the position of the line's end."""
        low, high = self.line_at(at)
        number = max(0, (high - low) // SEGMENT + 1)
        while number and self.cut(low, high, number) >= high:
            number -= 1
        return self.cut(low, high, number)


class Document:
    """Blocks as a chain of segments that are wrapped when they are asked for."""

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self.blocks = tuple(blocks)
        self._runs: list[_Run] = []
        self._run_of_block: list[int] = []
        for block in self.blocks:
            self._run_of_block.append(len(self._runs))
            self._runs.extend(_runs(block))
        self._starts = [0, *accumulate(len(run.text) + 1 for run in self._runs)]
        self._kept: OrderedDict[tuple[Place, int], tuple[DocumentLine, ...]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._runs)

    @property
    def length(self) -> int:
        """Characters of the whole, roughly."""
        return self._starts[-1]

    def first(self) -> Place:
        """Where the document begins."""
        return Place(0, 0)

    def last(self) -> Place:
        """The start of the last segment."""
        at = len(self._runs) - 1
        return Place(at, self._runs[at].last(len(self._runs[at].text)))

    def block(self, index: int) -> Place:
        """Where a block begins."""
        return Place(self._run_of_block[index], 0)

    def next(self, place: Place) -> Place | None:
        """The start of the segment after this one."""
        after = self._runs[place.run].after(place.start)
        if after is not None:
            return Place(place.run, after)
        return Place(place.run + 1, 0) if place.run + 1 < len(self._runs) else None

    def previous(self, place: Place) -> Place | None:
        """The start of the segment before this one."""
        before = self._runs[place.run].before(place.start)
        if before is not None:
            return Place(place.run, before)
        if place.run == 0:
            return None
        above = self._runs[place.run - 1]
        return Place(place.run - 1, above.last(len(above.text)))

    def fraction(self, place: Place) -> float:
        """How far into the whole a segment starts, 0 to 1."""
        return (self._starts[place.run] + place.start) / max(1, self.length)

    def at_fraction(self, fraction: float) -> Place:
        """The segment at a part of the whole."""
        at = max(0, min(round(fraction * self.length), self.length - 1))
        run = max(0, min(bisect_right(self._starts, at) - 1, len(self._runs) - 1))
        return self.nearest(run, at - self._starts[run])

    def nearest(self, run: int, at: int) -> Place:
        """The segment with a character of a run, or the nearest one that there is."""
        run = max(0, min(run, len(self._runs) - 1))
        text = self._runs[run]
        low, high = text.line_at(max(0, min(at, len(text.text))))
        # A segment may start a little before or behind its nominal place.
        around = round((at - low) / SEGMENT)
        starts = [text.cut(low, high, number) for number in (around - 1, around, around + 1)]
        return Place(run, max((start for start in starts if start <= at and start < high), default=low))

    def lines(self, place: Place, width: int) -> tuple[DocumentLine, ...]:
        """The lines of one segment in `width` cells; one or more."""
        key = (place, width)
        lines = self._kept.get(key)
        if lines is None:
            lines = self._lay_out(place, width)
            self._kept[key] = lines
            if len(self._kept) > _KEPT_SEGMENTS:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return lines

    def plain(self, limit: int) -> tuple[str, bool]:
        """The text of all blocks as drawn without wrapping, and whether `limit` characters cut it."""
        parts: list[str] = []
        room = limit
        for run in self._runs:
            lead = "".join(span.text for span in run.first)
            part = lead + "\n".join(visible(line) for line in split_lines(run.text[:room]))
            parts.append(part)
            room -= len(run.text) + 1
            if room < 0:
                return "\n".join(parts), True
        return "\n".join(parts), False

    def _lay_out(self, place: Place, width: int) -> tuple[DocumentLine, ...]:
        run = self._runs[place.run]
        start, end = place.start, run.end_of(place.start)
        ends_line = end == run.line_at(start)[1]
        if ends_line and start < end < len(run.text) and run.text[end - 1] == "\r":
            end -= 1
        # A narrow pane keeps room for the text, whatever the layout would like.
        hang = min(run.hang, width // 2)
        lines: list[DocumentLine] = []
        at = 0
        for text, joint in wrapped(run.text[start:end], max(2, width - hang)):
            opens = place.start == 0 and not lines
            lead: Line = (Span(" " * hang),) if hang else ()
            if run.rest and hang == run.hang:
                lead = run.rest
            if opens and run.first:
                lead = run.first
                if hang < run.hang:
                    lead = tuple(span for span in lead if span.text.strip())[:1]
                    lead = (
                        Span(fit("".join(span.text for span in lead).rstrip(), hang), run.first[-1].role),
                    )
            skipped = 0 if opens else sum(len(span.text) for span in lead)
            lines.append(DocumentLine((*lead, *_spans(run, text, at)), skipped, joint))
            at += len(text) + len(joint)
        last = lines[-1]
        lines[-1] = last._replace(joint=last.joint + "\n" if ends_line else last.joint)
        return tuple(lines)


def _spans(run: _Run, text: str, at: int) -> Line:
    """The pieces of a wrapped line that starts at a character of the run's visible text."""
    if run.json:
        return _json_spans(text, run.role)
    if not run.spans:
        return (Span(text, run.role),)
    spans: list[Span] = []
    start, end, place = at, at + len(text), 0
    for piece, role in run.spans:
        low, high = max(start, place), min(end, place + len(piece))
        if low < high:
            spans.append(Span(piece[low - place : high - place], role))
        place += len(piece)
    return tuple(spans)


def _json_spans(text: str, role: Role) -> Line:
    spans: list[Span] = []
    at = 0
    for found in _JSON_KEY.finditer(text):
        spans += (Span(text[at : found.start()], role), Span(found.group(), "key"))
        at = found.end()
    spans.append(Span(text[at:], role))
    return tuple(span for span in spans if span.text)


def _styled(pieces: Line, first: Line, hang: int) -> _Run:
    """A run of pieces with roles; one that is too long for a segment is drawn plainly."""
    drawn = tuple(Span(visible(text), role) for text, role in pieces)
    text = "".join(span.text for span in drawn)
    if len(text) <= SEGMENT:
        return _Run(text, "text", first, hang, spans=drawn)
    return _Run("".join(text for text, _ in pieces), pieces[0].role, first, hang)


def _runs(block: Block) -> Iterable[_Run]:
    match block:
        case Blank():
            return (_Run("", "text"),)
        case Heading(text, remark, role):
            title = Span(text, role)
            return (_styled((title, Span("  "), Span(remark, "dim")) if remark else (title,), (), 0),)
        case Verbatim(text, role, indent, json):
            return (_Run(text, role, _indent(indent), indent, json=json),)
        case Fields(rows, indent):
            keys = [fit(name, cell_len(visible(name[:_KEY_CELLS])), "left") for name, _ in rows]
            widest = min(_KEY_CELLS, max((cell_len(key) for key in keys), default=0))
            return tuple(_field(fit(name, widest), value, indent, widest) for (name, value) in rows)
        case Paragraph(text, mark, indent, role, every_line):
            first = _indent(indent)
            hang = indent
            if mark is not None:
                drawn = visible(mark.text)
                first = (*first, Span(drawn + " ", mark.role))
                hang += cell_len(drawn) + 1
            run = _Run(text, role, first, hang) if isinstance(text, str) else _styled(text, first, hang)
            if every_line:
                run.rest = first
            return (run,)


def _field(name: str, value: str | Line, indent: int, widest: int) -> _Run:
    first = (*_indent(indent), Span(name + "  ", "key"))
    if isinstance(value, str):
        return _Run(value, "text", first, indent + widest + 2)
    return _styled(value, first, indent + widest + 2)


def _indent(cells: int) -> Line:
    return (Span(" " * cells),) if cells else ()

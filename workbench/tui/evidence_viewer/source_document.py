"""A text with its line numbers, colours, and lines that wrap or run on behind the edge of the pane."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from rich.cells import cell_len

from workbench.tui.document import Document, DocumentLine, Place, Verbatim
from workbench.tui.evidence_viewer.colours import Colours
from workbench.tui.present import Line, Span, clusters, fit_line, line_width, number, visible, wrapped

LEAST_TEXT = 12
"""Cells that numbers leave for the text; in a narrower pane there are none."""


class LineIndex:
    """Where the lines of a text begin. Made once, on a worker: it looks at every character."""

    def __init__(self, text: str) -> None:
        starts = array("L", [0])
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def number(self, at: int) -> int:
        """The number, from 1, of the line with a character."""
        return bisect_right(self._starts, at)

    def start(self, line: int) -> int:
        """Where a line begins."""
        return self._starts[line - 1]


class SourceDocument(Document):
    """One text as a document whose lines are laid out as a source file's."""

    def __init__(
        self,
        text: str,
        index: LineIndex,
        colours: Colours,
        *,
        numbered: bool = True,
        wraps: bool = True,
        shift: int = 0,
    ) -> None:
        super().__init__((Verbatim(text),))
        self._text = text
        self._index = index
        self._colours = colours
        self._wraps = wraps
        self._shift = shift
        self._digits = len(number(len(index))) if numbered else 0

    def _lay_out(self, place: Place, width: int) -> tuple[DocumentLine, ...]:
        """The lines of one segment; a segment holds one line of the text or a part of one."""
        run = self._runs[place.run]
        start, end = place.start, run.end_of(place.start)
        low, high = run.line_at(start)
        joint = "\n" if end == high else ""
        stop = end - 1 if end == high and end > start and self._text[end - 1 : end + 1] == "\r\n" else end
        gutter = self._digits + 2 if self._digits and width - self._digits - 2 >= LEAST_TEXT else 0
        room = max(2, width - gutter)
        pieces = self._pieces(start, stop)
        lines: list[DocumentLine] = []
        if self._wraps:
            at = 0
            for text, between in wrapped(self._text[start:stop], room):
                lead = self._lead(gutter, start == low and not lines, start)
                lines.append(DocumentLine((*lead, *_cut(pieces, at, at + len(text))), gutter, between))
                at += len(text) + len(between)
        else:
            lead = self._lead(gutter, start == low, start)
            lines.append(DocumentLine((*lead, *_windowed(pieces, self._shift, room)), gutter, ""))
        lines[-1] = lines[-1]._replace(joint=lines[-1].joint + joint)
        return tuple(lines)

    def _lead(self, gutter: int, opens: bool, start: int) -> Line:
        if not gutter:
            return ()
        said = number(self._index.number(start)) if opens else ""
        return (Span(f"{said:>{self._digits}}  ", "faint"),)

    def _pieces(self, start: int, end: int) -> Line:
        """The visible text of a stretch with its roles; plain where the pieces alone would look otherwise."""
        whole = visible(self._text[start:end])
        drawn: list[Span] = []
        column = 0
        for text, role in self._colours.line(start, end):
            shown = visible(text, column)
            column += cell_len(shown)
            drawn.append(Span(shown, role))
        if "".join(span.text for span in drawn) != whole:
            return (Span(whole, "code"),)
        return tuple(drawn)


def _cut(pieces: Line, start: int, end: int) -> Line:
    """The characters of drawn text from `start` to `end`."""
    spans: list[Span] = []
    at = 0
    for text, role in pieces:
        low, high = max(start, at), min(end, at + len(text))
        if low < high:
            spans.append(Span(text[low - at : high - at], role))
        at += len(text)
    return tuple(spans)


def _windowed(pieces: Line, shift: int, room: int) -> Line:
    """Drawn text without its first `shift` cells, cut with `…` on either side where something is there."""
    if not shift:
        return fit_line(pieces, room) if line_width(pieces) > room else pieces
    left = shift + 1
    rest: list[Span] = []
    for text, role in pieces:
        if left <= 0:
            rest.append(Span(text, role))
            continue
        width = cell_len(text)
        if width <= left:
            left -= width
            continue
        kept: list[str] = []
        for cluster, cells in clusters(text):
            if left > 0:
                left -= cells
            else:
                kept.append(cluster)
        # Half of a wide character is a blank.
        rest.append(Span(" " * -left + "".join(kept), role))
        left = 0
    if not pieces or not any(span.text for span in pieces):
        return ()
    line: Line = (Span("…", "faint"), *rest)
    return fit_line(line, room) if line_width(line) > room else line

"""Untrusted text made fit for a terminal, whether it is printed or drawn (DESIGN §6).

Whatever an agent, a transcript or a note says is shown literally. Nothing here reads markup, and nothing
that a terminal would act on, or that a person could not see, leaves this module as it came in: control
characters, bidirectional marks, zero-width characters and lone surrogates become visible marks. What
remains has the width in cells that `rich.cells.cell_len` says, so that columns stay aligned.

Sizes are in cells unless a name says characters or bytes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Literal, NamedTuple, TypeAlias

from rich.cells import cell_len, get_character_cell_size

Align: TypeAlias = Literal["left", "right"]
Role: TypeAlias = Literal[
    "text",
    "ink",
    "strong",
    "dim",
    "faint",
    "accent",
    "heading",
    "warning",
    "error",
    "success",
    "code",
    "key",
]
"""What a piece of text is for; a theme says how each role looks. `ink` is a title, `strong` a bold one."""


class Span(NamedTuple):
    """A piece of a drawn line."""

    text: str
    role: Role = "text"


Line: TypeAlias = tuple[Span, ...]
"""One drawn line, left to right."""

ELLIPSIS = "…"
TAB = 4
"""Cells between tab stops."""

_MARKS_PER_BASE = 8
"""Combining marks that one character may carry; more are drawn as marks, not stacked over other lines."""
_JOINS = 4
"""Joiners in one emoji; the longest in use has three."""
_ZWJ = "\u200d"
_VS16 = "\ufe0f"
_LONGEST_CLUSTER = 48
"""No drawn cluster has more characters: what lets a long text be cut before it is looked at."""

# Blocks whose every character stands for itself at a width that terminals agree on. Anything else is
# looked at one by one. Whether a block is complete matters for speed only.
_ODD = re.compile(
    "[^ -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf"
    "\u2100-\u2bff\u3000-\u3029\u3030-\u303e\u3041-\u3096\u309b-\u3163\u3165-\ua4c6\uac00-\ud7a3"
    "\uf900-\ufaff\uff01-\uff9f\uffe0-\uffe6\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa"
    "\U0001f400-\U0001faff\U00020000-\U0002fa1f]+"
)
# Combining marks and fillers that leave no trace on the screen, so that text can hide behind them.
_TRACELESS = frozenset(
    chain(
        (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0),
        range(0x180B, 0x1810),
        range(0xFE00, 0xFE10),
        range(0xE0000, 0xE1000),
    )
)
_UNSEEN_CATEGORIES = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])
_SPACES = re.compile(r"[ \t\r\n]+")
_Kind: TypeAlias = Literal["plain", "mark", "combining", "vowel", "skin", "flag", "joiner", "vs16", "tab"]


@lru_cache(4096)
def _kind(char: str) -> _Kind:
    code = ord(char)
    if char == "\t":
        return "tab"
    if char == _ZWJ:
        return "joiner"
    if char == _VS16:
        return "vs16"
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "flag"
    if 0x1F3FB <= code <= 0x1F3FF:
        return "skin"
    category = unicodedata.category(char)
    nothing_there = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    if code in _TRACELESS or category in _UNSEEN_CATEGORIES or nothing_there:
        return "mark"
    if get_character_cell_size(char) > 0:
        return "plain"
    if category in ("Mn", "Mc", "Me"):
        return "combining"
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:
        return "vowel"
    return "mark"


def mark(char: str) -> str:
    """The visible mark that stands for a character which must not be drawn: `␛`, `⟦U+202E⟧`."""
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"⟦U+{code:04X}⟧"


def _is_pictograph(char: str) -> bool:
    code = ord(char)
    return (
        0x1F000 <= code <= 0x1FAFF
        or 0x2190 <= code <= 0x2BFF
        or code in (0xA9, 0xAE, 0x203C, 0x2049, 0x2122, 0x2139, 0x3030, 0x303D, 0x3297, 0x3299)
    )


def _is_bare_pictograph(char: str) -> bool:
    return _is_pictograph(char) and _kind(char) == "plain"


def _is_hangul(char: str) -> bool:
    code = ord(char)
    return 0x1100 <= code <= 0x11FF or 0xA960 <= code <= 0xA97C or 0xAC00 <= code <= 0xD7FB


def visible(text: str, column: int = 0) -> str:
    """The text with everything unseen or acted on made visible; drawing the result twice changes nothing.

    Also a newline is drawn, as `␊`: who wants lines splits first (`split_lines`, `wrap`). Tabs become
    spaces up to the next of the stops, which stand every `TAB` cells; `column` is where the text starts.
    """
    found = _ODD.search(text)
    if found is None:
        return text
    out = _Drawn(column)
    done = 0
    while found is not None:
        start, end = found.span()
        # The character before may be the base of what follows, so it is looked at together with it.
        base_at = max(start - 1, done)
        out.append(text[done:base_at])
        done = _visible_run(text, base_at, end, out)
        found = _ODD.search(text, done)
    out.append(text[done:])
    return "".join(out)


class _Drawn(list[str]):
    """Parts of visible text, and how wide they are where a tab asks for it."""

    def __init__(self, column: int) -> None:
        self._column = column
        self._measured = 0

    def append_tab(self) -> None:
        self._column += sum(map(cell_len, self[self._measured :]))
        blank = " " * (TAB - self._column % TAB)
        self.append(blank)
        self._measured = len(self)
        self._column += len(blank)


def _visible_run(text: str, start: int, end: int, out: _Drawn) -> int:
    """Append what stands for `text[start:end]`, whose first character may be plain.

    The result is where the run really ended: an emoji may go on behind `end`.
    """
    base = ""  # The base of the open cluster and
    cluster = ""  # the cluster as drawn so far; empty where nothing can be attached.
    marks = joins = 0
    index = start
    while index < end:
        char = text[index]
        index += 1
        kind = _kind(char)
        keep = False
        if kind == "plain":
            if cluster:
                out.append(cluster)
            base, cluster, marks, joins = char, char, 0, 0
            continue
        if kind == "combining":
            if base and not base.isspace():
                keep = marks < _MARKS_PER_BASE
                marks += 1
            else:
                # A mark with nothing to stand on would land on the neighbouring column.
                if cluster:
                    out.append(cluster)
                base, cluster, marks, joins = "◌", "◌" + char, 1, 0
                continue
        elif kind == "vowel":
            keep = bool(base) and _is_hangul(base) and marks < _MARKS_PER_BASE
            marks += keep
        elif kind == "skin":
            keep = bool(cluster) and _is_bare_pictograph(cluster[-1]) and cell_len(cluster) == 2
        elif kind == "vs16":
            keycap = cluster in _KEYCAPS and text[index : index + 1] == "\u20e3"
            pictograph = bool(cluster) and _is_bare_pictograph(cluster[-1])
            keep = (keycap or pictograph) and cell_len(cluster + char) == 2
        elif kind == "joiner":
            after = text[index : index + 1]
            keep = (
                bool(cluster)
                and bool(after)
                and joins < _JOINS
                and _is_pictograph(base)
                and _is_pictograph(after)
                and cell_len(cluster) == 2
            )
            if keep:
                joins += 1
                char += after
                index += 1
                if index > end:
                    further = _ODD.match(text, index)
                    end = further.end() if further else index
        elif kind == "flag" and index < end and _kind(text[index]) == "flag":
            if cluster:
                out.append(cluster)
            out.append(char + text[index])
            index += 1
            base, cluster, marks, joins = "", "", 0, 0
            continue
        if keep:
            cluster += char
            continue
        if cluster:
            out.append(cluster)
        base, cluster, marks, joins = "", "", 0, 0
        if kind == "tab":
            out.append_tab()
        else:
            out.append(mark(char))
    if cluster:
        out.append(cluster)
    return end


_KEYCAPS = frozenset("0123456789#*")


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """The parts of visible text that must not be separated, each with its width."""
    open_cluster = ""
    joined = False
    for char in text:
        if open_cluster and (
            joined
            or char == _ZWJ
            or get_character_cell_size(char) == 0
            or (
                "\U0001f1e6" <= char <= "\U0001f1ff"
                and len(open_cluster) == 1
                and "\U0001f1e6" <= open_cluster <= "\U0001f1ff"
            )
        ):
            open_cluster += char
            joined = char == _ZWJ
            continue
        if open_cluster:
            yield open_cluster, cell_len(open_cluster)
        open_cluster = char
        joined = False
    if open_cluster:
        yield open_cluster, cell_len(open_cluster)


def one_line(text: str, limit: int) -> str:
    """A preview of at most `limit` cells: runs of blanks and newlines become one space, a cut ends in `…`.

    Costs the same for a text of any length.
    """
    head = text[: (limit + 2) * _LONGEST_CLUSTER]
    drawn = visible(_SPACES.sub(" ", head).strip(" "))
    if len(head) == len(text) and cell_len(drawn) <= limit:
        return drawn
    return _cut(drawn, limit)


def _cut(drawn: str, cells: int) -> str:
    """The start of visible text and `…`, at most `cells` wide."""
    if cells <= 0:
        return ""
    room = cells - 1
    if drawn.isascii():
        return drawn[:room] + ELLIPSIS
    kept: list[str] = []
    for cluster, width in clusters(drawn):
        if width > room:
            break
        kept.append(cluster)
        room -= width
    return "".join(kept) + ELLIPSIS


def _cut_start(drawn: str, cells: int) -> str:
    """`…` and the end of visible text, at most `cells` wide."""
    if cells <= 0:
        return ""
    room = cells - 1
    kept: list[str] = []
    for cluster, width in reversed(list(clusters(drawn))):
        if width > room:
            break
        kept.append(cluster)
        room -= width
    return ELLIPSIS + "".join(reversed(kept))


def fit(text: str, cells: int, align: Align = "left", keep: Literal["start", "end"] = "start") -> str:
    """The text in exactly `cells` cells: padded with spaces, or cut with `…`; no wide character is split.

    `keep` says which side survives a cut: `end` suits paths. Costs the same for a text of any length.
    """
    if cells <= 0:
        return ""
    reach = (cells + 2) * _LONGEST_CLUSTER
    part = text
    if len(text) > reach:
        part = text[:reach] if keep == "start" else text[-reach:]
    drawn = visible(part)
    width = cell_len(drawn)
    if width > cells or len(part) < len(text):
        drawn = _cut(drawn, cells) if keep == "start" else _cut_start(drawn, cells)
        width = cell_len(drawn)
    pad = " " * (cells - width)
    return pad + drawn if align == "right" else drawn + pad


def fit_line(line: Iterable[Span], cells: int, align: Align = "left") -> Line:
    """Spans in exactly `cells` cells, cut with one `…` at the end or padded on the side `align` says."""
    spans: list[Span] = []
    room = cells
    cut = False
    for text, role in line:
        drawn = visible(text[: (cells + 2) * _LONGEST_CLUSTER])
        width = cell_len(drawn)
        if not drawn:
            continue
        if width > room:
            cut = True
            drawn = _cut(drawn, room) if room else ""
            if drawn:
                spans.append(Span(drawn, role))
                room -= cell_len(drawn)
            break
        spans.append(Span(drawn, role))
        room -= width
    if cut and spans and not spans[-1].text.endswith(ELLIPSIS):
        # The cut fell exactly between two spans: the last one gives up a cell for the mark.
        last = spans.pop()
        shorter = _cut(last.text, cell_len(last.text))
        room += cell_len(last.text) - cell_len(shorter)
        spans.append(Span(shorter, last.role))
    if room > 0:
        pad = Span(" " * room)
        spans = [pad, *spans] if align == "right" else [*spans, pad]
    return tuple(spans)


def line_width(line: Iterable[Span]) -> int:
    """Cells that a drawn line takes."""
    return sum(cell_len(span.text) for span in line)


def split_lines(text: str) -> Iterator[str]:
    """The lines of a text without their ends (`\\n` or `\\r\\n`), one at a time; at least one."""
    start = 0
    while True:
        end = text.find("\n", start)
        if end < 0:
            yield text[start:]
            return
        yield text[start : end - 1 if end > start and text[end - 1] == "\r" else end]
        start = end + 1


class Wrapped(NamedTuple):
    """One line of wrapped text."""

    text: str
    """Visible, at most as wide as was asked for."""
    joint: str
    """What stood between this line and the next: a newline, a space, both, or nothing in a long word."""


_PIECE = 4096
"""Characters made visible at a time, so that a first screen of any text costs the same."""


def wrapped(text: str, width: int) -> Iterator[Wrapped]:
    """Visible lines of at most `width` (2 or more) cells, lazily: broken at spaces, long words anywhere.

    Nothing is lost: texts and joints put together are the visible text, its newlines kept.
    """
    start = 0
    while True:
        end = text.find("\n", start)
        stop = len(text) if end < 0 else end
        if end >= 0 and stop > start and text[stop - 1] == "\r":
            stop -= 1
        last: Wrapped | None = None
        for line in _wrapped_line(text, start, stop, max(2, width)):
            if last is not None:
                yield last
            last = line
        assert last is not None
        if end < 0:
            yield last
            return
        yield Wrapped(last.text, last.joint + "\n")
        start = end + 1


def wrap(text: str, width: int) -> Iterator[str]:
    """The texts of `wrapped`."""
    return (line.text for line in wrapped(text, width))


def _wrapped_line(text: str, start: int, stop: int, width: int) -> Iterator[Wrapped]:
    buffer = ""
    column = 0
    need = (width + 2) * _LONGEST_CLUSTER
    while True:
        while start < stop and len(buffer) < need:
            piece_end = min(start + _PIECE, stop)
            # A piece ends before a plain character, so that no cluster is torn apart.
            for _ in range(_LONGEST_CLUSTER):
                if piece_end >= stop or (_kind(text[piece_end]) == "plain" and text[piece_end - 1] != _ZWJ):
                    break
                piece_end += 1
            piece = visible(text[start:piece_end], column)
            column = (column + cell_len(piece)) % TAB
            buffer += piece
            start = piece_end
        at = 0
        while start >= stop or len(buffer) - at >= need:
            cut, skip = _break_at(buffer, at, width)
            if cut >= len(buffer) and start >= stop:
                yield Wrapped(buffer[at:], "")
                return
            yield Wrapped(buffer[at:cut], buffer[cut : cut + skip])
            at = cut + skip
            if at >= len(buffer) and start >= stop:
                return
        buffer = buffer[at:]


def _break_at(drawn: str, start: int, width: int) -> tuple[int, int]:
    """Where the line that begins at `start` ends, and how many spaces (0 or 1) the break swallows."""
    ahead = drawn[start : start + width + 1]
    if ahead.isascii():
        if len(ahead) <= width:
            return start + len(ahead), 0
        return _at_space(drawn, start, start + width)
    end = start
    wide_break = -1
    room = width
    for cluster, cells in clusters(drawn[start : start + (width + 2) * _LONGEST_CLUSTER]):
        if cells > room:
            break
        room -= cells
        end += len(cluster)
        if cells == 2:
            wide_break = end
    else:
        return end, 0
    if drawn[end] == " ":
        return end, 1
    space = drawn.rfind(" ", start, end)
    # Scripts of wide characters have no spaces and may break after any of them.
    if wide_break > space:
        return wide_break, 0
    return _at_space(drawn, start, end)


def _at_space(drawn: str, start: int, end: int) -> tuple[int, int]:
    if drawn[end] == " ":
        return end, 1
    space = drawn.rfind(" ", start, end)
    if space <= start or drawn[start:space].isspace():
        return end, 0
    return space, 1


def plain_lines(text: str, limit: int = 0) -> str:
    """Visible text that keeps its newlines, cut with `…` after `limit` characters (0: not cut).

    For `notify(..., markup=False)` and other places that take a string.
    """
    short = text[:limit] if limit else text
    drawn = "\n".join(visible(line) for line in split_lines(short))
    return drawn if len(short) == len(text) else drawn + ELLIPSIS

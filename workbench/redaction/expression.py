"""A compiled RE2 expression over bytes, with nothing between a search and the library.

The library's own Python shell makes a generator, three clamped numbers and a match of five parts for every
search; where a hostile text has a candidate every few bytes, that is most of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import re2

_Spans = list[tuple[int, int]]

_Matcher = Callable[[bool, bytes, int, int], _Spans]
"""Whether at the first place alone, the text, from where and up to where; the first span is (-1, -1) if
nothing matches."""


def matcher_of(compiled: Any) -> _Matcher:
    """The library's own matcher of what `re2.compile` gave, or its public shell if that is not as known.

    The shell gives the same, only slower: the inner parts are nobody's promise.
    """
    try:
        anchors = re2._re2.RE2.Anchor
        free, fixed, inner = anchors.UNANCHORED, anchors.ANCHOR_START, compiled._regexp.Match

        def match(at_start: bool, text: bytes, pos: int, endpos: int) -> _Spans:
            spans: _Spans = inner(fixed if at_start else free, text, pos, endpos)
            return spans

        first = match(False, b"", 0, 0)[0]
        if len(first) == 2 and type(first[0]) is int:
            return match
    except (AttributeError, TypeError, ValueError, IndexError):
        pass
    return public_matcher(compiled)


def public_matcher(compiled: Any) -> _Matcher:
    """A matcher through the library's public shell."""
    numbers = range(compiled.groups + 1)

    def match(at_start: bool, text: bytes, pos: int, endpos: int) -> _Spans:
        found = (compiled.match if at_start else compiled.search)(text, pos, endpos)
        return [(-1, -1)] if found is None else [found.span(number) for number in numbers]

    return match


class Found:
    """One match: of the whole (group 0) and, if the expression captures, of each group."""

    __slots__ = ("_spans", "_text")

    def __init__(self, text: bytes, spans: _Spans) -> None:
        self._text = text
        self._spans = spans

    def start(self) -> int:
        """Where the match begins."""
        return self._spans[0][0]

    def end(self) -> int:
        """Where the match ends."""
        return self._spans[0][1]

    def span(self, group: int = 0) -> tuple[int, int]:
        """Where a group begins and ends; (-1, -1) if it took no part."""
        return self._spans[group]

    def __getitem__(self, group: int) -> bytes:
        start, end = self._spans[group]
        return self._text[start:end]

    @property
    def lastindex(self) -> int:
        """The number of the last group that took part; 0 if none did."""
        spans = self._spans
        number = len(spans) - 1
        while number > 0 and spans[number][0] < 0:
            number -= 1
        return number


class Expression:
    """Searches in bytes from `pos` up to `endpos`, as the methods of `re.Pattern` do."""

    __slots__ = ("_match", "groups", "possiblematchrange")

    def __init__(self, compiled: Any) -> None:
        """`compiled` is what `re2.compile` gave for bytes."""
        self._match = matcher_of(compiled)
        self.groups: int = compiled.groups
        self.possiblematchrange: Callable[[int], tuple[bytes, bytes]] = compiled.possiblematchrange

    def search(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Found | None:
        """The first match that begins at `pos` or behind it."""
        size = len(text)
        if endpos is None or endpos > size:
            endpos = size
        if pos > endpos:
            return None
        spans = self._match(False, text, pos, endpos)
        return None if spans[0][0] < 0 else Found(text, spans)

    def match(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Found | None:
        """The match that begins at `pos`."""
        size = len(text)
        if endpos is None or endpos > size:
            endpos = size
        if pos > endpos:
            return None
        spans = self._match(True, text, pos, endpos)
        return None if spans[0][0] < 0 else Found(text, spans)

    def finditer(self, text: bytes, pos: int = 0, endpos: int | None = None) -> Iterator[Found]:
        """All matches in order, none overlapping another."""
        size = len(text)
        end = size if endpos is None or endpos > size else endpos
        while pos <= end:
            spans = self._match(False, text, pos, end)
            if spans[0][0] < 0:
                return
            yield Found(text, spans)
            pos = max(spans[0][1], pos + 1)

    def spans(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where all matches in order begin and end, none overlapping another."""
        match = self._match
        size = len(text)
        pos = 0
        while pos <= size:
            span = match(False, text, pos, size)[0]
            start, end = span
            if start < 0:
                return
            yield span
            pos = end if end > pos else pos + 1

    def sub(self, new: bytes, text: bytes) -> bytes:
        """`text` with `new` in place of every match."""
        pieces: list[bytes] = []
        at = 0
        for found in self.finditer(text):
            pieces += (text[at : found.start()], new)
            at = found.end()
        pieces.append(text[at:])
        return b"".join(pieces)

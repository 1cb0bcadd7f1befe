"""Where the words of a search stand in a text that is shown: as full text matches them, for the eye."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from rich.segment import Segment
from rich.style import Style

from workbench.log.fulltext import MOST_CHARACTERS, normalised
from workbench.tui.document import Block, Fields, Heading, Paragraph, Verbatim
from workbench.tui.present import Line, visible

Words: TypeAlias = re.Pattern[str]
"""Finds what a search for some words has matched."""

_LETTER = r"[^\W_]"
_MARKS = "[\u0300-\u036f]*"
"""Accents that were typed as characters of their own."""
_MOST_PLACES = 10_000
"""Places in one document that can be stepped through."""


class HitPlace(NamedTuple):
    """Where in a document a match begins."""

    block: int
    row: int
    """Which row of `Fields`; 0 elsewhere."""
    at: int
    """The character of that text."""


def words_of(text: str) -> Words | None:
    """The pattern for a search text; None if it holds no word. The last word matches as a beginning."""
    parts = normalised(text[:MOST_CHARACTERS]).split()
    phrases = [tokens for part in parts if (tokens := re.findall(f"{_LETTER}+", part))]
    if not phrases:
        return None
    written = [r"[\W_]+".join(map(_written, tokens)) for tokens in phrases]
    ends = [f"(?!{_LETTER})"] * (len(written) - 1) + [f"{_LETTER}*"]
    # The longer first, so that it is not cut to the shorter one.
    either = sorted((phrase + end for phrase, end in zip(written, ends, strict=True)), key=len, reverse=True)
    return re.compile(f"(?<!{_LETTER})(?:{'|'.join(either)})", re.IGNORECASE)


def _written(token: str) -> str:
    return "".join(_character(character) for character in token)


@cache
def _character(character: str) -> str:
    """A pattern for one character in the spellings that full text takes for the same."""
    lower = character.lower()
    base = unicodedata.normalize("NFD", lower)[0]
    if base.isascii() and base.isalpha():
        return f"[{base}{_accented().get(base, '')}]{_MARKS}"
    if lower in "её":
        return f"[её]{_MARKS}"
    apart = unicodedata.normalize("NFD", character)
    return re.escape(character) if apart == character else f"(?:{re.escape(character)}|{re.escape(apart)})"


@cache
def _accented() -> dict[str, str]:
    """For each ASCII letter the Latin letters that are it with an accent."""
    found: dict[str, str] = {}
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        base = unicodedata.normalize("NFD", chr(code))[0].lower()
        if base.isascii() and base.isalpha():
            found[base] = found.get(base, "") + chr(code)
    return found


def with_hits(segments: Iterable[Segment], words: Words | None, style: Style) -> list[Segment]:
    """Drawn text with every match in another style; a match may go over several pieces."""
    pieces = list(segments)
    if words is None:
        return pieces
    spans = [found.span() for found in words.finditer("".join(piece.text for piece in pieces))]
    if not spans:
        return pieces
    drawn: list[Segment] = []
    at = 0
    for text, own, control in pieces:
        end, done = at + len(text), at
        for low, high in spans:
            low, high = max(low, done), min(high, end)
            if low < high:
                if done < low:
                    drawn.append(Segment(text[done - at : low - at], own, control))
                marked = style if own is None else own + style
                drawn.append(Segment(text[low - at : high - at], marked, control))
                done = high
        if done < end or not text:
            drawn.append(Segment(text[done - at :], own, control))
        at = end
    return drawn


def hit_places(blocks: Sequence[Block], words: Words | None) -> list[HitPlace]:
    """Where matches begin in a document, in order; of very many the first ones."""
    if words is None:
        return []
    places: list[HitPlace] = []
    for number, block in enumerate(blocks):
        for row, text in enumerate(_texts(block)):
            for found in words.finditer(text):
                places.append(HitPlace(number, row, found.start()))
                if len(places) >= _MOST_PLACES:
                    return places
    return places


def _texts(block: Block) -> Iterator[str]:
    match block:
        case Heading(text, _, _):
            yield text
        case Verbatim(text=text):
            yield text
        case Paragraph(text=text):
            yield _plain(text)
        case Fields(rows=rows):
            for _, value in rows:
                yield _plain(value)
        case _:
            yield ""


def _plain(text: str | Line) -> str:
    return text if isinstance(text, str) else "".join(visible(span.text) for span in text)

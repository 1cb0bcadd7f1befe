"""Streams and ranges of events in a person's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench.drawing import plain_prose
from workbench.log.fulltext import normalised
from workbench.tui.present import Line, Span, fit_line, line_width, number, one_line

if TYPE_CHECKING:
    from workbench.workspace.readers.chronicle_queries import StreamRow

_CELLS = 160
_NAME = 3 * _CELLS
_WORDS = 400
_WORD = re.compile("[\\w\u0300-\u036f]+")
"""A word, with the accents that are written behind their letters."""


def stream_title(row: StreamRow) -> str:
    """A task as `project/task`, a session by its title; else the stream's name, in one line."""
    if row.task_id:
        return one_line("/".join(part for part in (row.project, row.task_id) if part), _CELLS)
    return one_line(row.title, _CELLS) or stream_name(row.stream)


def stream_domain(row: StreamRow) -> str:
    """The domain of a task, where it is not the usual one."""
    return one_line(row.domain, _CELLS) if row.task_id and row.domain != "global" else ""


def plain_words(prose: str) -> str:
    """The beginning of a Markdown text without its marks, in one line."""
    return plain_prose(prose[:_WORDS])


def words_around(words: str, wanted: str, width: int) -> Line:
    """Words of a prose in `width` cells; the first of those looked for is marked, and never cut off."""
    text = plain_words(words)
    found = _first(text, wanted)
    if found is None:
        return fit_line((Span(text, "text"),), width)
    start, end = found
    begin = 0
    if _cells(text[:end]) > width - 1:
        # A third of the room is for what stands before it.
        begin = start
        room = width // 3
        while begin and _cells(text[begin - 1 : start]) <= room:
            begin -= 1
        begin = text.find(" ", begin, start) + 1 or begin
    before = f"… {text[begin:start]}" if begin else text[:start]
    line = (Span(before, "text"), Span(text[start:end], "accent"), Span(text[end:], "text"))
    return fit_line(line, width)


def _cells(text: str) -> int:
    return line_width((Span(text),))


def _first(text: str, wanted: str) -> tuple[int, int] | None:
    """Where the first of the words looked for stands in a text."""
    asked = _WORD.findall(normalised(wanted).casefold())
    for word in _WORD.finditer(text):
        folded = normalised(word[0]).casefold()
        for each in asked:
            at = folded.find(each)
            if at >= 0:
                start = min(word.start() + at, word.end() - 1)
                return start, min(start + len(each), word.end())
    return None


def pin_words(key: str) -> str:
    """What was drawn, and the beginning of the digest that tells it from others: `model_call 5f3a1c0b`."""
    kind, _, digest = key.removeprefix("p1:").rpartition(":")
    return one_line(f"{kind} {digest[:8]}".strip(), _CELLS)


def stream_name(stream: str) -> str:
    """The name of a stream as people read it; what is asked for is always the name as it is."""
    _, slash, rest = stream.partition("/")
    return one_line(unquote(rest[:_NAME]) if slash else stream, _CELLS)


def range_words(first: int, last: int) -> str:
    """`13–31`, or `7` for one event."""
    return number(first) if first == last else f"{number(first)}–{number(last)}"

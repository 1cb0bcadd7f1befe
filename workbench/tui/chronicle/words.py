"""Streams and ranges of events in a person's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbench.tui.present import number, one_line

if TYPE_CHECKING:
    from workbench.workspace.readers.chronicle_queries import StreamRow

_CELLS = 160
_NAME = 3 * _CELLS
_WORDS = 400
_MARKS = re.compile(r"(?:(?<=\s)|^)(?:#{1,6}|[-*+>]|\d{1,3}\.)(?=\s)")
_INLINE = re.compile(r"\*\*|__|`")


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
    return " ".join(_INLINE.sub("", _MARKS.sub("", prose[:_WORDS])).split())


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

"""A tool call and its outcome in a few words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Literal, NamedTuple

import msgspec

from workbench.tui.present import Span, counted, one_line, size
from workbench.workspace.readers.entry_damage import UnreadableActum
from workbench.workspace.rows import ActumRow

_TELLING = (
    "command",
    "cmd",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "path",
    "url",
    "description",
    "skill",
    "subject",
    "prompt",
    "text",
    "input",
)
"""Inputs that say best what a call does, the best first."""
_PATHS = frozenset({"file_path", "notebook_path", "path"})
_WITH_PATTERN = ("pattern", "query")
_TEXTS = 6
"""Texts that stand for an input that no rule is for."""
_DEPTH = 6
_SUMMARY = 400
"""Cells of a summary that are ever needed."""


def tool_name(call: ActumRow) -> str:
    """The tool's name, or what stands for it."""
    name = call.metadata.get("name")
    return name if isinstance(name, str) and name else "tool"


class Summary(NamedTuple):
    """A text on one line, and which side of it must survive a cut."""

    text: str
    keep: Literal["start", "end"] = "start"


def call_summary(call: ActumRow, folder: str = "") -> Summary:
    """What a call does: its most telling input; paths below `folder` without it."""
    fields = _fields(call)
    if fields is None:
        return Summary(one_line(call.content, _SUMMARY))
    for name in _TELLING:
        value = fields.get(name)
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            value = " ".join(value)
        if not isinstance(value, str) or not value.strip():
            continue
        if name in _PATHS:
            return Summary(one_line(short_path(value, folder), _SUMMARY), "end")
        place = next((fields[key] for key in ("path", "glob") if isinstance(fields.get(key), str)), "")
        if name in _WITH_PATTERN and place:
            return Summary(one_line(f"{value}  {short_path(place, folder)}", _SUMMARY))
        return Summary(one_line(value, _SUMMARY))
    if not fields:
        return Summary("")
    return Summary(one_line(" · ".join(islice(_texts(fields), _TEXTS)) or call.content, _SUMMARY))


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts of an input that no rule is for, in order; of each item of a list only its first."""
    if isinstance(value, str):
        if value.strip():
            yield value
    elif depth >= _DEPTH:
        return
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from islice(_texts(each, depth + 1), 1)


def short_path(path: str, folder: str) -> str:
    """A path without the working folder that it lies in."""
    rest = path.removeprefix(folder.rstrip("/") + "/") if folder else path
    return rest or path


def outcome(call: ActumRow, reply: ActumRow | None) -> tuple[Span, Span]:
    """How a call ended: a mark, and the words after it."""
    if reply is None:
        if call.reply_seq is not None:
            return Span("✓", "success"), Span(" answered", "dim")
        return Span("…", "warning"), Span(" no response", "dim")
    if isinstance(reply, UnreadableActum):
        return Span("✗", "error"), Span(" unreadable", "error")
    if reply.metadata.get("is_error") is True:
        return Span("✗", "error"), Span(" error", "error")
    return Span("✓", "success"), Span(f" {extent(reply)}", "dim")


def extent(reply: ActumRow) -> str:
    """How much a response says."""
    if reply.content_chars > len(reply.content):
        return size(reply.content_chars)
    text = reply.content.rstrip("\n")
    if not text:
        return "empty"
    return counted(text.count("\n") + 1, "line")


def _fields(call: ActumRow) -> dict[str, Any] | None:
    if call.content_chars > len(call.content):
        return _fields_of_cut(call.content)
    try:
        found = msgspec.json.decode(call.content)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


_MEMBER = re.compile(r'"(\w{1,40})":\s*"((?:[^"\\]|\\.)*)')


def _fields_of_cut(text: str) -> dict[str, Any] | None:
    """The texts that can be read from the beginning of an object."""
    if not text.startswith("{"):
        return None
    found: dict[str, Any] = {}
    for name, value in _MEMBER.findall(text[:4000]):
        try:
            found.setdefault(name, msgspec.json.decode(f'"{value}"'))
        except (msgspec.DecodeError, UnicodeError):
            continue
    return found or None

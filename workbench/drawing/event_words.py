"""Events in a person's words: a mark, a short word and one line for each type.

A type that is not known here is called by the words of its name, and its payload is shown as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from workbench.drawing.figures import counted, number
from workbench.drawing.memory_words import (
    CHECKPOINT,
    FACT,
    MEMORY_TITLES,
    OBSERVATION,
    PURGED,
    REVIEW,
    VISIBILITY,
    memory_body,
    memory_line,
)
from workbench.drawing.text import Line, Role, Span, one_line

if TYPE_CHECKING:
    from workbench.workspace.rows import EventRow

ENTRY = "actum.recorded"
BEGUN = "chronicum.created"
DESCRIBED = "chronicum.described"
CLOSED = "unit.closed"
SCRUBBED = "redaction.applied"

RECEIPTS = "redactions"
"""What of a payload says what the filter took out of it."""
LINE_CELLS = 240
"""Cells of the one line of an event: more than the widest list shows."""
_HEAD = 2000
"""Characters of a text that its one line is made from."""


_STRING = r'"((?:[^"\\]|\\.){1,2000})'
# Looked for in text that a list may have clipped, where no parser would find anything.
_MAIN_ARGUMENT = re.compile(
    r'[{,]\s*"(?:command|file_path|path|notebook_path|pattern|query|url|description|prompt)"\s*:\s*' + _STRING
)
_TEXT_ARGUMENT = re.compile(r'[{,]\s*"[^"\\]{0,80}"\s*:\s*' + _STRING)


class Kind(NamedTuple):
    """How an event of a kind is called and marked."""

    mark: str
    word: str
    mark_role: Role = "dim"
    text_role: Role = "text"


_ENTRY_KINDS = {
    "message": Kind("●", "message"),
    "thought": Kind("◌", "thought", "faint", "dim"),
    "tool_request": Kind("→", "tool call"),
    "tool_response": Kind("←", "tool result", "faint", "dim"),
}
_HUMAN_MESSAGE = Kind("●", "message", "accent", "ink")
_TYPE_KINDS = {
    BEGUN: Kind("◆", "session", "heading", "ink"),
    DESCRIBED: Kind("◇", "described", "dim", "text"),
    CLOSED: Kind("■", "unit closed", "dim", "ink"),
    SCRUBBED: Kind("◈", "scrubbed", "warning", "text"),
    OBSERVATION: Kind("○", "observation", "dim", "text"),
    FACT: Kind("◎", "fact", "accent", "ink"),
    CHECKPOINT: Kind("▲", "checkpoint", "heading", "ink"),
    REVIEW: Kind("◊", "review", "accent", "ink"),
    VISIBILITY: Kind("◐", "visibility", "warning", "text"),
    PURGED: Kind("◍", "purged", "warning", "text"),
}

TYPE_TITLES: Mapping[str, str] = {
    ENTRY: "messages, thoughts, tool calls",
    BEGUN: "sessions begun",
    DESCRIBED: "sessions described",
    CLOSED: "units closed",
    SCRUBBED: "secrets scrubbed",
    **MEMORY_TITLES,
}
"""What the types are called where all of a type are meant."""


def type_title(name: str) -> str:
    """A type in words: those of its name where it has no others."""
    return TYPE_TITLES.get(name) or _words_of(name).capitalize() or name


def kind_of(event: EventRow) -> Kind:
    """How an event is called and marked."""
    if event.type == ENTRY:
        kind = text_of(event, "kind")
        if kind == "message" and text_of(event, "actor_kind") == "human":
            return _HUMAN_MESSAGE
        return _ENTRY_KINDS.get(kind, Kind("·", _words_of(kind) or "entry"))
    return _TYPE_KINDS.get(event.type, Kind("·", _words_of(event.type) or event.type))


def text_of(event: EventRow, name: str) -> str:
    """A text of the payload; empty where there is none of this name."""
    value = event.payload.get(name)
    return value if isinstance(value, str) else ""


def tool_of(event: EventRow) -> str:
    """The tool that an entry calls; empty where it calls none."""
    metadata = event.payload.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and text_of(event, "kind") == "tool_request" else ""


def body_of(event: EventRow) -> str:
    """The text that the event carries for people; empty where it has none."""
    if event.type == ENTRY:
        return text_of(event, "content")
    if event.type == CLOSED:
        return text_of(event, "note")
    if event.type == DESCRIBED:
        return text_of(event, "title")
    return memory_body(event.type, event.payload) or ""


def event_line(event: EventRow) -> Line:
    """What happened, on one line."""
    role = kind_of(event).text_role
    if event.type == ENTRY:
        tool = tool_of(event)
        content = text_of(event, "content")
        if tool:
            return (Span(_flat(tool) + "  ", "ink"), Span(_flat(_main_argument(content)), "dim"))
        return (Span(_flat(content), role),)
    if event.type == BEGUN:
        return (Span("begun for ", "dim"), Span(_flat(text_of(event, "owner_id")), role))
    if event.type == CLOSED:
        note = text_of(event, "note")
        return (Span(_flat(text_of(event, "unit")), role), Span("  " + _flat(note) if note else "", "dim"))
    if event.type == DESCRIBED:
        return _described_line(event, role)
    if event.type == SCRUBBED:
        return _scrubbed_line(event, role)
    said = memory_line(event.type, event.payload)
    if said is not None:
        before, after = (f"{_flat(said.before)}  " if said.before else ""), _flat(said.after)
        text = Span(_flat(said.text), role)
        withheld = (Span("withheld  ", "warning"),) if event.quarantined else ()
        return (*withheld, Span(before, "dim"), text, Span(f"  {after}" if after else "", "faint"))
    return (Span(_flat(_json(event.payload)), "dim"),)


def _described_line(event: EventRow, role: Role) -> Line:
    title = text_of(event, "title")
    if title:
        return (Span(_flat(title), role),)
    known = [
        f"{name.replace('_', ' ')} {plain(value)}"
        for name, value in event.payload.items()
        if value and name != RECEIPTS
    ]
    removed = receipts_words(event)
    return (Span(_flat(" · ".join([*known, *([removed] if removed else [])])), "dim"),)


def _scrubbed_line(event: EventRow, role: Role) -> Line:
    kind, place = text_of(event, "kind"), scrubbed_place(event)
    said = f"{counted(_count(event.payload), 'secret')} removed{f' ({kind})' if kind else ''}"
    return (Span(_flat(said), role), Span("  " + _flat(place) if place else "", "dim"))


def scrubbed_place(event: EventRow) -> str:
    """Where a scrub found what it took out: `content of event 12`, or the name of a file; "" if unsaid."""
    field, position = text_of(event, "field"), event.payload.get("position")
    if not isinstance(position, int) or isinstance(position, bool) or position < 1:
        return field
    return f"{field} of event {number(position)}" if field else f"event {number(position)}"


def receipts_words(event: EventRow) -> str:
    """What the filter took out of an event before it was stored, in words; "" where that is nothing.

    `2 secrets removed (github_token, jwt)`, the kinds in the order of their receipts.
    """
    receipts = event.payload.get(RECEIPTS)
    known = [each for each in receipts if isinstance(each, dict)] if isinstance(receipts, list) else []
    if not known:
        return ""
    named = (each.get("kind") for each in known)
    kinds = dict.fromkeys(kind for kind in named if isinstance(kind, str) and kind)
    said = f"{counted(sum(map(_count, known)), 'secret')} removed"
    return f"{said} ({', '.join(kinds)})" if kinds else said


def _count(receipt: Mapping[str, Any]) -> int:
    count = receipt.get("count")
    return count if isinstance(count, int) and not isinstance(count, bool) and count > 0 else 1


def _words_of(name: str) -> str:
    """`fact.recorded` as words: `fact recorded`."""
    return " ".join(re.sub(r"[._\-\s]+", " ", name).split())


def _main_argument(content: str) -> str:
    """What a tool is called for: a command, a path, a question; else its first text, else all."""
    if not content.startswith("{"):
        return content
    found = _MAIN_ARGUMENT.search(content) or _TEXT_ARGUMENT.search(content)
    if found is None:
        return content
    try:
        return msgspec.json.decode(f'"{found.group(1)}"', type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return content


def _flat(text: str) -> str:
    return one_line(text[:_HEAD], LINE_CELLS)


def plain(value: object) -> str:
    """A value of a payload: a text as it is, texts side by side, anything else as JSON."""
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def event_words(event: EventRow) -> str:
    """What happened, as one line of plain text for a printed list."""
    reason = getattr(event, "unreadable", "")
    if reason:
        return _flat(f"‹unreadable: {reason}› run workbench doctor")
    return "".join(span.text for span in event_line(event)).rstrip()

"""One actum whole, as a document: what it says, what answered it, and everything that was kept with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Any

import msgspec

from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, Verbatim, note
from workbench.tui.present import Line, Span, counted, exact, number, one_line
from workbench.tui.sessions.calls import tool_name
from workbench.tui.sessions.shown import UNIT_CLOSED
from workbench.workspace.readers.entry_damage import UnreadableActum
from workbench.workspace.rows import ActumRow

PRETTY_CHARS = 4_000_000
"""Characters up to which JSON is laid out; a longer text is shown as it is."""


def actum_blocks(
    actum: ActumRow, reply: ActumRow | None, zone: tzinfo, *, raw: bool, act: int = 0
) -> tuple[list[Block], int | None]:
    """The document of an actum, and the block at which its response begins.

    `act` is its number among the session's acts, from 1; 0 where that is not said. `raw` shows texts
    exactly as they were recorded; else JSON is laid out and Markdown gets its look.
    """
    blocks: list[Block] = [
        Heading(title_of_actum(actum), _marks(actum), "strong"),
        _facts(actum, zone, act),
        Blank(),
    ]
    blocks += _content(actum, raw=raw)
    answer: int | None = None
    if actum.kind == "tool_request":
        blocks.append(Blank())
        answer = len(blocks)
        if reply is None:
            blocks.append(Heading("No response", "was recorded", "warning"))
        else:
            failed = reply.metadata.get("is_error") is True or isinstance(reply, UnreadableActum)
            said = counted(reply.content_chars, "character")
            blocks.append(
                Heading("✗ Response" if failed else "✓ Response", said, "error" if failed else "success")
            )
            blocks += _content(reply, raw=raw)
    for title, source in (("Kept with it", actum), ("Kept with the response", reply)):
        known = source is not None and not isinstance(source, UnreadableActum)
        kept = _metadata(source.metadata) if source is not None and known else []
        if kept:
            blocks += [Blank(), Heading(title), Fields(kept, indent=1)]
    return blocks, answer


def whole(
    read: Callable[[str, int], ActumRow | None], session_id: str, seq: int
) -> tuple[ActumRow, ActumRow | None]:
    """An actum whole and, for a tool call, its response whole. Raises `ChronicumNotFound` if it is gone."""
    actum = read(session_id, seq)
    if actum is None:
        from workbench.sessions.errors import ChronicumNotFound

        raise ChronicumNotFound
    reply = None
    if actum.kind == "tool_request" and actum.reply_seq is not None:
        reply = read(session_id, actum.reply_seq)
    return actum, reply


def title_of_actum(actum: ActumRow) -> str:
    """`planner thinks`, `Bash, called by planner`: what it is, on one line."""
    actor = one_line(actum.actor, 120)
    if isinstance(actum, UnreadableActum):
        return f"✗ Unreadable {actum.kind.replace('_', ' ')}"
    if actum.kind == "tool_request":
        return f"{one_line(tool_name(actum), 80)}, called by {actor}"
    if actum.kind == "tool_response":
        return f"{actor} answers"
    if actum.kind == "thought":
        return f"{actor} thinks"
    return f"Unit closed: {actor}" if actum.kind == UNIT_CLOSED else actor


def plain_text(actum: ActumRow, reply: ActumRow | None) -> str:
    """What was said, as it was recorded: the text that is copied."""
    return actum.content if reply is None else f"{actum.content}\n\n{reply.content}"


def _marks(actum: ActumRow) -> str:
    words = [actum.actor_kind if actum.kind != UNIT_CLOSED else ""]
    if actum.private:
        words.append("private")
    if actum.metadata.get("orphan") is True:
        words.append("sub-agent without its session")
    return " · ".join(word for word in words if word)


def _facts(actum: ActumRow, zone: tzinfo, act: int) -> Fields:
    rows: list[tuple[str, str | Line]] = []
    if actum.occurred_at is not None:
        rows.append(("happened", exact(actum.occurred_at, zone)))
    rows.append(("recorded", exact(actum.at, zone)))
    which = f"act {number(act)} of the session, " if act and actum.kind != UNIT_CLOSED else ""
    rows.append(("place", f"{which}event {number(actum.position)} of the log"))
    if actum.id:
        rows.append(("id", actum.id))
    if not isinstance(actum, UnreadableActum):
        rows.append(("length", counted(actum.content_chars, "character")))
    return Fields(rows)


def _content(actum: ActumRow, *, raw: bool) -> Sequence[Block]:
    text = actum.content
    if isinstance(actum, UnreadableActum):
        stored = Verbatim(actum.stored) if actum.stored else note("nothing")
        return [Paragraph(text, Span("✗", "error")), Blank(), Heading("As it is stored"), stored]
    if not text:
        return [note("says nothing")]
    if raw:
        return [Verbatim(text)]
    if actum.kind == "message":
        from workbench.tui.markdown_lines import markdown_blocks

        return markdown_blocks(text)
    if actum.kind == "tool_request":
        fields = _json(text)
        if isinstance(fields, dict) and fields and len(text) <= PRETTY_CHARS:
            return _call_blocks(fields)
    laid_out = _json(text) if actum.kind != "thought" else None
    if isinstance(laid_out, dict | list):
        return [Verbatim(_pretty(laid_out), json=True)]
    return [Verbatim(text, role="text" if actum.kind == "thought" else "code")]


def _call_blocks(fields: dict[str, Any]) -> list[Block]:
    """Inputs by name: short ones beside it, texts of several lines below it."""
    short: list[tuple[str, str | Line]] = []
    long: list[tuple[str, str, bool]] = []
    for name, value in fields.items():
        if isinstance(value, str):
            if "\n" in value or len(value) > 200:
                long.append((name, value, False))
            else:
                short.append((name, value))
        elif isinstance(value, dict | list) and value:
            long.append((name, _pretty(value), True))
        else:
            short.append((name, (Span(json.dumps(value), "accent"),)))
    blocks: list[Block] = [Fields(short)] if short else []
    for name, text, is_json in long:
        if blocks:
            blocks.append(Blank())
        blocks += [Heading(one_line(name, 80), role="key"), Verbatim(text, json=is_json)]
    return blocks


def _metadata(metadata: dict[str, Any]) -> list[tuple[str, str | Line]]:
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in sorted(metadata.items())
    ]


def _json(text: str) -> Any:
    """The value of a JSON object or array; None for any other text, and for one too long to lay out."""
    begin = text[:64].lstrip()[:1]
    if begin not in ("{", "[") or len(text) > PRETTY_CHARS:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)

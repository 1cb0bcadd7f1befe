"""One event as a document: in words, and as the JSON object that it is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo
from typing import Any

import msgspec

from workbench.log.times import to_text
from workbench.tui.document import Blank, Block, Fields, Heading, Paragraph, Verbatim, note
from workbench.tui.present import Line, Span, ago, exact, number, one_line, size
from workbench.tui.timeline.event_rows import time_of
from workbench.tui.timeline.event_words import (
    BEGUN,
    CLOSED,
    DESCRIBED,
    ENTRY,
    MEMORY_TITLES,
    RECEIPTS,
    SCRUBBED,
    body_of,
    kind_of,
    memory_fields,
    plain,
    receipts_words,
    scrubbed_place,
    text_of,
    tool_of,
)
from workbench.workspace.readers.entry_damage import UnreadableEvent, damage_words
from workbench.workspace.rows import EventRow, SessionRow, TimelineOrder, Withheld

_PRETTY_CHARS = 256 * 1024
"""Arguments of a tool up to this length are laid out over lines."""

_TITLE_CELLS = 60
_LABELS = {
    "cwd": "folder",
    "git_branch": "branch",
    "client_version": "client",
    "forked_from": "fork of",
    "source": "file",
}
"""What a session's description calls its fields, as the Sessions screen does; short, for a narrow pane."""
_VERBS = {
    BEGUN: "Session begun",
    DESCRIBED: "Session described",
    CLOSED: "Unit closed",
    SCRUBBED: "Secret scrubbed",
}


def event_blocks(
    event: EventRow,
    session: SessionRow | None,
    *,
    now: datetime,
    zone: tzinfo,
    remark: str = "",
    act: int | None = None,
    order: TimelineOrder = "recorded",
) -> list[Block]:
    """What happened, who did it, where and when, then its text.

    `session` is the session it belongs to and `act` its number among that session's acts, where they
    are known; `remark` says what of the event is not shown and stands before its text. The age in the
    heading is that of the time that the list's `order` goes by, from the list's own `now`.
    """
    blocks: list[Block] = [_heading(event, now, order)]
    blocks += [Blank(), Fields(tuple(_facts(event, session, now, zone, act, order)))]
    if remark:
        blocks += [Blank(), Paragraph(remark, Span("◔", "warning"), role="dim")]
    if isinstance(event, UnreadableEvent):
        blocks += damage_blocks(event)
    elif (text := _text(event)) is not None:
        blocks += [Blank(), text]
    return [*blocks, Blank(), Fields(tuple(_identity(event)))]


def damage_blocks(event: UnreadableEvent) -> list[Block]:
    """Why an event cannot be read, what helps, and the beginning of what is stored."""
    return [
        Blank(),
        Paragraph(damage_words(event.unreadable), Span("✗", "error")),
        Blank(),
        Heading("As it is stored"),
        Verbatim(event.stored) if event.stored else note("nothing"),
    ]


def raw_blocks(text: str, remark: str = "") -> list[Block]:
    """The JSON text of an event."""
    head: list[Block] = [Paragraph(remark, Span("◔", "warning"), role="dim"), Blank()] if remark else []
    return [*head, Verbatim(text, json=True)]


def event_object(event: EventRow) -> dict[str, Any]:
    """Every field of the event's envelope and its payload, with names as in the log's JSON lines."""
    return {
        "position": event.position,
        "stream": event.stream,
        "seq": event.seq,
        "event_id": event.event_id,
        "namespace": event.namespace,
        "type": event.type,
        "schema_version": event.schema_version,
        "recorded_at": to_text(event.recorded_at),
        "occurred_at": None if event.occurred_at is None else to_text(event.occurred_at),
        "actor": event.actor,
        "visibility": "private" if event.private else "public",
        "causation_id": event.causation_id,
        "correlation_id": event.correlation_id,
        "payload": event.payload,
    }


def json_line(event: EventRow) -> str:
    """The event as one line of JSON."""
    return msgspec.json.encode(event_object(event)).decode()


def json_text(event: EventRow) -> str:
    """The event as JSON over several lines."""
    return msgspec.json.format(msgspec.json.encode(event_object(event)), indent=2).decode()


def _heading(event: EventRow, now: datetime, order: TimelineOrder) -> Heading:
    kind = kind_of(event)
    tool = tool_of(event)
    if isinstance(event, UnreadableEvent):
        when = _ago(time_of(event, order), now) if event.times_known else ""
        return Heading(f"{kind.mark} {kind.word.capitalize()}", when, "error")
    title = _VERBS.get(event.type) or (f"{kind.word} {tool}" if tool else kind.word)
    who = [event.actor, text_of(event, "actor_kind")]
    private = [*(["private"] if event.private else []), *(["withheld"] if event.quarantined else [])]
    return Heading(
        f"{kind.mark} {title[:1].upper()}{title[1:]}",
        " · ".join(part for part in (*who, *private, _ago(time_of(event, order), now)) if part),
        "strong",
    )


def _why_withheld(withheld: Withheld, own: int) -> str:
    """Who took it out of agents' sight, and why."""
    by = plain(withheld.by)[:100] if withheld.by else "the guard"
    at = "" if withheld.position == own else f", event {number(withheld.position)}"
    return f"by {by}{at}: {plain(withheld.reason)[:2000] or 'no reason is known'}"


def _ago(then: datetime, now: datetime) -> str:
    return ago(then, now).replace(" ", "\u00a0")


def _facts(
    event: EventRow,
    session: SessionRow | None,
    now: datetime,
    zone: tzinfo,
    act: int | None,
    order: TimelineOrder,
) -> Iterable[tuple[str, str | Line]]:
    chronicum_id = text_of(event, "chronicum_id")
    if chronicum_id:
        owner = text_of(event, "owner_id") if session is None else session.owner_id
        which = f"act\u00a0{number(act)} of the session" if act and event.type == ENTRY else ""
        place = " · ".join(part for part in (chronicum_id, owner, which) if part)
        if session is not None and session.title:
            yield "session", (Span(one_line(session.title, _TITLE_CELLS), "ink"),)
            yield "", (Span(place, "dim"),)
        else:
            yield "session", place
    else:
        yield "stream", f"{event.stream} · event {number(event.seq)}"
    if event.type == CLOSED:
        yield "unit", text_of(event, "unit")
    if event.type == DESCRIBED:
        for name, value in event.payload.items():
            if name not in ("title", RECEIPTS) and value:
                yield _LABELS.get(name, name.replace("_", " ")), plain(value)[:2000]
    if event.type == SCRUBBED:
        yield "kind", text_of(event, "kind")
        yield "removed", plain(event.payload.get("count", 1))[:200]
        yield "from", scrubbed_place(event)
        yield "filter", (Span(text_of(event, "filter_version"), "dim"),)
    if event.withheld is not None:
        yield "withheld", _why_withheld(event.withheld, event.position)
    for label, value in memory_fields(event.type, event.payload):
        yield label, value[:2000]
    if removed := receipts_words(event):
        yield "filter", removed
    if isinstance(event, UnreadableEvent) and not event.times_known:
        yield "happened", f"{number(event.happened)} µs from 1970, which is no time"
        return
    yield "recorded", _time(event.recorded_at, now, zone, aged=order == "happened" and _differs(event))
    if event.occurred_at is not None:
        yield "happened", _time(event.occurred_at, now, zone, aged=order == "recorded" and _differs(event))


def _differs(event: EventRow) -> bool:
    """Whether it was recorded at another time than it happened: then the heading tells one age only."""
    return event.happened_at != event.recorded_at


def _time(then: datetime, now: datetime, zone: tzinfo, *, aged: bool) -> Line:
    return (Span(exact(then, zone)), *((Span(f"  {_ago(then, now)}", "dim"),) if aged else ()))


def _identity(event: EventRow) -> Iterable[tuple[str, str | Line]]:
    yield "event", (Span(f"{number(event.position)} · {event.type}", "dim"),)
    yield "id", (Span(event.event_id, "dim"),)


def _text(event: EventRow) -> Block | None:
    if event.type in (BEGUN, DESCRIBED, CLOSED, ENTRY, SCRUBBED, *MEMORY_TITLES):
        body = body_of(event)
        if not body:
            return note("No text.") if event.type == ENTRY else None
        if tool_of(event):
            return _arguments(body)
        return Verbatim(body, "text" if event.type != ENTRY or text_of(event, "kind") != "thought" else "dim")
    pretty = msgspec.json.format(msgspec.json.encode(event.payload), indent=2).decode()
    return Verbatim(pretty, json=True)


def _arguments(text: str) -> Verbatim:
    if len(text) <= _PRETTY_CHARS and text.startswith(("{", "[")):
        try:
            return Verbatim(msgspec.json.format(text, indent=2), json=True)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            pass  # It was no JSON after all.
    return Verbatim(text, "text")


def preview_remark(event: EventRow, *, reading: bool) -> str:
    """What is said of an event whose list row holds only the beginning of its texts."""
    if reading:
        return f"{size(event.payload_bytes)}: its beginning, while the rest is read …"
    return f"{size(event.payload_bytes)}: only its beginning is shown; enter reads it whole."

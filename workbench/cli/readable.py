"""Sessions, acta and events as lines of text for a person; everything in them is made visible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from shlex import quote
from typing import Any, Literal
from zoneinfo import ZoneInfo

from workbench.cli.output import Column, table
from workbench.drawing import exact, number, one_line, visible
from workbench.drawing.event_words import event_words
from workbench.sessions.model import Actum
from workbench.workspace.rows import ActumRow, EventRow, SessionRow

_SESSION_COLUMNS = (
    Column("acta", "right"),
    Column("owner", most=16, least=8),
    Column("id", most=52),
    Column("actors", most=32, least=8),
    Column("title"),
)
_EVENT_COLUMNS = (
    Column("position", "right"),
    Column("type", most=24),
    Column("actor", most=20, least=8),
    Column("stream", most=40, least=16),
    Column("event"),
)


def sessions(
    rows: Sequence[SessionRow],
    following: str | None,
    timezone: str,
    order: Literal["happened", "recorded"] = "happened",
) -> Iterator[str]:
    """The list of sessions, each with the time that the order goes by."""
    if not rows:
        yield "no sessions"
        return
    zone = ZoneInfo(timezone)
    yield from table(
        (Column(f"last {order}"), *_SESSION_COLUMNS),
        (
            (
                exact(row.last_at if order == "happened" else row.last_activity_at, zone),
                number(row.acta),
                row.owner_id,
                row.id,
                ", ".join(row.actors[:3]) + (f" +{row.actor_count - 3}" if row.actor_count > 3 else ""),
                row.title,
            )
            for row in rows
        ),
    )
    yield from _more(following)


def session(
    row: SessionRow,
    lineage: Iterable[tuple[str, str]],
    entries: Sequence[ActumRow],
    following: int | None,
    timezone: str,
) -> Iterator[str]:
    """One session: what is known of it, then its entries.

    `lineage` are the sessions it comes from, each as (what it is to this one, how it is called).
    """
    zone = ZoneInfo(timezone)
    counts = ", ".join(f"{kind} {number(count)}" for kind, count in row.by_kind.items())
    known: tuple[tuple[str, str], ...] = (
        ("session", row.id),
        ("title", row.title),
        ("owner", row.owner_id),
        ("source", row.source_path or row.source),
        *lineage,
        ("folder", row.cwd),
        ("started", exact(row.started_at, zone)),
        ("happened", f"{exact(row.first_at, zone)} to {exact(row.last_at, zone)}"),
        ("acta", f"{number(row.acta)} ({counts})" if counts else "0"),
        ("actors", ", ".join(row.actors) + _more_than(row)),
    )
    for name, value in known:
        if value:
            yield f"{name:<8} {one_line(value, 4000)}"
    for entry in entries:
        left = entry.content_chars - len(entry.content)
        yield ""
        when = _when(entry.at, entry.occurred_at, zone)
        yield _head(
            when,
            entry.actor_kind,
            entry.actor,
            entry.kind,
            entry.metadata,
            entry.private,
            _sub_agent(entry),
        )
        yield from _body(entry.content)
        if left > 0:
            yield f"  … {number(left)} more characters; --format json has them"
    yield from _more(following)


def acta(found: Iterable[Actum], timezone: str) -> Iterator[str]:
    """Acta, each under a line that says who did what and when."""
    zone = ZoneInfo(timezone)
    for index, actum in enumerate(found):
        if index:
            yield ""
        private = actum.visibility == "private"
        at = actum.at
        assert at is not None
        when = _when(at, actum.occurred_at, zone)
        yield _head(when, actum.actor_kind, actum.actor, actum.kind, actum.metadata, private)
        yield from _body(actum.content)


def events(
    rows: Sequence[EventRow],
    following: int | None,
    timezone: str,
    order: Literal["recorded", "happened"] = "recorded",
    *,
    numbered: Literal["position", "seq"] = "position",
) -> Iterator[str]:
    """The list of events, each with its number in the log or in its stream and the time the order goes by."""
    if not rows:
        yield "no events"
        return
    zone = ZoneInfo(timezone)
    yield from table(
        (
            _EVENT_COLUMNS[0] if numbered == "position" else Column("seq", "right"),
            Column(order),
            *_EVENT_COLUMNS[1:],
        ),
        (
            (
                # As `--after` takes it: a place, no amount.
                str(row.position if numbered == "position" else row.seq),
                exact(row.happened_at if order == "happened" else row.recorded_at, zone),
                row.type,
                row.actor,
                row.stream,
                f"{'private · ' if row.private else ''}{event_words(row)}",
            )
            for row in rows
        ),
    )
    yield from _more(None if following is None else str(following))


def _when(recorded: datetime, occurred: datetime | None, zone: ZoneInfo) -> str:
    """When an act happened, and when it was recorded where that differs."""
    if occurred is None or exact(occurred, zone) == exact(recorded, zone):
        return exact(recorded, zone)
    return f"{exact(occurred, zone)} (recorded {exact(recorded, zone)})"


def _head(
    when: str,
    actor_kind: str,
    actor: str,
    kind: str,
    metadata: dict[str, Any],
    private: bool,
    note: str = "",
) -> str:
    tool = metadata.get("name")
    what = f"{kind} {tool}" if isinstance(tool, str) and tool else str(kind)
    line = f"{when} {actor} ({actor_kind}) {what}"
    # Dots, since what an actor or a tool is called may look like anything.
    return one_line(" · ".join(filter(None, (line, "private" if private else "", note))), 1000)


def _sub_agent(entry: ActumRow) -> str:
    """That a sub-agent did it, or that it started one."""
    if entry.child_seq is not None:
        return f"starts a sub-agent at seq {entry.child_seq}"
    if not entry.depth:
        return ""
    return "sub-agent" if entry.depth == 1 else f"sub-agent, {entry.depth} deep"


def _more_than(row: SessionRow) -> str:
    unnamed = row.actor_count - len(row.actors)
    return f" and {number(unnamed)} more" if unnamed > 0 else ""


def _body(content: str) -> Iterator[str]:
    for line in content.split("\n"):
        yield f"  {visible(line.removesuffix(chr(13)), 2)}"


def _more(following: object) -> Iterator[str]:
    if following is not None:
        yield ""
        yield one_line(f"more: --after {quote(str(following))}", 1000)

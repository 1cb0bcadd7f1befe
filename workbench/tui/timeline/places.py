"""What a person types to go somewhere on the timeline: a position, an event's id or a date."""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple, TypeAlias
from uuid import UUID

from workbench.errors import WorkbenchError
from workbench.workspace.readers.timeline_queries import TimelineReader

HINT = "a position, an event's id or a date: 12 400 · 019cad9a-… · 2026-03-02 14:00"

_POSITION = re.compile(r"[0-9][0-9_,. \u00a0]*")
_FURTHEST = 2**62


class NoSuchPlace(WorkbenchError):
    """Nothing on the timeline is meant by a text, or there is nothing there."""

    code = "no_such_place"


class Moment(NamedTuple):
    """A point in time, in microseconds since 1970."""

    micros: int


Place: TypeAlias = int | UUID | Moment


def parse_place(text: str, zone: tzinfo) -> Place:
    """The position, event id or moment that a text names; a time without an offset is of `zone`.

    Raises `NoSuchPlace` for anything else.
    """
    text = text.strip().removeprefix("#")
    moment = _moment(text, zone)
    if moment is not None:
        return moment
    if _POSITION.fullmatch(text) and text.isascii() | ("\u00a0" in text):
        return min(int(re.sub(r"\D", "", text)), _FURTHEST)
    try:
        return UUID(text)
    except ValueError:
        raise NoSuchPlace("this names no place on the timeline", hint=f"Give {HINT}.") from None


def find_place(reader: TimelineReader, place: Place) -> int:
    """The position that is meant; for a moment the first event recorded at it or after, else the last.

    Raises `NoSuchPlace` where there is no such event. Reads the log: not for the UI's thread.
    """
    last = reader.bounds().last
    if not last:
        raise NoSuchPlace("the timeline has no events yet")
    if isinstance(place, UUID):
        position = reader.position_of(place)
        if position is None:
            raise NoSuchPlace(f"no event has the id {place}")
        return position
    if isinstance(place, Moment):
        return min(reader.at_time(place.micros - 1) + 1, last)
    if not 1 <= place <= last:
        raise NoSuchPlace(f"there is no event {place:,}", hint=f"Positions go from 1 to {last:,}.")
    return place


def _moment(text: str, zone: tzinfo) -> Moment | None:
    if len(text) < len("2026-03-02") or not text[:4].isdigit() or text[4] != "-":
        return None
    try:
        read = datetime.fromisoformat(text)
        local = read if read.tzinfo is not None else read.replace(tzinfo=zone)
        since = local.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return Moment((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)

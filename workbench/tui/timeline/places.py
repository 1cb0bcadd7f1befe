"""What a person types to go somewhere on the timeline: a position, an event's id or a date."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime, time, tzinfo
from typing import NamedTuple, TypeAlias

from workbench.errors import WorkbenchError
from workbench.log.times import from_micros, to_micros
from workbench.tui.present import exact
from workbench.workspace.readers.timeline_dates import parse_moment
from workbench.workspace.readers.timeline_queries import TimelineReader

HINT = (
    "a position (12400), an event's id or its beginning (019cad9a-1c3e), or when it happened: "
    "2026-03-02 · 2026-03-02 14:00 · 14:30 · yesterday · 3 days ago"
)

_POSITION = re.compile(r"[0-9]+|[0-9]{1,3}(?:[_,. \u00a0][0-9]{3})+")
"""A number, its digits in one or in threes."""
_ID = re.compile(r"[0-9a-f]{4,32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{0,12})?")
_LONG_ID = 8
"""A position is not written with a zero before it; so many digits of which the first is one are an id's."""
_FURTHEST = 2**62
_LONGEST = 19
"""Digits of that; Python refuses to read numbers of thousands of them."""
_EARLIEST = -(2**62)


class NoSuchPlace(WorkbenchError):
    """Nothing on the timeline is meant by a text, or there is nothing there."""

    code = "no_such_place"


class Moment(NamedTuple):
    """A point in time, in microseconds since 1970."""

    micros: int


class IdPrefix(NamedTuple):
    """An event's id or its first digits: 4 to 32 hexadecimal ones."""

    digits: str


Where: TypeAlias = int | IdPrefix | Moment


def parse_place(text: str, zone: tzinfo, now: datetime) -> Where:
    """The position, event id or moment that a text names; a time without an offset is of `zone`.

    Raises `NoSuchPlace` for anything else.
    """
    text = text.strip().removeprefix("#")
    moment = parse_moment(text, zone, now)
    if moment is not None:
        return Moment(to_micros(moment))
    written = text.lower()
    named = _ID.fullmatch(written) is not None
    digits = written.replace("-", "")
    if named and digits.isdecimal() and digits.startswith("0") and len(digits) >= _LONG_ID:
        return IdPrefix(digits)
    if _POSITION.fullmatch(text) and text.isascii() | ("\u00a0" in text):
        digits = re.sub(r"\D", "", text)
        if len(digits) > _LONGEST or int(digits) > _FURTHEST:
            raise NoSuchPlace("no event has so large a number", hint=f"Give {HINT}.")
        return int(digits)
    if named:
        return IdPrefix(digits)
    raise NoSuchPlace("this names no place on the timeline", hint=f"Give {HINT}.")


def find_place(reader: TimelineReader, where: Where) -> int:
    """The position that is meant; for a moment the first event that happened then or later, else the last.

    Raises `NoSuchPlace` where there is no such event. Reads the log: not for the UI's thread.
    """
    last = reader.bounds().last
    if not last:
        raise NoSuchPlace("the timeline has no events yet")
    if isinstance(where, IdPrefix):
        positions = reader.positions_by_id(where.digits)
        if not positions:
            whole = len(where.digits) == 32
            raise NoSuchPlace(
                f"no event has {'the id' if whole else 'an id that begins with'} {where.digits}"
            )
        if len(positions) > 1:
            raise NoSuchPlace(
                f"several events have ids that begin with {where.digits}", hint="Give more of the id."
            )
        return positions[0]
    if isinstance(where, Moment):
        place = reader.happened_at(where.micros)
        return last if place is None else place.position
    if not 1 <= where <= last:
        raise NoSuchPlace(f"there is no event {where:,}", hint=f"Positions go from 1 to {last:,}.")
    return where


def beyond_all(reader: TimelineReader, moment: Moment, zone: tzinfo) -> str:
    """Of a moment before the first day of the timeline, or after its last event, that nothing is there;
    "" for any other. Reads the log: not for the UI's thread.
    """
    found = reader.happened_at(moment.micros)
    if found is None:
        return ""
    at = from_micros(found.happened)
    if found.happened < moment.micros:
        return f"Nothing happened after {exact(at, zone)}: this is the last event."
    with suppress(OverflowError):
        day = datetime.combine(at.astimezone(zone).date(), time.min, zone)
        if moment.micros < to_micros(day) and reader.happened_at(_EARLIEST) == found:
            return f"Nothing happened before {exact(at, zone)}: this is the first event."
    return ""

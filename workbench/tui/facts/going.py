"""Where a text leads to on the Facts screen: a slot, an event or a moment."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from workbench.tui.timeline.places import IdPrefix, Moment, NoSuchPlace, Where, parse_place

if TYPE_CHECKING:
    from workbench.workspace.readers import Readers

GOTO_HINT = "A slot, the position or id of an event, or when: 2026-03-02 · yesterday · 3 days ago"


def where_of(text: str, zone: tzinfo, now: datetime) -> Where | None:
    """The event or moment that a text may mean besides a slot."""
    try:
        return parse_place(text, zone, now)
    except NoSuchPlace:
        return None


def find_fact(readers: Readers, text: str, where: Where | None, as_of: int | None) -> int:
    """The position of the current fact that is meant: of the slot of this name, else of what `where` says.

    An event leads to the fact that it asserts or confirms, else to the last one before it; one that was
    replaced leads to what its slot holds. Raises `NoSuchPlace`. Reads the log: not for the UI's thread.
    """
    reader = readers.facts
    position = reader.of_slot(text.strip(), as_of=as_of)
    if position is None and where is not None:
        if isinstance(where, IdPrefix):
            at = next(iter(readers.timeline.positions_by_id(where.digits)), 0)
        else:
            at = reader.position_at(where.micros, as_of=as_of) if isinstance(where, Moment) else where
        position = reader.fact_near(at, as_of=as_of) if at else None
    place = None if position is None else reader.place(position, as_of=as_of)
    if place is None:
        raise NoSuchPlace("no fact is meant by this", hint=GOTO_HINT)
    return place.position

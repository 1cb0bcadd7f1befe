"""Which stretches of a session a person took back (contract transcripts, "Relations kept")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

import apsw

from workbench.sessions import facets
from workbench.sessions.queries import BEYOND_ALL, entry_sql

_PROMPTS = (facets.facet("message", "human", False), facets.facet("message", "human", True))
_TURNS = (*_PROMPTS, facets.UNIT_CLOSED)
_TURN_COLUMNS = (
    "e.seq, json_extract(e.payload, '$.metadata.turn_id'), "
    "json_extract(e.payload, '$.unit'), json_extract(e.payload, '$.note')"
)
_COLUMNS = "e.seq, json_extract(e.payload, '$.metadata.parent_uuid'), coalesce(e.occurred_at, e.recorded_at)"
_LOOK_UP = 500
"""Prompts read between two questions whether the answer is still wanted."""


class Stretch(NamedTuple):
    """Seqs from `first` to `last`, both included."""

    first: int
    last: int
    is_rollback: bool = False
    """Whether its turns were taken back as a whole, not by another prompt in their place."""


def rewound_stretches(
    connection: apsw.Connection,
    stream_id: int,
    cancelled: Callable[[], bool] = lambda: False,
    *,
    upto: int = BEYOND_ALL,
) -> list[Stretch]:
    """The stretches that were taken back, in order of their first seq; none where `cancelled()` is true.

    Only what stands up to the seq `upto` counts.
    """
    prompts = connection.execute(entry_sql(_PROMPTS, False, _COLUMNS), (stream_id, 0, -1))
    found: list[tuple[int, str | None, int]] = []
    while batch := list(islice(prompts, _LOOK_UP)):
        found += [prompt for prompt in batch if prompt[0] <= upto]
        if cancelled():
            return []
    turns = connection.execute(entry_sql(_TURNS, False, _TURN_COLUMNS), (stream_id, 0, -1))
    entries: list[tuple[int, str | None, str | None, str | None]] = []
    while more := list(islice(turns, _LOOK_UP)):
        entries += [turn for turn in more if turn[0] <= upto]
        if cancelled():
            return []
    return sorted([*stretches(found), *rolled_back(entries)])


def stretches(prompts: Iterable[tuple[int, str | None, int]]) -> list[Stretch]:
    """The same from prompts in order: (seq, uuid of what stands before it, time)."""
    earlier: dict[str, tuple[int, int]] = {}
    found: list[Stretch] = []
    for seq, parent, time in prompts:
        if not parent:
            continue
        before = earlier.get(parent)
        if before is not None and before[1] == time:
            continue
        if before is not None:
            found.append(Stretch(before[0], seq - 1))
        earlier[parent] = (seq, time)
    return sorted(found)


def rolled_back(entries: Iterable[tuple[int, str | None, str | None, str | None]]) -> list[Stretch]:
    """The turns that rollbacks took back, from prompts and closed units in order: (seq, turn id of a prompt,
    unit, note of a unit). A rollback's note begins with how many turns it takes; prompts of one turn are one.
    """
    live: list[tuple[int, str | None]] = []
    found: list[Stretch] = []
    for seq, turn_id, unit, note in entries:
        if unit is None:
            if not (turn_id and live and live[-1][1] == turn_id):
                live.append((seq, turn_id))
        elif unit == "rollback":
            number = (note or "").partition(" ")[0].replace(",", "")
            taken = min(int(number), len(live)) if number.isdecimal() else 0
            if taken:
                found.append(Stretch(live[-taken][0], seq - 1, True))
                del live[-taken:]
    return found

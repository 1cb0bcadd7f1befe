"""Which stretches of a session a person took back (contract transcripts, "Relations kept")."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple

import apsw

from workbench.sessions import facets
from workbench.sessions.queries import entry_sql

_PROMPTS = (facets.facet("message", "human", False), facets.facet("message", "human", True))
_COLUMNS = "e.seq, json_extract(e.payload, '$.metadata.parent_uuid'), coalesce(e.occurred_at, e.recorded_at)"
_LOOK_UP = 500
"""Prompts read between two questions whether the answer is still wanted."""


class Stretch(NamedTuple):
    """Seqs from `first` to `last`, both included."""

    first: int
    last: int


def rewound_stretches(
    connection: apsw.Connection, stream_id: int, cancelled: Callable[[], bool] = lambda: False
) -> list[Stretch]:
    """The stretches that were taken back, in order of their first seq; none where `cancelled()` is true."""
    prompts = connection.execute(entry_sql(_PROMPTS, False, _COLUMNS), (stream_id, 0, -1))
    found: list[tuple[int, str | None, int]] = []
    while batch := list(islice(prompts, _LOOK_UP)):
        found += batch
        if cancelled():
            return []
    return stretches(found)


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

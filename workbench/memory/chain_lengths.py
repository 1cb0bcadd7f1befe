"""How many facts each chain has: of all chains at once, kept up as facts are added.

Every fact belongs to exactly one chain, which is named by its last fact: the one that nothing replaced.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from threading import Lock
from typing import NamedTuple

from workbench.memory.snapshot import Snapshot
from workbench.storage import fetch


class Lengths(NamedTuple):
    """The lengths of all chains at one position of the log."""

    of: Mapping[int, int]
    """By the position of the last fact of a chain: how many facts it has."""
    ranked: list[tuple[int, int]]
    """(−length, −position of the last fact), sorted: the longest chain first, of equals the newest."""


class ChainLengths:
    """Gives the lengths of the chains that a person sees; threads may share it.

    The first call reads the links of all facts, later ones only those of the facts that came since. A call
    for the past keeps what it read until another moment is asked for.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._upto = 0
        self._of: dict[int, int] = {}
        self._now = Lengths({}, [])
        self._then: tuple[int, Lengths] | None = None

    def at(self, snapshot: Snapshot) -> Lengths:
        """The lengths as of a snapshot, which must be a person's (`raw`)."""
        with self._lock:
            if not snapshot.past:
                return self._renewed(snapshot)
            if self._then is None or self._then[0] != snapshot.last:
                lengths = _counted(_links(snapshot, 0), snapshot.last)
                self._then = (snapshot.last, _ranked(lengths))
            return self._then[1]

    def _renewed(self, snapshot: Snapshot) -> Lengths:
        if snapshot.last == self._upto:
            return self._now
        if snapshot.last < self._upto or not self._upto:
            self._of = _counted(_links(snapshot, 0), snapshot.last)
            self._now = _ranked(self._of)
        else:
            added = _links(snapshot, self._upto)
            if added:
                self._add(snapshot, [position for position, _ in added])
        self._upto = snapshot.last
        return self._now

    def _add(self, snapshot: Snapshot, positions: list[int]) -> None:
        # Whoever still reads an earlier answer keeps it: the list is copied, not changed.
        of, ranked = dict(self._of), list(self._now.ranked)
        for position in sorted(positions):
            length = 1
            for (ended,) in snapshot.rows("SELECT position FROM facts WHERE replaced_by = :by", by=position):
                before = of.pop(ended, None)
                if before is not None:
                    length += before
                    del ranked[bisect_left(ranked, (-before, -ended))]
            of[position] = length
            insort(ranked, (-length, -position))
        self._of, self._now = of, Lengths(of, ranked)


def _links(snapshot: Snapshot, after: int) -> list[fetch.Row]:
    """Facts behind a position and what replaced each, the newest first."""
    return snapshot.rows(
        "SELECT position, replaced_by FROM facts WHERE position > :after AND position <= :upto "
        "ORDER BY position DESC",
        after=after,
    )


def _counted(links: list[fetch.Row], last: int) -> dict[int, int]:
    # What replaces a fact comes after it: newest first, the end of its chain is known already.
    ends: dict[int, int] = {}
    of: dict[int, int] = {}
    position: int
    replaced_by: int | None
    for position, replaced_by in links:
        end: int = position
        if replaced_by is not None and replaced_by <= last:
            end = ends.get(replaced_by) or position
        ends[position] = end
        of[end] = of.get(end, 0) + 1
    return of


def _ranked(of: dict[int, int]) -> Lengths:
    return Lengths(of, sorted((-length, -position) for position, length in of.items()))


WALKED = 64
"""Links that are followed one by one before all chains are counted at once."""


def walked_length(snapshot: Snapshot, last: int) -> int:
    """How many facts the chain has that ends with the one at a position, counted up to `WALKED`."""
    found: int = snapshot.value(
        "WITH RECURSIVE chain(at) AS (VALUES(:last) UNION ALL "
        "SELECT f.position FROM chain CROSS JOIN facts f ON f.replaced_by = chain.at LIMIT :most) "
        "SELECT count(*) FROM chain",
        last=last,
        most=WALKED,
    )
    return found

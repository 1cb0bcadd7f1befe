"""What matches a focus: words looked up in the full-text fold, newest first.

This is no ranking. An entry has to hold every word; where none does, one is enough, and the answer says so.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.log.fulltext import TABLE, match_expression
from workbench.memory.snapshot import Snapshot
from workbench.memory.spans import Span, newest
from workbench.memory.views import RecallStatus
from workbench.storage import fetch

MOST_HITS = 100
"""Memory events that one focus is followed to."""
_MOST_LOOKED = 2_000
"""Entries with the words that are looked at; the words of a large log may stand in most of it."""
_STEP, _STEPS = 50, 20
"""Observations of a scope that are asked for the words at once, and how often."""
_PARTS = 3
"""An observation, its checkpoint and its fact stand one behind the other."""
_MOST_WORDS = 32


class Hits(NamedTuple):
    """What was found."""

    observations: list[int]
    """Positions of memory events, each at the observation that matched, newest first."""
    relaxed: bool
    """No entry holds every word; these hold some."""
    complete: bool
    """Every entry with the words was looked at, or enough were found."""

    def status(self) -> RecallStatus:
        """The same as a bundle tells it."""
        hint = None
        if not self.observations:
            hint = "nothing that was recorded here holds these words; that does not prove it was never done"
        elif self.relaxed:
            hint = "no entry holds every word of the focus; these hold some of them"
        elif not self.complete:
            hint = "only the newest entries with these words were looked at"
        return RecallStatus(
            degraded=True,
            channel_errors=["ranked recall is not available; matched by words, newest first"],
            vector_coverage=None,
            relaxed=self.relaxed,
            no_confident_match=not self.observations or self.relaxed,
            hint=hint,
        )


def find(snapshot: Snapshot, span: Span, focus: str, wanted: int = MOST_HITS) -> Hits:
    """The memory events of a span that match the words of a focus, or a fact or checkpoint of theirs does.

    It looks for `wanted` of them, up to `MOST_HITS`.
    """
    wanted = min(wanted, MOST_HITS)
    prefix = match_expression(focus)
    if not prefix:
        return Hits([], False, True)
    words = dict.fromkeys(focus.split()[:_MOST_WORDS])
    single = [expression for word in words if (expression := match_expression(word))]
    complete = True
    # Whole words first: what begins like the last one costs more to find.
    for match in (prefix.removesuffix("*"), prefix):
        found, complete = _search(snapshot, span, match, wanted)
        if found:
            return Hits(found, False, complete)
    if len(single) < 2:
        return Hits([], False, complete)
    some = " OR ".join(f"({expression.removesuffix('*')})" for expression in single)
    found, complete = _search(snapshot, span, some, wanted)
    return Hits(found, bool(found), complete)


def _search(snapshot: Snapshot, span: Span, match: str, wanted: int) -> tuple[list[int], bool]:
    """Observations that match, newest first, and whether all entries with the words were looked at."""
    found: dict[int, int] = {}
    complete = _with_words(snapshot, span, match, wanted, found)
    if not complete and len(found) < wanted and span.projects is not None:
        # Common words, and a scope that is a small part of the log: its own entries are fewer.
        complete = _of_scope(snapshot, span, match, wanted, found)
    return sorted(found.values(), reverse=True), complete or len(found) >= wanted


def _with_words(snapshot: Snapshot, span: Span, match: str, wanted: int, found: dict[int, int]) -> bool:
    """Look from the newest entry with the words back; false where it gave up before the first one."""
    sql = f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH :match AND rowid <= :upto ORDER BY rowid DESC"
    # One query, read as far as needed: to begin one costs more than its rows where a word is common.
    for looked, row in enumerate(snapshot.connection.execute(sql, snapshot.values(match=match))):
        if looked == _MOST_LOOKED or len(found) >= wanted:
            return False
        _keep(snapshot, span, [row], found)
    return True


def _of_scope(snapshot: Snapshot, span: Span, match: str, wanted: int, found: dict[int, int]) -> bool:
    """Look from the newest observation of a span back; false where it gave up before the first one."""
    sql = (
        f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH :match AND rowid BETWEEN :low AND :high "
        # The + has the index walked once, not asked once for each position.
        "AND +rowid IN (SELECT value FROM json_each(:places)) ORDER BY rowid DESC"
    )
    below = snapshot.last + 1
    for _ in range(_STEPS):
        positions = newest(snapshot, span, "observations", snapshot.observed(), _STEP, below=below)
        if not positions:
            return True
        places = [position + part for position in positions for part in range(_PARTS)]
        numbers = f"[{','.join(map(str, places))}]"
        low, high = positions[-1], min(positions[0] + _PARTS, snapshot.last)
        _keep(snapshot, span, snapshot.rows(sql, match=match, low=low, high=high, places=numbers), found)
        if len(found) >= wanted:
            return False
        below = low
    return False


def _keep(snapshot: Snapshot, span: Span, rows: list[fetch.Row], found: dict[int, int]) -> None:
    for (position,) in rows:
        row = _observation(snapshot, span, position)
        # A memory event counts once, at the newest of its observations that matches.
        if row is not None and row[0] >= found.get(row[1], 0):
            found[row[1]] = row[0]


_KEYS = (
    "SELECT o.position, o.first_position, o.domain_key, o.project_key, o.task_key, o.fact_position "
    "FROM observations o WHERE {where} AND {seen}"
)
_CAUSE = "o.event_id = (SELECT e.causation_id FROM events e WHERE e.position = :position)"


def _observation(snapshot: Snapshot, span: Span, position: int) -> tuple[int, int] | None:
    """(observation, memory event) of the entry at a position, if it belongs to the span and may be seen."""
    seen = snapshot.observed("o")
    row = snapshot.row(_KEYS.format(where="o.position = :position", seen=seen), position=position)
    if row is None:
        row = snapshot.row(_KEYS.format(where=_CAUSE, seen=seen), position=position)
    if row is None:
        return None
    observed, first, domain, project, task, fact = row
    if domain not in span.domains or (span.projects is not None and project not in span.projects):
        return None
    if span.tasks is not None and task not in span.tasks:
        return None
    if fact is not None and _is_superseded(snapshot, fact):
        return None
    return observed, first


def _is_superseded(snapshot: Snapshot, fact: int) -> bool:
    """Whether what an entry asserts or confirms no longer holds: then it would mislead."""
    ended = snapshot.value("SELECT to_position FROM facts WHERE position = :fact", fact=fact)
    return snapshot.ended(ended)

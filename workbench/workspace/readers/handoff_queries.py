"""Hand-offs for the review desk: one row for each task, in keyset pages, and what one of them holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from workbench.identity.folding import fold
from workbench.identity.registry import Registry
from workbench.identity.scopes import resolve
from workbench.log.event_log import EventLog
from workbench.memory.asked import MOST
from workbench.memory.comparison import compare, find_checkpoint
from workbench.memory.handoff_detail import checkpoint_detail, history, newer_checkpoint, task_files
from workbench.memory.handoff_views import CheckpointDetail, Handoff, PastCheckpoint, TaskFile
from workbench.memory.handoffs import Head
from workbench.memory.since_review import since_review
from workbench.memory.snapshot import Sight, Snapshot
from workbench.memory.spans import domains_seen
from workbench.memory.views import Comparison, SinceReview
from workbench.workspace.readers.handoff_index import HandoffIndex, Ordered, Place, Tasks, walk
from workbench.workspace.rows import HandoffFilter, HandoffOrder

MOST_HISTORY = 200
"""Checkpoints of one task that are listed."""
_PASTS_KEPT = 2

GoOn = Callable[[int], bool]
"""Told how many rows were found so far; false ends a search."""


def _always(found: int) -> bool:
    return True


class Found(NamedTuple):
    """Rows in the order of the list."""

    rows: list[Handoff]
    complete: bool
    """Nothing lies beyond them in the direction that was looked in."""


class HandoffReader:
    """The hand-offs of one log, for a person: what is private or withheld is in them, marked.

    `as_of` is a position of the log or a time, as memory's readers take it: what was known then. `registry`
    gives the names of now. Threads may share it.
    """

    def __init__(self, log: EventLog, registry: Callable[[], Registry]) -> None:
        self._registry = registry
        self._sight = Sight(log)
        self._now = HandoffIndex()
        self._pasts: OrderedDict[datetime | int, HandoffIndex] = OrderedDict()

    # -- the list --------------------------------------------------------------------------

    def page(
        self,
        wanted: HandoffFilter,
        limit: int,
        *,
        order: HandoffOrder = "newest",
        after: Place | None = None,
        before: Place | None = None,
        go_on: GoOn = _always,
        as_of: datetime | int | None = None,
    ) -> Found:
        """Up to `limit` tasks that follow `after` in the list, or stand just before `before`.

        With neither bound the first ones. A search ends early where `go_on` says so.
        """
        with self._looking(as_of) as (snapshot, index, tasks):
            ordered = tasks.ordered(order)
            if before is not None:
                start, step = ordered.first_at(before) - 1, -1
            elif after is not None:
                start, step = ordered.first_at(after), 1
                if start < len(ordered.places) and ordered.places[start] == after:
                    start += 1
            else:
                start, step = 0, 1
            found: list[Handoff] = []
            complete = True
            for head in walk(ordered, start, step):
                if len(found) >= limit or not go_on(len(found)):
                    complete = False
                    break
                row = _passing(snapshot, index, wanted, head)
                if row is not None:
                    found.append(row)
        return Found(found if step > 0 else found[::-1], complete)

    def count(
        self,
        wanted: HandoffFilter,
        cancelled: Callable[[], bool] = lambda: False,
        progress: Callable[[int], None] = lambda found: None,
        *,
        as_of: datetime | int | None = None,
    ) -> int:
        """How many tasks pass the filter; ends early, with what it has, where `cancelled()` is true."""
        found = 0
        with self._looking(as_of) as (snapshot, index, tasks):
            for number, head in enumerate(tasks.ordered("newest").heads):
                if cancelled():
                    break
                found += _passes(snapshot, index, wanted, head)
                if number % 100 == 99:
                    progress(found)
        return found

    def learn_words(
        self, cancelled: Callable[[], bool] = lambda: False, *, as_of: datetime | int | None = None
    ) -> None:
        """Read what a filter by words looks at, before one is typed: the first keystroke need not wait."""
        self.count(HandoffFilter(text=" ", closed=True), cancelled, as_of=as_of)

    def waiting(self, *, as_of: datetime | int | None = None) -> int:
        """How many open tasks wait for a person."""
        return self.count(HandoffFilter(waiting=True), as_of=as_of)

    def rank(
        self,
        place: Place,
        *,
        order: HandoffOrder = "newest",
        closed: bool = False,
        as_of: datetime | int | None = None,
    ) -> tuple[int, int]:
        """How many tasks stand before a place, and how many there are; closed ones count where asked."""
        with self._looking(as_of) as (_, _, tasks):
            ordered = tasks.ordered(order)
            at = ordered.first_at(place)
            if closed:
                return at, len(ordered.heads)
            return ordered.open_before(at), ordered.open_before(len(ordered.heads))

    def place(
        self, key: tuple[str, str], *, order: HandoffOrder = "newest", as_of: datetime | int | None = None
    ) -> Place | None:
        """Where the task of a key stands; None where there is no such task."""
        with self._looking(as_of) as (_, _, tasks):
            ordered = tasks.ordered(order)
            at = ordered.at.get(key)
            return None if at is None else ordered.places[at]

    def place_at(
        self,
        rank: int,
        *,
        order: HandoffOrder = "newest",
        closed: bool = False,
        as_of: datetime | int | None = None,
    ) -> Place | None:
        """Where the task of a rank stands, among those that `rank` counts; None in an empty list."""
        with self._looking(as_of) as (_, _, tasks):
            ordered = tasks.ordered(order)
            at = rank if closed else ordered.nth_open(rank)
            return ordered.places[at] if 0 <= at < len(ordered.places) else None

    def find(self, given: str, *, as_of: datetime | int | None = None) -> tuple[str, str] | None:
        """The key of the task that a text names: `project/task`, a task, or the id of a checkpoint."""
        with self._looking(as_of) as (snapshot, _, tasks):
            return _find(snapshot, tasks.ordered("newest"), given)

    def row(self, key: tuple[str, str], *, as_of: datetime | int | None = None) -> Handoff | None:
        """The row of a task as it is now; None where there is no such task."""
        with self._looking(as_of) as (snapshot, index, tasks):
            ordered = tasks.ordered("newest")
            at = ordered.at.get(key)
            return None if at is None else index.row(snapshot, ordered.heads[at])

    # -- one task --------------------------------------------------------------------------

    def checkpoint(self, position: int, *, as_of: datetime | int | None = None) -> CheckpointDetail:
        """The checkpoint at a position in full."""
        with self._look(as_of) as snapshot:
            return checkpoint_detail(snapshot, position)

    def since_review(self, row: Handoff, *, as_of: datetime | int | None = None) -> SinceReview:
        """What came into a task after its last review, in any domain; oldest first."""
        with self._look(as_of) as snapshot:
            scope = resolve(snapshot.registry, row.domain, row.project, row.task_id)
            return since_review(snapshot, scope, domains_seen(snapshot), MOST)

    def newer_checkpoint(self, checkpoint_id: str) -> int:
        """The position of the newest checkpoint of its task, where that is a newer one; else 0."""
        with self._look(None) as snapshot:
            return newer_checkpoint(snapshot, checkpoint_id)

    def files(self, position: int, *, as_of: datetime | int | None = None) -> list[TaskFile]:
        """The source files of the task whose checkpoint stands at a position, the newest first."""
        with self._look(as_of) as snapshot:
            return task_files(snapshot, position)

    def history(
        self, position: int, limit: int = MOST_HISTORY, *, as_of: datetime | int | None = None
    ) -> list[PastCheckpoint]:
        """The checkpoints of the task that has one at a position, the newest first."""
        with self._look(as_of) as snapshot:
            return history(snapshot, position, limit)

    def compare(self, older: str, newer: str, *, as_of: datetime | int | None = None) -> Comparison:
        """What changed between two checkpoints, given by their ids. Raises `InvalidArgument`."""
        with self._look(as_of) as snapshot:
            return compare(snapshot, find_checkpoint(snapshot, older), find_checkpoint(snapshot, newer))

    # -- looking ---------------------------------------------------------------------------

    @contextmanager
    def _look(self, as_of: datetime | int | None) -> Iterator[Snapshot]:
        with self._sight.look(self._registry(), raw=True, as_of=as_of) as snapshot:
            yield snapshot

    @contextmanager
    def _looking(self, as_of: datetime | int | None) -> Iterator[tuple[Snapshot, HandoffIndex, Tasks]]:
        index = self._index(as_of)
        with self._look(as_of) as snapshot:
            yield snapshot, index, index.renew(snapshot)

    def _index(self, as_of: datetime | int | None) -> HandoffIndex:
        if as_of is None:
            return self._now
        found = self._pasts.pop(as_of, None) or HandoffIndex()
        self._pasts[as_of] = found
        while len(self._pasts) > _PASTS_KEPT:
            self._pasts.popitem(last=False)
        return found


def _passes(snapshot: Snapshot, index: HandoffIndex, wanted: HandoffFilter, head: Head) -> bool:
    if head.closed and not wanted.closed:
        return False
    if wanted.text:
        words = index.words(snapshot, head)
        if not all(word in words or fold(word) in words for word in wanted.text.casefold().split()):
            return False
    # What was judged may wait again for what came since; of all others the verdict is missing.
    return not wanted.waiting or (not head.closed and (not head.judged or index.row(snapshot, head).waits))


def _passing(snapshot: Snapshot, index: HandoffIndex, wanted: HandoffFilter, head: Head) -> Handoff | None:
    return index.row(snapshot, head) if _passes(snapshot, index, wanted, head) else None


def _find(snapshot: Snapshot, ordered: Ordered, given: str) -> tuple[str, str] | None:
    from workbench.memory.errors import InvalidArgument

    text = given.strip()
    # A name may have a slash in it, too.
    for at in (number for number, char in enumerate(text) if char == "/"):
        forms = snapshot.registry.project_forms(text[:at])
        key = (forms[0] if forms else "", fold(text[at + 1 :]))
        if key in ordered.at:
            return key
    named = fold(text)
    for head in ordered.heads:
        if head.task == named or head.checkpoint_id == text.lower():
            return head.key
    try:
        position = find_checkpoint(snapshot, text)
    except InvalidArgument:
        return None
    row = snapshot.row("SELECT project_key, task_key FROM checkpoints WHERE position = :at", at=position)
    assert row is not None
    forms = snapshot.registry.project_forms(row[0]) or (row[0],)
    return (forms[0], row[1]) if (forms[0], row[1]) in ordered.at else None

"""The tasks of a log in order, and what was read of them already: kept while the log says the same.

A list of thousands of tasks asks for the same rows again at every commit and every keystroke of a filter.
What a row says follows from its task's own events, so that those that came since say which rows to forget.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from threading import Lock

from workbench.identity.folding import fold
from workbench.identity.registry import Registry
from workbench.log.errors import InvalidPayload
from workbench.log.times import UnreadableInstant
from workbench.memory.handoff_views import Handoff
from workbench.memory.handoffs import Head, Said, handoff, heads, said, unreadable
from workbench.memory.snapshot import Snapshot, UnreadableEvent
from workbench.workspace.rows import HandoffOrder

Place = tuple[int | str, ...]
"""Where a task stands in an order: what the order goes by, and behind it what tells tasks apart."""

DAMAGE = (InvalidPayload, UnreadableEvent, UnreadableInstant)
"""What reading a damaged event raises."""
_MOST_NEWS = 2_000
"""Events since the last look of which it is asked whose they are; of more, everything is forgotten."""
_REWRITING = ("redaction.applied", "artifact.purged")
"""Types of events that change what others say."""
_NEWS = (
    "SELECT s.project_key, s.task_key, t.type FROM events e "
    "CROSS JOIN streams s ON s.stream_id = e.stream_id "
    "CROSS JOIN event_types t ON t.type_id = e.type_id WHERE e.position > :known LIMIT :limit"
)


def place_of(row: Head | Handoff, order: HandoffOrder) -> Place:
    """Where a task stands."""
    if order == "project":
        return row.key
    return (-row.position, *row.key)


class Ordered:
    """The tasks of one moment in one order."""

    def __init__(self, found: Sequence[Head], order: HandoffOrder) -> None:
        self.order = order
        self.heads = sorted(found, key=lambda head: place_of(head, order)) if order == "project" else found
        self.places = [place_of(head, order) for head in self.heads]
        self.at = {head.key: number for number, head in enumerate(self.heads)}
        self._open = [number for number, head in enumerate(self.heads) if not head.closed]

    def first_at(self, place: Place) -> int:
        """The index of the first task that stands at a place or behind it."""
        return bisect_left(self.places, place)

    def open_before(self, index: int) -> int:
        """How many tasks before an index are open."""
        return bisect_left(self._open, index)

    def nth_open(self, rank: int) -> int:
        """The index of the open task with so many open ones before it; -1 where there is none."""
        return self._open[rank] if 0 <= rank < len(self._open) else -1


class Tasks:
    """The tasks of one moment, sorted when an order is first asked for. Threads may share it."""

    def __init__(self, found: Sequence[Head]) -> None:
        self._found = found
        self._ordered: dict[HandoffOrder, Ordered] = {}

    def ordered(self, order: HandoffOrder) -> Ordered:
        """The tasks in an order."""
        found = self._ordered.get(order)
        if found is None:
            found = self._ordered[order] = Ordered(self._found, order)
        return found


class HandoffIndex:
    """What is known of the tasks at one moment: now, or a position of the log. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known = -1
        self._seen: int | None = None
        """Of a past moment: how far the log had come at the last look."""
        self._registry: Registry | None = None
        self._tasks = Tasks(())
        self._said: dict[int, Said] = {}
        self._words: dict[int, str] = {}
        self._rows: dict[tuple[str, str], Handoff] = {}

    def renew(self, snapshot: Snapshot) -> Tasks:
        """Learn what is new in the log since the last look; the result is what this snapshot sees."""
        with self._lock:
            if snapshot.past:
                self._forget_rewritten(snapshot)
            if snapshot.last == self._known and snapshot.registry is self._registry:
                return self._tasks
            if snapshot.last < self._known:
                # Another thread has looked later already: what it learnt stays.
                return Tasks(heads(snapshot))
            if snapshot.registry is not self._registry:
                self._forget()
            elif not snapshot.past:
                self._forget_changed(snapshot)
            self._tasks = Tasks(heads(snapshot))
            self._known, self._registry = snapshot.last, snapshot.registry
            return self._tasks

    def words(self, snapshot: Snapshot, head: Head) -> str:
        """What a filter by words looks at, in lower case; names also as their keys."""
        found = self._words.get(head.position)
        if found is None:
            try:
                told = self._said_at(snapshot, head)
            except DAMAGE:
                return f"{head.project}\n{head.task}"
            registry = snapshot.registry
            names = (
                told.project or "",
                registry.project(told.project) or "",
                head.project,
                told.task_id or "",
                head.task,
                told.agent,
                registry.agent(told.agent),
                told.domain,
                *registry.project_forms(told.project),
                *(fold(name) for name in (told.agent, registry.agent(told.agent), told.domain)),
            )
            found = "\n".join((*dict.fromkeys(names), told.goal)).casefold()
            self._words[head.position] = found
        return found

    def row(self, snapshot: Snapshot, head: Head) -> Handoff:
        """The row of a task."""
        found = self._rows.get(head.key)
        if found is None or found.position != head.position:
            try:
                found = handoff(snapshot, head, self._said_at(snapshot, head))
            except DAMAGE as error:
                found = unreadable(snapshot, head, str(error))
            with self._lock:
                # What came meanwhile is not forgotten by keeping what was read before it.
                if snapshot.last == self._known:
                    self._rows[head.key] = found
        return found

    def _said_at(self, snapshot: Snapshot, head: Head) -> Said:
        found = self._said.get(head.position)
        if found is None:
            found = self._said[head.position] = said(snapshot, head.position)
        return found

    def _forget(self) -> None:
        self._said, self._words, self._rows = {}, {}, {}

    def _forget_rewritten(self, snapshot: Snapshot) -> None:
        """What was known then stays as it was, unless a secret was taken out of it since."""
        last = snapshot.value("SELECT max(position) FROM events") or 0
        if self._seen is not None and last > self._seen:
            news = snapshot.rows(_NEWS, known=self._seen, limit=_MOST_NEWS + 1)
            if len(news) > _MOST_NEWS or any(kind in _REWRITING for _, _, kind in news):
                self._forget()
        self._seen = last

    def _forget_changed(self, snapshot: Snapshot) -> None:
        news = snapshot.rows(_NEWS, known=self._known, limit=_MOST_NEWS + 1)
        if len(news) > _MOST_NEWS or any(kind in _REWRITING for _, _, kind in news):
            self._forget()
            return
        for project, task in {(project, task) for project, task, _ in news if task}:
            forms = snapshot.registry.project_forms(project) or (project,)
            self._rows.pop((forms[0], task), None)


def walk(ordered: Ordered, start: int, step: int) -> Iterator[Head]:
    """The tasks from an index on, forwards (1) or backwards (-1)."""
    at = start
    while 0 <= at < len(ordered.heads):
        yield ordered.heads[at]
        at += step

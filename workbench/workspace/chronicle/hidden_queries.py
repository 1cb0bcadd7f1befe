"""Which events of a stream agents may not see by now (DESIGN §2 "Visibility"; contract memory, "Quarantine").

Private events are not among them: they are so from the beginning and say so themselves, and `admits` leaves
them out. What can be hidden later is an observation, and with it the checkpoint that it brought and what
was said about either in a review.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import apsw

from workbench.chronicle.admission import admits as admits_public
from workbench.log import sqlite
from workbench.log.event_log import EventLog
from workbench.log.registry import NAMESPACE, Envelope
from workbench.memory.events import VISIBILITY
from workbench.storage import fetch

_ENDS = (
    "SELECT min(position), max(position) FROM events WHERE stream_id = ? AND seq IN ("
    "(SELECT min(seq) FROM events WHERE stream_id = ?1 AND seq >= ?2), "
    "(SELECT max(seq) FROM events WHERE stream_id = ?1 AND seq <= ?3))"
)
_NEAR = 16
"""Positions between an observation and what it brought: they are recorded together."""
_WITH_OBSERVATIONS = (
    "SELECT o.position, o.checkpoint_position, q.from_position FROM quarantines q "
    "CROSS JOIN observations o ON o.position = q.target "
    "WHERE q.target BETWEEN ? AND ? AND q.to_position IS NULL"
)
_REVIEWS = (
    "SELECT r.position, q.target, q.from_position FROM streams s CROSS JOIN reviews r "
    "ON r.project_key = s.project_key AND r.task_key = s.task_key AND r.domain_key = s.domain_key "
    "AND r.position BETWEEN ?2 AND ?3 "
    "CROSS JOIN quarantines q ON q.to_position IS NULL AND q.target IN ("
    "SELECT o.position FROM observations o WHERE o.event_id = unhex(replace(r.target_id, '-', '')) UNION ALL "
    "SELECT c.observation FROM checkpoints c WHERE c.event_id = unhex(replace(r.target_id, '-', ''))) "
    "WHERE s.stream_id = ?1"
)
_SEQ = "SELECT seq FROM events WHERE position = ? AND stream_id = ?"


def admits(envelope: Envelope) -> bool:
    """What a summarizer may see of a workspace's events: neither private, nor bookkeeping, nor why a person
    hid something."""
    return admits_public(envelope) and (envelope.namespace, envelope.type) != (NAMESPACE, VISIBILITY.type)


class HiddenEvents:
    """A `Hidden` of one stream, as its chronicle and its page for agents ask it."""

    def __init__(self, log: EventLog, stream: str) -> None:
        self._log = log
        self._stream = stream

    def __call__(self, from_seq: int, to_seq: int) -> Mapping[int, int]:
        """See `Hidden`; what is hidden in the stretch and what was reviewed is looked at, not its events."""
        found: dict[int, int] = {}
        with self._log.reader() as connection:
            number = sqlite.stream_id(connection, self._stream)
            if number is None:
                return found
            [(first, last)] = fetch.rows(connection, _ENDS, (number, from_seq, to_seq))
            if first is None:
                return found
            for position, since in _hidden(connection, number, first, last):
                seq = fetch.value(connection, _SEQ, (position, number))
                if seq is not None and from_seq <= seq <= to_seq:
                    found[seq] = max(since, found.get(seq, 0))
        return found


def _hidden(connection: apsw.Connection, number: int, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Positions of hidden events between two positions, those of other streams among them; with each, what
    hid it."""
    for at, checkpoint, since in fetch.rows(connection, _WITH_OBSERVATIONS, (first - _NEAR, last)):
        since = 0 if since == at else since
        yield at, since
        if checkpoint is not None:
            yield checkpoint, since
    for review, at, since in fetch.rows(connection, _REVIEWS, (number, first, last)):
        yield review, 0 if since == at else since

"""Whether events stand one behind the other: positions, each stream's seq, times, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import apsw
import msgspec

from workbench.log.registry import EventTypeRegistry
from workbench.log.times import from_micros, to_micros, to_text
from workbench.storage import fetch
from workbench.workspace.doctor.artifacts import NamedEvidence
from workbench.workspace.doctor.report import Commands, Finding, Noted
from workbench.workspace.doctor.stages import Watch

_EVERY = 5000
_IDS = ("event_id", "causation_id", "correlation_id")

_NUMBERS = ("stream_id", "seq", "type_id", "schema_version", "private", "recorded_at")

EARLIEST, LATEST = (to_micros(end.replace(tzinfo=UTC)) for end in (datetime.min, datetime.max))
"""The instants that can be read, in microseconds: the years 1 to 9999."""
_IN_TIME = f"BETWEEN {EARLIEST} AND {LATEST}"

# In a damaged file a column may hold anything, whatever its table was declared to hold; hence the payload
# as the bytes it is.
_EVENTS = (
    f"SELECT position, CASE WHEN typeof(recorded_at) = 'integer' AND recorded_at {_IN_TIME} "
    "THEN recorded_at END, "
    "json_valid(payload) AND typeof(payload) = 'text' "
    f"AND recorded_at {_IN_TIME} "
    "AND CASE typeof(occurred_at) WHEN 'null' THEN 1 "
    f"WHEN 'integer' THEN occurred_at {_IN_TIME} ELSE 0 END AND "
    + " AND ".join(f"typeof({name}) = 'integer'" for name in _NUMBERS)
    + " AND "
    + " AND ".join(f"length(coalesce({name}, zeroblob(16))) = 16" for name in _IDS)
    + ", CAST(payload AS BLOB) FROM events ORDER BY position"
)
BY_STREAM = "events_by_stream"
"""The index along which streams are read."""
_SEQS = f"SELECT stream_id, seq FROM events INDEXED BY {BY_STREAM} ORDER BY stream_id, seq"
_LAST = "coalesce((SELECT max(seq) FROM events WHERE events.stream_id = streams.stream_id), 0)"
_WRONG_LAST = f"SELECT name FROM streams WHERE last_seq <> {_LAST}"
_MEND_LAST = f"UPDATE streams SET last_seq = {_LAST} WHERE last_seq <> {_LAST}"
_UNKNOWN = (
    "SELECT namespace, type FROM event_types "
    "WHERE EXISTS(SELECT 1 FROM events WHERE events.type_id = event_types.type_id)"
)

_CAUSELESS = (
    "SELECT position FROM events e WHERE type_id IN (SELECT type_id FROM event_types "
    "WHERE namespace = 'workbench' AND type = ?) AND NOT EXISTS (SELECT 1 FROM events o "
    "JOIN event_types t ON t.type_id = o.type_id WHERE o.event_id = e.causation_id "
    "AND t.namespace = 'workbench' AND t.type = 'observation.recorded') ORDER BY position"
)
_CAUSED = ("checkpoint.recorded", "fact.asserted")

_PURGES = (
    "SELECT position, CAST(payload AS BLOB) FROM events WHERE typeof(position) = 'integer' AND type_id IN ("
    "SELECT type_id FROM event_types WHERE type = 'artifact.purged') ORDER BY position"
)

_EVIDENCE = b'"evidence":['
"""What stands in a payload that may name some."""

_metadata = msgspec.json.Decoder(dict[str, Any]).decode


def mend_last_seq(connection: apsw.Connection) -> None:
    """Set each stream's `last_seq` to what its events say."""
    connection.execute(_MEND_LAST)


def events_in_order(
    connection: apsw.Connection,
    evidence: NamedEvidence,
    now: Callable[[], int],
    command: Commands,
    watch: Watch,
) -> Iterator[Finding]:
    """One pass along `position`; `now` gives microseconds. What the events name goes into `evidence`, and
    what they say was purged."""
    gaps, falls, broken = Noted(), Noted(), Noted()
    first: dict[Noted, int] = {}
    total = fetch.value(connection, "SELECT max(position) FROM events") or 0
    expected = 1
    before = earlier = None
    for position, recorded_at, whole, payload in connection.execute(_EVENTS):
        if position != expected:
            first.setdefault(gaps, min(expected, position))
            gaps.add(f"{expected:,} to {position - 1:,}" if position > expected else f"{position:,}")
        if recorded_at is None:
            # What cannot be a time says nothing of the ones around it.
            recorded_at = before
        elif before is not None and recorded_at < before:
            # Where it still fits behind the last but one, it is the one between them that stands out.
            leaps = earlier is not None and earlier <= recorded_at
            first.setdefault(falls, position - 1 if leaps else position)
            falls.add(f"{position - 1 if leaps else position:,}")
            before = earlier if leaps else before
        if not whole or not _is_text(payload):
            first.setdefault(broken, position)
            broken.add(f"{position:,}")
        elif _EVIDENCE in payload:
            _note_evidence(evidence, payload, position)
        expected, earlier, before = position + 1, before, recorded_at
        if position % _EVERY == 0:
            watch.step(position, total)
    _note_purges(connection, evidence)
    evidence.upto = expected - 1
    if gaps:
        yield Finding(
            "critical",
            "position_gap",
            "Events are missing, for positions follow one another without gaps, and "
            f"{command.only_a_copy('them')}: {gaps}.",
            command.look(first[gaps] - 1),
        )
    if falls:
        yield Finding(
            "critical",
            "recorded_at_falls",
            "Events bear a time of recording that is out of order, which no append gives, and "
            f"{command.only_a_copy('the right one')}: at {falls}.",
            command.look(first[falls] - 1),
        )
    if broken:
        yield Finding(
            "critical",
            "event_unreadable",
            f"Events hold what cannot be read, and {command.only_a_copy()}: at {broken}.",
            command.look(first[broken]),
        )
    # Not before: what others append while this begins is not later than the clock.
    moment = now()
    if before is not None and before > moment:
        yield Finding(
            "warning",
            "recorded_in_future",
            f"The last event was recorded at {_time(before)}, later than this machine's clock says it is "
            f"({_time(moment)}), and new ones get that time until then: look whether the clock is right.",
            "date -u",
        )


def impossible_times(connection: apsw.Connection) -> frozenset[int]:
    """What some events have for a time and cannot be one, as far as it is a number."""
    outside = "SELECT {0} FROM events WHERE typeof({0}) = 'integer' AND {0} NOT " + _IN_TIME
    sql = " UNION ".join(outside.format(name) for name in ("recorded_at", "occurred_at")) + " LIMIT 1000"
    return frozenset(moment for (moment,) in fetch.rows(connection, sql))


def _is_text(payload: bytes) -> bool:
    try:
        return payload.isascii() or payload.decode() is not None
    except UnicodeDecodeError:
        return False


def _note_evidence(evidence: NamedEvidence, payload: bytes, position: int) -> None:
    try:
        said = _metadata(payload)
    except msgspec.DecodeError:
        return
    for holder in (said, said.get("metadata")):
        named = holder.get("evidence") if isinstance(holder, dict) else None
        for each in named if isinstance(named, list) else ():
            # A session's act lists digests, an observation what became of each source file.
            digest = each.get("sha256") if isinstance(each, dict) else each
            if isinstance(digest, str):
                evidence.add(digest, position)


def _note_purges(connection: apsw.Connection, evidence: NamedEvidence) -> None:
    for position, payload in connection.execute(_PURGES):
        try:
            digest = _metadata(payload).get("sha256")
        except msgspec.DecodeError:
            continue
        if isinstance(digest, str):
            evidence.purge(digest, position)


def _time(micros: int) -> str:
    try:
        return to_text(from_micros(micros))
    except OverflowError:
        return "a time beyond the year 9999"


def streams_in_order(connection: apsw.Connection, command: Commands, watch: Watch) -> Iterator[Finding]:
    """One pass along each stream, and what each stream's row says of its end."""
    gaps = Noted()
    first = 0
    total = fetch.value(connection, "SELECT max(position) FROM events") or 0
    current, expected = None, 1
    for number, (stream, seq) in enumerate(connection.execute(_SEQS)):
        if stream != current:
            current, expected = stream, 1
        if number % _EVERY == 0:
            watch.step(number, total)
        if not isinstance(seq, int):
            # A damaged row, which the pass along `position` has named.
            continue
        if seq != expected:
            sql = "SELECT name FROM streams WHERE stream_id = ?"
            name = fetch.value(connection, sql, (stream,)) or f"stream {stream}"
            gaps.add(f"{name} before {seq:,}")
            if not first:
                sql = f"SELECT position FROM events INDEXED BY {BY_STREAM} WHERE stream_id = ? AND seq = ?"
                first = fetch.value(connection, sql, (stream, seq)) or 1
        expected = seq + 1
    if gaps:
        yield Finding(
            "critical",
            "seq_gap",
            "Events of a stream are missing, for its numbers follow one another without gaps, and "
            f"{command.only_a_copy('them')}: {gaps}.",
            command.look(first - 1),
        )
    wrong = Noted()
    for (name,) in connection.execute(_WRONG_LAST):
        wrong.add(name)
    if wrong:
        yield Finding(
            "warning",
            "last_seq_differs",
            f"Streams are said to end elsewhere than their events do: {wrong}.",
            command.fix,
        )


def causes_held(connection: apsw.Connection, command: Commands) -> Iterator[Finding]:
    """Checkpoints and facts of shared memory without the observation that brought them."""
    noted = Noted()
    positions = sorted(at for kind in _CAUSED for (at,) in connection.execute(_CAUSELESS, (kind,)))
    for position in positions:
        noted.add(f"{position:,}")
    if noted:
        yield Finding(
            "warning",
            "memory_cause_missing",
            "Checkpoints or facts lack the observation that brought them, so that nobody knows why they were "
            f"recorded; they are shown by themselves: at {noted}.",
            command.look(positions[0]),
        )


def types_known(
    connection: apsw.Connection, registry: EventTypeRegistry, command: Commands
) -> Iterator[Finding]:
    """Types of events that this release has no name for."""
    noted = Noted()
    for namespace, name in connection.execute(_UNKNOWN):
        if registry.get(namespace, name) is None:
            noted.add(f"{namespace}:{name}")
    if noted:
        yield Finding(
            "info",
            "event_type_unknown",
            "Events are kept that this release does not know and passes over; "
            f"if a newer one wrote them, install a newer chronicle-workbench: {noted}.",
            command.upgrade,
        )

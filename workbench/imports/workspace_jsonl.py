"""A log as JSON lines, back into a log (contract surfaces, "import jsonl").

One event per line with every field: position, stream, seq, event_id, namespace, type, schema_version,
causation_id, correlation_id, visibility, recorded_at, occurred_at, payload.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

import msgspec

from workbench.errors import WorkbenchError
from workbench.log.event_log import EventLog
from workbench.log.registry import EventType, Payload, PendingEvent
from workbench.log.streams import StreamRef, session_stream
from workbench.log.times import to_text

BATCH_EVENTS = 500
"""Events of one transaction at most."""


class LogNotEmpty(WorkbenchError):
    """Positions of the file would clash with those of the log."""

    code = "log_not_empty"


class InvalidLine(WorkbenchError):
    """A line that this log cannot hold; the message begins with its number."""

    code = "invalid_line"

    @classmethod
    def at(cls, number: int, reason: str, *, hint: str = "") -> InvalidLine:
        """The error of line `number`, counted from 1."""
        return cls(f"line {number}: {reason}", hint=hint)


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line as read."""

    position: int
    stream: str
    seq: int
    event_id: UUID
    namespace: str
    type: str
    schema_version: int
    causation_id: UUID | None
    correlation_id: UUID | None
    visibility: Literal["public", "private"]
    recorded_at: datetime
    occurred_at: datetime | None
    payload: msgspec.Raw


_decode_line = msgspec.json.Decoder(Line).decode
_canonical = msgspec.json.Encoder(order="sorted").encode


def load_jsonl(log: EventLog, lines: Iterable[str | bytes], *, shift: timedelta | None = None) -> int:
    """Load events into an empty log, in transactions of at most `BATCH_EVENTS`; how many there were.

    With `shift` it is added to `recorded_at`, to `occurred_at` and to the payload fields that an event
    type declares as times. Nothing is redacted: a text that the log's filter would change is refused.

    Raises `LogNotEmpty`; `InvalidLine` for the first line that is not an event of a known type, whose
    position or seq does not follow, or whose payload would not come out as it went in. Earlier
    transactions stay.
    """
    if log.last_position():
        raise LogNotEmpty("the log holds events already", hint="load into a new workspace")
    count = 0
    for batch in _batches(lines):
        with log.transaction():
            for number, line in batch:
                _restore(log, number, line, shift or timedelta())
                count += 1
    return count


def newest(lines: Iterable[str | bytes]) -> datetime | None:
    """The latest time at which an event was recorded or happened; None without events.

    Raises `InvalidLine`.
    """
    latest: datetime | None = None
    for number, line in enumerate(lines, start=1):
        event = _read(number, line)
        for moment in (event.recorded_at, event.occurred_at):
            if moment is not None and (latest is None or moment > latest):
                latest = moment
    return latest


def _batches(lines: Iterable[str | bytes]) -> Iterator[list[tuple[int, str | bytes]]]:
    batch: list[tuple[int, str | bytes]] = []
    for number, line in enumerate(lines, start=1):
        batch.append((number, line))
        if len(batch) == BATCH_EVENTS:
            yield batch
            batch = []
    if batch:
        yield batch


def _read(number: int, line: str | bytes) -> Line:
    try:
        event = _decode_line(line)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidLine.at(number, f"not an event: {error}") from None
    except RecursionError:
        raise InvalidLine.at(number, "not an event: nested too deeply") from None
    for name, moment in (("recorded_at", event.recorded_at), ("occurred_at", event.occurred_at)):
        if moment is not None and moment.tzinfo is None:
            raise InvalidLine.at(number, f"{name} has no time zone")
    return event


def _restore(log: EventLog, number: int, text: str | bytes, shift: timedelta) -> None:
    line = _read(number, text)
    event_type = log.registry.get(line.namespace, line.type, line.schema_version)
    if event_type is None:
        raise InvalidLine.at(
            number, f"there is no event type {line.namespace}:{line.type} version {line.schema_version}"
        )
    payload = _payload(number, line, event_type)
    stream = _stream(number, line, payload)
    try:
        pending = PendingEvent(
            payload=_shifted(payload, event_type, shift),
            event_id=line.event_id,
            causation_id=line.causation_id,
            correlation_id=line.correlation_id,
            visibility=line.visibility,
            occurred_at=None if line.occurred_at is None else line.occurred_at + shift,
        )
        receipt = log.restore(stream, pending, line.recorded_at + shift)
    except InvalidLine:
        raise
    except WorkbenchError as error:
        raise InvalidLine.at(number, error.message, hint=error.hint) from error
    except (OverflowError, ValueError) as error:
        raise InvalidLine.at(number, f"a time cannot be stored: {error}") from error
    if receipt.removals:
        found = ", ".join(sorted({f"{removed.kind} in {removed.field}" for removed in receipt.removals}))
        raise InvalidLine.at(
            number, f"the text holds what looks like a secret ({found})", hint="remove it from the file first"
        )
    if receipt.repaired:
        raise InvalidLine.at(number, "the text holds characters or numbers that the log cannot keep")
    if (receipt.last_position, receipt.last_seq) != (line.position, line.seq):
        raise InvalidLine.at(
            number,
            f"position {line.position}, seq {line.seq} of {line.stream} does not follow the lines before it; "
            f"expected position {receipt.last_position}, seq {receipt.last_seq}",
        )


def _payload(number: int, line: Line, event_type: EventType) -> Payload:
    try:
        payload = msgspec.json.decode(line.payload, type=event_type.model)
        # A field that the type does not have would be lost without a word.
        same = _canonical(payload) == _canonical(msgspec.json.decode(line.payload))
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidLine.at(number, f"the payload is no {line.type}: {error}") from None
    except RecursionError:
        raise InvalidLine.at(number, "the payload is nested too deeply") from None
    if not same:
        raise InvalidLine.at(
            number, f"the payload would not be kept whole: fields that {line.type} does not have, or lacks"
        )
    return payload


def _stream(number: int, line: Line, payload: Payload) -> StreamRef:
    session_id = getattr(payload, "chronicum_id", None)
    if session_id is not None and session_stream(session_id).name != line.stream:
        raise InvalidLine.at(number, f"the stream {line.stream} is not the one of session {session_id}")
    return StreamRef(line.stream, line.stream.partition("/")[0])


def _shifted(payload: Payload, event_type: EventType, shift: timedelta) -> Payload:
    if not shift or not event_type.times:
        return payload
    changed: dict[str, Any] = {}
    for field in event_type.times:
        value = getattr(payload, field)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                raise ValueError(f"{field} has no time zone")
            changed[field] = to_text(moment + shift)
    return msgspec.structs.replace(payload, **changed)

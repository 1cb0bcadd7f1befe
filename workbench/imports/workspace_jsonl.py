"""A log as JSON lines: how an event is written, and how lines become a log again (contract surfaces).

One event per line with every field, keys sorted, no blanks, the payload exactly as it is stored, a newline
behind each. Samples may be written by hand and spelt otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID

import msgspec

from workbench.errors import WorkbenchError
from workbench.log.errors import SecretInIdentifier
from workbench.log.event_log import EventLog, Restored
from workbench.log.registry import EventType, Payload, PayloadClass, PendingEvent, Removed
from workbench.log.streams import StreamRef, domain_stream, pins_stream, scope_stream, session_stream
from workbench.log.times import from_micros, to_text
from workbench.storage.errors import StorageError

STREAM_RULES: tuple[tuple[tuple[str, ...], Callable[..., StreamRef]], ...] = (
    (("chronicum_id",), session_stream),
    (("scope_domain", "scope_project", "scope_task"), scope_stream),
    (("domain",), domain_stream),
    (("drawn_for",), pins_stream),
)
"""By kind of stream: the payload fields that name it, and how the stream follows from them. Only where the
first of them says something does a rule count.

A line holds a stream's name alone, and names are never parsed back into the parts that the log keeps beside
them. Every kind of stream needs its rule here: an event without one may follow others, but cannot begin a
stream.
"""


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


class _Written(msgspec.Struct, frozen=True, gc=False):
    """One line as it is written: the fields in the order of their keys, ids and times as text."""

    causation_id: str | None
    correlation_id: str | None
    event_id: str
    namespace: str
    occurred_at: str | None
    payload: msgspec.Raw
    position: int
    recorded_at: str
    schema_version: int
    seq: int
    stream: str
    type: str
    visibility: str


_decode_line = msgspec.json.Decoder(Line).decode
_decode_written = msgspec.json.Decoder(_Written).decode
_encode_line = msgspec.json.Encoder().encode
_canonical = msgspec.json.Encoder(order="sorted").encode


def stored_line(row: tuple[Any, ...]) -> bytes:
    """The line of a row of `workbench.log.sqlite.FROM_EVENTS`, newline included.

    Raises `ValueError` or `OverflowError` for an id or a time that no event can have.
    """
    (position, stream, seq, namespace, type_name, version, event_id) = row[:7]
    (causation, correlation, private, recorded, occurred, payload) = row[7:]
    return (
        _encode_line(
            _Written(
                None if causation is None else str(UUID(bytes=causation)),
                None if correlation is None else str(UUID(bytes=correlation)),
                str(UUID(bytes=event_id)),
                namespace,
                None if occurred is None else to_text(from_micros(occurred)),
                msgspec.Raw(payload),
                position,
                to_text(from_micros(recorded)),
                version,
                seq,
                stream,
                type_name,
                "private" if private else "public",
            )
        )
        + b"\n"
    )


def position_written(line: bytes) -> int | None:
    """The position of the event on a line that an export wrote, its end included; None for any other."""
    try:
        event = _read(1, line)
        return event.position if line.endswith(b"\n") and _is_as_written(line) else None
    except (InvalidLine, msgspec.MsgspecError, UnicodeError):
        return None


def load_jsonl(
    log: EventLog,
    lines: Iterable[str | bytes],
    *,
    shift: timedelta | None = None,
    exact: bool = False,
    removed: dict[str, int] | None = None,
    latest: datetime | None = None,
) -> int:
    """Load events into an empty log, all of them or none; how many there were.

    With `shift` it is added to `recorded_at`, to `occurred_at` and to the payload fields that an event
    type declares as times. With `exact` a line is refused unless writing it gives the same bytes: of a key
    that stands twice, or a time finer than a microsecond, a part would be lost without a word. A text that
    the log's filter would change is refused, unless `removed` is given: then it is stored filtered, and
    what was taken out is counted there by kind. An event that was recorded behind `latest` is refused: no
    later one may carry an earlier time, so the log would tell none that is true until then.

    It is one transaction, so a refused load leaves nothing behind, and whatever `lines` raises undoes it
    as well. Other programs read meanwhile and cannot write.

    Raises `LogNotEmpty`; `InvalidLine` for the first line that is not an event of a known type, whose
    position or seq does not follow, or that would not come out as it went in; and what a write raises.
    """
    load = _Load(log, timedelta() if shift is None else shift, exact, removed, latest)
    with log.transaction():
        if log.last_position():
            raise LogNotEmpty(
                "the log holds events already",
                hint="lay out a new workspace with: workbench init --root DIR, and load into that one",
            )
        try:
            for batch in _batches(lines):
                load.take(batch)
        except InvalidLine as error:
            # It may quote a name from the file, of any length and with anything in it.
            said = log.redactor.redact_text(error.message)[0]
            raise InvalidLine(said[:_MESSAGE_CHARS], hint=error.hint) from None
    return load.count


_MESSAGE_CHARS = 500
_BATCH_LINES = 500
_BATCH_BYTES = 1024 * 1024


def _batches(lines: Iterable[str | bytes]) -> Iterator[list[str | bytes]]:
    """The lines in order, some at a time; what `lines` raises comes after those in front of it."""
    batch: list[str | bytes] = []
    size = 0
    try:
        for line in lines:
            batch.append(line)
            size += len(line)
            if size >= _BATCH_BYTES or len(batch) >= _BATCH_LINES:
                yield batch
                batch, size = [], 0
    except Exception:
        # Of two bad lines the first is the one to name.
        if batch:
            yield batch
        raise
    if batch:
        yield batch


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


def _read(number: int, line: str | bytes) -> Line:
    try:
        event = _decode_line(line)
    except (msgspec.DecodeError, UnicodeError) as error:
        if "truncated" in str(error):
            said = "it breaks off in the middle, so the file was cut" if line.strip() else "the line is empty"
            raise InvalidLine.at(number, f"not an event: {said}") from None
        raise InvalidLine.at(number, f"not an event: {error}") from None
    except RecursionError:
        raise InvalidLine.at(number, "not an event: nested too deeply") from None
    for name, moment in (("recorded_at", event.recorded_at), ("occurred_at", event.occurred_at)):
        if moment is not None and moment.tzinfo is None:
            raise InvalidLine.at(number, f"{name} has no time zone")
    return event


class _Load:
    """One pass over the lines of a file, inside one transaction."""

    def __init__(
        self,
        log: EventLog,
        shift: timedelta,
        exact: bool,
        removed: dict[str, int] | None,
        latest: datetime | None,
    ) -> None:
        self._log = log
        self._shift = shift
        self._exact = exact
        self._removed = removed
        self._latest = latest
        self.count = 0
        """Lines that were taken."""

    def take(self, batch: Sequence[str | bytes]) -> None:
        """Restore lines that follow those taken before. Raises `InvalidLine` for the first bad one."""
        if self._as_one(batch):
            self.count += len(batch)
            return
        # Something is wrong with one of them: taken one by one, it says for itself what.
        for line in batch:
            self._alone(self.count + 1, line)
            self.count += 1

    def _as_one(self, batch: Sequence[str | bytes]) -> bool:
        """Restore lines together if nothing at all is to be said about any; else nothing is done."""
        try:
            lines: list[Line] = []
            events: list[Restored] = []
            for number, text in enumerate(batch, start=self.count + 1):
                line, event = self._event(number, text)
                lines.append(line)
                events.append(event)
            with self._log.transaction():
                done = self._log.restore_all(events)
                if done.repaired or (done.removals and self._removed is None):
                    raise _Doubtful
                if done.places != [(line.position, line.seq) for line in lines]:
                    raise _Doubtful
        except StorageError:
            # Not the fault of a line: a full disk, a lock.
            raise
        except (WorkbenchError, OverflowError, ValueError):
            return False
        self._count_removed(done.removals)
        return True

    def _alone(self, number: int, text: str | bytes) -> None:
        try:
            line, event = self._event(number, text)
            done = self._log.restore_all([event])
        except SecretInIdentifier as error:
            raise InvalidLine.at(
                number, error.message, hint="names are never changed: name it otherwise in the file"
            ) from error
        except (InvalidLine, StorageError):
            raise
        except WorkbenchError as error:
            raise InvalidLine.at(number, error.message, hint=error.hint) from error
        except (OverflowError, ValueError) as error:
            raise InvalidLine.at(number, f"a time cannot be stored: {error}") from error
        if done.removals and self._removed is None:
            found = ", ".join(sorted({f"{removal.kind} in {removal.field}" for removal in done.removals}))
            raise InvalidLine.at(
                number,
                f"the text holds what looks like a secret ({found})",
                hint="import it with --redact, which takes secrets out, or take them out of the file first",
            )
        self._count_removed(done.removals)
        if done.repaired:
            raise InvalidLine.at(number, "the text holds characters or numbers that the log cannot keep")
        [(position, seq)] = done.places
        if (position, seq) != (line.position, line.seq):
            raise InvalidLine.at(
                number,
                f"position {line.position}, seq {line.seq} of {line.stream} does not follow the lines before "
                f"it; expected position {position}, seq {seq}",
            )

    def _count_removed(self, removals: Iterable[Removed]) -> None:
        for removal in removals:
            assert self._removed is not None
            self._removed[removal.kind] = self._removed.get(removal.kind, 0) + removal.count

    def _event(self, number: int, text: str | bytes) -> tuple[Line, Restored]:
        """A line, and the event it stands for. Raises `InvalidLine`, `OverflowError`, `ValueError`."""
        line = _read(number, text)
        event_type = self._log.registry.get(line.namespace, line.type, line.schema_version)
        if event_type is None:
            raise InvalidLine.at(
                number, f"there is no event type {line.namespace}:{line.type} version {line.schema_version}"
            )
        if self._latest is not None and line.recorded_at > self._latest:
            raise InvalidLine.at(
                number,
                f"it was recorded at {to_text(line.recorded_at)}, more than a day after the time of this "
                "machine, and every later event would carry that time",
                hint="set the clock of the machine right, or take it: workbench import jsonl --future",
            )
        payload, as_written = _payload(number, line, event_type)
        if self._exact:
            given = text.encode() if isinstance(text, str) else text
            if not given.endswith(b"\n"):
                raise InvalidLine.at(number, "the file ends before the line does", hint=_WHOLE_FILE)
            if not (as_written and _is_as_written(given)):
                raise InvalidLine.at(number, _OTHER_SPELLING, hint=_WHOLE_FILE)
        stream = _stream(number, line, payload)
        recorded_at, occurred_at = line.recorded_at, line.occurred_at
        if self._shift:
            payload = _shifted(payload, event_type, self._shift)
            recorded_at += self._shift
            occurred_at = None if occurred_at is None else occurred_at + self._shift
        pending = PendingEvent(
            payload=payload,
            event_id=line.event_id,
            causation_id=line.causation_id,
            correlation_id=line.correlation_id,
            visibility=line.visibility,
            occurred_at=occurred_at,
        )
        return line, Restored(stream, pending, recorded_at)


class _Doubtful(WorkbenchError):
    """Some line of a batch has to be looked at by itself."""

    code = "doubtful"


@lru_cache(maxsize=256)
def _payload_decoder(model: PayloadClass) -> msgspec.json.Decoder[Payload]:
    return msgspec.json.Decoder(model)


def _payload(number: int, line: Line, event_type: EventType) -> tuple[Payload, bool]:
    """The payload, and whether the log would store the very bytes that the line has."""
    try:
        payload = _payload_decoder(event_type.model).decode(line.payload)
        encoded = _canonical(payload)
        # A field that the type does not have would be lost without a word.
        as_written = encoded == bytes(line.payload)
        same = as_written or encoded == _canonical(msgspec.json.decode(line.payload))
    except (msgspec.DecodeError, UnicodeError) as error:
        raise InvalidLine.at(number, f"the payload is no {line.type}: {error}") from None
    except RecursionError:
        raise InvalidLine.at(number, "the payload is nested too deeply") from None
    if not same:
        raise InvalidLine.at(
            number, f"the payload would not be kept whole: fields that {line.type} does not have, or lacks"
        )
    return payload, as_written


_WHOLE_FILE = "import the file as it was exported"
_OTHER_SPELLING = (
    "it is not written as an export writes it: every key once and sorted, no blanks, ids in small letters, "
    "times in UTC"
)


def _is_as_written(given: bytes) -> bool:
    """Whether an export would write this line, the spelling inside its payload aside, in the same bytes."""
    line = _decode_written(given)
    if _encode_line(line) + b"\n" != given:
        return False
    return (
        _is_id(line.event_id)
        and (line.causation_id is None or _is_id(line.causation_id))
        and (line.correlation_id is None or _is_id(line.correlation_id))
        and _is_time(line.recorded_at)
        and (line.occurred_at is None or _is_time(line.occurred_at))
    )


def _is_id(text: str) -> bool:
    # Read as an id already: of this length there is no other form, capitals aside.
    return len(text) == 36 and text == text.lower()


def _is_time(text: str) -> bool:
    # Read as a time already: of this length and end there is no other form.
    return len(text) == 32 and text[10] == "T" and text.endswith("+00:00")


@lru_cache(maxsize=256)
def _stream_of(rule: Callable[..., StreamRef], *names: str) -> StreamRef:
    return rule(*names)


def _stream(number: int, line: Line, payload: Payload) -> StreamRef:
    for fields, stream_of in STREAM_RULES:
        names = [getattr(payload, field, None) for field in fields]
        if names[0] and all(isinstance(name, str) for name in names):
            try:
                stream = _stream_of(stream_of, *names)
            except ValueError as error:
                raise InvalidLine.at(number, str(error)) from None
            if stream.name != line.stream:
                named = ", ".join(
                    f"{field} {name}" for field, name in zip(fields, names, strict=True) if name
                )
                raise InvalidLine.at(number, f"the stream {line.stream} is not the one of its {named}")
            return stream
    if line.seq == 1:
        raise InvalidLine.at(number, f"{line.type} cannot be the first event of a stream")
    # The parts count for the stream's first event alone; if there was none, this seq will not follow.
    return StreamRef(line.stream, "")


def _shifted(payload: Payload, event_type: EventType, shift: timedelta) -> Payload:
    if not event_type.times:
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

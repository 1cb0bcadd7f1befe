"""A run's pins, or any of its events, as a file (contract log-and-chronicle, §6).

The first line is a header. Each line after it begins with a digest of everything up to it, and the last one
says how many events there are: a line that was changed, added, moved or lost is found and named. Nobody is
kept from making such a file; so what a pin holds is looked at as well.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from workbench.log.door import MAX_PAYLOAD_BYTES
from workbench.log.pins.answers import PinAnswers, promotes
from workbench.log.pins.canonical import canonical_json, sorted_json
from workbench.log.pins.errors import RecordingError
from workbench.log.ports import JsonValue
from workbench.log.registry import StoredEvent
from workbench.log.times import to_text
from workbench.storage.replacing import replacing

MARKER = "workbench.recording"
"""The key of the header that makes a file a recording; its value is the version of the format."""
VERSION = 1
MAX_HEADER_BYTES = 1024 * 1024
_MAX_LINE_BYTES = 2 * MAX_PAYLOAD_BYTES
_CHAINED = re.compile(rb'\{"chain":"(?P<chain>[0-9a-f]{64})",')
_TAIL = b'"events":'

_decode_any = msgspec.json.Decoder().decode
_decode_event = msgspec.json.Decoder(StoredEvent).decode


class Recording(NamedTuple):
    """What a recording holds."""

    header: dict[str, JsonValue]
    """Without the marker."""
    events: tuple[StoredEvent, ...]
    """As they were stored, in the versions that they were stored in."""


def pin_events(events: Iterable[StoredEvent]) -> Iterator[StoredEvent]:
    """Those that promote a pin."""
    return (event for event in events if promotes(event))


def latest_pins(events: Iterable[StoredEvent]) -> list[StoredEvent]:
    """The events that promote a pin, of each key of a unit the latest, which is the one that counts."""
    latest: dict[tuple[object, object], StoredEvent] = {}
    for event in pin_events(events):
        question = event.payload.get("unit_id"), event.payload.get("key")
        latest.pop(question, None)
        latest[question] = event
    return list(latest.values())


def write_recording(path: Path, events: Iterable[StoredEvent], *, header: Mapping[str, JsonValue]) -> int:
    """Write a recording that only its owner may read; how many events it holds.

    The first line is the header with its marker in canonical JSON. Each event follows in a line of its own:
    sorted keys, no blanks, and text as it is stored, for a replay has to give back what was drawn; where all
    text is in NFC that is its canonical JSON. A header's `stream` names the one stream that its pins were
    drawn for. The file appears, or replaces an earlier recording or an empty file, when it is whole and on
    the disk.

    Raises `RecordingError` for a header that holds the marker or is longer than a megabyte, for two answers
    to one question (see `latest_pins`), and for a place where something else stands; what `canonical_json`
    raises of the header; `OSError`.
    """
    if MARKER in header:
        raise RecordingError(f"a recording's header may not hold {MARKER}", hint="it is put there by itself")
    first = canonical_json({**header, MARKER: VERSION}).encode()
    if len(first) >= MAX_HEADER_BYTES:
        raise RecordingError("a recording's header is longer than a megabyte")
    # A link stays a link: what it leads to is replaced.
    target = Path(os.path.realpath(path))
    _refuse_others(target)
    count = 0
    chain, answers = _Chain(first), PinAnswers(header.get("stream"))
    with replacing(target) as file:
        file.write(first + b"\n")
        for event in events:
            answers.take(event)
            file.write(chain.line(_fields(event)))
            count += 1
        file.write(chain.line(_TAIL + str(count).encode() + b"}"))
    return count


def read_recording(path: Path) -> Recording:
    """Read a recording; blank lines are passed over, and no event is brought to today's shape.

    Raises `RecordingError` for what is no recording, for one of another version, and, naming its line, for
    what is not as it was written, for an event that cannot be read, and for a pin that answers nothing (see
    `PinAnswers`); `OSError`.
    """
    # A pipe would keep the program waiting for whoever is at its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RecordingError(f"{path} is no file")
        first = file.readline(MAX_HEADER_BYTES)
        header = _header(first)
        return Recording(
            header, tuple(_events(file, _Chain(first.strip()), PinAnswers(header.get("stream"))))
        )


def _header(line: bytes) -> dict[str, JsonValue]:
    """The header of a first line, without its marker."""
    try:
        header: Any = _decode_any(line)
    except (msgspec.DecodeError, RecursionError):
        header = None
    if not isinstance(header, dict) or MARKER not in header:
        raise RecordingError("this is no recording", hint="its first line is no header of one")
    version = header.pop(MARKER)
    # True and 1.0 equal 1.
    if type(version) is not int or version != VERSION:
        raise RecordingError(
            f"this recording is of version {str(version)[:20]}, and {VERSION} can be read",
            hint="install a newer chronicle-workbench",
        )
    return header


def _events(file: IO[bytes], chain: _Chain, answers: PinAnswers) -> Iterator[StoredEvent]:
    number, count = 1, 0
    while line := file.readline(_MAX_LINE_BYTES):
        number += 1
        if not line.strip():
            continue
        fields = chain.checked(line.strip(), number)
        if fields.startswith(_TAIL):
            if fields != _TAIL + str(count).encode() + b"}":
                raise RecordingError(f"line {number} of the recording tells of other events than there are")
            _refuse_more(file, number)
            return
        try:
            event = _decode_event(b"{" + fields)
            _check(event)
            answers.take(event)
        except RecordingError as error:
            raise RecordingError(f"line {number} of the recording: {error.message}") from None
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            reason = str(error)[:200]
            raise RecordingError(f"line {number} of the recording is no event: {reason}") from None
        count += 1
        yield event
    raise RecordingError(
        f"line {number + 1} of the recording is missing: it is cut off",
        hint="write it again, or copy it again",
    )


def _refuse_more(file: IO[bytes], number: int) -> None:
    while line := file.readline(_MAX_LINE_BYTES):
        number += 1
        if line.strip():
            raise RecordingError(f"line {number} was added behind the end of the recording")


class _Chain:
    """Digests of everything up to each line."""

    def __init__(self, first: bytes) -> None:
        """After the first line, without its end."""
        self._digest = hashlib.sha256(first).hexdigest().encode()

    def line(self, fields: bytes) -> bytes:
        """A line with its digest; `fields` are what follows it in the object."""
        self._digest = hashlib.sha256(self._digest + fields).hexdigest().encode()
        return b'{"chain":"' + self._digest + b'",' + fields + b"\n"

    def checked(self, line: bytes, number: int) -> bytes:
        """The fields of a line, if it and all before it are as they were written."""
        found = _CHAINED.match(line)
        if found is None:
            raise RecordingError(
                f"line {number} of the recording begins with no digest",
                hint="write it again where it was drawn: workbench chronicle recording write",
            )
        fields = line[found.end() :]
        if self.line(fields) != line + b"\n":
            raise RecordingError(
                f"line {number} of the recording is not as it was written: it, or one before it, was "
                "changed, cut off, added or removed",
                hint="take the file as it was written",
            )
        return fields


def _check(event: StoredEvent) -> None:
    envelope = event.envelope
    if event.seq < 1 or event.position < 1 or envelope.schema_version < 1:
        raise ValueError("seq, position and schema_version count from 1")
    if envelope.recorded_at.tzinfo is None or (envelope.occurred_at and envelope.occurred_at.tzinfo is None):
        raise ValueError("a time without a zone")


def _fields(event: StoredEvent) -> bytes:
    """An event's object in canonical JSON, without what opens it."""
    envelope = event.envelope
    occurred = envelope.occurred_at
    written = {
        "envelope": {
            "causation_id": None if envelope.causation_id is None else str(envelope.causation_id),
            "correlation_id": None if envelope.correlation_id is None else str(envelope.correlation_id),
            "event_id": str(envelope.event_id),
            "namespace": envelope.namespace,
            "occurred_at": None if occurred is None else to_text(occurred),
            "recorded_at": to_text(envelope.recorded_at),
            "schema_version": envelope.schema_version,
            "type": envelope.type,
            "visibility": envelope.visibility,
        },
        "payload": event.payload,
        "position": event.position,
        "seq": event.seq,
        "stream": event.stream,
    }
    return sorted_json(written).encode()[1:]


def _refuse_others(target: Path) -> None:
    if not target.exists():
        return
    if not target.is_file():
        raise RecordingError(f"{target} is no file", hint="name another")
    with target.open("rb") as file:
        line = file.readline(MAX_HEADER_BYTES)
    if line:
        try:
            _header(line)
        except RecordingError:
            raise RecordingError(
                f"{target} exists and is no recording",
                hint="name another file with --to, or say --force; this one was not touched",
            ) from None

"""A run's pins, or any of its events, as a file (contract log-and-chronicle, §6)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from workbench.log.door import MAX_PAYLOAD_BYTES
from workbench.log.pins.canonical import canonical_json, sorted_json
from workbench.log.pins.errors import RecordingError
from workbench.log.pins.events import PROMOTED
from workbench.log.ports import JsonValue
from workbench.log.registry import StoredEvent
from workbench.log.times import to_text
from workbench.storage.replacing import replacing

MARKER = "workbench.recording"
"""The key of the header that makes a file a recording; its value is the version of the format."""
VERSION = 1
MAX_HEADER_BYTES = 1024 * 1024
_MAX_LINE_BYTES = 2 * MAX_PAYLOAD_BYTES

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
    return (
        event
        for event in events
        if (event.envelope.namespace, event.envelope.type) == (PROMOTED.namespace, PROMOTED.type)
    )


def write_recording(path: Path, events: Iterable[StoredEvent], *, header: Mapping[str, JsonValue]) -> int:
    """Write a recording that only its owner may read; how many events it holds.

    The first line is the header with its marker in canonical JSON. Each event follows in a line of its own:
    sorted keys, no blanks, and text as it is stored, for a replay has to give back what was drawn; where all
    text is in NFC that is its canonical JSON. The file appears, or replaces an earlier recording or an empty
    file, when it is whole and on the disk.

    Raises `RecordingError` for a header that holds the marker or is longer than a megabyte, and for a place
    where something else stands; what `canonical_json` raises of the header; `OSError`.
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
    with replacing(target, ".recording-") as file:
        file.write(first + b"\n")
        for event in events:
            file.write(_line(event))
            count += 1
    return count


def read_recording(path: Path) -> Recording:
    """Read a recording; blank lines are passed over, and no event is brought to today's shape.

    Raises `RecordingError` for what is no recording, for one of another version, and, naming its line, for
    an event that cannot be read; `OSError`.
    """
    # A pipe would keep the program waiting for whoever is at its other end.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise RecordingError(f"{path} is no file")
        header = _header(file.readline(MAX_HEADER_BYTES))
        return Recording(header, tuple(_events(file)))


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


def _events(file: IO[bytes]) -> Iterator[StoredEvent]:
    number = 1
    while line := file.readline(_MAX_LINE_BYTES):
        number += 1
        if not line.strip():
            continue
        try:
            event = _decode_event(line)
            _check(event)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            reason = str(error)[:200]
            raise RecordingError(f"line {number} of the recording is no event: {reason}") from None
        yield event


def _check(event: StoredEvent) -> None:
    envelope = event.envelope
    if event.seq < 1 or event.position < 1 or envelope.schema_version < 1:
        raise ValueError("seq, position and schema_version count from 1")
    if envelope.recorded_at.tzinfo is None or (envelope.occurred_at and envelope.occurred_at.tzinfo is None):
        raise ValueError("a time without a zone")


def _line(event: StoredEvent) -> bytes:
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
    return sorted_json(written).encode() + b"\n"


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
                f"{target} exists and is no recording", hint="name another file; this one was not touched"
            ) from None

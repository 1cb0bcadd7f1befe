"""A run's pins as a file, and files that are none."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.log.log_cases import said
from tests.log.pin_cases import KIND, A, Effect, books, ledger, open_log, same
from workbench.log import EventLog, PendingEvent
from workbench.log.pins.canonical import canonical_json
from workbench.log.pins.errors import NotCanonical, RecordingError
from workbench.log.pins.keys import pin_key
from workbench.log.pins.recording import (
    MARKER,
    Recording,
    latest_pins,
    pin_events,
    read_recording,
    write_recording,
)
from workbench.log.pins.replay import ReplayPins

TEXTS = ["plain", "composed \N{LATIN SMALL LETTER E WITH ACUTE}", "line\u2028end \x00 \U0001f642"]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """Something said, three pins, and a unit that was given up."""
    with open_log(tmp_path / "log.db") as log:
        log.append(
            A,
            [
                PendingEvent(
                    payload=said("1"),
                    causation_id=uuid4(),
                    visibility="private",
                    occurred_at=datetime(1999, 1, 2, tzinfo=UTC),
                )
            ],
        )
        pins = ledger(log)
        for number, text in enumerate(TEXTS):
            result = {"text": text, "n": [1, 1.0, 1e22, -0.0, 2**70], "none": None}
            pins.resolve(pin_key(KIND, {"n": number}), kind=KIND, effect=Effect(result), interpret=same)
        pins.commit(correlation_id=uuid4())
        pins.abandon(reason="the end")
        yield log


def chained(first: str, *events: str, count: int | None = None) -> bytes:
    """A recording as whoever makes one by hand would write it."""
    digest, content = hashlib.sha256(first.encode()).hexdigest(), first.encode() + b"\n"
    for line in (*events, f'{{"events":{len(events) if count is None else count}}}'):
        fields = line.encode("utf-8", "surrogatepass")[1:]
        digest = hashlib.sha256(digest.encode() + fields).hexdigest()
        content += b'{"chain":"' + digest.encode() + b'",' + fields + b"\n"
    return content


def test_invariant_57_a_recording_is_read_as_it_was_stored(log: EventLog, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    header = {"title": "A run", "model": {"name": "m", "seeds": [1, 2]}}
    stored = list(log.read())
    assert write_recording(path, log.read(), header=header) == 5
    assert read_recording(path) == Recording(header, tuple(stored))
    assert ReplayPins.from_events(read_recording(path).events, log.registry).pins == (
        ReplayPins.from_events(stored, log.registry).pins
    )


def test_only_the_pins_of_a_log_are_recorded(log: EventLog, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert write_recording(path, pin_events(log.read()), header={}) == 3
    assert read_recording(path) == Recording({}, tuple(books(log)[:3]))


def test_a_recording_is_lines_of_canonical_json(log: EventLog, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_recording(path, books(log), header={"z": 1, "a": "x"})
    written = path.read_bytes()
    assert written.endswith(b"}\n")
    assert b"\r" not in written
    first, *lines, tail = written.decode().removesuffix("\n").split("\n")
    assert first == f'{{"a":"x","{MARKER}":1,"z":1}}'
    assert len(lines) == 4
    digests = [json.loads(line)["chain"] for line in (*lines, tail)]
    assert tail == canonical_json({"chain": digests[-1], "events": 4})
    assert written == chained(
        first, *(line.replace(f'"chain":"{d}",', "") for line, d in zip(lines, digests, strict=False))
    )
    for line, digest, event in zip(lines, digests, books(log), strict=False):
        envelope = event.envelope
        assert line == canonical_json(
            {
                "chain": digest,
                "envelope": {
                    "causation_id": None,
                    "correlation_id": envelope.correlation_id and str(envelope.correlation_id),
                    "event_id": str(envelope.event_id),
                    "namespace": "pins",
                    "occurred_at": None,
                    "recorded_at": envelope.recorded_at.isoformat(timespec="microseconds"),
                    "schema_version": 1,
                    "type": envelope.type,
                    "visibility": "public",
                },
                "payload": event.payload,
                "position": event.position,
                "seq": event.seq,
                "stream": event.stream,
            }
        )


def test_what_was_drawn_is_recorded_as_it_is_even_where_letters_are_decomposed(
    log: EventLog, tmp_path: Path
) -> None:
    """A replay that composed them would give another prose than the one that is stored."""
    texts = ["cafe\N{COMBINING ACUTE ACCENT}", "\N{ANGSTROM SIGN}"]
    pins = ledger(log, "decomposed")
    for text in texts:
        pins.resolve(pin_key(KIND, {"t": text}), kind=KIND, effect=Effect(text), interpret=same)
    pins.commit()
    path = tmp_path / "run.jsonl"
    write_recording(path, pin_events(books(log)), header={})
    read = read_recording(path).events
    assert read == tuple(pin_events(books(log)))
    assert [event.payload["result"] for event in read[-2:]] == texts


def test_blank_lines_are_passed_over(log: EventLog, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_recording(path, books(log), header={})
    expected = read_recording(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n \r\n\t\n"))
    assert read_recording(path) == expected
    path.write_bytes(path.read_bytes().rstrip())
    assert read_recording(path) == expected


def test_a_header_with_the_marker_or_without_a_form_in_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with pytest.raises(RecordingError, match=MARKER):
        write_recording(path, [], header={MARKER: 1})
    with pytest.raises(NotCanonical):
        write_recording(path, [], header={"n": float("nan")})
    with pytest.raises(RecordingError, match="megabyte"):
        write_recording(path, [], header={"n": "x" * 1024 * 1024})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"{}\n",
        b"[]\n",
        b"1\n",
        b'{"title":"x"}\n',
        b"not JSON\n",
        b'\xef\xbb\xbf{"workbench.recording":1}\n',
        b'{"workbench.recording":1',
        b'{"workbench.recording":"\xff"}',
        b"[" * 100_000,
        b"SQLite format 3\x00",
        b'\n{"workbench.recording":1}\n',
    ],
    ids=range(13),
)
def test_invariant_57_a_file_without_the_marker_is_no_recording(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="no recording"):
        read_recording(path)


@pytest.mark.parametrize("version", ["2", "0", "true", "1.0", '"1"', "null", "[1]", "-1", "1e0"])
def test_invariant_57_a_recording_of_another_version_is_refused(tmp_path: Path, version: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(f'{{"{MARKER}":{version}}}\n')
    with pytest.raises(RecordingError, match="version") as caught:
        read_recording(path)
    assert caught.value.code == "recording"


EVENT = (
    '{"envelope":{"event_id":"0198c0de-0000-7000-8000-000000000001","namespace":"pins","type":"pin.promoted",'
    '"schema_version":1,"recorded_at":"2031-01-02T03:04:05+00:00"},"payload":{"attempts":1,"drawn_for":"a",'
    '"key":"p1:draw:1","kind":"draw","result":{"text":"x"},"unit_id":"u"},"position":1,"seq":1,"stream":"pins/a"}'
)
FIRST = f'{{"{MARKER}":1}}'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "{"),
        ('"seq":1', '"seq":0'),
        ('"seq":1', '"seq":1.5'),
        ('"seq":1', '"seq":true'),
        ('"position":1', '"position":-1'),
        ('"position":1,', ""),
        ('"payload":{', '"payload":['),
        ('"payload":{', '"payload":' + "[" * 100_000),
        ('"result":{"text":"x"},', ""),
        ('"attempts":1', '"attempts":0'),
        ('"schema_version":1', '"schema_version":0'),
        ("05+00:00", "05"),
        ("2031-01-02", "2031-13-02"),
        ("0198c0de", "0198c0dx"),
        ('"stream":"pins/a"', '"stream":"\ud800"'),
    ],
    ids=range(15),
)
def test_an_event_that_cannot_be_read_is_named_by_its_line(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(chained(FIRST, EVENT))
    assert len(read_recording(path).events) == 1
    line = EVENT.replace(old, new, 1) if old else new
    path.write_bytes(chained(FIRST, EVENT, line).replace(b"\n", b"\n\n", 2))
    with pytest.raises(RecordingError, match="line 5 ") as caught:
        read_recording(path)
    assert len(caught.value.message) < 300


HASH = "0" * 64


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('"text":"x"', '"text":"y"'), "two answers for p1:draw:1"),
        (('"p1:draw:1"', f'"p1:other:{HASH}"'), f"p1:other:{HASH} is no key of a draw"),
        (('"kind":"draw"', '"kind":"model_call"'), "no answer of a model"),
        (('"drawn_for":"a"', '"drawn_for":"b"'), "drawn for b"),
    ],
    ids=["two answers", "another kind", "no answer", "another stream"],
)
def test_a_pin_that_can_be_no_answer_is_refused_by_its_line(
    log: EventLog, tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    """Also in a file whose digests are right: nobody is kept from making one."""
    path = tmp_path / "run.jsonl"
    first = canonical_json({MARKER: 1, "stream": "a"})
    other = EVENT.replace('"result":{"text":"x"}', '"result":[]') if "model_call" in change[1] else EVENT
    path.write_bytes(chained(first, EVENT, EVENT))
    assert len(read_recording(path).events) == 2
    path.write_bytes(chained(first, EVENT, other.replace(*change)))
    with pytest.raises(RecordingError, match="line 3 ") as caught:
        read_recording(path)
    assert reason in caught.value.message


def test_of_two_pins_of_one_key_the_later_one_is_recorded(log: EventLog, tmp_path: Path) -> None:
    """55: what counts in the log is what a recording carries; both at once it cannot."""
    key = pin_key(KIND, {"n": 0})
    pins = ledger(log)
    pins.resolve(key, kind=KIND, effect=Effect("anew"), interpret=same)
    pins.commit()
    path = tmp_path / "run.jsonl"
    with pytest.raises(RecordingError, match="two answers"):
        write_recording(path, books(log), header={})
    assert not path.exists()
    assert write_recording(path, latest_pins(books(log)), header={}) == 3
    assert ReplayPins.from_events(read_recording(path).events, log.registry).pins[key].result == "anew"


@pytest.mark.parametrize("name", ["changed", "without a line", "reordered", "a line twice", "another header"])
def test_what_was_edited_is_refused_by_line(log: EventLog, tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.jsonl"
    write_recording(path, books(log), header={"stream": A.name})
    lines = path.read_bytes().splitlines(keepends=True)
    lines, number = {
        "changed": ([*lines[:2], lines[2].replace(b'"attempts":1', b'"attempts":2'), *lines[3:]], 3),
        "without a line": ([*lines[:2], *lines[3:]], 3),
        "reordered": ([lines[0], lines[2], lines[1], *lines[3:]], 2),
        "a line twice": ([*lines[:2], *lines[1:]], 3),
        "another header": ([lines[0].replace(b"{", b'{"more":1,'), *lines[1:]], 2),
    }[name]
    path.write_bytes(b"".join(lines))
    with pytest.raises(RecordingError, match=f"line {number} of the recording is not as it was written"):
        read_recording(path)


def test_what_stands_behind_the_end_or_tells_another_count_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(chained(FIRST, EVENT) + b"\n{}\n")
    with pytest.raises(RecordingError, match="line 5 was added"):
        read_recording(path)
    path.write_bytes(chained(FIRST, EVENT, count=2))
    with pytest.raises(RecordingError, match=r"line 3 .* other events"):
        read_recording(path)
    path.write_text(f"{FIRST}\n{EVENT}\n")
    with pytest.raises(RecordingError, match=r"line 2 .* no digest"):
        read_recording(path)


def test_a_recording_cut_short_is_refused_wherever_that_is(log: EventLog, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_recording(path, books(log), header={})
    whole = path.read_bytes()
    for length in [*range(30, len(whole) - 1, 7), len(whole) - 2, whole.rindex(b"\n", 0, -1) + 1]:
        path.write_bytes(whole[:length])
        lines = whole[:length].removesuffix(b"\n").count(b"\n") + 1
        number = lines + (b"\n" in whole[length - 1 : length + 1])
        with pytest.raises(RecordingError, match=f"line {number} "):
            read_recording(path)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(RecordingError, match="no file"):
        read_recording(pipe)
    with pytest.raises(RecordingError, match="no file"):
        write_recording(pipe, [], header={})
    with pytest.raises(RecordingError, match="no file"):
        write_recording(tmp_path, [], header={})
    with pytest.raises(OSError):
        read_recording(tmp_path / "missing")


def test_something_else_is_never_overwritten_and_an_earlier_recording_is(
    log: EventLog, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("my notes\n")
    with pytest.raises(RecordingError, match="exists"):
        write_recording(path, books(log), header={})
    assert path.read_text() == "my notes\n"
    path.write_text("")
    assert write_recording(path, books(log), header={}) == 4
    link = tmp_path / "link"
    link.symlink_to(path)
    assert write_recording(link, [], header={"second": True}) == 0
    assert link.is_symlink()
    assert read_recording(path) == Recording({"second": True}, ())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_recording_that_fails_half_way_leaves_what_was_there(log: EventLog, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_recording(path, books(log), header={})
    before = path.read_bytes()

    def some() -> Iterator[Any]:
        yield books(log)[0]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="gone"):
        write_recording(path, some(), header={})
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir() if "recording" in each.name] == []

"""A run's pins as a file, and files that are none."""

from __future__ import annotations

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
from workbench.log.pins.recording import MARKER, Recording, pin_events, read_recording, write_recording
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
    first, *lines = written.decode().removesuffix("\n").split("\n")
    assert first == f'{{"a":"x","{MARKER}":1,"z":1}}'
    assert len(lines) == 4
    for line, event in zip(lines, books(log), strict=True):
        envelope = event.envelope
        assert line == canonical_json(
            {
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
    '"schema_version":1,"recorded_at":"2031-01-02T03:04:05+00:00"},"payload":{},"position":1,"seq":1,'
    '"stream":"pins/a"}'
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "{"),
        ('"seq":1', '"seq":0'),
        ('"seq":1', '"seq":1.5'),
        ('"seq":1', '"seq":true'),
        ('"position":1', '"position":-1'),
        ('"position":1,', ""),
        ('"payload":{}', '"payload":[]'),
        ('"payload":{}', '"payload":' + "[" * 100_000),
        ('"schema_version":1', '"schema_version":0'),
        ("05+00:00", "05"),
        ("2031-01-02", "2031-13-02"),
        ("0198c0de", "0198c0dx"),
        ('"stream":"pins/a"', '"stream":"\ud800"'),
    ],
    ids=range(13),
)
def test_an_event_that_cannot_be_read_is_named_by_its_line(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "run.jsonl"
    good = f'{{"{MARKER}":1}}\n{EVENT}\n'
    path.write_text(good)
    assert len(read_recording(path).events) == 1
    line = EVENT.replace(old, new, 1) if old else new
    path.write_bytes(f"{good}\n{line}\n".encode("utf-8", "surrogatepass"))
    with pytest.raises(RecordingError, match="line 4 ") as caught:
        read_recording(path)
    assert len(caught.value.message) < 300


def test_a_recording_cut_short_is_refused_in_every_line_but_where_a_line_ends(
    log: EventLog, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    write_recording(path, books(log), header={})
    whole = path.read_bytes()
    for length in range(len(whole) - 300, len(whole) - 1):
        path.write_bytes(whole[:length])
        if whole[length - 1 : length + 1] in (b"}\n",) or whole[length - 1 : length] == b"\n":
            assert len(read_recording(path).events) == 3
        else:
            with pytest.raises(RecordingError, match="line 5 "):
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

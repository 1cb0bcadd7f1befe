"""Lines that are accepted come out again byte for byte; every other spelling is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.thorough import examples
from workbench.imports.workspace_jsonl import STREAM_RULES, InvalidLine, load_jsonl, stored_line
from workbench.log import FOLDS as LOG_FOLDS
from workbench.log import EventLog, EventTypeRegistry, PendingEvent, sqlite
from workbench.log.streams import session_stream
from workbench.redaction import default_filter
from workbench.sessions.events import (
    EVENT_TYPES,
    ActumRecorded,
    ChronicumCreated,
    ChronicumDescribed,
    UnitClosed,
)
from workbench.sessions.folds import FOLDS as SESSION_FOLDS

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def open_log(path: Path) -> EventLog:
    for old in path.parent.glob(f"{path.name}*"):
        old.unlink()
    return EventLog.open(
        path,
        (*SESSION_FOLDS, *LOG_FOLDS),
        EventTypeRegistry(EVENT_TYPES),
        redactor=default_filter(),
        synchronous="OFF",
    )


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "new.db") as opened:
        yield opened


def exported(log: EventLog) -> list[bytes]:
    """Every stored row as a line."""
    with log.reader() as connection:
        return [stored_line(row) for row in connection.execute(sqlite.BY_POSITION, (0, 2**62, -1))]


def some_lines(path: Path) -> list[bytes]:
    """Two sessions, side by side."""
    with open_log(path) as log:
        for name in ("s", "t"):
            log.append(session_stream(name), [ChronicumCreated(chronicum_id=name, owner_id="ada")])
        for name in ("s", "t", "s"):
            log.append(session_stream(name), [UnitClosed(chronicum_id=name, unit="over")])
        return exported(log)


text = st.text(max_size=12)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**40), 10**40) | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
times = st.none() | st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
uuids = st.none() | st.uuids()


@st.composite
def events(draw: st.DrawFn) -> tuple[str, PendingEvent]:
    """An event as any writer may append it, and its session."""
    name = draw(names)
    payload = draw(
        st.one_of(
            st.builds(ChronicumCreated, chronicum_id=st.just(name), owner_id=names),
            st.builds(ChronicumDescribed, title=text, models=st.lists(text, max_size=2)),
            st.builds(UnitClosed, chronicum_id=st.just(name), unit=names, note=text),
            st.builds(
                ActumRecorded,
                id=names,
                chronicum_id=st.just(name),
                kind=st.sampled_from(["message", "thought", "tool_request", "tool_response"]),
                actor_kind=st.sampled_from(["human", "agent", "system"]),
                actor=names,
                content=text | st.just(f"the key is {SECRET}"),
                metadata=st.dictionaries(text, values, max_size=3),
            ),
        )
    )
    return name, PendingEvent(
        payload=payload,
        causation_id=draw(uuids),
        correlation_id=draw(uuids),
        visibility=draw(st.sampled_from(["public", "private"])),
        occurred_at=draw(times),
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(events(), max_size=6))
def test_what_was_exported_comes_out_again(
    tmp_path: Path, given_events: list[tuple[str, PendingEvent]]
) -> None:
    with open_log(tmp_path / "a.db") as first, open_log(tmp_path / "b.db") as second:
        for name in sorted({name for name, _ in given_events}):
            first.append(session_stream(name), [ChronicumCreated(chronicum_id=name, owner_id="ada")])
        for name, event in given_events:
            first.append(session_stream(name), [event])
        lines = exported(first)
        assert load_jsonl(second, lines, exact=True) == len(lines)
        assert exported(second) == lines
        streams = "SELECT name, kind, domain_key, project_key, task_key, last_seq FROM streams ORDER BY name"
        with first.reader() as one, second.reader() as other:
            assert one.execute(streams).fetchall() == other.execute(streams).fetchall()


@settings(
    max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_an_edited_file_is_refused_or_comes_out_as_it_is(tmp_path: Path, data: st.DataObject) -> None:
    whole = b"".join(some_lines(tmp_path / "a.db"))
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 3)))
    edited = whole[:start] + data.draw(st.binary(max_size=3)) + whole[end:]
    with open_log(tmp_path / "b.db") as log:
        try:
            load_jsonl(log, edited.splitlines(keepends=True), exact=True)
        except InvalidLine as error:
            assert error.message.startswith("line ")
            assert log.last_position() == 0
        else:
            assert b"".join(exported(log)) == edited


def changed(line: bytes, **fields: Any) -> bytes:
    value = {**json.loads(line), **fields}
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def test_reordered_lines_are_refused_with_the_first_that_does_not_follow(
    log: EventLog, tmp_path: Path
) -> None:
    lines = some_lines(tmp_path / "a.db")
    for order, number in (([0, 1, 3, 2, 4], 3), ([1, 0, 2, 3, 4], 1), ([0, 2, 3, 4], 2), ([0, 0, 1], 2)):
        with pytest.raises(InvalidLine, match=f"^line {number}: "):
            load_jsonl(log, [lines[index] for index in order], exact=True)
        assert log.last_position() == 0


@pytest.mark.parametrize("kept", [1, 50, -2, -1])
def test_a_file_that_ends_within_a_line_is_refused(log: EventLog, tmp_path: Path, kept: int) -> None:
    lines = some_lines(tmp_path / "a.db")
    with pytest.raises(InvalidLine, match=r"^line 5: ") as caught:
        load_jsonl(log, [*lines[:4], lines[4][:kept]], exact=True)
    assert (kept == -1) == ("the file ends before the line does" in caught.value.message)


def test_other_spellings_are_refused(log: EventLog, tmp_path: Path) -> None:
    first = some_lines(tmp_path / "a.db")[0]
    value = json.loads(first)
    recorded = value["recorded_at"].encode()
    turned = datetime.fromisoformat(value["recorded_at"]) + timedelta(hours=2)
    spellings = [
        first.replace(b":", b": ", 1),
        first.replace(b"\n", b" \n"),
        first.replace(b"\n", b"\r\n"),
        b" " + first,
        b"\xef\xbb\xbf" + first,
        json.dumps(dict(reversed(value.items())), separators=(",", ":")).encode() + b"\n",
        first.replace(b'"position":1', b'"position":1.0'),
        first.replace(b'"position":1', b'"position":7,"position":1'),
        first.replace(b'"owner_id":"ada"', b'"owner_id":"eve","owner_id":"ada"'),
        first.replace(b'"owner_id":"ada"', b'"owner_id":"\\u0061da"'),
        first.replace(b'{"chronicum_id":"s",', b'{ "chronicum_id":"s",'),
        first.replace(recorded, recorded.replace(b"+00:00", b"Z")),
        first.replace(recorded, recorded.replace(b"+00:00", b"001+00:00")),
        first.replace(recorded, turned.isoformat().replace("+00:00", "+02:00").encode()),
        first.replace(recorded, b"0001-01-01T00:00:00.000000+09:00"),
        first.replace(value["event_id"].encode(), value["event_id"].upper().encode()),
        first.replace(value["event_id"].encode(), UUID(value["event_id"]).hex.encode()),
    ]
    for spelling in spellings:
        assert spelling != first
        with pytest.raises(InvalidLine, match=r"^line 1: "):
            load_jsonl(log, [spelling], exact=True)
        assert log.last_position() == 0
    assert load_jsonl(log, [first], exact=True) == 1


def test_foreign_fields_are_refused(log: EventLog, tmp_path: Path) -> None:
    first = some_lines(tmp_path / "a.db")[0]
    payload = json.loads(first)["payload"]
    for line in (changed(first, mood="fine"), changed(first, payload={**payload, "mood": "fine"})):
        with pytest.raises(InvalidLine, match=r"^line 1: "):
            load_jsonl(log, [line], exact=True)


def test_a_secret_is_refused_or_taken_out(log: EventLog, tmp_path: Path) -> None:
    lines = some_lines(tmp_path / "a.db")
    lines[2] = changed(lines[2], payload={"chronicum_id": "s", "note": f"use {SECRET}", "unit": "over"})
    with pytest.raises(InvalidLine, match=r"^line 3: .*secret") as caught:
        load_jsonl(log, lines, exact=True)
    assert "--redact" in caught.value.hint
    assert SECRET not in caught.value.message
    assert log.last_position() == 0
    removed: dict[str, int] = {}
    assert load_jsonl(log, lines, exact=True, removed=removed) == 5
    assert removed == {"github_token": 1}
    again = exported(log)
    assert SECRET.encode() not in b"".join(again)
    assert [*again[:2], *again[3:]] == [*lines[:2], *lines[3:]]
    with open_log(tmp_path / "b.db") as second:
        load_jsonl(second, again, exact=True)
        assert exported(second) == again


def test_a_secret_in_a_name_is_never_taken_out(log: EventLog, tmp_path: Path) -> None:
    lines = some_lines(tmp_path / "a.db")
    lines[0] = changed(lines[0], payload={"chronicum_id": "s", "owner_id": SECRET})
    with pytest.raises(InvalidLine, match=r"^line 1: ") as caught:
        load_jsonl(log, lines, exact=True, removed={})
    assert SECRET not in caught.value.message + caught.value.hint
    assert log.last_position() == 0


def test_every_rule_gives_the_parts_that_the_log_keeps() -> None:
    for fields, stream_of in STREAM_RULES:
        stream = stream_of(*["a/b"] * len(fields))
        assert stream.name.startswith(f"{stream.kind}/")


def test_an_error_repeats_no_secret_and_no_endless_name(log: EventLog, tmp_path: Path) -> None:
    first = some_lines(tmp_path / "a.db")[0]
    for line in (changed(first, **{SECRET: 1}), changed(first, stream=f"session/{SECRET}")):
        with pytest.raises(InvalidLine, match=r"^line 1: ") as caught:
            load_jsonl(log, [line], exact=True)
        assert SECRET not in caught.value.message
    with pytest.raises(InvalidLine, match=r"^line 1: ") as caught:
        load_jsonl(log, [changed(first, stream="x" * 100_000)], exact=True)
    assert len(caught.value.message) < 1000


def many_lines(path: Path, each: int) -> list[bytes]:
    """Two sessions that take turns, `each` events in a batch of one, and more than is restored at a time."""
    with open_log(path) as log:
        for name in ("s", "t"):
            log.append(session_stream(name), [ChronicumCreated(chronicum_id=name, owner_id="ada")])
        for number in range(each):
            name = "st"[number % 2]
            log.append(session_stream(name), [UnitClosed(chronicum_id=name, unit=f"unit {number}")])
        return exported(log)


@pytest.mark.parametrize("at", [0, 1, 250, 499, 500, 501, 999, 1000, 1203])
def test_the_first_bad_line_is_named_wherever_it_stands(log: EventLog, tmp_path: Path, at: int) -> None:
    """Lines are restored many at a time; what is said of a bad one does not depend on its place."""
    lines = many_lines(tmp_path / "a.db", 1202)
    lines[at] = lines[at].replace(b'"visibility":"public"', b'"visibility":"secret"')
    if at + 3 < len(lines):
        lines[at + 3] = b"no line at all\n"
    with pytest.raises(InvalidLine, match=f"^line {at + 1}: not an event: .*secret"):
        load_jsonl(log, lines, exact=True)
    assert log.last_position() == 0


@pytest.mark.parametrize("at", [3, 499, 700])
def test_a_bad_line_is_named_before_what_the_file_raises_after_it(
    log: EventLog, tmp_path: Path, at: int
) -> None:
    lines = many_lines(tmp_path / "a.db", 800)
    lines[at] = lines[at + 1]

    def broken_off() -> Iterator[bytes]:
        yield from lines[: at + 2]
        raise InvalidLine.at(at + 3, "the rest cannot be read")

    with pytest.raises(InvalidLine, match=f"^line {at + 1}: position {at + 2}, .* does not follow"):
        load_jsonl(log, broken_off(), exact=True)
    assert log.last_position() == 0


def test_an_id_that_stands_twice_is_refused_at_its_second_place(log: EventLog, tmp_path: Path) -> None:
    lines = many_lines(tmp_path / "a.db", 700)
    for first, second in ((10, 20), (10, 690)):
        twice = [*lines]
        twice[second] = changed(twice[second], event_id=json.loads(lines[first])["event_id"])
        with pytest.raises(InvalidLine, match=f"^line {second + 1}: .*stored already"):
            load_jsonl(log, twice, exact=True)
        assert log.last_position() == 0


def test_secrets_in_many_lines_are_counted_once_each(log: EventLog, tmp_path: Path) -> None:
    lines = many_lines(tmp_path / "a.db", 600)
    for at in (5, 6, 499, 501, 599):
        payload = {**json.loads(lines[at])["payload"], "note": f"use {SECRET}"}
        lines[at] = changed(lines[at], payload=payload)
    with pytest.raises(InvalidLine, match=r"^line 6: .*secret"):
        load_jsonl(log, lines, exact=True)
    removed: dict[str, int] = {}
    assert load_jsonl(log, lines, exact=True, removed=removed) == 602
    assert removed == {"github_token": 5}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_field_may_be_changed(tmp_path: Path, data: st.DataObject) -> None:
    """One field, of the line or of its payload, gets any other value, goes or comes: refused or kept so."""
    lines = some_lines(tmp_path / "a.db")
    number = data.draw(st.integers(0, len(lines) - 1))
    value = json.loads(lines[number])
    place = value["payload"] if data.draw(st.booleans()) else value
    field = data.draw(st.sampled_from(sorted(place)) | st.text(max_size=6))
    if data.draw(st.integers(0, 4)) == 0:
        place.pop(field, None)
    else:
        place[field] = data.draw(json_values)
    lines[number] = (
        json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )
        + b"\n"
    )
    with open_log(tmp_path / "b.db") as log:
        try:
            load_jsonl(log, lines, exact=True)
        except InvalidLine as error:
            assert error.message.startswith("line ")
            assert log.last_position() == 0
        else:
            assert exported(log) == lines

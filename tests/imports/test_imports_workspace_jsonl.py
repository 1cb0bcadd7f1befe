"""A log as JSON lines, loaded back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET, UnsetType

from workbench.imports.workspace_jsonl import InvalidLine, LogNotEmpty, load_jsonl, newest
from workbench.log import FOLDS as LOG_FOLDS
from workbench.log import EventLog, EventType, EventTypeRegistry, Payload
from workbench.log.times import to_text
from workbench.log.unit_of_work import FLUSH_EVENTS
from workbench.redaction import default_filter
from workbench.sessions.events import EVENT_TYPES
from workbench.sessions.folds import FOLDS as SESSION_FOLDS
from workbench.storage import fetch

START = datetime(2026, 3, 2, 8, 0, 0, 123456, tzinfo=UTC)


class Planned(Payload, frozen=True, kw_only=True):
    """A payload with times of its own."""

    chronicum_id: str
    due: str
    done: str | UnsetType = UNSET
    label: str | UnsetType = UNSET


class Adrift(Payload, frozen=True, kw_only=True):
    """A payload that names no stream."""


PLANNED = EventType("workbench", "test.planned", 1, Planned, times=frozenset({"due", "done"}))
ADRIFT = EventType("workbench", "test.adrift", 1, Adrift)


def open_log(path: Path) -> EventLog:
    registry = EventTypeRegistry((*EVENT_TYPES, PLANNED, ADRIFT))
    return EventLog.open(path, (*SESSION_FOLDS, *LOG_FOLDS), registry, redactor=default_filter())


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "new.db") as opened:
        yield opened


def event(position: int, /, **changes: Any) -> dict[str, Any]:
    """Line `position` of a session “s”: its creation, then messages."""
    payload: dict[str, Any] = {"chronicum_id": "s", "owner_id": "ada"}
    if position > 1:
        payload = {
            "actor": "ada",
            "actor_kind": "human",
            "chronicum_id": "s",
            "content": f"number {position}",
            "id": f"{position:032x}",
            "kind": "message",
            "metadata": {},
        }
    return {
        "causation_id": None,
        "correlation_id": None,
        "event_id": str(UUID(int=position)),
        "namespace": "workbench",
        "occurred_at": None,
        "payload": payload,
        "position": position,
        "recorded_at": to_text(START + timedelta(seconds=position)),
        "schema_version": 1,
        "seq": position,
        "stream": "session/s",
        "type": "actum.recorded" if position > 1 else "chronicum.created",
        "visibility": "public",
        **changes,
    }


def line(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


def lines(count: int) -> list[str]:
    return [line(event(position)) for position in range(1, count + 1)]


def written(log: EventLog) -> Iterator[str]:
    """The log's events as lines, in the form that they are loaded from."""
    for stored in log.read():
        envelope = stored.envelope
        yield line(
            {
                "causation_id": None if envelope.causation_id is None else str(envelope.causation_id),
                "correlation_id": None if envelope.correlation_id is None else str(envelope.correlation_id),
                "event_id": str(envelope.event_id),
                "namespace": envelope.namespace,
                "occurred_at": None if envelope.occurred_at is None else to_text(envelope.occurred_at),
                "payload": stored.payload,
                "position": stored.position,
                "recorded_at": to_text(envelope.recorded_at),
                "schema_version": envelope.schema_version,
                "seq": stored.seq,
                "stream": stored.stream,
                "type": envelope.type,
                "visibility": envelope.visibility,
            }
        )


def test_every_field_comes_back(log: EventLog) -> None:
    given_lines = [
        *lines(2),
        line(
            event(
                3,
                causation_id=str(UUID(int=2)),
                correlation_id=str(UUID(int=99)),
                visibility="private",
                occurred_at="1969-12-31T23:59:59.000001+00:00",
            )
        ),
    ]
    assert load_jsonl(log, given_lines) == 3
    assert list(written(log)) == given_lines


def test_bytes_and_text_lines_are_one(log: EventLog) -> None:
    assert load_jsonl(log, [text.encode() for text in lines(3)]) == 3


def test_nothing_is_a_log_too(log: EventLog) -> None:
    assert load_jsonl(log, []) == 0
    assert newest([]) is None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "content": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40),
                "metadata": st.dictionaries(
                    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
                    st.none()
                    | st.booleans()
                    | st.integers(-(2**63), 2**63 - 1)
                    | st.text("ab\u0301界\x00", max_size=9),
                    max_size=4,
                ),
            }
        ),
        max_size=5,
    ),
    st.integers(-(10**12), 10**12),
)
def test_loading_what_was_written_changes_nothing(
    tmp_path: Path, contents: list[dict[str, Any]], micros: int
) -> None:
    def fresh(name: str) -> EventLog:
        for path in tmp_path.glob(f"{name}.db*"):
            path.unlink()
        return open_log(tmp_path / f"{name}.db")

    first_lines = [line(event(1))]
    for index, changes in enumerate(contents, start=2):
        whole = event(index)
        whole["payload"].update(changes)
        first_lines.append(line(whole))
    shift = timedelta(microseconds=micros)
    with fresh("a") as first, fresh("b") as second, fresh("c") as third:
        load_jsonl(first, first_lines)
        assert list(written(first)) == first_lines
        load_jsonl(second, written(first), shift=shift)
        load_jsonl(third, written(second), shift=-shift)
        assert list(written(third)) == first_lines


def test_times_are_shifted_together(log: EventLog) -> None:
    plan = {
        "chronicum_id": "s",
        "due": "2026-03-09T00:00:00.000000+00:00",
        "label": "2026-03-09T00:00:00.000000+00:00",
    }
    planned = event(
        2,
        type="test.planned",
        payload=plan,
        occurred_at="2026-03-01T00:00:00.000000+00:00",
    )
    load_jsonl(log, [*lines(1), line(planned)], shift=timedelta(days=2, microseconds=1))
    stored = log.event(2)
    assert stored is not None
    assert stored.envelope.recorded_at == START + timedelta(days=2, seconds=2, microseconds=1)
    assert stored.envelope.occurred_at == datetime(2026, 3, 3, 0, 0, 0, 1, tzinfo=UTC)
    assert stored.payload["due"] == "2026-03-11T00:00:00.000001+00:00"
    assert stored.payload["label"] == plan["label"]


def test_newest_is_the_latest_of_both_times() -> None:
    later = line(event(3, occurred_at="2027-01-01T00:00:00.000000+00:00"))
    assert newest(lines(2)) == START + timedelta(seconds=2)
    assert newest([*lines(2), later]) == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_log_with_events_is_refused(log: EventLog) -> None:
    load_jsonl(log, lines(1))
    with pytest.raises(LogNotEmpty):
        load_jsonl(log, lines(2))
    assert log.last_position() == 1


def test_a_bad_line_undoes_everything(log: EventLog) -> None:
    # More than what is handed to the folds at a time.
    many = lines(FLUSH_EVENTS + 10)
    many[-2] = "{"
    with pytest.raises(InvalidLine, match=f"^line {FLUSH_EVENTS + 9}: "):
        load_jsonl(log, many)
    assert log.last_position() == 0
    with log.reader() as connection:
        for table in ("events", "streams", "chronica", "session_entries", "facet_counts"):
            assert fetch.value(connection, f"SELECT count(*) FROM {table}") == 0, table
    assert load_jsonl(log, lines(3)) == 3


def test_whatever_the_lines_raise_undoes_everything(log: EventLog) -> None:
    def until_stopped() -> Iterator[str]:
        yield from lines(3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_jsonl(log, until_stopped())
    assert log.last_position() == 0


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def with_payload(**changes: Any) -> dict[str, Any]:
    whole = event(2)
    whole["payload"].update(changes)
    return whole


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("\n", "not an event"),
        ("[1]\n", "not an event"),
        ("{" * 100_000, "not an event"),
        (b"\xff\n", "not an event"),
        (line({**event(2), "extra": 1}), "not an event"),
        (line({k: v for k, v in event(2).items() if k != "seq"}), "not an event"),
        (line(event(2, visibility="secret")), "not an event"),
        (line(event(2, event_id="x")), "not an event"),
        (line(event(2, recorded_at="2026-03-02T08:00:02")), "recorded_at has no time zone"),
        (line(event(2, occurred_at="2026-03-02T08:00:02")), "occurred_at has no time zone"),
        (line(event(2, position=3)), "does not follow"),
        (line(event(2, seq=3)), "does not follow"),
        (line(event(2, stream="session/t")), "not the one of its chronicum_id s"),
        (line(event(2, type="test.adrift", payload={}, stream="other", seq=1)), "cannot be the first"),
        (line(event(2, type="test.adrift", payload={}, stream="other")), "does not follow"),
        (line(event(2, type="no.such")), "there is no event type workbench:no.such version 1"),
        (line(event(2, schema_version=7)), "version 7"),
        (line(event(2, event_id=str(UUID(int=1)))), "stored already"),
        (line(event(2, recorded_at="2020-01-01T00:00:00.000000+00:00")), "falls behind"),
        (line(with_payload(kind=3)), "the payload is no actum.recorded"),
        (line(with_payload(mood="fine")), "would not be kept whole"),
        (line(with_payload(content=f"my {SECRET}")), "looks like a secret"),
        (line(with_payload(actor=SECRET)), "looks like a secret"),
        (
            line(event(2, type="test.planned", payload={"chronicum_id": "s", "due": "soon"})),
            "a time cannot be stored",
        ),
        (
            line(
                event(
                    2,
                    type="test.planned",
                    payload={"chronicum_id": "s", "due": "9999-12-31T00:00:00+00:00"},
                )
            ),
            "a time cannot be stored",
        ),
    ],
)
def test_a_line_that_cannot_be_held_is_named(log: EventLog, bad: str | bytes, reason: str) -> None:
    with pytest.raises(InvalidLine) as caught:
        load_jsonl(log, [*lines(1), bad], shift=timedelta(days=1))
    assert caught.value.message.startswith("line 2: ")
    assert reason in caught.value.message
    assert SECRET not in caught.value.message
    assert log.last_position() == 0


def test_a_payload_that_is_nested_too_deeply_is_named(log: EventLog) -> None:
    deep = line(event(2)).replace('"metadata":{}', '"metadata":{"a":' + "[" * 5000 + "]" * 5000 + "}")
    with pytest.raises(InvalidLine, match=r"^line 2: "):
        load_jsonl(log, [*lines(1), deep])


def test_canonical_lines_are_what_msgspec_writes() -> None:
    # The test's own writer and the log's encoder agree on the form.
    value = event(2)
    assert line(value).encode() == msgspec.json.encode(value, order="sorted") + b"\n"

"""Invariants 11 to 15 and 23 to 30 of the log contract, in our form."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from uuid import UUID

import apsw
import pytest

from tests.log.log_cases import SAID, TYPES, Stranger, assert_whole, new_log, said, texts
from tests.log.projection_cases import A, B, open_log
from workbench.log import EventLog, EventType, EventTypeRegistry, PendingEvent
from workbench.log.errors import (
    ConcurrencyError,
    DuplicateEventId,
    DuplicateEventType,
    InvalidPayload,
    UnknownEventType,
)
from workbench.log.positions import Positions
from workbench.storage import schema, turns
from workbench.storage.errors import DatabaseLocked, SchemaAheadOfCode, WrongThread


def test_invariant_11_bad_versions_and_naive_times_are_refused_and_events_are_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="from 1"):
        EventTypeRegistry([EventType("test", "strange", 0, Stranger)])
    with new_log(tmp_path / "log.db") as log:
        with pytest.raises(InvalidPayload, match="time zone"):
            log.append(A, [PendingEvent(payload=said("x"), occurred_at=datetime(2030, 1, 1))])
        log.append(A, [said("x")])
        event = log.event(1)
        assert event is not None
        with pytest.raises(AttributeError):
            event.envelope.type = "other"  # type: ignore[misc]
        with pytest.raises(AttributeError):
            event.seq = 2  # type: ignore[misc]


def test_invariant_12_the_reserved_namespace_is_refused() -> None:
    with pytest.raises(ValueError, match="reserved"):
        EventTypeRegistry([EventType("anagrapheus", "said", 1, Stranger)])


def test_invariant_13_a_key_or_a_class_twice_is_refused() -> None:
    registry = EventTypeRegistry([SAID])
    with pytest.raises(DuplicateEventType):
        registry.register(EventType("test", "said", 1, Stranger))
    with pytest.raises(DuplicateEventType):
        registry.register(EventType("test", "other", 1, SAID.model))


def test_invariant_14_the_same_types_registered_twice_are_refused() -> None:
    registry = EventTypeRegistry(TYPES)
    for event_type in TYPES:
        with pytest.raises(DuplicateEventType):
            registry.register(event_type)


def test_invariant_15_an_event_of_an_unregistered_class_is_refused(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db") as log:
        with pytest.raises(UnknownEventType):
            log.append(A, [Stranger(text="x")])
        assert log.last_position() == 0


def test_invariant_23_appends_count_from_one_without_gaps(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db") as log:
        store = log.stream(A)
        assert store.append([]) == 0
        assert store.append([said("1"), said("2"), said("3")]) == 3
        assert [event.seq for event in store.read()] == [1, 2, 3]


@pytest.mark.parametrize("size", [0, 2])
def test_invariant_24_a_stale_expectation_writes_nothing(tmp_path: Path, size: int) -> None:
    with new_log(tmp_path / "log.db") as log:
        store = log.stream(A)
        store.append([said("1"), said("2")])
        for stale in (0, 1, 3):
            with pytest.raises(ConcurrencyError):
                store.append([said("x")] * size, expected_last_seq=stale)
        assert store.last_seq() == 2
        assert store.append([said("x")] * size, expected_last_seq=2) == 2 + size


def test_invariant_25_an_event_id_twice_in_a_batch_undoes_the_batch(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db") as log:
        twice = PendingEvent(payload=said("x"), event_id=UUID(int=7))
        log.append(A, [said("1")])
        with pytest.raises(DuplicateEventId):
            log.append(A, [said("2"), twice, twice])
        assert log.stream(A).last_seq() == 1
        assert_whole(log)


def test_invariant_26_each_level_undoes_only_itself(tmp_path: Path) -> None:
    with new_log(tmp_path / "log.db") as log:
        with log.transaction() as outer:
            outer.append(A, [said("outer")])
            with pytest.raises(KeyError), log.transaction() as inner:
                inner.append(A, [said("inner")])
                raise KeyError
            outer.append(A, [said("after")])
        assert texts(log.read()) == ["outer", "after"]
        with pytest.raises(KeyError), log.transaction() as outer:
            outer.append(A, [said("gone")])
            with log.transaction() as inner:
                inner.append(B, [said("gone too")])
            raise KeyError
        assert texts(log.read()) == ["outer", "after"]
        assert_whole(log)


def test_invariant_27_what_one_thread_opened_is_refused_in_another(tmp_path: Path) -> None:
    """Ours: a log may be shared, an open transaction and an iterator may not."""
    with new_log(tmp_path / "log.db") as log:
        log.append(A, [said("x")])
        events = log.read()
        with log.transaction() as transaction:
            calls: list[Callable[[], object]] = [
                lambda: next(events),
                lambda: transaction.append(A, [said("y")]),
            ]
            caught: list[BaseException] = []

            def use() -> None:
                for call in calls:
                    try:
                        call()
                    except WrongThread as error:
                        caught.append(error)

            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
        assert len(caught) == 2
        assert log.last_position() == 1


def test_invariant_28_a_file_from_the_future_is_refused_on_open(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    new_log(path).close()
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA user_version={schema.SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(SchemaAheadOfCode) as caught:
        new_log(path)
    assert caught.value.exit_code == 3
    assert path.read_bytes() == before


def test_invariant_29_positions_begin_at_0_and_may_go_back(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as log:
        positions = Positions(log)
        assert positions.read_position("unknown") == 0
        positions.commit_position("p", 5)
        positions.commit_position("p", 2)
        assert positions.read_position("p") == 2
        positions.commit_position("p", 9, "test/a")
        positions.commit_position("o", 1)
        assert positions.read_position("p") == 2
        assert positions.read_position("p", "test/b") == 0
        assert positions.all() == [("o", "", 1), ("p", "", 2), ("p", "test/a", 9)]
        with pytest.raises(KeyError), log.transaction():
            positions.commit_position("p", 100)
            assert positions.read_position("p") == 100
            raise KeyError
        assert positions.read_position("p") == 2


def test_invariant_30_a_writer_that_waits_in_vain_says_who_holds_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "BUSY_TIMEOUT_MS", 100)
    path = tmp_path / "log.db"

    def append(other: EventLog) -> None:
        other.append(A, [said("x")])

    with new_log(path) as log, new_log(path) as other:
        with log.transaction(), pytest.raises(DatabaseLocked, match="another program") as caught:
            append(other)
        assert caught.value.retryable
        append(other)
        assert log.last_position() == 1

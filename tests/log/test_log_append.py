"""Appending: positions, batches, refusals, savepoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID, uuid4

import msgspec
import pytest

from tests.log.log_cases import (
    TYPES,
    Measured,
    Stranger,
    TallyFold,
    actors,
    assert_whole,
    fold_positions,
    found,
    new_log,
    said,
    stream,
    texts,
)
from workbench.log import FOLDS, EventLog, EventType, EventTypeRegistry, PendingEvent, StreamRef
from workbench.log.errors import (
    ConcurrencyError,
    DuplicateEventId,
    DuplicateEventType,
    InvalidPayload,
    UnknownEventType,
)
from workbench.log.streams import session_stream
from workbench.storage import fetch


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with new_log(tmp_path / "log.db", folds=(TallyFold(), *FOLDS)) as opened:
        yield opened


def tally(log: EventLog) -> dict[str, int]:
    with log.reader() as connection:
        return dict(
            fetch.rows(connection, "SELECT s.name, t.events FROM tally t JOIN streams s USING(stream_id)")
        )


# -- positions and batches ------------------------------------------------------------------------


def test_an_empty_log_counts_from_nothing(log: EventLog) -> None:
    assert log.last_position() == 0
    assert list(log.read()) == []
    assert log.event(1) is None
    assert log.stream("test/a").last_seq() == 0
    assert list(log.stream("test/a").read()) == []


def test_an_empty_batch_answers_where_the_stream_is(log: EventLog) -> None:
    store = log.stream(stream("a"))
    assert store.append([]) == 0
    assert store.append([said("1"), said("2"), said("3")]) == 3
    assert store.append([]) == 3
    assert [event.seq for event in store.read()] == [1, 2, 3]
    assert_whole(log)


def test_an_empty_batch_does_not_make_a_stream(log: EventLog) -> None:
    log.append(stream("a"), [])
    with log.reader() as connection:
        assert fetch.value(connection, "SELECT count(*) FROM streams") == 0


def test_streams_share_one_position_and_keep_their_own_seq(log: EventLog) -> None:
    for number in range(60):
        name = f"s{number % 7}"
        receipt = log.append(stream(name), [said(f"{number}.{i}") for i in range(number % 4)])
        assert receipt.last_position - receipt.first_position + 1 == number % 4
    assert_whole(log)
    assert tally(log) == {f"test/s{k}": log.stream(f"test/s{k}").last_seq() for k in range(7)}


def test_a_receipt_says_where_the_batch_stands(log: EventLog) -> None:
    log.append(stream("a"), [said("before")])
    receipt = log.append(stream("b"), [said("x"), said("y")])
    assert (receipt.first_position, receipt.last_position, receipt.last_seq) == (2, 3, 2)
    assert receipt.payloads == (said("x"), said("y"))
    stored = log.event(3)
    assert stored is not None
    assert stored.envelope.recorded_at == datetime.fromtimestamp(0, UTC) + timedelta(
        microseconds=receipt.recorded_at
    )


def test_the_envelope_comes_back_as_it_went_in(log: EventLog) -> None:
    event_id, cause, group = uuid4(), uuid4(), uuid4()
    happened = datetime(2001, 2, 3, 4, 5, 6, 789, tzinfo=timezone(timedelta(hours=3)))
    log.append(
        stream("a"),
        [
            PendingEvent(
                payload=said("x"),
                event_id=event_id,
                causation_id=cause,
                correlation_id=group,
                visibility="private",
                occurred_at=happened,
            )
        ],
    )
    log.append(stream("a"), [said("y")])
    first, second = (event.envelope for event in log.read())
    assert (first.event_id, first.causation_id, first.correlation_id) == (event_id, cause, group)
    assert (first.visibility, first.occurred_at) == ("private", happened)
    assert (first.namespace, first.type, first.schema_version) == ("test", "said", 1)
    assert (second.visibility, second.occurred_at, second.causation_id) == ("public", None, None)
    assert second.event_id.version == 7


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [[], [said("late")]], ids=["empty", "one"])
@pytest.mark.parametrize("expected", [0, 1, 3, -1, 2**62])
def test_a_stale_expectation_writes_nothing(log: EventLog, batch: list[object], expected: int) -> None:
    store = log.stream(stream("a"))
    store.append([said("1"), said("2")])
    with pytest.raises(ConcurrencyError) as caught:
        store.append(batch, expected_last_seq=expected)  # type: ignore[arg-type]
    assert caught.value.retryable
    assert store.last_seq() == 2
    assert_whole(log)


def test_a_true_expectation_passes_also_for_a_stream_that_is_not_there(log: EventLog) -> None:
    store = log.stream(stream("a"))
    assert store.append([], expected_last_seq=0) == 0
    assert store.append([said("1")], expected_last_seq=0) == 1
    assert store.append([said("2")], expected_last_seq=1) == 2
    with pytest.raises(ConcurrencyError):
        log.append(stream("other"), [], expected_last_seq=1)


def test_an_event_id_counts_once_inside_a_batch(log: EventLog) -> None:
    twice = UUID(int=7)
    log.append(stream("a"), [said("kept")])
    with pytest.raises(DuplicateEventId):
        log.append(
            stream("a"),
            [said("x"), *(PendingEvent(payload=said(t), event_id=twice) for t in ("y", "z"))],
        )
    assert texts(log.read()) == ["kept"]
    assert_whole(log)


def test_an_event_id_counts_once_over_the_log(log: EventLog) -> None:
    event = PendingEvent(payload=said("x"), event_id=UUID(int=7))
    log.append(stream("a"), [event])
    with pytest.raises(DuplicateEventId):
        log.append(stream("b"), [said("before"), event, said("after")])
    with log.reader() as connection:
        assert fetch.rows(connection, "SELECT name FROM streams") == [("test/a",)]
    assert found(log, "before") == []
    log.append(stream("b"), [said("again")])
    assert_whole(log)


def test_a_duplicate_inside_a_transaction_leaves_the_rest_of_it(log: EventLog) -> None:
    event = PendingEvent(payload=said("x"), event_id=UUID(int=7))
    with log.transaction() as transaction:
        transaction.append(stream("a"), [event])
        with pytest.raises(DuplicateEventId):
            transaction.append(stream("b"), [said("gone"), event])
        assert transaction.append(stream("b"), [said("kept")]).last_position == 2
    assert texts(log.read()) == ["x", "kept"]
    assert_whole(log)


@pytest.mark.parametrize(
    "strange",
    [Stranger(text="x"), {"text": "x"}, "x", None, 7, object()],
    ids=["stranger", "dict", "text", "none", "number", "object"],
)
def test_what_is_not_registered_is_refused_with_its_whole_batch(log: EventLog, strange: object) -> None:
    with pytest.raises(UnknownEventType):
        log.append(stream("a"), [said("first"), strange])  # type: ignore[list-item]
    assert log.last_position() == 0


@pytest.mark.parametrize("visibility", ["", "Private", "secret", "public "])
def test_visibility_has_two_values(log: EventLog, visibility: str) -> None:
    with pytest.raises(InvalidPayload):
        log.append(stream("a"), [PendingEvent(payload=said("x"), visibility=visibility)])
    assert log.last_position() == 0


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2020, 1, 1),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=12))),
    ],
    ids=["no zone", "year 10000", "year 0"],
)
def test_a_time_that_could_not_be_read_back_is_refused(log: EventLog, moment: datetime) -> None:
    with pytest.raises(InvalidPayload):
        log.append(stream("a"), [PendingEvent(payload=said("x"), occurred_at=moment)])
    with pytest.raises(InvalidPayload):
        log.restore(stream("a"), PendingEvent(payload=said("x")), moment)
    assert list(log.read()) == []


@pytest.mark.parametrize("year", [1, 1969, 1970, 2100, 9999])
def test_any_other_year_can_have_happened(log: EventLog, year: int) -> None:
    happened = datetime(year, 6, 1, 12, 0, 0, 1, tzinfo=UTC)
    log.append(stream("a"), [PendingEvent(payload=said("x"), occurred_at=happened)])
    (event,) = log.read()
    assert event.envelope.occurred_at == happened


@pytest.mark.parametrize(
    "payload",
    [
        msgspec.structs.replace(said("x"), text=5),
        msgspec.structs.replace(said("x"), who=None),
        msgspec.structs.replace(said("x"), text=b"bytes that are no text"),
        msgspec.structs.replace(said("x"), extra=[1]),
        msgspec.structs.replace(said("x"), extra={"a": object()}),
        msgspec.structs.replace(said("x"), redactions="none"),
    ],
)
def test_a_payload_that_could_not_be_read_back_is_refused(log: EventLog, payload: object) -> None:
    # bytes are base64 text on the wire, so they can be read back, as that text.
    if isinstance(payload.text, bytes):  # type: ignore[attr-defined]
        log.append(stream("a"), [payload])  # type: ignore[list-item]
        assert texts(log.read()) == ["Ynl0ZXMgdGhhdCBhcmUgbm8gdGV4dA=="]
        return
    with pytest.raises(InvalidPayload):
        log.append(stream("a"), [payload])  # type: ignore[list-item]
    assert log.last_position() == 0


# -- registry -------------------------------------------------------------------------------------


def test_registering_twice_or_wrongly_is_refused() -> None:
    registry = EventTypeRegistry(TYPES)
    with pytest.raises(DuplicateEventType):
        registry.register(TYPES[0])
    with pytest.raises(DuplicateEventType):
        registry.register(EventType("test", "said", 2, TYPES[0].model))
    with pytest.raises(DuplicateEventType):
        registry.register(EventType("test", "said", 1, Stranger))
    with pytest.raises(ValueError, match="reserved"):
        registry.register(EventType("anagrapheus", "said", 1, Stranger))
    with pytest.raises(ValueError, match="from 1"):
        registry.register(EventType("test", "strange", 0, Stranger))
    registry.register(EventType("test", "said", 2, Stranger))
    newest = registry.get("test", "said")
    assert newest is not None and newest.version == 2
    assert registry.get("test", "said", 1) is TYPES[0]
    assert registry.get("test", "unheard") is None


def test_a_payload_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        said("x").text = "y"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("plain-id_1.~", "session/plain-id_1.~"),
        ("a/b c", "session/a%2Fb%20c"),
        ("Ёж", "session/%D0%81%D0%B6"),
        ("%2F", "session/%252F"),
        ("\0\n", "session/%00%0A"),
    ],
)
def test_a_session_stream_is_named_after_the_exact_id(session: str, name: str) -> None:
    assert session_stream(session) == StreamRef(name, "session")


# -- savepoints -----------------------------------------------------------------------------------


class Oops(Exception):
    pass


@pytest.mark.parametrize("error", [Oops, KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration])
def test_an_inner_level_is_undone_alone(log: EventLog, error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    with log.transaction() as outer:
        outer.append(stream("a"), [said("apple", "ann")])
        try:
            with log.transaction() as inner:
                inner.append(stream("a"), [said("banana", "bob")])
                inner.append(stream("b"), [said("cherry", "cyd"), said("damson", "ann")])
                if error is StopIteration:
                    raise Oops
                fail()
        except (Oops, error):
            pass
        receipt = outer.append(stream("b"), [said("elder", "bob")])
        assert (receipt.first_position, receipt.last_seq) == (2, 1)
    assert texts(log.read()) == ["apple", "elder"]
    assert actors(log) == {"ann": (1, [1]), "bob": (1, [2])}
    assert tally(log) == {"test/a": 1, "test/b": 1}
    assert [found(log, w) for w in ("apple", "banana", "cherry", "damson", "elder")] == [[1], [], [], [], [2]]
    assert_whole(log)


@pytest.mark.parametrize("error", [Oops, KeyboardInterrupt, SystemExit])
def test_an_outer_level_takes_everything_along(log: EventLog, error: type[BaseException]) -> None:
    log.append(stream("a"), [said("apple")])
    with pytest.raises(error), log.transaction() as outer:
        outer.append(stream("a"), [said("banana")])
        with log.transaction() as inner:
            inner.append(stream("c"), [said("cherry")])
        raise error
    assert texts(log.read()) == ["apple"]
    assert found(log, "banana") == found(log, "cherry") == []
    assert not log.in_transaction
    log.append(stream("c"), [said("damson")])
    assert_whole(log)


def test_levels_three_deep_are_undone_one_by_one(log: EventLog) -> None:
    with log.transaction() as one:
        one.append(stream("a"), [said("one")])
        with pytest.raises(Oops), log.transaction() as two:
            two.append(stream("a"), [said("two")])
            with log.transaction() as three:
                three.append(stream("a"), [said("three")])
            with pytest.raises(KeyError), log.transaction() as four:
                four.append(stream("new"), [said("four")])
                raise KeyError
            assert two.append(stream("a"), [said("five")]).last_seq == 4
            raise Oops
        assert one.append(stream("a"), [said("six")]).last_seq == 2
    assert texts(log.read()) == ["one", "six"]
    assert_whole(log)


def test_waiting_events_survive_a_flush_between_savepoints(log: EventLog) -> None:
    """More events than the waiting list holds, with undone levels in between."""
    with log.transaction() as outer:
        for block in range(6):
            outer.append(stream("a"), [said(f"kept block{block}", f"w{block}") for _ in range(1500)])
            with pytest.raises(Oops), log.transaction() as inner:
                inner.append(stream("b"), [said(f"gone block{block}", "ghost") for _ in range(1500)])
                raise Oops
    assert log.last_position() == 9000
    assert found(log, "gone") == []
    assert len(found(log, "kept")) == 9000
    assert "ghost" not in actors(log)
    assert_whole(log)


def test_events_stay_whole_when_a_fold_at_commit_fails(tmp_path: Path) -> None:
    class Brittle(TallyFold):
        def apply(self, connection: object, events: object) -> None:
            raise Oops

    fold = Brittle("brittle")
    fold.at_commit = True
    with new_log(tmp_path / "brittle.db", folds=(*FOLDS, fold)) as log:
        with pytest.raises(Oops):
            log.append(stream("a"), [said("x")])
        assert log.last_position() == 0
        assert found(log, "x") == []
        # A flush in the middle that failed and was caught must not be committed as if it had worked.
        with pytest.raises(Exception, match="earlier error"), log.transaction() as transaction:
            with pytest.raises(Oops):
                transaction.append(stream("a"), [said(f"{n}") for n in range(6000)])
            transaction.append(stream("a"), [said("y")])
        assert log.last_position() == 0
        assert set(fold_positions(log).values()) == {0}


def test_a_thread_reads_its_own_writes_before_the_commit(log: EventLog) -> None:
    log.append(stream("a"), [said("1")])
    with log.transaction() as transaction:
        transaction.append(stream("a"), [said("2")])
        assert texts(log.read()) == ["1", "2"]
        assert log.stream("test/a").last_seq() == 2
        assert log.last_position() == 2
        assert texts(log.stream(stream("a")).read(since_seq=1)) == ["2"]


# -- reading --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("since", "limit", "expected"),
    [
        (0, None, list(range(1, 701))),
        (0, -1, list(range(1, 701))),
        (0, 0, []),
        (690, None, list(range(691, 701))),
        (0, 3, [1, 2, 3]),
        (255, 258, list(range(256, 514))),
        (700, None, []),
        (10_000, 5, []),
        (-5, 2, [1, 2]),
    ],
)
def test_reads_are_cut_by_since_and_limit(
    log: EventLog, since: int, limit: int | None, expected: list[int]
) -> None:
    log.append(stream("a"), [said(f"{n}") for n in range(700)])
    log.append(stream("b"), [said("other")])
    assert [e.seq for e in log.stream("test/a").read(since, limit)] == expected
    assert [e.position for e in log.read(since, limit, upto_position=700)] == expected
    assert [e.seq for e in log.stream("test/a").read(since, limit, upto_seq=4)] == [
        n for n in expected if n <= 4
    ]


def test_large_events_come_in_small_pages_without_loss(log: EventLog) -> None:
    log.append(stream("a"), [said("x" * 900_000) for _ in range(12)])
    assert [(e.seq, len(e.payload["text"])) for e in log.stream("test/a").read()] == [
        (n, 900_000) for n in range(1, 13)
    ]
    assert [e.seq for e in log.stream("test/a").read(2, 7)] == list(range(3, 10))


def test_a_reader_that_stops_half_way_keeps_nothing_open(log: EventLog) -> None:
    log.append(stream("a"), [said(f"{n}") for n in range(600)])
    for _ in range(20):
        iterator = log.read()
        next(iterator)
    log.append(stream("a"), [said("later")])
    assert log.last_position() == 601


def test_reading_goes_on_into_what_was_appended_meanwhile(log: EventLog) -> None:
    log.append(stream("a"), [said(f"{n}") for n in range(256)])
    iterator = log.read()
    first = next(iterator)
    log.append(stream("a"), [said("later")])
    assert [first.position, *(e.position for e in iterator)] == list(range(1, 258))


# -- times ----------------------------------------------------------------------------------------


def test_recorded_at_never_falls_whatever_the_clock_does(tmp_path: Path) -> None:
    start = datetime(2030, 1, 1, tzinfo=UTC)
    steps = iter([0, 5, -3600, 2, -(10**6), 6, 5])
    with new_log(tmp_path / "log.db", clock=lambda: start + timedelta(seconds=next(steps))) as log:
        for n in range(6):
            log.append(stream(f"s{n % 2}"), [said(f"{n}")])
        offsets = [(e.envelope.recorded_at - start).total_seconds() for e in log.read()]
    # The first reading of the clock went into laying out the file.
    assert offsets == [5, 5, 5, 5, 6, 6]


def test_a_restored_event_keeps_its_time_but_never_goes_back(log: EventLog) -> None:
    then = datetime(2020, 1, 1, tzinfo=UTC)
    log.restore(stream("a"), PendingEvent(payload=said("old")), then)
    log.restore(stream("a"), PendingEvent(payload=said("same")), then)
    with pytest.raises(InvalidPayload):
        log.restore(stream("a"), PendingEvent(payload=said("older")), then - timedelta(microseconds=1))
    assert [e.envelope.recorded_at for e in log.read()] == [then, then]
    log.append(stream("a"), [said("now")])
    assert_whole(log)


def test_nothing_is_rewritten(log: EventLog) -> None:
    row = "SELECT payload FROM events WHERE position = 1"
    log.append(stream("a"), [Measured(label="m", value={"b": 1, "a": [1, 2.5, None, True], "é": "e\u0301"})])
    with log.reader() as connection:
        text = fetch.value(connection, row)
    # Sorted keys, no blanks, text as given: composed and decomposed letters stay apart.
    assert text == '{"label":"m","value":{"a":[1,2.5,null,true],"b":1,"é":"e\u0301"}}'


def test_appending_needs_no_lock_to_be_refused(log: EventLog) -> None:
    refused: list[Callable[[], object]] = [
        lambda: log.append(stream("a"), [Stranger(text="x")]),
        lambda: log.append(stream("a"), [PendingEvent(payload=said("x"), visibility="no")]),
    ]
    for call in refused:
        with pytest.raises((UnknownEventType, InvalidPayload)):
            call()
    assert not log.in_transaction

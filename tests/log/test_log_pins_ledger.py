"""The pins of one unit of work: drawn once, kept through whatever happens, committed or given up."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import apsw
import pytest

from tests.log.log_cases import Said, said
from tests.log.pin_cases import (
    KIND,
    A,
    B,
    Broken,
    Effect,
    books,
    ledger,
    open_log,
    same,
    units,
)
from workbench.log import EventLog, PendingEvent
from workbench.log.background_folds import OpenTransaction
from workbench.log.errors import SecretInIdentifier, UnknownEventType
from workbench.log.pins.canonical import concrete_json
from workbench.log.pins.errors import NotCanonical, NotJson, PinOfAnotherKind
from workbench.log.pins.events import is_bookkeeping
from workbench.log.pins.keys import pin_key
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.sqlite import ScratchRow
from workbench.log.streams import pins_stream
from workbench.redaction.filter import SecretFilter

KEY, OTHER = pin_key(KIND, {"n": 1}), pin_key(KIND, {"n": 2})
TOKEN = "gh" + "p_" + "R7kQ2mX9" * 4 + "AbCd"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


def drawn(pins: PinLedger, effect: Effect, key: str = KEY) -> Any:
    """The result of a key as it is."""
    return pins.resolve(key, kind=KIND, effect=effect, interpret=same)


def test_invariant_42_a_key_is_drawn_once_and_every_use_is_counted(log: EventLog) -> None:
    pins, effect = ledger(log), Effect()
    assert drawn(pins, effect) == drawn(pins, effect) == {"call": 1}
    assert effect.calls == 1
    assert pins.pins() == [ScratchRow("unit", KEY, KIND, {"call": 1}, 2)]


def test_invariant_43_a_tuple_is_a_list_from_the_first_use_on(log: EventLog) -> None:
    pins, effect = ledger(log), Effect({"b": (1, (2,)), "a": 1})
    first, second = drawn(pins, effect), drawn(pins, effect)
    assert first == second == {"a": 1, "b": [1, [2]]}
    # And the keys stand in the order in which the log will give them back.
    assert list(first) == list(second) == ["a", "b"]


def test_what_is_done_to_a_result_does_not_reach_the_pin(log: EventLog) -> None:
    pins, effect = ledger(log), Effect({"list": []})
    for _ in range(3):
        drawn(pins, effect)["list"].append(1)
    assert pins.pins()[0].result == {"list": []}


def test_invariant_44_none_is_a_result(log: EventLog) -> None:
    calls: list[int] = []
    for _ in range(2):
        assert ledger(log).resolve(KEY, kind=KIND, effect=lambda: calls.append(1), interpret=same) is None
    assert calls == [1]


def test_invariant_45_a_failed_effect_leaves_nothing_and_a_failed_interpretation_the_pin(
    log: EventLog,
) -> None:
    pins, effect = ledger(log), Effect(fails=1)
    with pytest.raises(Broken):
        drawn(pins, effect)
    assert units(log) == []

    def refuse(result: Any) -> None:
        raise ValueError(result)

    for _ in range(2):
        with pytest.raises(ValueError, match="call"):
            pins.resolve(KEY, kind=KIND, effect=effect, interpret=refuse)
    assert effect.calls == 2
    assert [(row.result, row.attempts) for row in pins.pins()] == [({"call": 2}, 2)]


@pytest.mark.parametrize("result", [{1}, b"x", {"a": object()}, {1: 2}])
def test_invariant_46_a_result_that_is_no_json_is_refused_and_not_kept(log: EventLog, result: Any) -> None:
    with pytest.raises(TypeError) as caught:
        drawn(ledger(log), Effect(result))
    assert isinstance(caught.value, NotJson)
    assert units(log) == []


@pytest.mark.parametrize("result", [math.nan, [math.inf], {"a": {"b": -math.inf}}, 10**309])
def test_a_result_with_a_number_that_json_has_no_form_for_is_refused(log: EventLog, result: Any) -> None:
    with pytest.raises(NotCanonical):
        drawn(ledger(log), Effect(result))
    assert units(log) == []
    with pytest.raises(NotCanonical):
        ledger(log).adopt(KEY, kind=KIND, result=result)
    assert units(log) == []


def test_invariant_47_the_log_knows_nothing_before_the_commit_and_then_each_pin_in_order(
    log: EventLog,
) -> None:
    log.append(A, [said("1"), said("2")])
    pins = ledger(log)
    for number in (3, 1, 2):
        drawn(pins, Effect(number), pin_key(KIND, {"n": number}))
    drawn(pins, Effect(), pin_key(KIND, {"n": 1}))
    assert (books(log), log.last_position()) == ([], 2)
    about = uuid4()
    assert pins.commit(correlation_id=about) == 3
    events = books(log)
    assert [(event.payload["result"], event.payload["attempts"]) for event in events] == [
        (3, 1),
        (1, 2),
        (2, 1),
    ]
    assert events[0].payload == {
        "attempts": 1,
        "drawn_for": A.name,
        "key": pin_key(KIND, {"n": 3}),
        "kind": KIND,
        "result": 3,
        "unit_id": "unit",
    }
    assert {event.envelope.correlation_id for event in events} == {about}
    assert all(is_bookkeeping(event.envelope) for event in events)
    assert units(log) == []
    # What the unit drew for is as it was.
    assert log.stream(A).last_seq() == 2
    log.append(A, [said("3")], expected_last_seq=2)


def test_after_a_commit_a_key_is_drawn_anew(log: EventLog) -> None:
    pins, effect = ledger(log), Effect()
    for call in (1, 2):
        assert drawn(pins, effect) == {"call": call}
        assert pins.commit() == call


def test_invariant_48_an_empty_commit_writes_nothing_and_giving_up_always_something(log: EventLog) -> None:
    pins = ledger(log)
    assert pins.commit() == 0
    assert log.last_position() == 0
    assert pins.abandon(reason="nothing came of it") == 1
    assert books(log)[0].payload == {
        "discarded": [],
        "drawn_for": A.name,
        "reason": "nothing came of it",
        "unit_id": "unit",
    }
    assert pins.commit() == 1
    assert log.last_position() == 1


def test_what_is_given_up_is_named_without_its_result(log: EventLog) -> None:
    pins = ledger(log)
    drawn(pins, Effect("a word"))
    drawn(pins, Effect("a word"))
    drawn(pins, Effect("a word"), OTHER)
    assert pins.abandon() == 1
    assert books(log)[0].payload["discarded"] == [
        {"attempts": 2, "key": KEY, "kind": KIND},
        {"attempts": 1, "key": OTHER, "kind": KIND},
    ]
    assert units(log) == []
    effect = Effect()
    assert drawn(pins, effect) == {"call": 1}


def test_invariant_49_a_unit_goes_on_after_a_crash_and_no_other_unit_sees_its_pins(tmp_path: Path) -> None:
    effect = Effect()
    with open_log(tmp_path / "log.db") as log:
        first = PinLedger(log.stream(A))
        drawn(first, effect)
        drawn(ledger(log, "later"), Effect(), OTHER)
        drawn(first, Effect(), OTHER)
        assert UUID(first.unit_id).version == 7
    with open_log(tmp_path / "log.db") as log:
        assert units(log) == [first.unit_id, "later"]
        again = ledger(log, first.unit_id)
        assert drawn(again, effect) == {"call": 1}
        assert [(row.pin_key, row.attempts) for row in again.pins()] == [(KEY, 2), (OTHER, 1)]
        assert drawn(ledger(log, "later"), effect) == {"call": 2}
        assert drawn(PinLedger(log.stream(A)), effect) == {"call": 3}
        assert again.commit() == 2
        assert first.unit_id not in units(log)


def test_a_pin_outlives_the_transaction_of_the_work_around_it(log: EventLog) -> None:
    """It cannot be kept inside of one: what undoes the transaction would undo the pin, too."""
    pins, effect = ledger(log), Effect()
    drawn(pins, effect)
    with log.transaction():
        for key in (KEY, OTHER):
            with pytest.raises(OpenTransaction):
                drawn(pins, effect, key)
        with pytest.raises(OpenTransaction):
            pins.adopt(OTHER, kind=KIND, result=1)
        with pytest.raises(OpenTransaction):
            pins.mark_diverged(OTHER, kind=KIND)
    assert effect.calls == 1
    assert len(pins.pins()) == 1


@pytest.mark.parametrize("end", ["commit", "abandon"])
def test_the_end_of_a_unit_is_a_part_of_the_callers_transaction(log: EventLog, end: str) -> None:
    pins = ledger(log)
    pins.mark_diverged(OTHER, kind=KIND)
    drawn(pins, Effect())
    with pytest.raises(Broken), log.transaction():
        log.append(A, [said("1")])
        getattr(pins, end)()
        assert pins.pins() == []
        raise Broken
    assert log.last_position() == 0
    assert len(pins.pins()) == 1
    with log.transaction():
        log.append(A, [said("1")])
        getattr(pins, end)()
    types = [event.envelope.type for event in log.read()]
    assert types == ["said", *(["pin.diverged", "pin.promoted"] if end == "commit" else ["pin.abandoned"])]
    assert units(log) == []


def test_events_that_nobody_registered_leave_the_unit_as_it_is(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", types=()) as log:
        pins = ledger(log)
        drawn(pins, Effect())
        for end in (pins.commit, pins.abandon):
            with pytest.raises(UnknownEventType):
                end()
        assert len(pins.pins()) == 1
        assert log.last_position() == 0


def test_a_pin_is_reused_only_for_its_kind(log: EventLog) -> None:
    pins, effect = ledger(log), Effect()
    drawn(pins, effect)
    with pytest.raises(PinOfAnotherKind) as caught:
        pins.resolve(KEY, kind="other", effect=effect, interpret=same)
    assert caught.value.code == "pin_of_another_kind"
    with pytest.raises(PinOfAnotherKind):
        pins.adopt(KEY, kind="other", result=1)
    assert effect.calls == 1
    assert [(row.kind, row.attempts) for row in pins.pins()] == [(KIND, 1)]


def test_a_pin_needs_a_key(log: EventLog) -> None:
    pins, effect = ledger(log), Effect()
    with pytest.raises(ValueError, match="key"):
        drawn(pins, effect, "")
    assert pins.pinned("") is None
    assert effect.calls == 0


def test_what_is_adopted_counts_as_drawn_and_gives_way_to_what_is_there(log: EventLog) -> None:
    pins, effect = ledger(log), Effect()
    pins.adopt(KEY, kind=KIND, result=("a",))
    pins.adopt(KEY, kind=KIND, result="b")
    assert pins.pinned(KEY) == ScratchRow("unit", KEY, KIND, ["a"], 1)
    assert drawn(pins, effect) == ["a"]
    assert effect.calls == 0
    drawn(pins, effect, OTHER)
    pins.adopt(OTHER, kind=KIND, result="b")
    assert pins.pinned(OTHER) == ScratchRow("unit", OTHER, KIND, {"call": 1}, 1)


def test_of_two_who_draw_at_once_both_get_what_was_kept_first(log: EventLog) -> None:
    """As two threads or two programs may: the second one draws before it can see the first one's pin."""
    pins, inner = ledger(log), Effect("inner")

    def outer() -> str:
        assert drawn(ledger(log), inner) == "inner"
        return "outer"

    assert pins.resolve(KEY, kind=KIND, effect=outer, interpret=same) == "inner"
    assert pins.pins() == [ScratchRow("unit", KEY, KIND, "inner", 2)]


def test_the_first_miss_is_the_one_that_is_noted_and_outlives_a_crash(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as log:
        pins = ledger(log)
        pins.mark_diverged(KEY, kind=KIND)
        pins.mark_diverged(OTHER, kind="other")
        assert (pins.pins(), units(log)) == ([], ["unit"])
    with open_log(tmp_path / "log.db") as log:
        pins = ledger(log)
        drawn(pins, Effect(1), OTHER)
        assert pins.commit() == 2
        first = books(log)[0]
        assert first.envelope.type == "pin.diverged"
        assert first.payload == {"drawn_for": A.name, "kind": KIND, "missed_key": KEY, "unit_id": "unit"}
        # The mark went with the unit that it was about.
        drawn(pins, Effect(1), OTHER)
        assert pins.commit() == 3


def test_a_unit_that_missed_and_then_drew_nothing_commits_nothing(log: EventLog) -> None:
    pins = ledger(log)
    pins.mark_diverged(KEY, kind=KIND)
    assert pins.commit() == 0
    assert (units(log), log.last_position()) == ([], 0)


def test_an_empty_commit_within_a_transaction_opens_no_savepoint(log: EventLog) -> None:
    """Whoever draws nothing commits for each section, and full text writes a segment for each savepoint."""
    seen: list[str] = []
    with log.transaction() as transaction:
        transaction.connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: seen.append(event["sql"]))
        assert ledger(log).commit() == 0
        transaction.connection.trace_v2(0, None)
    assert seen and not any("SAVEPOINT" in sql.upper() for sql in seen)


def test_events_of_ones_own_stand_in_for_promoted_pins(log: EventLog) -> None:
    def as_said(row: ScratchRow) -> PendingEvent:
        return PendingEvent(payload=Said(who="ledger", text=str(row.result)))

    pins = PinLedger(log.stream(A), unit_id="unit", promote_as=as_said)
    drawn(pins, Effect("x"))
    assert pins.commit(correlation_id=uuid4()) == 1
    [event] = books(log)
    assert (event.envelope.type, event.payload["text"]) == ("said", "x")
    assert event.envelope.correlation_id is None
    assert not is_bookkeeping(event.envelope)


def test_two_streams_have_books_of_their_own(log: EventLog) -> None:
    for stream in (A, B):
        pins = PinLedger(log.stream(stream), unit_id=stream.name)
        drawn(pins, Effect())
        assert pins.commit() == 1
    names = [event.stream for event in log.read()]
    assert names == [pins_stream(A.name).name, pins_stream(B.name).name]


def test_a_drawn_result_is_filtered_before_it_is_pinned_or_used(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", redactor=SecretFilter()) as log:
        pins = ledger(log)
        result = {"text": f"use {TOKEN} for it", TOKEN: [TOKEN]}
        used = drawn(pins, Effect(result))
        assert used["text"] == "use [REDACTED:github_token] for it"
        pins.adopt(OTHER, kind=KIND, result=result)
        assert [row.result for row in pins.pins()] == [used, used]
        pins.commit()
        # The door finds nothing more, so that what is replayed is what was used.
        assert [event.payload["result"] for event in books(log)] == [used, used]
        assert all("redactions" not in event.payload for event in books(log))
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert TOKEN.encode() not in written


def test_the_filter_leaves_keys_and_digests_alone(tmp_path: Path) -> None:
    """Hundreds of hex digits after a word like "key" are what a filter looks for."""
    with open_log(tmp_path / "log.db", redactor=SecretFilter()) as log:
        pins = ledger(log, str(uuid4()))
        keys = [pin_key("model_call", {"n": number}) for number in range(50)]
        for key in keys:
            drawn(pins, Effect({"text": "prose"}), key)
        pins.mark_diverged(keys[0], kind=KIND)
        pins.commit()
        for key in keys:
            drawn(pins, Effect(1), key)
        pins.abandon()
        events = books(log)
        assert events[0].payload["missed_key"] == keys[0]
        assert [event.payload["key"] for event in events[1:-1]] == keys
        assert [each["key"] for each in events[-1].payload["discarded"]] == keys
        assert all("redactions" not in event.payload for event in events)


def test_a_unit_whose_name_the_log_would_refuse_draws_nothing(tmp_path: Path) -> None:
    with (
        open_log(tmp_path / "log.db", redactor=SecretFilter()) as log,
        pytest.raises(SecretInIdentifier) as caught,
    ):
        ledger(log, f"unit {TOKEN}")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("a\ud800b", "a\N{REPLACEMENT CHARACTER}b"),
        ({"\udfff": ["\ud83d"]}, {"\N{REPLACEMENT CHARACTER}": ["\N{REPLACEMENT CHARACTER}"]}),
        (
            dict(zip(("\ud800", "\ud801", "\N{REPLACEMENT CHARACTER}"), (1, 2, 3), strict=True)),
            {"\N{REPLACEMENT CHARACTER}" * count: value for count, value in ((1, 3), (2, 1), (3, 2))},
        ),
    ],
)
def test_half_a_character_becomes_the_replacement_before_it_is_used(
    log: EventLog, result: Any, expected: Any
) -> None:
    """As at the log's door: a replay must not be handed anything else than the first use."""
    pins = ledger(log)
    assert drawn(pins, Effect(result)) == expected
    pins.commit()
    assert books(log)[0].payload["result"] == expected


def test_what_a_result_may_hold_the_log_gives_back_unchanged(log: EventLog) -> None:
    result = {"n": [2**64, -(2**70), 10**308, 1e22, -0.0, 5e-324, 1.0, 1], "t": "é e\u0301 \u2028 \x00"}
    deep: Any = "end"
    for _ in range(199):
        deep = [deep]
    pins = ledger(log)
    used = drawn(pins, Effect({**result, "deep": deep}))
    assert used == concrete_json({**result, "deep": deep})
    pins.commit()
    stored = books(log)[0].payload["result"]
    assert stored == used
    assert [repr(number) for number in stored["n"]] == [repr(number) for number in result["n"]]
    with pytest.raises(NotCanonical):
        drawn(pins, Effect([[deep]]))


def test_the_programs_log_tells_of_units_and_never_of_results(
    log: EventLog, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "workbench.log.pins")
    pins = ledger(log)
    drawn(pins, Effect("sunflower"))
    drawn(pins, Effect("sunflower"))
    pins.commit()
    drawn(pins, Effect("sunflower"))
    pins.abandon(reason="sunflower")
    levels = [record.levelname for record in caplog.records]
    assert levels == ["DEBUG", "DEBUG", "INFO", "DEBUG", "WARNING"]
    assert "sunflower" not in caplog.text

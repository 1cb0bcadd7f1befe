"""The ledger's own events: which they are, where they stand, and who may use their namespace."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from tests.log.log_cases import TYPES, Stranger, stream
from tests.log.pin_cases import A, Effect, ledger, open_log, replay, same
from workbench.imports.workspace_jsonl import load_jsonl, stored_line
from workbench.log import Envelope, EventLog, EventType, EventTypeRegistry, sqlite
from workbench.log.errors import DuplicateEventType, InvalidIdentifier, InvalidPayload
from workbench.log.pins.events import (
    ABANDONED,
    DIVERGED,
    EVENT_TYPES,
    PROMOTED,
    Discarded,
    PinDiverged,
    PinPromoted,
    PinsAbandoned,
    is_bookkeeping,
)
from workbench.log.streams import pins_stream
from workbench.storage import fetch


def envelope(namespace: str, type_name: str, version: int = 1) -> Envelope:
    """An envelope that says no more than its type."""
    return Envelope(
        event_id=uuid4(),
        namespace=namespace,
        type=type_name,
        schema_version=version,
        recorded_at=datetime(2031, 5, 6, tzinfo=UTC),
    )


def test_invariant_56_bookkeeping_is_the_three_types_of_the_ledger_at_any_version() -> None:
    for name in ("pin.promoted", "pin.abandoned", "pin.diverged"):
        assert is_bookkeeping(envelope("pins", name))
        assert is_bookkeeping(envelope("pins", name, 7))
        assert not is_bookkeeping(envelope("workbench", name))
    assert not is_bookkeeping(envelope("pins", "established"))
    assert not is_bookkeeping(envelope("workbench", "actum.recorded"))
    assert [each.type for each in EVENT_TYPES] == ["pin.promoted", "pin.abandoned", "pin.diverged"]
    assert {each.namespace for each in EVENT_TYPES} == {"pins"}


def test_invariant_12_the_namespace_of_pins_takes_nobody_elses_events() -> None:
    with pytest.raises(ValueError, match="reserved"):
        EventTypeRegistry([EventType("pins", "said", 1, Stranger)])


def test_invariant_14_the_ledgers_events_registered_twice_are_refused() -> None:
    registry = EventTypeRegistry([*TYPES, *EVENT_TYPES])
    for event_type in EVENT_TYPES:
        with pytest.raises(DuplicateEventType):
            registry.register(event_type)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("session/abc", "pins/session%2Fabc"),
        ("task/d/p/t", "pins/task%2Fd%2Fp%2Ft"),
        ("session/a%2Fb", "pins/session%2Fa%252Fb"),
        ("pins/session%2Fabc", "pins/pins%2Fsession%252Fabc"),
        ("domain/zażółć", "pins/domain%2Fza%C5%BC%C3%B3%C5%82%C4%87"),
    ],
)
def test_the_whole_name_of_a_stream_is_one_component_of_its_pins_stream(name: str, expected: str) -> None:
    ref = pins_stream(name)
    assert (ref.name, ref.kind) == (expected, "pins")
    assert (ref.domain_key, ref.project_key, ref.task_key) == ("", "", "")


def test_a_name_that_is_no_text_has_no_pins_stream() -> None:
    with pytest.raises(InvalidIdentifier):
        pins_stream("session/\ud800")


def test_every_event_of_the_ledger_names_its_stream_and_is_found_by_no_search(tmp_path: Path) -> None:
    name = stream("a").name
    promoted = PinPromoted(
        drawn_for=name, unit_id="u", key="p1:k:00", kind="k", result={"text": "sunflower"}, attempts=2
    )
    abandoned = PinsAbandoned(
        drawn_for=name, unit_id="u", reason="stopped", discarded=[Discarded("p1:k:00", "k", 1)]
    )
    diverged = PinDiverged(drawn_for=name, unit_id="u", missed_key="p1:k:00", kind="k")
    with EventLog.open(tmp_path / "log.db", (), EventTypeRegistry(EVENT_TYPES), synchronous="OFF") as log:
        for payload in (promoted, abandoned, diverged):
            assert payload.stream == pins_stream(name)
            log.append(payload.stream, [payload])
        assert [event.payload for event in log.stream(pins_stream(name)).read()] == [
            {
                "attempts": 2,
                "drawn_for": name,
                "key": "p1:k:00",
                "kind": "k",
                "result": {"text": "sunflower"},
                "unit_id": "u",
            },
            {
                "discarded": [{"attempts": 1, "key": "p1:k:00", "kind": "k"}],
                "drawn_for": name,
                "reason": "stopped",
                "unit_id": "u",
            },
            {"drawn_for": name, "kind": "k", "missed_key": "p1:k:00", "unit_id": "u"},
        ]
        with pytest.raises(InvalidPayload):
            log.append(
                promoted.stream,
                [PinPromoted(drawn_for="s", unit_id="u", key="k", kind="k", result=1, attempts=0)],
            )
    for event_type in (PROMOTED, ABANDONED, DIVERGED):
        assert event_type.searchable is None
        assert {"drawn_for", "unit_id"} <= event_type.identifiers


def test_the_books_of_a_stream_travel_with_the_log(tmp_path: Path) -> None:
    """They may be the first events of their stream, and the file names a stream without its parts."""
    with open_log(tmp_path / "log.db") as log:
        pins = ledger(log, "unit")
        for key in ("p1:k:00", "p1:k:01"):
            pins.resolve(key, kind="k", effect=Effect(), interpret=same)
        pins.mark_diverged("p1:k:00", kind="k")
        pins.commit()
        pins.abandon()
        before = exported(log)
    with open_log(tmp_path / "other.db") as other:
        assert load_jsonl(other, before, exact=True) == 4
        assert exported(other) == before
        assert replay(other).pins.keys() == {"p1:k:00", "p1:k:01"}
        with other.reader() as connection:
            assert fetch.rows(connection, "SELECT name, kind FROM streams") == [pins_stream(A.name)[:2]]


def exported(log: EventLog) -> list[bytes]:
    """The lines of an export of a log."""
    with log.reader() as connection:
        return [stored_line(row) for row in fetch.rows(connection, sqlite.BY_POSITION, (0, 100, 100))]

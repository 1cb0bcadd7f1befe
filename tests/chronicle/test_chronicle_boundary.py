"""What closes a stretch, by type of event and by kind of stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chronicle.fold_cases import CLOSE, CLOSES, TYPES, fill, fold_of, open_log, reader_of
from workbench.chronicle.boundaries import EventTypes, UnknownBoundary, closing
from workbench.log import EventLog, EventType, EventTypeRegistry, Payload
from workbench.workspace.folds import event_types
from workbench.workspace.manifest.model import CLOSING


class Closed(Payload, frozen=True, kw_only=True):
    """A stretch ends, in a first shape."""


class ClosedTwice(Payload, frozen=True, kw_only=True):
    """The same in a second one."""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


def test_an_event_closes_by_namespace_and_type_alone(log: EventLog) -> None:
    fill(log, "SCc")
    events = list(reader_of(log).read_raw())
    assert [CLOSES.closes_unit(event) for event in events] == [False, True, True]
    assert not EventTypes(("other", "measured"), ("test", "closed")).closes_unit(events[1])
    both = EventTypes(CLOSE, ("test", "said"))
    assert [both.closes_unit(event) for event in events] == [True, True, True]
    assert both.types == {CLOSE, ("test", "said")}


def test_a_boundary_of_no_type_is_refused() -> None:
    with pytest.raises(ValueError, match="no type"):
        EventTypes()


def test_kinds_of_streams_close_by_the_manifest() -> None:
    registry = EventTypeRegistry(
        [
            EventType("workbench", "round.closed", 1, Closed),
            EventType("workbench", "round.closed", 2, ClosedTwice),
            *TYPES,
        ]
    )
    close = {"talk": ["round.closed", "test:measured"], "silent": []}
    found = closing("talk", close, registry)
    assert found is not None
    assert found.types == {("workbench", "round.closed"), ("test", "measured")}
    assert closing("silent", close, registry) is None
    assert closing("unheard of", close, registry) is None


def test_the_manifest_s_defaults_name_types_that_there_are() -> None:
    registry = event_types()
    found = {kind: closing(kind, CLOSING, registry) for kind in ("task", "session", "domain")}
    assert {kind: each.types if each else None for kind, each in found.items()} == {
        "task": {("workbench", "checkpoint.recorded")},
        "session": {("workbench", "unit.closed")},
        "domain": None,
    }


def test_a_boundary_type_that_nobody_registered_is_a_clear_error(log: EventLog) -> None:
    with pytest.raises(UnknownBoundary, match=r"type round\.closed") as caught:
        closing("talk", {"talk": ["round.closed"]}, log.registry)
    assert (caught.value.code, "[chronicle.close]" in caught.value.hint) == ("unknown_boundary", True)
    boundary = EventTypes(CLOSE, ("other", "measured"))
    with pytest.raises(UnknownBoundary, match="other:measured"):
        fold_of(log, lambda events: None, boundary=boundary)

"""Reading one stream or the whole log: ranges, limits, filters, types that nobody knows."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.log.log_cases import MEASURED, SAID, TYPES, Measured, said
from tests.log.projection_cases import NOTED, NOTED_TWICE, A, B, Noted, NotedTwice, open_log, reader_of
from workbench.log import Envelope, EventLog
from workbench.log.errors import UnknownEventType
from workbench.storage.errors import WrongThread


def _is_measured(envelope: Envelope) -> bool:
    return envelope.type == "measured"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """Stream a: said, said, measured, said; stream b: measured, between the first two."""
    with open_log(tmp_path / "log.db") as log:
        log.append(A, [said("1")])
        log.append(B, [Measured(label="b")])
        log.append(A, [said("2"), Measured(label="a"), said("4")])
        yield log


def test_invariant_19_an_unknown_type_that_is_passed_over_is_no_error(log: EventLog) -> None:
    reader = reader_of(log, types=[SAID])
    assert [e.position for e in reader.read_raw(where=lambda e: e.type == "said")] == [1, 3, 5]
    assert [e.position for e in reader.read_raw(where=reader.knows)] == [1, 3, 5]
    assert [e.position for e in reader.read_raw(upto=1)] == [1]


def test_invariant_20_an_unknown_type_that_is_not_passed_over_is_an_error(log: EventLog) -> None:
    events = reader_of(log, types=[SAID]).read_raw()
    assert next(events).position == 1
    with pytest.raises(UnknownEventType, match="position 2 holds test:measured"):
        next(events)
    with pytest.raises(UnknownEventType):
        list(reader_of(log, types=[]).read(where=_is_measured))


def test_invariant_21_the_limit_counts_what_passed_the_filter(log: EventLog) -> None:
    """In the reference it counts rows before the filter, so that this would be empty."""
    reader = reader_of(log.stream(A))
    assert [e.seq for e in reader.read_raw(limit=2, where=_is_measured)] == [3]
    assert [e.seq for e in reader.read_raw(limit=2, where=lambda e: e.type == "said")] == [1, 2]
    assert [e.position for e in reader_of(log).read_raw(limit=2, where=_is_measured)] == [2, 4]


def test_invariant_22_since_and_upto_bound_the_numbers(log: EventLog) -> None:
    reader = reader_of(log.stream(A))
    assert [e.seq for e in reader.read_raw(1, upto=3)] == [2, 3]
    assert [e.position for e in reader_of(log).read_raw(1, upto=3)] == [2, 3]


def test_a_reader_says_what_it_reads(log: EventLog) -> None:
    whole, one, none = reader_of(log), reader_of(log.stream(A)), reader_of(log.stream("test/none"))
    assert (whole.scope, whole.last()) == ("", 5)
    assert (one.scope, one.last()) == ("test/a", 4)
    assert (none.scope, none.last(), list(none.read_raw())) == ("test/none", 0, [])
    [last] = one.read_raw(3)
    assert (one.number(last), whole.number(last)) == (4, 5)


def test_the_filter_sees_the_envelope_as_stored_and_before_anything_is_looked_up(tmp_path: Path) -> None:
    types = [NOTED, NOTED_TWICE]
    seen: list[int] = []

    def first_shape_only(envelope: Envelope) -> bool:
        seen.append(envelope.schema_version)
        return envelope.schema_version == 2

    with open_log(tmp_path / "log.db", types=[NOTED]) as log:
        log.append(A, [Noted(line="x")])
    with open_log(tmp_path / "log.db", types=types) as log:
        log.append(A, [NotedTwice(title="x", rest="y")])
        # No step from 1 to 2 is registered: asking for it would fail.
        assert [e.position for e in reader_of(log, types=types).read_raw(where=first_shape_only)] == [2]
    assert seen == [1, 2]


def test_a_newer_version_is_given_raw_but_cannot_be_decoded(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db", types=[NOTED, NOTED_TWICE]) as log:
        log.append(A, [NotedTwice(title="x", rest="y")])
        reader = reader_of(log, types=[NOTED])
        [event] = reader.read_raw()
        assert (event.envelope.schema_version, event.payload) == (2, {"title": "x", "rest": "y"})
        with pytest.raises(UnknownEventType, match="version 2"):
            list(reader.read())


def test_read_gives_each_payload_as_its_class(log: EventLog) -> None:
    pairs = list(reader_of(log.stream(B)).read())
    assert [(event.position, payload) for event, payload in pairs] == [(2, Measured(label="b"))]


def test_an_iterator_stays_in_its_thread(log: EventLog) -> None:
    events = reader_of(log).read_raw(where=_is_measured)
    caught: list[Exception] = []

    def use() -> None:
        try:
            next(events)
        except WrongThread as error:
            caught.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(caught) == 1


LIMITS = st.none() | st.integers(-1, 8)


@given(
    kinds=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12),
    since=st.integers(-1, 13),
    limit=LIMITS,
    upto=st.none() | st.integers(0, 13),
    wanted=st.sampled_from(["said", "measured", None]),
    whole=st.booleans(),
)
def test_a_read_is_a_slice_of_the_wanted_events(
    kinds: list[tuple[bool, bool]],
    since: int,
    limit: int | None,
    upto: int | None,
    wanted: str | None,
    whole: bool,
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="log-reader-"))
    try:
        with open_log(folder / "log.db") as log:
            for in_a, is_said in kinds:
                log.append(A if in_a else B, [said("x") if is_said else Measured(label="x")])
            reader = reader_of(log if whole else log.stream(A), types=TYPES)
            mine = [SAID.type if is_said else MEASURED.type for in_a, is_said in kinds if whole or in_a]
            expected = [
                number
                for number, kind in enumerate(mine, start=1)
                if number > since and (upto is None or number <= upto) and wanted in (None, kind)
            ]
            if limit is not None and limit >= 0:
                expected = expected[:limit]
            where = None if wanted is None else lambda envelope: envelope.type == wanted
            got = reader.read_raw(since, limit, upto=upto, where=where)
            assert [reader.number(event) for event in got] == expected
    finally:
        shutil.rmtree(folder)

"""The fold: which sections there are, what summarizers see, holes (contract log-and-chronicle, §9)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chronicle.fold_cases import (
    CLOSES,
    STREAM,
    TYPES,
    LooksAtAll,
    Notes,
    by_hand,
    consolidator_of,
    event,
    fill,
    fold_of,
    ids,
    open_log,
    projector_of,
    reader_of,
    store_of,
    told,
)
from tests.log.log_cases import SAID
from tests.thorough import examples
from workbench.chronicle.admission import Admission, admits
from workbench.chronicle.errors import ChronicleFork
from workbench.chronicle.fold import Author, ChronicleFold
from workbench.chronicle.reconsolidation import reconsolidate
from workbench.chronicle.sections import Anchor
from workbench.chronicle.summarizing import NOTHING_TOLD
from workbench.chronicle.withheld import is_withheld
from workbench.log import EventLog, EventTypeRegistry, StoredEvent
from workbench.log.event_reader import EventReader
from workbench.log.pins.events import PinPromoted, is_bookkeeping
from workbench.log.pins.ledger import PinLedger
from workbench.log.positions import Positions
from workbench.log.projector import Projector
from workbench.log.streams import pins_stream
from workbench.log.upcasts import UpcastRegistry

VECTORS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "fold_vectors.json").read_text("utf-8")
)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


def test_all_of_the_reference_s_cases_are_here() -> None:
    assert {name: len(cases) for name, cases in VECTORS.items()} == {"fold": 40, "fold_crash": 9}


@pytest.mark.parametrize("boundary", [LooksAtAll(), CLOSES], ids=["looks at all", "by type"])
def test_the_reference_s_folds(tmp_path: Path, boundary: Any) -> None:
    for number, case in enumerate(VECTORS["fold"]):
        with open_log(tmp_path / f"{number}.db") as log:
            fill(log, case["pattern"])
            notes = Notes()
            reached = projector_of(log, fold_of(log, notes, boundary=boundary)).catch_up(
                batch_size=case["batch_size"]
            )
            store = store_of(log)
            assert [list(anchor[:4]) for anchor in store.anchors()] == case["anchors"], case
            assert notes.draws == case["draws"], case
            assert reached == {"chronicle": case["position"]}
            assert store.consolidated_through() == case["consolidated_through"]


def test_invariant_75_closed_stretches_become_sections_and_the_rest_stays(log: EventLog) -> None:
    fill(log, "SSCSCS")
    notes = Notes()
    projector_of(log, fold_of(log, notes)).catch_up()
    store = store_of(log)
    assert store.anchors() == [Anchor("1-3", 1, 3, 3), Anchor("4-5", 4, 5, 5)]
    assert notes.draws == [[1, 2, 3], [4, 5]]
    tail = reader_of(log).read_raw(store.consolidated_through())
    assert [each.seq for each in tail] == [6]


@pytest.mark.parametrize(
    ("pattern", "expected"), [("C", ["1-1"]), ("CC", ["1-1", "2-2"]), ("SSS", []), ("", [])]
)
def test_invariant_76_short_stretches_and_none(log: EventLog, pattern: str, expected: list[str]) -> None:
    fill(log, pattern)
    projector = projector_of(log, fold_of(log, Notes()))
    assert projector.catch_up() == {"chronicle": len(pattern)}
    assert ids(log) == expected


@settings(max_examples=examples(60), deadline=None)
@given(st.text("SSC", max_size=14), st.sampled_from([1, 2, 3, 1000]), st.booleans(), st.integers(0, 14))
def test_invariant_77_neither_batches_nor_pauses_change_an_anchor(
    tmp_path_factory: pytest.TempPathFactory, pattern: str, size: int, by_type: bool, pause: int
) -> None:
    with open_log(tmp_path_factory.mktemp("w") / "log.db") as log:
        notes = Notes()
        boundary = CLOSES if by_type else LooksAtAll()
        projector = projector_of(log, fold_of(log, notes, boundary=boundary))
        for part in (pattern[:pause], pattern[pause:]):
            fill(log, part)
            projector.catch_up(batch_size=size)
        closed = [number for number, letter in enumerate(pattern, start=1) if letter == "C"]
        starts = [1, *(number + 1 for number in closed)]
        ranges = list(zip(starts, closed, strict=False))
        assert [anchor[1:4] for anchor in store_of(log).anchors()] == [(a, b, b) for a, b in ranges]
        assert notes.draws == [list(range(a, b + 1)) for a, b in ranges]


@pytest.mark.parametrize("boundary", [LooksAtAll(), CLOSES], ids=["looks at all", "by type"])
def test_invariant_78_what_is_a_section_is_not_drawn_again(log: EventLog, boundary: Any) -> None:
    fill(log, "SCSSC")
    notes = Notes()
    projector = projector_of(log, fold_of(log, notes, boundary=boundary))
    projector.catch_up()
    projector.catch_up()
    Positions(log).commit_position("chronicle", 0, STREAM.name)
    assert projector.catch_up() == {"chronicle": 5}
    assert projector_of(log, fold_of(log, notes, name="another")).catch_up() == {"another": 5}
    assert notes.draws == [[1, 2], [3, 4, 5]]


def test_a_second_fold_with_another_boundary_goes_on_from_there(log: EventLog) -> None:
    fill(log, "SCSS")
    projector_of(log, fold_of(log, Notes())).catch_up()

    class EveryFourth:
        def closes_unit(self, event: StoredEvent) -> bool:
            return event.seq % 4 == 0

    notes = Notes()
    projector_of(log, fold_of(log, notes, boundary=EveryFourth(), name="fourth")).catch_up()
    assert notes.draws == [[3, 4]]
    assert ids(log) == ["1-2", "3-4"]


def test_invariant_86_what_is_appended_during_a_draw_is_in_the_next_section(log: EventLog) -> None:
    fill(log, "SC")

    def append(events: Any) -> None:
        if len(notes.draws) == 1:
            assert not log.in_transaction
            fill(log, "SC")

    notes = Notes(append)
    assert projector_of(log, fold_of(log, notes)).catch_up() == {"chronicle": 4}
    assert notes.draws == [[1, 2], [3, 4]]


def test_a_summarizer_that_feeds_its_own_stream_ends_all_the_same(log: EventLog) -> None:
    fill(log, "SC")
    notes = Notes(lambda events: fill(log, "SC"))
    consolidator = consolidator_of(log, notes)
    assert [anchor.section_id for anchor in consolidator.consolidate()] == ["1-2"]
    assert [anchor.section_id for anchor in consolidator.consolidate()] == ["3-4"]


def test_invariant_87_the_ledger_s_books_are_in_no_range(log: EventLog) -> None:
    fill(log, "SCS")
    stream = log.stream(STREAM)

    def pinned(events: Any) -> None:
        ledger = PinLedger(stream)
        ledger.resolve("p1:test:x", kind="test", effect=lambda: "drawn", interpret=str)
        ledger.commit()

    notes = Notes(pinned)
    consolidator = consolidator_of(log, notes)
    consolidator.consolidate()
    fill(log, "C")
    consolidator.consolidate()
    assert (ids(log), notes.draws) == (["1-2", "3-4"], [[1, 2], [3, 4]])
    assert [each.envelope.type for each in log.stream(pins_stream(STREAM.name)).read()] == [
        "pin.promoted"
    ] * 2
    assert consolidator.lag().events == 0


# -- what summarizers see ----------------------------------------------------------------------


def _seen(log: EventLog, **given: Any) -> list[list[int]]:
    notes = Notes()
    projector_of(log, fold_of(log, notes, **given)).catch_up()
    return notes.draws


def test_private_events_reach_no_summarizer_and_are_covered(log: EventLog) -> None:
    fill(log, "SsSCsSc")
    assert _seen(log) == [[1, 3, 4], [6]]
    assert ids(log) == ["1-4", "5-7"]


def test_quarantined_events_reach_no_summarizer(log: EventLog) -> None:
    fill(log, "SSSC")
    asked: list[tuple[int, int]] = []

    def hidden(from_seq: int, to_seq: int) -> dict[int, int]:
        asked.append((from_seq, to_seq))
        return {2: 7}

    assert _seen(log, admission=Admission(hidden=hidden)) == [[1, 3, 4]]
    assert asked == [(1, 4)]


def test_what_is_hidden_during_a_draw_is_hidden_after_the_section_was_written(log: EventLog) -> None:
    fill(log, "SSSC")
    since: dict[int, int] = {}

    def hide(events: Any) -> None:
        fill(log, "S")
        since[2] = log.last_position()

    projector_of(log, fold_of(log, Notes(hide))).catch_up()
    section = store_of(log).section("1-4")
    assert section is not None and section.written.position == 4
    assert is_withheld(section, lambda first, last: since)
    again = reconsolidate(
        store_of(log), reader_of(log), "1-4", Notes(), admission=Admission(hidden=lambda first, last: since)
    )
    assert not is_withheld(again, lambda first, last: since)


def test_bookkeeping_reaches_no_summarizer(log: EventLog) -> None:
    fill(log, "S")
    promoted = PinPromoted(
        drawn_for="test/x", unit_id="u", key="p1:k:1", kind="k", result="words of a model", attempts=1
    )
    log.append(STREAM, [promoted])
    fill(log, "C")
    assert [is_bookkeeping(each.envelope) for each in reader_of(log).read_raw()] == [False, True, False]
    assert _seen(log) == [[1, 3]]


def test_a_rule_of_one_s_own_takes_the_place_of_the_usual_one(log: EventLog) -> None:
    fill(log, "SsSC")
    assert _seen(log, admission=Admission(lambda envelope: envelope.type == "said")) == [[1, 2, 3]]
    assert _seen(log, admission=Admission(admits)) == []


def test_a_stretch_of_which_nothing_may_be_seen_is_a_section_that_tells_nothing(log: EventLog) -> None:
    fill(log, "SCsscSC")
    assert _seen(log) == [[1, 2], [6, 7]]
    assert ids(log) == ["1-2", "3-5", "6-7"]
    section = store_of(log).section("3-5")
    assert section is not None and (section.prose, section.pins) == NOTHING_TOLD


def test_an_event_that_this_program_does_not_know_is_passed_over(log: EventLog) -> None:
    fill(log, "SCSC")
    reader = EventReader(log.stream(STREAM), UpcastRegistry(), EventTypeRegistry([SAID]))

    class EverySecond:
        def closes_unit(self, event: StoredEvent) -> bool:
            return event.seq == 3

    notes = Notes()
    fold = ChronicleFold(store_of(log), reader, boundary=EverySecond(), summarize=notes)
    assert Projector(log.stream(STREAM), reader, [fold]).catch_up() == {"chronicle": 4}
    assert (notes.draws, ids(log)) == ([[1, 3]], ["1-3"])


def test_the_events_come_as_they_are_today_and_in_order(log: EventLog) -> None:
    log.append(STREAM, [event("S", "first"), event("S", "second"), event("C")])
    seen: list[Any] = []
    projector_of(log, fold_of(log, Notes(seen.extend))).catch_up()
    assert [each.payload.get("text", "closed") for each in seen] == ["first", "second", "closed"]
    assert [each.stream for each in seen] == [STREAM.name] * 3


def test_a_fold_over_the_whole_log_is_refused(log: EventLog) -> None:
    reader = EventReader(log, UpcastRegistry(), EventTypeRegistry(TYPES))
    with pytest.raises(ValueError, match="one stream"):
        ChronicleFold(store_of(log), reader, boundary=CLOSES, summarize=Notes())


# -- holes -------------------------------------------------------------------------------------


def test_a_hole_is_filled_stretch_by_stretch_and_its_rest_is_one_section(log: EventLog) -> None:
    fill(log, "SCSCSSSSC")
    store_of(log).append(by_hand(7, 8))
    notes = Notes()
    projector_of(log, fold_of(log, notes)).catch_up()
    assert store_of(log).anchors() == [
        Anchor("1-2", 1, 2, 2),
        Anchor("3-4", 3, 4, 4),
        Anchor("5-6", 5, 6, 6),
        Anchor("7-8", 7, 8, 8),
        Anchor("9-9", 9, 9, 9),
    ]
    assert notes.draws == [[1, 2], [3, 4], [5, 6], [9]]
    assert store_of(log).holes() == []


def test_a_hole_is_filled_where_no_boundary_comes_after_it(log: EventLog) -> None:
    fill(log, "SCSSS")
    notes = Notes()
    consolidator = consolidator_of(log, notes)
    consolidator.consolidate()
    store_of(log).append(by_hand(4, 5))
    assert consolidator.lag() == (5, 2, (3, 3), 1)
    assert [anchor[:4] for anchor in consolidator.consolidate()] == [("3-3", 3, 3, 3)]
    assert consolidator.lag() == (5, 5, None, 0)
    assert notes.draws == [[1, 2], [3]]


def test_sections_that_were_removed_come_back_stretch_by_stretch(log: EventLog) -> None:
    fill(log, "SCSC")
    projector = projector_of(log, fold_of(log, Notes()))
    projector.catch_up()
    store_of(log).reset()
    fill(log, "SC")
    projector.catch_up()
    assert ids(log) == ["1-2", "3-4", "5-6"]


def test_a_section_written_by_hand_during_a_draw_makes_the_batch_start_over(log: EventLog) -> None:
    fill(log, "SSSC")

    def write(events: Any) -> None:
        if len(notes.draws) == 1:
            store_of(log).append(by_hand(2, 2))

    notes = Notes(write)
    consolidator = consolidator_of(log, notes)
    with pytest.raises(ChronicleFork):
        consolidator.consolidate()
    assert ids(log) == ["2-2"]
    consolidator.consolidate()
    assert ids(log) == ["1-1", "2-2", "3-4"]
    assert notes.draws == [[1, 2, 3, 4], [1], [3, 4]]


def test_sections_say_when_and_by_what_they_were_written(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as log:
        fill(log, "SCS")
        before = log.now()
        projector_of(log, fold_of(log, Notes(), author=Author("extractive", "3"))).catch_up()
        section = store_of(log).section("1-2")
        assert section is not None
        assert section.written[0::2] == (3, "extractive") and section.written.summarizer_version == "3"
        assert before <= section.written.at <= log.now()


def test_what_must_be_kept_together_with_a_section_is(log: EventLog) -> None:
    fill(log, "SCSC")
    kept: list[str] = []

    def keep(section: Any) -> None:
        assert log.in_transaction
        if section.anchor.section_id == "3-4" and not kept.count("3-4"):
            kept.append("3-4")
            raise OSError("no room")
        kept.append(section.anchor.section_id)

    notes = Notes()
    projector = projector_of(log, fold_of(log, notes, keep=keep))
    with pytest.raises(OSError, match="no room"):
        projector.catch_up()
    assert ids(log) == []
    projector.catch_up()
    assert (ids(log), kept) == (["1-2", "3-4"], ["1-2", "3-4", "1-2", "3-4"])
    assert len(told(log)) == len(notes.draws) == 2

"""What the store takes and gives back: contract log-and-chronicle, §8, and its invariants 58 to 67, 72 to 74."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chronicle.store_cases import STREAM, a_section, open_log, say, stored
from workbench.chronicle.errors import (
    ChronicleError,
    ChronicleFork,
    InvalidSection,
    SectionCollision,
    UnknownSection,
)
from workbench.chronicle.ports import ChronicleStore
from workbench.chronicle.sections import Anchor, Section, Written, section_id
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.log import EventLog
from workbench.storage.errors import DatabaseReadOnly

Store = SQLiteChronicleStore
Write = Callable[[Store, Section], object]

WRITES: dict[str, Write] = {
    "append": lambda store, section: store.append(section),
    "append_new": lambda store, section: store.append_new(section),
    "load": lambda store, section: store.load([section]),
}
every_way = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """A log with a stream of thirty events."""
    with stored(tmp_path) as (log, _):
        yield log


@pytest.fixture
def store(log: EventLog) -> Store:
    """The empty chronicle of that stream."""
    return Store(log, STREAM)


def ids(store: Store) -> list[str]:
    """The ids of the current sections."""
    return [anchor.section_id for anchor in store.anchors()]


def test_the_store_is_what_the_others_ask_for(store: Store) -> None:
    asked: ChronicleStore = store
    assert asked.export() == []


def test_i58_an_id_follows_from_range_and_generation() -> None:
    assert section_id(12, 31) == "12-31"
    assert section_id(12, 31, generation=2) == "12-31#2"


def test_i59_the_same_id_keeps_the_first_prose_and_append_new_refuses_it(store: Store) -> None:
    store.append(a_section(1, 3, "first"))
    store.append(a_section(1, 3, "second", pins=("p1:x:1",)))
    found = store.section("1-3")
    assert found is not None
    assert (found.prose, found.pins) == ("first", ())
    with pytest.raises(SectionCollision):
        store.append_new(a_section(1, 3, "first"))


@every_way
def test_a_stored_id_with_another_anchor_is_a_collision_on_every_path(store: Store, write: Write) -> None:
    store.append(a_section(1, 3, "first"))
    for other in (
        Section(Anchor("1-3", 1, 4, 4), "x"),
        Section(Anchor("1-3", 1, 3, 2), "x"),
        Section(Anchor("1-3", 1, 3, 3, "1-2"), "x"),
        Section(Anchor("1-3", 5, 4, 99), ""),
    ):
        with pytest.raises(SectionCollision) as caught:
            write(store, other)
        assert caught.value.section_id == "1-3"
        assert caught.value.code == "section_collision"
    assert store.export() == [a_section(1, 3, "first")]


@every_way
@pytest.mark.parametrize(
    ("first", "last"),
    [(2, 4), (5, 8), (5, 5), (1, 9), (4, 6)],
    ids=["partial", "after", "inside", "enclosing", "equal"],
)
def test_i60_an_overlap_is_a_fork_on_every_path(store: Store, write: Write, first: int, last: int) -> None:
    store.append(a_section(4, 6))
    # The same range needs another id to come so far.
    anchor = Anchor(section_id(first, last) + ("#2" if (first, last) == (4, 6) else ""), first, last, last)
    with pytest.raises(ChronicleFork) as caught:
        write(store, Section(anchor, "x"))
    assert "4-6" in caught.value.message
    assert ids(store) == ["4-6"]


def test_i61_neighbours_are_fine_and_a_gap_can_be_filled_later(store: Store) -> None:
    store.append(a_section(1, 3))
    store.append(a_section(4, 6))
    store.append(a_section(9, 9))
    assert store.holes() == [(7, 8)]
    store.append_new(a_section(7, 8))
    assert ids(store) == ["1-3", "4-6", "7-8", "9-9"]
    assert store.holes() == []


@every_way
def test_i62_superseding_what_is_not_stored_is_an_unknown_section(store: Store, write: Write) -> None:
    store.append(a_section(1, 3))
    with pytest.raises(UnknownSection) as caught:
        write(store, a_section(4, 6, generation=2))
    assert isinstance(caught.value, LookupError)
    with pytest.raises(UnknownSection):
        write(store, Section(Anchor("1-3#2", 1, 3, 3, "\ud800"), "x"))


@pytest.mark.parametrize("name", ["append", "append_new"])
def test_i62_a_section_that_supersedes_itself_is_an_unknown_section(store: Store, name: str) -> None:
    store.append(a_section(1, 3))
    for anchor in (Anchor("1-3#2", 1, 3, 3, "1-3#2"), Anchor("4-6", 4, 6, 6, "4-6")):
        with pytest.raises(UnknownSection):
            WRITES[name](store, Section(anchor, "x"))


@every_way
@pytest.mark.parametrize(("first", "last"), [(2, 3), (1, 4), (2, 5)], ids=["narrower", "wider", "shifted"])
def test_i63_superseding_another_range_is_a_fork(store: Store, write: Write, first: int, last: int) -> None:
    store.append(a_section(1, 3))
    anchor = Anchor(section_id(first, last, generation=2), first, last, last, "1-3")
    with pytest.raises(ChronicleFork):
        write(store, Section(anchor, "x"))
    assert ids(store) == ["1-3"]


@every_way
def test_i64_a_second_successor_is_a_fork(store: Store, write: Write) -> None:
    store.append(a_section(1, 3))
    store.append(a_section(1, 3, generation=2))
    with pytest.raises(ChronicleFork):
        write(store, Section(Anchor("1-3#3", 1, 3, 3, "1-3"), "x"))
    assert ids(store) == ["1-3#2"]


def test_i65_after_superseding_the_new_prose_stands_and_the_old_stays_readable(store: Store) -> None:
    store.append(a_section(1, 3, "old"))
    store.append(a_section(4, 6))
    before = store.consolidated_through()
    new = a_section(1, 3, "new", generation=2)
    store.append_new(new)
    assert [store.covering(seq) for seq in (1, 2, 3)] == [new] * 3
    assert store.section("1-3") == a_section(1, 3, "old")
    assert store.anchors() == [new.anchor, a_section(4, 6).anchor]
    assert store.sections()[0] == new
    assert store.consolidated_through() == before == 6


def test_i66_an_upper_bound_leaves_out_what_reaches_past_it(store: Store) -> None:
    store.append(a_section(1, 3))
    store.append(a_section(4, 6))
    assert store.anchors(upto_seq=5) == [a_section(1, 3).anchor]
    assert store.sections(upto_seq=6) == [a_section(1, 3), a_section(4, 6)]
    assert store.sections(upto_seq=2) == store.sections(upto_seq=-1) == []
    assert len(store.sections(upto_seq=10**30)) == 2


def test_i67_appending_a_superseded_section_again_does_nothing(store: Store) -> None:
    store.append(a_section(1, 3))
    store.append(a_section(1, 3, generation=2))
    before = store.export()
    store.append(a_section(1, 3, "replayed"))
    assert store.export() == before


def test_i72_a_section_goes_with_the_transaction_around_it(log: EventLog, store: Store) -> None:
    with pytest.raises(RuntimeError), log.transaction():
        store.append(a_section(1, 3))
        assert ids(store) == ["1-3"]
        raise RuntimeError("no")
    assert store.export() == []
    assert store.consolidated_through() == 0


@every_way
def test_i72_a_fork_leaves_the_rest_of_the_transaction_usable(
    log: EventLog, store: Store, write: Write
) -> None:
    with log.transaction():
        store.append(a_section(1, 3))
        with pytest.raises(ChronicleFork):
            write(store, a_section(2, 4))
        store.append(a_section(4, 6))
        say(log, 1)
    assert ids(store) == ["1-3", "4-6"]
    assert log.stream(STREAM).last_seq() == 31


def test_i73_pins_come_back_as_a_tuple_whatever_they_hold(store: Store) -> None:
    odd = ("p1:model_call:00", "two\nlines", "", 'q"', "ключ")
    store.append(a_section(1, 3, pins=odd))
    store.append(a_section(4, 6))
    store.append(a_section(7, 9, pins=("",)))
    assert [section.pins for section in store.sections()] == [odd, (), ("",)]


def test_i74_an_empty_store(tmp_path: Path) -> None:
    with stored(tmp_path, events=0) as (_, store):
        assert store.consolidated_through() == 0
        assert store.covering(1) is None
        assert not (store.anchors() or store.sections() or store.export() or store.holes() or store.page())
        assert store.section("1-3") is None
        assert store.load([]) == 0
        assert store.count() == 0
        store.reset()
        with pytest.raises(InvalidSection, match="the stream ends with 0"):
            store.append(a_section(1, 3))


BAD = {
    "begins before the first event": Anchor("0-3", 0, 3, 3),
    "ends before it begins": Anchor("5-4", 5, 4, 4),
    "negative": Anchor("-3--1", -3, -1, -1),
    "reaches past the stream": Anchor("29-31", 29, 31, 31),
    "far past anything": Anchor(f"1-{10**30}", 1, 10**30, 1),
    "unit before the range": Anchor("2-3", 2, 3, 1),
    "unit behind the range": Anchor("2-3", 2, 3, 4),
    "an id of another range": Anchor("2-4", 2, 3, 3),
    "an id of a later generation": Anchor("2-3#2", 2, 3, 3),
    "an id with a number that is never written": Anchor("2-3#1", 2, 3, 3),
    "an empty id": Anchor("", 2, 3, 3),
    "an id that is no text": Anchor("2-3\ud800", 2, 3, 3),
}


@every_way
@pytest.mark.parametrize("anchor", BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused_on_every_path(store: Store, write: Write, anchor: Anchor) -> None:
    with pytest.raises(InvalidSection) as caught:
        write(store, Section(anchor, "x"))
    assert caught.value.section_id == anchor.section_id
    assert store.export() == []


@every_way
@pytest.mark.parametrize("prose", ["", " \n\t"])
def test_empty_prose_is_refused_on_every_path(store: Store, write: Write, prose: str) -> None:
    with pytest.raises(InvalidSection, match="no prose"):
        write(store, Section(Anchor("1-3", 1, 3, 3), prose))


@every_way
def test_a_later_generation_has_the_id_that_follows(store: Store, write: Write) -> None:
    store.append(a_section(1, 3))
    with pytest.raises(InvalidSection, match="1-3#2"):
        write(store, Section(Anchor("1-3#3", 1, 3, 3, "1-3"), "x"))
    write(store, a_section(1, 3, generation=2))
    assert ids(store) == ["1-3#2"]


@every_way
def test_when_it_was_written_comes_back_and_is_no_part_of_the_anchor(store: Store, write: Write) -> None:
    written = Written(30, 1_700_000_000_000_000, "command", "3")
    write(store, a_section(1, 3, written=written))
    found = store.section("1-3")
    assert found is not None and found.written == written
    store.append(a_section(1, 3, written=Written(99, 1, "other", "4")))
    assert store.load([a_section(1, 3)]) == 0
    assert store.section("1-3") == found
    for wrong in (Written(-1), Written(0, -5), Written(2**63), Written(0, 2**70)):
        with pytest.raises(InvalidSection):
            write(store, a_section(4, 6, written=wrong))


@every_way
def test_text_that_is_none_becomes_text_but_a_pins_key_never_does(store: Store, write: Write) -> None:
    write(store, a_section(1, 3, "a\ud800b\x00\x1b[31m", written=Written(0, 0, "x\udfff")))
    found = store.section("1-3")
    assert found is not None
    assert found.prose == "a\N{REPLACEMENT CHARACTER}b\x00\x1b[31m"
    assert found.written.summarizer == "x\N{REPLACEMENT CHARACTER}"
    with pytest.raises(InvalidSection, match="pin"):
        write(store, a_section(4, 6, pins=("p1:\ud800",)))


def test_how_far_it_goes_without_a_gap_and_where_its_holes_are(store: Store) -> None:
    store.append(a_section(4, 6))
    assert (store.consolidated_through(), store.holes()) == (0, [(1, 3)])
    store.append(a_section(10, 12))
    store.append(a_section(20, 20))
    assert (store.consolidated_through(), store.holes()) == (0, [(1, 3), (7, 9), (13, 19)])
    store.append(a_section(1, 3))
    assert (store.consolidated_through(), store.holes()) == (6, [(7, 9), (13, 19)])
    store.append(a_section(8, 9))
    assert (store.consolidated_through(), store.holes()) == (6, [(7, 7), (13, 19)])
    store.append(a_section(10, 12, generation=2))
    store.append(a_section(8, 9, generation=2))
    assert (store.consolidated_through(), store.holes()) == (6, [(7, 7), (13, 19)])
    store.append(a_section(7, 7))
    assert (store.consolidated_through(), store.holes()) == (12, [(13, 19)])
    store.append(a_section(13, 19))
    assert (store.consolidated_through(), store.holes()) == (20, [])


def test_what_covers_an_event(store: Store) -> None:
    store.append(a_section(4, 6))
    store.append(a_section(9, 12))
    covered = {seq: found.anchor.section_id for seq in range(-2, 40) if (found := store.covering(seq))}
    assert covered == {4: "4-6", 5: "4-6", 6: "4-6", 9: "9-12", 10: "9-12", 11: "9-12", 12: "9-12"}
    assert store.covering(10**30) is None
    assert store.covering(-(10**30)) is None


def test_a_chronicle_belongs_to_one_stream(log: EventLog, store: Store) -> None:
    say(log, 5, "session/other")
    other = Store(log, "session/other")
    store.append(a_section(1, 3, "ours"))
    other.append(a_section(1, 3, "theirs"))
    other.append(a_section(1, 3, "theirs again", generation=2))
    with pytest.raises(InvalidSection):
        other.append(a_section(4, 6))
    assert ids(store) == ["1-3"]
    other.reset()
    assert other.export() == []
    assert store.export() == [a_section(1, 3, "ours")]


def test_reset_removes_every_section_and_the_same_can_be_written_again(store: Store) -> None:
    for generation in (1, 2, 3):
        store.append(a_section(1, 3, generation=generation))
    store.append(a_section(9, 9))
    before = store.export()
    store.reset()
    assert store.export() == []
    assert (store.consolidated_through(), store.holes()) == (0, [])
    for section in before:
        store.append_new(section)
    assert store.export() == before


def test_pages_of_ranges_go_on_where_the_last_one_ended(store: Store) -> None:
    for begin in range(1, 29, 2):
        store.append(a_section(begin, begin + (begin != 13)))
    store.append(a_section(3, 4, "again", generation=2))
    store.append(a_section(3, 4, "and again", generation=3))
    first = store.page(limit=5)
    assert [each.current.anchor.section_id for each in first] == ["1-2", "3-4#3", "5-6", "7-8", "9-10"]
    assert [each.generations for each in first] == [1, 3, 1, 1, 1]
    pages = [first]
    while pages[-1]:
        pages.append(store.page(pages[-1][-1].current.anchor.from_seq, 5))
    rows = [each for page in pages for each in page]
    assert [each.current for each in rows] == store.sections()
    assert [each.current.anchor.from_seq for each in rows if each.after_gap] == [15]
    assert store.page_before(limit=3) == rows[-3:]
    assert store.page_before(rows[-3].current.anchor.from_seq, 4) == rows[-7:-3]
    assert store.page(10**30) == store.page(limit=-1) == []
    assert store.generations(3, 4) == [section for section in store.export() if section.anchor.from_seq == 3]
    assert store.generations(3, 5) == []
    assert store.count() == len(rows)
    assert store.count(current=False) == len(rows) + 2


def test_the_newest_come_first(store: Store) -> None:
    for first in (1, 4, 7, 10):
        store.append(a_section(first, first + 2))
    assert [each.anchor.from_seq for each in store.newest(2)] == [10, 7]
    assert [each.anchor.from_seq for each in store.newest(9, upto_seq=8)] == [4, 1]
    assert [each.anchor.from_seq for each in store.newest(9, before=7)] == [4, 1]


def test_what_was_stored_is_there_after_opening_again(tmp_path: Path) -> None:
    with stored(tmp_path) as (_, store):
        store.append(a_section(1, 3, "один", pins=("p1:a:1",)))
        store.append(a_section(1, 3, "два", generation=2))
        before = store.export()
    with open_log(tmp_path / "log.db") as log:
        again = Store(log, STREAM)
        assert again.export() == before
        assert ids(again) == ["1-3#2"]


def test_a_log_open_for_reading_gives_sections_and_takes_none(tmp_path: Path) -> None:
    with stored(tmp_path) as (_, store):
        store.append(a_section(1, 3))
    with EventLog.open(
        tmp_path / "log.db", [], open_log(tmp_path / "other.db").registry, read_only=True
    ) as log:
        reading = Store(log, STREAM)
        assert reading.export() == [a_section(1, 3)]
        with pytest.raises(DatabaseReadOnly):
            reading.append(a_section(4, 6))


def test_every_refusal_names_the_section_and_acts_on_no_terminal(store: Store) -> None:
    hostile = "1-3\x1b[2J" + "9" * 500
    for anchor in (Anchor(hostile, 1, 3, 3), Anchor("1-3", 1, 3, 3, hostile)):
        with pytest.raises(ChronicleError) as caught:
            store.append(Section(anchor, "x"))
        assert "\x1b" not in caught.value.message
        assert len(caught.value.message) < 400

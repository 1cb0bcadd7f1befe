"""Carrying a chronicle over: contract log-and-chronicle, §8 "load", and its invariants 68 to 71."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chronicle.store_cases import STREAM, a_section, stored
from tests.thorough import examples
from workbench.chronicle.errors import (
    ChronicleFork,
    InvalidSection,
    SectionCollision,
    UnknownSection,
)
from workbench.chronicle.sections import Anchor, Section, Written
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.log import EventLog

Store = SQLiteChronicleStore
TWELVE = [a_section(4, 6, generation=generation) for generation in range(1, 13)]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """A log with a stream of thirty events."""
    with stored(tmp_path) as (log, _):
        yield log


@pytest.fixture
def store(log: EventLog) -> Store:
    """The empty chronicle of that stream."""
    return Store(log, STREAM)


def test_i68_an_export_lands_whole_and_a_second_time_not_at_all(store: Store) -> None:
    sections = [a_section(1, 3), a_section(1, 3, generation=2), a_section(9, 9, pins=("p1:a:1", "b"))]
    assert store.load(iter(sections)) == 3
    assert store.load(store.export()) == 0
    exported = store.export()
    assert exported == sections
    with_first = exported[0]._replace(written=Written(3, 4, "x", "y"))
    store.reset()
    assert store.load([with_first, *exported[1:]]) == 3
    assert store.export()[0].written == with_first.written


@pytest.mark.parametrize("order", ["text", "reversed", "as written"])
def test_i69_twelve_generations_land_in_any_order(store: Store, order: str) -> None:
    given = {
        "text": sorted(TWELVE, key=lambda each: each.anchor.section_id),
        "reversed": TWELVE[::-1],
        "as written": TWELVE,
    }[order]
    assert store.load(given) == 12
    assert store.export() == TWELVE
    assert store.anchors() == [TWELVE[-1].anchor]
    assert store.generations(4, 6) == TWELVE


WRONG: dict[str, tuple[type[Exception], list[Section]]] = {
    "an overlap in it": (ChronicleFork, [a_section(1, 3), a_section(3, 5)]),
    "an overlap with what is there": (ChronicleFork, [a_section(1, 3), a_section(19, 21)]),
    "one that encloses what is there": (ChronicleFork, [a_section(1, 3), a_section(19, 30)]),
    "two successors": (
        ChronicleFork,
        [a_section(1, 3), a_section(1, 3, generation=2), Section(Anchor("1-3#3", 1, 3, 3, "1-3"), "x")],
    ),
    "a second successor of what is there": (
        ChronicleFork,
        [a_section(1, 3), Section(Anchor("24-26#3", 24, 26, 26, "24-26"), "x")],
    ),
    "a successor of another range": (
        ChronicleFork,
        [a_section(1, 3), Section(Anchor("1-2#2", 1, 2, 2, "1-3"), "x")],
    ),
    "an orphan": (UnknownSection, [a_section(1, 3), a_section(4, 6, generation=2)]),
    "one that supersedes itself": (
        ChronicleFork,
        [a_section(1, 3), Section(Anchor("4-6#2", 4, 6, 6, "4-6#2"), "x")],
    ),
    "a cycle of two": (
        ChronicleFork,
        [
            a_section(1, 3),
            Section(Anchor("4-6#2", 4, 6, 6, "4-6#3"), "x"),
            Section(Anchor("4-6#3", 4, 6, 6, "4-6#2"), "x"),
        ],
    ),
    "a cycle of three with a tail": (
        ChronicleFork,
        [
            Section(Anchor("4-6#5", 4, 6, 6, "4-6#2"), "x"),
            Section(Anchor("4-6#2", 4, 6, 6, "4-6#4"), "x"),
            Section(Anchor("4-6#3", 4, 6, 6, "4-6#2"), "x"),
            Section(Anchor("4-6#4", 4, 6, 6, "4-6#3"), "x"),
        ],
    ),
    "one id twice with two anchors": (
        SectionCollision,
        [a_section(1, 3), Section(Anchor("1-3", 1, 3, 2), "x")],
    ),
    "an id that does not follow": (
        InvalidSection,
        [a_section(1, 3), Section(Anchor("1-3#3", 1, 3, 3, "1-3"), "x")],
    ),
    "a range beyond the stream": (InvalidSection, [a_section(1, 3), a_section(29, 31)]),
    "no prose": (InvalidSection, [a_section(1, 3), a_section(4, 6, " ")]),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_i70_nothing_lands_where_anything_is_wrong(store: Store, name: str, order: str) -> None:
    store.append(a_section(20, 22, "here"))
    store.append(a_section(24, 26))
    store.append(a_section(24, 26, generation=2))
    before = store.export()
    error, sections = WRONG[name]
    with pytest.raises(error):
        store.load(sections if order == "forwards" else sections[::-1])
    assert store.export() == before
    # What is right in it lands afterwards.
    assert store.load([a_section(1, 3)]) == 1


def test_i71_what_is_there_stays_and_is_not_counted(store: Store) -> None:
    store.append(a_section(1, 3, "here", pins=("p1:here:1",)))
    assert store.load([a_section(1, 3, "there"), a_section(4, 6), a_section(4, 6, "twice")]) == 1
    assert [each.prose for each in store.export()] == ["here", "prose 1 of 4 to 6"]


def test_a_chain_is_never_mixed(store: Store) -> None:
    store.append(a_section(1, 3, "here", pins=("a",)))
    later = a_section(1, 3, "later", generation=2)
    for before in (a_section(1, 3, "there", pins=("a",)), a_section(1, 3, "here", pins=("b",))):
        for sections in ([before, later], [later, before]):
            with pytest.raises(ChronicleFork, match="another prose") as caught:
                store.load(sections)
            assert caught.value.section_id == "1-3#2"
    assert store.load([a_section(1, 3, "here", pins=("a",), written=Written(9, 9, "x")), later]) == 1
    assert store.anchors() == [later.anchor]


def test_a_chain_goes_on_where_the_stored_one_ends(store: Store) -> None:
    store.load(TWELVE[:5])
    assert store.load(TWELVE[::-1]) == 7
    assert store.export() == TWELVE
    assert store.anchors() == [TWELVE[-1].anchor]


def test_a_chain_goes_on_without_the_section_before_it(store: Store) -> None:
    store.load(TWELVE[:2])
    assert store.load(TWELVE[2:4]) == 2
    assert store.export() == TWELVE[:4]


def test_what_lands_closes_gaps_on_both_sides(store: Store) -> None:
    store.append(a_section(4, 6))
    store.append(a_section(10, 12))
    store.append(a_section(20, 20))
    store.load([a_section(13, 15), a_section(7, 9), a_section(7, 9, generation=2), a_section(17, 19)])
    assert (store.consolidated_through(), store.holes()) == (0, [(1, 3), (16, 16)])
    store.load([a_section(16, 16), a_section(1, 3)])
    assert (store.consolidated_through(), store.holes()) == (20, [])
    assert store.load([a_section(20, 20, generation=2)]) == 1
    assert (store.consolidated_through(), store.holes()) == (20, [])


def test_a_load_inside_a_transaction_goes_with_it(log: EventLog, store: Store) -> None:
    with pytest.raises(RuntimeError), log.transaction():
        assert store.load([a_section(1, 3)]) == 1
        raise RuntimeError("no")
    assert store.export() == []


RANGES = st.lists(st.integers(1, 4), min_size=1, max_size=8)


@settings(max_examples=examples(60))
@given(sizes=RANGES, kept=st.data())
def test_any_part_and_any_order_of_an_export_gives_what_one_by_one_gives(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], kept: st.DataObject
) -> None:
    """68, 69: also where some of it is there already."""
    every: list[Section] = []
    at = 1
    for size in sizes:
        last = at + size - 1
        every += [a_section(at, last, generation=each) for each in range(1, kept.draw(st.integers(1, 3)) + 1)]
        at = last + 1 + kept.draw(st.integers(0, 1))
    with stored(tmp_path_factory.mktemp("l"), events=at) as (_, there):
        there.load(kept.draw(st.permutations(every)))
        expected = there.export(), there.anchors(), there.holes(), there.consolidated_through()
        assert expected[0] == every
        there.reset()
        # A part that holds what each of its sections supersedes.
        first = [each for each in every if int(each.anchor.section_id.partition("#")[2] or 1) <= 2]
        count = kept.draw(st.integers(0, len(first)))
        for section in first[:count]:
            there.append(section)
        assert there.load(kept.draw(st.permutations(every))) == len(every) - count
        assert (there.export(), there.anchors(), there.holes(), there.consolidated_through()) == expected

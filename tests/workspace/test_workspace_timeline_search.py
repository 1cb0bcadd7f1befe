"""A search over much of the log: in steps, told and stopped between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.workspace_cases import actum, begin, open_log
from workbench.log.streams import session_stream
from workbench.workspace.readers import Readers, timeline_parts, timeline_walks
from workbench.workspace.rows import TimelineFilter

SIZE = 200
RARE = TimelineFilter(text="fig", actors=("bob",))
"""Both parts are common, together they are rare: positions 40, 80, …, 200."""
HITS = [40, 80, 120, 160, 200]


@pytest.fixture(scope="module")
def readers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Readers]:
    with open_log(tmp_path_factory.mktemp("search") / "log.db") as log:
        begin(log, "s")
        log.append(
            session_stream("s"),
            [
                actum(
                    "s",
                    content="a fig" if position % 5 == 0 else "a plum",
                    actor="bob" if position % 8 == 0 else "ann",
                    number=position,
                )
                for position in range(2, SIZE + 1)
            ],
        )
        yield Readers(log)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline_parts, "FEW", 1)
    monkeypatch.setattr(timeline_walks, "FEW", 1)
    monkeypatch.setattr(timeline_walks, "_STRETCH", 5)
    monkeypatch.setattr(timeline_walks, "_WINDOW", 10)
    monkeypatch.setattr(timeline_walks, "_WIDEST_WINDOW", 20)


class Told:
    """What a search told, and whether it may go on."""

    def __init__(self, steps: int = 1000) -> None:
        self.looked: list[int] = []
        self.numbers: list[int] = []
        self._steps = steps

    def __call__(self, looked: int, number: int) -> bool:
        self.looked.append(looked)
        self.numbers.append(number)
        return len(self.looked) < self._steps


def test_it_tells_where_it_has_come_to(readers: Readers) -> None:
    told = Told()
    found = readers.timeline.search(RARE, 100, go_on=told)
    assert [row.position for row in found.rows] == HITS
    assert found.complete
    assert told.looked == [191, 171, 151, 131, 111, 91, 71, 51, 31, 11, 1]
    assert told.numbers == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5]


def test_it_tells_so_in_the_other_direction(readers: Readers) -> None:
    told = Told()
    found = readers.timeline.search(RARE, 2, after=40, go_on=told)
    assert [row.position for row in found.rows] == [80, 120]
    assert not found.complete
    assert told.looked == [50, 70, 90, 110]


@pytest.mark.parametrize("steps", [1, 3, 100])
def test_what_is_found_before_it_is_stopped_counts(readers: Readers, steps: int) -> None:
    told = Told(steps)
    found = readers.timeline.search(RARE, 100, before=SIZE + 1, go_on=told)
    lowest = told.looked[-1]
    assert [row.position for row in found.rows] == [position for position in HITS if position >= lowest]
    assert found.complete == (lowest == 1)


def test_the_end_of_the_log_is_known_without_another_step(readers: Readers) -> None:
    newer = readers.timeline.search(RARE, 100, after=195, go_on=Told(1))
    assert ([row.position for row in newer.rows], newer.complete) == ([200], True)
    older = readers.timeline.search(RARE, 100, before=5, go_on=Told(1))
    assert (older.rows, older.complete) == ([], True)


@pytest.mark.parametrize("wanted", [TimelineFilter(), RARE, TimelineFilter(text="fig")])
@pytest.mark.parametrize(
    ("after", "upto"), [(0, SIZE), (40, 200), (39, 199), (120, 120), (0, 2**62), (300, 400)]
)
def test_a_part_of_the_log_can_be_counted(
    readers: Readers, wanted: TimelineFilter, after: int, upto: int
) -> None:
    events = readers.timeline.page(wanted, SIZE, after=0)
    expected = sum(after < event.position <= upto for event in events)
    assert readers.timeline.count(wanted, after=after, upto=upto) == expected


def test_a_count_tells_where_it_has_come_to(readers: Readers) -> None:
    looked: list[int] = []
    numbers: list[int] = []
    assert readers.timeline.count(RARE, progress=numbers.append, looked=looked.append) == 5
    assert looked == [191, 171, 151, 131, 111, 91, 71, 51, 31, 11, 1]
    assert numbers == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5]


def test_an_empty_log_is_searched_to_its_end(tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as log:
        found = Readers(log).timeline.search(RARE, 5)
        assert (found.rows, found.complete) == ([], True)

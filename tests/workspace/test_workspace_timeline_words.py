"""A search for words that reads events finds what the log's full text finds, whatever stands among them."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from tests.workspace.workspace_cases import actum, begin, open_log
from workbench.log.streams import session_stream
from workbench.workspace.readers import Readers, timeline_words
from workbench.workspace.rows import TimelineFilter

FIG = TimelineFilter(text="fi")
ENTRIES = 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A log in which every second entry has the word, one of them after a thousand others."""
    path = tmp_path / "log.db"
    with open_log(path) as log:
        begin(log, "s")
        for number in range(ENTRIES):
            word = "plum" if number % 2 else "pear " * 1000 + "fig" if number == 20 else "fig"
            log.append(session_stream("s"), [actum("s", content=word, number=number)])
    return path


def found(path: Path, wanted: TimelineFilter = FIG, limit: int = 100, **bounds: int) -> list[int]:
    """The positions of a page, read; before it was made sure that the other order's page has the same."""
    with open_log(path) as log:
        timeline = Readers(log).timeline
        positions = [row.position for row in timeline.page(wanted, limit, **bounds)]
        if not bounds:
            happened = timeline.search_happened(wanted, limit).rows
            assert sorted(row.position for row in happened) == positions
        return positions


def read_or_not(monkeypatch: pytest.MonkeyPatch, path: Path, limit: int, **bounds: int) -> list[int]:
    """What a search gives that looks words up; another, which reads what it can, gives the same."""
    looked_up = found(path, FIG, limit, **bounds)
    monkeypatch.setattr(timeline_words, "_LONG_LOG", 0)
    assert found(path, FIG, limit, **bounds) == looked_up
    return looked_up


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_the_same_is_found(monkeypatch: pytest.MonkeyPatch, path: Path, limit: int) -> None:
    expected = [2 + number for number in range(ENTRIES) if number % 2 == 0]
    assert read_or_not(monkeypatch, path, limit) == expected[-limit:]


@pytest.mark.parametrize("bounds", [{"after": 10}, {"before": 30}, {"after": 10, "before": 13}])
def test_within_bounds_too(monkeypatch: pytest.MonkeyPatch, path: Path, bounds: dict[str, int]) -> None:
    assert read_or_not(monkeypatch, path, 5, **bounds)


def test_events_that_are_too_large_are_looked_up(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr(timeline_words, "_READ_BYTES", 4000)
    assert len(read_or_not(monkeypatch, path, 100)) == ENTRIES / 2


def test_a_damaged_event_hides_no_other(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE events SET payload = '{' WHERE position = 30")
    connection.close()
    assert 30 in read_or_not(monkeypatch, path, 100)


def test_few_events_of_a_kind_are_read(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    """With another part that finds few events, those few are read and the full text is not asked."""
    looked_up = found(path, TimelineFilter(text="fi", types=("actum.recorded",)))
    monkeypatch.setattr(timeline_words, "_LONG_LOG", 0)
    monkeypatch.setattr(timeline_words, "_looked_up", None)
    assert found(path, TimelineFilter(text="fi", types=("actum.recorded",))) == looked_up

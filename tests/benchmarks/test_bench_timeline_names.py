"""The Timeline of a large shared memory: narrowed by names, and as it was, each in its first rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.benchmarks.conftest import LARGE
from tests.benchmarks.large_memory import REGISTRY, fill
from workbench.workspace.readers import Readers
from workbench.workspace.readers.timeline_queries import TimelineReader
from workbench.workspace.rows import TimelineFilter

pytestmark = pytest.mark.bench

ROWS, ROUNDS = 50, 5
FIRST_ROWS = 150.0
"""Milliseconds until the first rows of a filter."""
TRAVEL = 200.0
"""Milliseconds until those of another moment."""

NARROWED = {
    "a project": TimelineFilter(projects=("Project 3 App",)),
    "a project without other spellings": TimelineFilter(projects=("project-99",)),
    "a task of a project": TimelineFilter(projects=("project-99",), tasks=("task-3",)),
    "a task of any project": TimelineFilter(tasks=("task-3",)),
    "a domain": TimelineFilter(domains=("global",)),
    "an agent": TimelineFilter(agents=("CLAUDE",)),
    "a category": TimelineFilter(categories=("decision",)),
    "all of them": TimelineFilter(
        projects=("project-3",), agents=("claude",), domains=("global",), categories=("decision",)
    ),
}


@pytest.fixture(scope="module")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TimelineReader]:
    """`LARGE` events."""
    path: Path = tmp_path_factory.mktemp("timeline") / "log.db"
    with fill(path, LARGE) as log:
        yield Readers(log, lambda: REGISTRY).timeline


def best(name: str, call: Callable[[], object]) -> float:
    """Milliseconds of the quickest of some calls: what the machine does besides is not measured."""
    took = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        took.append((time.perf_counter() - began) * 1000)
    print(f"{name:45} {min(took):7.1f} ms, {max(took):7.1f} at most")
    return min(took)


@pytest.mark.parametrize("name", NARROWED)
def test_the_first_rows_of_a_filter(timeline: TimelineReader, name: str) -> None:
    wanted = NARROWED[name]
    assert timeline.page(wanted, ROWS)
    assert best(name, lambda: timeline.page(wanted, ROWS)) <= FIRST_ROWS


@pytest.mark.parametrize("share", [0.001, 0.5, 0.99])
def test_the_first_rows_of_the_past(timeline: TimelineReader, share: float) -> None:
    past = timeline.as_of(max(1, int(timeline.recorded() * share)))
    wanted = TimelineFilter(projects=("project-3",))
    assert best(f"as of {share:.1%}", lambda: past.page(TimelineFilter(), ROWS)) <= TRAVEL
    assert best(" narrowed", lambda: past.page(wanted, ROWS)) <= TRAVEL
    assert best(" as happened", lambda: past.search_happened(TimelineFilter(), ROWS)) <= TRAVEL

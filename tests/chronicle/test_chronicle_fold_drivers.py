"""Several drivers of one chronicle, its lease, progress, and what else goes on meanwhile."""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.chronicle.fold_cases import (
    STREAM,
    AsyncNotes,
    LooksAtAll,
    Notes,
    consolidator_of,
    event,
    fill,
    fold_of,
    ids,
    open_log,
    projector_of,
    store_of,
    told,
)
from tests.kill_cases import Tell, Victim
from workbench.chronicle.leases import ThreadLease
from workbench.log import EventLog, StoredEvent


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


def test_invariant_88_two_drivers_without_a_lease_leave_one_section_per_range(
    log: EventLog, tmp_path: Path
) -> None:
    fill(log, "SCSC")
    with open_log(tmp_path / "log.db") as other:
        theirs = Notes()

        def overtake(events: Sequence[StoredEvent]) -> None:
            if not theirs.draws:
                projector_of(other, fold_of(other, theirs)).catch_up()

        ours = Notes(overtake)
        assert projector_of(log, fold_of(log, ours)).catch_up() == {"chronicle": 4}
    assert ids(log) == ["1-2", "3-4"]
    assert [prose.split(" of ")[0] for _, prose, _ in told(log)] == ["draw 1", "draw 2"]


def test_invariant_88_a_second_thread_waits_and_then_finds_nothing_to_draw(log: EventLog) -> None:
    fill(log, "SCSC")
    lease, drawing, asked, go_on = ThreadLease(), threading.Event(), threading.Event(), threading.Event()

    @contextmanager
    def asking(name: str) -> Iterator[None]:
        asked.set()
        with lease(name):
            yield

    def hold(events: Sequence[StoredEvent]) -> None:
        drawing.set()
        go_on.wait(30)

    first, second = Notes(hold), Notes()
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(consolidator_of(log, first, lease=lease).consolidate)
        assert drawing.wait(30)
        two = threads.submit(consolidator_of(log, second, lease=asking).consolidate)
        assert asked.wait(30)
        assert not two.done()
        go_on.set()
        assert [anchor.section_id for anchor in one.result(30)] == ["1-2", "3-4"]
        assert two.result(30) == []
    assert second.draws == []


def test_threads_that_share_one_consolidator_take_turns(log: EventLog) -> None:
    fill(log, "SCSC" * 5)
    notes = Notes()
    consolidator = consolidator_of(log, notes)
    with ThreadPoolExecutor(4) as threads:
        results = [each.result(30) for each in [threads.submit(consolidator.consolidate) for _ in range(8)]]
    assert sorted(len(result) for result in results) == [0] * 7 + [10]
    assert len(notes.draws) == 10


def test_invariant_88_two_programs_never_draw_one_stretch(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with open_log(path) as log:
        fill(log, "SC" * 40)

    @contextmanager
    def lease(name: str) -> Iterator[None]:
        handle = os.open(tmp_path / name.replace("/", "-"), os.O_CREAT | os.O_RDWR)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def work(tell: Tell) -> None:
        with open_log(path) as log:
            notes = Notes(lambda events: tell(events[-1].seq))
            for _ in range(3):
                consolidator_of(log, notes, lease=lease, draw_seconds=0).consolidate()

    victims = [Victim(work), Victim(work)]
    drawn = sorted(seq for victim in victims for seq in victim.end())
    assert drawn == list(range(2, 81, 2))
    with open_log(path) as log:
        assert [anchor.to_seq for anchor in store_of(log).anchors()] == drawn


async def test_tasks_of_one_loop_take_turns_without_stopping_it(log: EventLog) -> None:
    fill(log, "SCSC")
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def hold(events: Sequence[StoredEvent]) -> None:
        entered.set()
        await go_on.wait()

    first, second = AsyncNotes(hold), AsyncNotes()
    lease = ThreadLease()
    one = asyncio.create_task(consolidator_of(log, first, lease=lease).consolidate_async())
    await entered.wait()
    two = asyncio.create_task(consolidator_of(log, second, lease=lease).consolidate_async())
    gone = asyncio.create_task(consolidator_of(log, second, lease=lease).consolidate_async())
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    go_on.set()
    assert [anchor.section_id for anchor in await one] == ["1-2", "3-4"]
    assert await two == []
    assert second.draws == []
    # The one that was called off did not take the lease with it.
    fill(log, "C")
    assert len(await consolidator_of(log, second, lease=lease).consolidate_async()) == 1


def test_another_program_appends_while_a_summarizer_works(log: EventLog, tmp_path: Path) -> None:
    fill(log, "SCSC")
    with open_log(tmp_path / "log.db") as other:

        def write(events: Sequence[StoredEvent]) -> None:
            assert not log.in_transaction
            other.append(STREAM, [event("S")])

        consolidator = consolidator_of(log, Notes(write))
        assert [anchor.section_id for anchor in consolidator.consolidate()] == ["1-2", "3-4"]
        consolidator.reconsolidate("1-2")
        consolidator.rebuild(discard_generated=True)
    assert consolidator.lag() == (9, 4, None, 5)


def test_a_long_draw_is_stored_before_the_next_one_begins(log: EventLog) -> None:
    fill(log, "SCSCSC")
    stored: list[list[str]] = []
    notes = Notes(lambda events: stored.append(ids(log)))
    consolidator_of(log, notes, draw_seconds=0).consolidate()
    assert stored == [[], ["1-2"], ["1-2", "3-4"]]


def test_stopping_keeps_what_was_drawn_and_goes_on_later(log: EventLog) -> None:
    fill(log, "SCSCSC")
    notes = Notes()
    consolidator = consolidator_of(log, notes)
    told_of: list[tuple[int, int | None, str]] = []
    new = consolidator.consolidate(
        progress=lambda *said: told_of.append(said), cancelled=lambda: len(notes.draws) >= 2
    )
    assert [anchor.section_id for anchor in new] == ids(log) == ["1-2", "3-4"]
    assert told_of == [(0, 6, "events 1 to 2"), (2, 6, "events 3 to 4"), (4, 6, "")]
    assert consolidator.lag() == (6, 4, (5, 6), 2)
    assert consolidator.consolidate(cancelled=lambda: True) == []
    assert [anchor.section_id for anchor in consolidator.consolidate()] == ["5-6"]
    assert notes.draws == [[1, 2], [3, 4], [5, 6]]


async def test_stopping_an_awaited_summarizer(log: EventLog) -> None:
    fill(log, "SCSCSC")
    notes = AsyncNotes()
    consolidator = consolidator_of(log, notes)
    await consolidator.consolidate_async(cancelled=lambda: len(notes.draws) >= 1)
    assert ids(log) == ["1-2"]
    off = await consolidator.rebuild_async(discard_generated=True, cancelled=lambda: len(notes.draws) >= 2)
    assert off is None
    assert [prose for _, prose, _ in told(log)] == ["draw 1"]


@pytest.mark.parametrize("boundary", [LooksAtAll(), None], ids=["looks at all", "by type"])
def test_lag_says_what_closes_next(log: EventLog, boundary: Any) -> None:
    given = {} if boundary is None else {"boundary": boundary}
    consolidator = consolidator_of(log, Notes(), **given)
    assert (consolidator.lag(), consolidator.lag().due) == ((0, 0, None, 0), False)
    fill(log, "SS")
    assert (consolidator.lag(), consolidator.lag().events) == ((2, 0, None, 2), 2)
    fill(log, "CSC")
    assert (consolidator.lag(), consolidator.lag().due) == ((5, 0, (1, 3), 5), True)
    consolidator.consolidate()
    assert (consolidator.lag(), consolidator.lag().events) == ((5, 5, None, 0), 0)
    fill(log, "S")
    consolidator.consolidate()
    fill(log, "C")
    assert consolidator.lag() == (7, 5, (6, 7), 2)


def test_a_chronicle_of_a_stream_without_events(log: EventLog) -> None:
    consolidator = consolidator_of(log, Notes())
    assert consolidator.consolidate() == []
    assert consolidator.rebuild(discard_generated=True) == []
    assert consolidator.lag() == (0, 0, None, 0)

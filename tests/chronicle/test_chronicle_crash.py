"""Crashes while sections are drawn and written: what is there afterwards, and what is drawn again."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.chronicle.fold_cases import (
    CLOSES,
    STREAM,
    Broken,
    LooksAtAll,
    Notes,
    consolidator_of,
    fill,
    fold_of,
    ids,
    open_log,
    projector_of,
    store_of,
    told,
)
from tests.kill_cases import Tell, Victim, undisturbed
from workbench.chronicle.admission import Admission
from workbench.chronicle.sections import Consolidation, Section
from workbench.chronicle.sqlite import SQLiteChronicleStore
from workbench.chronicle.summarizers.errors import SummarizerFailed
from workbench.log import EventLog, StoredEvent
from workbench.log.pins.keys import pin_key
from workbench.log.pins.ledger import PinLedger

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "fold_vectors.json").read_text("utf-8"))[
    "fold_crash"
]
KILLS = int(os.environ.get("WORKBENCH_TEST_KILLS", "3"))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    with open_log(tmp_path / "log.db") as log:
        yield log


class BreakingStore(SQLiteChronicleStore):
    """Raises at its n-th write, before or after it, counted from 1."""

    def __init__(self, log: EventLog, breaks_at: int, *, after: bool = False) -> None:
        super().__init__(log, STREAM.name)
        self.breaks_at = breaks_at
        self._after = after
        self._writes = 0

    def append(self, section: Section) -> None:
        """Count, and break where it is told to."""
        self._writes += 1
        if self._writes == self.breaks_at and not self._after:
            raise Broken
        super().append(section)
        if self._writes == self.breaks_at:
            raise Broken


@pytest.mark.parametrize("boundary", [LooksAtAll(), CLOSES], ids=["looks at all", "by type"])
def test_the_reference_s_crashes(tmp_path: Path, boundary: Any) -> None:
    for number, case in enumerate(VECTORS):
        with open_log(tmp_path / f"{number}.db") as log:
            fill(log, case["pattern"])
            notes = Notes()
            fold = fold_of(log, notes, boundary=boundary, store=BreakingStore(log, case["crash_at_write"]))
            projector = projector_of(log, fold)
            size = case["batch_size"]
            if boundary is CLOSES:
                # Of a fold that reads one type a batch holds events of that type only: every second one.
                size = max(1, size // 2)
            with pytest.raises(Broken):
                projector.catch_up(batch_size=size)
            assert ids(log) == case["sections_after_crash"], case
            projector.catch_up(batch_size=size)
            assert ids(log) == case["sections_after_retry"], case
            drawn = [[draw[0], draw[-1]] for draw in notes.draws]
            # Less than the reference: what was drawn and not stored is still there.
            assert drawn == [list(anchor[1:3]) for anchor in store_of(log).anchors()]
            assert len(drawn) <= len(case["draws"])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_invariant_79_a_crash_at_each_write_leaves_every_range_once(
    tmp_path: Path, size: int, after: bool
) -> None:
    for at in range(1, 5):
        with open_log(tmp_path / f"{at}.db") as log:
            fill(log, "SCCSSCSCS")
            notes = Notes()
            projector = projector_of(log, fold_of(log, notes, store=BreakingStore(log, at, after=after)))
            with pytest.raises(Broken):
                projector.catch_up(batch_size=size)
            assert len(ids(log)) == (at - 1) // size * size
            projector.catch_up(batch_size=size)
            assert ids(log) == ["1-2", "3-3", "4-6", "7-8"]
            assert notes.draws == [[1, 2], [3], [4, 5, 6], [7, 8]]
            # Another object knows nothing of what was drawn; the sections are the same.
            store_of(log).reset()
            consolidator_of(log, notes).rebuild(discard_generated=True)
            assert ids(log) == ["1-2", "3-3", "4-6", "7-8"]


class Pinned:
    """A summarizer whose effect happens once for a key, through a ledger that is opened anew each time."""

    def __init__(self, log: EventLog) -> None:
        self.effects = 0
        self.ledger = PinLedger(log.stream(STREAM), unit_id="chronicle")

    def __call__(self, events: Sequence[StoredEvent]) -> Consolidation:
        """Draw through the ledger."""
        key = pin_key("model_call", {"texts": [each.payload.get("text", "") for each in events]})

        def effect() -> str:
            self.effects += 1
            return f"effect {self.effects}"

        prose = self.ledger.resolve(key, kind="model_call", effect=effect, interpret=str)
        return Consolidation(prose, (key,))


def test_invariant_80_what_a_ledger_keeps_is_not_drawn_again_after_a_crash(log: EventLog) -> None:
    fill(log, "SCSSC")
    first = Pinned(log)
    with pytest.raises(Broken):
        projector_of(log, fold_of(log, first, store=BreakingStore(log, 2))).catch_up()
    assert ids(log) == []
    # As after a restart: nothing is left of the fold and its ledger but what is in the file.
    second = Pinned(log)
    projector_of(
        log, fold_of(log, second, keep=lambda section: second.ledger.commit() if log.in_transaction else None)
    ).catch_up()
    assert (first.effects, second.effects) == (2, 0)
    promoted = [each.payload for each in log.read() if each.envelope.type == "pin.promoted"]
    assert [(each["attempts"], each["result"]) for each in promoted] == [(2, "effect 1"), (2, "effect 2")]
    assert [(prose, pins) for _, prose, pins in told(log)] == [
        (each["result"], (each["key"],)) for each in promoted
    ]


def test_invariant_81_a_draw_that_raises_keeps_the_batches_before_it(log: EventLog) -> None:
    fill(log, "SCSCSC")
    failing = [True]

    def fail(events: Sequence[StoredEvent]) -> None:
        if events[0].seq == 5 and failing:
            raise Broken

    notes = Notes(fail)
    projector = projector_of(log, fold_of(log, notes))
    with pytest.raises(SummarizerFailed):
        projector.catch_up(batch_size=2)
    assert (ids(log), projector.position("chronicle")) == (["1-2", "3-4"], 4)
    failing.clear()
    projector.catch_up(batch_size=2)
    assert ids(log) == ["1-2", "3-4", "5-6"]
    assert notes.draws == [[1, 2], [3, 4], [5, 6], [5, 6]]


def test_what_was_drawn_before_a_draw_that_raises_is_not_drawn_again(log: EventLog) -> None:
    fill(log, "SCSCSC")
    failing = [True]

    def fail(events: Sequence[StoredEvent]) -> None:
        if events[0].seq == 5 and failing:
            raise Broken

    notes = Notes(fail)
    consolidator = consolidator_of(log, notes)
    with pytest.raises(SummarizerFailed):
        consolidator.consolidate()
    failing.clear()
    assert [anchor.section_id for anchor in consolidator.consolidate()] == ["1-2", "3-4", "5-6"]
    assert notes.draws == [[1, 2], [3, 4], [5, 6], [5, 6]]
    # And what was stored is nobody's any more: without it everything is drawn anew.
    projector = projector_of(log, fold_of(log, notes))
    projector.rebuild("chronicle", reset=store_of(log).reset, discard_generated=True)
    assert len(notes.draws) == 7


def test_a_draw_taken_before_something_was_withheld_is_not_used_after_it(log: EventLog) -> None:
    fill(log, "SSC")
    hidden: dict[int, int] = {}
    notes = Notes()
    fold = fold_of(
        log, notes, store=BreakingStore(log, 1), admission=Admission(hidden=lambda first, last: hidden)
    )
    projector = projector_of(log, fold)
    with pytest.raises(Broken):
        projector.catch_up()
    hidden[2] = 4
    projector.catch_up()
    assert notes.draws == [[1, 2, 3], [1, 3]]
    assert [prose for _, prose, _ in told(log)] == ["draw 2 of events 1 to 3"]


def test_killed_at_any_moment_nothing_is_lost_doubled_or_drawn_twice(tmp_path: Path) -> None:
    pattern = "SSCSC" * 30
    path = tmp_path / "log.db"

    def work(tell: Tell) -> None:
        # A parent's database must not be used in a child.
        with open_log(path) as log:
            consolidator = consolidator_of(
                log,
                Notes(lambda events: tell(events[-1].seq)),
                keep=lambda section: None,
                draw_seconds=0,
            )
            consolidator.consolidate()

    def fresh() -> None:
        for each in tmp_path.glob("log.db*"):
            each.unlink()
        with open_log(path) as log:
            fill(log, pattern)

    fresh()
    seconds = undisturbed(work)
    with open_log(path) as log:
        whole = [anchor[:4] for anchor in store_of(log).anchors()]
        assert len(whole) == 60
    chance = random.Random(7)
    fresh()
    drawn: list[int] = []
    for _ in range(KILLS):
        drawn += Victim(work).kill_after(chance.uniform(0, seconds))[1]
        with open_log(path) as log:
            stored = [anchor[:4] for anchor in store_of(log).anchors()]
            assert stored == whole[: len(stored)]
            assert store_of(log).holes() == []
            position = projector_of(log, fold_of(log, Notes())).position("chronicle")
            assert position >= (stored[-1][2] if stored else 0)
    drawn += Victim(work).end()
    with open_log(path) as log:
        assert [anchor[:4] for anchor in store_of(log).anchors()] == whole
    # With a transaction for each draw, a kill costs one of them at most.
    assert len(drawn) <= len(whole) + KILLS
    assert set(drawn) == {anchor[2] for anchor in whole}

"""A chronicle against the ranges that its log says, over any mix of what can be done with one."""

from __future__ import annotations

import shutil
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.chronicle.fold_cases import (
    Broken,
    Notes,
    by_hand,
    consolidator_of,
    fill,
    fold_of,
    open_log,
    projector_of,
    reader_of,
    store_of,
    told,
)
from tests.chronicle.test_chronicle_crash import BreakingStore
from tests.thorough import examples
from workbench.chronicle.errors import ChronicleFork
from workbench.chronicle.reconsolidation import reconsolidate
from workbench.chronicle.stretches import coverage

Range = tuple[int, int]


class ChronicleMachine(RuleBasedStateMachine):
    """Append, fold, write again, write by hand, carry, crash, rebuild."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="chronicle-model-"))
        self.files = 0
        self.pattern = ""
        self.by_hand = False
        self._open()

    def _open(self) -> None:
        self.files += 1
        self.log = open_log(self.folder / f"{self.files}.db")
        self.notes = Notes()
        self.consolidator = consolidator_of(self.log, self.notes)

    # -- what is expected ------------------------------------------------------------------

    def _closed(self) -> list[Range]:
        """The ranges of a fresh rebuild."""
        ends = [number for number, letter in enumerate(self.pattern, start=1) if letter in "Cc"]
        return list(zip([1, *(end + 1 for end in ends)], ends, strict=False))

    def _ranges(self) -> list[Range]:
        return [(anchor.from_seq, anchor.to_seq) for anchor in store_of(self.log).anchors()]

    # -- rules -----------------------------------------------------------------------------

    @initialize(pattern=st.text("SsCc", max_size=8))
    def begin(self, pattern: str) -> None:
        self.append(pattern)

    @rule(pattern=st.text("SsCc", max_size=5))
    def append(self, pattern: str) -> None:
        fill(self.log, pattern)
        self.pattern += pattern

    @rule()
    def consolidate(self) -> None:
        before = set(self._ranges())
        new = self.consolidator.consolidate()
        assert len({anchor.section_id for anchor in new}) == len(new)
        after = self._ranges()
        assert {anchor[1:3] for anchor in new} == set(after) - before
        self._nothing_closed_is_left()
        if not self.by_hand:
            assert after == self._closed()
        drawn = len(self.notes.draws)
        assert self.consolidator.consolidate() == []
        assert len(self.notes.draws) == drawn
        assert not self.consolidator.lag().due

    def _nothing_closed_is_left(self) -> None:
        store = store_of(self.log)
        assert store.holes() == []
        open_tail = self.pattern[store.consolidated_through() :]
        assert "C" not in open_tail.upper()

    @rule(size=st.integers(1, 4))
    def catch_up(self, size: int) -> None:
        projector_of(self.log, fold_of(self.log, self.notes)).catch_up(batch_size=size)

    @rule(upto=st.integers(1, 12))
    def stop_half_way(self, upto: int) -> None:
        drawn = len(self.notes.draws)
        self.consolidator.consolidate(cancelled=lambda: len(self.notes.draws) - drawn >= upto)

    @rule(at=st.integers(1, 4), size=st.integers(1, 3), after=st.booleans())
    def crash(self, at: int, size: int, after: bool) -> None:
        """A write breaks: whole batches before it stay, and nothing of its own."""
        before = told(self.log)
        store = BreakingStore(self.log, at, after=after)
        projector = projector_of(self.log, fold_of(self.log, self.notes, store=store))
        try:
            projector.catch_up(batch_size=size)
        except Broken:
            assert len(told(self.log)) - len(before) < at

    @precondition(lambda self: self._ranges())
    @rule(data=st.data())
    def write_again(self, data: st.DataObject) -> None:
        anchor = data.draw(st.sampled_from(store_of(self.log).anchors()))
        before = self._ranges()
        section = reconsolidate(store_of(self.log), reader_of(self.log), anchor.section_id, self.notes)
        assert section.anchor[1:4] == anchor[1:4] and section.anchor.supersedes == anchor.section_id
        assert self._ranges() == before

    @precondition(lambda self: self.pattern)
    @rule(data=st.data())
    def write_by_hand(self, data: st.DataObject) -> None:
        first = data.draw(st.integers(1, len(self.pattern)))
        last = data.draw(st.integers(first, min(first + 3, len(self.pattern))))
        section = by_hand(first, last)
        covered = {seq for a, b in self._ranges() for seq in range(a, b + 1)}
        if (first, last) in self._ranges():
            return
        if covered & set(range(first, last + 1)):
            with pytest.raises(ChronicleFork):
                store_of(self.log).append(section)
        else:
            store_of(self.log).append(section)
            self.by_hand = True

    @rule(data=st.data())
    def carry(self, data: st.DataObject) -> None:
        """Go on with a copy of the log, and an export of some of the ranges."""
        exported = store_of(self.log).export()
        kept = data.draw(st.sets(st.sampled_from(self._ranges()))) if exported else set()
        sections = [section for section in exported if section.anchor[1:3] in kept]
        self.log.close()
        self._open()
        fill(self.log, self.pattern)
        store = store_of(self.log)
        assert store.load(data.draw(st.permutations(sections))) == len(sections)
        assert store.load(sections) == 0
        assert store.export() == sections

    @rule()
    def rebuild(self) -> None:
        before = self._ranges()
        new = self.consolidator.rebuild(discard_generated=True)
        assert new == store_of(self.log).anchors()
        assert self._ranges() == self._closed()
        if not self.by_hand:
            assert set(before) <= set(self._ranges())
        assert all(anchor.supersedes is None for anchor, _, _ in told(self.log))
        self.by_hand = False

    @rule()
    def reopen(self) -> None:
        self.log.close()
        self.log = open_log(self.folder / f"{self.files}.db")
        self.consolidator = consolidator_of(self.log, self.notes)

    # -- what always holds -----------------------------------------------------------------

    @invariant()
    def current_sections_do_not_overlap(self) -> None:
        ranges = self._ranges()
        assert all(a[1] < b[0] for a, b in pairwise(ranges))
        assert all(1 <= a <= b <= len(self.pattern) for a, b in ranges)

    @invariant()
    def ranges_are_those_of_a_fresh_rebuild(self) -> None:
        if not self.by_hand:
            assert set(self._ranges()) <= set(self._closed())

    @invariant()
    def nothing_is_uncovered_below_consolidated_through(self) -> None:
        store = store_of(self.log)
        covered = {seq for a, b in self._ranges() for seq in range(a, b + 1)}
        through = store.consolidated_through()
        assert set(range(1, through + 1)) <= covered and through + 1 not in covered
        end = max(covered, default=0)
        assert {seq for a, b in store.holes() for seq in range(a, b + 1)} == set(range(1, end)) - covered
        assert coverage(store, len(self.pattern)).next_seq == end + 1

    @invariant()
    def no_private_event_was_seen(self) -> None:
        for draw in self.notes.draws:
            assert all(self.pattern[seq - 1] in "SC" for seq in draw)

    def teardown(self) -> None:
        self.log.close()
        shutil.rmtree(self.folder)


TestChronicle = ChronicleMachine.TestCase
TestChronicle.settings = settings(max_examples=examples(60), stateful_step_count=12, deadline=None)

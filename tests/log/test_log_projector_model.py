"""The log, its inline folds and its projections against lists in memory, over any sequence of calls."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.log.log_cases import Measured, TallyFold, assert_whole, found, said, stream
from tests.log.projection_cases import Broken, DrawFold, KeepFold, forget, kept, open_log, projector_of
from workbench.log import FOLDS, EventLog
from workbench.log.inline_rebuild import rebuild
from workbench.log.leftovers import leftovers
from workbench.log.projector import Projector
from workbench.log.replay import ReplayCancelled
from workbench.storage import fetch

NAMES = st.sampled_from(["a", "b"])
BATCHES = st.lists(st.sampled_from(["plum", "pear", ""]), max_size=4)
"""Each event by its word; the empty one is of a type that no background fold reads."""
SIZES = st.integers(1, 7)

STEPS: st.SearchStrategy[Any] = st.recursive(
    st.tuples(st.just("append"), NAMES, BATCHES) | st.tuples(st.just("catch up"), SIZES),
    lambda inner: st.tuples(st.just("level"), st.booleans(), st.lists(inner, max_size=4)),
    max_leaves=8,
)

Model = list[tuple[str, str]]
"""(stream, word)"""


class Undo(Exception):
    pass


class ProjectionMachine(RuleBasedStateMachine):
    """Two deterministic folds and a generative one: over the whole log, and over one stream."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="projector-model-"))
        self.model: Model = []
        self.positions = {"keep": 0, "draw": 0, "of_a": 0}
        self._open()

    def _open(self) -> None:
        self.log: EventLog = open_log(self.folder / "log.db", folds=(*FOLDS, TallyFold()))
        self.keep, self.draw = KeepFold(), DrawFold()
        self.of_a = KeepFold("of_a", number=lambda event: event.seq)
        self.projectors: dict[str, tuple[Projector, KeepFold]] = {}
        whole = projector_of(self.log, self.keep, self.draw)
        self.projectors["keep"] = whole, self.keep
        self.projectors["draw"] = whole, self.draw
        self.projectors["of_a"] = projector_of(self.log.stream(stream("a")), self.of_a), self.of_a

    # -- what is expected ------------------------------------------------------------------

    def _numbers(self, model: Model, name: str) -> list[int]:
        """Numbers of the events that a projection reads, in all of the log."""
        words = [word for where, word in model if name != "of_a" or where == "a"]
        return [number for number, word in enumerate(words, start=1) if word]

    def _end(self, model: Model, name: str) -> int:
        return len(model) if name != "of_a" else sum(1 for where, _ in model if where == "a")

    # -- rules -----------------------------------------------------------------------------

    def _append(self, model: Model, name: str, words: list[str]) -> None:
        self.log.append(stream(name), [said(word) if word else Measured(label="m") for word in words])
        model.extend((name, word) for word in words)

    def _run(self, model: Model, positions: dict[str, int], steps: list[Any]) -> None:
        for step in steps:
            if step[0] == "append":
                self._append(model, step[1], step[2])
            elif step[0] == "catch up":
                self._catch_up(model, positions, step[1])
            else:
                _, fails, inner = step
                copy, copied = list(model), dict(positions)
                try:
                    with self.log.transaction():
                        self._run(copy, copied, inner)
                        if fails:
                            raise Undo
                    model[:] = copy
                    positions.update(copied)
                except Undo:
                    pass

    def _catch_up(self, model: Model, positions: dict[str, int], size: int) -> None:
        for projector in (self.projectors["keep"][0], self.projectors["of_a"][0]):
            for name, reached in projector.catch_up(batch_size=size).items():
                positions[name] = self._end(model, name)
                assert reached == positions[name]

    @rule(name=NAMES, words=BATCHES)
    def append(self, name: str, words: list[str]) -> None:
        self._append(self.model, name, words)

    @rule(steps=st.lists(STEPS, max_size=4), fails=st.booleans())
    def transact(self, steps: list[Any], fails: bool) -> None:
        self._run(self.model, self.positions, [("level", fails, steps)])

    @rule(size=SIZES)
    def catch_up(self, size: int) -> None:
        self._catch_up(self.model, self.positions, size)

    @rule(name=st.sampled_from(["keep", "draw", "of_a"]), at=st.integers(1, 12), size=SIZES)
    def crash(self, name: str, at: int, size: int) -> None:
        """`apply` raises at an event: whole batches before it stay, and nothing of its own."""
        projector, fold = self.projectors[name]
        waiting = [n for n in self._numbers(self.model, name) if n > self.positions[name]]
        fold.breaks_at = at
        try:
            if at in waiting:
                with pytest.raises(Broken):
                    projector.catch_up(batch_size=size)
                whole = waiting.index(at) // size * size
                if whole:
                    self.positions[name] = waiting[whole - 1]
                if name == "draw":
                    # It comes after this one.
                    self.positions["keep"] = len(self.model)
            else:
                for done in projector.catch_up(batch_size=size):
                    self.positions[done] = self._end(self.model, done)
        finally:
            fold.breaks_at = None

    @rule(
        name=st.sampled_from(["keep", "draw", "of_a"]),
        size=SIZES,
        whole=st.booleans(),
        fails=st.booleans(),
    )
    def rebuild(self, name: str, size: int, whole: bool, fails: bool) -> None:
        projector, _ = self.projectors[name]

        def reset() -> None:
            with self.log.transaction():
                forget(self.log, name)()
                if fails:
                    raise Undo

        def again() -> int:
            return projector.rebuild(
                name, reset=reset, batch_size=size, reset_in_transaction=whole, discard_generated=True
            )

        if not fails:
            assert again() == self._end(self.model, name)
            self.positions[name] = self._end(self.model, name)
        elif whole:
            with pytest.raises(Undo):
                again()
        else:
            with pytest.raises(Undo):
                again()
            assert projector.position(name) == 0
            # The state that is still there would be folded a second time.
            forget(self.log, name)()
            self.positions[name] = 0

    @rule(size=SIZES, words=BATCHES, cancel=st.booleans())
    def rebuild_inline(self, size: int, words: list[str], cancel: bool) -> None:
        """Inline folds are rebuilt while another program appends; or it is called off half-way."""
        steps: list[int] = []

        def write(position: int, end: int) -> None:
            if not steps:
                self._append(self.model, "b", words)
            steps.append(position)

        def cancelled() -> bool:
            return cancel and len(steps) >= 1

        folds = (*FOLDS, TallyFold())
        try:
            reached = rebuild(
                self.log.database,
                folds,
                self.log.decoder,
                batch_size=size,
                progress=write,
                cancelled=cancelled,
            )
            assert reached <= len(self.model)
        except ReplayCancelled:
            assert cancel

    @rule()
    def reopen(self) -> None:
        self.log.close()
        self._open()

    # -- what always holds -----------------------------------------------------------------

    @invariant()
    def projections_hold_what_their_positions_say(self) -> None:
        for name, (projector, _) in self.projectors.items():
            position = projector.position(name)
            assert position == self.positions[name]
            assert kept(self.log, name) == [n for n in self._numbers(self.model, name) if n <= position]

    @invariant()
    def the_log_is_whole(self) -> None:
        assert_whole(self.log)
        for word in ("plum", "pear"):
            assert found(self.log, word) == [n for n, (_, w) in enumerate(self.model, 1) if w == word]
        with self.log.reader() as connection:
            tally: dict[str, int] = dict(
                fetch.rows(connection, "SELECT s.name, t.events FROM tally t JOIN streams s USING(stream_id)")
            )
            assert leftovers(connection) == []
        counts = {f"test/{name}": sum(1 for where, _ in self.model if where == name) for name in "ab"}
        assert tally == {name: count for name, count in counts.items() if count}

    def teardown(self) -> None:
        self.log.close()
        shutil.rmtree(self.folder)


TestProjectionMachine = ProjectionMachine.TestCase
TestProjectionMachine.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)

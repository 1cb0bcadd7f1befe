"""The log against a list in memory, over any sequence of calls."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.log.log_cases import TallyFold, assert_whole, found, new_log, said, stream
from workbench.log import FOLDS, EventLog, PendingEvent
from workbench.log.errors import ConcurrencyError, DuplicateEventId
from workbench.storage import fetch

NAMES = st.sampled_from(["a", "b", "c"])
WORDS = st.sampled_from(["plum", "pear", "fig"])
BATCHES = st.lists(st.tuples(WORDS, st.integers(0, 12)), max_size=4)
"""Each event: its word and its id; 0 draws a fresh id, so that the others often come twice."""

Model = list[tuple[str, str, int]]
"""(stream, word, id)"""

# A step inside a transaction: append, or a nested level that may fail.
STEPS: st.SearchStrategy[Any] = st.recursive(
    st.tuples(st.just("append"), NAMES, BATCHES),
    lambda inner: st.tuples(st.just("level"), st.booleans(), st.lists(inner, max_size=4)),
    max_leaves=8,
)


class Undo(Exception):
    pass


class LogMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="log-model-"))
        self.model: Model = []
        self.log: EventLog = self._open()

    def _open(self) -> EventLog:
        return new_log(self.folder / "log.db", folds=(*FOLDS, TallyFold()))

    @initialize(batch=BATCHES)
    def first(self, batch: list[tuple[str, int]]) -> None:
        self._append(self.model, "a", batch)

    # -- the same thing to both ------------------------------------------------------------

    def _append(self, model: Model, name: str, batch: list[tuple[str, int]]) -> None:
        events = [PendingEvent(payload=said(w), event_id=UUID(int=i) if i else None) for w, i in batch]
        taken = [i for _, _, i in model if i]
        ids = [i for _, i in batch if i]
        if len(set(ids)) < len(ids) or set(ids) & set(taken):
            with pytest.raises(DuplicateEventId):
                self.log.append(stream(name), events)
            return
        before = sum(1 for s, _, _ in model if s == name)
        receipt = self.log.append(stream(name), events, expected_last_seq=before)
        model.extend((name, w, i) for w, i in batch)
        assert receipt.last_seq == before + len(batch)
        assert receipt.first_position == len(model) - len(batch) + 1

    def _run(self, model: Model, steps: list[Any]) -> None:
        for step in steps:
            if step[0] == "append":
                self._append(model, step[1], step[2])
                continue
            _, fails, inner = step
            copy = list(model)
            try:
                with self.log.transaction():
                    self._run(copy, inner)
                    if fails:
                        raise Undo
                model[:] = copy
            except Undo:
                pass
            assert self.log.last_position() == len(model)

    @rule(name=NAMES, batch=BATCHES)
    def append(self, name: str, batch: list[tuple[str, int]]) -> None:
        self._append(self.model, name, batch)

    @rule(steps=st.lists(STEPS, max_size=4), fails=st.booleans())
    def transact(self, steps: list[Any], fails: bool) -> None:
        self._run(self.model, [("level", fails, steps)])

    @rule(name=NAMES, batch=BATCHES, off=st.sampled_from([-1, 1, 5]))
    def append_stale(self, name: str, batch: list[tuple[str, int]], off: int) -> None:
        seq = sum(1 for s, _, _ in self.model if s == name)
        with pytest.raises(ConcurrencyError):
            self.log.append(stream(name), [said(w) for w, _ in batch], expected_last_seq=seq + off)

    @rule()
    def reopen(self) -> None:
        self.log.close()
        self.log = self._open()

    # -- reads -----------------------------------------------------------------------------

    @rule(
        since=st.integers(-1, 30), limit=st.none() | st.integers(-1, 10), upto=st.none() | st.integers(0, 30)
    )
    def read(self, since: int, limit: int | None, upto: int | None) -> None:
        expected = [
            (n, *entry[:2])
            for n, entry in enumerate(self.model, start=1)
            if n > since and (upto is None or n <= upto)
        ]
        if limit is not None and limit >= 0:
            expected = expected[:limit]
        got = self.log.read(since, limit, upto_position=upto)
        assert [(e.position, e.stream.removeprefix("test/"), e.payload["text"]) for e in got] == expected

    @rule(
        name=NAMES,
        since=st.integers(-1, 12),
        limit=st.none() | st.integers(-1, 6),
        upto=st.none() | st.integers(0, 12),
    )
    def read_stream(self, name: str, since: int, limit: int | None, upto: int | None) -> None:
        mine = [w for s, w, _ in self.model if s == name]
        expected = [(n, w) for n, w in enumerate(mine, 1) if n > since and (upto is None or n <= upto)]
        if limit is not None and limit >= 0:
            expected = expected[:limit]
        store = self.log.stream(stream(name))
        assert [(e.seq, e.payload["text"]) for e in store.read(since, limit, upto_seq=upto)] == expected
        assert store.last_seq() == len(mine)

    @rule(word=WORDS)
    def search(self, word: str) -> None:
        assert found(self.log, word) == [n for n, (_, w, _) in enumerate(self.model, 1) if w == word]

    @invariant()
    def whole(self) -> None:
        assert_whole(self.log)
        with self.log.reader() as connection:
            tally: dict[str, int] = dict(
                fetch.rows(connection, "SELECT s.name, t.events FROM tally t JOIN streams s USING(stream_id)")
            )
        assert tally == {
            f"test/{name}": count
            for name in "abc"
            if (count := sum(1 for s, _, _ in self.model if s == name))
        }

    def teardown(self) -> None:
        self.log.close()
        shutil.rmtree(self.folder)


TestLogMachine = LogMachine.TestCase
TestLogMachine.settings = settings(max_examples=60, stateful_step_count=15, deadline=None)

"""Background folds: positions, batches, refusals, drawing, rebuilding."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.log.log_cases import SAID, Measured, said
from tests.log.projection_cases import (
    A,
    AwaitFold,
    B,
    Broken,
    DrawFold,
    KeepFold,
    OwnFold,
    forget,
    kept,
    open_log,
    projector_of,
    reader_of,
)
from workbench.errors import WorkbenchError
from workbench.log import EventLog, StoredEvent
from workbench.log.background_folds import (
    CannotResetInTransaction,
    DuplicateProjection,
    GenerativeRebuild,
    InvalidBatchSize,
    InvalidFold,
    NeedsAsync,
    OpenTransaction,
    UnknownProjection,
)
from workbench.log.errors import UnknownEventType
from workbench.log.positions import Positions
from workbench.log.projector import Projector
from workbench.storage import fetch


@pytest.fixture
def log(tmp_path: Path) -> Iterator[EventLog]:
    """Five events: positions 1 to 5 in stream a."""
    with open_log(tmp_path / "log.db") as log:
        log.append(A, [said(str(number)) for number in range(1, 6)])
        yield log


# -- invariants ------------------------------------------------------------------------------


async def test_invariant_31_a_batch_of_nothing_is_refused(log: EventLog) -> None:
    fold = KeepFold()
    projector = projector_of(log, fold)
    for size in (0, -1):
        with pytest.raises(InvalidBatchSize) as caught:
            projector.catch_up(batch_size=size)
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, WorkbenchError)
        with pytest.raises(ValueError, match="batch"):
            await projector.catch_up_async(batch_size=size)
        with pytest.raises(ValueError, match="batch"):
            projector.rebuild("keep", reset=forget(log), batch_size=size)
    assert fold.applied == []


def test_invariant_32_two_folds_of_one_name_are_refused(log: EventLog) -> None:
    with pytest.raises(DuplicateProjection) as caught:
        projector_of(log, KeepFold(), DrawFold("keep"))
    assert isinstance(caught.value, ValueError)


def test_invariant_33_catching_up_says_where_and_does_nothing_twice(log: EventLog) -> None:
    fold = KeepFold()
    projector = projector_of(log, fold)
    assert projector.catch_up() == {"keep": 5}
    assert projector.catch_up() == {"keep": 5}
    assert fold.applied == [1, 2, 3, 4, 5]
    assert kept(log) == [1, 2, 3, 4, 5]


def test_invariant_34_a_fold_that_raises_stops_the_later_ones(log: EventLog) -> None:
    first, second, third = KeepFold("first"), KeepFold("second"), KeepFold("third")
    second.breaks_at = 3
    projector = projector_of(log, first, second, third)
    with pytest.raises(Broken):
        projector.catch_up(batch_size=2)
    assert list(projector.positions()) == [("first", 5), ("second", 2), ("third", 0)]
    assert third.applied == []
    second.breaks_at = None
    assert projector.catch_up(batch_size=2) == {"first": 5, "second": 5, "third": 5}
    assert [kept(log, name) for name in ("first", "second", "third")] == [[1, 2, 3, 4, 5]] * 3


def test_invariant_35_rows_and_position_move_together_or_not_at_all(log: EventLog) -> None:
    fold = KeepFold()
    fold.breaks_at = 5
    projector = projector_of(log, fold)
    with pytest.raises(Broken):
        projector.catch_up()
    assert fold.applied == [1, 2, 3, 4, 5]
    assert kept(log) == []
    assert projector.position("keep") == 0


def test_invariant_36_only_a_generative_rebuild_needs_to_be_acknowledged(log: EventLog) -> None:
    keep, draw = KeepFold(), DrawFold()
    projector = projector_of(log, keep, draw)
    projector.catch_up()
    assert projector.rebuild("keep", reset=forget(log)) == 5
    assert kept(log) == [1, 2, 3, 4, 5]
    resets: list[str] = []
    with pytest.raises(GenerativeRebuild) as caught:
        projector.rebuild("draw", reset=lambda: resets.append("draw"))
    assert "discard_generated" in caught.value.hint
    assert (resets, projector.position("draw"), len(draw.drawn)) == ([], 5, 5)
    assert projector.rebuild("draw", reset=forget(log, "draw"), discard_generated=True) == 5
    assert draw.drawn == [1, 2, 3, 4, 5] * 2
    assert kept(log, "draw") == [1, 2, 3, 4, 5]


async def test_invariant_37_an_unknown_name_is_a_key_error(log: EventLog) -> None:
    projector = projector_of(log, KeepFold())
    calls: list[Callable[[], Any]] = [
        lambda: projector.position("other"),
        lambda: projector.rebuild("other", reset=forget(log), batch_size=0),
    ]
    for call in calls:
        with pytest.raises(UnknownProjection) as caught:
            call()
        assert isinstance(caught.value, KeyError)
        assert str(caught.value) == "there is no projection 'other' here"
    with pytest.raises(KeyError):
        await projector.rebuild_async("other", reset=forget(log))


@pytest.mark.parametrize(("in_transaction", "position"), [(False, 0), (True, 5)])
def test_invariant_38_a_reset_that_raises(log: EventLog, in_transaction: bool, position: int) -> None:
    projector = projector_of(log, KeepFold())
    projector.catch_up()

    def reset() -> None:
        forget(log)()
        raise Broken

    def undone() -> None:
        with log.transaction():
            reset()

    with pytest.raises(Broken):
        projector.rebuild("keep", reset=undone, reset_in_transaction=in_transaction)
    assert projector.position("keep") == position
    assert kept(log) == [1, 2, 3, 4, 5]
    assert projector.rebuild("keep", reset=forget(log), reset_in_transaction=in_transaction) == 5
    assert kept(log) == [1, 2, 3, 4, 5]


async def test_invariant_39_a_fold_that_owns_its_position(log: EventLog) -> None:
    own, other = OwnFold(), KeepFold()
    projector = projector_of(log, other, own)
    with log.transaction():
        with pytest.raises(OpenTransaction):
            projector.catch_up()
        with pytest.raises(OpenTransaction):
            await projector.catch_up_async()
        with pytest.raises(OpenTransaction):
            projector.rebuild("own", reset=forget(log, "own"))
        assert other.applied == []
        # The other fold is none of its business.
        assert projector.rebuild("keep", reset=forget(log)) == 5
    assert projector.catch_up(batch_size=2) == {"keep": 5, "own": 5}
    assert own.mine == 5
    assert Positions(log).read_position("own") == 0
    with pytest.raises(CannotResetInTransaction) as caught:
        projector.rebuild("own", reset=forget(log, "own"), reset_in_transaction=True)
    assert isinstance(caught.value, TypeError)
    assert projector.rebuild("own", reset=forget(log, "own")) == 5
    assert kept(log, "own") == [1, 2, 3, 4, 5]


class _Bare:
    """A fold as its author gave it."""

    def __init__(self, **has: Any) -> None:
        self.name = "bare"
        vars(self).update(has)

    def apply(self, event: StoredEvent, connection: apsw.Connection) -> None:
        raise AssertionError("never driven")


@pytest.mark.parametrize(
    ("has", "missing"),
    [
        ({"fold": "generative", "types": None}, "prepare"),
        ({"types": None}, "has no fold"),
        ({"fold": "deterministic"}, "has no types"),
    ],
)
async def test_invariant_40_a_fold_without_what_it_needs_is_refused(
    log: EventLog, has: dict[str, Any], missing: str
) -> None:
    keep = KeepFold()
    projector = projector_of(log, keep, _Bare(**has))
    with pytest.raises(InvalidFold, match=missing) as caught:
        projector.catch_up()
    assert isinstance(caught.value, AttributeError)
    with pytest.raises(InvalidFold, match=missing):
        await projector.catch_up_async()
    with pytest.raises(InvalidFold, match=missing):
        projector.rebuild("bare", reset=forget(log), discard_generated=True)
    assert keep.applied == []


async def test_invariant_41_drawing_holds_no_transaction(log: EventLog) -> None:
    open_ones: list[bool] = []
    draw = DrawFold(on_draw=lambda _: open_ones.append(log.in_transaction))

    async def note(_: StoredEvent) -> None:
        open_ones.append(log.in_transaction)

    projector = projector_of(log, draw, AwaitFold(on_draw=note))
    assert await projector.catch_up_async(batch_size=2) == {"draw": 5, "await": 5}
    assert open_ones == [False] * 10
    assert projector_of(log, DrawFold("sync", on_draw=draw.prepare)).catch_up() == {"sync": 5}
    assert open_ones == [False] * 15


# -- types and streams -----------------------------------------------------------------------


def test_a_fold_gets_only_the_types_it_declares_and_passes_over_the_rest(log: EventLog) -> None:
    log.append(B, [Measured(label="x")] * 3)
    said_only, measured, both = (
        KeepFold("said"),
        KeepFold("measured", types=frozenset({("test", "measured")})),
        KeepFold("both", types=None),
    )
    elsewhere = KeepFold("elsewhere", types=frozenset({("other", "said")}))
    projector = projector_of(log, said_only, measured, both, elsewhere)
    assert set(projector.catch_up(batch_size=2).values()) == {8}
    assert said_only.applied == [1, 2, 3, 4, 5]
    assert measured.applied == [6, 7, 8]
    assert both.applied == [1, 2, 3, 4, 5, 6, 7, 8]
    assert elsewhere.applied == []


def test_one_type_that_nobody_knows_stops_only_the_folds_that_declare_it(log: EventLog) -> None:
    log.append(A, [Measured(label="x"), said("7")])
    whole, one, bold = KeepFold("all", types=None), KeepFold("one"), KeepFold("bold", types=frozenset(
        {("test", "said"), ("test", "measured")}
    ))  # fmt: skip
    projector = Projector(log, reader_of(log, types=[SAID]), [whole, one, bold])
    with pytest.raises(UnknownEventType, match="position 6"):
        projector.catch_up(batch_size=3)
    assert list(projector.positions()) == [("all", 7), ("one", 7), ("bold", 3)]
    assert whole.applied == one.applied == [1, 2, 3, 4, 5, 7]


@pytest.mark.parametrize("of_stream", [False, True])
def test_reading_by_type_counts_and_yields_only_these(log: EventLog, of_stream: bool) -> None:
    log.append(A, [Measured(label="x"), said("7"), Measured(label="y")])
    reader = reader_of(log.stream(A) if of_stream else log)

    def read(*given: Any, types: list[str], **named: Any) -> list[int]:
        pairs = frozenset(("test", name) for name in types)
        return [reader.number(event) for event in reader.read_raw(*given, types=pairs, **named)]

    assert read(types=["measured"]) == [6, 8]
    assert read(0, 2, types=["said"]) == [1, 2]
    assert read(5, types=["said", "measured", "unheard of"]) == [6, 7, 8]
    assert read(6, types=["measured"], upto=7) == read(types=["unheard of"]) == read(types=[]) == []
    assert read(0, 1, types=["said"], where=lambda envelope: envelope.visibility == "private") == []
    limited = read(2, 1, types=["said"], where=lambda envelope: True)
    assert limited == [3]


def test_positions_are_kept_per_stream(log: EventLog) -> None:
    log.append(B, [said("b1"), said("b2")])
    by_seq = KeepFold(number=lambda event: event.seq)
    of_b = projector_of(log.stream(B), by_seq)
    assert of_b.catch_up(batch_size=1) == {"keep": 2}
    assert projector_of(log.stream(A), KeepFold()).position("keep") == 0
    assert projector_of(log.stream(A), KeepFold()).catch_up() == {"keep": 5}
    assert projector_of(log, KeepFold()).catch_up() == {"keep": 7}
    assert Positions(log).all() == [("keep", "", 7), ("keep", "test/a", 5), ("keep", "test/b", 2)]
    assert by_seq.applied == [1, 2]
    assert projector_of(log.stream("test/none"), KeepFold()).catch_up() == {"keep": 0}


def test_a_reader_of_another_stream_is_refused(log: EventLog) -> None:
    with pytest.raises(ValueError, match="another stream"):
        Projector(log.stream(A), reader_of(log), [])
    with pytest.raises(ValueError, match="another stream"):
        Projector(log, reader_of(log.stream(B)), [])


@pytest.mark.parametrize("batch_size", [1, 2, 5, 1000])
def test_the_size_of_a_batch_changes_nothing(log: EventLog, batch_size: int) -> None:
    log.append(B, [Measured(label="x"), said("7"), Measured(label="y")])
    projector = projector_of(log, KeepFold())
    assert projector.catch_up(batch_size=batch_size) == {"keep": 8}
    assert kept(log) == [1, 2, 3, 4, 5, 7]


# -- drawing ---------------------------------------------------------------------------------


def test_what_is_appended_while_drawing_comes_with_the_next_batch(log: EventLog) -> None:
    def add(event: StoredEvent) -> None:
        if event.position in (2, 6):
            log.append(B, [said("more")])

    draw = DrawFold(on_draw=add)
    assert projector_of(log, draw).catch_up() == {"draw": 7}
    assert draw.drawn == draw.applied == [1, 2, 3, 4, 5, 6, 7]


def test_a_draw_that_raises_keeps_the_batches_before_it(log: EventLog) -> None:
    broken = [True]

    def fail(event: StoredEvent) -> None:
        if event.position == 4 and broken:
            raise Broken

    draw = DrawFold(on_draw=fail)
    projector = projector_of(log, draw)
    with pytest.raises(Broken):
        projector.catch_up(batch_size=2)
    assert (projector.position("draw"), kept(log, "draw"), draw.drawn) == (2, [1, 2], [1, 2, 3, 4])
    broken.clear()
    assert projector.catch_up(batch_size=2) == {"draw": 5}
    assert draw.drawn == [1, 2, 3, 4, 3, 4, 5]
    assert kept(log, "draw") == [1, 2, 3, 4, 5]


async def test_folding_ends_where_it_is_told_to_and_goes_on_there(log: EventLog) -> None:
    draw, keep = DrawFold(), KeepFold()
    projector = projector_of(log, draw, keep)
    assert projector.catch_up(upto=3) == {"draw": 3, "keep": 3}
    assert await projector.catch_up_async(batch_size=1, upto=4) == {"draw": 4, "keep": 4}
    assert projector.catch_up(upto=2) == {"draw": 4, "keep": 4}
    assert projector.catch_up() == {"draw": 5, "keep": 5}
    assert draw.applied == draw.drawn == keep.applied == [1, 2, 3, 4, 5]


async def test_what_was_drawn_before_it_was_stopped_is_kept(log: EventLog) -> None:
    draw, awaiting = DrawFold(), AwaitFold()
    projector = projector_of(log, draw)
    assert projector.catch_up(stop=lambda: len(draw.drawn) >= 2) == {"draw": 2}
    assert projector.catch_up(stop=lambda: True) == {"draw": 2}
    assert await projector_of(log, awaiting).catch_up_async(stop=lambda: len(awaiting.drawn) >= 3) == {
        "await": 3
    }
    assert (draw.drawn, awaiting.drawn) == (kept(log, "draw"), kept(log, "await")) == ([1, 2], [1, 2, 3])


async def test_long_draws_are_kept_one_by_one(log: EventLog) -> None:
    seen: list[list[int]] = []
    draw = DrawFold(on_draw=lambda event: seen.append(kept(log, "draw")))
    Projector(log, reader_of(log), [draw], draw_seconds=0).catch_up()
    assert seen == [[], [1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]


def test_a_fold_is_told_where_batches_begin_and_that_they_are_kept(log: EventLog) -> None:
    told: list[str] = []

    class Follows(DrawFold):
        def start_batch(self) -> None:
            told.append("start")

        def end_batch(self) -> None:
            assert not log.in_transaction
            told.append(f"end {len(self.applied)}")

    fold = Follows()
    projector_of(log, fold).catch_up(batch_size=3)
    assert told == ["start", "end 3", "start", "end 5"]
    fold.breaks_at = 6
    log.append(A, [said("6")])
    with pytest.raises(Broken):
        projector_of(log, fold).catch_up()
    assert told[4:] == ["start"]


class _EitherFold(AwaitFold):
    """Has both ways to draw, and says which one works."""

    def __init__(self, synchronously: bool) -> None:
        super().__init__("either")
        self.prepares_synchronously = synchronously

    def prepare(self, event: StoredEvent) -> None:
        """Note the draw as a negative number."""
        self.drawn.append(-event.position)


async def test_a_fold_that_can_only_await_is_refused_before_anything_is_folded(log: EventLog) -> None:
    for fold in (AwaitFold("either"), _EitherFold(False)):
        keep = KeepFold()
        projector = projector_of(log, keep, fold)
        resets: list[str] = []
        for call in (
            projector.catch_up,
            lambda p=projector, r=resets: p.rebuild(
                "either", reset=lambda: r.append("reset"), discard_generated=True
            ),
        ):
            with pytest.raises(NeedsAsync) as caught:
                call()
            assert isinstance(caught.value, TypeError)
        assert (keep.applied, fold.drawn, resets) == ([], [], [])
    assert await projector.catch_up_async() == {"keep": 5, "either": 5}
    assert fold.drawn == [1, 2, 3, 4, 5]
    again = projector.rebuild_async("either", reset=forget(log, "either"), discard_generated=True)
    assert await again == 5
    assert kept(log, "either") == [1, 2, 3, 4, 5]


async def test_a_fold_with_both_ways_draws_as_it_is_driven(log: EventLog) -> None:
    fold = _EitherFold(True)
    projector = projector_of(log, fold)
    projector.catch_up()
    assert fold.drawn == [-1, -2, -3, -4, -5]
    log.append(A, [said("6")])
    await projector.catch_up_async()
    assert fold.drawn[5:] == [6]


async def test_awaiting_inside_a_transaction_is_refused_and_drawing_there_is_not(log: EventLog) -> None:
    awaiting, draw = AwaitFold(), DrawFold()
    with log.transaction():
        with pytest.raises(OpenTransaction, match="await"):
            await projector_of(log, awaiting).catch_up_async()
        assert projector_of(log, draw).catch_up() == {"draw": 5}
    assert awaiting.drawn == []
    with pytest.raises(KeyError), log.transaction():
        log.append(A, [said("6")])
        assert projector_of(log, draw).catch_up() == {"draw": 6}
        raise KeyError
    assert projector_of(log, draw).position("draw") == 5
    assert kept(log, "draw") == [1, 2, 3, 4, 5]


async def test_a_generative_rebuild_is_refused_asynchronously_too(log: EventLog) -> None:
    with pytest.raises(GenerativeRebuild):
        await projector_of(log, AwaitFold()).rebuild_async("await", reset=forget(log))


# -- several drivers -------------------------------------------------------------------------


def test_a_batch_that_another_driver_folded_meanwhile_is_left_alone(log: EventLog, tmp_path: Path) -> None:
    with open_log(tmp_path / "log.db") as other:

        def overtake(event: StoredEvent) -> None:
            if event.position == 3:
                assert projector_of(other, DrawFold()).catch_up(batch_size=4) == {"draw": 5}

        draw = DrawFold(on_draw=overtake)
        assert projector_of(log, draw).catch_up(batch_size=3) == {"draw": 5}
    assert kept(log, "draw") == [1, 2, 3, 4, 5]
    assert draw.drawn == [1, 2, 3]
    assert draw.applied == []


async def test_two_tasks_fold_each_event_once(log: EventLog) -> None:
    turn = asyncio.Event()

    async def wait_once(event: StoredEvent) -> None:
        if event.position == 1 and not turn.is_set():
            turn.set()
            await asyncio.sleep(0)

    projector = projector_of(log, AwaitFold(on_draw=wait_once))
    both = await asyncio.gather(*(projector.catch_up_async(batch_size=2) for _ in range(2)))
    assert both == [{"await": 5}, {"await": 5}]
    assert kept(log, "await") == [1, 2, 3, 4, 5]


def test_the_table_of_positions_is_strict(log: EventLog) -> None:
    with log.reader() as connection:
        sql = "SELECT strict FROM pragma_table_list WHERE name = 'projection_positions'"
        assert fetch.rows(connection, sql) == [(1,)]

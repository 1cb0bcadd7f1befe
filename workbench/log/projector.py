"""Driving background folds along a stream or the whole log (contract log, §5; DESIGN §2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import NamedTuple

from workbench.log.background_folds import (
    AsyncGenerativeFold,
    CannotResetInTransaction,
    DuplicateProjection,
    Fold,
    FollowsBatches,
    GenerativeFold,
    GenerativeRebuild,
    InvalidBatchSize,
    OpenTransaction,
    OwnsPosition,
    UnknownProjection,
    check,
    is_generative,
    refuse_async_only,
)
from workbench.log.event_log import EventLog, Stream
from workbench.log.event_reader import EventReader
from workbench.log.positions import Positions, commit_position, read_position
from workbench.log.registry import StoredEvent

logger = logging.getLogger(__name__)

BATCH_SIZE = 1000

DRAW_SECONDS = 1.0
"""After drawing for so long a batch is applied as far as it has come: what was paid for is soon kept."""

Stop = Callable[[], bool]
"""Asked before each draw and each batch whether to end here."""


def never() -> bool:
    return False


class _Batch(NamedTuple):
    """The next events of one fold."""

    since: int
    upto: int
    """The position after it: no event of the fold's types lies between the last of `events` and this."""
    events: list[StoredEvent]


class Projector:
    """Brings folds to the end of what `reader` reads, one after another, in batches.

    A batch and its position are one transaction. Several drivers, in other threads or programs, may
    follow one projection: a batch that somebody else folded meanwhile is left alone. What a
    generative fold drew for it is then drawn in vain, unless its own resolver keeps it.
    """

    def __init__(
        self,
        store: EventLog | Stream,
        reader: EventReader,
        folds: Sequence[Fold],
        *,
        draw_seconds: float = DRAW_SECONDS,
    ) -> None:
        """Follow what `reader` reads of `store`; a batch ends early once its draws took `draw_seconds`.

        Raises `DuplicateProjection` for two folds of one name, `ValueError` for a reader of another
        stream than the store's.
        """
        if reader.scope != (store.ref.name if isinstance(store, Stream) else ""):
            raise ValueError("the reader reads another stream than the projector follows")
        self._log = store.log if isinstance(store, Stream) else store
        self._reader = reader
        self._stream = reader.scope
        self._folds = {fold.name: fold for fold in folds}
        if len(self._folds) != len(folds):
            raise DuplicateProjection("two folds have one name")
        self._positions = Positions(self._log)
        self._draw_seconds = draw_seconds

    # -- positions -------------------------------------------------------------------------

    def position(self, name: str) -> int:
        """How far a fold has come; `UnknownProjection` for a name that is none of its folds'."""
        return self._position(self._fold(name))

    def positions(self) -> Iterator[tuple[str, int]]:
        """Each fold's name and position, in the order in which they are driven."""
        return ((name, self._position(fold)) for name, fold in self._folds.items())

    def _fold(self, name: str) -> Fold:
        fold = self._folds.get(name)
        if fold is None:
            raise UnknownProjection(f"there is no projection {name!r} here")
        return fold

    def _position(self, fold: Fold) -> int:
        if isinstance(fold, OwnsPosition):
            return fold.read_position() or 0
        return self._positions.read_position(fold.name, self._stream)

    # -- catching up -----------------------------------------------------------------------

    def catch_up(
        self, *, batch_size: int = BATCH_SIZE, upto: int | None = None, stop: Stop = never
    ) -> dict[str, int]:
        """Fold everything new, or what is numbered up to `upto`; each fold's new position.

        Once `stop` says so, what is drawn by then is applied and the rest is left for the next time. A
        fold that raises stops those after it; whole batches stay folded. Refused before anything is
        folded: `InvalidBatchSize`, `InvalidFold`, `NeedsAsync` (a fold that only draws by awaiting),
        `OpenTransaction` (a fold that owns its position, inside a transaction).
        """
        folds = self._folds.values()
        _check(folds, batch_size)
        for fold in folds:
            refuse_async_only(fold)
        self._refuse_open_transaction(folds)
        return {name: self._drive(fold, batch_size, upto, stop) for name, fold in self._folds.items()}

    async def catch_up_async(
        self, *, batch_size: int = BATCH_SIZE, upto: int | None = None, stop: Stop = never
    ) -> dict[str, int]:
        """As `catch_up`, awaiting each draw of a fold that has `prepare_async`.

        Draws of two folds never run at once, and applying never awaits. A fold that awaits is
        refused inside a transaction (`OpenTransaction`): the write lock would be held meanwhile.
        """
        _check(self._folds.values(), batch_size)
        self._refuse_open_transaction(self._folds.values(), awaiting=True)
        return {
            name: await self._drive_async(fold, batch_size, upto, stop) for name, fold in self._folds.items()
        }

    def _refuse_open_transaction(self, folds: Iterable[Fold], *, awaiting: bool = False) -> None:
        if not self._log.in_transaction:
            return
        for fold in folds:
            if isinstance(fold, OwnsPosition):
                raise OpenTransaction(f"the fold {fold.name} keeps its position outside this transaction")
            if awaiting and is_generative(fold) and isinstance(fold, AsyncGenerativeFold):
                raise OpenTransaction(f"the fold {fold.name} would await while the log is locked")

    def _drive(self, fold: Fold, batch_size: int, upto: int | None = None, stop: Stop = never) -> int:
        while batch := self._next(fold, batch_size, upto, stop):
            if is_generative(fold):
                batch = self._drawn(fold, batch, stop)
            self._keep(fold, batch)
        return self._position(fold)

    async def _drive_async(
        self, fold: Fold, batch_size: int, upto: int | None = None, stop: Stop = never
    ) -> int:
        while batch := self._next(fold, batch_size, upto, stop):
            if is_generative(fold):
                if isinstance(fold, AsyncGenerativeFold):
                    batch = await self._drawn_async(fold, batch, stop)
                else:
                    batch = self._drawn(fold, batch, stop)
            self._keep(fold, batch)
        return self._position(fold)

    def _next(self, fold: Fold, batch_size: int, upto: int | None, stop: Stop) -> _Batch | None:
        since, end = self._position(fold), self._reader.last()
        if upto is not None:
            end = min(end, upto)
        if since >= end or stop():
            return None
        types = fold.types
        knows = self._reader.knows if types is None else None
        events = list(self._reader.read_raw(since, batch_size, upto=end, where=knows, types=types))
        # With fewer events than asked for, the rest up to the end is nothing that the fold reads.
        reached = self._reader.number(events[-1]) if len(events) == batch_size else end
        return _Batch(since, reached, events)

    def _drawn(self, fold: Fold, batch: _Batch, stop: Stop) -> _Batch:
        """Prepare the events of a batch; as much of it as was prepared before it was time to stop."""
        assert isinstance(fold, GenerativeFold)
        enough = self._begun(fold, stop)
        for done, event in enumerate(batch.events):
            if done and enough():
                return self._cut(batch, done)
            fold.prepare(event)
        return batch

    async def _drawn_async(self, fold: AsyncGenerativeFold, batch: _Batch, stop: Stop) -> _Batch:
        enough = self._begun(fold, stop)
        for done, event in enumerate(batch.events):
            if done and enough():
                return self._cut(batch, done)
            await fold.prepare_async(event)
        return batch

    def _begun(self, fold: object, stop: Stop) -> Stop:
        """Tell a fold that a batch begins; says when to end it."""
        if isinstance(fold, FollowsBatches):
            fold.start_batch()
        until = monotonic() + self._draw_seconds
        return lambda: monotonic() >= until or stop()

    def _cut(self, batch: _Batch, count: int) -> _Batch:
        events = batch.events[:count]
        return _Batch(batch.since, self._reader.number(events[-1]), events)

    def _keep(self, fold: Fold, batch: _Batch) -> None:
        """Apply a batch and move the position, unless another driver did since it was read."""
        owns = isinstance(fold, OwnsPosition)
        with self._log.transaction() as transaction:
            connection = transaction.connection
            found = self._position(fold) if owns else read_position(connection, fold.name, self._stream)
            if found != batch.since:
                return
            for event in batch.events:
                fold.apply(event, connection)
            if not owns:
                commit_position(connection, fold.name, batch.upto, self._stream)
        if isinstance(fold, OwnsPosition):
            fold.commit_position(batch.upto)
        if isinstance(fold, FollowsBatches):
            fold.end_batch()
        logger.debug("%s: %d events, now at %d", fold.name, len(batch.events), batch.upto)

    # -- rebuilding ------------------------------------------------------------------------

    def rebuild(
        self,
        name: str,
        *,
        reset: Callable[[], None],
        batch_size: int = BATCH_SIZE,
        reset_in_transaction: bool = False,
        discard_generated: bool = False,
    ) -> int:
        """Fold everything again from the first event; the position reached.

        `reset` empties what the fold has built. The position goes to 0 before it, in a step of its
        own, so that a reset which fails leaves a fold that starts over; with `reset_in_transaction`
        both are one transaction, and such a failure changes nothing.

        Raises, with nothing touched and in this order: `UnknownProjection`; `GenerativeRebuild` for
        a generative fold unless `discard_generated` says that what it drew may go; and what
        `catch_up` refuses; `CannotResetInTransaction` for a fold that owns its position.
        """
        fold = self._rebuildable(name, batch_size, discard_generated)
        refuse_async_only(fold)
        self._refuse_open_transaction([fold])
        self._reset(fold, reset, in_transaction=reset_in_transaction)
        return self._drive(fold, batch_size)

    async def rebuild_async(
        self,
        name: str,
        *,
        reset: Callable[[], None],
        batch_size: int = BATCH_SIZE,
        reset_in_transaction: bool = False,
        discard_generated: bool = False,
    ) -> int:
        """As `rebuild`, driven as by `catch_up_async`."""
        fold = self._rebuildable(name, batch_size, discard_generated)
        self._refuse_open_transaction([fold], awaiting=True)
        self._reset(fold, reset, in_transaction=reset_in_transaction)
        return await self._drive_async(fold, batch_size)

    def _rebuildable(self, name: str, batch_size: int, discard_generated: bool) -> Fold:
        fold = self._fold(name)
        check(fold)
        if is_generative(fold) and not discard_generated:
            raise GenerativeRebuild(
                f"rebuilding {name} throws away what it generated", hint="say so: discard_generated=True"
            )
        _check([fold], batch_size)
        return fold

    def _reset(self, fold: Fold, reset: Callable[[], None], *, in_transaction: bool) -> None:
        if isinstance(fold, OwnsPosition):
            if in_transaction:
                raise CannotResetInTransaction(f"the fold {fold.name} keeps its position outside the log")
            fold.commit_position(0)
            reset()
        elif in_transaction:
            with self._log.transaction():
                self._positions.commit_position(fold.name, 0, self._stream)
                reset()
        else:
            self._positions.commit_position(fold.name, 0, self._stream)
            reset()


def _check(folds: Iterable[Fold], batch_size: int) -> None:
    if batch_size < 1:
        raise InvalidBatchSize(f"a batch of {batch_size} events")
    for fold in folds:
        check(fold)

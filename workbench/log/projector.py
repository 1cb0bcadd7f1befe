"""Driving background folds along a stream or the whole log (contract log, §5; DESIGN §2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from workbench.log.background_folds import (
    AsyncGenerativeFold,
    CannotResetInTransaction,
    DuplicateProjection,
    Fold,
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
from workbench.log.event_reader import EventReader, Where
from workbench.log.positions import Positions, commit_position, read_position
from workbench.log.registry import StoredEvent

logger = logging.getLogger(__name__)

BATCH_SIZE = 1000


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

    def __init__(self, store: EventLog | Stream, reader: EventReader, folds: Sequence[Fold]) -> None:
        """Follow what `reader` reads of `store`.

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

    def catch_up(self, *, batch_size: int = BATCH_SIZE) -> dict[str, int]:
        """Fold everything new; each fold's new position.

        A fold that raises stops those after it; whole batches stay folded. Refused before anything
        is folded: `InvalidBatchSize`, `InvalidFold`, `NeedsAsync` (a fold that only draws by
        awaiting), `OpenTransaction` (a fold that owns its position, inside a transaction).
        """
        folds = self._folds.values()
        _check(folds, batch_size)
        for fold in folds:
            refuse_async_only(fold)
        self._refuse_open_transaction(folds)
        return {name: self._drive(fold, batch_size) for name, fold in self._folds.items()}

    async def catch_up_async(self, *, batch_size: int = BATCH_SIZE) -> dict[str, int]:
        """As `catch_up`, awaiting each draw of a fold that has `prepare_async`.

        Draws of two folds never run at once, and applying never awaits. A fold that awaits is
        refused inside a transaction (`OpenTransaction`): the write lock would be held meanwhile.
        """
        _check(self._folds.values(), batch_size)
        self._refuse_open_transaction(self._folds.values(), awaiting=True)
        return {name: await self._drive_async(fold, batch_size) for name, fold in self._folds.items()}

    def _refuse_open_transaction(self, folds: Iterable[Fold], *, awaiting: bool = False) -> None:
        if not self._log.in_transaction:
            return
        for fold in folds:
            if isinstance(fold, OwnsPosition):
                raise OpenTransaction(f"the fold {fold.name} keeps its position outside this transaction")
            if awaiting and is_generative(fold) and isinstance(fold, AsyncGenerativeFold):
                raise OpenTransaction(f"the fold {fold.name} would await while the log is locked")

    def _drive(self, fold: Fold, batch_size: int) -> int:
        while batch := self._next(fold, batch_size):
            if is_generative(fold):
                assert isinstance(fold, GenerativeFold)
                for event in batch.events:
                    fold.prepare(event)
            self._keep(fold, batch)
        return self._position(fold)

    async def _drive_async(self, fold: Fold, batch_size: int) -> int:
        while batch := self._next(fold, batch_size):
            if is_generative(fold):
                for event in batch.events:
                    if isinstance(fold, AsyncGenerativeFold):
                        await fold.prepare_async(event)
                    else:
                        assert isinstance(fold, GenerativeFold)
                        fold.prepare(event)
            self._keep(fold, batch)
        return self._position(fold)

    def _next(self, fold: Fold, batch_size: int) -> _Batch | None:
        since, end = self._position(fold), self._reader.last()
        if since >= end:
            return None
        events = list(self._reader.read_raw(since, batch_size, upto=end, where=self._wanted(fold)))
        # With fewer events than asked for, the rest up to the end is nothing that the fold reads.
        upto = self._reader.number(events[-1]) if len(events) == batch_size else end
        return _Batch(since, upto, events)

    def _wanted(self, fold: Fold) -> Where:
        types = fold.types
        if types is None:
            return self._reader.knows
        return lambda envelope: (envelope.namespace, envelope.type) in types

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

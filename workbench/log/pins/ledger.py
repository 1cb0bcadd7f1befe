"""The live resolver: draws once for each key of a unit of work, and keeps books (contract §6)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from uuid import UUID

from workbench.log.errors import SecretInIdentifier
from workbench.log.event_log import Stream
from workbench.log.identifiers import new_event_id
from workbench.log.pins.errors import PinOfAnotherKind
from workbench.log.pins.events import Discarded, PinDiverged, PinPromoted, PinsAbandoned
from workbench.log.pins.in_flight import InFlight
from workbench.log.pins.resolver import PinResolver, S, T
from workbench.log.pins.results import encoded
from workbench.log.pins.sqlite import PinScratch, ScratchRow
from workbench.log.ports import JsonValue
from workbench.log.registry import PendingEvent
from workbench.log.streams import pins_stream

logger = logging.getLogger(__name__)


class PinLedger(PinResolver):
    """The pins of one unit of work that draws for one stream.

    A result is kept the moment it is there, outside any transaction of the log, so that it outlives a crash
    of what drew it: a ledger with the same `unit_id` goes on with it. `commit` writes the unit's pins into
    the stream `pins/<stream>`, `abandon` gives them up; either way the unit is empty afterwards and draws
    anew. Other units see none of them.

    Tasks that await one key draw it once. Of threads or programs that draw one key of one unit at the same
    time each draws, and all get what was kept first.
    """

    def __init__(
        self,
        stream: Stream,
        *,
        unit_id: str | None = None,
        promote_as: Callable[[ScratchRow], PendingEvent] | None = None,
    ) -> None:
        """Draw for `stream`, in a new unit or in one that was left unfinished.

        `promote_as` makes of each committed pin the event that is written in the place of `pin.promoted`;
        the correlation id of the commit is then its own affair. Raises `SecretInIdentifier` for names that
        the log would refuse after everything was drawn.
        """
        self._log = stream.log
        self._drawn_for = stream.ref.name
        self._books = stream.log.stream(pins_stream(self._drawn_for))
        self.unit_id = str(UUID(bytes=new_event_id())) if unit_id is None else unit_id
        self._promote_as = promote_as
        self._scratch = PinScratch(stream.log)
        self._in_flight = InFlight()
        if any(self._log.redactor.redact_text(name)[1] for name in (self.unit_id, self._drawn_for)):
            raise SecretInIdentifier(
                "the name of a unit of work, or of its stream, holds what looks like a secret",
                hint="name it otherwise; nothing was drawn",
            )

    # -- drawing ---------------------------------------------------------------------------

    def resolve(
        self, key: str, *, kind: str, effect: Callable[[], object], interpret: Callable[[JsonValue], T]
    ) -> T:
        """The pin of that key, drawn if there is none; see `PinResolver`.

        What `effect` gives is filtered before it is kept. Raises `PinOfAnotherKind`, `OpenTransaction` where
        the thread holds a transaction, and what `results.encoded` raises; nothing is kept then. What
        `interpret` raises leaves the pin.
        """
        row = self._reused(key, kind)
        if row is None:
            row = self._kept(key, kind, effect())
        return interpret(row.result)

    async def resolve_async(
        self,
        key: str,
        *,
        kind: str,
        effect: Callable[[], Awaitable[object]],
        interpret: Callable[[JsonValue], T],
    ) -> T:
        """As `resolve`. If the task that draws fails, one that waits for the same key draws in its place."""
        async with self._in_flight.turn(key):
            row = self._reused(key, kind)
            if row is None:
                row = self._kept(key, kind, await effect())
        return interpret(row.result)

    def resolve_stream(
        self,
        key: str,
        *,
        kind: str,
        effect: Callable[[], AbstractAsyncContextManager[S]],
        capture: Callable[[S], object],
        interpret: Callable[[JsonValue], S],
    ) -> AbstractAsyncContextManager[S]:
        """As `resolve`, for what is read while it comes; others who ask for the key wait for its end.

        Only the pin is filtered, not what is read while it comes.
        """
        return self._stream(key, kind, effect, capture, interpret)

    @asynccontextmanager
    async def _stream(
        self,
        key: str,
        kind: str,
        effect: Callable[[], AbstractAsyncContextManager[S]],
        capture: Callable[[S], object],
        interpret: Callable[[JsonValue], S],
    ) -> AsyncIterator[S]:
        async with self._in_flight.turn(key):
            row = self._reused(key, kind)
            if row is None:
                async with effect() as stream:
                    try:
                        yield stream
                    finally:
                        self._kept(key, kind, capture(stream))
                return
        yield interpret(row.result)

    def adopt(self, key: str, *, kind: str, result: object) -> None:
        """Pin a result that came from elsewhere; a pin that is there stays as it is.

        Raises what `resolve` raises before and after the effect.
        """
        row = self._found(key, kind)
        if row is None:
            text = encoded(result, self._log.redactor)
            _check_kind(self._scratch.adopt(self.unit_id, key, kind, text), kind)

    def mark_diverged(self, missed_key: str, *, kind: str) -> None:
        """Note that the unit is a replay that met its first miss; what is noted first stays."""
        self._scratch.mark(self.unit_id, missed_key, kind)

    def pinned(self, key: str) -> ScratchRow | None:
        """The unit's pin of that key, if there is one."""
        return self._scratch.get(self.unit_id, key) if key else None

    def pins(self) -> list[ScratchRow]:
        """The unit's pins, in the order in which they were drawn."""
        return self._scratch.rows(self.unit_id)

    def _found(self, key: str, kind: str) -> ScratchRow | None:
        if not key:
            raise ValueError("a pin needs a key")
        self._scratch.refuse_transaction()
        row = self._scratch.get(self.unit_id, key)
        if row is not None:
            _check_kind(row, kind)
        return row

    def _reused(self, key: str, kind: str) -> ScratchRow | None:
        row = self._found(key, kind)
        if row is not None:
            self._scratch.bump(self.unit_id, key)
            logger.debug("unit %s: %s again", self.unit_id, key)
        return row

    def _kept(self, key: str, kind: str, result: object) -> ScratchRow:
        text = encoded(result, self._log.redactor)
        row = self._scratch.put(self.unit_id, key, kind, text)
        _check_kind(row, kind)
        logger.debug("unit %s: %s pinned", self.unit_id, key)
        return row

    # -- the end of a unit -----------------------------------------------------------------

    def commit(self, *, correlation_id: UUID | None = None) -> int:
        """Write one `pin.promoted` for each pin, in the order of drawing, and empty the unit.

        A `pin.diverged` comes first if the unit went on from a replay. A unit without pins writes nothing.
        It is one transaction, or a part of the caller's. Returns the last seq of the stream of pins. Raises
        what `EventLog.append` raises; the unit stays as it is then.
        """
        if self._scratch.is_empty(self.unit_id):
            # Whoever draws nothing commits for each section all the same.
            return self._books.last_seq()
        with self._log.transaction() as transaction:
            rows = self._scratch.rows(self.unit_id)
            if rows:
                missed = self._scratch.missed(self.unit_id)
                events = [] if missed is None else [self._diverged(*missed, correlation_id)]
                events += [self._promoted(row, correlation_id) for row in rows]
                last = self._books.append(events)
            else:
                last = self._books.last_seq()
            self._scratch.clear(transaction.connection, self.unit_id)
        logger.info("unit %s: %d pins committed", self.unit_id, len(rows))
        return last

    def abandon(self, *, reason: str = "") -> int:
        """Give the unit's pins up and write one `pin.abandoned`, also where there are none.

        One transaction, or a part of the caller's. Returns the last seq of the stream of pins.
        """
        with self._log.transaction() as transaction:
            rows = self._scratch.rows(self.unit_id)
            discarded = [Discarded(row.pin_key, row.kind, row.attempts) for row in rows]
            last = self._books.append(
                [
                    PinsAbandoned(
                        drawn_for=self._drawn_for, unit_id=self.unit_id, reason=reason, discarded=discarded
                    )
                ]
            )
            self._scratch.clear(transaction.connection, self.unit_id)
        logger.warning("unit %s: %d pins abandoned", self.unit_id, len(rows))
        return last

    def _promoted(self, row: ScratchRow, correlation_id: UUID | None) -> PendingEvent:
        if self._promote_as is not None:
            return self._promote_as(row)
        promoted = PinPromoted(
            drawn_for=self._drawn_for,
            unit_id=row.unit_id,
            key=row.pin_key,
            kind=row.kind,
            result=row.result,
            attempts=row.attempts,
        )
        return PendingEvent(payload=promoted, correlation_id=correlation_id)

    def _diverged(self, key: str, kind: str, correlation_id: UUID | None) -> PendingEvent:
        diverged = PinDiverged(drawn_for=self._drawn_for, unit_id=self.unit_id, missed_key=key, kind=kind)
        return PendingEvent(payload=diverged, correlation_id=correlation_id)


def _check_kind(row: ScratchRow, kind: str) -> None:
    if row.kind != kind:
        raise PinOfAnotherKind(
            f"{row.pin_key} is pinned for {row.kind}, and {kind} was asked for",
            hint="build the key from the kind it is for",
        )

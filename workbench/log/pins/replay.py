"""The resolver that answers from recorded pins (contract log-and-chronicle, §6)."""

from __future__ import annotations

import copy
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Literal, Self

import msgspec

from workbench.log.decoding import converted
from workbench.log.errors import InvalidPayload, UnknownEventType
from workbench.log.pins.errors import Divergence, PinMiss
from workbench.log.pins.events import PROMOTED, PinPromoted
from workbench.log.pins.ledger import PinLedger
from workbench.log.pins.resolver import Pin, PinResolver, S, T
from workbench.log.ports import JsonValue
from workbench.log.registry import EventTypeRegistry, Payload, StoredEvent
from workbench.log.upcasts import EventKey, UpcastRegistry

logger = logging.getLogger(__name__)

OnMiss = Literal["strict", "record"]
Extract = Callable[[StoredEvent, Payload], tuple[str, Pin] | None]
"""From an event, as stored and in today's shape, the key and the pin that it holds, if it holds one."""


class ReplayPins(PinResolver):
    """Gives back what was recorded; a pin counts only for the kind of effect that it was drawn for.

    `strict` raises `PinMiss` where nothing is recorded and never has an effect happen. `record` has it
    happen through a ledger, which learns of the hits as well: what the ledger commits replays strictly.
    """

    def __init__(
        self, pins: dict[str, Pin], *, on_miss: OnMiss = "strict", into: PinLedger | None = None
    ) -> None:
        """Answer from `pins`, which is kept, and grows by what is drawn.

        Raises `ValueError` for another word than the two, for `record` without `into`, and for `strict`
        with it.
        """
        if on_miss not in ("strict", "record"):
            raise ValueError(f"a replay is strict or records, not {on_miss!r}")
        if (on_miss == "record") != (into is not None):
            raise ValueError("a replay that records needs a ledger to record into, and a strict one has none")
        self.pins = pins
        self.ledger = into
        self.divergence: Divergence | None = None
        """The first miss, if there was one."""
        self._hits = 0

    @classmethod
    def from_events(
        cls,
        events: Iterable[StoredEvent],
        registry: EventTypeRegistry,
        *,
        unit_id: str | None = None,
        extract: Extract | None = None,
        upcasts: UpcastRegistry | None = None,
        on_miss: OnMiss = "strict",
        into: PinLedger | None = None,
    ) -> Self:
        """Answer from what events say; of two pins of one key the later one counts.

        `pin.promoted` events are read, of one unit of work if `unit_id` names it, or whatever `extract`
        makes pins of: it sees each event of a registered type and does all the choosing. Raises `ValueError`
        for both of them, `UpcastGap` and `UnknownEventType` for versions that cannot be brought to today's
        shape, `InvalidPayload`, and what the class itself refuses.
        """
        if extract is not None and unit_id is not None:
            raise ValueError("extract does all the choosing: unit_id has no meaning beside it")
        forward = _Forward(registry, UpcastRegistry() if upcasts is None else upcasts)
        pins: dict[str, Pin] = {}
        for event in events:
            if extract is None:
                found = _promoted(forward, event, unit_id)
            else:
                payload = forward.payload(event)
                found = None if payload is None else extract(event, payload)
            if found is not None:
                pins[found[0]] = found[1]
        return cls(pins, on_miss=on_miss, into=into)

    def resolve(
        self, key: str, *, kind: str, effect: Callable[[], object], interpret: Callable[[JsonValue], T]
    ) -> T:
        """The recorded result; see `PinResolver`. Raises `PinMiss`, or what the ledger raises."""
        hit = self._hit(key, kind)
        if hit is not None:
            return interpret(hit.result)
        ledger = self._missed(key, kind)
        try:
            return ledger.resolve(key, kind=kind, effect=effect, interpret=interpret)
        finally:
            self._learn(ledger, key)

    async def resolve_async(
        self,
        key: str,
        *,
        kind: str,
        effect: Callable[[], Awaitable[object]],
        interpret: Callable[[JsonValue], T],
    ) -> T:
        """As `resolve`, awaiting the effect."""
        hit = self._hit(key, kind)
        if hit is not None:
            return interpret(hit.result)
        ledger = self._missed(key, kind)
        try:
            return await ledger.resolve_async(key, kind=kind, effect=effect, interpret=interpret)
        finally:
            self._learn(ledger, key)

    def resolve_stream(
        self,
        key: str,
        *,
        kind: str,
        effect: Callable[[], AbstractAsyncContextManager[S]],
        capture: Callable[[S], object],
        interpret: Callable[[JsonValue], S],
    ) -> AbstractAsyncContextManager[S]:
        """As `resolve`, for what is read while it comes; a miss is raised when the block is entered."""
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
        hit = self._hit(key, kind)
        if hit is not None:
            yield interpret(hit.result)
            return
        ledger = self._missed(key, kind)
        try:
            drawn = ledger.resolve_stream(key, kind=kind, effect=effect, capture=capture, interpret=interpret)
            async with drawn as stream:
                yield stream
        finally:
            self._learn(ledger, key)

    def _hit(self, key: str, kind: str) -> Pin | None:
        pin = self.pins.get(key)
        if pin is None or pin.kind != kind:
            return None
        if self.ledger is not None:
            self.ledger.adopt(key, kind=kind, result=pin.result)
        self._hits += 1
        # Whoever is handed a result may change it.
        return copy.deepcopy(pin)

    def _missed(self, key: str, kind: str) -> PinLedger:
        first = self.divergence
        if first is None:
            first = self.divergence = Divergence(key, kind, self._hits)
        logger.warning("a replay has no %s under %s", kind, key)
        if self.ledger is None:
            raise PinMiss(
                f"no {kind} is recorded under {key}",
                divergence=first,
                hint="what was asked, or who was asked, is not what it was when the recording was made: "
                "another summarizer, or events that were put into quarantine or redacted since",
            )
        self.ledger.mark_diverged(key, kind=kind)
        return self.ledger

    def _learn(self, ledger: PinLedger, key: str) -> None:
        row = ledger.pinned(key)
        if row is not None:
            self.pins[key] = Pin(row.kind, row.result)


class _Forward:
    """Payloads of stored events in today's shape."""

    def __init__(self, registry: EventTypeRegistry, upcasts: UpcastRegistry) -> None:
        self._registry = registry
        self._upcasts = upcasts

    def payload(self, event: StoredEvent) -> Payload | None:
        """The payload as its class; None for a type that is not registered."""
        envelope = event.envelope
        newest = self._registry.get(envelope.namespace, envelope.type)
        if newest is None:
            return None
        key = EventKey(envelope.namespace, envelope.type, envelope.schema_version)
        if key.schema_version > newest.version:
            raise UnknownEventType(
                f"version {key.schema_version} of {key.namespace}:{key.type} is newer than this release",
                hint="install a newer chronicle-workbench",
            )
        _, payload = self._upcasts.apply(key, event.payload, target_version=newest.version)
        return converted(newest, payload)


def _promoted(forward: _Forward, event: StoredEvent, unit_id: str | None) -> tuple[str, Pin] | None:
    envelope = event.envelope
    if (envelope.namespace, envelope.type) != (PROMOTED.namespace, PROMOTED.type):
        return None
    payload = forward.payload(event)
    if payload is None:
        raise UnknownEventType(f"{PROMOTED.namespace}:{PROMOTED.type} is not registered here")
    if not isinstance(payload, PinPromoted):
        # A later shape still says what this one says.
        try:
            payload = msgspec.convert(msgspec.to_builtins(payload), PinPromoted)
        except msgspec.ValidationError as error:
            raise InvalidPayload(f"{PROMOTED.type}: {error}") from None
    if unit_id is not None and payload.unit_id != unit_id:
        return None
    return payload.key, Pin(payload.kind, payload.result)

"""What the pin ledger writes of itself, beside the stream it drew for (contract log-and-chronicle, §6)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from workbench.log.ports import JsonValue
from workbench.log.registry import BOOKKEEPING, PINS_NAMESPACE, Envelope, EventType, Payload
from workbench.log.streams import StreamRef, pins_stream

ATTEMPTS = Annotated[int, msgspec.Meta(ge=1)]
"""How often a pin was asked for within its unit, the draw included."""


class Bookkeeping(Payload, frozen=True, kw_only=True):
    """What all of them say."""

    drawn_for: str
    """The name of the stream that the unit of work drew for; it names the stream of the event as well."""
    unit_id: str

    @property
    def stream(self) -> StreamRef:
        """The stream it belongs to."""
        return pins_stream(self.drawn_for)


class PinPromoted(Bookkeeping, frozen=True, kw_only=True):
    """A result that a committed unit of work used."""

    key: str
    kind: str
    result: JsonValue
    attempts: ATTEMPTS


class Discarded(msgspec.Struct, frozen=True):
    """A pin that was given up, without its result."""

    key: str
    kind: str
    attempts: ATTEMPTS


class PinsAbandoned(Bookkeeping, frozen=True, kw_only=True):
    """A unit of work that was given up."""

    reason: str = ""
    discarded: list[Discarded]


class PinDiverged(Bookkeeping, frozen=True, kw_only=True):
    """A unit of work began as a replay and went on from here by drawing."""

    missed_key: str
    """The first key that the replayed recording did not hold."""
    kind: str


_NAMED = frozenset({"drawn_for", "unit_id", "kind"})

PROMOTED = EventType(PINS_NAMESPACE, "pin.promoted", 1, PinPromoted, identifiers=_NAMED | {"key"})
ABANDONED = EventType(PINS_NAMESPACE, "pin.abandoned", 1, PinsAbandoned, identifiers=_NAMED - {"kind"})
DIVERGED = EventType(PINS_NAMESPACE, "pin.diverged", 1, PinDiverged, identifiers=_NAMED | {"missed_key"})
EVENT_TYPES = (PROMOTED, ABANDONED, DIVERGED)


def is_bookkeeping(envelope: Envelope) -> bool:
    """Whether an event is one of the ledger's three, at any version of its payload."""
    return envelope.namespace == PINS_NAMESPACE and envelope.type in BOOKKEEPING

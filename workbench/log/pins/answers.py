"""Whether the pins of a file can be answers to what they are the answers to (contract, §6)."""

from __future__ import annotations

import re

import msgspec

from workbench.log.pins.errors import RecordingError
from workbench.log.pins.events import PROMOTED, PinPromoted
from workbench.log.pins.request import MODEL_CALL, Response
from workbench.log.ports import JsonValue
from workbench.log.registry import StoredEvent

_KEY = re.compile("p[0-9]+:(?P<kind>.*):[0-9a-f]{64}", re.DOTALL)


def promotes(event: StoredEvent) -> bool:
    """Whether an event promotes a pin."""
    return (event.envelope.namespace, event.envelope.type) == (PROMOTED.namespace, PROMOTED.type)


class PinAnswers:
    """Looks at pins one after the other; in events of other types it finds nothing."""

    def __init__(self, drawn_for: JsonValue = None) -> None:
        """`drawn_for` is the stream that all of them are for, if it is one."""
        self._drawn_for = drawn_for if isinstance(drawn_for, str) else None
        self._given: dict[tuple[str, str], tuple[str, JsonValue]] = {}

    def take(self, event: StoredEvent) -> None:
        """Look at the next one.

        Raises `RecordingError` for a pin whose key is of another kind of effect than the pin, for a model's
        answer that is none, for another answer to a question of the same unit of work that was answered
        before, and for one that was drawn for another stream; `msgspec.ValidationError` for what is no pin.
        """
        if not promotes(event) or event.envelope.schema_version != PROMOTED.version:
            return
        pin = msgspec.convert(event.payload, PinPromoted)
        if self._drawn_for not in (None, pin.drawn_for):
            raise RecordingError(f"a pin was drawn for {pin.drawn_for[:100]}, and not for {self._drawn_for}")
        named = _KEY.fullmatch(pin.key)
        if named is not None and named["kind"] != pin.kind:
            raise RecordingError(f"{pin.key[:200]} is no key of a {pin.kind[:100]}")
        if pin.kind == MODEL_CALL:
            _refuse_no_answer(pin)
        said = pin.kind, pin.result
        if self._given.setdefault((pin.unit_id, pin.key), said) != said:
            raise RecordingError(f"there are two answers for {pin.key[:200]}")


def _refuse_no_answer(pin: PinPromoted) -> None:
    try:
        msgspec.convert(pin.result, Response)
    except msgspec.ValidationError as error:
        raise RecordingError(f"what is pinned for {pin.key[:200]} is no answer of a model: {error}") from None

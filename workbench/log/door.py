"""The one way into the log: every payload is checked, filtered and encoded here (DESIGN §2 "The door")."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from workbench.log.errors import InvalidIdentifier, InvalidPayload, SecretInIdentifier
from workbench.log.ports import JsonValue, Redactor
from workbench.log.registry import EventType, Payload, Removed

MAX_DEPTH = 200
"""Levels of nesting a payload may have: every reader can decode it, whatever its own stack holds."""

MAX_PAYLOAD_BYTES = 512 * 1024 * 1024
"""SQLite refuses a row beyond 1 GB; half of it leaves room for every reader's copy."""

PROBED_BYTES = 64 * 1024
"""So many bytes of payloads are looked through together: one with a secret has the rest of them looked
through one by one."""

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_LARGEST_FLOAT = 1.7976931348623157e308
_CONTAINERS = (dict, list, tuple, set, frozenset)
_PLAIN = frozenset({str, bool, type(None), msgspec.UnsetType})

_Draft = tuple[EventType, Payload, bytes, int]
"""A payload after its repairs, how it is encoded, and how many repairs it took."""


class Admitted(msgspec.Struct, frozen=True, gc=False):
    """A payload that may be stored."""

    event_type: EventType
    payload: Payload
    """As every reader will decode it: folding it now and folding it again later give the same rows."""
    encoded: str
    """The payload row: JSON, sorted keys, no blanks, text as given."""
    removals: tuple[Removed, ...]
    repaired: int
    """Lone surrogates that became U+FFFD, and numbers outside the float range that became text."""


class Door:
    """Admits payloads for one log; safe to share between threads."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._encoder = msgspec.json.Encoder(order="sorted")
        self._decoders: dict[type[Payload], msgspec.json.Decoder[Payload]] = {}

    def admit(self, event_type: EventType, payload: Payload) -> Admitted:
        """Check identifiers, repair what JSON cannot hold, take secrets out of free text.

        Raises `InvalidIdentifier` or `SecretInIdentifier` for a field that names something,
        `InvalidPayload` for one that is too deep, too large or of the wrong type.
        """
        [admitted] = self.admit_all([(event_type, payload)])
        return admitted

    def admit_all(self, batch: Sequence[tuple[EventType, Payload]]) -> list[Admitted]:
        """`admit` for each of a batch, in order."""
        drafts = (self._draft(event_type, payload) for event_type, payload in batch)
        admitted: list[Admitted] = []
        for run in _runs(drafts):
            # One look over many payloads costs little more than one over a single one, and hardly any
            # payload has something to take out.
            rows = [_without_names(event_type, encoded) for event_type, _, encoded, _ in run]
            suspicious = self._redactor.may_change(rows[0] if len(rows) == 1 else b"[%s]" % b",".join(rows))
            for (event_type, payload, encoded, repaired), row in zip(run, rows, strict=True):
                removals: tuple[Removed, ...] = ()
                if suspicious and (len(rows) == 1 or self._redactor.may_change(row)):
                    payload, removals = self._redact(event_type, payload)
                    if removals:
                        encoded = self._encode(payload)
                if len(encoded) > MAX_PAYLOAD_BYTES:
                    raise InvalidPayload(
                        f"{event_type.type}: a payload of {len(encoded):,} bytes is too large"
                    )
                decoded = self._decode(event_type, encoded)
                text = str(encoded, "utf-8")
                admitted.append(Admitted(event_type, decoded, text, removals, repaired))
        return admitted

    def _draft(self, event_type: EventType, payload: Payload) -> _Draft:
        repaired = 0
        if _has_odd_numbers(payload):
            payload, repaired = self._repair(event_type, payload)
        try:
            return event_type, payload, self._encode(payload), repaired
        except UnicodeEncodeError:
            payload, more = self._repair(event_type, payload)
            return event_type, payload, self._encode(payload), repaired + more

    def _decode(self, event_type: EventType, encoded: bytes) -> Payload:
        # A structure is not checked when it is made; what cannot be read back must not be stored.
        decoder = self._decoders.get(event_type.model)
        if decoder is None:
            decoder = self._decoders[event_type.model] = msgspec.json.Decoder(event_type.model)
        try:
            return decoder.decode(encoded)
        except msgspec.ValidationError as error:
            raise InvalidPayload(f"{event_type.type}: {error}") from None

    def _encode(self, payload: Payload) -> bytes:
        try:
            return self._encoder.encode(payload)
        except RecursionError:
            raise InvalidPayload("the payload is nested too deeply") from None
        except (TypeError, OverflowError, ValueError) as error:
            if isinstance(error, UnicodeEncodeError):
                raise
            raise InvalidPayload(f"the payload cannot be written as JSON: {error}") from None

    def _repair(self, event_type: EventType, payload: Payload) -> tuple[Payload, int]:
        count = 0
        changed: dict[str, Any] = {}
        for field in payload.__struct_fields__:
            value = getattr(payload, field)
            fixed, fixes = _repaired(value)
            if fixes and field in event_type.identifiers:
                raise InvalidIdentifier(f"{event_type.type}: {field} is not valid text")
            if fixes:
                changed[field] = fixed
                count += fixes
        return msgspec.structs.replace(payload, **changed), count

    def _redact(self, event_type: EventType, payload: Payload) -> tuple[Payload, tuple[Removed, ...]]:
        version = self._redactor.version
        named = [getattr(payload, field) for field in event_type.identifiers]
        # One look over all of them; whichever it may be is found below.
        doubtful = self._redactor.may_change(
            "\n".join(name for name in named if isinstance(name, str)).encode("utf-8", "surrogatepass")
        )
        removed: list[Removed] = []
        changed: dict[str, Any] = {}
        for field in payload.__struct_fields__:
            value = getattr(payload, field)
            if value is msgspec.UNSET or value is None:
                continue
            if field == "redactions":
                value = _own_words_aside(msgspec.to_builtins(value), version)
            if field in event_type.identifiers:
                if doubtful and isinstance(value, str) and self._redactor.redact_text(value)[1]:
                    raise SecretInIdentifier(
                        f"{event_type.type}: {field} holds what looks like a secret",
                        hint="name it otherwise; nothing was stored",
                    )
                continue
            clean, found = self._redactor.redact_value(value)
            if found:
                changed[field] = clean
                for removal in found:
                    path = f"{field}.{removal.field}" if removal.field else field
                    removed.append(Removed(removal.kind, removal.count, path, version))
        if not removed:
            return payload, ()
        earlier: list[Any] = payload.redactions if isinstance(payload.redactions, list) else []
        if "redactions" in changed:
            earlier = [{"filter_version": version, **receipt} for receipt in changed["redactions"]]
        changed["redactions"] = [*earlier, *removed]
        return msgspec.structs.replace(payload, **changed), tuple(removed)


def _without_names(event_type: EventType, encoded: bytes) -> bytes:
    """A payload row for the quick look, without names of identifier fields that speak of a key.

    An identifier is checked by itself, whatever it is called; `idempotency_key` alone would make
    every row doubtful.
    Where the name stands twice it is somebody's own, and stays.
    """
    for name in _doubtful(event_type.identifiers):
        if encoded.count(name) == 1:
            encoded = encoded.replace(name, b'"":')
    return encoded


@lru_cache(maxsize=64)
def _doubtful(identifiers: frozenset[str]) -> tuple[bytes, ...]:
    return tuple(f'"{field}":'.encode() for field in sorted(identifiers) if "key" in field)


def _own_words_aside(receipts: JsonValue, version: str) -> JsonValue:
    """Receipts without the version that is today's: in the others' words there may be anything.

    A path may hold what was no secret to the filter that wrote it; who wrote the receipts of an imported
    log nobody knows.
    """
    if not (isinstance(receipts, list) and all(isinstance(each, dict) for each in receipts)):
        # What is no list of receipts is refused once it is decoded.
        return []
    return [
        {key: said for key, said in receipt.items() if (key, said) != ("filter_version", version)}
        for receipt in receipts
    ]


def _runs(drafts: Iterable[_Draft]) -> Iterator[list[_Draft]]:
    """The drafts in runs of at most `PROBED_BYTES`; a longer payload is a run of its own."""
    run: list[_Draft] = []
    size = 0
    for draft in drafts:
        encoded = draft[2]
        if run and size + len(encoded) > PROBED_BYTES:
            yield run
            run, size = [], 0
        run.append(draft)
        size += len(encoded)
    if run:
        yield run


def _has_odd_numbers(payload: Payload) -> bool:
    """Whether some number in the payload is one that JSON readers would not give back.

    Also bounds the depth, before anything recursive sees the value (`InvalidPayload`).
    """
    odd = False
    # Depth first, so that a structure which contains itself runs into the limit at once.
    pending: list[tuple[JsonValue, int]] = [(msgspec.structs.astuple(payload), 0)]
    while pending:
        container, depth = pending.pop()
        if depth > MAX_DEPTH:
            raise InvalidPayload(f"the payload is nested more than {MAX_DEPTH} levels deep")
        for item in container.values() if isinstance(container, dict) else container:
            if type(item) in _PLAIN:
                continue
            if isinstance(item, _CONTAINERS):
                if item:
                    pending.append((item, depth + 1))
            elif isinstance(item, float):
                odd = odd or not math.isfinite(item)
            elif isinstance(item, int):
                odd = odd or not -_LARGEST_FLOAT <= item <= _LARGEST_FLOAT
    return odd


def _repaired(value: JsonValue) -> tuple[JsonValue, int]:
    """A copy without lone surrogates and impossible numbers, and how many there were."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            fixed = "".join(_REPLACEMENT if "\ud800" <= c <= "\udfff" else c for c in value)
            return fixed, sum("\ud800" <= c <= "\udfff" for c in value)
        return value, 0
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN"), 1
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _LARGEST_FLOAT:
        return _decimal(value), 1
    if isinstance(value, dict):
        result: dict[JsonValue, JsonValue] = {}
        count = 0
        for key, item in value.items():
            fixed_key, key_fixes = _repaired(key)
            # Two broken keys must not become one, or the first one's value would be lost.
            while key_fixes and (fixed_key in value or fixed_key in result):
                fixed_key += _REPLACEMENT
            result[fixed_key], item_fixes = _repaired(item)
            count += key_fixes + item_fixes
        return result, count
    if isinstance(value, list | tuple | set | frozenset):
        pairs = [_repaired(item) for item in value]
        return [item for item, _ in pairs], sum(fixes for _, fixes in pairs)
    return value, 0


def _decimal(number: int) -> str:
    # Beyond 4,300 digits Python refuses a decimal text; hexadecimal keeps the value all the same.
    try:
        return str(number)
    except ValueError:
        return hex(number)

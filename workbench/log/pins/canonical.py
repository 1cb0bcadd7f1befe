"""The one JSON text of a value, for keys and their hashes (contract log-and-chronicle, §2)."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from unicodedata import normalize

from workbench.log.door import MAX_DEPTH
from workbench.log.pins.errors import NotCanonical, NotJson
from workbench.log.ports import JsonValue

_LARGEST_FLOAT = sys.float_info.max
_BINARY = (bytes, bytearray, memoryview)
_write = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
).encode


def canonical_json(value: object) -> str:
    """Keys sorted by code point, no blanks, text as it is but in NFC; sequences are lists.

    Equal for values that differ in the order of keys or the composition of letters alone; 1 and 1.0 differ.
    Raises `NotJson` (a `TypeError`) for anything that JSON cannot hold and for keys that are no text,
    `NotCanonical` (a `ValueError`) for NaN and infinities, for two keys that are one in NFC, for nesting
    beyond `MAX_DEPTH` levels, and for whole numbers of thousands of digits.
    """
    try:
        return _write(_normal(value, 0))
    except NotCanonical:
        raise
    except ValueError:
        # Python writes no decimal number of more than 4,300 digits.
        raise NotCanonical("a number is too long to be written") from None


def sorted_json(value: JsonValue) -> str:
    """`canonical_json` of a value that came from JSON, but with every text as it is."""
    return _write(value)


def sha256_hex(value: object) -> str:
    """The SHA-256 of a value's canonical JSON in UTF-8, in hex.

    Raises what `canonical_json` raises, and `UnicodeEncodeError` for a lone surrogate.
    """
    return sha256(canonical_json(value).encode()).hexdigest()


def concrete_json(value: object) -> JsonValue:
    """A drawn result as plain dicts, lists and scalars, text as given: what can be pinned.

    Tuples become lists, and subclasses the type below them. Raises `NotJson` for anything else, other
    sequences and mappings too, and `NotCanonical` for NaN, infinities, whole numbers that no float reaches,
    and nesting beyond `MAX_DEPTH` levels: what the log's door would make something else of.
    """
    return _concrete(value, 0)


def _normal(value: object, depth: int) -> JsonValue:
    if isinstance(value, str):
        return normalize("NFC", value)
    if isinstance(value, Mapping):
        _refuse_deep(depth)
        members: dict[str, JsonValue] = {}
        for key, item in value.items():
            name = normalize("NFC", _text_key(key))
            if name in members:
                raise NotCanonical("two keys are one after normalisation (NFC)")
            members[name] = _normal(item, depth + 1)
        return members
    if isinstance(value, Sequence) and not isinstance(value, _BINARY):
        _refuse_deep(depth)
        return [_normal(item, depth + 1) for item in value]
    return _scalar(value)


def _concrete(value: object, depth: int) -> JsonValue:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, dict):
        _refuse_deep(depth)
        return {str.__str__(_text_key(key)): _concrete(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        _refuse_deep(depth)
        return [_concrete(item, depth + 1) for item in value]
    if isinstance(value, int) and abs(value) > _LARGEST_FLOAT:
        raise NotCanonical("a whole number lies outside the range of floats")
    return _scalar(value)


def _scalar(value: object) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotCanonical("a number that is not finite has no form in JSON")
        return float(value)
    raise NotJson(f"a value of type {type(value).__name__} has no form in JSON")


def _text_key(key: object) -> str:
    if not isinstance(key, str):
        raise NotJson(f"a key of type {type(key).__name__} has no form in JSON")
    return key


def _refuse_deep(depth: int) -> None:
    # A value that contains itself ends here, too.
    if depth >= MAX_DEPTH:
        raise NotCanonical(f"a value is nested more than {MAX_DEPTH} levels deep")

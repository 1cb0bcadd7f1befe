"""Drawn results on their way into a pin and out of it (contract log-and-chronicle, "Ours", §6)."""

from __future__ import annotations

import msgspec

from workbench.log.door import MAX_PAYLOAD_BYTES
from workbench.log.errors import InvalidPayload
from workbench.log.pins.canonical import concrete_json
from workbench.log.ports import JsonValue, Redactor

_encode = msgspec.json.Encoder(order="sorted").encode
_decode = msgspec.json.Decoder().decode

_FRAME_BYTES = 1024 * 1024
"""What an event needs beside the result that it holds."""


def encoded(result: object, redactor: Redactor) -> str:
    """A result as it is pinned: without secrets, and in the very form in which the log gives it back.

    A lone surrogate becomes U+FFFD, as at the log's door, so that whoever uses the result now, after a
    crash or in a replay is handed the same. Raises what `concrete_json` raises, `InvalidPayload` for a
    result that no event could hold, and what the filter raises.
    """
    value = concrete_json(result)
    try:
        data = _encode(value)
    except UnicodeEncodeError:
        value = _without_surrogates(value)
        data = _encode(value)
    if redactor.may_change(data):
        value, removals = redactor.redact_value(value)
        if removals:
            data = _encode(value)
    if len(data) > MAX_PAYLOAD_BYTES - _FRAME_BYTES:
        raise InvalidPayload(f"a drawn result of {len(data):,} bytes is too large")
    return data.decode()


def decoded(text: str) -> JsonValue:
    """What `encoded` wrote, as a value of its own that the caller may change."""
    return _decode(text)


def _without_surrogates(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= c <= "\udfff" else c for c in value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        members: dict[str, JsonValue] = {}
        for key, item in value.items():
            name = _without_surrogates(key)
            # Two broken keys must not become one, or the first one's value would be lost.
            while name != key and (name in value or name in members):
                name += "\N{REPLACEMENT CHARACTER}"
            members[name] = _without_surrogates(item)
        return members
    return value

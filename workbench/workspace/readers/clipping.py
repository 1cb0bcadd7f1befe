"""Payloads for lists: whole if they are small, clipped if they are not.

A list shows one line of an event; decoding a payload of 50 MB for that would make it wait.
"""

from __future__ import annotations

from typing import Any

import apsw
import msgspec

from workbench.storage import fetch

WHOLE_BYTES = 16 * 1024
"""Payload rows up to this size come whole into a list."""

CLIPPED_CHARS = 4000
"""Characters kept of each text in a longer one."""

decode: Any = msgspec.json.Decoder(dict[str, Any]).decode

PAYLOAD_COLUMNS = f"iif(octet_length(e.payload) <= {WHOLE_BYTES}, e.payload, NULL), octet_length(e.payload)"
"""The payload if it is small (else NULL), and its size in bytes."""

_CLIPPED = f"""
SELECT key, type,
    CASE WHEN type = 'text' THEN substr(atom, 1, {CLIPPED_CHARS})
         WHEN type IN ('object', 'array') THEN iif(octet_length(value) <= {WHOLE_BYTES}, value, NULL)
         ELSE atom END,
    iif(type = 'text', length(atom), NULL)
FROM json_each((SELECT payload FROM events WHERE position = ?))
"""

_ESCAPED_NUL = r"SELECT payload FROM events WHERE position = ? AND instr(payload, '\u0000')"


def clipped_payload(connection: apsw.Connection, position: int) -> tuple[dict[str, Any], dict[str, int]]:
    """A long payload with its texts cut, and the whole length in characters of each top-level text.

    An object or array that is too long to show is left empty.
    """
    # SQLite measures and cuts a text only up to its first NUL: such a payload is decoded here.
    with_nul = fetch.value(connection, _ESCAPED_NUL, (position,))
    if with_nul is not None:
        return _clipped_whole(decode(with_nul))
    payload: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    for key, kind, value, length in fetch.rows(connection, _CLIPPED, (position,)):
        if kind == "object":
            payload[key] = decode(value) if value is not None else {}
        elif kind == "array":
            payload[key] = msgspec.json.decode(value) if value is not None else []
        elif kind in ("true", "false"):
            payload[key] = kind == "true"
        else:
            payload[key] = value
        if length is not None:
            lengths[key] = length
    return payload, lengths


def _clipped_whole(payload: dict[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
    lengths = {key: len(value) for key, value in payload.items() if isinstance(value, str)}
    for key, value in payload.items():
        if isinstance(value, str):
            payload[key] = value[:CLIPPED_CHARS]
        elif isinstance(value, dict | list) and len(msgspec.json.encode(value)) > WHOLE_BYTES:
            payload[key] = type(value)()
    return payload, lengths

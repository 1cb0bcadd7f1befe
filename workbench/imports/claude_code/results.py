"""The structured result that stands beside a tool's answer, cut down to what the answer does not
already say."""

from __future__ import annotations

from typing import Any

import msgspec

from workbench.imports.transcript.cutting import cut
from workbench.imports.transcript.decoding import MAX_DEPTH, Undecodable

MAX_STRING = 1000
"""Characters of one string that are kept; the rest is in the answer, in the request, or in the
source file."""
MAX_RESULT = 16 * 1024
"""Bytes of JSON that are kept of one result; a larger one is named by its size only."""
REPEATED = 200
"""Characters from which a string that the answer already holds is left out."""

DROPPED = frozenset({"originalFile", "originalFileContents", "base64"})
"""Fields that repeat a whole file as it was before the call, or the bytes that are kept as evidence."""


_ONLY_TEXT = {str}


def structured_result(value: Any, answer: str, line_size: int) -> Any:
    """What of `toolUseResult` goes into an actum's metadata; None if it says nothing beyond `answer`.

    Bounded: fields in `DROPPED` go, strings are clipped at `MAX_STRING`, longer strings that the
    answer holds go, and what still needs more than `MAX_RESULT` bytes becomes
    `{"omitted_bytes": n}`. `line_size` is the length of the whole line in bytes. Raises
    `Undecodable` ("too deep").
    """
    if type(value) is str:
        text = value.removeprefix("Error: ")
        return None if not text.strip() or text in answer else _clip(value)
    if type(value) is not dict and type(value) is not list:
        return None
    kept = _cut(value, answer, 1)
    if line_size > MAX_RESULT and len(encoded := msgspec.json.encode(kept)) > MAX_RESULT:
        return {"omitted_bytes": len(encoded)}
    return kept or None


def _cut(value: Any, answer: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise Undecodable("too deep")
    if type(value) is list:
        if set(map(type, value)) == _ONLY_TEXT and max(map(len, value)) <= MAX_STRING:
            return value
        items: list[Any] = []
        for child in value:
            if type(child) is str:
                items.append(child if len(child) <= MAX_STRING else _clip(child))
            elif type(child) is dict or type(child) is list:
                items.append(_cut(child, answer, depth + 1))
            else:
                items.append(child)
        return items
    kept: dict[str, Any] = {}
    for key, child in value.items():
        if child is None or child == "" or key in DROPPED:
            continue
        if type(child) is str:
            if len(child) >= REPEATED:
                if _holds(answer, child):
                    continue
                child = _clip(child)
        elif type(child) is dict or type(child) is list:
            child = _cut(child, answer, depth + 1)
            if not child:
                continue
        kept[key if len(key) <= MAX_STRING else _clip(key)] = child
    return kept


def _holds(answer: str, text: str) -> bool:
    # Looking for a long text costs a preparation that a look for its beginning saves nearly always.
    return len(text) <= len(answer) and text[:32] in answer and text in answer


def _clip(text: str) -> str:
    if len(text) <= MAX_STRING:
        return text
    return f"{cut(text, MAX_STRING)}… [{len(text)} characters]"

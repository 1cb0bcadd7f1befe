"""One line to one JSON object, the lenient way: what can be kept is kept, and counted where it changed.

Hostile input: every outcome is a value or `Undecodable`. A lone surrogate becomes U+FFFD, a number that no
float can hold becomes its text (contract transcripts; DESIGN §2 "Payload rows").
"""

from __future__ import annotations

import json
import math
from typing import Any

from workbench.imports.transcript.items import ProblemReason, Repaired, RepairKind

MAX_DEPTH = 100
"""Nested containers in what is kept of a record. Deeper lines are problems, so that no later reader
of the value can run out of stack."""

_BOM = b"\xef\xbb\xbf"
_SHORT = 16 * 1024
"""Characters. What is longer is not parsed once more to learn that it is JSON."""
_skim = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str).decode
"""Takes whatever is JSON, control characters and numbers of any length included."""


class Undecodable(Exception):
    """Why a line is not a record; it never leaves the importers."""

    def __init__(self, reason: ProblemReason) -> None:
        super().__init__(reason)
        self.reason: ProblemReason = reason


def check_depth(value: Any, limit: int = MAX_DEPTH) -> None:
    """Raise `Undecodable` if containers in `value` are nested deeper than `limit`."""
    level = [value] if type(value) is dict or type(value) is list else []
    depth = 0
    while level:
        depth += 1
        if depth > limit:
            raise Undecodable("too deep")
        below: list[Any] = []
        for container in level:
            for child in container.values() if type(container) is dict else container:
                if type(child) is dict or type(child) is list:
                    below.append(child)
        level = below


def decode_leniently(data: bytes, line: int, repairs: list[Repaired]) -> dict[str, Any] | None:
    """The object on a line, None for a blank line; what had to be changed is added to `repairs`.

    Raises `Undecodable`.
    """
    stripped = data.strip(b" \t\r\n")
    if not stripped:
        return None
    # A crash or a full disk leaves runs of NUL bytes beside whole records.
    bare = stripped.removeprefix(_BOM).strip(b" \t\r\n\0")
    counts: dict[RepairKind, int] = {}
    if b"\0" in stripped and len(bare) < len(stripped):
        counts["padding"] = 1
    try:
        text = bare.decode("utf-8")
    except UnicodeDecodeError:
        raise Undecodable("not UTF-8") from None
    if len(text) <= _SHORT and _is_no_json(text):
        raise Undecodable("not JSON")
    value = _parse(text, counts)
    if not isinstance(value, dict):
        raise Undecodable("not an object")
    cleaned: dict[str, Any] = _clean(value, counts, MAX_DEPTH)
    repairs.extend(Repaired(kind, count, line) for kind, count in counts.items())
    return cleaned


def _is_no_json(text: str) -> bool:
    """Whether a text is certainly no JSON, at a fraction of what parsing it into a value costs: a broken file
    may have millions of such lines."""
    if text[:1] == "{" and text[-1:] != "}":
        return True
    try:
        _skim(text)
    except RecursionError:
        return False
    except ValueError:
        return True
    return False


def _parse(text: str, counts: dict[RepairKind, int]) -> Any:
    def out_of_range(literal: str) -> str:
        counts["number out of range"] = counts.get("number out of range", 0) + 1
        return literal

    def parse_float(literal: str) -> float | str:
        value = float(literal)
        return value if math.isfinite(value) else out_of_range(literal)

    def parse_int(literal: str) -> int | str:
        return int(literal) if len(literal) < 300 else out_of_range(literal)

    def load(*, strict: bool) -> Any:
        return json.loads(
            text, strict=strict, parse_float=parse_float, parse_int=parse_int, parse_constant=out_of_range
        )

    try:
        return load(strict=True)
    except RecursionError:
        raise Undecodable("too deep") from None
    except ValueError:
        counts.pop("number out of range", None)
    try:
        value = load(strict=False)
    except RecursionError:
        raise Undecodable("too deep") from None
    except ValueError:
        raise Undecodable("not JSON") from None
    counts["control character"] = 1
    return value


def _clean(value: Any, counts: dict[RepairKind, int], depth: int) -> Any:
    if isinstance(value, str):
        return _clean_text(value, counts)
    if not isinstance(value, (dict, list)):
        return value
    if depth == 0:
        raise Undecodable("too deep")
    if isinstance(value, list):
        return [_clean(child, counts, depth - 1) for child in value]
    return {_clean_text(key, counts): _clean(child, counts, depth - 1) for key, child in value.items()}


def _clean_text(text: str, counts: dict[RepairKind, int]) -> str:
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        pass
    # A pair that was written as two escapes has been joined by the parser; what is left stands alone.
    cleaned = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    lone = sum(1 for before, after in zip(text, cleaned, strict=True) if before != after)
    counts["lone surrogate"] = counts.get("lone surrogate", 0) + lone
    return cleaned

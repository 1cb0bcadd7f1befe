"""Values of a record as text: what tools were given, what they are called."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from workbench.imports.transcript.cutting import cut
from workbench.imports.transcript.fields import identifier

MAX_NAME = 200


def tool_name(value: Any) -> str:
    """A tool's name as an actor: never empty, at most `MAX_NAME` characters."""
    return (cut(value, MAX_NAME) or "tool") if type(value) is str and not is_blank(value) else "tool"


def payload_text(value: Any) -> str:
    """JSON in the form of payload rows: sorted keys, no blanks, text as given (DESIGN §2)."""
    try:
        return msgspec.json.encode(value, order="sorted").decode()
    except (msgspec.MsgspecError, UnicodeError, OverflowError, TypeError, ValueError):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)


def type_name(kind: Any) -> str:
    """What a block's type is counted as; `None` for what is no type."""
    return kind if identifier(kind) else "None"


def is_blank(text: str) -> bool:
    """Whether a text says nothing."""
    return not text or text.isspace()

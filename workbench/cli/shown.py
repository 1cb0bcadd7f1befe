"""Words of the command line as they may be printed again: without the secrets that some of them hold.

A folder may be named for a key, and output goes to logs. The filter is loaded only where one of the words
looks as if it could hold something.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from workbench.redaction.suspicion import looks_drawn

_VARIABLES = re.compile(r"(?:CHRONICLE|WORKBENCH)_\w+|CLAUDE_CONFIG_DIR|CODEX_HOME|XDG_\w+_HOME|HOME")


class _Filtering:
    on = False


def look_at(words: Sequence[str]) -> None:
    """Note whether any word of the command line, or a variable that names a place, holds a secret."""
    _Filtering.on = False
    texts = [*words, *(value for name, value in os.environ.items() if _VARIABLES.fullmatch(name))]
    with suppress(OSError):
        texts.append(os.getcwd())  # noqa: PTH109
    suspicious = [text for text in texts if looks_drawn(text)]
    if suspicious:
        _Filtering.on = any(_clean(text) != text for text in suspicious)


def shown(text: str) -> str:
    """A text as it may be printed."""
    return _clean(text) if _Filtering.on else text


def shown_lines(lines: Iterable[str]) -> Iterable[str]:
    """Lines as they may be printed."""
    return map(_clean, lines) if _Filtering.on else lines


def shown_value(value: Any) -> Any:
    """What becomes JSON, with each of its texts as it may be printed."""
    return _walk(value) if _Filtering.on else value


def _walk(value: Any) -> Any:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, dict):
        return {_walk(key): _walk(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(item) for item in value]
    return value


def _clean(text: str) -> str:
    from workbench.redaction import redact

    return redact(text).text

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

_VARIABLES = re.compile(r"(?:CHRONICLE|WORKBENCH)_\w+|CLAUDE_CONFIG_DIR|CODEX_HOME|XDG_\w+_HOME|HOME")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|\b[0-9a-f]{16,}\b")
_TOKEN = re.compile(r"[A-Za-z0-9_+-]{12,}")
_VALUE = re.compile(r"[=:](?!/)\S{6}|://\S*@")
_PART = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)[0-9]{0,6}|[0-9]+")
_BESIDE = re.compile(
    r"(?i)pass|pwd|secret|token|key|auth|bearer|cred|login|cookie|sign|priv|[=@%\\]|://"
    r"|(?:^|[\s'\"])-[a-z]\b|\w:(?!\d+\b)\S|[\r\n]|[0-9a-f]{24}"
)
"""What stands beside a secret that looks like any word, or is one that looks like a digest."""
_LONGEST_WORD = 20
_LEAST = 8
"""Characters of a token that are no words."""


class _Filtering:
    on = False


def look_at(words: Sequence[str]) -> None:
    """Note whether any word of the command line, or a variable that names a place, holds a secret."""
    _Filtering.on = False
    texts = [*words, *(value for name, value in os.environ.items() if _VARIABLES.fullmatch(name))]
    with suppress(OSError):
        texts.append(os.getcwd())  # noqa: PTH109
    suspicious = [text for text in texts if _may_hold(text)]
    if suspicious:
        _Filtering.on = any(_clean(text) != text for text in suspicious)


def may_hold(text: str) -> bool:
    """Whether a sentence of the program, with whatever it quotes, could hold a secret; True may be a false
    alarm. Short words and numbers that nothing calls a secret are none."""
    return _BESIDE.search(text) is not None or _may_hold(text)


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


def _may_hold(text: str) -> bool:
    text = _UUID.sub("", text)
    return bool(_VALUE.search(text)) or any(_is_odd(token) for token in _TOKEN.findall(text))


def _is_odd(token: str) -> bool:
    """Whether a token is more than words and numbers."""
    odd = (part for part in _PART.findall(token) if len(part) > _LONGEST_WORD or not _WORD.fullmatch(part))
    return sum(map(len, odd)) >= _LEAST


def _clean(text: str) -> str:
    from workbench.redaction import redact

    return redact(text).text

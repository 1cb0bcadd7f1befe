"""Whether a short text of the program's own making could hold a secret, told without loading the filter.

The rules take longer to load than most commands run. An error, a word of the command line, or a name that is
said again goes through the filter only where this says so; what is stored goes through it always.
"""

from __future__ import annotations

import re

_UUID = re.compile(
    r"(?<![\w.-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\w-])|\b[0-9a-f]{16,}\b"
)
"""Alone: vendors put one behind a prefix and call it a key."""
_TOKEN = re.compile(r"[A-Za-z0-9_+-]{12,}")
_VALUE = re.compile(r"[=:](?!/)\S{6}|://\S*@")
_PART = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)[0-9]{0,6}|[0-9]+")
_BESIDE = re.compile(
    r"(?i)pass|pwd|secret|token|key|auth|bearer|cred|login|cookie|sign|priv|\bpin\b|eyJ|hooks\.|[=@%\\]|://"
    r"|(?:^|[\s'\"])-[a-z]\b|\w:(?!\d+\b)\S|[\r\n]|[0-9a-f]{24}"
)
"""What stands beside a secret that looks like any word, or is one that looks like a digest."""
_PHRASE = re.compile(r"(?:\b[a-z]{3,8}[ ,]+){11}[a-z]{3,8}\b")
"""Twelve words of a recovery phrase: sentences have shorter ones among them."""
_LONGEST_WORD = 20
_LEAST = 8
"""Characters of a token that are no words."""


def may_hold(text: str) -> bool:
    """Whether a sentence or a name, with whatever it quotes, could hold a secret; True may be a false alarm.

    Short words and numbers that nothing calls a secret are none.
    """
    return _BESIDE.search(text) is not None or _PHRASE.search(text) is not None or looks_drawn(text)


def looks_drawn(text: str) -> bool:
    """Whether a word, such as one of the command line, holds a token, or a value behind a sign."""
    text = _UUID.sub("", text)
    return bool(_VALUE.search(text)) or any(_is_odd(token) for token in _TOKEN.findall(text))


def _is_odd(token: str) -> bool:
    """Whether a token is more than words and numbers."""
    odd = (part for part in _PART.findall(token) if len(part) > _LONGEST_WORD or not _WORD.fullmatch(part))
    return sum(map(len, odd)) >= _LEAST

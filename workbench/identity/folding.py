"""When two spellings are one name (contract memory, "Ours")."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

_SEPARATORS = re.compile(r"[\s_-]+")
_KEPT = 256
"""Characters of a name whose key is remembered: a list says the same few names in every row."""


def fold(name: str) -> str:
    """The key of a name: NFKC, case folded, trimmed, each run of spaces, `_` and `-` one `-`.

    Folding a key changes nothing. A name of separators alone has the key `-`; a blank one, the empty one.
    """
    return _remembered(name) if len(name) <= _KEPT else _folded(name)


def _folded(name: str) -> str:
    key = name
    while True:
        # Case folding may bring what NFKC would compose, and the other way round.
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())
        if folded == key:
            break
        key = folded
    return _SEPARATORS.sub("-", key.strip())


def stands_in(words: Iterable[str], text: str) -> bool:
    """Whether each word stands in a text, in any case, or as names are spelt: `A_TLAS` in `a-tlas`."""
    plain = text.casefold()
    return all(word.casefold() in plain or fold(word) in fold(text) for word in words)


_remembered = lru_cache(maxsize=4096)(_folded)

_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that leave nothing on the page."""


def is_blank(name: str) -> bool:
    """Whether nothing of a name can be seen: no sign in it but blanks, marks of direction and the like."""
    return all(
        sign in _UNSEEN
        or unicodedata.category(sign) in ("Cf", "Zs", "Zl", "Zp")
        or "\ufe00" <= sign <= "\ufe0f"
        or "\U000e0100" <= sign <= "\U000e01ef"
        for sign in name
    )

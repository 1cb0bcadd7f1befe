"""When two spellings are one name (contract memory, "Ours")."""

from __future__ import annotations

import re
import unicodedata

_SEPARATORS = re.compile(r"[\s_-]+")


def fold(name: str) -> str:
    """The key of a name: NFKC, case folded, trimmed, each run of spaces, `_` and `-` one `-`.

    Folding a key changes nothing. A name of separators alone has the key `-`; a blank one, the empty one.
    """
    key = name
    while True:
        # Case folding may bring what NFKC would compose, and the other way round.
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", key).casefold())
        if folded == key:
            break
        key = folded
    return _SEPARATORS.sub("-", key.strip())

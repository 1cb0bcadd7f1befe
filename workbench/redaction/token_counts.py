"""How many tokens a model read and wrote: members that speak of tokens and hold a number.

They stand in every second record of a transcript; a quick look that stopped at their names would make each of
these a long one.
"""

from __future__ import annotations

_NAMES = frozenset(
    b"%s%s" % (kind, ending)
    for kind in (
        b"input",
        b"output",
        b"total",
        b"cached_input",
        b"cache_creation_input",
        b"cache_read_input",
        b"ephemeral_5m_input",
        b"ephemeral_1h_input",
        b"reasoning_output",
        b"reasoning",
        b"max",
        b"max_output",
    )
    for ending in (b"_tokens", b"_token_count")
)
_LONGEST = max(map(len, _NAMES))
_ENDING = b'":'
_SIGN = b"_token"
_DIGITS = 15
"""More than these no count has."""


def without_token_counts(encoded: bytes) -> bytes:
    """JSON without blanks, with `""` for the name of each count of tokens.

    Exact for the quick look: no filter takes out a number, none of these names holds a secret, and no text in
    JSON holds the marks `{"` or `,"` that stand before them.
    """
    at = encoded.find(_SIGN)
    if at < 0:
        return encoded
    pieces: list[bytes] = []
    kept = 0
    while at >= 0:
        end = encoded.find(_ENDING, at, at + _LONGEST)
        start = encoded.rfind(b'"', max(kept, at - _LONGEST), at)
        if (
            end > 0
            and start > 0
            and encoded[start + 1 : end] in _NAMES
            and encoded[start - 1 : start] in (b"{", b",")
            and _is_count(encoded, end + 2)
        ):
            pieces.append(encoded[kept : start + 1])
            kept = end
        at = encoded.find(_SIGN, at + len(_SIGN))
    return b"".join((*pieces, encoded[kept:])) if pieces else encoded


def _is_count(encoded: bytes, at: int) -> bool:
    number = encoded[at : at + _DIGITS + 1]
    digits = len(number) - len(number.lstrip(b"0123456789"))
    return digits > 0 and number[digits : digits + 1] in (b",", b"}")

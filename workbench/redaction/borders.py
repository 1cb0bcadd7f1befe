"""What may stand before a token, and what only looks like a letter before it.

A text often holds other text in an escaped form: JSON that a tool printed, an address, a terminal's colours.
There the byte before a token is the last one of an escape (the `n` of a backslash and `n`), which is a
border all the same. An escape begins with a byte (backslash, `%`, ESC, `[`, `^`) that no token of a bordered
rule holds, and no marker ends an escape; so filtering twice decides the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.redaction.rules import Left

_HEX = "[0-9A-Fa-f]"
# The last of several backslashes is enough: an escape that was escaped again ends the same.
_BACKSLASHED = rf"\\(?:[nrtbfv]|[0-7]{{1,3}}|x{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}})"
_PERCENT = rf"%(?:25){{0,3}}{_HEX}{{2}}"
_BACKSLASHED_PLACES = range(11)
_PERCENT_PLACES = range(10)

# ESC as it is, printed by the usual languages, and as terminals show it.
_ESC = r"(?:\x1b|\\(?:e|x1[Bb]|u001[Bb]|0?33)|\^\[)"
# The first byte of a colour sequence is lost where control characters were stripped.
_TERMINAL = rf"{_ESC}(?:\[[0-9;:?]*[A-Za-z]|[()*+][0-9A-Z])|\x1b[0-9A-Za-z]|\[[0-9;:]+m"

ESCAPE = f"{_BACKSLASHED}|{_PERCENT}|{_TERMINAL}"
"""An escape that may stand right before a token, for RE2 and for `re`, over bytes."""

ALNUM = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
WORD = ALNUM | frozenset(b"_")

REFUSED_BEFORE: dict[Left, frozenset[int]] = {"alnum": ALNUM, "word": WORD, "any": frozenset()}
"""Bytes that may not stand before a token unless they end an escape.

Bytes of letters outside ASCII are no word bytes here: a key glued to such a word is a key.
"""

_PLAIN: dict[Left, str] = {"alnum": r"\b|_", "word": r"\b"}


def bordered(left: Left, expression: str, after: str = "") -> str:
    """RE2 that finds `expression` together with what the guards `left` and `after` allow before it."""
    if left == "any":
        return expression
    word = f"|{after}" if after else ""
    return f"(?:{_PLAIN[left]}|{ESCAPE}{word})(?:{expression})"


def token_places(data: bytes, found: int, plain: Iterable[int]) -> Iterable[int]:
    """How far behind `found`, where a match of `bordered` begins, its token may begin, nearest first.

    `plain` is the answer where no escape begins.
    """
    first = data[found]
    if first == _PERCENT_SIGN:
        return _PERCENT_PLACES
    if first not in _BEGIN_TERMINAL:
        return plain
    terminal = _TERMINAL_HERE.match(data, found)
    length = terminal.end() - found if terminal else 0
    places: Iterable[int] = _BACKSLASHED_PLACES if first == _BACKSLASH else plain
    return places if length in places else sorted({*places, length})


def escape_ends_at(data: bytes, place: int) -> bool:
    """Whether an escape of at most 80 bytes ends right before `place`."""
    return _ESCAPE_LAST.search(data, max(0, place - _FARTHEST), place) is not None


def behind_escape(data: bytes, start: int) -> int:
    """`start`, or where the token there begins if its first letters end an escape of JSON.

    Half an escape must not be removed: what is left would be no JSON.
    """
    if not start or data[start - 1] != _BACKSLASH:
        return start
    escape = _JSON_ESCAPE.match(data, start)
    if escape is None:
        return start
    before = data[max(0, start - _FARTHEST) : start]
    escaped = (len(before) - len(before.rstrip(b"\\"))) % 2
    return escape.end() if escaped else start


_FARTHEST = 80
_JSON_ESCAPE = re.compile(rb"[bfnrt]|u[0-9A-Fa-f]{4}")
_PERCENT_SIGN = ord("%")
_BACKSLASH = ord("\\")
_BEGIN_TERMINAL = frozenset(b"\\\x1b[^")
_TERMINAL_HERE = re.compile(_TERMINAL.encode("ascii"))
_ESCAPE_LAST = re.compile(rf"(?:{ESCAPE})\Z".encode("ascii"))

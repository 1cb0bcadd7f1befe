"""Secrets written over several lines: joined by a backslash, by `"…" +`, or folded as YAML folds text.

(Contract redaction, "split over lines".) The search finds the first piece; code collects the others and
judges them together. One marker stands for all of them, the line breaks after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.redaction.engine import Pass, Span, any_of, compile_bytes
from workbench.redaction.names import PROBE, SECRET_NAME
from workbench.redaction.values import Place, is_secret

KIND = "assigned_secret"
LONGEST = 4096
_PIECES = 64

_B = r"[ \t]*"
_SIGN = rf"""(?:\\*["'`]\]?)?{_B}(?:[:!~]?=|:){_B}"""
_PIECE = r"""[^\x00-\x20\x7f"'`\\,;$<>{}()\[\]=:*|&][^\x00-\x20\x7f"'`\\]*"""
_FIRST = (
    rf"""\(?{_B}(?:\r?\n{_B})?["']{_PIECE}["']{_B}(?:[+.&\\]|\.\.)?{_B}\r?\n""",
    rf"""["']?{_PIECE}\\\r?\n""",
    rf"[|>][0-9+-]{{0,2}}{_B}\r?\n[ \t]+{_PIECE}",
)
_SPLIT = SECRET_NAME + _SIGN + f"(?:{any_of(_FIRST)})"

_START = re.compile(rb"""[:=][ \t]*(?:\(?[ \t]*(?:\r?\n[ \t]*)?["']|)""")
_JOIN = re.compile(
    rb"""["'][ \t]{0,64}(?:[+.&\\]|\.\.)?[ \t]{0,64}\r?\n[ \t]{0,64}(?:[+.&][ \t]{0,64})?["']"""
)
_STRING = re.compile(rb"""[^\x00-\x20\x7f"'`\\]{1,4096}+""")
_CONTINUED = re.compile(rb"""\\\r?\n[ \t]{0,64}""")
_BLOCK = re.compile(rb"[|>][0-9+-]{0,2}[ \t]{0,64}\r?\n(?=([ \t]{1,64}))")
_BLOCK_LINE = re.compile(rb"([ \t]{1,64})([^\x00-\x20\x7f\"'`\\]{1,4096}+)[ \t]{0,64}(?:\r?\n|\Z)")


class SplitPass(Pass):
    """Names whose value goes on in the next line."""

    # "pwd=" and a value.
    shortest = 12

    def __init__(self) -> None:
        self._search = compile_bytes(_SPLIT, "split secrets")

    @property
    def probes(self) -> Sequence[str]:
        return [PROBE]

    def find(self, data: bytes) -> list[Span]:
        spans: list[Span] = []
        position = 0
        while True:
            found = self._search.search(data, position)
            if found is None:
                return spans
            start, end, position = _secret(data, found.start(), found.end())
            if end:
                spans.append(Span(start, end, KIND))


def _secret(data: bytes, named: int, end: int) -> tuple[int, int, int]:
    """Start and end of the secret whose name is at `named` and whose first piece ends before `end`.

    The end is 0 if there is none. The third is where to go on.
    """
    block = _BLOCK.search(data, named, end)
    if block is not None and b"\n" in data[block.start() : end]:
        return _folded(data, named, block)
    opened = _START.search(data, named, end)
    if opened is None:
        return 0, 0, end
    start = opened.end()
    quoted = data[start - 1 : start] in _QUOTES
    if not quoted and data[start : start + 1] in _QUOTES:
        start, quoted = start + 1, True
    pieces: list[bytes] = []
    place = stop = start
    while len(pieces) < _PIECES and place - start < LONGEST:
        piece = _STRING.match(data, place)
        if piece is None:
            break
        pieces.append(piece[0])
        stop = piece.end()
        join = (_JOIN.match(data, stop) if quoted else None) or _CONTINUED.match(data, stop)
        if join is None:
            break
        place = join.end()
    if len(pieces) < 2 or not is_secret(b"".join(pieces), Place(data[named:start], True, False, b"")):
        # Names in the pieces are looked at when each line is looked at by itself.
        return 0, 0, max(end, stop)
    return start, stop, stop


def _folded(data: bytes, named: int, block: re.Match[bytes]) -> tuple[int, int, int]:
    """The same for the block of lines that begins behind `block`."""
    indent = block[1]
    pieces: list[bytes] = []
    place = block.end()
    start = end = place + len(indent)
    while len(pieces) < _PIECES and place - start < LONGEST:
        line = _BLOCK_LINE.match(data, place)
        if line is None or line[1] != indent:
            break
        pieces.append(line[2])
        end = line.end(2)
        place = line.end()
    if data[place : place + len(indent)] == indent and len(pieces) < _PIECES:
        # Words follow: a text, no secret.
        return 0, 0, max(place, block.end())
    if not pieces or not is_secret(b"".join(pieces), Place(data[named : block.start()], True, False, b"")):
        return 0, 0, max(place, block.end())
    return start, end, end


_QUOTES = (b'"', b"'")

"""Private keys byte by byte: OpenSSL's text form, DER in hexadecimal (contract redaction, private_key)."""

from __future__ import annotations

import re

from workbench.redaction.engine import compile_bytes
from workbench.redaction.key_signs import Signs
from workbench.redaction.key_text import BLANK, EOL, MARKS, NEXT_LINE

_BYTE = "[0-9A-Fa-f]{2}"
_COLON = "(?::|%(?:25)*3[aA])"
_COLONS = rf"{_BYTE}(?:{_COLON}{_BYTE}){{2,}}{_COLON}?"
_MANY = 8
_SURE = rf"{_BYTE}(?:{_COLON}{_BYTE}){{{_MANY - 1},}}{_COLON}?"
"""So many bytes are no time of day and no address of a network card."""

TEXT_LABEL = (
    rf"(?:Private-Key{_COLON}"
    rf"|(?:privateExponent|priv){_COLON}(?:{BLANK}*(?:{EOL}|[\"'`,\\])|{BLANK}+{_COLONS}))"
)
"""OpenSSL's labels before the private numbers."""

_BETWEEN = r"(?:[ \t\r\n:,;|-]|\\+[nrtx]|0[xX]|\\)"
"""One piece of what stands between two bytes of a dump."""

_ = f"{_BETWEEN}*"
_A = f"(?:{_}{_BYTE})"
_LENGTH = f"(?:82{_A}{_A}|81{_A}|[0-7][0-9A-Fa-f])"
DER = (
    f"30{_}{_LENGTH}{_}02{_}01{_}(?:"
    # PKCS#1 and PKCS#8; SEC 1 and PKCS#8 with its public part; PKCS#12.
    f"00{_}(?:02{_}(?:8[12]|4[01])|30{_}{_LENGTH}{_}06{_}0[0-9A-Fa-f])"
    f"|01{_}(?:04{_}[1-4][0-9A-Fa-f]|30{_}{_LENGTH}{_}06{_}0[0-9A-Fa-f])"
    f"|03{_}30{_}8[0-2]"
    f"){_A}{{3}}"
    f"|30{_}{_LENGTH}{_}30{_}{_LENGTH}{_}06{_}(?:09|0[aA]){_}2[aA]{_}86{_}48{_}86{_}[fF]7{_}0[dD]{_}01{_}(?:05|0[cC])"
    f"|6[fF]{_}70{_}65{_}6[eE]{_}73{_}73{_}68{_}2[dD]{_}6[bB]{_}65{_}79{_}2[dD]{_}76{_}31{_}00"  # OpenSSH
)
"""The first bytes of a private key in hexadecimal, however the bytes are parted."""

FARTHEST = 400
"""Bytes behind a label or a dump in which the next dump must begin."""
LABELS = 4
"""Lines without a dump that may stand between two dumps."""

_LINE = rf"(?:{EOL}{MARKS}[\"'`]?{MARKS}|{_COLON}{BLANK}+)"
_NEXT_DUMP = compile_bytes(rf"{_LINE}{_COLONS}|\b{_SURE}", "the next dump")
_FIRST_BYTES = re.compile(_COLONS.encode("ascii"))
_PLAIN_ENDS = (b"", b"\n", b"\r")
_SHORTEST = len(":\nab:cd:ef")
_DUMP = compile_bytes(rf"{_COLONS}(?:{NEXT_LINE}{_COLONS})*", "a dump")
_LAST = compile_bytes(rf"{NEXT_LINE}{_BYTE}(?:{_COLON}{_BYTE})?", "a dump's last line")
_SURE_DUMP = re.compile(_SURE.encode("ascii"))
_DUMP_ENDS = compile_bytes(rf"{BLANK}*(?:{EOL}|$|[\"'`<,|\\])", "the end of a dump")
_EOL = compile_bytes(EOL, "a line end")
_OFFSET = rf"(?:{EOL}{MARKS}(?:[0-9A-Fa-f]{{4,16}}(?::|{BLANK})(?:{BLANK}|-)*)?)"
_ASCII = r"(?: {1,4}\|[^\r\n|]{0,16}\|?| {2,4}[^\r\n]{1,20})?"
_HEX = compile_bytes(
    rf"(?:{_BETWEEN}*{_BYTE})*[0-9A-Fa-f]?\b(?:{_ASCII}{_OFFSET}(?:{_BETWEEN}*{_BYTE})+\b)*{_ASCII}",
    "a dump of DER",
)


def text_dumps(data: bytes, at: int, signs: Signs) -> list[tuple[int, int]]:
    """The dumps behind one of OpenSSL's labels that begins at `at`.

    `signs` are those of `data`.
    """
    pieces: list[tuple[int, int]] = []
    while True:
        # The label itself is a sign.
        limit = min(at + FARTHEST, signs.next_start(at + 1))
        stop = data.find(b"[REDACTED:", at, limit)
        limit = limit if stop < 0 else stop
        if limit - at < _SHORTEST:
            return pieces
        found = _NEXT_DUMP.search(data, at, limit)
        if found is None or _lines(data, at, found.start()) > LABELS:
            return pieces
        first = _FIRST_BYTES.search(data, found.start(), found.end())
        begun = first.start() if first else found.start()
        end: int = _DUMP.match(data, begun).end()
        # Half a line more belongs to it if nothing else stands on that line.
        last = _LAST.match(data, end, end + FARTHEST)
        if last is not None and _DUMP_ENDS.match(data, last.end(), last.end() + FARTHEST) is not None:
            end = last.end()
        ends = data[end : end + 1] in _PLAIN_ENDS or _DUMP_ENDS.match(data, end, end + FARTHEST) is not None
        if (ends or _SURE_DUMP.match(data, begun, end)) and not data.endswith(b"MD5:", 0, begun):
            pieces.append((begun, end))
        at = end


def der_dump(data: bytes, start: int, end: int) -> int:
    """Where the dump ends that begins with the match of `DER` at `start` to `end`."""
    found = _HEX.match(data, start)
    return end if found is None else max(end, found.end())


def _lines(data: bytes, start: int, end: int) -> int:
    count = data.count(b"\n", start, end)
    if data.find(b"\\", start, end) < 0 and data.find(b"%", start, end) < 0:
        return count
    count = 0
    while count <= LABELS:
        found = _EOL.search(data, start, end)
        if found is None:
            return count
        start = found.end()
        count += 1
    return count

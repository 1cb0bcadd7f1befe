"""A private key in armour that was encoded in base64 once more, as Kubernetes and CI systems keep it.

"PRIVATE KEY" reads as one of three texts there, by its place in the three bytes that four characters hold.
What it stands in is decoded: a text that only speaks of keys, such as a source map, stays.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from typing import NamedTuple

from workbench.redaction.engine import compile_bytes
from workbench.redaction.key_text import BLANK, EOL, MARKS, SEPARATOR, behind_escape

SIGNS = ("UFJJVkFURSBLRV", "BSSVZBVEUgS0VZ", "QUklWQVRFIEtFW")
"""The characters that hold no bit of what stands before or behind "PRIVATE KEY"."""

RECODED = "|".join(SIGNS)

_CHARACTERS = "[A-Za-z0-9+/_-]"
_LINE_ENDS = compile_bytes(rf"(?:{BLANK}|{EOL}{MARKS})+", "line ends")
_BLOB = compile_bytes(rf"{_CHARACTERS}+(?:(?:{BLANK}|{EOL}{MARKS})+{_CHARACTERS}+)*", "base64")
_BACKWARDS = re.compile(rb"[A-Za-z0-9+/_-]*")
_LABEL = rf"[^\r\n]*(?i:PRIVATE){SEPARATOR}+(?i:KEY)"
_HOLDS_KEY = compile_bytes(
    rf"(?i:BEGIN){_LABEL}(?:[^A-Za-z0-9]|BLOCK|\\+[nrt])*"
    rf"(?:[A-Za-z][A-Za-z-]+: ?[^\r\n\\]+(?:\s|\\+[nrt])+)*[A-Za-z0-9+/]{{16}}"
    rf"|[A-Za-z0-9+/]{{8}}=*(?:[^A-Za-z0-9]|\\+[nrt])*(?i:END){_LABEL}",
    "a marker with a body beside it",
)
_STANDARD = bytes.maketrans(b"-_", b"+/")


class Blob(NamedTuple):
    """A run of base64 over any number of lines, and whether a key in armour stands in it."""

    start: int
    end: int
    holds_key: bool


def blob_around(data: bytes, place: int, least: int) -> Blob:
    """The base64 around `place`, one of the signs, read from its beginning, but not before `least`."""
    start = behind_escape(data, _run_start(data, place, least))
    end: int = _BLOB.match(data, start).end()
    text = data[start:end]
    if _LINE_ENDS.search(text) is not None:
        text = _LINE_ENDS.sub(b"", text)
    text = text.translate(_STANDARD)
    # Where the groups of four begin is unknown if the text was cut, or glued to a word.
    for shift in range(4):
        decoded = a2b_base64(text[shift : shift + (len(text) - shift) // 4 * 4])
        if _HOLDS_KEY.search(decoded) is not None:
            return Blob(start, end, True)
    return Blob(start, end, False)


def _run_start(data: bytes, place: int, least: int) -> int:
    """Where the run of base64 characters begins that `place` stands in, in time linear in the distance."""
    size = 4096
    while True:
        low = max(least, place - size)
        found = _BACKWARDS.match(data[low:place][::-1])
        reached = place - (found.end() if found else 0)
        if reached > low or low == least:
            return reached
        size *= 4

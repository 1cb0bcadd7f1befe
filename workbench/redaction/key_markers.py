"""The lines around a private key: BEGIN and END, up to three words, PRIVATE KEY, in any case or escape."""

from __future__ import annotations

import re

from workbench.redaction.key_text import DASH, SEPARATOR

_LABEL = (
    rf"(?:{SEPARATOR}+[A-Za-z0-9]+){{0,3}}{SEPARATOR}+(?i:PRIVATE){SEPARATOR}+(?i:KEY)"
    rf"(?:{SEPARATOR}+(?i:BLOCK))?(?: {DASH}{{2,}}|{DASH}*)"
)

MARKER_BEGIN = f"(?i:BEGIN){_LABEL}"
"""A BEGIN line from its first letter to its last dash, if it has any."""

MARKER_END = f"(?i:END){_LABEL}"

OTHER_BEGIN = rf"{DASH}{DASH} ?(?i:BEGIN)"
"""The beginning of any block, of a certificate say."""

FARTHEST = 80
"""Bytes before a marker's first letter in which its dashes are looked for."""

_DASHES_BEFORE = re.compile(rf"(?:{DASH})+ ?\Z".encode("latin-1"))


def marker_start(data: bytes, letter: int, least: int) -> int:
    """Where the dashes begin that stand before a marker's first letter, but not before `least`."""
    if letter == least:
        return letter
    before = data[max(least, letter - FARTHEST) : letter]
    if not before.endswith(_LAST_OF_DASH):
        return letter
    found = _DASHES_BEFORE.search(before)
    return letter if found is None else letter - len(found[0])


_LAST_OF_DASH = tuple(bytes([byte]) for byte in b"- Dd;012345\x90\x91\x92\x93\x94\x95")

"""Bytes as lines of a hex dump."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

WIDE = 78
"""Cells that a line of sixteen bytes takes; a narrower place shows eight."""


class HexLine(NamedTuple):
    """One line: where it begins, its bytes as digits, and as the ASCII characters that they are."""

    offset: str
    digits: str
    text: str


def hex_lines(data: bytes, per_line: int = 16) -> Iterator[HexLine]:
    """The lines of a dump; a byte that is no printable ASCII is a dot."""
    half = per_line // 2
    for at in range(0, len(data), per_line):
        row = data[at : at + per_line]
        halves = (row[:half].hex(" "), row[half:].hex(" "))
        digits = f"{halves[0]:<{3 * half - 1}}  {halves[1]:<{3 * (per_line - half) - 1}}"
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield HexLine(f"{at:08x}", digits, text)

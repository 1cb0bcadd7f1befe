"""What an image says of itself in its first bytes: format, size, colours. Nothing of it is drawn or decoded.

Each format is read as its specification lays it out, byte by byte and within bounds, so that a hostile file
costs no more than a look.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

_PNG_COLOURS = {0: "grey", 2: "RGB", 3: "palette", 4: "grey and transparency", 6: "RGB and transparency"}
_JPEG_COLOURS = {1: "grey", 3: "colour", 4: "CMYK"}
_BMP_BITS = frozenset((1, 2, 4, 8, 16, 24, 32))
_JPEG_FRAMES = frozenset((*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)))
_JPEG_BARE = frozenset((0x01, *range(0xD0, 0xDA)))


class ImageFacts(NamedTuple):
    """What is said; nobody has checked that it is true."""

    format: str
    """`PNG`, `JPEG`, `GIF`, `BMP` or `WebP`."""
    width: int | None = None
    """In pixels; None where it does not stand in the bytes that were looked at."""
    height: int | None = None
    colours: str = ""
    """As `RGB`; empty where it is not said."""


def image_facts(head: bytes) -> ImageFacts | None:
    """Of a file that begins so; None where that is the beginning of no image of these formats."""
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            return _png(head)
        if head.startswith(b"\xff\xd8\xff"):
            return _jpeg(head)
        if head.startswith((b"GIF87a", b"GIF89a")):
            width, height = struct.unpack_from("<HH", head, 6)
            return ImageFacts("GIF", width, height, "palette")
        if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
            return _webp(head)
        if head.startswith(b"BM") and len(head) >= 30 and struct.unpack_from("<I", head, 14)[0] >= 40:
            width, height, planes, bits = struct.unpack_from("<iiHH", head, 18)
            # Two letters alone make no image.
            if planes != 1 or bits not in _BMP_BITS:
                return None
            return ImageFacts("BMP", abs(width), abs(height), f"{bits} bits a pixel")
    except struct.error:
        pass
    return _cut_short(head)


def _cut_short(head: bytes) -> ImageFacts | None:
    """An image whose size is cut off; two letters alone make no BMP of anything."""
    for sign, name in ((b"\x89PNG\r\n\x1a\n", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF")):
        if head.startswith(sign):
            return ImageFacts(name)
    return None


def _png(head: bytes) -> ImageFacts:
    if head[12:16] != b"IHDR":
        return ImageFacts("PNG")
    width, height, bits, colour = struct.unpack_from(">IIBB", head, 16)
    colours = _PNG_COLOURS.get(colour, "")
    return ImageFacts("PNG", width, height, f"{colours}, {bits} bits a channel" if colours else "")


def _jpeg(head: bytes) -> ImageFacts:
    at = 2
    while at + 4 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:
            at += 1
        elif marker in _JPEG_BARE:
            at += 2
        elif marker in _JPEG_FRAMES:
            bits, height, width, channels = struct.unpack_from(">BHHB", head, at + 4)
            colours = _JPEG_COLOURS.get(channels, "")
            return ImageFacts("JPEG", width, height, f"{colours}, {bits} bits a channel" if colours else "")
        else:
            at += 2 + struct.unpack_from(">H", head, at + 2)[0]
    return ImageFacts("JPEG")


def _webp(head: bytes) -> ImageFacts:
    kind = head[12:16]
    if kind == b"VP8X":
        width = int.from_bytes(head[24:27], "little") + 1
        height = int.from_bytes(head[27:30], "little") + 1
        if len(head) >= 30:
            return ImageFacts("WebP", width, height, "RGB and transparency" if head[20] & 0x10 else "RGB")
    elif kind == b"VP8 " and head[23:26] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", head, 26)
        return ImageFacts("WebP", width & 0x3FFF, height & 0x3FFF, "RGB")
    elif kind == b"VP8L" and head[20:21] == b"\x2f":
        (bits,) = struct.unpack_from("<I", head, 21)
        return ImageFacts("WebP", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, "RGB")
    return ImageFacts("WebP")

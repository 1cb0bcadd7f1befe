"""What an image says of itself: the formats, and files that were made to deceive."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.workspace.image_facts import ImageFacts, image_facts

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBB", 13, b"IHDR", 640, 400, 8, 2) + b"\0\0\0"
GIF = b"GIF89a" + struct.pack("<HH", 20, 10)
BMP = b"BM" + bytes(12) + struct.pack("<IiiHH", 40, 30, -12, 1, 24)
JPEG = (
    b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(10) + b"\xff\xfe\0\x06abcd" + b"\xff\xc2\0\x11\x08"
    + struct.pack(">HHB", 48, 64, 3)
)  # fmt: skip
WEBP = b"RIFF" + bytes(4) + b"WEBP"
LOSSY = WEBP + b"VP8 " + bytes(7) + b"\x9d\x01\x2a" + struct.pack("<HH", 33, 22)
EXTENDED = WEBP + b"VP8X" + bytes(4) + b"\x10\0\0\0" + (99).to_bytes(3, "little") + (49).to_bytes(3, "little")
LOSSLESS = WEBP + b"VP8L" + bytes(4) + b"\x2f" + struct.pack("<I", (6 << 14) | 4)


@pytest.mark.parametrize(
    ("head", "facts"),
    [
        (PNG, ImageFacts("PNG", 640, 400, "RGB, 8 bits a channel")),
        (GIF, ImageFacts("GIF", 20, 10, "palette")),
        (BMP, ImageFacts("BMP", 30, 12, "24 bits a pixel")),
        (JPEG, ImageFacts("JPEG", 64, 48, "colour, 8 bits a channel")),
        (LOSSY, ImageFacts("WebP", 33, 22, "RGB")),
        (EXTENDED, ImageFacts("WebP", 100, 50, "RGB and transparency")),
        (LOSSLESS, ImageFacts("WebP", 5, 7, "RGB")),
        (b"\xff\xd8\xff\xe0\xff\xff", ImageFacts("JPEG")),
        (WEBP + b"else", ImageFacts("WebP")),
        (b"\x89PNG\r\n\x1a\n\0\0", ImageFacts("PNG")),
        (b"BMw not an image at all, of any size whatever", None),
        (b"text", None),
        (b"", None),
    ],
)
def test_an_image_is_described(head: bytes, facts: ImageFacts | None) -> None:
    assert image_facts(head) == facts


@pytest.mark.parametrize("whole", [PNG, GIF, BMP, JPEG, LOSSY, EXTENDED, LOSSLESS])
def test_an_image_that_is_cut_off_anywhere_harms_nobody(whole: bytes) -> None:
    for end in range(len(whole)):
        found = image_facts(whole[:end])
        assert found is None or isinstance(found.format, str)


@given(st.sampled_from([PNG[:8], JPEG[:4], GIF[:6], WEBP, b"BM"]), st.binary(max_size=400))
def test_whatever_follows_a_beginning_is_looked_at_in_bounds(sign: bytes, rest: bytes) -> None:
    found = image_facts(sign + rest)
    assert found is None or found.format in ("PNG", "JPEG", "GIF", "WebP", "BMP")


def test_a_jpeg_whose_parts_have_no_length_ends() -> None:
    assert image_facts(b"\xff\xd8" + b"\xff\xe0\0\0" * 5000) == ImageFacts("JPEG")

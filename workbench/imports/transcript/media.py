"""Images and documents inside a transcript: a description for the text, bytes for the evidence."""

from __future__ import annotations

import binascii
import re
from typing import Any, NamedTuple

from workbench.imports.transcript.items import EvidenceBytes

_MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,40}/[a-z0-9][a-z0-9.+-]{0,60}")
_BLANKS = str.maketrans("", "", " \t\r\n")


class Media(NamedTuple):
    """One image or document block."""

    description: str
    """`[image png, 41 KB]`; `[image png, unreadable]`, `[image, elsewhere]` where no bytes can be had."""
    evidence: EvidenceBytes | None
    unreadable: bool
    """Whether the block claims to hold bytes that cannot be decoded."""


def read_media(block: dict[str, Any]) -> Media:
    """Describe a block of type `image` or `document` and take its bytes out. Never raises."""
    kind = "document" if block.get("type") == "document" else "image"
    source = block.get("source")
    if not isinstance(source, dict):
        return Media(f"[{kind}]", None, False)
    claimed = source.get("media_type")
    media_type = claimed.lower() if type(claimed) is str else ""
    if not _MEDIA_TYPE.fullmatch(media_type):
        media_type = ""
    label = f"{kind} {media_type.partition('/')[2]}".rstrip()
    data = source.get("data")
    if type(data) is not str:
        where = "elsewhere" if source.get("type") in ("url", "file") else "without data"
        return Media(f"[{label}, {where}]", None, False)
    if source.get("type") == "text":
        return _readable(label, data.encode("utf-8", "replace"), media_type or "text/plain")
    decoded = _decode_base64(data)
    if not decoded:
        return Media(f"[{label}, unreadable]", None, True)
    return _readable(label, decoded, media_type)


def _readable(label: str, data: bytes, media_type: str) -> Media:
    return Media(f"[{label}, {size_text(len(data))}]", EvidenceBytes(data, media_type), False)


def _decode_base64(data: str) -> bytes:
    try:
        return binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        pass
    try:
        return binascii.a2b_base64(data.translate(_BLANKS), strict_mode=True)
    except ValueError:
        return b""


def size_text(size: int) -> str:
    """A number of bytes for people: `512 bytes`, `41 KB`, `1.4 MB` (1 KB = 1024 bytes)."""
    if size < 1024:
        return f"{size} byte{'' if size == 1 else 's'}"
    if size < 1024 * 1024:
        return f"{round(size / 1024)} KB"
    return f"{size / (1024 * 1024):.1f} MB"

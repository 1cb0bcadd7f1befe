"""What is there of one artifact: its bytes, and what they are."""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
from typing import NamedTuple

from workbench.evidence import EvidenceStore
from workbench.text_encoding import text_encoding
from workbench.workspace.image_facts import ImageFacts, image_facts
from workbench.workspace.readers.evidence_queries import EvidenceReader
from workbench.workspace.rows import PurgeRow

HEAD = 4096
"""Bytes from its beginning that are kept of an artifact that is no text."""

_CHUNK = 1 << 20
_HEAD = 8192
_IMAGE_HEAD = 1 << 18
"""Bytes in which the size of an image is looked for: before it may stand a colour profile."""
_STRAY = 0.02
"""Share of characters that may be bytes of another encoding in what is still text."""
_STRAYS = re.compile("[\udc80-\udcff\ufffd]")
_LEAST_WIDE = 4
"""Bytes from which a text of two bytes a character is believed without a mark."""

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"BM", "BMP image"),
    (b"RIFF", "RIFF media"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\x7fELF", "program"),
)


class Artifact(NamedTuple):
    """An artifact as it is now."""

    digest: str
    status: str
    """`archived`, `purged`, `missing`, `damaged` (the bytes are others) or `unreadable`."""
    size: int | None = None
    """In bytes; None where there is nothing to be read."""
    kind: str = ""
    """`text`, or what its first bytes say; empty where there is nothing to be read."""
    text: str | None = None
    """What a text says, a stranger's words; None for anything else."""
    purge: PurgeRow | None = None
    encoding: str = ""
    """Of a text."""
    exact: bool = True
    """Whether `text` is every byte of it; otherwise bytes that are no text are spelled out, as `\\xe9`."""
    head: bytes = b""
    """The first `HEAD` bytes of what is no text."""
    image: ImageFacts | None = None
    """What an image says of itself."""


class Decoded(NamedTuple):
    """Bytes as text."""

    text: str
    encoding: str
    exact: bool


def artifact(store: EvidenceStore, reader: EvidenceReader, digest: str) -> Artifact:
    """Look at one. Raises `EvidenceError` for what is no digest, and the storage errors of a read.

    Only a text is kept in memory.
    """
    purged = reader.purge(digest)
    if purged is not None:
        return Artifact(digest, "purged", purge=purged)
    try:
        # A pipe in its place must not make anybody wait.
        descriptor = os.open(store.path(digest), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Artifact(digest, "missing")
    except OSError:
        return Artifact(digest, "unreadable")
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return Artifact(digest, "missing")
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        found = hashlib.sha256()
        chunks: list[bytes] = []
        try:
            head = file.read(_IMAGE_HEAD)
            file.seek(0)
            encoding = text_encoding(file)
            size = 0
            while chunk := file.read(_CHUNK):
                found.update(chunk)
                size += len(chunk)
                if encoding is not None:
                    chunks.append(chunk)
        except OSError:
            return Artifact(digest, "unreadable")
    status = "archived" if found.hexdigest() == digest else "damaged"
    said = None if encoding is None else decoded(b"".join(chunks), encoding)
    if said is not None:
        return Artifact(digest, status, size, "text", said.text, encoding=said.encoding, exact=said.exact)
    image = image_facts(head)
    kind = _kind(head) if image is None else f"{image.format} image"
    return Artifact(digest, status, size, kind, head=head[:HEAD], image=image)


def decoded(data: bytes, encoding: str | None = None) -> Decoded | None:
    """Bytes as the text that they are; None for what is none. `encoding` where it is known already.

    A few bytes of another encoding, as in a log that several programs wrote, are spelled out as `\\xe9`.
    """
    encoding = encoding or text_encoding(io.BytesIO(data))
    if encoding is None or (encoding != "utf-8" and len(data) < _LEAST_WIDE):
        return None
    try:
        return Decoded(data.decode(encoding).removeprefix("\ufeff"), encoding, True)
    except UnicodeDecodeError:
        # Of a whole file in another encoding the letters with accents are the strays; of a picture, most is.
        text = data.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
    stray = sum(1 for _ in _STRAYS.finditer(text))
    if stray > max(1, _STRAY * len(text)) or text.count("\0") > max(1, _STRAY * len(text)):
        return None
    return Decoded(data.decode(encoding, "backslashreplace"), encoding, False)


def _kind(head: bytes) -> str:
    return next((name for sign, name in _KINDS if head.startswith(sign)), "binary")

"""What is there of one artifact: its bytes, and what they are."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import NamedTuple

from workbench.evidence import EvidenceStore
from workbench.workspace.readers.evidence_queries import EvidenceReader
from workbench.workspace.rows import PurgeRow

_CHUNK = 1 << 20
_HEAD = 8192

_KINDS = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
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
        size = 0
        head = b""
        kept: list[bytes] | None = []
        try:
            while chunk := file.read(_CHUNK):
                found.update(chunk)
                size += len(chunk)
                head = head or chunk[:_HEAD]
                if kept is not None:
                    kept = None if b"\0" in head else [*kept, chunk]
        except OSError:
            return Artifact(digest, "unreadable")
    try:
        text = None if kept is None else b"".join(kept).decode("utf-8")
    except UnicodeDecodeError:
        text = None
    kind = "text" if text is not None else _kind(head)
    status = "archived" if found.hexdigest() == digest else "damaged"
    return Artifact(digest, status, size, kind, text)


def _kind(head: bytes) -> str:
    return next((name for sign, name in _KINDS if head.startswith(sign)), "binary")

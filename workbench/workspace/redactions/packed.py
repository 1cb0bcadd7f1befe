"""Files that show nothing of what is in them: packed ones are unpacked for a look."""

from __future__ import annotations

from pathlib import Path
from typing import IO, cast

from workbench.imports.plain_text import secrets_in
from workbench.redaction import SecretFilter

_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"
_CLOSED = (
    b"PK\x03\x04",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"SQLite format 3\0",
    b"\x37\x7f\x06\x82",
    b"\x37\x7f\x06\x83",
    b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",
)
"""How files begin that show nothing, or only pieces: other archives, and SQLite's files."""


def secrets_inside(path: Path, secrets: SecretFilter) -> dict[str, int] | None:
    """How much of each kind the filter finds in what a file holds; None where that cannot be told.

    For a file in whose own bytes nothing was found. Raises `OSError` where it cannot be opened.
    """
    with path.open("rb") as file:
        head = file.read(16)
    # Here: hardly any workspace has such files.
    import bz2
    import gzip
    import lzma
    import zlib

    try:
        if head.startswith(_GZIP):
            with gzip.open(path) as file:
                return secrets_in(cast("IO[bytes]", file), secrets)
        if head.startswith(_BZIP2):
            with bz2.open(path) as file:
                return secrets_in(cast("IO[bytes]", file), secrets)
        if head.startswith(_XZ):
            with lzma.open(path) as file:
                return secrets_in(cast("IO[bytes]", file), secrets)
    except (EOFError, OSError, lzma.LZMAError, zlib.error):
        return None
    return None if head.startswith(_CLOSED) else {}

"""Text of any encoding without its secrets; what is no text, looked through."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import IO

from workbench.log.ports import Redactor
from workbench.redaction.streaming import redact_stream
from workbench.text_encoding import Encoding, Target, redact_encoded, text_encoding

_CHUNK = 1 << 20
_WIDE = re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){8,}|(?:\0[\t\n\r\x20-\x7e]){8,}")
"""Text of two bytes a character among other bytes."""
_OVERLAP = 4096


def redact_text_in(
    source: IO[bytes], target: Target, redactor: Redactor, encoding: Encoding
) -> dict[str, int]:
    """Copy a text without its secrets, in its own encoding; how many of each kind were removed.

    Bytes that are no text of the encoding stay as they are. Raises what `source` and `target` raise.
    """
    return redact_encoded(source, target, lambda read, write: redact_stream(read, write, redactor), encoding)


def secrets_in(source: IO[bytes], redactor: Redactor) -> dict[str, int]:
    """How much of each kind the filter finds in a file, text or not. Raises `OSError`."""
    encoding = text_encoding(source)
    if encoding is not None:
        return redact_text_in(source, _Nowhere(), redactor, encoding)
    counts = redact_stream(source, _Nowhere(), redactor)
    source.seek(0)
    for text in _wide_texts(source):
        # The first character may be of what stands before the text.
        found = redactor.redact_text(text)[1] or redactor.redact_text(text[1:])[1]
        for kind, number in found.items():
            counts[kind] = counts.get(kind, 0) + number
    source.seek(0)
    return counts


def redact_bytes(data: bytes, redactor: Redactor) -> tuple[bytes, dict[str, int], bool]:
    """Bytes without the secrets of their text, how many of each kind were found, and whether they are text.

    What is no text stays as it is, whatever was found in it.
    """
    source = io.BytesIO(data)
    encoding = text_encoding(source)
    if encoding is None:
        return data, secrets_in(source, redactor), False
    target = io.BytesIO()
    counts = redact_text_in(source, target, redactor, encoding)
    return (target.getvalue() if counts else data), counts, True


def _wide_texts(source: IO[bytes]) -> Iterator[str]:
    before = b""
    while chunk := source.read(_CHUNK):
        data = before + chunk
        for found in _WIDE.finditer(data):
            if found.end() > len(before):
                yield found[0].replace(b"\0", b"").decode("ascii")
        before = data[-_OVERLAP:]


class _Nowhere:
    def write(self, data: bytes, /) -> None:
        """Take some bytes, and keep none."""

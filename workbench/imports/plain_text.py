"""Text of any encoding without its secrets; what is no text, looked through."""

from __future__ import annotations

import io
from typing import IO

from workbench.log.ports import Redactor
from workbench.redaction.streaming import redact_stream
from workbench.text_encoding import Encoding, Target, redact_encoded, secrets_among, text_encoding


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
    return secrets_among(source, lambda read, write: redact_stream(read, write, redactor))


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


class _Nowhere:
    def write(self, data: bytes, /) -> None:
        """Take some bytes, and keep none."""

"""What bytes are text, in which encoding, and that text without its secrets; what is none, looked through.

The bytes decide, never what somebody declared them to be: the importer that keeps evidence and the look
through what is stored ask here, so that neither passes over what the other one finds.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from typing import IO, Literal

from workbench.log.ports import Redactor
from workbench.redaction.streaming import Target, redact_stream

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]

_HEAD = 8192
_CHUNK = 1 << 20
# The longer ones first: one begins as the other does.
_MARKS: tuple[tuple[bytes, Encoding], ...] = (
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_UNMARKED: tuple[Encoding, ...] = ("utf-16-le", "utf-16-be")
_PLAIN = 0.95
"""Share of a text's characters that can be read."""
_FAMILIAR = 0.5
"""Share of them from the alphabets up to Cyrillic: two bytes of anything are one character or another."""
_LAST_FAMILIAR = 0x052F

_FORMATS = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"RIFF",
    b"II*\0",
    b"MM\0*",
    b"%PDF-",
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\xfd7zXZ\0",
)
"""How images, documents and packed files begin that must stay byte for byte, to the last one."""

_WIDE = re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){8,}|(?:\0[\t\n\r\x20-\x7e]){8,}")
"""Text of two bytes a character among other bytes."""
_OVERLAP = 4096


def text_encoding(source: IO[bytes]) -> Encoding | None:
    """In which encoding a file is text, read from its beginning; None for what is none.

    `source` can be sought in, and stands at its beginning afterwards. Text in UTF-8 may have some bytes
    that are none, unless it begins as an image or a document does. Raises `OSError`.
    """
    head = source.read(_HEAD)
    try:
        for mark, encoding in _MARKS:
            if head.startswith(mark):
                source.seek(0)
                # Two bytes more or less are a character whatever they are; of four most are none.
                if not encoding.startswith("utf-32") or _is_whole(source, encoding):
                    return encoding
        if head.startswith(_FORMATS):
            source.seek(0)
            return "utf-8" if _is_whole(source, "utf-8") else None
        if b"\0" in head:
            return next((each for each in _UNMARKED if _reads_as(head, each)), None)
        return "utf-8"
    finally:
        source.seek(0)


def redact_text_in(
    source: IO[bytes], target: Target, redactor: Redactor, encoding: Encoding
) -> dict[str, int]:
    """Copy a text without its secrets, in its own encoding; how many of each kind were removed.

    Bytes that are no text of the encoding stay as they are. Raises what `source` and `target` raise.
    """
    if encoding == "utf-8":
        return redact_stream(source, target, redactor)
    back = _Back(target, encoding)
    there = _AsUtf8(source, encoding)
    counts = redact_stream(there, back, redactor)
    back.end()
    # Half a character at the very end.
    target.write(there.rest)
    return counts


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


def _reads_as(head: bytes, encoding: Encoding) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    if not text:
        return False
    plain = sum(each.isprintable() or each in "\t\n\r\f" for each in text)
    familiar = sum(ord(each) <= _LAST_FAMILIAR for each in text)
    return plain >= _PLAIN * len(text) and familiar >= _FAMILIAR * len(text)


def _is_whole(source: IO[bytes], encoding: Encoding) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while chunk := source.read(_CHUNK):
            if "\0" in decoder.decode(chunk):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _wide_texts(source: IO[bytes]) -> Iterator[str]:
    before = b""
    while chunk := source.read(_CHUNK):
        data = before + chunk
        for found in _WIDE.finditer(data):
            if found.end() > len(before):
                yield found[0].replace(b"\0", b"").decode("ascii")
        before = data[-_OVERLAP:]


class _AsUtf8:
    """A file of another encoding, read as UTF-8; lone surrogates are three bytes as any other character."""

    def __init__(self, source: IO[bytes], encoding: Encoding) -> None:
        self._source = source
        self._decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
        self._ready = b""
        self.rest = b""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        while not self._ready:
            chunk = self._source.read(_CHUNK)
            if not chunk:
                self.rest = self._decoder.getstate()[0]
                return b""
            self._ready = self._decoder.decode(chunk).encode("utf-8", "surrogatepass")
        some, self._ready = self._ready[:size], self._ready[size:]
        return some


class _Back:
    """Takes UTF-8 and writes it in another encoding."""

    def __init__(self, target: Target, encoding: Encoding) -> None:
        self._target = target
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")

    def write(self, data: bytes, /) -> None:
        """Take all of `data`, which may end within a character."""
        self._target.write(self._decoder.decode(data).encode(self._encoding, "surrogatepass"))

    def end(self) -> None:
        """Nothing comes any more."""
        self._target.write(self._decoder.decode(b"", final=True).encode(self._encoding, "surrogatepass"))


class _Nowhere:
    def write(self, data: bytes, /) -> None:
        """Take some bytes, and keep none."""

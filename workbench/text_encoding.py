"""In which encoding bytes are text, and text of any of them filtered as if it were UTF-8.

The bytes decide, never what somebody declared them to be. Importers, evidence and the look through what is
stored ask here, so that none passes over what another one finds.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable, Iterator
from typing import Literal, Protocol

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

_WIDE = re.compile(rb"(?:[\t\n\r\x20-\x7e]\0){8,}|(?:\0[\t\n\r\x20-\x7e]){8,}")
"""Text of two bytes a character among other bytes."""
_OVERLAP = 4096

_BREAKS = b"\t\n\r\f\v\b\x1b"
_ASCII = 0.7
"""Share of the bytes of a text of one byte a character that are ASCII, if zero bytes stand in it."""

_FORMATS = (
    b"\x89PNG",
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


class Source(Protocol):
    """Bytes to be read."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        ...


class Seekable(Source, Protocol):
    """Bytes that can be read again: a file opened in binary mode."""

    def seek(self, place: int, /) -> int:
        """Go on from a place."""
        ...


class Target(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take all of `data`."""
        ...


RedactStream = Callable[[Source, Target], dict[str, int]]
"""Copies a text in UTF-8 without its secrets; how many of each kind were removed."""


def text_encoding(source: Seekable) -> Encoding | None:
    """In which encoding a file is text, read from its beginning; None for what is none.

    `source` can be sought in, and stands at its beginning afterwards. Text in UTF-8 may have some bytes
    that are none, a zero byte now and then too, unless it begins as an image or a document does. Raises
    what `source` raises.
    """
    head = source.read(_HEAD)
    try:
        for mark, encoding in _MARKS:
            if head.startswith(mark):
                if encoding in _UNMARKED and _reads_as_bytes(head[2:]) and len(head) > 2:
                    # Stray bytes before a text of one byte a character: of two, half would be zero.
                    return "utf-8"
                source.seek(0)
                # Two bytes more or less are a character whatever they are; of four most are none.
                if not encoding.startswith("utf-32") or _is_whole(source, encoding):
                    return encoding
        if head.startswith(_FORMATS):
            source.seek(0)
            return "utf-8" if _is_whole(source, "utf-8") else None
        if b"\0" in head:
            wide = next((each for each in _UNMARKED if _reads_as(head, each)), None)
            return wide or ("utf-8" if _reads_as_bytes(head) else None)
        return "utf-8"
    finally:
        source.seek(0)


def redact_encoded(
    source: Source, target: Target, redact: RedactStream, encoding: Encoding
) -> dict[str, int]:
    """Copy a text without its secrets, in its own encoding; how many of each kind were removed.

    `redact` filters UTF-8. Bytes that are no text of the encoding stay as they are. Raises what `source`,
    `target` and `redact` raise.
    """
    if encoding == "utf-8":
        return redact(source, target)
    back = _Back(target, encoding)
    there = _AsUtf8(source, encoding)
    counts = redact(there, back)
    back.end()
    # Half a character at the very end.
    target.write(there.rest)
    return counts


def secrets_among(source: Seekable, redact: RedactStream) -> dict[str, int]:
    """What is found in the texts among bytes that are no text, by kind; `source` is read from its beginning.

    What reads as UTF-8 is looked through, and so is text of two bytes a character. Raises what `source` and
    `redact` raise.
    """
    counts = dict(redact(source, _Nowhere()))
    source.seek(0)
    for text in _wide_texts(source):
        # The first character may be of what stands before the text.
        found = redact(io.BytesIO(text), _Nowhere()) or redact(io.BytesIO(text[1:]), _Nowhere())
        for kind, number in found.items():
            counts[kind] = counts.get(kind, 0) + number
    source.seek(0)
    return counts


def _wide_texts(source: Source) -> Iterator[bytes]:
    before = b""
    while chunk := source.read(_CHUNK):
        data = before + chunk
        for found in _WIDE.finditer(data):
            if found.end() > len(before):
                yield found[0].replace(b"\0", b"")
        before = data[-_OVERLAP:]


class _Nowhere:
    def write(self, data: bytes, /) -> None:
        """Take some bytes, and keep none."""


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


def _reads_as_bytes(head: bytes) -> bool:
    """Whether nearly every byte is a sign of some text: a log that a zero byte got into."""
    control = sum(byte < 0x20 and byte not in _BREAKS for byte in head)
    readable = sum(0x20 <= byte < 0x7F or byte in _BREAKS for byte in head)
    return control <= (1 - _PLAIN) * len(head) + 1 and readable >= _ASCII * len(head)


def is_utf8(source: Seekable) -> bool:
    """Whether a file is UTF-8 to its end, zero bytes and all; it stands at its beginning afterwards."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := source.read(_CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        source.seek(0)
    return True


def _is_whole(source: Seekable, encoding: Encoding) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while chunk := source.read(_CHUNK):
            if "\0" in decoder.decode(chunk):
                return False
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


class _AsUtf8:
    """A file of another encoding, read as UTF-8; lone surrogates are three bytes as any other character."""

    def __init__(self, source: Source, encoding: Encoding) -> None:
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


def spelled(name: str) -> str:
    """A name of a file as text: its bytes that are none, which the system hands over as lone surrogates, are
    spelled out as \\xff, as a shell takes them; any other surrogate as \\ud800."""
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return name.encode("utf-8", "backslashreplace").decode()

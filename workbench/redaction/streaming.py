"""The secret filter over a file of any size, in bounded memory (contract redaction, "Speed").

The file is filtered piece by piece. A piece ends where the filter itself shows that neither side needs the
other: what stands around the place, with a private key's beginning put before it and a private key's end
behind it, comes out the same in one and in two. So a walk along key material that is under way far before
the place would end before it, and one that comes from far behind it would not reach it; everything else looks
no further than `AROUND` bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import NamedTuple, Protocol

AROUND = 10_000
"""Bytes on either side of a place that are looked at to judge it: more than one decision of the filter but
those about keys looks at."""

BLOCK = 1 << 20
LIMIT = 8 << 20

_LONG = 1 << 16
"""Bytes of one line that must stand on either side of a cut inside it: each part is a long line as well."""
_UNBROKEN = 70_000
"""A run of token characters longer than this before a place and behind it is no token."""
_TRIES = 4
_TRIMMED = 16
"""Pieces after which free memory is given back."""
_STEP = 4_000
_KIND = "private_key"
_MARKER = f"[REDACTED:{_KIND}]"


class Source(Protocol):
    """Bytes to be read: a file opened in binary mode."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""
        ...


class Target(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object:
        """Take all of `data`."""
        ...


class TextRedactor(Protocol):
    """What filters one text."""

    def redact_text(self, text: str) -> tuple[str, dict[str, int]]:
        """The text with markers, and how many secrets of each kind were removed."""
        ...


def redact_stream(
    source: Source,
    target: Target,
    redactor: TextRedactor | None = None,
    *,
    block: int = BLOCK,
    limit: int = LIMIT,
) -> dict[str, int]:
    """Copies `source` to `target` without its secrets; returns how many of each kind were removed.

    What is written is `redact_text` of the whole, decoded as UTF-8 with bytes that are none kept as they are
    (`surrogateescape`), wherever the pieces happen to end. `block` bytes and what is read ahead are in memory
    as a rule, `limit` bytes (and their copies) at most.

    Where `limit` bytes offer no place to cut (base64 without end, say), they are cut all the same: at a line
    break, a blank or anywhere. A private key that has begun before such a cut is taken to go on behind it;
    what is not found is a body of more than `limit` bytes that only its END line gives away, and a secret
    with no blank in it that the cut goes through.

    Raises what `source` and `target` raise; what was written by then is filtered.
    """
    if redactor is None:
        from workbench.redaction.filter import default_filter

        redactor = default_filter()
    counts: dict[str, int] = {}
    under_way = False
    for number, (piece, forced) in enumerate(_pieces(source, redactor, block, limit), 1):
        if number % _TRIMMED == 0:
            _give_back()
        text = piece.decode("utf-8", "surrogateescape")
        if under_way:
            clean, removed = _going_on(redactor, text)
        else:
            clean, removed = redactor.redact_text(text)
        for kind, count in removed.items():
            counts[kind] = counts.get(kind, 0) + count
        # A piece that lies within a key leaves nothing but its line breaks.
        within = under_way and not clean.strip()
        under_way = forced and (within or clean.rstrip().endswith(_MARKER))
        target.write(piece if clean is text else clean.encode("utf-8", "surrogateescape"))
    return {kind: count for kind, count in counts.items() if count}


def _give_back() -> None:
    """Hands free memory back to the system where the C library can.

    Between pieces of a megabyte glibc keeps holes that nothing else fits into: without this a gigabyte of
    file takes more than a gigabyte of memory, though hardly any of it is in use.
    """
    import ctypes

    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _pieces(source: Source, redactor: TextRedactor, block: int, limit: int) -> Iterator[tuple[bytes, bool]]:
    """The bytes of `source` in pieces that are filtered one by one, and whether the end was forced."""
    data = b""
    wanted = least = block + AROUND
    limit = max(limit, 2 * least)
    ended = False
    while True:
        more = [data]
        missing = wanted - len(data)
        while missing > 0 and not ended:
            more.append(source.read(missing))
            missing -= len(more[-1])
            ended = not more[-1]
        data = b"".join(more)
        more.clear()
        cut = _cut(data, redactor, block) if len(data) >= least else 0
        if cut == 0 and ended:
            if data:
                yield data, False
            return
        if cut == 0 and len(data) < limit:
            wanted = min(limit, 2 * len(data))
            continue
        if cut:
            yield data[:cut], False
            wanted = least
        else:
            cut = _anywhere(data)
            yield data[:cut], True
            # What follows is of the same kind, most likely.
            wanted = limit
        data = data[cut:]


def _cut(data: bytes, redactor: TextRedactor, block: int) -> int:
    """Where `data` may be cut; 0 if no place was found."""
    least = min(block, len(data)) // 4
    for place, inside in islice(_places(data, least), _TRIES):
        if _parts(data, place, inside, redactor):
            return place
    return 0


def _places(data: bytes, least: int) -> Iterator[tuple[int, bool]]:
    """Places to try, the last one first, and whether they are inside a line."""
    place = len(data) - AROUND
    while place > least:
        place = data.rfind(b"\n", least, place) + 1
        if place <= least:
            break
        yield place, False
        place -= _STEP
    place = len(data) - _LONG
    while place > max(least, _LONG):
        if data.find(b"\n", place - _LONG, place + _LONG) >= 0:
            return
        border = _last_border(data, place)
        if border:
            yield border, True
        place -= _LONG


def _last_border(data: bytes, place: int) -> int:
    """The last place up to `place` where no token goes on; 0 if there is none near."""
    low = max(0, place - _UNBROKEN)
    last = 0
    for found in _BORDER.finditer(data, max(low, place - _STEP), place):
        last = found.end()
    if last:
        return last
    # Within a run longer than any token.
    unbroken = _BORDER.search(data, low, min(len(data), place + _UNBROKEN)) is None
    return _character(data, place) if unbroken and place - low >= _LONG else 0


def _parts(data: bytes, place: int, inside: bool, redactor: TextRedactor) -> bool:
    """Whether the filter decides the same on both sides of `place` with and without the other side."""
    frame = _INSIDE_LINE if inside else _BETWEEN_LINES
    low = max(0, place - AROUND)
    # A character that begins before the window would be read as what it is not.
    while low < place and data[low] & 0xC0 == 0x80:
        low += 1
    before = frame.begun + data[low:place].decode("utf-8", "surrogateescape")
    behind = data[place : place + AROUND].decode("utf-8", "surrogateescape") + frame.ended
    one, two, whole = (redactor.redact_text(text) for text in (before, behind, before + behind))
    return whole[0] == one[0] + two[0]


def _anywhere(data: bytes) -> int:
    """A place to cut if none is safe."""
    place = len(data) - AROUND
    for sign in (b"\n", b" "):
        found = data.rfind(sign, place // 2, place)
        if found >= 0:
            return found + 1
    return _character(data, place)


def _character(data: bytes, place: int) -> int:
    """Where the character begins that `place` is in; `place` itself among bytes that are none."""
    for back in range(4):
        if data[place - back] & 0xC0 != 0x80:
            return place - back
    return place


def _going_on(redactor: TextRedactor, text: str) -> tuple[str, dict[str, int]]:
    """`text` filtered as what follows a private key that has begun before it."""
    clean, counts = redactor.redact_text(_BETWEEN_LINES.begun + text)
    counts = dict(counts)
    head, _, rest = clean.partition(_MARKER)
    if head:
        return redactor.redact_text(text)
    counts[_KIND] -= 1
    # The line breaks of what was put before it.
    return rest.replace("\n", "", _BETWEEN_LINES.begun.count("\n")), counts


class _Frame(NamedTuple):
    """A private key's beginning to stand before a text, and one's end to stand behind."""

    begun: str
    ended: str


# Drawn once, of no key: what reads random enough for a body.
_LINE = "Zk3vQ9xW7bT1nR5cY8mJ2hL6pD4gS0fAqE+uH/iKoV3zXw9BtNrCyMj7lPd5GsFa"
_FILLER = "and so on " * 400
_BETWEEN_LINES = _Frame(f"-----BEGIN PRIVATE KEY-----\n{_LINE}\n", f"\n{_LINE}\n-----END PRIVATE KEY-----\n")
# On the line itself, which is a long one with it or without.
_INSIDE_LINE = _Frame(
    f"{_FILLER}-----BEGIN PRIVATE KEY-----\\n{_LINE}\\n", f"\\n{_LINE}\\n-----END PRIVATE KEY-----{_FILLER}"
)
_BORDER = re.compile(rb"[ \t,;(){}\[\]<>|\"']")

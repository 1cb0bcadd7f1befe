"""The members of a value before they are filtered: where they stand, and which of them are worth a look.

Hardly any text holds a secret, and looking into one by one costs more than reading it: texts are gathered,
written as the members they are (`"name": "text"`), and looked through together.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

DEEPEST_FIELD = 64
"""Parts of a field path that are written out; what lies deeper is counted at `<its 64 first parts>.…`.

A hostile value nested a hundred thousand deep would otherwise be answered with paths of that length.
"""

ESCAPED = "\\u00"
"""How JSON inside a text may hide letters: a text with it is always looked into."""

_GATHERED = 1 << 18

Parts = tuple[str, ...]

Sign = Callable[[bytes, int], int]
"""Where in UTF-8 bytes, from a place on, the first sign of a secret begins; -1 if there is none."""


class Quick(NamedTuple):
    """What spares a text the whole filter."""

    signs: Sequence[Sign]
    """Of these one finds something in every text that the filter would change, as it is or among others."""
    touched: Callable[[Collection[str]], set[str]]
    """Those of many texts that the filter would change."""


def signs(sign: Sign, data: bytes, starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Which of the pieces of `data` that begin at `starts` hold a sign, and where the first one begins.

    `starts` holds the end of `data` as its last. Each search goes on with the next piece.
    """
    found = sign(data, 0)
    while found >= 0:
        at = bisect_right(starts, found) - 1
        if at >= len(starts) - 1:
            return
        yield at, found
        found = sign(data, starts[at + 1])


@lru_cache(maxsize=4096)
def names_secret(key: str) -> bool:
    """Whether a mapping's `key` says that a text under it is a secret."""
    # Loaded with the first value, not with the filter.
    from workbench.redaction.names import is_secret_name

    return is_secret_name(key)


@lru_cache(maxsize=4096)
def names_several(key: str) -> str:
    """Of which secrets a mapping's `key` speaks in the plural (see `names.names_several`)."""
    from workbench.redaction.names import names_several as several

    return several(key)


class Node(NamedTuple):
    """A container on the way: its parent's number and key there, and how it is named in paths."""

    parent: int
    key: str | int
    depth: int
    anchor: int
    """The number of its ancestor at depth `DEEPEST_FIELD`, or its own."""
    secret: bool
    """Whether texts right in it stand under a secret's name."""
    drawn: bool = False
    """Whether that name speaks of several keys or tokens, which were drawn, not of passwords."""


class Record(NamedTuple):
    """A member: its container's number, its key or index, and its text if it is one."""

    node: int
    key: str | int
    text: str | None
    slot: int
    """Number of the member in its document."""


class Places:
    """The containers of one value, or of the documents in one text."""

    __slots__ = ("_base", "_secret", "names", "nodes")

    def __init__(self, base: Parts, secret: bool) -> None:
        self._base = base
        self._secret = secret
        self.nodes: list[Node] = []
        self.names: dict[tuple[int, str | int], str] = {}
        """Keys that were filtered."""

    def add(self, parent: int, key: str | int, is_list: bool) -> None:
        """The next container; `parent` is -1 for a root."""
        number = len(self.nodes)
        if parent < 0:
            self.nodes.append(Node(-1, "", len(self._base), number, is_list and self._secret))
            return
        above = self.nodes[parent]
        depth = above.depth + 1
        anchor = number if depth <= DEEPEST_FIELD else above.anchor
        several = names_several(key) if isinstance(key, str) else ""
        secret = is_list and (isinstance(key, str) and names_secret(key))
        if several:
            self.nodes.append(Node(parent, key, depth, anchor, True, several == "token"))
        elif is_list and above.secret and not secret:
            self.nodes.append(Node(parent, key, depth, anchor, True, above.drawn))
        else:
            self.nodes.append(Node(parent, key, depth, anchor, secret))

    def parts(self, node: int, last: str) -> Parts:
        """The path of what is called `last` in a container."""
        if len(self._base) > DEEPEST_FIELD:
            return self._base
        here = self.nodes[node]
        if here.depth >= DEEPEST_FIELD:
            here, last = self.nodes[here.anchor], "…"
        parts = [last]
        while here.parent >= 0:
            parts.append(self.names.get((here.parent, here.key), str(here.key)))
            here = self.nodes[here.parent]
        return (*self._base, *reversed(parts))


class Gathered:
    """Members that are looked through together; `hits` are those with a sign, and whether the name has it."""

    __slots__ = ("_pieces", "_quick", "_records", "_size", "hits")

    def __init__(self, quick: Quick | None) -> None:
        self._quick = quick
        self._pieces: list[str] = []
        self._records: list[Record] = []
        self._size = 0
        self.hits: list[tuple[Record, bool]] = []

    def add(self, written: str, record: Record) -> None:
        self._pieces.append(written)
        self._records.append(record)
        self._size += len(written)
        if self._size > _GATHERED:
            self.look()

    def look(self) -> None:
        """Looks through what was added since the last time."""
        pieces, records = self._pieces, self._records
        if self._quick is None:
            self.hits.extend((record, True) for record in records)
        elif pieces:
            joined = "".join(pieces)
            told = self._told(joined, self._quick)
            if ESCAPED in joined:
                for at, piece in enumerate(pieces):
                    if ESCAPED in piece:
                        told.setdefault(at, False)
            self.hits.extend((records[at], told[at]) for at in sorted(told))
        self._pieces, self._records, self._size = [], [], 0

    def _told(self, joined: str, quick: Quick) -> dict[int, bool]:
        data = joined.encode("utf-8", "surrogatepass")
        looks = [sign for sign in quick.signs if sign(data, 0) >= 0]
        if not looks:
            return {}
        # Bytes, not characters.
        sizes: Iterable[int] = map(len, self._pieces)
        if len(data) != len(joined):
            sizes = map(size_of, self._pieces)
        starts = [0, *accumulate(sizes)]
        told: dict[int, bool] = {}
        for look in looks:
            for at, found in signs(look, data, starts):
                key = self._records[at].key
                # The quote before a text may be the border that its sign begins with.
                telling = isinstance(key, str) and found < starts[at] + size_of(key) + 3
                told[at] = telling or told.get(at, False)
        return told


def size_of(text: str) -> int:
    """Bytes of `text` in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
